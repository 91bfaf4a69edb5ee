"""How strong agents play: statistics against a plain recount, resumed games, and a page that follows from them."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from agents.registry import make_agent
from experiments.common.tasks import WorkerSettings
from experiments.strong_play import board_game, general, play
from experiments.strong_play.outputs import texts
from experiments.strong_play.page import page
from experiments.strong_play.play import Measured, Played, Run, Section
from experiments.strong_play.recording import Games, SampledOpening, record_games
from experiments.strong_play.statistics import Sums, added, mean, sums
from samurai_env import Position, parse_variant
from samurai_env.game_record import GameRecord
from samurai_env.games.board.rules.tiles import COPIES, FIGURES, KIND_CODES, KIND_NAMES

VARIANT = parse_variant("samurai players=2")
GAMES = 6
QUICK = ("SH1", "SH2", "RO", "FX")
ONE = WorkerSettings(processes=1, ray=False)


def played(agent: str, against: str | None = None, first: int = 0, games: int = GAMES) -> Games:
    other = make_agent(against, VARIANT) if against else None
    return record_games(VARIANT, make_agent(agent, VARIANT), other, first, games)


@pytest.fixture(scope="module", params=[("greedy", None), ("random", None), ("greedy", "random")])
def games(request: pytest.FixtureRequest) -> Games:
    return played(*request.param)


def records(games: Games) -> list[GameRecord]:
    seeds = games.ends["seed"].tolist()
    actions = [games.actions[games.starts[i] : games.starts[i + 1]].tolist() for i in range(len(seeds))]
    return [GameRecord.from_actions(VARIANT, seed, each) for seed, each in zip(seeds, actions, strict=True)]


def by_seat(games: Games, values: list[list[float]]) -> list[float]:
    """The mean over the counted seats of each game."""
    return [
        float(np.mean([v for v, c in zip(row, counted, strict=True) if c]))
        for row, counted in zip(values, games.counted, strict=True)
    ]


def turns_of(record: GameRecord) -> list[tuple[int, list[str]]]:
    """Seat and tiles of each turn."""
    found: list[tuple[int, list[str]]] = []
    last, ended = None, True
    for seat, words in record.moves():
        kind = words.split()[0]
        if kind in ("pick", "set"):
            continue
        if seat != last or ended:
            found.append((seat, []))
        last, ended = seat, kind == "end"
        if not ended:
            found[-1][1].append(kind)
    return found


def test_hands_tiles_and_turns_are_those_of_the_records(games: Games) -> None:
    measured = board_game.measure(games)
    hands, tiles, turns, quick, per_turn = [], [], [], [], []
    for record in records(games):
        picks = [
            Counter(w.split()[1] for s, w in record.moves() if s == seat and w.startswith("pick")) for seat in (0, 1)
        ]
        hands.append([[hand[code] for code in KIND_CODES] for hand in picks])
        own = [[kinds for s, kinds in turns_of(record) if s == seat] for seat in (0, 1)]
        tiles.append(
            [[sum(t.count(code) for t in mine) / int(COPIES[i]) for i, code in enumerate(KIND_CODES)] for mine in own]
        )
        turns.append([len(mine) for mine in own])
        quick.append([np.mean([any(k in QUICK for k in t) for t in mine]) for mine in own])
        third = [mine[2] for mine in own]
        ships = [sum(k.startswith("SH") for k in t) for t in third]
        samurai = [sum(KIND_NAMES[KIND_CODES.index(k)] == "samurai" for k in t) for t in third]
        figures = [sum(KIND_NAMES[KIND_CODES.index(k)] in FIGURES for k in t) for t in third]
        per_turn.append(list(zip(ships, samurai, figures, strict=True)))
    for i in range(len(KIND_CODES)):
        assert measured["hand"].values[:, i].tolist() == by_seat(games, [[s[i] for s in g] for g in hands])
        assert measured["played"].values[:, i] == pytest.approx(by_seat(games, [[s[i] for s in g] for g in tiles]))
    assert measured["turns"].values[:, 0] == pytest.approx(by_seat(games, turns))
    assert measured["turns"].values[:, 2] == pytest.approx(by_seat(games, quick))
    for i, group in enumerate(("ship", "samurai", "own")):
        column = list(measured["by_turn"].items).index(f"{group} 3")
        assert measured["by_turn"].values[:, column] == pytest.approx(
            by_seat(games, [[s[i] for s in g] for g in per_turn])
        )


def test_first_places_are_those_of_the_records(games: Games) -> None:
    measured = board_game.measure(games)
    names = list(measured["places"].items)
    for number, record in enumerate(records(games)):
        count, ended, last, laid, beside_two, ships = [0, 0], True, None, set(), [0, 0], [0, 0]
        for seat, words in record.moves():
            kind, *place = words.split()
            if kind in ("pick", "set"):
                continue
            count[seat] += seat != last or ended
            last, ended = seat, kind == "end"
            if count[seat] <= board_game.EARLY and kind not in ("TX", "FX", "end"):
                laid.add(place[0])
                if kind.startswith("SH"):
                    ships[seat] += 1
                    beside_two[seat] += place[0] in ("c09r16", "c10r14", "c16r11")  # see data/board.json
        assert {names[i] for i in np.flatnonzero(measured["places"].values[number])} == laid
        own = [beside_two[s] / ships[s] for s in (0, 1) if games.counted[number, s] and ships[s]]
        assert measured["ships"].values[number, 2] == (
            pytest.approx(np.mean(own)) if own else pytest.approx(np.nan, nan_ok=True)
        )


def test_captures_are_those_of_the_positions(games: Games) -> None:
    found = board_game.captures(games)
    game = games.game[found.decision]
    for number, end in enumerate(games.ends):
        for figure in range(3):
            mine = (game == number) & (found.figure == figure)
            for seat in (0, 1):
                assert (found.taker[mine] == seat).sum() == end["captured"][seat, figure]
            assert (found.taker[mine] == -1).sum() == end["aside"][figure]
    measured = board_game.measure(games)
    totals = games.ends["captured"].sum(2)
    assert measured["figures"].values[:, 0] == pytest.approx(by_seat(games, totals.tolist()))
    for end, row in zip(games.ends, measured["won_by"].values, strict=True):
        taken = end["captured"]
        leads = [sum(taken[s, f] > taken[1 - s, f] for f in range(3)) for s in (0, 1)]
        winners = [s for s in (0, 1) if int(end["winners"]) >> s & 1]
        expected = 3 if len(winners) > 1 else {0: 2, 1: 1}.get(leads[winners[0]], 0)
        assert row.tolist() == [i == expected for i in range(4)]


def test_lengths_winners_and_agreement_are_those_of_the_positions(games: Games) -> None:
    measured = general.measure(games)
    for number, record in enumerate(records(games)):
        positions = list(record.replay())
        legal = [len(p.legal_actions()) for p in positions[:-1]]
        assert measured["length"].values[number].tolist() == pytest.approx(
            [len(legal), sum(k > 1 for k in legal), np.mean([k for k in legal if k > 1])]
        )
        shares = (positions[-1].returns() + 1) / 2
        assert measured["seat"].values[number][games.counted[number]].tolist() == shares[games.counted[number]].tolist()
        half: Position = positions[len(legal) // 2]
        if max(positions[-1].returns()) == 1:
            winner = int(positions[-1].returns().argmax())
            own, other = half.potential()[winner], half.potential()[1 - winner]
            expected = 0.5 if own == other else float(own > other)
            assert measured["ahead"].values[number, general.PARTS // 2 - 1] == expected


def test_greedy_agrees_with_itself_and_random_seldom() -> None:
    agreed = general.measure(played("greedy"))["agreement"].values[:, -1]
    assert agreed.tolist() == [1] * GAMES
    assert general.measure(played("random"))["agreement"].values[:, -1].max() < 0.5


def test_a_network_draws_its_opening() -> None:
    class Network:
        def evaluate(self, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            return np.log(np.tile(np.array([0.0, 0.25, 0.75, 0.0]) + 1e-300, (len(states), 1))), np.zeros(0)

        def act(self, states: np.ndarray, keys: np.ndarray) -> np.ndarray:
            return np.full(len(states), 9)

    states = np.zeros(4000, [("steps", "i4")])
    states["steps"][2000:] = 5
    keys = np.random.default_rng(1).integers(0, 2**64, 4000, np.uint64)
    actions = SampledOpening(Network(), 5).act(states, keys)
    assert set(actions[:2000]) == {1, 2}
    assert abs((actions[:2000] == 2).mean() - 0.75) < 0.04
    assert (actions[2000:] == 9).all()


def test_sums_of_parts_are_those_of_the_whole() -> None:
    whole, first, second = (
        sums({**general.measure(g), **board_game.measure(g)})
        for g in (played("greedy"), played("greedy", games=2), played("greedy", first=2, games=GAMES - 2))
    )
    joined = added(first, second)
    assert joined.keys() == whole.keys()
    for name, items in whole.items():
        for item, total in items.items():
            assert joined[name][item] == pytest.approx(total), (name, item)
    assert mean(4, 2.0, 2.0) == pytest.approx((0.5, 1.96 * (0.25 / 3) ** 0.5), abs=1e-4)


def test_play_resumes_and_refuses_other_games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(play, "CHUNK", 2)
    console = Console(quiet=True)
    runs = {"greedy": Run("greedy", "random"), "few": Run("random", games=1)}
    section = Section("small", "samurai players=2", 4, runs)
    play.play([section], ONE, console, tmp_path / "whole")
    section.games = 2
    play.play([section], ONE, console, tmp_path / "parts")
    section.games = 4
    play.play([section], ONE, console, tmp_path / "parts")
    whole, parts = (play.load(section, tmp_path / each) for each in ("whole", "parts"))
    assert whole == parts
    assert (whole.runs["greedy"].games, whole.runs["few"].games) == (4, 1)
    parts.runs["greedy"].sums.pop("idle")
    play.save(parts, play.file_of(section, tmp_path / "parts"))
    section.games = 6
    with pytest.raises(ValueError, match="other statistics"):
        play.play([section], ONE, console, tmp_path / "parts")
    parts.networks["greedy"] = "of another file"
    play.save(parts, play.file_of(section, tmp_path / "parts"))
    with pytest.raises(ValueError, match="results of another greedy"):
        play.load(section, tmp_path / "parts")
    section.sampled = 3
    with pytest.raises(ValueError, match="other games"):
        play.load(section, tmp_path / "parts")


def test_what_was_played_is_kept_when_an_agent_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measure_games = play.measure_games

    def failing(task: play.Task) -> tuple[Sums, str]:
        if task.first >= 4:
            raise ChildProcessError("the engine has died")
        return measure_games(task)

    monkeypatch.setattr(play, "CHUNK", 2)
    monkeypatch.setattr(play, "measure_games", failing)
    section = Section("small", "samurai players=2", 6, {"random": Run("random")})
    with pytest.raises(ChildProcessError, match="the engine has died"):
        play.play([section], ONE, Console(quiet=True), tmp_path)
    assert play.load(section, tmp_path).runs["random"].games == 4


def test_the_page_refuses_what_is_not_measured_or_not_so() -> None:
    one = Played("mcts:9,tuned=1", None, 100, ["abc"], ["here"], {"turns": {"tiles": (100, 140.0, 200.0)}})
    two = Played("ppo:weights/net.safetensors", None, 100, ["abc"], ["here"], {"turns": {"tiles": (100, 110.0, 130.0)}})
    found = {"s": Measured(VARIANT.spec, 0, "0", "0", {}, {"a": one, "b": two})}
    assert "plays 1.40 tiles" in page(found, "# T\n\nIt plays {{s.a.turns.tiles .2 > b}} tiles.")
    assert "| tiles | 140.0 ± 3.9 % | 110.0 ±" in page(found, "# T\n\n{{table s: a b\ntiles | turns.tiles | %\n}}\n")
    assert "100 of `mcts:9`, 100 of `net`" in page(found, "# T\n\n{{about s}}\n")
    with pytest.raises(ValueError, match=r"claims s: turns\.tiles of a < that of b"):
        page(found, "# T\n\n{{s.a.turns.tiles .2 < b}}")
    for wrong in ("{{s.a.turns.hares %}}", "{{s.c.turns.tiles %}}", "{{s.a.turns.tiles}}"):
        with pytest.raises(ValueError, match=r"measured|neither"):
            page(found, f"# T\n\n{wrong}")


def test_page_and_map_follow_the_results() -> None:
    for path, text in texts().items():
        assert path.read_text(encoding="utf-8") == text, "run: python -m experiments.strong_play --no-play"
