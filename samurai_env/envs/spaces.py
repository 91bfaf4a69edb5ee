"""Spaces of the environments: observations with or without their mask, actions whose samples are legal."""

from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium import spaces

from samurai_env.core.game import Variant

OBSERVATIONS = ("dict", "box")

LegalMask = Callable[[], np.ndarray | None]


def observation_space(variant: Variant, encoding: str | None, observation: str = "dict") -> spaces.Space[Any]:
    """The space of one observation.

    Args:
        variant: the game, number of players and options.
        encoding: name of an encoding; the game's first if None.
        observation: "dict": `{"observation", "action_mask"}`, both int8; "box": the int8 observation alone.
    """
    low, high = variant.encoding(encoding).limits()
    box = spaces.Box(low, high, dtype=np.int8)
    if observation == "box":
        return box
    return spaces.Dict({"observation": box, "action_mask": spaces.Box(0, 1, (variant.num_actions,), np.int8)})


def state_space(variant: Variant, encoding: str | None) -> spaces.Box:
    """The space of `state()`: the observations of all seats, int8 (players, ...)."""
    low, high = variant.encoding(encoding).limits()
    return spaces.Box(np.stack([low] * variant.num_players), np.stack([high] * variant.num_players), dtype=np.int8)


class LegalDiscrete(spaces.Discrete):
    """A `Discrete` space whose `sample()` without a mask draws among the actions that are legal now.

    A copy of it alone, such as learners put into saved models, knows no game and draws among all actions.
    """

    def __init__(self, n: int, legal_mask: LegalMask) -> None:
        super().__init__(n)
        self.legal_mask: LegalMask | None = legal_mask

    def sample(self, mask: np.ndarray | None = None, probability: np.ndarray | None = None) -> np.int64:
        """A random action, legal unless a mask or probabilities say otherwise; any action before the first reset."""
        if mask is None and probability is None and self.legal_mask is not None:
            mask = self.legal_mask()
        return super().sample(mask, probability)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, spaces.Discrete) and self.n == other.n and self.start == other.start

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "legal_mask": None}


class LegalMultiDiscrete(spaces.MultiDiscrete):
    """The actions of many games, whose `sample()` without a mask draws a legal one for each; else as `LegalDiscrete`.

    The masks are int8 (games, actions). A game without a legal action gets action 0.
    """

    def __init__(self, n: int, games: int, legal_masks: LegalMask) -> None:
        super().__init__(np.full(games, n))
        self.legal_masks: LegalMask | None = legal_masks

    def sample(self, mask: Any = None, probability: Any = None) -> np.ndarray:
        """Random actions, int64 (games,), legal unless a mask or probabilities say otherwise."""
        masks = None if self.legal_masks is None else self.legal_masks()
        if mask is not None or probability is not None or masks is None:
            return super().sample(mask, probability)
        upto = masks.cumsum(1)  # the number of legal actions up to each
        nth = (self.np_random.random(len(masks)) * upto[:, -1]).astype(np.int64)
        return (upto > nth[:, None]).argmax(1)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "legal_masks": None}
