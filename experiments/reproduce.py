"""Play one cell of LEADERBOARD.md again, into a fresh folder, on the deals that the table rests on.

    python -m experiments.reproduce ladder-2 mcts:1000 greedy
    python -m experiments.reproduce ladder-spirit greedy "samurai_spirit players=3 difficulty=easy"

A cell is the name of a table, the agent of the row, and the agent of the column or, in a cooperative game, the variant;
of a free-for-all the agents of all seats, whose games alone are played again.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import tyro
from rich.console import Console

from experiments import cooperative, tournament
from experiments.common.cli import run_program
from experiments.common.file_hashes import file_hash
from experiments.common.interrupts import Interrupt
from experiments.common.provenance import RESULTS, commit
from experiments.common.ranges import check_ranges
from experiments.common.tasks import WorkerSettings
from experiments.evaluation.cooperative_results import CooperativeResults
from experiments.evaluation.ladders import Ladder, read_ladders, rule_of
from experiments.evaluation.matchups import Lineup, Matchup, Results
from experiments.evaluation.stopping import StopRule
from experiments.leaderboard.configs import tournament_config
from samurai_env import parse_variant


@dataclass
class Config(WorkerSettings):
    """A cell, and where it is played again."""

    table: tyro.conf.Positional[str]
    """Name of the table, a folder of experiments/results."""
    agent: tyro.conf.Positional[str]
    """Spec of the row's agent."""
    others: tyro.conf.Positional[tuple[str, ...]]
    """Spec of the column's agent; in a cooperative game of the variant; in a free-for-all those of all other agents."""
    output: Path = Path("runs/cell")
    """Folder for the results; the same command resumes."""


def rated(config: Config, ladder: Ladder, console: Console, folder: Path, interrupt: Interrupt) -> str:
    """Play a cell of a table of ratings; what the table has and what came out."""
    kept = Results(folder / ladder.name / "results.json")
    lineup: Lineup = (config.agent, *config.others)
    any_order = ladder.free_for_all or parse_variant(kept.variant).num_players == 2  # else one among others is a cell
    if lineup not in kept.matchups and any_order:
        lineup = next((each for each in kept.matchups if sorted(each) == sorted(lineup)), lineup)
    if lineup not in kept.matchups or not kept.matchups[lineup].deals:
        raise ValueError(f"{ladder.name} has no cell of {config.agent} and {', '.join(config.others)}")
    rule = rule_of(ladder)
    before = kept.matchups[lineup].shares(rule=rule)
    again = replace(
        tournament_config(ladder, folder, True),
        agents=tuple(dict.fromkeys(lineup)),
        deals=len(before),
        mirror=True,
        width=None,
        winner=False,
        above=None,
        output=config.output,
    )
    if (path := config.output / "results.json").exists():
        held = Results(path).matchups
        if any_order and lineup not in held and any(sorted(each) == sorted(lineup) for each in held):
            raise ValueError(f"{config.output} has these agents in another order: choose another --output")
        refuse_other_code(config, held.get(lineup, Matchup()).commits)
    found = tournament.play(config.given_to(again), console, interrupt, [lineup]).matchups[lineup]
    interrupt.end()
    now = found.shares(len(before))
    same = int((before[: len(now)] == now).all(1).sum())
    what = f"{lineup[0]} against {', '.join(lineup[1:])}, {len(before)} deals"
    said = [f"table: {_shares(lineup, before, rule)}"]
    said.append(f"again: {_shares(lineup, now, rule)}, {same} deals with the same results")
    return other_files(lineup, kept.networks) + "\n".join([what, *said])


def other_files(specs: Iterable[str], known: Mapping[str, str]) -> str:
    """Say which agents have another network or code than when the table was played; nothing if none has."""
    changed = [spec for spec in dict.fromkeys(specs) if spec in known and file_hash(spec) != known[spec]]
    return f"not the same agents: the files of {', '.join(changed)} have changed since\n" if changed else ""


def refuse_other_code(config: Config, commits: Sequence[str]) -> None:
    """Refuse a folder in which another commit has played: that would be no repetition.

    Raises:
        ValueError: one has.
    """
    if others := set(commits) - {commit()}:
        raise ValueError(f"{config.output} has games of commit {min(others)}, not of this one: choose another --output")


def _shares(lineup: Lineup, rows: np.ndarray, rule: StopRule) -> str:
    """What the one agent won, or each of a free-for-all."""
    if len(lineup) == 2:
        return str(rule.estimate(rows))
    parts = rows.reshape(len(rows), len(lineup), -1).swapaxes(0, 1)
    return ", ".join(f"{agent} {str(rule.estimate(part)).strip()}" for agent, part in zip(lineup, parts, strict=True))


def counted(config: Config, ladder: Ladder, console: Console, folder: Path, interrupt: Interrupt) -> str:
    """Play a cell of a table of win rates; what the table has and what came out."""
    if len(config.others) != 1:
        raise ValueError(f"a cell of {ladder.name} has an agent and a variant, not {len(config.others)} variants")
    kept, variant = CooperativeResults(folder / ladder.name / "wins.json"), parse_variant(config.others[0])
    before = kept.rate(config.agent, variant)
    if before is None:
        raise ValueError(f"{ladder.name} has no cell of {config.agent} with {variant.spec}")
    again = cooperative.Config(
        game=variant.spec,
        agents=(config.agent,),
        games=before[1],
        output=config.output,
    )
    if (path := config.output / "wins.json").exists():
        refuse_other_code(config, CooperativeResults(path).commits.get((config.agent, variant.spec), []))
    wins = cooperative.play(config.given_to(again), console, interrupt)
    interrupt.end()
    now = wins.rate(config.agent, variant)
    ways = ", ".join(f"{way.replace('_', ' ')} {count}" for way, count in wins.ways(config.agent, variant.spec).items())
    what = f"{config.agent}, {variant.spec}, {before[1]} games\ntable: {before[0]}\nagain: {now and now[0]}; {ways}"
    return other_files([config.agent], kept.networks) + what


def main(config: Config, console: Console | None = None, folder: Path = RESULTS) -> None:
    """Play the cell and compare.

    Raises:
        ValueError: there is no such cell, or the output folder has games of other code.
    """
    check_ranges(config)
    if not config.others:
        raise ValueError("a cell has an agent and another agent, or a variant: name both after the table")
    console = console or Console()
    ladders, cooperative_ladders = read_ladders()
    known = {
        ladder.name: ladder for ladder in ladders + cooperative_ladders if any((folder / ladder.name).glob("*.json"))
    }
    if config.table not in known:
        raise ValueError(f"there is no table {config.table[:60]!r} that has been played; there are {', '.join(known)}")
    ladder = known[config.table]
    found = (rated if ladder in ladders else counted)(config, ladder, console, folder, Interrupt())
    console.print(found, markup=False, highlight=False)


if __name__ == "__main__":
    run_program("experiments.reproduce", Config, main, __doc__)
