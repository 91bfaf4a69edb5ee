"""Game records: written, read back, verified, saved. Damaged ones are in `test_bad_input`."""

import os
import random
from pathlib import Path

import pytest

from samurai_env.core.game import find_game
from samurai_env.game_record import GameRecord, move_ranges
from samurai_env.position import IllegalActionError, Position
from tests.common.positions import play_random
from tests.common.variants import all_variants, label
from tests.regenerate import GAMES

VARIANTS = [variant for game in GAMES for variant in all_variants(find_game(game))]
BOARD = find_game("samurai")


def random_record(variant, seed: int, tags=None) -> GameRecord:
    rng = random.Random(seed)
    return GameRecord.play(variant, seed, lambda position: rng.choice(position.legal_actions()), tags)


@pytest.mark.parametrize("variant", VARIANTS, ids=label)
def test_a_game_written_is_the_game_read(variant) -> None:
    record = random_record(variant, 7, {"player0": "greedy", "place": "Edo, early summer"})
    again = GameRecord.parse(record.to_text())
    assert (again.variant, again.seed, again.actions, again.tags) == (variant, 7, record.actions, record.tags)
    assert again.to_text() == record.to_text()
    assert again.over
    assert again.position.hash() == record.position.hash()


def test_an_unfinished_game_can_be_written_at_every_decision() -> None:
    whole = random_record(BOARD.variant(2, edition="1998"), 3)
    record = GameRecord(whole.variant, 3)
    half = 0
    for action in whole.actions:
        again = GameRecord.parse(record.to_text())
        assert again.actions == record.actions
        assert not again.over
        assert "\nresult: *\n" in record.to_text()
        half += record.position.mid_move
        record.append(action)
    assert record.to_text() == whole.to_text()
    assert half > 20  # half-made moves too


def test_lines_are_moves_of_the_rulebook() -> None:
    variant = BOARD.variant(2, first_hand="random", figure_setup="random")
    position = Position(variant, 1)
    names = variant.action_names
    record = GameRecord(variant, 1)
    for name in ("S1", "c15r08"):
        record.append(names.index(name))
    position.step(names.index("S1"))
    position.step(names.index("c15r08"))
    assert record.to_text() == (
        "samurai_env game record 1\n"
        "variant: samurai players=2 edition=2016 first_hand=random figure_setup=random hide_captures=false\n"
        "seed: 1\n"
        "\n"
        "1. 0 S1 c15r08\n"
        "result: *\n"
        f"hash: {position.hash()}\n"
    )


def test_every_kind_of_move_comes_up() -> None:
    words = {text.split()[0] for seed in range(5) for _, text in random_record(BOARD.variant(2), seed).moves()}
    assert words >= {"pick", "set", "end", "TX", "FX", "SH1", "RO", "H4", "S2"}


def test_replay_gives_every_position() -> None:
    record = random_record(BOARD.variant(3), 5)
    position = Position(record.variant, 5)
    replayed = list(record.replay())
    assert len(replayed) == len(record.actions) + 1
    assert replayed[0].hash() == position.hash()
    for action, after in zip(record.actions, replayed[1:], strict=True):
        position.step(action)
        assert after.hash() == position.hash()
    assert replayed[-1].hash() == record.position.hash()


def test_a_record_can_be_continued_after_reading() -> None:
    whole = random_record(BOARD.variant(2), 2)
    record = GameRecord.parse(GameRecord.from_actions(whole.variant, 2, whole.actions[:40]).to_text())
    for action in whole.actions[40:]:
        record.append(action)
    assert record.to_text() == whole.to_text()


def test_an_illegal_decision_is_not_written_down() -> None:
    record = GameRecord(BOARD.variant(2), 0)
    before = record.to_text()
    with pytest.raises(IllegalActionError, match="end"):
        record.append(BOARD.variant(2).action_names.index("end"))
    assert record.to_text() == before
    with pytest.raises(IllegalActionError):
        GameRecord.from_actions(BOARD.variant(2), 0, [0, 0])  # there is one H2


def test_what_the_caller_gets_is_a_copy() -> None:
    record = GameRecord(BOARD.variant(2), 0)
    before = record.to_text()
    play_random(record.position, random.Random(0))
    play_random(next(record.replay()), random.Random(0))
    assert record.to_text() == before


@pytest.mark.parametrize("tags", [{"a b": "x"}, {"": "x"}, {"a:": "x"}, {"a": "x\ny"}, {"a": " x"}, {"a": "x\x1b[2J"}])
def test_tags_must_fit_into_a_line(tags) -> None:
    with pytest.raises(ValueError, match="tag"):
        GameRecord(BOARD.variant(2), 0, tags)


def test_tags_that_were_set_later_must_fit_too(tmp_path: Path) -> None:
    path, record = tmp_path / "game.txt", random_record(BOARD.variant(2), 1)
    record.save(path)
    kept = path.read_text()
    for tags in ({"note": "two\nlines"}, {"a b": "x"}, {f"t{i}": "" for i in range(65)}):
        record.tags = tags
        with pytest.raises(ValueError, match="tag"):
            record.save(path)
        assert path.read_text() == kept


def test_tags_may_hold_any_printable_text() -> None:
    tags = {"player0": "刀 mcts:1000", "event": "a: b: c", "empty": "", "v.1_2-3": "1. 0 pick H4"}
    record = random_record(BOARD.variant(2), 1, tags)
    assert GameRecord.parse(record.to_text()).tags == tags


def test_saving_is_all_or_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "game.txt"
    first, second = random_record(BOARD.variant(2), 1), random_record(BOARD.variant(2), 2)
    first.save(path)
    assert path.read_bytes() == first.to_text().encode()
    assert GameRecord.load(path).to_text() == first.to_text()

    def fail(*_) -> None:
        raise OSError("no space left")

    for name in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, name, fail)
            with pytest.raises(OSError, match="no space left"):
                second.save(path)
        assert path.read_bytes() == first.to_text().encode()
        assert list(tmp_path.iterdir()) == [path]
    second.save(str(path))
    assert GameRecord.load(str(path)).to_text() == second.to_text()
    assert list(tmp_path.iterdir()) == [path]


def test_line_ends_of_another_system_are_read(tmp_path: Path) -> None:
    record = random_record(BOARD.variant(2), 1)
    path = tmp_path / "game.txt"
    path.write_bytes(record.to_text().replace("\n", "\r\n").encode())
    assert GameRecord.load(path).to_text() == record.to_text()
    assert GameRecord.parse(record.to_text().removesuffix("\n")).to_text() == record.to_text()


@pytest.mark.parametrize(
    ("mid_move", "moves"),
    [
        ([], []),
        ([False], [[0]]),
        ([True], [[0]]),  # half made
        ([False, True, True, False, True], [[0], [1, 2, 3], [4]]),
    ],
)
def test_decisions_are_grouped_into_moves(mid_move, moves):
    assert [list(move) for move in move_ranges(mid_move)] == moves
