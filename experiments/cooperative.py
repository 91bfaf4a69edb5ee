"""Measure how often agents win a cooperative game, by number of players and by one option.

    python -m experiments.cooperative --game samurai_spirit --agents random greedy --vary difficulty --games 1000

Every agent plays the same deals, all seats at once. Rates are shown with Wilson's 95 % intervals. Results go to
wins.json as they come, the table to table.md; the same command resumes, and more agents or more
games may be added later.
"""

import json
import platform
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from msgspec import Struct
from rich.console import Console
from rich.table import Table

from agents.arena import play_to_end
from agents.old_names import current_spec
from agents.registry import make_agent
from agents.spec import split_agent_specs
from experiments.common import markdown as pages
from experiments.common.cli import GameSpec, make_folder, progress_bar, run_program
from experiments.common.file_hashes import check_file_hash
from experiments.common.interrupts import Interrupt
from experiments.common.provenance import commit, machine
from experiments.common.ranges import Count, check_ranges
from experiments.common.tasks import WorkerSettings, results
from experiments.evaluation.matches import MATCH_SEED, Estimate, Timed, warm_agent, wilson
from experiments.evaluation.matchups import Natural, Seconds, Share
from experiments.evaluation.standings import span
from samurai_env import GameBatch, __version__, parse_variant
from samurai_env.core.game import Variant
from samurai_env.core.texts import one_line, shown
from samurai_env.core.variant_spec import read_spec
from samurai_env.files.atomic_write import write_atomically
from samurai_env.files.json_reader import read_json

CHUNK = 10  # games a worker plays at a time


@dataclass
class Config(WorkerSettings):
    """Settings of a table of win rates."""

    game: GameSpec
    """A cooperative game with its options; all numbers of players are played if it names none."""
    agents: tuple[str, ...] = ("random", "greedy")
    """Specs of the agents, separated by blanks or commas."""
    vary: str | None = None
    """An option: a line of the table for each of its values."""
    games: Count = 200
    """Games of each agent and variant."""
    output: Path = Path("runs/cooperative")
    """Folder for wins.json and table.md."""

    def __post_init__(self) -> None:
        self.agents = split_agent_specs(self.agents)


def variants(config: Config) -> dict[tuple[str, int], Variant]:
    """List the variants to play, by (value of the varied option as text, number of players).

    Raises:
        ValueError: the game is not cooperative, or has no such option, value or number of players.
    """
    game, players, options = read_spec(config.game)
    if not game.cooperative:
        raise ValueError(f"{game.title} is not cooperative; see experiments.tournament")
    lines: list[tuple[str, dict[str, Any]]] = [("", {})]
    if config.vary is not None:
        if config.vary in options:
            raise ValueError(f"--vary {config.vary} plays all its values: leave it out of --game")
        option = game.option(config.vary)
        lines = [(option.text(value), {config.vary: value}) for value in option.values]
    return {
        (line, n): game.variant(n, **{**options, **varied})
        for line, varied in lines
        for n in (game.players if players is None else [players])
    }


class Played(NamedTuple):
    """Some games of an agent as a worker played them."""

    agent: str
    variant: str
    first: int
    """Number of the first game."""
    returns: list[float]
    ends: dict[str, int]
    """How many ended in which way, where the game tells."""
    seconds: float
    """Processor time that the agent thought."""
    decisions: int
    """Decisions that it made."""
    machine: str
    """Where it was."""


def play_chunk(task: tuple[str, str, int, int]) -> Played:
    """Worker: play an agent in all seats of some games."""
    agent, variant, first, games = task
    made = parse_variant(variant)
    seeds = np.arange(first, first + games, dtype=np.uint64) + np.uint64(MATCH_SEED)
    timed = Timed(warm_agent(agent, variant))
    states = play_to_end(made, [timed], np.zeros((games, made.num_players), np.int64), seeds)
    ends = Counter(map(str, made.game.describe_results(states).get("result", ())))
    returns = GameBatch(made).returns(states)[:, 0].tolist()
    return Played(agent, variant, first, returns, dict(ends), timed.seconds, timed.decisions, machine())


class KeptReturns(Struct):
    """The returns of an agent's games of a variant: lists by number of their first game.

    `ends` has how many of these games ended in which way, also by first game; older files have none. So with the time.
    """

    agent: str
    variant: str
    commits: list[str]
    machines: list[str]
    chunks: dict[Natural, list[Share]]
    ends: dict[Natural, dict[str, Natural]] = {}
    seconds: Seconds = 0.0
    decisions: Natural = 0


class KeptCooperativeResults(Struct):
    """The form of the file; see `CooperativeResults`."""

    networks: dict[str, str]
    returns: list[KeptReturns]


