"""A game's heuristic policy: its greedy action, and its logits and features as inputs of priors and networks.

The heuristic policy is a function of what the seat to move may know (the tests hold every game to that), so a network
that reads it stays blind to hidden information. Starting a policy from a hand-written controller and learning what to
change about it is residual policy learning (Silver et al., 2018; Johannink et al., 2019).
"""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from samurai_env.core import bits
from samurai_env.core.checks import checked_games
from samurai_env.core.game import Game, Variant
from samurai_env.core.jit import bind
from samurai_env.core.rng import below
from samurai_env.game_batch import GameBatch

legal: Any = None  # bound to each game's kernels
heuristic_policy: Any = None
action_features: Any = None
write_row: Any = None


def greedy_action(state, words, logits, rng):
    """A legal action of highest logit, ties broken at random; `words` and `logits` are scratch."""
    legal(state, words)
    heuristic_policy(state, logits)
    best, ties, action = -np.inf, 0, -1
    for i in range(words.shape[0]):
        word = words[i]
        while word != np.uint64(0):
            candidate = 64 * i + np.int64(bits.lowest(word))
            word &= word - bits.ONE
            if logits[candidate] > best:
                best, ties, action = logits[candidate], 1, candidate
            elif logits[candidate] == best:
                ties += 1
                if below(rng, ties) == 0:
                    action = candidate
    return action


def tuned(variant: Variant) -> Variant:
    """The variant with the tuned policy in place of the heuristic policy, for what binds the game's kernels.

    Raises:
        ValueError: the game has no tuned policy.
    """
    return replace(variant, game=_tuned_game(variant.game))


@cache
def _tuned_game(game: Game) -> Game:
    if game.kernels.tuned_policy is None:
        others = "greedy, a search without tuned=1, a network without --tuned-prior"
        raise ValueError(f"{game.title} has no tuned policy: take {others}")
    kernels = replace(game.kernels, heuristic_policy=game.kernels.tuned_policy)
    return replace(game, name=f"{game.name}.tuned", kernels=kernels)


@cache
def bound_greedy_action(game: Game) -> Any:
    """`greedy_action` of a game."""
    kernels = {"legal": game.kernels.legal, "heuristic_policy": game.kernels.heuristic_policy}
    return bind(greedy_action, game.name, kernels)


def row_of_logits(state, logits, features):
    """Write the heuristic policy's logits as the only feature."""
    heuristic_policy(state, logits)
    for action in range(logits.shape[0]):
        features[action, 0] = logits[action]


def row_of_features(state, logits, features):
    """Write the game's own action features."""
    action_features(state, features)


def write_features(states, words, logits, out):
    """Write each game's action features; column 0 becomes the gap to the best legal action, illegal actions 0."""
    for i in range(states.shape[0]):
        legal(states[i], words)
        write_row(states[i], logits, out[i])
        best = -np.inf
        for action in range(logits.shape[0]):
            if bits.contains(words, action):
                best = max(best, out[i, action, 0])
        for action in range(logits.shape[0]):
            out[i, action, 0] = best - out[i, action, 0] if bits.contains(words, action) else 0.0


@cache
def _bound(game: Game, logits_only: bool) -> Any:
    k = game.kernels
    if not logits_only and k.action_features is None:
        return _bound(game, True)
    owner = f"{game.name}.logits_only" if logits_only else game.name
    if logits_only:
        row = bind(row_of_logits, owner, {"heuristic_policy": k.heuristic_policy})
    else:
        row = bind(row_of_features, owner, {"action_features": k.action_features})
    return bind(write_features, owner, {"legal": k.legal, "write_row": row})


@cache
def prior_temperature(variant: Variant, logits_only: bool = False) -> float:
    """The softmax temperature at which the heuristic policy's best action has probability one half on average.

    Measured over positions of random games that leave a choice. `logits_only` is as in `ActionFeatures`.
    """
    batch = GameBatch(variant)
    states = batch.reset(np.arange(64))
    rng, features, rows = np.array([1], np.uint64), ActionFeatures(variant, logits_only), []
    for _ in range(40):
        batch.play_random(states, rng, 5)
        masks = batch.legal_masks(states)
        gaps = np.where(masks > 0, features.compute(states)[:, :, 0], np.inf)
        rows.append(gaps[masks.sum(1) > 1])
    all_rows = np.concatenate(rows)
    low, high = 1e-6, 1e6
    for _ in range(40):
        middle = (low * high) ** 0.5
        best = 1.0 / np.exp(-all_rows / middle).sum(1)
        low, high = (middle, high) if best.mean() > 0.5 else (low, middle)
    return float(low)


class ActionFeatures:
    """Computes the action features of many games at once.

    Args:
        variant: of the games.
        logits_only: the heuristic policy's logits alone, also for a game with features of its own.
    """

    def __init__(self, variant: Variant, logits_only: bool = False) -> None:
        self._variant = variant
        self._write = _bound(variant.game, logits_only)
        self._columns = 1 if logits_only else len(variant.game.action_features)

    def compute(self, states: np.ndarray) -> np.ndarray:
        """Compute what `Game.action_features` lists, column 0 as the gap to the best legal action.

        Args:
            states: states (games,), none of them over. They may change on the way and are as before afterwards.

        Returns:
            float32 (games, actions, columns). Column 0 is the best logit less that of the action, at least 0. Illegal
            actions have 0 everywhere.

        Raises:
            TypeError: `states` is not an array.
            ValueError: states of another variant, or a game that is over.
        """
        variant = self._variant
        states = checked_games(states, variant.dtype)
        out = np.zeros((len(states), variant.num_actions, self._columns), np.float32)
        self._write(states, np.zeros(variant.num_words, np.uint64), np.zeros(variant.num_actions), out)
        return out
