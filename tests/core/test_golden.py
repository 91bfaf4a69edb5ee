"""Recorded games of every variant: replayed decision by decision, they must be what they were."""

from pathlib import Path

import pytest

from samurai_env.core.game import Variant
from samurai_env.game_record import GameRecord
from tests.regenerate import GAMES, GOLDEN, golden_files

FILES = {path: variant for game in GAMES for path, variant in golden_files(game).items()}


@pytest.mark.parametrize(("path", "variant"), FILES.items(), ids=[path.stem for path in FILES])
def test_a_recorded_game_is_replayed_alike(path: Path, variant: Variant) -> None:
    recorded = GameRecord.load(path)  # verifies seats, moves, result and hash
    assert recorded.variant == variant
    assert recorded.over
    again = GameRecord.from_actions(variant, recorded.seed, recorded.actions)
    found, wanted = again.to_text().split("\n"), path.read_text(encoding="utf-8").split("\n")
    for number, (ours, theirs) in enumerate(zip(found, wanted, strict=True), 1):
        assert ours == theirs, f"{path.name}, line {number}"


def test_no_file_is_left_over() -> None:
    assert set(GOLDEN.iterdir()) == set(FILES)
