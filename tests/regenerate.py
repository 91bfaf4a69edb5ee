"""Write the data files of the tests again, after a change of the rules that is meant:

    python -m tests.regenerate golden perft          # all games below
    python -m tests.regenerate golden --game samurai

Read the difference (`git diff tests/golden tests/perft`) before you keep it.
"""

import argparse
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from samurai_env.core.game import Variant, find_game
from samurai_env.files.atomic_write import write_atomically
from samurai_env.games.spirit.rules.cards import LEVELS, MOST, SAMURAI
from samurai_env.perft import perft, walk
from samurai_env.position import Position
from tests.agreement.match import play_and_record
from tests.common.variants import all_variants, label, rule_variants

GAMES = ("samurai", "samurai_card", "samurai_spirit")  # the games that have data files
GOLDEN = Path(__file__).parent / "golden"
PERFT = Path(__file__).parent / "perft"
# Perft counts end with this depth, or before the first larger count. Spirit has few choices, but chains of them.
DEPTH, LARGEST = {"samurai": 4, "samurai_card": 6, "samurai_spirit": 9}, 1_000_000
CARD_DEALS = 4  # that are counted for each number of players: the card game has one variant for each


def spirit_variants() -> dict[str, Variant]:
    """Every number of samurai at every level, with the other options spread over them, by the names of their files."""
    game, found = find_game("samurai_spirit"), {}
    for players in game.players:
        for i, level in enumerate(LEVELS):
            options = {"difficulty": level, "first": i % players}
            if i % 2:
                options["samurai"] = tuple(random.Random(i).sample(SAMURAI, players))
            if i >= 2 and players < MOST:
                options["two_player_rules"] = "on"
            found[f"{game.name}-{players}-{level}"] = game.variant(players, **options)
    return found


def golden_files(game: str) -> dict[Path, Variant]:
    """The file of each variant's recorded game."""
    if game == "samurai_spirit":
        variants = spirit_variants()
    else:
        variants = {label(variant): variant for variant in all_variants(find_game(game))}
    return {GOLDEN / f"{name}.txt": variant for name, variant in variants.items()}


def perft_files(game: str) -> dict[Path, list[Variant]]:
    """The file of each number of players, with the variant of seed 0, 1, ... in it."""
    variants = list(spirit_variants().values()) if game == "samurai_spirit" else rule_variants(find_game(game))
    if game == "samurai_card":
        variants *= CARD_DEALS
    files: dict[Path, list[Variant]] = {}
    for variant in variants:
        files.setdefault(PERFT / f"{game}-{variant.num_players}.txt", []).append(variant)
    return files


def starts(variant: Variant, seed: int) -> list[int]:
    """Decisions after which to count: in the set-up (if there is one), early, in the middle and near the end."""
    whole = Position(variant, seed)
    walk(whole, variant.max_steps)
    n, length = variant.num_players, whole.steps
    wanted = {0, 3, 5 * n, 5 * n + 7, length // 3, 2 * length // 3, length - 9, length - 2}
    return sorted(plies for plies in wanted if 0 <= plies < length)


def perft_lines(variants: list[Variant]) -> Iterator[str]:
    """The lines of one file."""
    yield "# spec | seed | decisions made first (samurai_env.perft.walk) | sequences of 1, 2, ... decisions"
    for seed, variant in enumerate(variants):
        for plies in starts(variant, seed):
            position = Position(variant, seed)
            walk(position, plies)
            counts: list[int] = []
            while len(counts) < DEPTH[variant.game.name] and (count := perft(position, len(counts) + 1)) <= LARGEST:
                counts.append(count)
            yield f"{variant.spec} | {seed} | {plies} | {' '.join(map(str, counts))}"


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.regenerate", description="Rewrite test data.")
    parser.add_argument("what", nargs="+", choices=("golden", "perft"))
    parser.add_argument("--game", action="append", choices=GAMES, help="default: all")
    given = parser.parse_args(arguments)
    for game in given.game or GAMES:
        if "golden" in given.what:
            GOLDEN.mkdir(exist_ok=True)
            for seed, (path, variant) in enumerate(golden_files(game).items()):
                play_and_record(variant, seed)[1].save(path)
        if "perft" in given.what:
            PERFT.mkdir(exist_ok=True)
            for path, variants in perft_files(game).items():
                write_atomically(path, "\n".join(perft_lines(variants)) + "\n")


if __name__ == "__main__":
    main()
