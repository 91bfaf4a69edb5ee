"""Deal a hidden hand by odds: what is known of it beyond the tiles or cards that it is drawn from.

Hands of a size follow the conditional Bernoulli distribution (Chen, Dempster and Liu, 1994): the probability of one is
in proportion to the product of the odds of what it holds. Equal odds make all hands equally likely.
"""

import numpy as np

from samurai_env.core.jit import jit
from samurai_env.core.rng import shuffle, uniform

UNIFORM = np.zeros((7, 0))  # no odds for any seat: all hands are equally likely


@jit
def shuffle_hand(row, held, odds, rng):
    """Shuffle a row of kinds whose first `held` are a hand.

    Args:
        row: int8 (tiles,), the kinds that hand and supply hold together, changed in place.
        held: size of the hand.
        odds: float64 (kinds,), above 0; empty if all hands are equally likely.
        rng: uint64 (1,), the random stream.
    """
    if odds.shape[0] == 0:
        shuffle(rng, row)
        return
    count = row.shape[0]
    # Sums of products of odds over all ways to choose so many tiles (columns) from one on (rows).
    ways = np.zeros((count + 1, held + 1))
    ways[:, 0] = 1.0
    for i in range(count - 1, -1, -1):
        for chosen in range(1, held + 1):
            ways[i, chosen] = ways[i + 1, chosen] + odds[row[i]] * ways[i + 1, chosen - 1]
    taken = 0
    for i in range(count):
        left = held - taken
        if left > 0 and uniform(rng) * ways[i, left] < odds[row[i]] * ways[i + 1, left - 1]:
            row[i], row[taken] = row[taken], row[i]
            taken += 1
    shuffle(rng, row[held:])
