"""All deals of Mini-Samurai, for exact chance."""

from itertools import permutations, product

import numpy as np

from samurai_env.core.game import Variant
from samurai_env.game_batch import GameBatch
from tests.mini.game import KINDS


def all_deals(variant: Variant) -> np.ndarray:
    """Every beginning as states, equally likely; the order of the two tiles in a hand plays no part."""
    rows = [row for row in permutations(range(KINDS)) if row[0] < row[1]]
    deals = list(product(rows, repeat=variant.num_players))
    states = GameBatch(variant).reset(np.zeros(len(deals), np.int64))
    states["tiles"] = deals
    return states
