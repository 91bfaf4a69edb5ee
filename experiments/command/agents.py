"""List what can be named as an agent, and the networks that come with the project."""

from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from agents.networks.cards import read_card
from agents.networks.paths import shipped_networks
from agents.registry import AGENTS


@dataclass
class Config:
    """No settings."""


def main(config: Config, console: Console | None = None) -> None:
    """Print two tables."""
    console = console or Console()
    specs = Table("spec", "agent", title="Agents", title_justify="left", box=None)
    for entry in AGENTS.values():
        specs.add_row(entry.form, entry.about)
    specs.add_row("module.Name[:ARGUMENT]", "one of yours: what Name of that module makes of variant and argument")
    console.print(specs)
    console.print("Settings follow after commas: mcts:1000,c_puct=1,rollout_depth=16")
    console.print()
    networks = Table("path", "plays", title="Shipped networks", title_justify="left", box=None)
    for path in shipped_networks():
        game, players, *_ = read_card(path).variant.split()
        networks.add_row(f"weights/{path.stem}", f"{game} {players}")
    console.print(networks)
