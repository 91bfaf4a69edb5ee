"""Let agents play each other on duplicate deals.

    python -m experiments.tournament --agents random greedy mcts:1000 --deals 500

Every pair meets: one agent among copies of the other, on the same deals from every seat, and the other way
round with more than two players. Shares are shown with 95 % intervals over deals, ratings with bootstrap
intervals. Results go to a JSON file as they come; the same command goes on where it was stopped.
"""

import json
import multiprocessing
import os
import platform
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from agents.base import make_agent
from agents.networks import write_atomically
from experiments.common import Interrupt, at_least, command_line, commit, parse_options, progress_bar, run_program
from experiments.match import MATCH_SEED, Estimate, estimate, one_against_others
from experiments.ratings import rate
from samurai_env import __version__, make_variant, parse_spec

CHUNK = 10  # deals a worker plays at a time
Task = tuple[str, str, str, int, int]  # spec of the variant, agent, the others, first deal, number of deals
Chunk = tuple[str, str, int, list[list[float]], float]  # agent, the others, first deal, shares, seconds


@dataclass
class Config:
    """Settings of a tournament."""

    agents: tuple[str, ...] = ("random", "greedy")
    """Specs of the agents."""
    game: str = "samurai"
    """Name of the game."""
    num_players: int | None = None
    """Number of players; the game's smallest if not given."""
    options: tuple[str, ...] = ()
    """The game's options as name=value."""
    deals: int = 200
    """Deals of each meeting; each is played from every seat."""
    mirror: bool = False
    """Also let every agent play copies of itself: a control that must give par."""
    output: Path = Path("runs/tournament")
    """Folder for results.json, table.txt and payoff.png."""
    processes: int = field(default_factory=lambda: os.cpu_count() or 1)
    """Worker processes; 1 plays in the process itself."""


@cache
def _agent(spec: str, variant: str) -> Any:
    return make_agent(spec, parse_spec(variant))


def play_chunk(task: Task) -> Chunk:
    """Worker: one agent among copies of another on some deals; shares by deal and seat, and seconds."""
    variant, one, other, first, deals = task
    started = time.perf_counter()
    agents = [_agent(one, variant), _agent(other, variant)]
    shares = one_against_others(parse_spec(variant), agents, first, deals)
    return one, other, first, shares.tolist(), time.perf_counter() - started


def _quiet_worker() -> None:
    import signal

    import torch

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what Ctrl-C means
    torch.set_num_threads(1)


@contextmanager
def played_chunks(tasks: list[Task], processes: int) -> Iterator[Iterable[Chunk]]:
    """The results of the tasks as they come. Worker processes know the games of the package, this one also others."""
    if processes == 1:
        yield map(play_chunk, tasks)
        return
    context = multiprocessing.get_context("spawn")
    with context.Pool(min(processes, max(1, len(tasks))), _quiet_worker) as pool:
        yield pool.imap_unordered(play_chunk, tasks)


def meetings(config: Config, players: int) -> list[tuple[str, str]]:
    """(one, others) pairs to be played."""
    pairs = []
    for i, one in enumerate(config.agents):
        for j, other in enumerate(config.agents):
            if (i == j and config.mirror) or i < j or (i > j and players > 2):
                pairs.append((one, other))
    return pairs


class Results:
    """What has been played, kept in a JSON file."""

    def __init__(self, path: Path, variant: str) -> None:
        self.path, self.variant = path, variant
        self.shares: dict[tuple[str, str], dict[int, list[list[float]]]] = {}
        if path.exists():
            self._read()

    def _read(self) -> None:
        try:
            saved = json.loads(self.path.read_text(encoding="utf-8"))
            if saved["variant"] != self.variant:
                raise ValueError(f"{self.path} holds games of {saved['variant']}; choose another --output")
            for meeting in saved["meetings"]:
                chunks = {int(first): shares for first, shares in meeting["chunks"].items()}
                self.shares[meeting["one"], meeting["others"]] = chunks
        except (json.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"{self.path} is damaged ({error!r}); move it away or choose another --output") from None

    def write(self, command: str) -> None:
        """Write all results with what is needed to repeat them."""
        meetings_ = [
            {"one": one, "others": others, "chunks": {str(k): v for k, v in sorted(chunks.items())}}
            for (one, others), chunks in self.shares.items()
        ]
        record = {
            "variant": self.variant,
            "command": command,
            "version": __version__,
            "commit": commit(),
            "python": platform.python_version(),
            "machine": f"{platform.machine()} {platform.system()}, {os.cpu_count()} cores",
            "deal_seeds": f"{MATCH_SEED} + number of the deal",
            "meetings": meetings_,
        }
        self.path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(self.path, lambda path: path.write_text(json.dumps(record) + "\n", encoding="utf-8"))

    def table(self, one: str, others: str) -> np.ndarray | None:
        """Shares by deal and seat of a meeting, in order of deals."""
        chunks = self.shares.get((one, others))
        return np.concatenate([chunks[first] for first in sorted(chunks)]) if chunks else None


def check(config: Config) -> None:
    """Refuse impossible settings before anything is played.

    Raises:
        ValueError: names the option.
        OSError: the output folder cannot be made.
    """
    at_least(config, 1, "deals", "processes")
    if len(config.agents) < 1 + (not config.mirror):
        raise ValueError("--agents are two or more; one plays itself with --mirror")
    config.output.mkdir(parents=True, exist_ok=True)


