"""What a player is, and how one is named by a spec string."""

import difflib
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np

from agents.external import Guest
from samurai_env.core.game import Variant
from samurai_env.core.texts import one_line, shown


class Agent(Protocol):
    """A player of one variant.

    It is handed whole records, but its choice must be a function of what the seat to move may know
    (`observe`, `determinize`, the legal actions) and of the key; the tests hold every agent to that.
    """

    def act(self, states: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """Choose an action for the seat to move in each of several games.

        Args:
            states: records (games,) of the agent's variant, none of them over. Not to be changed.
            keys: uint64 (games,), the randomness of each decision: same record and key, same action.

        Returns:
            int64 (games,), legal action ids.

        Raises:
            TypeError: an argument is not an array.
            ValueError: another dtype or shape, or a game that is over.
        """
        ...


# name: (form of the argument for messages, maker taking variant and argument text)
Maker = Callable[[Variant, str], Agent]
_makers: dict[str, tuple[str, Maker]] = {}

LARGEST = 2**31  # whole numbers in a spec are below
LONGEST_SPEC = 5000  # characters; most of it would be a path


def register_agent(name: str, form: str, maker: Maker) -> None:
    """Make a kind of agent known to `make_agent`.

    Args:
        name: what stands before the colon of a spec.
        form: the whole spec as it is written, for error messages, such as `mcts:SIMULATIONS`.
        maker: called with the variant and the text after the colon ("" if there is none).
    """
    _makers[name] = (form, maker)


def make_agent(spec: str, variant: Variant) -> Agent:
    """The agent that a spec such as `greedy`, `mcts:1000` or `ppo:runs/a/model.safetensors` names.

    `module.Name:argument` is an agent from elsewhere: what `Name` of that module makes of the variant and the argument.

    Raises:
        TypeError: the spec is not a text.
        ValueError: no such kind of agent or module, or an argument it cannot take; one short line says what it takes.
        FileNotFoundError: the spec names a file that is not there.
    """
    import agents.registry  # noqa: F401  registers the agents of this folder

    if not isinstance(spec, str):
        raise TypeError(f"the spec of an agent is a text, not {shown(spec)}")
    if len(spec) > LONGEST_SPEC:
        raise ValueError(f"an agent's spec has at most {LONGEST_SPEC:,} characters, not {len(spec):,}")
    name, _, argument = spec.partition(":")
    if is_guest(name):
        return Guest(spec, variant)
    if name not in _makers:
        close = difflib.get_close_matches(name[:40], _makers, 1)
        hint = f" (did you mean {close[0]!r}?)" if close else ""
        forms = ", ".join(form for form, _ in _makers.values())
        raise ValueError(
            f"there is no agent {shown(name, 40)}{hint}; the agents are {forms}, or one of yours: module.Name"
        )
    try:
        return _makers[name][1](variant, argument)
    except ValueError as error:
        raise ValueError(one_line(error)) from None


def is_guest(name: str) -> bool:
    """Whether a name is that of an agent from elsewhere, `module.Name`."""
    return all(part.isidentifier() for part in name.split(".")) and "." in name


def no_argument(name: str, argument: str) -> None:
    """Refuse an argument to an agent that takes none.

    Raises:
        ValueError: there is one.
    """
    if argument:
        raise ValueError(f"agent {name!r} takes no argument, not {shown(argument)}")


def read_settings(
    name: str, argument: str, numbers: Mapping[str, Callable[[str], Any]], what: str = "simulations"
) -> dict[str, Any]:
    """Settings of a search from `1000` or `1000,exploration=1`: simulations, then others by name.

    Args:
        name: kind of agent, for errors.
        argument: the text.
        numbers: the other settings there are, with the types of their numbers.
        what: the first number counts, for errors.

    Returns:
        "simulations" and those given.

    Raises:
        ValueError: no number, or an unknown setting.
    """
    number, *rest = argument.split(",")
    try:
        given: dict[str, Any] = {"simulations": int(number)}
    except ValueError:
        raise ValueError(f"{name} takes a number of {what}, as in {name}:1000, not {shown(number)}") from None
    for item in rest:
        key, _, text = item.partition("=")
        if key not in numbers:
            raise ValueError(f"{name} has no setting {shown(key)}; it has {', '.join(numbers)}")
        try:
            given[key] = numbers[key](text)
        except ValueError:
            raise ValueError(f"setting {key} of {name} is a number, not {shown(text)}") from None
    for key, value in given.items():
        if isinstance(value, int) and abs(value) >= LARGEST:
            raise ValueError(f"{key} of {name} is below {LARGEST:,}, not {shown(value)}")
    return given
