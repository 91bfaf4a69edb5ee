"""Compare ways to search at equal time.

    python -m experiments.search_variants --milliseconds 5 --opponents greedy mcts:1000 --deals 100

First, the number of simulations that each variant of `search_variants.toml` completes in the time is measured and kept
in specs.json (at least 64, even if they take longer; the table shows the time taken). Then each variant plays the
opponents on the same deals. The same command resumes.
"""

import json
import time
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np
from msgspec import Struct, to_builtins
from rich.console import Console
from rich.markdown import Markdown

from agents.best import named
from agents.registry import make_agent
from agents.settings import Range
from experiments import tournament
from experiments.common import markdown as pages
from experiments.common.cli import GameSpec, make_folder, run_program
from experiments.common.interrupts import Interrupt
from experiments.common.provenance import cpu_name
from experiments.common.ranges import Count, check_ranges
from experiments.common.tasks import WorkerSettings
from experiments.evaluation.matches import estimate
from experiments.evaluation.matchups import Results
from experiments.evaluation.standings import span
from samurai_env import parse_variant
from samurai_env.core.game import Variant
from samurai_env.core.texts import shown
from samurai_env.files.atomic_write import write_atomically
from samurai_env.files.json_reader import read_json
from samurai_env.game_batch import GameBatch

VARIANTS = Path(__file__).with_suffix(".toml")
POSITIONS = 24  # on which a search is timed
FEWEST = 64  # simulations, even if they take longer than the time allowed


@dataclass
class Config(WorkerSettings):
    """Settings of a comparison."""

    game: GameSpec = "samurai"
    """The game with its number of players and options."""
    network: Path | None = None
    """Network for the variants that need one; without it they are left out."""
    milliseconds: Annotated[float, Range(0.01, 1e6)] = 5.0
    """Time of a decision, on one core."""
    opponents: tuple[str, ...] = ("greedy",)
    """Agents that each variant meets."""
    deals: Count = 100
    """Deals of each matchup, each played from every seat."""
    output: Path = Path("runs/search-variants")
    """Folder for specs.json, results.json and table.md."""


class KeptSpecs(Struct):
    """The form of specs.json: what it was measured for and on, and the specs by those with SIMULATIONS still open."""

    variant: str
    milliseconds: float
    specs: dict[str, str]
    machine: str = ""  # not noted in older files