def play(config: Config, console: Console) -> Results:
    """Play all that is not yet played; Ctrl-C keeps what is done."""
    check(config)
    variant = make_variant(config.game, config.num_players, **parse_options(config.game, config.options))
    for spec in config.agents:
        make_agent(spec, variant)  # complains before anything is played
    if len(set(config.agents)) != len(config.agents):
        raise ValueError(f"an agent is named twice in {', '.join(config.agents)}")
    results = Results(config.output / "results.json", variant.spec)
    tasks, done = [], 0
    for one, other in meetings(config, variant.num_players):
        played = results.shares.setdefault((one, other), {})
        for first in range(0, config.deals, CHUNK):
            count = min(CHUNK, config.deals - first)
            if len(played.get(first, ())) >= count:
                done += count
            else:
                tasks.append((variant.spec, one, other, first, count))
    total = done + sum(task[-1] for task in tasks)
    saved = time.monotonic()
    with (
        Interrupt() as interrupt,
        progress_bar(console, "deals", total, done) as bar,
        played_chunks(tasks, config.processes) as chunks,
    ):
        for one, other, first, shares, _ in chunks:
            results.shares[one, other][first] = shares
            done += len(shares)
            bar(done, f"{one} among {other}")
            if interrupt.asked:
                break
            if time.monotonic() - saved > 20:
                results.write(command_line("experiments.tournament", config))
                saved = time.monotonic()
    results.write(command_line("experiments.tournament", config))
    if interrupt.asked:
        console.print("stopped; the same command goes on from here")
    return results


def pay_off(results: Results, agents: tuple[str, ...], players: int) -> dict[tuple[str, str], Estimate]:
    """Share of the row agent's one seat among copies of the column agent."""
    table = {}
    for one in agents:
        for other in agents:
            shares = results.table(one, other)
            if shares is None and players == 2 and one != other:
                mirrored = results.table(other, one)
                shares = None if mirrored is None else 1.0 - mirrored
            if shares is not None:
                table[one, other] = estimate(shares)
    return table


def ratings(results: Results, agents: tuple[str, ...], players: int) -> np.ndarray:
    """Ratings of the agents with intervals, from all meetings of different agents."""
    number = {spec: i for i, spec in enumerate(agents)}
    lineups, wins = [], []
    for one, other in results.shares:
        shares = results.table(one, other)
        if one == other or shares is None or one not in number or other not in number:
            continue
        lineups.append([number[one]] + [number[other]] * (players - 1))
        won = np.zeros((len(shares), len(agents)))
        won[:, number[one]] = shares.sum(1)
        won[:, number[other]] += shares.shape[1] - shares.sum(1)
        wins.append(won)
    return rate(np.array(lineups), wins, len(agents), np.random.default_rng(0))


def show(config: Config, results: Results, console: Console) -> None:
    """Print the tables and write table.txt and payoff.png."""
    variant = parse_spec(results.variant)
    shares = pay_off(results, config.agents, variant.num_players)
    rated = None if variant.game.cooperative else ratings(results, config.agents, variant.num_players)
    order = sorted(range(len(config.agents)), key=lambda i: 0.0 if rated is None else -rated[i, 0])
    title = f"{variant.spec}: share of one {'(row)'} among {variant.num_players - 1} (column), 95 % intervals"
    table = Table(title=title)
    table.add_column("agent")
    if rated is not None:
        table.add_column("rating")
    for i in order:
        table.add_column(config.agents[i], justify="right")
    for i in order:
        cells = [config.agents[i]]
        if rated is not None:
            cells.append(f"{rated[i, 0]:+.0f} [{rated[i, 1]:+.0f}, {rated[i, 2]:+.0f}]")
        cells += [str(shares.get((config.agents[i], config.agents[j]), "")) for j in order]
        table.add_row(*cells)
    console.print(table)
    with (config.output / "table.txt").open("w", encoding="utf-8") as file:
        Console(file=file, width=200).print(table)
    draw(config, shares, [config.agents[i] for i in order], title)
    console.print(f"results, table and picture are in {config.output}")


def draw(config: Config, shares: dict[tuple[str, str], Estimate], order: list[str], title: str) -> None:
    """The pay-off matrix as a picture."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    size = len(order)
    grid = np.full((size, size), np.nan)
    figure = Figure(figsize=(2.5 + 1.3 * size, 1.8 + 0.9 * size), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for i, one in enumerate(order):
        for j, other in enumerate(order):
            if (one, other) in shares:
                grid[i, j] = shares[one, other].mean
                axes.text(j, i, f"{grid[i, j]:.1%}", ha="center", va="center")
    axes.imshow(grid, vmin=0, vmax=1, cmap="RdYlBu")
    axes.set_xticks(range(size), order, rotation=20, ha="right")
    axes.set_yticks(range(size), order)
    axes.set_title(title, fontsize=8, wrap=True)
    figure.savefig(config.output / "payoff.png", dpi=120)


def main(config: Config) -> None:
    """Play and show."""
    console = Console()
    show(config, play(config, console), console)


if __name__ == "__main__":
    run_program("experiments.tournament", Config, main, __doc__)
