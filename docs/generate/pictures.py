"""Draw the pictures of the pages, one of each game.

    python -m docs.generate.pictures

It writes docs/images/board.png, card.png and spirit.png.
"""

import argparse
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import numpy as np

from agents.registry import make_agent
from samurai_env import Position, parse_variant
from samurai_env.display import rgb_array
from samurai_env.files.atomic_write import write_atomically

IMAGES = Path(__file__).resolve().parents[1] / "images"
PICTURES = {  # name: variant, seed, decisions played before (or a few more, to the end of a move)
    "board": ("samurai players=2 first_hand=random figure_setup=random", 7, 33),
    "card": ("samurai_card players=3", 7, 40),
    "spirit": ("samurai_spirit players=4 difficulty=easy", 7, 62),
}


def picture(spec: str, seed: int, decisions: int) -> np.ndarray:
    """A game between `greedy` players after this many decisions, as the seat to move sees it; pixels."""
    variant = parse_variant(spec)
    position, agent = Position(variant, seed), make_agent("greedy", variant)
    last: list[int] = []
    while position.steps < decisions or position.mid_move:
        action = int(agent.act(position.states, np.array([position.steps], np.uint64))[0])
        last = [*last, action] if position.mid_move else [action]
        position.step(action)
    return rgb_array(variant.game.scene(position.state, position.seat, last))


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m docs.generate.pictures", description="Draw the pictures of the pages."
    )
    parser.parse_args(arguments)
    from PIL import Image

    IMAGES.mkdir(exist_ok=True)
    for name, what in PICTURES.items():
        image = Image.fromarray(picture(*what))
        written = BytesIO()
        image.quantize(128, dither=Image.Dither.NONE).save(written, "PNG", optimize=True)
        write_atomically(IMAGES / f"{name}.png", written.getvalue())
        print(IMAGES / f"{name}.png")


if __name__ == "__main__":
    main()
