"""Draw the pictures of the pages.

    python -m docs.pictures

It writes docs/images/board.png.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from agents.base import make_agent
from samurai_env import Position, make_variant
from samurai_env.render import rgb_array

IMAGES = Path(__file__).resolve().parent / "images"


def board(seed: int, decisions: int) -> np.ndarray:
    """A game between two greedy players after about so many decisions, as the seat to move sees it; pixels."""
    variant = make_variant("samurai", 2, first_hand="random", figure_setup="random")
    position, agent = Position(variant, seed), make_agent("greedy", variant)
    last: list[int] = []
    while position.steps < decisions or position.mid_move:
        action = int(agent.act(position.states, np.array([position.steps], np.uint64))[0])
        last = [*last, action] if position.mid_move else [action]
        position.step(action)
    return rgb_array(variant.game.scene(position.record, position.seat, last))


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m docs.pictures", description="Draw the pictures of the pages.")
    parser.add_argument("--seed", type=int, default=7, help="seed of the game shown (default 7)")
    parser.add_argument("--decisions", type=int, default=33, help="decisions played before, at least (default 33)")
    given = parser.parse_args(arguments)
    from PIL import Image

    IMAGES.mkdir(exist_ok=True)
    picture = Image.fromarray(board(given.seed, given.decisions))
    picture.quantize(128, dither=Image.Dither.NONE).save(IMAGES / "board.png", optimize=True)
    print(IMAGES / "board.png")


if __name__ == "__main__":
    main()
