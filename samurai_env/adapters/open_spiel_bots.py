"""OpenSpiel's bots as agents, for tournaments: `samurai_env.adapters.open_spiel_bots.ISMCTS:100`."""

import numpy as np

from samurai_env.adapters.open_spiel import at_position, load
from samurai_env.core.game import Variant
from samurai_env.core.texts import install_hint
from samurai_env.position import Position

with install_hint("open_spiel"):
    from open_spiel.python.algorithms.ismcts import ISMCTSBot
    from open_spiel.python.algorithms.mcts import RandomRolloutEvaluator

UCT_C = 1.4


class ISMCTS:
    """OpenSpiel's information-set MCTS in Python, with uniformly random rollouts to the end.

    Args:
        variant: what it plays.
        argument: simulations a decision, 100 if empty.

    Raises:
        ValueError: the argument is not a positive number.
    """

    def __init__(self, variant: Variant, argument: str = "") -> None:
        if not (argument or "100").isdecimal() or int(argument or 100) < 1:
            raise ValueError(f"ISMCTS takes a number of simulations such as ISMCTS:100, not {argument!r}")
        self.game, self.simulations = load(variant), int(argument or 100)

    def act(self, states: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """An action for each state; nothing hidden is used, for OpenSpiel resamples it in each simulation."""
        return np.array([self._decide(state, key) for state, key in zip(states, keys, strict=True)], np.int64)

    def _decide(self, state: np.void, key: np.uint64) -> int:
        rng = np.random.RandomState(int(key) % 2**32)
        bot = ISMCTSBot(self.game, RandomRolloutEvaluator(1, rng), UCT_C, self.simulations, random_state=rng)
        bot.set_resampler(lambda seen, seat: seen.resample_from_infostate(seat, rng.random_sample))
        position = Position(self.game.variant)
        position.states[0] = state
        return int(bot.step(at_position(self.game, position)))
