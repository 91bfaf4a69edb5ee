"""Write the tables of the README and of docs/performance.md from the results kept in experiments/results.

    python -m experiments.readme_tables            # write them
    python -m experiments.readme_tables --check    # only say whether a page is out of date (exit status 1)

The ladder is LEADERBOARD.md in short, which `experiments.leaderboard` writes; a speed table comes from each file that
`experiments.bench --json experiments/results/bench-NAME.json` leaves there; what `experiments.bench --peers` and
`--growth` leave there stands in docs/performance.md.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from experiments.benchmark.page import PAGE, figure, page_parts
from experiments.benchmark.timing import Figure
from experiments.common.markdown import RESULTS, Origin, origin, read, refresh, table
from experiments.leaderboard import in_short, setting

# Shown as long as there are no results.
NO_SPEED = "*No results are kept yet.* They come from\n\n```sh\n{}\n```".format(
    "python -m experiments.bench --json experiments/results/bench-2.json"
)


class Report(Origin):
    """The form of `bench-NAME.json`."""

    figures: list[Figure]


# The rows of the README's table: beginnings of the names of figures. docs/performance.md has all.
ROWS = (
    *("core, random play, no outputs, steps/s", "vector env", "AEC env, last", "Position, observation"),
    *("mcts:1000, opening, default", "PPO", "first step"),
)


def speed(paths: Sequence[Path], rows: Sequence[str] = ()) -> str:
    """Measurements in one table: a column for each file, with the median and the range of each figure.

    Args:
        paths: files of `experiments.bench`.
        rows: beginnings of the names of figures; all if there are none.
    """
    reports = [read(path, Report) for path in paths]
    figures = [{f"{f.name}, {f.unit}": f for f in report["figures"]} for report in reports]
    lines = [
        [name, *(figure(found[name]) if name in found else "" for found in figures)]
        for name in dict.fromkeys(name for found in figures for name in found)
        if not rows or name.startswith(tuple(rows))
    ]
    notes = [f"- {setting(report['variant'])}. {origin(report)} `{report['command']}`" for report in reports]
    if rows:
        notes = sorted({origin(report) for report in reports})
    return "\n".join([table(["", *(setting(report["variant"]) for report in reports)], lines), "", *notes])


def parts(folder: Path = RESULTS) -> dict[str, str]:
    """The generated parts of the README.

    Raises:
        ValueError: a results file is damaged.
    """
    speeds = sorted(folder.glob("bench*.json"))
    return {"ladder": in_short(folder), "speed": speed(speeds, ROWS) if speeds else NO_SPEED}


def pages(folder: Path = RESULTS) -> dict[str, dict[str, str]]:
    """The generated parts of all pages that show results, by page."""
    speeds = sorted(folder.glob("bench*.json"))
    return {"README.md": parts(folder), PAGE: page_parts(folder) | {"speed": speed(speeds) if speeds else NO_SPEED}}


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.readme_tables", description="Write tables of results into the pages."
    )
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a page is out of date")
    given = parser.parse_args(arguments)
    try:
        stale = refresh(pages(), write=not given.check)
    except ValueError as error:
        raise SystemExit(f"error: {error}") from None
    for path in stale:
        print(f"{path} {'is out of date' if given.check else 'written'}")
    return int(given.check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
