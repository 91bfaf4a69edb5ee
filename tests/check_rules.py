"""Compare the compiled rules with the plain references over many games (`tests/board/test_agreement.py` plays fewer).

    python -m tests.check_rules --games 100000 --processes 2
    python -m tests.check_rules --game samurai --games 100000 --first-seed 100000     # go on where the last run ended

Games are dealt over all variants in turn. Ctrl-C stops cleanly and says where to go on. The first disagreement is
printed with a record of its game, and the exit status is 1.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import closing

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from experiments.common.interrupts import Interrupt
from experiments.common.tasks import WorkerSettings, results_in_order
from samurai_env.core.game import Variant, find_game
from tests.agreement.match import MATCHES, DisagreementError, play
from tests.common.variants import all_variants, readings

CHUNK = 20  # games a task

Task = tuple[list[Variant], range]


def run(task: Task) -> Counter[str] | str:
    """Play the games of some seeds; what came up, or how the sides differ."""
    variants, seeds = task
    events: Counter[str] = Counter()
    for seed in seeds:
        try:
            events += play(variants[seed % len(variants)], seed)
        except DisagreementError as error:
            return str(error)
        except Exception as error:
            error.add_note(f"in the game {variants[seed % len(variants)].spec}, seed {seed}")
            raise
    return events


def check(game: str, games: int, first_seed: int, workers: WorkerSettings, console: Console) -> int:
    """Play the games, show progress and totals; the exit status."""
    variants = all_variants(find_game(game)) + readings(find_game(game))
    last = first_seed + games
    tasks = [(variants, range(seed, min(seed + CHUNK, last))) for seed in range(first_seed, last, CHUNK)]
    events: Counter[str] = Counter()
    status, following = 0, first_seed
    columns = (TextColumn(game), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with (
        Progress(*columns, console=console) as progress,
        Interrupt() as interrupt,
        closing(results_in_order(run, tasks, workers, lambda: interrupt.asked)) as found,
    ):
        bar = progress.add_task(game, total=games)
        for (_, seeds), result in found:
            if isinstance(result, str):
                console.print(result, style="red", markup=False, highlight=False)
                status = 1
                break
            events += result
            following = seeds.stop
            progress.advance(bar, len(seeds))
    if interrupt.asked and status == 0:
        status = 130
        console.print("stopped")
    table = Table("in " + game, "times", title=f"seeds {first_seed} to {following - 1}" if events else None)
    for name, count in sorted(events.items()):
        table.add_row(name, f"{count:,}")
    console.print(table)
    if status == 0:
        console.print(f"{game}: no disagreement in {events['games']:,} games, {events['decisions']:,} decisions")
    elif status == 130:
        console.print(f"no disagreement in the seeds shown; go on with --first-seed {following}")
    return status


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.check_rules", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--game", choices=sorted(MATCHES), action="append", help="default: all")
    parser.add_argument("--games", type=int, default=10_000, help="games of each (default 10000)")
    parser.add_argument("--first-seed", type=int, default=0, help="seed of the first game (default 0)")
    parser.add_argument("--processes", type=int, default=1, help="default 1")
    parser.add_argument("--ray", action="store_true", default=WorkerSettings().ray, help="work on Ray")
    given = parser.parse_args(arguments)
    if given.games < 1 or given.processes < 1 or given.first_seed < 0:
        parser.error("--games and --processes must be 1 or more, --first-seed must be 0 or more")
    console, workers = Console(), WorkerSettings(processes=given.processes, ray=given.ray)
    for game in given.game or MATCHES:
        if status := check(game, given.games, given.first_seed, workers, console):
            return status
    return 0


if __name__ == "__main__":
    sys.exit(main())
