"""Tournaments, in small."""

import json
import re
import signal
from dataclasses import replace
from io import StringIO
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from agents.spec import split_agent_specs
from experiments import cooperative, tournament
from experiments.common import periodic_save
from experiments.common.cli import run_program
from experiments.common.interrupts import Interrupt
from experiments.common.provenance import ROOT
from experiments.evaluation import matches
from experiments.evaluation.cooperative_results import CooperativeResults
from experiments.evaluation.matches import Timed
from experiments.evaluation.matchups import Chunk, Matchup, Results
from experiments.evaluation.standings import standings
from samurai_env import Position, parse_variant

QUIET = Console(quiet=True)


def test_specs_may_be_separated_by_commas():
    assert split_agent_specs(
        ["random,greedy", "mcts:1000,rollout_greedy=0,rollout_depth=-1,flat_mc:20", "ppo:a/b=c.safetensors"]
    ) == (
        "random",
        "greedy",
        "mcts:1000,rollout_greedy=0,rollout_depth=-1",
        "flat_mc:20",
        "ppo:a/b=c.safetensors",
    )
    # "greedy" is a setting of the search as well as an agent; what follows it tells.
    assert split_agent_specs(["mcts:9,rollout_greedy=0.5,greedy,ppo:x"]) == (
        "mcts:9,rollout_greedy=0.5",
        "greedy",
        "ppo:x",
    )
    assert split_agent_specs(["random,", "greedy"]) == ("random", "greedy")
    with pytest.raises(ValueError, match="the setting 'c_puct=1' belongs to no agent"):
        split_agent_specs([",c_puct=1"])
    assert tournament.Config(agents=("random,greedy",)).agents == ("random", "greedy")


def config_of(folder, **changes):
    return tournament.Config(agents=("random", "greedy"), output=folder, processes=1, **{"deals": 20, **changes})


def test_a_tournament_goes_on_where_it_was_stopped(tmp_path):
    first = tournament.play(config_of(tmp_path), QUIET)
    saved = json.loads((tmp_path / "results.json").read_text())
    assert saved["variant"].startswith("samurai players=2")
    assert {"command", "versions", "deal_seeds", "networks"} <= saved.keys()
    assert all(len(matchup["machines"]) == 1 and "core" in matchup["machines"][0] for matchup in saved["matchups"])
    # A table made from the file shows the times of the one made when it was played.
    read = Results(tmp_path / "results.json").matchups
    assert {pair: found.seconds for pair, found in read.items()} == {
        pair: found.seconds for pair, found in first.matchups.items()
    }
    # Some deals are lost: only those are played again, and the whole is the same.
    matchup = saved["matchups"][1]
    assert (matchup["one"], matchup["others"], len(matchup["shares"])) == ("random", "greedy", 20)
    matchup["shares"][7] = None
    (tmp_path / "results.json").write_text(json.dumps(saved))
    assert len(Results(tmp_path / "results.json").matchups["random", "greedy"].shares()) == 7
    again = tournament.play(config_of(tmp_path), QUIET)
    for pair, before in first.matchups.items():
        assert again.matchups[pair].deals == before.deals
    assert again.matchups["random", "greedy"].decisions > first.matchups["random", "greedy"].decisions
    assert again.matchups["random", "random"].decisions == first.matchups["random", "random"].decisions


def test_agents_in_another_order_go_on_with_the_same_meeting(tmp_path):
    config = {"output": tmp_path, "processes": 1, "mirror": False}
    one_way = tournament.play(tournament.Config(agents=("random", "greedy"), deals=4, **config), QUIET)
    other_way = tournament.play(tournament.Config(agents=("greedy", "random"), deals=6, **config), QUIET)
    assert list(other_way.matchups) == [("random", "greedy")]
    shares = other_way.matchups["random", "greedy"].shares()
    assert len(shares) == 6
    assert (shares[:4] == one_way.matchups["random", "greedy"].shares()).all()


