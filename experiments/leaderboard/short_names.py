"""Short names of agents, for tables and pictures in which their specs have no room."""

from collections.abc import Sequence
from pathlib import Path

from agents.spec import parse_agent_spec


def short_name(spec: str) -> str:
    """Kind of agent, simulations, network and what else it has learned, without the other settings."""
    parsed = parse_agent_spec(spec)
    parts = [parsed.name.rpartition(".")[2]]
    if parsed.argument.isdecimal():
        parts.append(f"{int(parsed.argument):,}")
    network = parsed.settings.get("net", "" if parsed.argument.isdecimal() else parsed.argument)
    if network:
        parts.append(Path(network).stem)
    extras = []
    if parsed.settings.get("rollout_greedy") == "1" or "rollout_weight" in parsed.settings:
        extras.append("tuned rollouts" if parsed.settings.get("tuned") == "1" else "rollouts")
    extras += [name for name in ("value", "belief") if name in parsed.settings]
    extras += ["cheating"] if parsed.cheats else []
    return " ".join(parts) + (f" + {', '.join(extras)}" if extras else "")


def table_names(specs: Sequence[str]) -> dict[str, str]:
    """The name of each agent in a table, as Markdown: its spec if that is short, its short name if no other has it."""
    names = {spec: short_name(spec) if parse_agent_spec(spec).settings else f"`{spec}`" for spec in specs}
    found = list(names.values())
    return {spec: name if found.count(name) == 1 else f"`{spec}`" for spec, name in names.items()}
