"""Positions to test with: reached by random play, or with the state edited by hand."""

import random
from collections.abc import Iterator

import numpy as np

from samurai_env.core.game import Variant
from samurai_env.position import Position


def play_random(position: Position, rng: random.Random, steps: int = 10**9) -> Position:
    """Make up to `steps` random decisions; the same object."""
    while steps and not position.over:
        position.step(rng.choice(position.legal_actions()))
        steps -= 1
    return position


def sampled(variant: Variant, seeds: range, every: int) -> Iterator[Position]:
    """Copies of about one position in `every`, from the first to the last decision of random games."""
    for seed in seeds:
        rng = random.Random(seed)
        position = Position(variant, seed)
        while not position.over:
            if rng.random() * every < 1:
                yield position.clone()
            position.step(rng.choice(position.legal_actions()))
        yield position


def stream(seed: int) -> np.ndarray:
    """A stream for `Position.determinized`."""
    return np.array([seed], np.uint64)


def observations(position: Position, seat: int) -> dict[str, bytes]:
    """What a seat sees, in every encoding."""
    return {name: position.observe(seat, name).tobytes() for name in position.variant.game.encodings}