def test_other_deals_are_played_on_request(tmp_path):
    """The last ten of twenty deals are the ten from number 10 on, and a file holds either."""
    pair = "random", "random"
    twenty = tournament.play(config_of(tmp_path / "all"), QUIET).matchups[pair].shares()
    ten = tournament.play(config_of(tmp_path / "ten", deals=10, first_deal=10), QUIET)
    assert np.array_equal(ten.matchups[pair].shares(), twenty[10:])
    assert not np.array_equal(twenty[:10], twenty[10:])
    assert ten.origin["deal_seeds"] == "1000000000 + number of the deal, from deal 10 on"
    with pytest.raises(ValueError, match=r"holds deals with seeds '1000000000 .*, from deal 10 on', not 1000000000"):
        tournament.play(config_of(tmp_path / "ten", deals=10), QUIET)
    with pytest.raises(ValueError, match="first-deal"):
        tournament.play(config_of(tmp_path / "new", first_deal=-1), QUIET)


def test_how_much_a_worker_plays_at_a_time_changes_no_result(tmp_path):
    fives, ones = (tournament.play(config_of(tmp_path / str(n), chunk=n), QUIET) for n in (5, 1))
    assert {pair: m.deals for pair, m in fives.matchups.items()} == {pair: m.deals for pair, m in ones.matchups.items()}
    with pytest.raises(ValueError, match="--chunk must be from 1 to 10000, not 0"):
        tournament.play(config_of(tmp_path, chunk=0), QUIET)


def test_the_table_of_a_tournament(tmp_path):
    config = config_of(tmp_path)
    results = tournament.play(config, QUIET)
    tournament.show(config, results, QUIET)
    text = (tmp_path / "table.txt").read_text()
    assert "greedy" in text
    assert "20 deals a matchup, each from 2 seats" in text
    assert (tmp_path / "payoff.png").stat().st_size > 1000
    found = standings(results, config.agents)
    assert found.agents == ("greedy", "random")
    assert found.shares["greedy", "random"].mean > 0.9
    assert found.shares["greedy", "random"].mean == pytest.approx(1.0 - found.shares["random", "greedy"].mean)
    assert found.shares["random", "random"].low < 0.5 < found.shares["random", "random"].high
    assert found.ratings["greedy"].tolist() == [0, 0, 0]
    assert found.ratings["random"][2] < -200
    assert found.masses["greedy"] > 0.99
    assert 0 < found.seconds["random"] < 0.1


def test_fewer_deals_than_stored_use_the_first(tmp_path):
    results = tournament.play(config_of(tmp_path), QUIET)
    few = config_of(tmp_path, deals=7)
    again = tournament.play(few, QUIET)
    assert len(again.matchups["random", "greedy"].deals) == 20  # nothing is thrown away
    found = standings(again, few.agents, few.deals)
    assert set(found.deals.values()) == {7}
    first = np.array([results.matchups["random", "random"].deals[deal] for deal in range(7)])
    assert found.shares["random", "random"].mean == pytest.approx(first.mean())
    tournament.show(few, again, QUIET)
    assert "7 deals a matchup" in (tmp_path / "table.txt").read_text()


def test_a_meeting_ends_early_whatever_the_number_of_workers(tmp_path):
    kept = []
    for processes in (1, 2):
        config = config_of(tmp_path / str(processes), deals=100, width=0.15, mirror=False)
        config.processes = processes
        kept.append(tournament.play(config, QUIET).matchups["random", "greedy"].deals)
    assert kept[0] == kept[1]
    assert len(kept[0]) == 50  # the first look: greedy wins nearly all
    wide = config_of(tmp_path / "1", deals=100, width=0.15, mirror=True)
    assert 50 < len(tournament.play(wide, QUIET).matchups["random", "random"].deals) <= 100


def test_three_players_meet_both_ways(tmp_path):
    config = config_of(tmp_path, deals=3, game="samurai players=3")
    results = tournament.play(config, QUIET)
    found = standings(results, config.agents)
    assert {pair: len(matchup.deals) for pair, matchup in results.matchups.items()} == dict.fromkeys(found.deals, 3)
    assert len(found.deals) == 4
    assert found.shares["greedy", "greedy"].mean == pytest.approx(1 / 3, abs=0.2)
    tournament.show(config, results, QUIET)
    assert "each from 3 seats" in (tmp_path / "table.txt").read_text()


