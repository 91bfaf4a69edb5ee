"""The leaderboard, in small."""

import io
import json
import re

import pytest
from rich.console import Console

from agents.best import Measured
from experiments import tournament
from experiments.common.provenance import RESULTS
from experiments.evaluation.alpha_rank import shortest_cycle
from experiments.evaluation.cooperative_results import CooperativeResults
from experiments.evaluation.ladders import Ladder, read_ladders, results_of
from experiments.evaluation.matchups import Matchup, Results
from experiments.evaluation.standings import standings
from experiments.leaderboard.best_agents import Table, best, merged
from experiments.leaderboard.by_time import by_time
from experiments.leaderboard.outputs import write_pages
from experiments.leaderboard.page import CONTROLS, NOTHING, _files_of, in_short, ladder_part, page
from experiments.leaderboard.play import Config, play
from samurai_env import make_variant, parse_variant

QUIET = Console(quiet=True)
SMALL = """
[[ladder]]
name = "ladder-small"
readme = true
game = "samurai players=2"
agents = ["random", "greedy"]
slow = ["mcts:5"]
deals = 3
full_deals = 4

[[ladder]]
name = "long"
about = "long thought"
game = "samurai players=2"
agents = []
slow = ["greedy", "mcts:7"]
deals = 1
full_deals = 2
chunk = 1

[[ladder]]
name = "all-3"
game = "samurai players=3"
agents = ["random", "greedy", "flat_mc:1"]
free_for_all = true
deals = 2
full_deals = 2

[[cooperative]]
name = "ladder-team"
game = "samurai_spirit players=1"
vary = "difficulty"
agents = ["random"]
deals = 2
full_deals = 3
"""


@pytest.mark.slow
def test_the_leaderboard_is_played_and_written(tmp_path):
    file = tmp_path / "list.toml"
    file.write_text(SMALL)
    assert page(tmp_path, file).rstrip().endswith(NOTHING)
    assert in_short(tmp_path, file) == NOTHING
    play(Config(only=("ladder-small",)), QUIET, tmp_path, file)
    text = page(tmp_path, file)
    assert "### Samurai, 2 players\n" in text
    assert "|  | agent | rating | alpha-rank | 1 | 2 | deals | CPU time |" in text
    assert "experiments.reproduce ladder-small greedy random" in text
    assert "## Samurai Spirit" not in text
    play(Config(only=("long",)), QUIET, tmp_path, file)
    assert page(tmp_path, file) == text  # nothing of it is in the short form
    play(Config(only=("all-3",), processes=1), QUIET, tmp_path, file)
    text = page(tmp_path, file)
    assert "A free-for-all: 3 different agents in each game" in text
    assert "|  | agent | rating | win share | 1 | 2 | 3 | deals | CPU time |" in text
    assert re.search(r"experiments.reproduce all-3 random greedy flat_mc:1\n", text)
    few = tmp_path / "few.toml"  # agents that are listed no more are in no command
    few.write_text(SMALL.replace('"greedy", "flat_mc:1"]', '"greedy"]'))
    assert "flat_mc:1" not in page(tmp_path, few)
    play(Config(full=True), QUIET, tmp_path, file)
    text = page(tmp_path, file)
    assert "`mcts:5`" in text
    assert "### Samurai, 2 players: long thought\n" in text
    assert "long thought" not in in_short(tmp_path, file)
    assert "experiments.reproduce" in text
    assert re.search(r"\| `random` \| heroic \| .* \| 3 \|", text)
    # The short form takes nothing away.
    play(Config(), QUIET, tmp_path, file)
    assert "`mcts:5`" in page(tmp_path, file)
    short = in_short(tmp_path, file)
    assert "| game | agent | rating | win share against `greedy` | CPU time |" in short
    assert "| Samurai, 2 players | `greedy` | 0 |" in short and "`random`" not in short
    # A table whose agents have not met yet is left out.
    file.write_text(SMALL.replace('"mcts:7"', '"mcts:8"'))
    assert "long thought" not in page(tmp_path, file)


def test_a_table_of_one_direction_says_so_and_has_no_ratings(tmp_path):
    """One among copies of another alone: with both directions, or with two players, there are ratings."""
    for players, lineups, one_way in (
        (3, [("greedy", "random")], True),
        (3, [("greedy", "random"), ("random", "greedy")], False),
        (2, [("greedy", "random")], False),
    ):
        folder = tmp_path / f"{players}-{len(lineups)}"
        ladder = Ladder("one", f"samurai players={players}", ("greedy", "random"), 1, 1)
        results = Results(folder / "one" / "results.json", ladder.game)
        for lineup in lineups:
            results.matchups[lineup] = Matchup({0: [1.0] * players}, [1.0, 1.0], [9, 9], ["abc"], ["here"])
        results.write("command")
        part = ladder_part(ladder, folder)
        assert ("Only this direction was played" in part) == one_way
        assert ("rating" not in part.partition("- Code")[0]) == one_way
        config = tournament.Config(ladder.agents, ladder.game)
        assert ("no ratings" in tournament.caption(config, standings(results, ladder.agents))) == one_way
        short = f"""[[ladder]]
name = "one"
readme = true
game = "samurai players={players}"
agents = ["greedy", "random"]
deals = 1
full_deals = 1
"""
        (folder / "list.toml").write_text(short)
        row = in_short(folder, folder / "list.toml").splitlines()[-1]
        assert ("`greedy` |  |" in row) == one_way, row


