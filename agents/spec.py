"""Agent specs, one grammar for all programs: `NAME[:ARGUMENT][,KEY=VALUE]...`.

`greedy`, `mcts:1000`, `mcts:1000,c_puct=1`, `puct:200,net=runs/first`, `ppo:runs/first`, `mymodule.MyAgent:argument`.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

from agents.settings import field_types
from samurai_env.core.texts import did_you_mean, shown

Settings = TypeVar("Settings")
_NEXT_SETTING = re.compile(r",(?=\w+=)")
SHOWN = 60  # characters of a spec that an error repeats


@dataclass(frozen=True)
class AgentSpec:
    """A spec taken apart.

    Attributes:
        name: the kind of agent.
        argument: the text after the colon; "" if there is none.
        settings: values by key, as text.
    """

    name: str
    argument: str = ""
    settings: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        argument = f":{self.argument}" if self.argument else ""
        return self.name + argument + "".join(f",{key}={value}" for key, value in self.settings.items())

    @property
    def is_external(self) -> bool:
        """Whether the name is `module.Name`, an agent from elsewhere."""
        return "." in self.name and all(part.isidentifier() for part in self.name.split("."))

    @property
    def cheats(self) -> bool:
        """Whether the agent sees what its seat cannot know (`cheating=1` of a search)."""
        return self.settings.get("cheating", "0") != "0"


def parse_agent_spec(text: str) -> AgentSpec:
    """Take a spec apart; whether there is such an agent is not checked.

    Raises:
        ValueError: a setting is given twice.
    """
    head, *items = _NEXT_SETTING.split(text)
    name, _, argument = head.partition(":")
    settings: dict[str, str] = {}
    for item in items:
        key, _, value = item.partition("=")
        if key in settings:
            raise ValueError(f"setting {key} is given twice in {text[:SHOWN]!r}")
        settings[key] = value
    return AgentSpec(name, argument, settings)


def split_agent_specs(words: Iterable[str]) -> tuple[str, ...]:
    """Specs from command-line words that may hold several, separated by commas.

    A part `key=value` belongs to the spec before it: `greedy,mcts:1000,c_puct=1,random` names three agents.

    Raises:
        ValueError: a setting with no agent before it.
    """
    specs: list[str] = []
    for word in words:
        for number, part in enumerate(word.split(",")):
            if number and re.match(r"\w+=", part):
                if not specs:
                    raise ValueError(f"the setting {shown(part)} belongs to no agent: name one before it")
                specs[-1] += f",{part}"
            elif part:
                specs.append(part)
    return tuple(specs)


def no_settings(spec: AgentSpec) -> None:
    """Refuse an argument or settings of an agent that takes none.

    Raises:
        ValueError: there are some.
    """
    if spec.argument or spec.settings:
        raise ValueError(f"agent {spec.name!r} takes no argument, not {str(spec)[len(spec.name) + 1 :][:SHOWN]!r}")


def read_settings(spec: AgentSpec, settings: type[Settings], **defaults: Any) -> Settings:
    """Make settings from a spec: the argument is the first field, the others are named.

    Args:
        spec: the spec.
        settings: a dataclass; its first field is a number or a path without which the agent does not play.
        defaults: in place of the dataclass's own.

    Raises:
        ValueError: no number or path, an unknown setting, or a value out of its range.
    """
    types, first = field_types(settings), fields(settings)[0].name  # type: ignore[arg-type]
    values: dict[str, Any] = dict(defaults)
    if types[first][0] is str:
        if not spec.argument:
            raise ValueError(f"{spec.name} takes the {first} of a network, as in {spec.name}:runs/first")
        values[first] = spec.argument
    else:
        if not re.fullmatch(r"[+-]?[0-9]{1,18}", spec.argument):
            given = spec.argument[:SHOWN]
            raise ValueError(f"{spec.name} takes a number of {first}, as in {spec.name}:1000, not {given!r}")
        values[first] = int(spec.argument)
    for key, text in spec.settings.items():
        if key not in types or key == first:
            known = [name for name in types if name != first]
            hint = did_you_mean(key, known)
            raise ValueError(f"{spec.name} has no setting {key[:SHOWN]!r}{hint}; it has {', '.join(known)}")
        kind = types[key][0]
        try:
            values[key] = kind(text)
        except ValueError:
            what = "a whole number" if kind is int else "a number"
            raise ValueError(f"setting {key} of {spec.name} must be {what}, not {text[:SHOWN]!r}") from None
    return settings(**values)