def test_a_team_has_one_result(tmp_path):
    config = config_of(tmp_path, deals=3, game="samurai_spirit players=2 difficulty=easy")
    found = standings(tournament.play(config, QUIET), config.agents)
    assert found.shares["greedy", "random"] == found.shares["random", "greedy"]
    assert found.ratings == found.masses == {}
    tournament.show(config, Results(tmp_path / "results.json"), QUIET)


def test_tournaments_refuse_what_they_cannot_play(tmp_path):
    (tmp_path / "results.json").write_text("{")
    with pytest.raises(ValueError, match="is damaged"):
        tournament.play(config_of(tmp_path), QUIET)
    for missing in ({"variant": "samurai players=2"}, {"matchups": []}, []):
        (tmp_path / "results.json").write_text(json.dumps(missing))
        with pytest.raises(ValueError, match="is damaged"):
            tournament.play(config_of(tmp_path), QUIET)
    other = Results(tmp_path / "other.json", "samurai players=3")
    other.write("")
    with pytest.raises(ValueError, match="holds games of samurai players=3"):
        Results(tmp_path / "other.json", "samurai players=2")
    with pytest.raises(ValueError, match="named twice"):
        tournament.play(tournament.Config(agents=("greedy,greedy",), output=tmp_path / "new"), QUIET)
    with pytest.raises(ValueError, match="no agent 'gredy'"):
        tournament.play(tournament.Config(agents=("random,gredy",), output=tmp_path / "new"), QUIET)
    for width in (0.0, 1.0, 6.0):
        with pytest.raises(ValueError, match="width must be between 0 and 1"):
            tournament.play(config_of(tmp_path / "new", width=width), QUIET)
    with pytest.raises(ValueError, match="two or more"):
        tournament.play(tournament.Config(agents=("greedy",), mirror=False, output=tmp_path / "new"), QUIET)


def test_results_survive_a_file(tmp_path):
    results = Results(tmp_path / "results.json", "samurai players=3")
    matchup = results.matchups["a", "b,c=1.0,d"] = Matchup()
    matchup.add(Chunk(("a", "b,c=1.0,d"), 5, [[1.0, 0.0, 1 / 3]], [0.5, 1.25], [3, 6], "a machine"), "abc")
    matchup.add(Chunk(("a", "b,c=1.0,d"), 0, [[0.0, 0.5, 1.0]], [0.5, 1.25], [3, 6], "a machine"), "abc")
    results.write("command")
    (pair, found), *_ = Results(tmp_path / "results.json").matchups.items()
    assert pair == ("a", "b,c=1.0,d")
    assert found == matchup
    assert found.decisions == [6, 12]
    assert found.shares().tolist() == [[0.0, 0.5, 1.0]]


def test_decisions_are_timed():
    class Slow:
        def act(self, states, keys):
            return np.array([sum(range(200_000)) * 0 for _ in states])

    agent = Timed(Slow())
    assert agent.act(np.zeros(3), np.zeros(3, np.uint64)).tolist() == [0, 0, 0]
    assert agent.decisions == 3
    assert agent.seconds > 0


@pytest.mark.parametrize("orderly", [True, False])
def test_an_interrupted_program_exits_with_130(orderly, monkeypatch, capsys):
    def main(config):
        with Interrupt() as interrupt:
            signal.raise_signal(signal.SIGINT)
            if not orderly:
                signal.raise_signal(signal.SIGINT)
        interrupt.end()

    monkeypatch.setattr("sys.argv", ["program"])
    with pytest.raises(SystemExit) as stop:
        run_program("experiments.nothing", tournament.Config, main, None)
    assert stop.value.code == 130
    assert "stopped" in capsys.readouterr().err


