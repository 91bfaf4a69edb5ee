"""Agents by spec. A new agent is a line in `AGENTS`."""

from importlib import import_module
from typing import NamedTuple

from agents.external import ExternalAgent
from agents.old_names import current_spec
from agents.spec import SHOWN, parse_agent_spec
from samurai_env.agent_api import Agent
from samurai_env.core.game import Variant
from samurai_env.core.texts import did_you_mean, one_line, shown

MAX_SPEC = 5000  # characters of a spec; most of it would be a path


class Entry(NamedTuple):
    """An agent that specs can name: how its spec is written, what it is, and the function that makes it of a spec."""

    form: str
    about: str
    module: str
    function: str = "make"


# Modules are imported when an agent is made: only a network imports torch, if it is installed.
AGENTS = {
    "random": Entry("random", "uniformly random legal actions", ".baselines.uniform"),
    "greedy": Entry("greedy", "the best action by the game's heuristic policy", ".baselines.greedy"),
    "greedy_tuned": Entry(
        "greedy_tuned", "the same with weights tuned for the number of players", ".baselines.greedy", "make_tuned"
    ),
    "lookahead": Entry("lookahead", "the heuristic policy that also looks at the replies", ".baselines.lookahead"),
    "rollout": Entry("rollout:GAMES", "tries each action by games of the heuristic policy", ".baselines.rollout"),
    "mcts": Entry("mcts:SIMULATIONS", "tree search over determinizations (ISMCTS)", ".search.mcts"),
    "flat_mc": Entry("flat_mc:SIMULATIONS", "Monte Carlo search of one decision", ".search.mcts", "make_flat"),
    "puct": Entry("puct:SIMULATIONS,net=PATH", "tree search with a network", ".search.puct"),
    "ppo": Entry("ppo:PATH", "an action by a network, the most probable or drawn", ".networks.agent"),
    "best": Entry(
        "best[:TIME]", "the strongest one measured that decides in this time, as in best:1s or best:0.01s", ".best"
    ),
    "untrained": Entry("untrained", "a network with random weights, a control", ".networks.agent", "make_untrained"),
    "exec": Entry("exec:COMMAND", "a program in any language, over JSON lines", ".engine"),
}


def make_agent(spec: str, variant: Variant) -> Agent:
    """Make the agent that a spec names, see `agents.spec`.

    `module.Name:argument` is an agent from elsewhere: what `Name` of that module makes of the variant and the argument.

    Raises:
        TypeError: the spec is not a text, or the variant no `Variant`.
        ValueError: no such agent or module, or settings it cannot have; one short line says which it has.
        FileNotFoundError: the spec names a file that does not exist.
    """
    if not isinstance(spec, str):
        raise TypeError(f"the spec of an agent must be a string, not {shown(spec)}")
    if not isinstance(variant, Variant):
        raise TypeError(
            f"the variant must be a Variant, such as make_variant('samurai', num_players=2), not {shown(variant)}"
        )
    if len(spec) > MAX_SPEC:
        raise ValueError(f"an agent's spec may have at most {MAX_SPEC:,} characters, not {len(spec):,}")
    parsed = parse_agent_spec(spec)
    if parsed.is_external:
        return ExternalAgent(spec, variant)
    if (now := current_spec(spec)) != spec:
        raise ValueError(f"{spec[:SHOWN]!r} is an old spelling; write {now[: 2 * SHOWN]!r}")
    if parsed.name not in AGENTS:
        hint = did_you_mean(parsed.name, AGENTS)
        forms = ", ".join(entry.form for entry in AGENTS.values())
        raise ValueError(
            f"there is no agent {shown(parsed.name, 40)}{hint}; the agents are {forms}, or one of yours: module.Name"
        )
    entry = AGENTS[parsed.name]
    try:
        return getattr(import_module(entry.module, __package__), entry.function)(variant, parsed)
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise ValueError(f"{spec[:SHOWN]} needs torch, which is not installed: pip install torch") from None
    except FileNotFoundError as error:
        raise FileNotFoundError(one_line(error)) from None
    except OSError as error:
        raise OSError(one_line(error)) from None
    except ValueError as error:
        raise ValueError(one_line(error)) from None
