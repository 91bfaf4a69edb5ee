"""Measure how often agents win a cooperative game, by number of players and by one option.

    python -m experiments.cooperative --game samurai_spirit --agents random greedy --vary difficulty --games 1000

Every agent plays the same deals, all seats at once. Rates are shown with Wilson's 95 % intervals. Results go to
wins.json as they come, the table to table.md; the same command resumes, and more agents or more
games may be added later.
"""

from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from agents.arena import play_to_end
from agents.best import named
from agents.registry import make_agent
from agents.spec import split_agent_specs
from experiments.common import markdown as pages
from experiments.common.cli import GameSpec, make_folder, progress_bar, run_program
from experiments.common.file_hashes import check_file_hash
from experiments.common.interrupts import Interrupt
from experiments.common.periodic_save import PeriodicSave
from experiments.common.provenance import commit, machine
from experiments.common.ranges import Count, check_fits, check_ranges
from experiments.common.tasks import WorkerSettings, results
from experiments.evaluation.cooperative_results import CooperativeResults, Played
from experiments.evaluation.matches import MATCH_SEED, Timed, warm_agent
from experiments.evaluation.standings import duration, span
from samurai_env import GameBatch, parse_variant
from samurai_env.core.game import Variant
from samurai_env.core.variant_spec import read_spec
from samurai_env.files.atomic_write import write_atomically

CHUNK = 10  # games a worker plays at a time


@dataclass
class Config(WorkerSettings):
    """Settings of a table of win rates."""

    game: GameSpec
    """A cooperative game with its options; all numbers of players are played if it names none."""
    agents: tuple[str, ...] = ("random", "greedy")
    """Specs of the agents, separated by blanks or commas."""
    vary: str | None = None
    """An option: a row of the tables for each agent and each of its values."""
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


def play(config: Config, console: Console, interrupt: Interrupt | None = None) -> CooperativeResults:
    """Play all that is not yet played; Ctrl-C (or `interrupt`, if given) stops and keeps what is done."""
    check_ranges(config)
    settings = list(variants(config).values())
    for spec in config.agents:
        for variant in settings:
            if (stands_for := named(spec, variant)) != spec:
                raise ValueError(f"what {spec} stands for changes with the leaderboard: name it, here {stands_for}")
            make_agent(spec, variant)  # fail before anything is played
    check_fits("games", config.games, 16 * len(config.agents) * len(settings))
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
    now = commit()
    with (
        PeriodicSave(wins.write) as save,
        interrupt or Interrupt() as interrupt,
        progress_bar(console, "games", done + sum(task[-1] for task in tasks), done) as bar,
        closing(results(play_chunk, tasks, config, lambda: interrupt.asked)) as coming,
    ):
        for _, played in coming:
            wins.add(played, now)
            done += len(played.returns)
            bar(done, played.agent)
            save.added()
    return wins


def victories(config: Config, wins: CooperativeResults) -> tuple[list[str], list[list[str]]]:
    """Head and rows of the table of win rates: a row for each agent and value of the varied option, agent first.

    The last column is the processor time of a decision, where it was measured (mean over the numbers of players).
    """
    played = variants(config)
    columns = list(dict.fromkeys(n for _, n in played))
    players = [f"{n} player{'s' if n > 1 else ''}" for n in columns]
    rows = []
    for agent in agents_of(config, wins):
        for value in dict.fromkeys(value for value, _ in played):
            rates = [wins.rate(agent, played[value, n]) for n in columns]
            if counts := [rate[1] for rate in rates if rate]:
                cells = [str(rate[0]).strip() if rate else "" for rate in rates]
                times = [seconds for n in columns if (seconds := wins.seconds(agent, played[value, n].spec))]
                time = duration(sum(times) / len(times)) if times else ""
                rows.append([agent, *_varied(config, value), *cells, span(counts), time])
    head = ["agent", *_varied(config, config.vary), *players, "games", "CPU time"]
    return head, rows


def endings(config: Config, wins: CooperativeResults) -> tuple[list[str], list[list[str]]] | None:
    """Head and rows of a table of how games ended, agent first; None where that was not noted."""
    counts = {
        (agent, value, n): found
        for agent in agents_of(config, wins)
        for (value, n), variant in variants(config).items()
        if (found := wins.ways(agent, variant.spec))
    }
    ways = list(
        dict.fromkeys(sorted((way for found in counts.values() for way in found), key=lambda way: way != "won"))
    )
    rows = [
        [agent, *_varied(config, value), str(n), *(f"{found.get(way, 0) / sum(found.values()):.1%}" for way in ways)]
        for (agent, value, n), found in counts.items()
    ]
    head = ["agent", *_varied(config, config.vary), "players", *(way.replace("_", " ") for way in ways)]
    return (head, rows) if rows else None


def agents_of(config: Config, wins: CooperativeResults) -> list[str]:
    """Agents that have played a variant, in the order of the settings and then of the file."""
    specs = {variant.spec for variant in variants(config).values()}
    found = {agent for agent, variant in wins.returns if variant in specs}
    return [agent for agent in dict.fromkeys([*config.agents, *(agent for agent, _ in wins.returns)]) if agent in found]


def _varied(config: Config, text: str | None) -> list[str]:
    """The cell of the varied option; none if no option is varied."""
    return [] if config.vary is None else [text or ""]


def show(config: Config, wins: CooperativeResults, console: Console) -> None:
    """Print the victories and how games ended, and write both tables to table.md."""
    made = [("Victories, 95 % intervals", victories(config, wins)), ("How games ended", endings(config, wins))]
    parts = [f"# {read_spec(config.game).game.title}"]
    for title, (head, rows) in [(title, found) for title, found in made if found]:
        parts += [f"{title}:", pages.table(head, rows)]
        table = Table(title=title)
        for name in head:
            table.add_column(name, justify="left" if name in ("agent", config.vary) else "right")
        for row in rows:
            table.add_row(*row)
        console.print(table)
    write_atomically(config.output / "table.md", "\n\n".join(parts) + "\n")
    console.print(f"results and table are in {config.output}")


def main(config: Config) -> None:
    """Play and show."""
    console, interrupt = Console(), Interrupt()
    show(config, play(config, console, interrupt), console)
    interrupt.end()


if __name__ == "__main__":
    run_program("experiments.cooperative", Config, main, __doc__)