def test_a_program_that_came_to_an_orderly_stop_says_how_to_go_on():
    interrupt = Interrupt()
    interrupt.end()
    interrupt.asked = True
    with pytest.raises(KeyboardInterrupt, match="stopped; the same command resumes"):
        interrupt.end()


def test_an_interrupt_may_be_entered_again():
    before = signal.getsignal(signal.SIGINT)
    with Interrupt() as outer:
        with outer as inner:
            signal.raise_signal(signal.SIGINT)
        assert inner.asked
        assert outer is inner
    assert signal.getsignal(signal.SIGINT) is before


def test_how_the_benchmark_page_observes_and_redeals():
    page = (ROOT / "docs" / "guides" / "benchmark.md").read_text(encoding="utf-8")
    code = re.findall(r"```python\n(.*?)```", page, re.DOTALL)[1]
    names: dict[str, Any] = {}
    exec(code, names)
    batch, copies = names["batch"], names["copies"]
    assert len(copies) == 24
    for i, observation in enumerate(names["observations"]):
        position, own = Position(batch.variant, i), copies[8 * i : 8 * i + 8]
        assert (observation == position.observe(position.seat)).all()
        assert (batch.observe(own) == observation).all()
        assert len({copy.tobytes() for copy in own}) == 8


def test_the_example_of_the_benchmark_page(tmp_path, monkeypatch):
    """An agent of one's own, named by its module, which worker processes find too."""
    page = (ROOT / "docs" / "guides" / "benchmark.md").read_text(encoding="utf-8")
    code = re.search(r"```python\n(.*?)```", page, re.DOTALL)[1]
    assert len([line for line in code.split("\n") if line]) <= 20
    (tmp_path / "noisy.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    command = re.search(r"--agents (\S+) --deals (\d+) --output runs/noisy", page)
    config = tournament.Config((command[1],), deals=int(command[2]), output=tmp_path / "out", processes=2)
    found = standings(tournament.play(config, QUIET), config.agents)
    shown = [[cell.strip() for cell in line.split("│")[1:-2]] for line in page.split("\n") if line.startswith("│")]
    assert shown == [found.row(agent, found.agents)[:-1] for agent in found.agents]  # all but the time


# --- Free-for-alls ---

# Who sits on each seat in the first game of deals 5 to 10.
GOLDEN = [[1, 2, 0], [2, 1, 0], [0, 2, 1], [1, 2, 0], [2, 1, 0], [2, 1, 0]]


def test_everybody_sits_everywhere_in_a_free_for_all():
    """The circle of agents is drawn by deal; each sits once in each seat of a deal, and shares are its own."""
    variant, seen = parse_variant("samurai players=3"), []

    def play_games(_, agents, seating, seeds):
        seen.append((seating, seeds))
        return np.where(seating == 1, 1.0, -0.5)  # agent 1 always wins

    agents = [object(), object(), object()]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matches, "play_games", play_games)
        shares = matches.free_for_all(variant, agents, 5, 40)
    assert shares.shape == (40, 3, 3)
    assert (shares == np.array([0.0, 1.0, 0.0])[:, None]).all()
    seating, seeds = seen[0]
    assert (np.sort(seating.reshape(40, 3, 3), axis=1) == np.arange(3)[:, None]).all()
    assert (np.sort(seating, axis=1) == np.arange(3)).all()
    assert (seeds == np.repeat(matches.deal_seeds(5, 40), 3)).all()
    assert seating[::3][:6].tolist() == GOLDEN  # else what has been played does not go on
    assert len({tuple(np.roll(deal, -deal.argmin())) for deal in seating[::3]}) == 2  # both ways round
    with pytest.raises(ValueError, match="has 3 agents, not 2"):
        matches.free_for_all(variant, agents[:2], 0, 1)