def positions(variant: Variant) -> np.ndarray:
    """States from all stages of a game of the heuristic policy, none of them over."""
    batch, player, game = GameBatch(variant), make_agent("greedy", variant), []
    states = batch.reset([0])
    while not states["over"][0]:
        game.append(states.copy())
        batch.step(states, player.act(states, np.array([len(game)], np.uint64)))
    return np.concatenate([game[number * len(game) // POSITIONS] for number in range(POSITIONS)])


def simulations_in(spec: str, variant: Variant, seconds: float) -> int:
    """Find the number of simulations that take this long a decision, on average over `positions`; at least `FEWEST`."""
    where, keys = positions(variant), np.arange(POSITIONS, dtype=np.uint64)
    count = FEWEST
    for _ in range(3):  # the rate changes with the number, so it is measured near where it will be used
        agent = make_agent(spec.replace("SIMULATIONS", str(count)), variant)
        agent.act(where[:1], keys[:1])
        started = time.process_time()
        for i in range(POSITIONS):
            agent.act(where[i : i + 1], keys[i : i + 1])
        spent = (time.process_time() - started) / POSITIONS
        count = max(FEWEST, round(count * seconds / spent))
    return count


def wanted(config: Config, variant: Variant) -> dict[str, str]:
    """Name and spec of the variants that this game, number of players and network allow, SIMULATIONS still open."""
    found = {}
    for entry in tomllib.loads(VARIANTS.read_text(encoding="utf-8"))["variant"]:
        spec = entry["spec"]
        if "NETWORK" in spec and config.network is None:
            continue
        if "paranoid" in spec and (variant.num_players == 2 or variant.game.cooperative):
            continue  # with two players it is max-n, and in a cooperative game nobody is against anybody
        found[entry["name"]] = spec.replace("NETWORK", str(config.network))
    return found


def specs(config: Config, variant: Variant, console: Console) -> dict[str, str]:
    """Name of each variant and the spec of its agent, measured now or read from specs.json.

    Raises:
        ValueError: specs.json is damaged or was measured for another game or time.
    """
    file = config.output / "specs.json"
    machine = cpu_name()
    found: dict[str, str] = {}  # by spec, SIMULATIONS open
    if file.exists():
        kept = read_json(file, KeptSpecs)
        found = kept.specs
        if (kept.variant, kept.milliseconds) != (variant.spec, config.milliseconds):
            held = f"{shown(kept.variant, 120)} and {kept.milliseconds:g} ms"
            asked = f"{shown(variant.spec, 120)} and {config.milliseconds:g} ms"
            raise ValueError(f"{file} was measured for {held}, not {asked}; choose another --output")
        if kept.machine and kept.machine != machine:
            raise ValueError(
                f"{file} was measured on another machine, {shown(kept.machine, 80)}, not on "
                f"{shown(machine, 80)}, where equal times are other numbers of simulations; choose another --output"
            )
    names = wanted(config, variant)
    for name, spec in names.items():
        if spec not in found:
            found[spec] = spec.replace("SIMULATIONS", str(simulations_in(spec, variant, config.milliseconds / 1000)))
            console.print(f"measured: {found[spec]}, {name}")
            now = KeptSpecs(variant.spec, config.milliseconds, found, machine)
            write_atomically(file, json.dumps(to_builtins(now), indent=1) + "\n")
    return {name: found[spec] for name, spec in names.items()}


def met(results: Results, spec: str, opponent: str, deals: int) -> tuple[np.ndarray, float, int] | None:
    """What a variant won from an opponent, its seconds of thought and its decisions; None if they have not met."""
    if found := results.matchups.get((spec, opponent)):
        shares, own = found.shares(deals), 0
    elif parse_variant(results.variant).num_players == 2 and (found := results.matchups.get((opponent, spec))):
        shares, own = 1.0 - found.shares(deals), 1  # a pair meets once, whoever is named first
    else:
        return None
    return (shares, found.seconds[own], found.decisions[own]) if len(shares) else None


def table(config: Config, names: dict[str, str], results: Results) -> str:
    """The Markdown table of a comparison."""
    rows = []
    for name, spec in names.items():
        cells = [met(results, spec, opponent, config.deals) for opponent in config.opponents]
        seconds = sum(cell[1] for cell in cells if cell)
        decisions = sum(cell[2] for cell in cells if cell)
        shares = [str(estimate(cell[0])).strip() if cell else "" for cell in cells]
        rows.append((name, f"`{spec}`", f"{1000 * seconds / decisions:.1f}" if decisions else "", *shares))
    head = ("search", "spec", "ms a decision", *(f"against `{opponent}`" for opponent in config.opponents))
    return pages.table(head, rows)


def main(config: Config) -> None:
    """Measure, play and show."""
    console = Console()
    check_ranges(config)
    variant = parse_variant(config.game)
    config = replace(config, opponents=tuple(named(spec, variant) for spec in config.opponents))
    if config.network:
        make_agent(f"ppo:{config.network}", variant)
    for opponent in config.opponents:
        make_agent(opponent, variant)  # fail before anything is measured
    make_folder(config.output)
    names = specs(config, variant, console)
    agents = tuple(dict.fromkeys((*names.values(), *config.opponents)))
    matches = tournament.Config(
        agents,
        config.game,
        deals=config.deals,
        mirror=False,
        output=config.output,
    )
    pairs = [(spec, opponent) for opponent in config.opponents for spec in names.values() if spec != opponent]
    interrupt = Interrupt()
    results = tournament.play(config.given_to(matches), console, interrupt, pairs)
    text = table(config, names, results)
    played = [found for pair in pairs if (found := results.matchups.get(pair) or results.matchups.get(pair[::-1]))]
    deals = span([len(found.shares(config.deals)) for found in played])
    machines = ", ".join(dict.fromkeys(machine for found in played for machine in found.machines))
    commits = ", ".join(dict.fromkeys(commit for found in played for commit in found.commits))
    head = f"{variant.spec}; {config.milliseconds:g} ms a decision asked for; {deals} deals, each from every seat; "
    head += f"{machines or cpu_name()}, commit {commits}"
    write_atomically(config.output / "table.md", f"{head}\n\n{text}\n")
    console.print(Markdown(text))
    console.print(f"specs, results and table are in {config.output}")
    interrupt.end()


if __name__ == "__main__":
    run_program("experiments.search_variants", Config, main, __doc__)
