"""Seeds, and random numbers for compiled code: SplitMix64 (Steele, Lea and Flood, 2014), its state in an array.

A stream is a `uint64` array of length 1, so that a field of a game's state (`state.rng`) and a free
stream (`np.array([seed], np.uint64)`) are used alike. Never numba's or NumPy's global generator.
"""

import numpy as np

from samurai_env.core.checks import checked_seed
from samurai_env.core.jit import inlined, jit

STEP = np.uint64(0x9E3779B97F4A7C15)  # 2**64 / golden ratio
MIX_A = np.uint64(0xBF58476D1CE4E5B9)
MIX_B = np.uint64(0x94D049BB133111EB)
S27, S30, S31, S32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)
SEED_BITS = np.uint64(0x7FFFFFFFFFFFFFFF)  # seeds stay within int64, which Gymnasium's spaces and JSON like


@inlined
def mix(x):
    """Scramble a `uint64` to another, one to one."""
    x = (x ^ (x >> S30)) * MIX_A
    x = (x ^ (x >> S27)) * MIX_B
    return x ^ (x >> S31)


@inlined
def draw(rng):
    """The next 64 random bits of the stream."""
    rng[0] += STEP
    return mix(rng[0])


@inlined
def below(rng, n):
    """A random integer in [0, n), 0 < n < 2**32, as int64 (bias below n / 2**32)."""
    return np.int64(((draw(rng) >> S32) * np.uint64(n)) >> S32)


@inlined
def uniform(rng):
    """A random float64 in [0, 1)."""
    return np.float64(draw(rng) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@jit
def shuffle(rng, items):
    """Put the elements of a 1-D array into a uniformly random order, in place (Fisher and Yates)."""
    for i in range(items.shape[0] - 1, 0, -1):
        j = below(rng, i + 1)
        items[i], items[j] = items[j], items[i]


@inlined
def next_seed(seed):
    """The seed of the game that follows the game with `seed` when nobody names one."""
    return mix(np.uint64(seed) + STEP) & SEED_BITS


def random_seed() -> int:
    """A seed nobody has asked for."""
    return int(np.random.SeedSequence().generate_state(1, np.uint64)[0] >> np.uint64(1))


class Seeds:
    """The seeds of an environment's games: the given one, else the successor of the last."""

    def __init__(self) -> None:
        self.last: int | None = None

    def next(self, seed: int | None) -> int:
        """Return the seed of the next game."""
        if seed is not None:
            self.last = checked_seed(seed)
        elif self.last is None:
            self.last = random_seed()
        else:
            self.last = int(next_seed(np.uint64(self.last)))
        return self.last