def test_a_free_for_all_goes_on_and_gives_each_agent_its_games(tmp_path):
    agents = ("random", "greedy", "mcts:3", "flat_mc:1")

    def config(order=agents, **changes):
        settings = {"deals": 4, "game": "samurai players=3", "free_for_all": True, "processes": 1, "output": tmp_path}
        return tournament.Config(agents=order, **{**settings, **changes})

    whole = tournament.play(config(), QUIET)
    assert sorted(whole.matchups) == sorted(combinations(agents, 3))
    kept = Results(tmp_path / "results.json")
    assert {lineup: found.deals for lineup, found in kept.matchups.items()} == {
        lineup: found.deals for lineup, found in whole.matchups.items()
    }
    for found in kept.matchups.values():
        rows = found.shares().reshape(4, 3, 3)
        assert rows.sum(1) == pytest.approx(1.0)
        assert all(found.seconds)
    parts = tmp_path / "parts"
    tournament.play(config(output=parts, deals=2, chunk=1), QUIET)
    again = tournament.play(config(output=parts, order=agents[::-1]), QUIET)
    assert {lineup: found.deals for lineup, found in again.matchups.items()} == {
        lineup: found.deals for lineup, found in whole.matchups.items()
    }
    out = StringIO()
    tournament.show(config(), kept, Console(file=out, width=300))
    assert "row's share of the wins of row and column" in out.getvalue()
    assert "win share" in (tmp_path / "table.txt").read_text(encoding="utf-8")
    with pytest.raises(ValueError, match="holds games of free-for-alls; choose another --output"):
        tournament.play(config(free_for_all=False), QUIET)


def test_free_for_alls_go_on_deal_by_deal(tmp_path):
    """A table shown before it is finished has no agent that met the strongest more often than the others did."""
    config = tournament.Config(
        ("random", "greedy", "greedy_tuned", "untrained"),
        "samurai players=3",
        deals=7,
        chunk=2,
        free_for_all=True,
        output=tmp_path,
    )
    lineups, results = tournament.lineups_to_meet(config, 3), tournament.prepare(config)
    for lineup in lineups:
        results.matchups[lineup] = Matchup()
    tasks = list(tournament.missing(results, config, lineups))
    assert [(lineup, first, deals) for _, lineup, _, first, deals in tasks] == [
        (lineup, first, min(2, 7 - first)) for first in (0, 2, 4, 6) for lineup in lineups
    ]


def test_a_free_for_all_ends_once_somebody_is_known_to_win_most(tmp_path):
    settings = {"deals": 60, "free_for_all": True, "winner": True, "chunk": 1, "processes": 1, "output": tmp_path}
    config = tournament.Config(("random", "mcts:50", "untrained"), "samurai players=3", **settings)
    results = tournament.play(config, QUIET)
    (lineup,) = results.matchups
    deals = len(results.matchups[lineup].deals)
    assert 3 < deals < 30
    found = tournament.standings(results, config.agents, config.deals, config.rule)
    assert found.agents[0] == "mcts:50"
    assert found.deals["mcts:50", "random"] == deals
    assert min(found.shares["mcts:50", other].low for other in ("random", "untrained")) >= 0.499
    assert found.wins["mcts:50"].low > 1 / 3
    again = tournament.play(config, QUIET)
    assert len(again.matchups[lineup].deals) == deals
    out = StringIO()
    tournament.show(config, again, Console(file=out, width=300))
    assert "ended once a winner was known" in out.getvalue()


def test_a_share_is_asked_of_the_agent_named_first(tmp_path):
    """What was played with the agents in the other order would be about the other one."""
    tournament.play(config_of(tmp_path, deals=2), QUIET)
    tournament.play(config_of(tmp_path, deals=2, above=0.9), QUIET)
    turned = config_of(tmp_path, deals=2, above=0.9)
    turned.agents = ("greedy", "random")
    with pytest.raises(ValueError, match="about the agent named first: name random before the other"):
        tournament.play(turned, QUIET)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"game": "samurai players=2"}, "has 2 players, of whom every pair meets anyway"),
        ({"game": "samurai_spirit players=3"}, "is cooperative"),
        ({"agents": ("random", "greedy")}, "needs 3 agents or more here, not 2"),
        ({"width": 0.1}, "--width and --above are for one agent among copies"),
        (
            {"agents": ("random", "greedy", "untrained", "mcts:1"), "winner": True},
            "as many agents as seats, 3 here, not 4",
        ),
    ],
)
def test_a_free_for_all_that_there_is_not(tmp_path, changes, words):
    settings = {"game": "samurai players=3", "agents": ("random", "greedy", "untrained"), "output": tmp_path}
    with pytest.raises(ValueError, match=words):
        tournament.prepare(tournament.Config(free_for_all=True, **{**settings, **changes}))
    assert not (tmp_path / "results.json").exists()


