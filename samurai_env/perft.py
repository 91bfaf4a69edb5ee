"""Counting move sequences (perft): a sharp and cheap test that two versions of the rules agree.

    python -m samurai_env.perft samurai players=2 edition=1998 --seed 3 --plies 40 --depth 4

`--plies` decisions are made first by `walk`. Supplies lie in the order of the seed: chance is not a branch.
"""

import argparse
import time
from collections.abc import Sequence

import numpy as np

from samurai_env.core.batch import batch_kernels
from samurai_env.core.checks import checked_integer
from samurai_env.core.rng import below
from samurai_env.core.texts import shown
from samurai_env.core.variant_spec import parse_variant
from samurai_env.position import Position


def perft(position: Position, depth: int) -> int:
    """Number of sequences of decisions that have length `depth`, or end the game before that.

    Depth 0 has one sequence (the empty one), a finished game none of any other length.

    Raises:
        TypeError: a depth that is not an integer.
        ValueError: a negative depth.
    """
    depth = min(checked_integer("a depth", depth), position.variant.max_steps)  # no sequence is longer
    if depth < 0:
        raise ValueError(f"a depth must be 0 or more, not {shown(depth)}")
    if depth == 0:
        return 1
    variant = position.variant
    states = np.repeat(position.states, depth + 1)
    words = np.zeros((depth, variant.num_words), np.uint64)
    return int(batch_kernels(variant.game).perft(states, depth, words))


def walk(position: Position, plies: int) -> list[int]:
    """Make up to `plies` decisions that depend on the game's seed alone (fewer if the game ends), and return them.

    Each is legal action number `below(k)` of the k legal ones in ascending order, where `below` draws from
    a SplitMix64 stream (`samurai_env.core.rng`) that starts as the seed with all 64 bits inverted.

    Raises:
        TypeError: a number of plies that is not an integer.
    """
    plies = checked_integer("the number of plies", plies)
    rng = np.array([~np.uint64(position.seed)], np.uint64)
    actions: list[int] = []
    while len(actions) < plies and not position.over:
        legal = position.legal_actions()
        actions.append(legal[below(rng, len(legal))])
        position.step(actions[-1])
    return actions


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m samurai_env.perft", description="Count move sequences.")
    parser.add_argument("game", nargs="+", help="with players and options: samurai players=2 edition=1998")
    parser.add_argument("--seed", type=int, default=0, help="seed of the game (default 0)")
    parser.add_argument("--plies", type=int, default=0, help="decisions made before counting (default 0)")
    parser.add_argument("--depth", type=int, default=3, help="longest sequences counted (default 3)")
    given = parser.parse_args(arguments)
    for name, lowest in (("plies", 0), ("depth", 1)):
        if getattr(given, name) < lowest:
            parser.error(f"--{name} must be at least {lowest}, not {getattr(given, name)}")
    try:
        position = Position(parse_variant(" ".join(given.game)), given.seed)
    except ValueError as error:
        parser.error(str(error))
    walk(position, given.plies)
    print(f"{position.variant.spec} | seed {given.seed} | plies {position.steps}")
    for depth in range(1, given.depth + 1):
        start = time.perf_counter()
        count = perft(position, depth)
        print(f"depth {depth}: {count:,} sequences, {time.perf_counter() - start:.3f} s", flush=True)


if __name__ == "__main__":
    main()
