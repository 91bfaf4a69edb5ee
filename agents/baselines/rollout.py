"""The rollout agent: try every action by games that the heuristic policy plays to the end.

One step of policy iteration by simulation (Tesauro and Galperin, 1996). All actions are tried with the same
determinizations, so that luck they have in common cancels.
"""

from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any

import numpy as np

from agents import rollouts
from agents.settings import Count, Range, check_ranges
from agents.spec import AgentSpec, read_settings
from samurai_env.core import bits
from samurai_env.core.checks import checked_games, checked_keys
from samurai_env.core.game import Game, Variant
from samurai_env.core.jit import bind

# Bound to each game's kernels.
legal: Any = None
step: Any = None
determinize: Any = None
potential: Any = None
rollout: Any = None


@dataclass(frozen=True)
class RolloutConfig:
    """Settings of the rollout agent.

    Attributes:
        games: games from each action.
        potential_weight: weight, beside the return, of the lead in the game's `potential` at the end: it depends less
        on luck than the return.
    """

    games: Count
    potential_weight: Annotated[float, Range(0, 1e9)] = 0.0

    def __post_init__(self) -> None:
        """Refuse impossible settings.

        Raises:
            ValueError: names the setting.
        """
        check_ranges(self, "a rollout agent")


def evaluate_actions(states, keys, games, potential_weight, scratch, words, chosen, logits, out, values):
    """Write the value of each legal action of each game to the seat to move.

    Args:
        states: states (games,).
        keys: uint64 (games,).
        games: see `RolloutConfig`.
        potential_weight: see `RolloutConfig`.
        scratch: two states.
        words: uint64, the legal actions.
        chosen: uint64 scratch.
        logits: float64 (actions,) scratch.
        out: float64 (seats,) scratch.
        values: float64 (games, actions), in and out: -inf where illegal.
    """
    rng, stream, players = np.zeros(1, np.uint64), np.zeros(1, np.uint64), out.shape[0]
    for i in range(states.shape[0]):
        seat = states[i].seat
        rng[0] = keys[i]
        legal(states[i], words)
        for trial in range(games):
            scratch[1] = states[i]
            determinize(scratch[1], seat, rng)
            for action in range(logits.shape[0]):
                if not bits.contains(words, action):
                    continue
                if trial == 0:
                    values[i, action] = 0.0
                state = scratch[0]
                scratch[0] = scratch[1]
                stream[0] = rng[0]
                step(state, action)
                rollout(state, -1, 1.0, chosen, logits, out, stream)
                value = out[seat]
                if potential_weight > 0.0:
                    potential(state, out)
                    value += potential_weight * (out[seat] - (out.sum() - out[seat]) / max(1, players - 1))
                values[i, action] += value / games


@cache
def _bound(game: Game) -> Any:
    k = game.kernels
    scope = {"legal": k.legal, "step": k.step, "determinize": k.determinize, "potential": k.potential}
    return bind(evaluate_actions, game.name, {**scope, "rollout": rollouts.bound(game)})


class RolloutAgent:
    """Takes the action of highest value."""

    def __init__(self, variant: Variant, config: RolloutConfig) -> None:
        self.config = config
        self._variant = variant
        self._evaluate = _bound(variant.game)
        self._scratch = variant.new(2)
        self._words = np.zeros((2, variant.num_words), np.uint64)
        self._logits = np.zeros(variant.num_actions)
        self._out = np.zeros(variant.num_players)

    def action_values(self, states: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """Value of each action to the seat to move, float64 (games, actions), -inf where illegal.

        Arguments and errors as for `act`.
        """
        states = checked_games(states, self._variant.dtype)
        values = np.full((len(states), self._variant.num_actions), -np.inf)
        config, scratch = self.config, (self._scratch, *self._words, self._logits, self._out)
        keys = checked_keys(keys, len(states))
        self._evaluate(states, keys, config.games, config.potential_weight, *scratch, values)
        return values

    def act(self, states: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """See `agents.api.Agent.act`."""
        return self.action_values(states, keys).argmax(1)


def make(variant: Variant, spec: AgentSpec) -> RolloutAgent:
    """Make the agent of `rollout:GAMES`, such as `rollout:32,potential_weight=4`.

    Raises:
        ValueError: no number, or an unknown or impossible setting.
    """
    return RolloutAgent(variant, read_settings(spec, RolloutConfig))
