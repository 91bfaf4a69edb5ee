"""Numbers of move sequences, against the files in `tests/perft` and against the plain references."""

import random
from collections import Counter
from pathlib import Path

import pytest

from samurai_env import perft as command
from samurai_env.core.game import Variant, find_game
from samurai_env.core.variant_spec import parse_variant
from samurai_env.perft import perft, walk
from samurai_env.position import Position
from tests.agreement.match import Match, match_of
from tests.regenerate import DEPTH, GAMES, LARGEST, PERFT, perft_files, perft_lines

FILES = {path: variants for game in GAMES for path, variants in perft_files(game).items()}
MOST_BY_REFERENCE = 500  # positions that the reference may visit for one count


def lines(path: Path) -> list[tuple[Variant, int, int, list[int]]]:
    """Variant, seed, decisions made first and counts of each line of a file."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            spec, seed, plies, counts = line.split(" | ")
            found.append((parse_variant(spec), int(seed), int(plies), [int(count) for count in counts.split()]))
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_counts_are_those_of_the_file(path: Path) -> None:
    rows = lines(path)
    assert {variant for variant, *_ in rows} == set(FILES[path])
    assert max(len(counts) for *_, counts in rows) == DEPTH[rows[0][0].game.name]
    for variant, seed, plies, counts in rows:
        position = Position(variant, seed)
        walk(position, plies)
        assert position.steps == plies
        assert [perft(position, depth) for depth in range(1, len(counts) + 1)] == counts, (variant.spec, seed, plies)


def replayed(variant: Variant, seed: int, actions: list[int]) -> Match:
    """Both sides of a game after these actions."""
    match = match_of(variant.game.name)(Position(variant, seed), random.Random(seed))
    for action in actions:
        match.legal()
        match.position.step(action)
        match.apply(variant.action_names[action])
    return match


def count_by_replay(variant: Variant, seed: int, actions: list[int], depth: int) -> int:
    """Perft for a reference that cannot be copied: every position is reached from the start of the game."""
    legal = replayed(variant, seed, actions).legal()
    if depth == 1:
        return len(legal)
    further = [[*actions, variant.action_names.index(name)] for name in legal]
    return sum(count_by_replay(variant, seed, longer, depth - 1) or 1 for longer in further)  # 1: the game has ended


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_reference_counts_the_same(path: Path) -> None:
    by_depth: Counter[int] = Counter()
    for variant, seed, plies, counts in lines(path):
        actions = walk(Position(variant, seed), plies)
        deepest = max(d for d, visited in enumerate([1, *counts], 1) if visited <= MOST_BY_REFERENCE or d == 1)
        deepest = min(deepest, len(counts))
        found = replayed(variant, seed, actions).perft(deepest)
        if found is None:
            found = count_by_replay(variant, seed, actions, deepest)
        assert found == counts[deepest - 1], (variant.spec, seed, plies, deepest)
        by_depth[deepest] += 1
    assert sum(found for depth, found in by_depth.items() if depth >= 3) >= 20, by_depth


@pytest.mark.parametrize("game", GAMES)
def test_the_files_can_be_written_again(game: str) -> None:
    path = PERFT / f"{game}-2.txt"
    written = list(perft_lines(FILES[path][:2]))
    assert path.read_text(encoding="utf-8").splitlines()[: len(written)] == written


def test_depths() -> None:
    position = Position(find_game("samurai").variant(2), 1)
    before = position.hash()
    assert [perft(position, depth) for depth in (0, 1)] == [1, 17]
    with pytest.raises(ValueError, match="a depth must be 0 or more, not -1"):
        perft(position, -1)
    assert position.hash() == before
    walk(position, 1000)
    assert position.over
    assert [perft(position, depth) for depth in (0, 1, 2)] == [1, 0, 0]


def test_counts_stay_small() -> None:
    assert all(count <= LARGEST for path in FILES for *_, counts in lines(path) for count in counts)


def test_no_file_is_left_over() -> None:
    assert set(PERFT.iterdir()) == set(FILES)


def test_command(capsys: pytest.CaptureFixture[str]) -> None:
    command.main(["samurai", "players=2", "first_hand=random figure_setup=random", "--seed", "3", "--plies", "10"])
    shown = capsys.readouterr().out.splitlines()
    position = Position(parse_variant("samurai players=2 first_hand=random figure_setup=random"), 3)
    walk(position, 10)
    assert shown[0].endswith("seed 3 | plies 10")
    assert [line.split(",  ")[0].split(" sequences")[0] for line in shown[1:]] == [
        f"depth {depth}: {perft(position, depth):,}" for depth in (1, 2, 3)
    ]
    with pytest.raises(SystemExit):
        command.main(["samurai players=9"])
    assert "not 9" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("option", "message"), [("--depth=-1", "at least 1, not -1"), ("--plies=-2", "at least 0, not -2")]
)
def test_command_refuses_what_cannot_be_counted(option: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command.main(["samurai players=2", option])
    assert f"error: {option.split('=')[0]} must be {message}" in capsys.readouterr().err