def test_what_a_table_does_not_say_is_what_tournaments_do():
    table = Ladder("one", "samurai", ("greedy",), 1, 1)
    for name in ("chunk", "first_deal", "mirror", "free_for_all", "width", "winner", "above"):
        assert getattr(table, name) == getattr(tournament.Config, name)


def test_files_of_an_agent_are_named_as_one():
    assert _files_of("ppo:weights/samurai-2", 3) == "File of agent 3"
    both = "puct:9,net=weights/samurai-2,value=weights/leaf_values/samurai-2"
    assert _files_of(both, 1) == "The 2 files of agent 1, concatenated"


def test_a_table_that_needs_a_missing_module_is_left_out(tmp_path, capsys):
    file = tmp_path / "list.toml"
    file.write_text(SMALL.replace("deals = 3\n", 'deals = 3\nneeds = "no_such_module"\n', 1))
    play(Config(only=("ladder-small",)), Console(), tmp_path, file)
    assert capsys.readouterr().out == "ladder-small: left out, since no_such_module is not installed\n"
    assert not (tmp_path / "ladder-small").exists()


def test_a_wrong_list_of_tables_is_refused(tmp_path):
    file = tmp_path / "list.toml"
    for text, problem in {
        "[[": "is damaged",
        "[[bord]]\nname = 'x'": r"\[\[bord\]\]",
        SMALL.replace("slow", "slwo"): "no setting 'slwo'",
        SMALL.replace("deals = 3\n", "deals = 3\nplayers = 2\n"): "part of game, as in 'samurai players=4",
        SMALL.replace("full_deals = 4\n", ""): "ladder-small is wrong: .*missing required field `full_deals`",
    }.items():
        file.write_text(text)
        with pytest.raises(ValueError, match=problem):
            read_ladders(file)
    file.write_text(SMALL)
    with pytest.raises(ValueError, match="no table 'ladder'; the tables are ladder-small, long, all-3, ladder-team"):
        play(Config(only=("ladder",)), QUIET, tmp_path, file)


def test_the_tables_of_the_project_can_be_played():
    tables, teams = read_ladders()
    for table in tables:
        assert set(CONTROLS) <= set(table.agents) or not table.agents
        assert parse_variant(table.game)
    assert teams


def test_all_tables_of_a_game_are_rated_together():
    """What `best` chooses from needs a way from each agent to greedy by what was played; some tables have none."""
    met = {}
    for table in read_ladders()[0]:
        if found := results_of(table, RESULTS):
            met[table.name] = {(table.game, agent) for agent in found[1].agents}
    known = {(table.game, "greedy") for table in read_ladders()[0]}
    for _ in met:
        known = known.union(*(agents for agents in met.values() if agents & known))
    alone = {name for name, agents in met.items() if not agents <= known}
    assert alone == {"duel-4", "duel-tenth-4", "past-4", "duel-card-2"}


def test_the_leaderboard_follows_the_results():
    assert write_pages(write=False) == [], "run: python -m experiments.leaderboard --no-play"


def test_the_strongest_by_time():
    agents = [
        Measured("greedy", 0.0, 1e-5, (0.0, 0.0)),
        Measured("mcts:1000", 123.4, 0.002, (100.0, 150.0)),
        Measured("mcts:100000", 200.0, 0.2, (100.0, 300.0)),
        Measured("best:1s", 900.0, None, (800.0, 1000.0)),
    ]
    teams = [Measured("greedy", 0.126, 1e-5, (0.1, 0.2))]
    untimed = [Measured("greedy", 0.126)]
    made = by_time(
        {
            "samurai players=3": agents,
            "samurai_spirit players=3": teams,
            "samurai_spirit players=2": untimed,
            "samurai_spirit players=3 difficulty=easy": teams,
        }
    )
    assert made.splitlines()[2:] == [
        "| Samurai, 3 players | greedy: 0, 10 µs | mcts 1,000: +123 [+100, +150], 2.0 ms | the same"
        " | mcts 100,000: +200 [+100, +300], 200 ms |",
        "| Samurai Spirit, 3 players | greedy: 13% [10%, 20%] won, 10 µs | the same | the same | the same |",
    ]