class CooperativeResults:
    """The returns of the games played, by (agent, variant) and number of the first game of a chunk; kept in a file."""

    def __init__(self, path: Path) -> None:
        """Read the file, or start an empty one.

        Raises:
            ValueError: it is damaged, or counts a game twice.
        """
        self.path = path
        self.returns: dict[tuple[str, str], dict[int, list[float]]] = {}
        self.commits: dict[tuple[str, str], list[str]] = {}  # that played: a table may grow in several runs
        self.machines: dict[tuple[str, str], list[str]] = {}  # on which
        self.ends: dict[tuple[str, str], dict[int, dict[str, int]]] = {}  # how many ended in which way, by first game
        self.thought: dict[tuple[str, str], tuple[float, int]] = {}  # processor time and decisions
        self.networks: dict[str, str] = {}  # by agent, the hashes of the files that it names
        if not path.exists():
            return
        try:
            self._take(read_json(path, KeptCooperativeResults))
        except ValueError as error:
            hint = "move it away or choose another --output"
            raise ValueError(one_line(f"{one_line(error, 230)}; {hint}")) from None

    def _take(self, saved: KeptCooperativeResults) -> None:
        """Keep what the file holds, if it can have been played."""
        self.networks = {current_spec(spec): digits for spec, digits in saved.networks.items()}
        for found in saved.returns:
            key = current_spec(found.agent), found.variant
            name = f"{one_line(self.path, 120)} is damaged: {shown(found.agent, 40)}"
            if key in self.returns:
                raise ValueError(f"{name} stands there twice with {shown(found.variant)}")
            if not parse_variant(found.variant).game.cooperative:
                raise ValueError(f"{name} played {shown(found.variant)}, which is not cooperative")
            end = 0
            for first, chunk in sorted(found.chunks.items()):
                if first < end:
                    raise ValueError(f"{name} has game {first} in two chunks")
                end = first + len(chunk)
            for first, ends in found.ends.items():
                played, ended = len(found.chunks.get(first, ())), sum(ends.values())
                if ends and ended != played:
                    raise ValueError(f"{name} has {shown(ended)} ends of the {played} games from {first} on")
            self.returns[key] = found.chunks
            self.commits[key], self.machines[key] = found.commits, found.machines
            self.ends[key], self.thought[key] = found.ends, (found.seconds, found.decisions)

    def add(self, played: Played, commit_: str) -> None:
        """Keep what a chunk returned, and the commit that played it."""
        agent, variant = played.agent, played.variant
        self.returns[agent, variant][played.first] = played.returns
        self.ends.setdefault((agent, variant), {})[played.first] = played.ends
        seconds, decisions = self.thought.get((agent, variant), (0.0, 0))
        self.thought[agent, variant] = seconds + played.seconds, decisions + played.decisions
        for kept, now in ((self.commits, commit_), (self.machines, played.machine)):
            if now not in kept.setdefault((agent, variant), []):
                kept[agent, variant].append(now)

    def write(self) -> None:
        """Write all results with what is needed to repeat them."""
        contents = {
            "version": __version__,
            "python": platform.python_version(),
            "deal_seeds": f"{MATCH_SEED} + number of the game",
            "networks": self.networks,
            "returns": [
                {
                    "agent": agent,
                    "variant": variant,
                    "commits": self.commits[agent, variant],
                    "machines": self.machines[agent, variant],
                    "chunks": {str(first): chunks[first] for first in sorted(chunks)},
                    **self._more(agent, variant),
                }
                for (agent, variant), chunks in self.returns.items()
                if chunks
            ],
        }
        self.path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(self.path, json.dumps(contents) + "\n")

    def _more(self, agent: str, variant: str) -> dict[str, Any]:
        """Columns that older files lack: ways of ending and time."""
        ends = self.ends.get((agent, variant), {})
        seconds, decisions = self.thought.get((agent, variant), (0.0, 0))
        more: dict[str, Any] = {"ends": {str(first): ends[first] for first in sorted(ends)}} if ends else {}
        return more | ({"seconds": round(seconds, 6), "decisions": decisions} if decisions else {})

    def seconds(self, agent: str, variant: str) -> float | None:
        """Processor time of a decision; None if it was not measured."""
        seconds, decisions = self.thought.get((agent, variant), (0.0, 0))
        return seconds / decisions if decisions else None

    def ways(self, agent: str, variant: str) -> dict[str, int]:
        """How many games ended in which way, most frequent first; empty where that was not noted."""
        counts = Counter[str]()
        for ends in self.ends.get((agent, variant), {}).values():
            counts.update(ends)
        return dict(counts.most_common())

    def rate(self, agent: str, variant: Variant) -> tuple[Estimate, int] | None:
        """Mean return with its interval, and the number of games; None without games."""
        games = [value for chunk in self.returns.get((agent, variant.spec), {}).values() for value in chunk]
        if not games:
            return None
        mean = float(np.mean(games))
        low, high = wilson(mean, len(games))
        return Estimate(mean, max(0.0, low), min(1.0, high)), len(games)


