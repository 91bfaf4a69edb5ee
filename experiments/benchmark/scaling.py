"""Measurements against the number of games, players, threads and simulations, and the memory of a game."""

import tracemalloc
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from pathlib import Path

from rich.console import Console

from experiments.benchmark import components
from experiments.benchmark.timing import Figure, Meter
from experiments.common.cli import save_picture
from samurai_env import make_variant
from samurai_env.core.game import Variant, find_game
from samurai_env.envs.vector import GameVectorEnv
from samurai_env.games import GAMES

BATCHES = tuple(4**n for n in range(9))  # 1 to 65,536 games
THREADS = (1, 2)
SIMULATIONS = tuple(10**n for n in range(6))  # 1 to 100,000
MEASURED_GAMES = 4096  # for measurements of memory


@dataclass
class Point:
    """A figure at one place of a curve."""

    curve: str
    size: int
    figure: Figure


@dataclass
class Memory:
    """Bytes of one game: state (`record`), mask, observation by encoding, and all that the vector environment holds."""

    variant: str
    record: int
    mask: int
    observations: dict[str, int]
    environment: int


def by_games(variant: Variant, meter: Meter) -> Iterator[Point]:
    """Steps a second of the vector environment against the number of games, for players and threads."""
    game = variant.game
    fewest = game.players[0]
    curves = [(players, 1) for players in game.players] + [(fewest, threads) for threads in THREADS[1:]]
    for players, threads in curves:
        name = f"{players} players" + f", {threads} threads" * (threads > 1)
        for size in BATCHES:
            made = make_variant(game.name, players)
            if size >= threads:
                yield Point(name, size, components.vector(made, meter, size, threads)[0])


def by_simulations(variant: Variant, meter: Meter) -> Iterator[Point]:
    """Simulations a second of the tree search against their number in a decision."""
    players = variant.game.players
    for count in sorted({players[0], players[-1]}):
        for size in SIMULATIONS:
            for figure in components.search(make_variant(variant.game.name, count), meter, size):
                yield Point(f"{count} players, {figure.name.split(', ')[-1]}", size, figure)


def memory(variant: Variant) -> Memory:
    """Measure the memory of one game, the vector environment's share included."""
    encodings = {name: prod(variant.encoding(name).shape) for name in variant.game.encodings}
    tracemalloc.start()
    settings = {"autoreset_mode": "SameStep", **variant.options}
    env = GameVectorEnv(variant.game.name, MEASURED_GAMES, variant.num_players, **settings)
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    env.close()
    return Memory(variant.spec, variant.dtype.itemsize, variant.num_actions, encodings, round(held / MEASURED_GAMES))


def smallest_and_largest() -> list[Variant]:
    """Each game with the fewest and with the most players."""
    games = [find_game(name) for name in GAMES]
    return [game.variant(players) for game in games for players in (game.players[0], game.players[-1])]


def growth(variant: Variant, meter: Meter, console: Console) -> dict[str, tuple[list[Point], str]]:
    """By name: the points of a picture's curves, and what is along its lower axis."""
    found = {}
    pictures = (
        ("games", by_games, "games in the vector environment"),
        ("simulations", by_simulations, "simulations a decision"),
    )
    for name, measured, across in pictures:
        points: list[Point] = []
        with console.status("") as status:
            for point in measured(variant, meter):
                points.append(point)
                status.update(f"{point.curve}, {point.size:,} {across}: {point.figure.median:,.0f} {point.figure.unit}")
        found[name] = points, across
    return found


def draw(points: list[Point], across: str, title: str, path: Path) -> None:
    """Draw curves with their spread, as PNG; both axes are logarithmic."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Picture

    picture = Picture(figsize=(7, 4), layout="constrained")
    FigureCanvasAgg(picture)
    axes = picture.add_subplot()
    for curve in dict.fromkeys(point.curve for point in points):
        mine = [point for point in points if point.curve == curve]
        sizes = [point.size for point in mine]
        axes.plot(sizes, [p.figure.median for p in mine], marker="o", markersize=3, label=curve)
        axes.fill_between(sizes, [p.figure.low for p in mine], [p.figure.high for p in mine], alpha=0.2)
    axes.set(xscale="log", yscale="log", xlabel=across, ylabel=points[0].figure.unit, title=title)
    axes.set_xticks(sorted({point.size for point in points}), [f"{p:,}" for p in sorted({p.size for p in points})])
    axes.minorticks_off()
    axes.grid(alpha=0.3)
    axes.legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    save_picture(picture, path)
