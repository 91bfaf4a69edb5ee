"""Learners of other frameworks on the games: one short program each, as a user writes it, and what they reach.

`make clients` installs each in an environment of its own, `python -m experiments.clients NAME` trains it there.
"""

from collections.abc import Callable

import numpy as np

# From the observations of some games ({"observation", "action_mask"}, games first) to their actions.
Policy = Callable[[dict[str, np.ndarray]], np.ndarray]
