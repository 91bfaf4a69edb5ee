"""Agents by spec. A new agent is a line in `AGENTS`."""

import difflib
from importlib import import_module
from typing import NamedTuple

from agents.api import Agent
from agents.external import ExternalAgent
from agents.old_specs import current_spelling
from agents.spec import SHOWN, parse_agent_spec
from samurai_env.core.game import Variant
from samurai_env.core.texts import one_line, shown

LONGEST = 5000  # characters of a spec; most of it would be a path


class Entry(NamedTuple):
    """An agent that specs can name: how its spec is written, and the function that makes it from variant and spec."""

    form: str
    module: str
    function: str = "make"


# Modules are imported when an agent is made: only who plays a network imports torch.
AGENTS = {
    "random": Entry("random", "agents.baselines.uniform"),
    "greedy": Entry("greedy", "agents.baselines.greedy"),
    "lookahead": Entry("lookahead", "agents.baselines.lookahead"),
    "rollout": Entry("rollout:GAMES", "agents.baselines.rollout"),
    "mcts": Entry("mcts:SIMULATIONS", "agents.search.mcts"),
    "flat_mc": Entry("flat_mc:SIMULATIONS", "agents.search.mcts", "make_flat"),
    "puct": Entry("puct:SIMULATIONS,net=PATH", "agents.search.puct"),
    "ppo": Entry("ppo:PATH", "agents.networks.agent"),
    "untrained": Entry("untrained", "agents.networks.agent", "make_untrained"),
    "exec": Entry("exec:COMMAND", "agents.engine"),
}


def make_agent(spec: str, variant: Variant) -> Agent:
    """Make the agent that a spec names, see `agents.spec`.

    `module.Name:argument` is an agent from elsewhere: what `Name` of that module makes of the variant and the argument.

    Raises:
        TypeError: the spec is not a text.
        ValueError: no such agent or module, or settings it cannot have; one short line says which it has.
        FileNotFoundError: the spec names a file that does not exist.
    """
    if not isinstance(spec, str):
        raise TypeError(f"the spec of an agent is a text, not {shown(spec)}")
    if len(spec) > LONGEST:
        raise ValueError(f"an agent's spec has at most {LONGEST:,} characters, not {len(spec):,}")
    parsed = parse_agent_spec(spec)
    if parsed.is_external:
        return ExternalAgent(spec, variant)
    if (now := current_spelling(spec)) != spec:
        raise ValueError(f"{spec[:SHOWN]!r} is an old spelling; write {now[: 2 * SHOWN]!r}")
    if parsed.name not in AGENTS:
        close = difflib.get_close_matches(parsed.name[:SHOWN], AGENTS, 1)
        hint = f" (did you mean {close[0]!r}?)" if close else ""
        forms = ", ".join(entry.form for entry in AGENTS.values())
        raise ValueError(
            f"there is no agent {shown(parsed.name, 40)}{hint}; the agents are {forms}, or one of yours: module.Name"
        )
    entry = AGENTS[parsed.name]
    try:
        return getattr(import_module(entry.module), entry.function)(variant, parsed)
    except FileNotFoundError as error:
        raise FileNotFoundError(one_line(error)) from None
    except OSError as error:
        raise OSError(one_line(error)) from None
    except ValueError as error:
        raise ValueError(one_line(error)) from None
