"""What the three kinds of environment share: spaces, options, seeds, the end of a game, pictures."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from samurai_env.core.checks import checked_seed
from samurai_env.core.game import Variant, find_game
from samurai_env.core.rng import next_seed
from samurai_env.core.texts import shown

REWARDS = ("result", "shaped")
RENDER_MODES = ("ansi", "svg", "rgb_array")


def make_variant(environment: type, game: str, num_players: int | None, options: dict[str, Any]) -> Variant:
    """The variant of a game named by the keyword arguments of an environment of this class.

    Raises:
        ValueError: unknown keyword or impossible value.
    """
    found = find_game(game)
    for name in options:
        if name not in found.options:
            takes = inspect.signature(environment).parameters.values()
            own = [p.name for p in takes if p.kind is not inspect.Parameter.VAR_KEYWORD and p.name != "game"]
            raise ValueError(
                f"there is no keyword {shown(name)}; {environment.__name__} takes {', '.join(own)}, "
                f"and the options of {found.title}: {', '.join(found.options)}"
            )
    return found.variant(num_players, **options)


def observation_space(variant: Variant, encoding: str | None) -> spaces.Dict:
    """`{"observation", "action_mask"}`, both int8."""
    low, high = variant.encoding(encoding).limits()
    return spaces.Dict(
        {
            "observation": spaces.Box(low, high, dtype=np.int8),
            "action_mask": spaces.Box(0, 1, (variant.num_actions,), np.int8),
        }
    )


class LegalDiscrete(spaces.Discrete):
    """A `Discrete` space whose `sample()` without a mask draws among the actions that are legal now.

    A copy of it alone, such as learners put into saved models, knows no game and draws among all actions.
    """

    def __init__(self, n: int, legal_mask: Callable[[], np.ndarray | None]) -> None:
        super().__init__(n)
        self.legal_mask: Callable[[], np.ndarray | None] | None = legal_mask

    def sample(self, mask: np.ndarray | None = None, probability: np.ndarray | None = None) -> np.int64:
        """A random action, legal unless a mask or probabilities say otherwise; any action before the first reset."""
        if mask is None and probability is None and self.legal_mask is not None:
            mask = self.legal_mask()
        return super().sample(mask, probability)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, spaces.Discrete) and self.n == other.n and self.start == other.start

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "legal_mask": None}


def check_choice(name: str, value: str, allowed: tuple[str, ...]) -> None:
    """Refuse an argument that is not one of `allowed`.

    Raises:
        ValueError: names the argument, the value and what is allowed.
    """
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name} is one of {', '.join(allowed)}, not {shown(value)}")


def check_render_mode(mode: str | None) -> None:
    """Refuse a `render_mode` that there is not.

    Raises:
        ValueError: names the value and what is allowed.
    """
    if mode is not None:
        check_choice("render_mode", mode, RENDER_MODES)


def random_seed() -> int:
    """A seed nobody has asked for."""
    return int(np.random.SeedSequence().generate_state(1, np.uint64)[0] >> np.uint64(1))


class Seeds:
    """The seeds of one environment's games: the one asked for, else the follower of the last."""

    def __init__(self) -> None:
        self.last: int | None = None

    def next(self, seed: int | None) -> int:
        """The seed of the game that a reset begins."""
        if seed is not None:
            self.last = checked_seed(seed)
        elif self.last is None:
            self.last = random_seed()
        else:
            self.last = int(next_seed(np.uint64(self.last)))
        return self.last


def ending(variant: Variant, record: np.void) -> tuple[Mapping[str, Any], bool]:
    """What a game has to tell of its end, and whether it was cut off."""
    details = variant.game.describe_result(record)
    return details, details.get("result") == "truncated"


def render(variant: Variant, record: np.void, mode: str, viewer: int | None, last: list[int]) -> Any:
    """Draw a record: text, SVG string or uint8 pixels (height, width, 3)."""
    if mode == "ansi":
        return variant.game.text(record, viewer)
    from samurai_env.display import rgb_array, svg

    scene = variant.game.scene(record, viewer, last)
    return svg(scene) if mode == "svg" else rgb_array(scene)
