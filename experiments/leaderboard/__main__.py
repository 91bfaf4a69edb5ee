"""Play what LEADERBOARD.md still lacks, and write it from the results.

    python -m experiments.leaderboard               # the short form; --full for the long one
    python -m experiments.leaderboard --no-play     # only write the pages from what has been played

`experiments/leaderboard.toml` says who plays what and how often. Results are in `experiments/results`; the same command
resumes. The README shows the same tables in short.
"""

from rich.console import Console

from experiments.common.cli import run_program
from experiments.common.interrupts import Interrupt
from experiments.common.ranges import check_ranges
from experiments.leaderboard.outputs import write_pages
from experiments.leaderboard.play import Config, play


def main(config: Config, console: Console | None = None) -> None:
    """Play and write."""
    check_ranges(config)
    console, interrupt = console or Console(), Interrupt()
    if config.play and not config.check:
        play(config, console, interrupt=interrupt)
    stale = write_pages(write=not config.check)
    for name in stale:
        console.print(f"{name} {'is out of date' if config.check else 'written'}")
    if config.check and stale:
        raise SystemExit(1)
    interrupt.end()


if __name__ == "__main__":
    run_program("experiments.leaderboard", Config, main, __doc__)
