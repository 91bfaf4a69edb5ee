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

from experiments.benchmark.page import PAGE, page_parts
from experiments.benchmark.timing import Figure
from experiments.common.markdown import RESULTS, Origin, figure, origin, read, refresh, table
from experiments.leaderboard import in_short, setting

# Shown as long as there are no results.
NO_SPEED = "*No results are kept yet.* They come from\n\n```sh\n{}\n```".format(
    "python -m experiments.bench --json experiments/results/bench-2.json"
)


class Report(Origin):
    """The form of `bench-NAME.json`."""

    figures: list[Figure]


def speed(paths: Sequence[Path]) -> str:
    """All measurements in one table: a column for each file, with the median and the range of each figure."""
    reports = [read(path, Report) for path in paths]
    figures = [{f"{f.name}, {f.unit}": f for f in report["figures"]} for report in reports]
    rows = []
    for name in dict.fromkeys(name for found in figures for name in found):
        row = [name]
        for found in figures:
            row.append(figure(found[name]) if name in found else "")
        rows.append(row)
    notes = [f"- {setting(report['variant'])}. {origin(report)} `{report['command']}`" for report in reports]
    return "\n".join([table(["", *(setting(report["variant"]) for report in reports)], rows), "", *notes])


def parts(folder: Path = RESULTS) -> dict[str, str]:
    """The generated parts of the README.

    Raises:
        ValueError: a results file is damaged.
    """
    speeds = sorted(folder.glob("bench*.json"))
    return {"ladder": in_short(folder), "speed": speed(speeds) if speeds else NO_SPEED}


def pages() -> dict[str, dict[str, str]]:
    """The generated parts of all pages that show results, by page."""
    return {"README.md": parts(), PAGE: page_parts()}


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
