"""Helpers shared by the environments: arguments, options, seeds, the end of a game, pictures."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode

from samurai_env.core.checks import checked_seed
from samurai_env.core.game import Variant, find_game
from samurai_env.core.rng import Seeds
from samurai_env.core.texts import did_you_mean, shown
from samurai_env.position import Position

REWARDS = ("result", "shaped")
ILLEGAL_REWARD = -1.0  # for the seat whose illegal action ends a game, as in PettingZoo's classic games
PICTURE_MODES = ("ansi", "svg", "rgb_array")  # of vector environments
RENDER_MODES = (*PICTURE_MODES, "human")
RESET_OPTIONS = ("reset_mask", "desynchronize")  # of vector environments


def variant_from_keywords(environment: type, game: str, num_players: int | None, options: dict[str, Any]) -> Variant:
    """The variant of a game named by the keyword arguments of an environment of this class.

    Raises:
        TypeError: unknown keyword, in Python's words: some learners probe for keywords and look for them.
        ValueError: impossible value.
    """
    check_keywords(environment, game, options)
    return find_game(game).variant(num_players, **options)


def check_keywords(environment: type, game: str, names: Iterable[str], entry: Callable[..., Any] | None = None) -> None:
    """Refuse keyword arguments that neither an environment, its entry point nor the game knows.

    Args:
        environment: class of the environment.
        game: name of the game.
        names: of the keyword arguments.
        entry: a function whose own arguments count as well.

    Raises:
        TypeError: unknown keyword, in Python's words; names the likeliest and all that there are.
    """
    found = find_game(game)
    takes = [p for one in (environment, entry) if one is not None for p in inspect.signature(one).parameters.values()]
    own = dict.fromkeys(p.name for p in takes if p.kind is not inspect.Parameter.VAR_KEYWORD and p.name != "game")
    options = [*found.options, *(["preset"] if found.presets else [])]
    for name in names:
        if name not in own and name not in options and name != "preset":
            hint = did_you_mean(name, [*own, *options])
            if name in getattr(environment, "CPU_ONLY", ()):
                hint = " (which is for device='cpu')"
            raise TypeError(
                f"{environment.__name__} got an unexpected keyword argument {shown(name)}{hint}; it takes "
                f"{', '.join(own)}, and the options of {found.title}: {', '.join(options)}"
            )


def check_choice(name: str, value: str, allowed: tuple[str, ...]) -> None:
    """Refuse an argument that is not one of `allowed`.

    Raises:
        ValueError: names the argument, the value and what is allowed.
    """
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(allowed)}, not {shown(value)}")


def checked_autoreset_mode(mode: AutoresetMode | str) -> AutoresetMode:
    """The autoreset mode of a vector environment, also from its value as text, such as "SameStep".

    Raises:
        ValueError: there is no such mode; names those that there are.
    """
    if not isinstance(mode, AutoresetMode):
        check_choice("autoreset_mode", mode, tuple(known.value for known in AutoresetMode))
    return AutoresetMode(mode)


def checked_options(options: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """The options given to `reset` as a mapping; empty for None.

    Raises:
        TypeError: not a dict or another mapping.
    """
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise TypeError(f"the options of reset must be a dict or None, not {shown(options)}")
    return options


def checked_reset_mask(options: Mapping[str, Any], num_envs: int, ready: bool) -> np.ndarray | None:
    """Which games a vector environment is to reset, bool (num_envs,); None for all.

    Args:
        options: those of `reset`.
        num_envs: the number of games.
        ready: whether all of them have been reset before.

    Raises:
        ResetNeeded: a mask that leaves out games at the first reset.
        TypeError: a mask that is not an array of bool.
        ValueError: a mask of another shape, or an unknown option.
    """
    for name in options:
        if name not in RESET_OPTIONS:
            raise ValueError(f"the options of reset are {', '.join(RESET_OPTIONS)}, not {shown(name)}")
    if "reset_mask" not in options:
        return None
    mask = options["reset_mask"]
    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
        raise TypeError(f"reset_mask must be a NumPy array of bool, not {getattr(mask, 'dtype', type(mask))}")
    if mask.shape != (num_envs,):
        raise ValueError(f"reset_mask must have shape ({num_envs},), not {mask.shape}")
    if not ready and not mask.all():
        raise ResetNeeded("the first reset, or that after an interrupted call, must be of all games")
    return mask


def checked_desynchronize(options: Mapping[str, Any]) -> bool:
    """Whether a vector environment is to desynchronize the games that it resets.

    Args:
        options: those of `reset`.

    Raises:
        TypeError: the option is not a bool.
    """
    chosen = options.get("desynchronize", False)
    if not isinstance(chosen, (bool, np.bool_)):
        raise TypeError(f"desynchronize must be True or False, for all games that are reset, not {shown(chosen)}")
    return bool(chosen)


def move_with(move: list[int], action: int, mid_move: bool) -> list[int]:
    """The decisions of the last move, for a picture of it.

    Args:
        move: those before this decision.
        action: the decision.
        mid_move: whether it went on with a move.

    Returns:
        All of them; none of a move that began before what was seen, since pictures tell moves from their beginning.
    """
    if not mid_move:
        return [action]
    return [*move, action] if move else []


def check_fit(states: np.ndarray, num_envs: int, variant: Variant) -> None:
    """Check that states can be those of a vector environment; what they hold is left to `Variant.check`.

    Args:
        states: what `restore` was given.
        num_envs: the number of games.
        variant: of the games.

    Raises:
        TypeError: not an array.
        ValueError: another number of games, or another variant.
    """
    if not isinstance(states, np.ndarray):
        raise TypeError(f"states must be a NumPy array of states, not {type(states).__name__}")
    if states.dtype != variant.dtype:
        raise ValueError(f"these are no states of {variant.spec}, but of another variant or something else")
    if states.shape != (num_envs,):
        raise ValueError(f"states must have shape ({num_envs},), one for each game, not {states.shape}")


def check_render_mode(mode: str | None, modes: tuple[str, ...] = RENDER_MODES) -> None:
    """Refuse a `render_mode` that is none of `modes`.

    Raises:
        ValueError: names the value and what is allowed.
    """
    if mode is not None:
        check_choice("render_mode", mode, modes)


def checked_seeds(seed: int | Sequence[int | None] | None, num_envs: int) -> tuple[np.ndarray, np.ndarray]:
    """The seeds that `reset` of a vector environment was given.

    Args:
        seed: of game 0, where game i takes `seed + i`; or one for each game, None where none is named.
        num_envs: the number of games.

    Returns:
        Which games have a seed named, bool (num_envs,), and the seeds, uint64 (num_envs,), 0 elsewhere.

    Raises:
        TypeError: a seed that is not an integer.
        ValueError: a wrong number of seeds, or an impossible seed.
    """
    if seed is None:
        return np.zeros(num_envs, np.bool_), np.zeros(num_envs, np.uint64)
    if isinstance(seed, np.ndarray):
        seed = seed.tolist()
    if isinstance(seed, Sequence) and not isinstance(seed, (str, bytes, bytearray)):
        if len(seed) != num_envs:
            raise ValueError(f"{len(seed)} seeds for {num_envs} games")
        named = np.array([one is not None for one in seed], np.bool_)
        return named, np.array([0 if one is None else checked_seed(one) for one in seed], np.uint64)
    first = checked_seed(seed)
    checked_seed(first + num_envs - 1)
    return np.ones(num_envs, np.bool_), np.uint64(first) + np.arange(num_envs, dtype=np.uint64)


def starting_position(variant: Variant, seeds: Seeds, seed: int | None, options: Mapping[str, Any] | None) -> Position:
    """The position from which an environment's `reset` starts.

    Args:
        variant: of the environment.
        seeds: of its games.
        seed: of the game; None for the next one.
        options: {"position": Position} continues from a copy of that position instead; other keys are ignored, as
            Gymnasium and PettingZoo want it.

    Raises:
        TypeError: `seed` is not an integer, `options` no mapping, or the position no `Position`.
        ValueError: `seed` is out of range, the position is of another variant, or both are given.
    """
    position = checked_options(options).get("position")
    if position is None:
        return Position(variant, seeds.next(seed))
    if not isinstance(position, Position):
        raise TypeError(f"options['position'] must be a Position, not {shown(position)}")
    if seed is not None:
        raise ValueError("reset takes a seed or a position, not both")
    if position.variant != variant:
        raise ValueError(f"the position is of {position.variant.spec}, this environment of {variant.spec}")
    return position.clone()


def ending(variant: Variant, state: np.void) -> tuple[Mapping[str, Any], bool]:
    """Return a finished game's further results, and whether it was cut off."""
    details = variant.game.describe_result(state)
    return details, details.get("result") == "truncated"


def render(variant: Variant, state: np.void, mode: str, viewer: int | None, last: list[int]) -> Any:
    """Draw a state: text, SVG string or uint8 pixels (height, width, 3); None if it is shown in a window."""
    if mode == "ansi":
        return variant.game.text(state, viewer)
    from samurai_env.display import rgb_array, svg

    scene = variant.game.scene(state, viewer, last)
    if mode == "human":
        from samurai_env.display.window import show

        return show(scene, variant.game.title)
    return svg(scene) if mode == "svg" else rgb_array(scene)


def close_window(mode: str | None) -> None:
    """Close the window of `render_mode="human"`."""
    if mode == "human":
        from samurai_env.display.window import close

        close()
