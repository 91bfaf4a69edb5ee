"""Watch agents play each other, the board drawn after every move.

    python -m experiments.watch --agents greedy mcts:500 --pictures runs/watch

In the terminal by default; with --pictures also as numbered PNG files, with --record as a game record.
"""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from rich.console import Console

from agents.registry import make_agent
from agents.settings import Range
from experiments.common.cli import GameSpec, run_program
from experiments.common.ranges import check_ranges
from experiments.play import choose_move
from samurai_env import Position
from samurai_env.core.variant_spec import read_spec
from samurai_env.files.atomic_write import write_atomically
from samurai_env.game_record import GameRecord


@dataclass
class Config:
    """Settings of a game."""

    agents: tuple[str, ...] = ("greedy", "random")
    """Specs of the players by seat; one spec serves all."""
    game: GameSpec = "samurai"
    """The game with its number of players and options; there are as many players as agents if it names no number."""
    seed: int = 0
    """Seed of the deal."""
    pause: Annotated[float, Range(0.0, 1e6)] = 0.5
    """Seconds between two moves."""
    pictures: Path | None = None
    """Folder for PNG pictures, one a move."""
    record: Path | None = None
    """File for the game record."""


def main(config: Config, console: Console | None = None) -> Position:
    """Show one game; the last position."""
    check_ranges(config)
    console = console or Console()
    game, players, options = read_spec(config.game)
    if players is None and len(config.agents) > 1:
        players = len(config.agents)
    variant = game.variant(players, **options)
    specs = config.agents * variant.num_players if len(config.agents) == 1 else config.agents
    if len(specs) != variant.num_players:
        raise ValueError(f"{variant.spec} needs {variant.num_players} agents, not {len(specs)}")
    agents = [make_agent(spec, variant) for spec in specs]
    position = Position(variant, config.seed)
    record = GameRecord(variant, config.seed, {f"player{seat}": spec for seat, spec in enumerate(specs)})
    for folder in (config.pictures, config.record and config.record.parent):
        if folder:
            folder.mkdir(parents=True, exist_ok=True)
    number = 0
    while not position.over:
        seat, before = position.seat, position.clone()
        actions = choose_move(position, agents[seat])
        for action in actions:
            position.step(action)
            record.append(action)
        number += 1
        console.print(variant.game.text(position.state, None), markup=False, highlight=False)
        console.print(f"{number}. seat {seat} ({specs[seat]}): {variant.game.format_move(before.state, actions)}")
        if config.pictures:
            draw(position, actions, config.pictures / f"{number:03d}.png")
        time.sleep(config.pause)
    console.print(f"returns by seat: {position.returns().tolist()}")
    if config.record:
        record.save(config.record)
    return position


def draw(position: Position, actions: list[int], path: Path) -> None:
    """The position as a PNG file."""
    from samurai_env.display import png

    write_atomically(path, png(position.variant.game.scene(position.state, None, actions)))


if __name__ == "__main__":
    run_program("experiments.watch", Config, main, __doc__)
