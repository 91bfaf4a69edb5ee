"""Write the tables of speed in the README and docs/background/performance.md from experiments/results.

    python -m experiments.benchmark.tables            # write them
    python -m experiments.benchmark.tables --check    # only say whether a page is out of date (exit status 1)

A table comes from each file that `experiments.bench --json experiments/results/bench-NAME.json` leaves there; what
`experiments.bench --peers` and `--growth`, and `make gpu JSON=experiments/results/gpu.json`, leave there stands in
docs/background/performance.md. The tables of strength are written by `experiments.leaderboard --no-play`.
"""

from dataclasses import dataclass

from experiments.benchmark.page import pages
from experiments.common.cli import run_program
from experiments.common.markdown import refresh


@dataclass
class Config:
    """Whether to write the pages or to compare them."""

    check: bool = False
    """Write nothing; exit with 1 if a page is out of date."""


def main(config: Config) -> None:
    """Write the tables, or look whether they are up to date."""
    stale = refresh(pages(), write=not config.check)
    for path in stale:
        print(f"{path} {'is out of date' if config.check else 'written'}")
    if config.check and stale:
        raise SystemExit(1)


if __name__ == "__main__":
    run_program("experiments.benchmark.tables", Config, main, __doc__)
