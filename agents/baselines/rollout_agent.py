"""Trying every action by playing on: the built-in player's games from there tell what an action is worth.

One step of policy iteration by simulation (Tesauro and Galperin, 1996). All actions are tried with the same
determinizations, so that what they have in common in luck cancels.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from agents.api import read_settings
from agents.search import rollouts
from samurai_env.core import bits
from samurai_env.core.checks import checked_games, checked_keys
from samurai_env.core.game import Game, Variant
from samurai_env.core.jit import bind

# Put in by `bind`.
legal: Any = None
step: Any = None
determinize: Any = None
potential: Any = None
roll_out: Any = None


@dataclass(frozen=True)
class Settings:
    """How actions are tried.

    Attributes:
        simulations: games from each action.
        margin: weight, beside the return, of how far the own `potential` is ahead of the others' mean at the end: it
            tells more of an action than who wins, by less luck.
    """

    simulations: int
    margin: float = 0.0


def play_out(states, keys, simulations, margin, scratch, words, chosen, scores, out, worths):
    """Write what each legal action of each game is worth to the seat to move.

    Args:
        states: records (games,).
        keys: uint64 (games,).
        simulations: see `Settings`.
        margin: see `Settings`.
        scratch: two records.
        words: uint64, the legal actions.
        chosen: uint64 scratch.
        scores: float64 (actions,) scratch.
        out: float64 (seats,) scratch.
        worths: float64 (games, actions), in and out: -inf where illegal.
    """
    rng, stream, players = np.zeros(1, np.uint64), np.zeros(1, np.uint64), out.shape[0]
    for i in range(states.shape[0]):
        seat = states[i].seat
        rng[0] = keys[i]
        legal(states[i], words)
        for trial in range(simulations):
            scratch[1] = states[i]
            determinize(scratch[1], seat, rng)
            for action in range(scores.shape[0]):
                if not bits.contains(words, action):
                    continue
                if trial == 0:
                    worths[i, action] = 0.0
                state = scratch[0]
                scratch[0] = scratch[1]
                stream[0] = rng[0]
                step(state, action)
                roll_out(state, -1, 1.0, chosen, scores, out, stream)
                worth = out[seat]
                if margin > 0.0:
                    potential(state, out)
                    worth += margin * (out[seat] - (out.sum() - out[seat]) / max(1, players - 1))
                worths[i, action] += worth / simulations


@cache
def _bound(game: Game) -> Any:
    c = game.kernels
    scope = {"legal": c.legal, "step": c.step, "determinize": c.determinize, "potential": c.potential}
    return bind(play_out, game.name, {**scope, "roll_out": rollouts.bound(game)})


class PlayoutAgent:
    """Takes the action that was worth most."""

    def __init__(self, variant: Variant, settings: Settings) -> None:
        if settings.simulations < 1:
            raise ValueError(f"playouts need at least 1 game for each action, not {settings.simulations}")
        if not 0 <= settings.margin < np.inf:
            raise ValueError(f"the margin is weighed by 0 or more, not {settings.margin}")
        self.settings = settings
        self._variant = variant
        self._play = _bound(variant.game)
        self._scratch = variant.new(2)
        self._words = np.zeros((2, variant.num_words), np.uint64)
        self._scores = np.zeros(variant.num_actions)
        self._out = np.zeros(variant.num_players)

    def worths(self, states: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """Worth of each action to the seat to move, float64 (games, actions), -inf where illegal."""
        states = checked_games(states, self._variant.dtype)
        worths = np.full((len(states), self._variant.num_actions), -np.inf)
        s, room = self.settings, (self._scratch, *self._words, self._scores, self._out)
        self._play(states, checked_keys(keys, len(states)), s.simulations, s.margin, *room, worths)
        return worths

    def act(self, states: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """See `agents.api.Agent.act`."""
        return self.worths(states, keys).argmax(1)


def make(variant: Variant, argument: str) -> PlayoutAgent:
    """From a spec: `playouts:32`, or `playouts:32,margin=4`.

    Raises:
        ValueError: no number, or an unknown or impossible setting.
    """
    return PlayoutAgent(variant, Settings(**read_settings("playouts", argument, {"margin": float}, "games")))
