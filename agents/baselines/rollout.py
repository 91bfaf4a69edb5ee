"""The rollout agent: try every action by games that the heuristic policy plays to the end.

One step of policy iteration by simulation (Tesauro and Galperin, 1996). All actions are tried with the same
determinizations, so that luck they have in common cancels.
"""

from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, NamedTuple

import numpy as np

from agents import leaf_values, rollouts
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


class Workspace(NamedTuple):
    """Scratch memory.

    Attributes:
        states: two states.
        words: uint64, the legal actions.
        chosen: uint64, those of a rollout.
        logits: float64 (actions,), of the heuristic policy.
        returns: float64 (seats,).
        value: no leaf value, since games are played to the end.
    """

    states: np.ndarray
    words: np.ndarray
    chosen: np.ndarray
    logits: np.ndarray
    returns: np.ndarray
    value: leaf_values.LeafValue


def evaluate_actions(states, keys, games, potential_weight, work):
    """Evaluate each legal action of each game for the seat to move.

    Args:
        states: states (games,).
        keys: uint64 (games,).
        games: see `RolloutConfig`.
        potential_weight: see `RolloutConfig`.
        work: `Workspace`.

    Returns:
        float64 (games, actions), -inf where illegal.
    """
    scratch, words, chosen, logits, out, _ = work
    rng, stream, players = np.zeros(1, np.uint64), np.zeros(1, np.uint64), out.shape[0]
    values = np.full((states.shape[0], logits.shape[0]), -np.inf)
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
                rollout(state, -1, 1.0, chosen, logits, out, stream, work.value)
                value = out[seat]
                if potential_weight > 0.0:
                    potential(state, out)
                    value += potential_weight * (out[seat] - (out.sum() - out[seat]) / max(1, players - 1))
                values[i, action] += value / games
    return values


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

    def action_values(self, states: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """Value of each action to the seat to move, float64 (games, actions), -inf where illegal.

        Arguments and errors as for `act`.
        """
        states = checked_games(states, self._variant.dtype)
        config, keys, variant = self.config, checked_keys(keys, len(states)), self._variant
        work = Workspace(
            states=variant.new(2),
            words=np.zeros(variant.num_words, np.uint64),
            chosen=np.zeros(variant.num_words, np.uint64),
            logits=np.zeros(variant.num_actions),
            returns=np.zeros(variant.num_players),
            value=leaf_values.no_leaf_value(),
        )
        return self._evaluate(states, keys, config.games, config.potential_weight, work)

    def act(self, states: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """See `samurai_env.agent_api.Agent.act`."""
        return self.action_values(states, keys).argmax(1)


def make(variant: Variant, spec: AgentSpec) -> RolloutAgent:
    """Make the agent of `rollout:GAMES`, such as `rollout:32,potential_weight=4`.

    Raises:
        ValueError: no number, or an unknown or impossible setting.
    """
    return RolloutAgent(variant, read_settings(spec, RolloutConfig))