def test_what_is_written_on_the_way_holds_no_deals_beyond_the_end(tmp_path, monkeypatch):
    """Else a program that is killed and goes on would end with other deals than one that is not."""

    def eager(work, tasks, processes, stopped):
        yield from [(task, work(task)) for task in list(tasks)]

    written = []
    write = Results.write

    def note(self, command):
        write(self, command)
        written.append([len(found["shares"]) for found in json.loads(self.path.read_text())["matchups"]])

    monkeypatch.setattr(periodic_save, "SECONDS", -1.0)
    monkeypatch.setattr(tournament, "results_of", eager)
    monkeypatch.setattr(Results, "write", note)
    config = config_of(tmp_path, deals=80, width=0.3, chunk=10, mirror=False)
    tournament.play(config, QUIET)
    assert written[-1] == [50]
    assert max(written) == [50]


@pytest.mark.parametrize(
    ("changes", "most"),
    [
        ({}, 466_033),
        ({"game": "samurai players=4"}, 52_428),
        ({"game": "samurai players=3", "free_for_all": True, "agents": ("random", "greedy", "flat_mc:1")}, 93_206),
    ],
)
def test_more_deals_than_a_file_of_results_may_hold_are_refused(tmp_path, changes, most):
    config = replace(config_of(tmp_path), **changes, deals=most)
    assert tournament.prepare(config).matchups == {}
    refusal = rf"^--deals may be {most:,} here, not {most + 1:,}: more do not fit"
    with pytest.raises(ValueError, match=refusal):
        tournament.prepare(replace(config, deals=most + 1))


def test_what_was_played_is_kept_when_an_agent_fails(tmp_path, monkeypatch):
    play_chunk = tournament.play_chunk

    def failing(task):
        if task[3] >= 10:
            raise ChildProcessError("the engine has died")
        return play_chunk(task)

    monkeypatch.setattr(tournament, "play_chunk", failing)
    with pytest.raises(ChildProcessError, match="the engine has died"):
        tournament.play(config_of(tmp_path, chunk=5, mirror=False), QUIET)
    assert [len(found.deals) for found in Results(tmp_path / "results.json").matchups.values()] == [10]
    monkeypatch.undo()
    played = tournament.play(config_of(tmp_path, chunk=5, mirror=False), QUIET)
    assert [len(found.deals) for found in played.matchups.values()] == [20]


def test_a_tournament_whose_first_game_fails_leaves_no_results(tmp_path, monkeypatch):
    def failing(task):
        raise ChildProcessError("the engine has died")

    monkeypatch.setattr(tournament, "play_chunk", failing)
    with pytest.raises(ChildProcessError):
        tournament.play(config_of(tmp_path), QUIET)
    assert not (tmp_path / "results.json").exists()


def test_what_a_team_has_played_is_kept_when_an_agent_fails(tmp_path, monkeypatch):
    play_chunk = cooperative.play_chunk

    def failing(task):
        if task[2]:
            raise ChildProcessError("the engine has died")
        return play_chunk(task)

    monkeypatch.setattr(cooperative, "play_chunk", failing)
    config = cooperative.Config(
        "samurai_spirit players=1", agents=("random",), games=2 * cooperative.CHUNK, processes=1, output=tmp_path
    )
    with pytest.raises(ChildProcessError, match="the engine has died"):
        cooperative.play(config, QUIET)
    (returns,) = CooperativeResults(tmp_path / "wins.json").returns.values()
    assert [(first, len(found)) for first, found in returns.items()] == [(0, cooperative.CHUNK)]
