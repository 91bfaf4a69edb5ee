"""List what can be named as an agent, what the best is, and the weights that come with the project."""

from dataclasses import dataclass
from pathlib import Path

from msgspec import Struct
from rich.console import Console
from rich.table import Table

from agents.best import named
from agents.networks.paths import shipped_networks, shipped_weights
from agents.registry import AGENTS
from samurai_env import make_variant
from samurai_env.core.game import game_names
from samurai_env.files.json_reader import read_json


class Card(Struct):
    """The part of a card that is shown."""

    variant: str


@dataclass
class Config:
    """No settings."""


def main(config: Config, console: Console | None = None) -> None:
    """Print four tables."""
    console = console or Console()
    if not console.is_terminal:  # specs are to be copied
        console = Console(file=console.file, width=400)
    specs = Table("spec", "agent", title="Agents", title_justify="left", box=None)
    for entry in AGENTS.values():
        specs.add_row(entry.form, entry.about)
    specs.add_row("module.Name[:ARGUMENT]", "one of yours: what Name of that module makes of variant and argument")
    console.print(specs)
    console.print("Settings follow after commas: mcts:1000,c_puct=1,rollout_depth=16")
    console.print()
    best = Table("game", "spec", "plays", title="What best plays, with default options", title_justify="left", box=None)
    best.columns[2].overflow = "fold"
    for name in game_names():
        variant = make_variant(name)
        for spec in ("best", "best:1s"):
            best.add_row(f"{name} players={variant.num_players}", spec, named(spec, variant))
    console.print(best)
    console.print()
    networks = Table("path", "plays", title="Shipped networks", title_justify="left", box=None)
    for path in shipped_networks():
        networks.add_row(f"weights/{path.stem}", _game(path))
    console.print(networks)
    console.print()
    parts = Table("setting of mcts and puct", "plays", title="Weights for search", title_justify="left", box=None)
    parts.columns[0].overflow = "fold"
    for setting, folder in (("value", "leaf_values"), ("belief", "beliefs")):
        for path in shipped_weights(folder):
            parts.add_row(f"{setting}=weights/{folder}/{path.stem}", _game(path))
    console.print(parts)


def _game(path: Path) -> str:
    """The game and its number of players, from the card beside a file of weights."""
    return " ".join(read_json(path.with_suffix(".json"), Card).variant.split()[:2])