def test_a_cycle_is_named():
    assert shortest_cycle({"rock": ["scissors"], "scissors": ["paper"], "paper": ["rock"]}) == [
        "rock",
        "scissors",
        "paper",
    ]
    longer = {"a": ["b"], "b": ["c"], "c": ["d"], "d": ["a", "e"], "e": ["c"], "f": ["a"]}
    assert shortest_cycle(longer) == ["c", "d", "e"]
    assert shortest_cycle({"a": ["b", "c"], "b": ["c"], "c": []}) == []


@pytest.mark.parametrize(
    ("last", "found"), [(1.0, "A cycle: 1 beats 2 beats 3 beats 1."), (0.5, "No cycle among the pairs that have met.")]
)
def test_the_page_says_whether_there_is_a_cycle(tmp_path, last, found):
    ladder = Ladder("one", "samurai players=2", ("greedy", "random", "untrained"), 1, 1)
    results = Results(tmp_path / "one" / "results.json", "samurai players=2")
    for lineup, share in (("greedy", "random"), 1.0), (("random", "untrained"), 1.0), (("untrained", "greedy"), last):
        deals = {deal: [share] * 2 for deal in range(50)}
        results.matchups[lineup] = Matchup(deals, [1.0, 1.0], [9, 9], ["abc"], ["here"])
    results.write("command")
    assert found in ladder_part(ladder, tmp_path)


def test_of_a_team_in_several_tables_most_games_count(tmp_path):
    file = tmp_path / "list.toml"
    table = """[[cooperative]]
name = "{}"
game = "samurai_spirit players=1"
agents = ["random"]
deals = {}
full_deals = {}
"""
    file.write_text(table.format("many", 9, 9) + table.format("few", 2, 2))
    play(Config(processes=1), QUIET, tmp_path, file)
    (rows,) = json.loads(best(tmp_path, file))["variants"].values()
    assert [row["spec"] for row in rows] == ["random"]
    wins = CooperativeResults(tmp_path / "many" / "wins.json")
    (rate, games) = wins.rate("random", make_variant("samurai_spirit", 1))
    assert games == 9
    assert rows[0]["interval"] == [round(rate.low, 4), round(rate.high, 4)]
    # Of their times the least counts, whichever table stands last.
    for name, seconds in (("many", 2.0), ("few", 1.0)):
        wins = CooperativeResults(tmp_path / name / "wins.json")
        wins.thought = {key: (seconds * decisions, decisions) for key, (_, decisions) in wins.thought.items()}
        wins.write()
    for order in ((("many", 9, 9), ("few", 2, 2)), (("few", 2, 2), ("many", 9, 9))):
        file.write_text("".join(table.format(*one) for one in order))
        (rows,) = json.loads(best(tmp_path, file))["variants"].values()
        assert rows[0]["seconds"] == 1.0


def test_a_table_that_was_stopped_with_a_gap_at_its_first_deal_is_left_out(tmp_path):
    """Workers end their deals in any order."""
    file = tmp_path / "list.toml"
    file.write_text(SMALL)
    results = Results(tmp_path / "ladder-small" / "results.json", parse_variant("samurai players=2").spec)
    results.matchups["random", "greedy"] = Matchup({5: [0.0, 0.0]}, [0.1, 0.1], [10, 10], ["abc"], ["here"])
    (tmp_path / "ladder-small").mkdir()
    results.write("")
    assert page(tmp_path, file).rstrip().endswith(NOTHING)


def test_a_table_with_nothing_in_the_short_form_says_so_when_asked_for(tmp_path):
    (tmp_path / "list.toml").write_text(SMALL)
    out = io.StringIO()
    play(Config(only=("long",)), Console(file=out, width=200), tmp_path, tmp_path / "list.toml")
    assert out.getvalue() == "long: the short form has nothing to play there; --full plays it\n"


def test_a_team_that_was_stopped_before_its_first_game_is_left_out(tmp_path):
    file = tmp_path / "list.toml"
    file.write_text("""[[cooperative]]
name = "team"
game = "samurai_spirit players=1"
agents = ["random"]
deals = 1
full_deals = 1
""")
    (tmp_path / "team").mkdir()
    (tmp_path / "team" / "wins.json").write_text('{"networks": {}, "returns": []}')
    assert page(tmp_path, file).rstrip().endswith(NOTHING)


def test_a_deal_on_two_tables_counts_once(tmp_path):
    tables = []
    for name, first, lineup in (("a", 0, ("greedy", "random")), ("b", 2, ("random", "greedy"))):
        results = Results(tmp_path / name / "results.json", "samurai players=2", first)
        share = float(lineup[0] == "greedy")
        results.matchups[lineup] = Matchup({deal: [share] * 2 for deal in range(5)})
        tables.append(results)
    (matchup,) = merged([Table(results, ("greedy", "random"), True) for results in tables]).matchups.values()
    assert matchup.shares().tolist() == [[1.0, 1.0]] * 7