def play(config: Config, console: Console, interrupt: Interrupt | None = None) -> CooperativeResults:
    """Play all that is not yet played; Ctrl-C (or `interrupt`, if given) stops and keeps what is done."""
    check_ranges(config)
    settings = list(variants(config).values())
    for spec in config.agents:
        for variant in settings:
            make_agent(spec, variant)  # fail before anything is played
    make_folder(config.output)
    wins = CooperativeResults(config.output / "wins.json")
    for spec in config.agents:
        check_file_hash(spec, wins.networks, wins.path)
    tasks, done = [], 0
    for spec in config.agents:
        for variant in settings:
            kept = wins.returns.setdefault((spec, variant.spec), {})
            for first in range(0, config.games, CHUNK):
                count = min(CHUNK, config.games - first)
                if len(kept.get(first, ())) >= count:
                    done += count
                else:
                    tasks.append((spec, variant.spec, first, count))
    saved, now = time.monotonic(), commit()
    with (
        interrupt or Interrupt() as interrupt,
        progress_bar(console, "games", done + sum(task[-1] for task in tasks), done) as bar,
        closing(results(play_chunk, tasks, config, lambda: interrupt.asked)) as coming,
    ):
        for _, played in coming:
            wins.add(played, now)
            done += len(played.returns)
            bar(done, played.agent)
            if time.monotonic() - saved > 20:
                wins.write()
                saved = time.monotonic()
    wins.write()
    return wins


def labelled(config: Config, label: str | None, cells: list[str]) -> list[str]:
    """Cells of a line of a table, after its label if an option is varied."""
    return cells if config.vary is None else [label or "", *cells]


def tables(config: Config, wins: CooperativeResults) -> Iterator[tuple[str, list[int], list[str], list[list[str]]]]:
    """For each agent with results: its spec, the numbers of games of its entries, head and rows of its table."""
    played = variants(config)
    lines = list(dict.fromkeys(line for line, _ in played))
    columns = list(dict.fromkeys(n for _, n in played))
    head = labelled(config, config.vary, [f"{n} player{'s' if n > 1 else ''}" for n in columns])
    for agent in dict.fromkeys(agent for agent, _ in wins.returns):
        found = {key: wins.rate(agent, variant) for key, variant in played.items()}
        counts = [rate[1] for rate in found.values() if rate]
        if counts:
            rows = []
            for line in lines:
                rates = [found[line, n] for n in columns]
                if any(rates):
                    rows.append(labelled(config, line, [str(rate[0]).strip() if rate else "" for rate in rates]))
            yield agent, counts, head, rows


def endings(config: Config, wins: CooperativeResults, agent: str) -> tuple[list[str], list[list[str]]] | None:
    """Head and rows of a table of how the games of an agent ended; None where that was not noted."""
    counts = {key: wins.ways(agent, variant.spec) for key, variant in variants(config).items()}
    ways = list(dict.fromkeys(way for found in counts.values() for way in found))
    if not ways:
        return None
    head = labelled(config, config.vary, ["players", *(way.replace("_", " ") for way in ways)])
    rows = []
    for (line, players), found in counts.items():
        if found:
            shares = (f"{found.get(way, 0) / sum(found.values()):.1%}" for way in ways)
            rows.append(labelled(config, line, [str(players), *shares]))
    return head, rows


def show(config: Config, wins: CooperativeResults, console: Console) -> None:
    """Print for each agent with results the victories and how games ended, and write all tables to table.md."""
    parts = [f"# {read_spec(config.game).game.title}: victories with 95 % intervals\n"]
    for agent, counts, head, rows in tables(config, wins):
        games = span(counts)
        table = Table(title=f"{agent}: victories in {games} games, 95 % intervals")
        for name in head:
            table.add_column(name, justify="left" if name == config.vary else "right")
        for row in rows:
            table.add_row(*row)
        console.print(table)
        parts.append(f"`{agent}`, {games} games each:\n\n{pages.table(head, rows)}\n")
        if ended := endings(config, wins, agent):
            table = Table(*ended[0], title=f"{agent}: how games ended")
            for row in ended[1]:
                table.add_row(*row)
            console.print(table)
            parts.append(f"`{agent}`, how games ended:\n\n{pages.table(*ended)}\n")
    write_atomically(config.output / "table.md", "\n".join(parts))
    console.print(f"results and table are in {config.output}")


def main(config: Config) -> None:
    """Play and show."""
    console, interrupt = Console(), Interrupt()
    show(config, play(config, console, interrupt), console)
    interrupt.end()


if __name__ == "__main__":
    run_program("experiments.cooperative", Config, main, __doc__)
