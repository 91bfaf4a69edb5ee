"""Beliefs about hands: which tiles or cards the others have in hand, as learned from games.

A determinization deals every hand that is possible with the same probability. Players do not keep all tiles alike, so
a belief, a small network, reads what the seat to move sees and gives the odds of each kind for each of the others'
hands; `experiments.training.belief` makes it. Its file is a .safetensors file with a card beside it.
"""

from functools import cache
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from msgspec import Meta

from agents.networks.cards import WIDEST
from agents.networks.weight_files import WeightsCard, load_weights, save_weights
from samurai_env.core.game import Game, Variant
from samurai_env.core.jit import bind
from samurai_env.game_batch import GameBatch

# Bound to each game's kernels.
determinize: Any = None
determinize_by_odds: Any = None

FORMAT = "samurai_env belief 1"
LARGEST_LOGIT = 4.0  # no tile is out of the question: odds are from e^-4 to e^4


class BeliefCard(WeightsCard, frozen=True):
    """The card of a belief: also the encoding it reads, and the units of its hidden layer."""

    encoding: str
    hidden: Annotated[int, Meta(ge=1, le=WIDEST)]


def hand_kinds(variant: Variant) -> int:
    """The number of kinds of tile or card that a hand may hold.

    Raises:
        ValueError: nobody holds a hand.
    """
    if variant.game.kernels.determinize_by_odds is None:
        raise ValueError(f"in {variant.game.title} nobody holds a hand: there is nothing to believe of one")
    return int(variant.dtype["hand"].shape[1])


def shapes(variant: Variant, encoding: str, hidden: int) -> dict[str, tuple[int, ...]]:
    """The shapes of a belief's tensors by name: two layers, inputs first."""
    inputs, outputs = int(np.prod(variant.encoding(encoding).shape)), (variant.num_players - 1) * hand_kinds(variant)
    return {
        "first.weight": (inputs, hidden),
        "first.bias": (hidden,),
        "second.weight": (hidden, outputs),
        "second.bias": (outputs,),
    }


class Belief:
    """Says what the others hold.

    Args:
        variant: what is played.
        encoding: name of the encoding it reads.
        tensors: float32, by name, as `shapes` says.
    """

    def __init__(self, variant: Variant, encoding: str, tensors: dict[str, np.ndarray]) -> None:
        self.variant, self.encoding, self.tensors = variant, encoding, tensors
        self._batch = GameBatch(variant)

    def odds(self, states: np.ndarray) -> np.ndarray:
        """The odds of each kind to be in each seat's hand, for the seat to move: float64 (games, players, kinds).

        Those of the seat to move itself are 1. They depend on what it sees alone.
        """
        t, players = self.tensors, self.variant.num_players
        found = np.ones((len(states), players, hand_kinds(self.variant)))
        # One by one: sums must not depend on the other games.
        for game, observation in enumerate(self._batch.observe(states, encoding=self.encoding)):
            hidden = np.maximum(observation.ravel().astype(np.float32) @ t["first.weight"] + t["first.bias"], 0)
            logits = (hidden @ t["second.weight"] + t["second.bias"]).reshape(players - 1, -1)
            others = (int(states["seat"][game]) + np.arange(1, players)) % players
            found[game, others] = np.exp(LARGEST_LOGIT * np.tanh(logits / LARGEST_LOGIT))
        return found


def no_odds(states: np.ndarray, variant: Variant) -> np.ndarray:
    """What stands for no belief: float64 (games, players, 0)."""
    return np.zeros((len(states), variant.num_players, 0))


def save_belief(belief: Belief, path: Path, notes: dict[str, Any]) -> None:
    """Write a belief to `path` (.safetensors), in float16, and its card beside it."""
    save_weights(
        path,
        belief.tensors,
        format=FORMAT,
        variant=belief.variant.spec,
        encoding=belief.encoding,
        hidden=len(belief.tensors["first.bias"]),
        notes=notes,
    )


def load_belief(path: Path, variant: Variant) -> Belief:
    """Load a belief for a variant; its game and number of players count, its options do not.

    Args:
        path: as for `weights_file`.
        variant: what is played.

    Raises:
        FileNotFoundError: no such file, or no card beside it.
        ValueError: a damaged or foreign file, or a belief about another game or number of players.
    """

    def wanted(trained: Variant, card: BeliefCard) -> dict[str, tuple[int, ...]]:
        return shapes(trained, trained.encoding_name(card.encoding), card.hidden)

    card, tensors = load_weights(path, variant, "belief", FORMAT, BeliefCard, wanted)
    return Belief(variant, card.encoding, tensors)


def redeal(state, seat, odds, rng):
    """Draw all that a seat cannot know, the others' hands by `odds`, float64 (players, kinds)."""
    determinize_by_odds(state, seat, odds, rng)


def redeal_alike(state, seat, odds, rng):
    """Draw all that a seat cannot know, in a game without hands."""
    determinize(state, seat, rng)


@cache
def bound(game: Game) -> Any:
    """`(state, seat, odds, rng)`, compiled: how a search determinizes a game; odds with 0 columns are equal."""
    kernels = game.kernels
    if kernels.determinize_by_odds is None:
        return bind(redeal_alike, game.name, {"determinize": kernels.determinize})
    return bind(redeal, game.name, {"determinize_by_odds": kernels.determinize_by_odds})
