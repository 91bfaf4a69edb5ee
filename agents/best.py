"""The strongest agent measured for a variant and a time to think: `best`, `best:1s`.

`agents/best.json` has what the leaderboard measured; `python -m experiments.leaderboard` writes it.
"""

import math
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from agents.spec import SHOWN, AgentSpec, parse_agent_spec
from samurai_env.agent_api import Agent
from samurai_env.core.game import Variant
from samurai_env.core.notices import notice
from samurai_env.files.json_reader import read_json

FILE = Path(__file__).with_name("best.json")
LARGEST = 2**20  # bytes of the file
SECONDS = 0.1  # a decision, if the spec names no time
TOLERANCE = 1.5  # a decision may have taken this much longer: times depend on the machine and on what else it does


class Measured(Struct, frozen=True):
    """An agent on the leaderboard.

    Attributes:
        spec: of the agent.
        strength: rating; in a cooperative game the win rate.
        seconds: of a decision; None if it was not measured.
        interval: of the strength, 95 %; an end that nothing bounds is None.
    """

    spec: str
    strength: float
    seconds: Annotated[float, Meta(ge=0)] | None = None
    interval: tuple[float | None, float | None] = (None, None)


class Best(Struct, frozen=True):
    """The contents of the file: the agents measured, by spec of the variant, and what plays where none is."""

    default: str
    variants: dict[str, list[Measured]]


@cache
def measured() -> Best:
    """Read the file.

    Raises:
        ValueError: it is damaged.
    """
    return read_json(FILE, Best, LARGEST)


def parse_seconds(spec: AgentSpec) -> float:
    """The time that `best` or `best:1s` has for a decision.

    Raises:
        ValueError: the argument is no time, or there are settings.
    """
    found = re.fullmatch(r"([0-9]{1,6}(?:\.[0-9]{1,6})?)s", spec.argument or f"{SECONDS}s")
    if not found or spec.settings or not float(found[1]):
        raise ValueError(f"best takes a time in seconds, as in best:0.1s, not {str(spec)[:SHOWN]!r}")
    return float(found[1])


def best_spec(variant: Variant, seconds: float = SECONDS) -> str:
    """The spec of the strongest agent measured that decides in this time.

    Says on stderr where the variant itself was not measured, or no time was.

    Args:
        variant: what is played.
        seconds: for a decision, as measured on one core of the leaderboard's machine.
    """
    found = nearest_measured(variant)
    name = f"{variant.game.name} players={variant.num_players}"
    if found is None:
        default = measured().default
        notice(f"best {name}", f"no agent has been measured for {name}; best plays {default}")
        return default
    if found != variant.spec:
        notice(f"best {name}", f"best is the strongest agent measured for {found}")
    agents = measured().variants[found]
    untimed = all(agent.seconds is None for agent in agents)
    if untimed:
        notice(f"best {name} time", f"no times have been measured for {name}; best ignores the limit")
    chosen = max(agents, key=_strength, default=None) if untimed else strongest(agents, seconds)
    return chosen.spec if chosen else "greedy"


def strongest(agents: Iterable[Measured], seconds: float) -> Measured | None:
    """The strongest of some agents that decides in this time; None if none is so fast or no time was measured."""
    fast = [agent for agent in agents if agent.seconds is not None and agent.seconds <= TOLERANCE * seconds]
    return max(fast, key=_strength, default=None)


def nearest_measured(variant: Variant) -> str | None:
    """The spec of the measured variant of this game and number of players that has most options alike.

    Of several, the one nearest to the default options; None if there is none.
    """
    name = f"{variant.game.name} players={variant.num_players} "
    default = variant.game.variant(variant.num_players)

    def alike(spec: str) -> tuple[int, int]:
        options = set(spec.split())
        return len(options & set(variant.spec.split())), len(options & set(default.spec.split()))

    return max((spec for spec in measured().variants if spec.startswith(name)), key=alike, default=None)


def _strength(agent: Measured) -> tuple[float, float]:
    """Its strength; of two that are as strong, such as 0 % of 50 and of 1,000 games, the one that may be stronger."""
    high = agent.interval[1]
    return agent.strength, math.inf if high is None else high


def named(spec: str, variant: Variant) -> str:
    """The spec that `best` stands for; any other spec as it is.

    Raises:
        ValueError: `best` with an argument that is no time.
    """
    parsed = parse_agent_spec(spec)
    return best_spec(variant, parse_seconds(parsed)) if parsed.name == "best" else spec


def make(variant: Variant, spec: AgentSpec) -> Agent:
    """Make the agent of `best[:TIME]`.

    Raises:
        ValueError: an argument that is no time, or settings.
    """
    from agents.registry import make_agent

    return make_agent(best_spec(variant, parse_seconds(spec)), variant)
