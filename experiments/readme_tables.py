"""Write the ladder and the speed table of the README from the results kept in experiments/results.

    python -m experiments.readme_tables            # write them
    python -m experiments.readme_tables --check    # only say whether the README is out of date (exit status 1)

A ladder comes from each results.json that `experiments.tournament --output experiments/results/NAME` leaves there,
a speed table from each file that `experiments.bench --json experiments/results/NAME.json` leaves there.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from experiments.pages import ROOT, refresh, table
from experiments.tournament import Results, pay_off, ratings
from samurai_env import parse_spec

RESULTS = ROOT / "experiments" / "results"
# Shown as long as there are no results, and an example of how to make them.
NO_LADDER = "*No results are kept yet.* They come from\n\n```sh\n{}\n```".format(
    "python -m experiments.tournament --agents random greedy mcts:1000 ppo:runs/first --deals 500 \\\n"
    "    --output experiments/results/ladder-2"
)
NO_SPEED = "*No results are kept yet.* They come from\n\n```sh\n{}\n```".format(
    "python -m experiments.bench --json experiments/results/bench-2.json"
)


def read(path: Path) -> dict[str, Any]:
    """A results file.

    Raises:
        ValueError: it is damaged.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"{path} is damaged: {error}") from None
    if not isinstance(found, dict) or "variant" not in found:
        raise ValueError(f"{path} is not a results file: it names no variant")
    return found


def origin(found: dict[str, Any]) -> str:
    """Where and with what a result was made."""
    changed = ", with uncommitted changes" if found["commit"].endswith("+") else ""
    return f"Version {found['version']}, commit {found['commit'].rstrip('+')}{changed}; {found['machine']}."


def setting(variant: str) -> str:
    """A variant in a few words: its number of players and the options that are not the default."""
    made = parse_spec(variant)
    standard = made.game.variant(made.num_players).options
    special = [f"{name}={value}" for name, value in made.options.items() if value != standard[name]]
    return ", ".join([f"{made.game.title}, {made.num_players} players", *special])


def ladder(path: Path) -> str:
    """Ratings and mutual shares of one tournament, best first."""
    found = read(path)
    results = Results(path, found["variant"])
    agents = tuple(dict.fromkeys(spec for meeting in results.shares for spec in meeting))
    players = parse_spec(found["variant"]).num_players
    rated, shares = ratings(results, agents, players), pay_off(results, agents, players)
    order = sorted(range(len(agents)), key=lambda i: -rated[i, 0])
    rows = []
    for i in order:
        cells = [f"`{agents[i]}`", f"{rated[i, 0]:+.0f} [{rated[i, 1]:+.0f}, {rated[i, 2]:+.0f}]"]
        cells += [str(shares.get((agents[i], agents[j]), "")).strip() for j in order]
        rows.append(cells)
    meaning = f"**{setting(found['variant'])}**: rating, and win share of the row's agent"
    meaning += " against each other" if players == 2 else f" in one seat among {players - 1} copies of the column's"
    head = ["agent", "rating", *(f"`{agents[j]}`" for j in order)]
    return f"{meaning}.\n\n{table(head, rows)}\n\n{origin(found)}\n\n```sh\n{found['command']}\n```"


def amount(value: float) -> str:
    """A measured figure, to three digits."""
    for size, letter in ((1e6, " M"), (1e3, " k")):
        if value >= size:
            digits = max(0, 3 - len(str(int(value / size))))
            return f"{value / size:.{digits}f}{letter}"
    return f"{value:.2f}"


def speed(paths: Sequence[Path]) -> str:
    """All measurements in one table: a column for each file, with the median and the range of each figure."""
    reports = [read(path) for path in paths]
    figures = [{f"{f['name']}, {f['unit']}": f for f in report["figures"]} for report in reports]
    rows = []
    for name in dict.fromkeys(name for found in figures for name in found):
        row = [name]
        for found in figures:
            if name not in found:
                row.append("")
                continue
            median, low, high = (amount(found[name][key]) for key in ("median", "low", "high"))
            row.append(f"**{median}** ({low} to {high})")
        rows.append(row)
    notes = [f"- {setting(report['variant'])}. {origin(report)} `{report['command']}`" for report in reports]
    return "\n".join([table(["", *(setting(report["variant"]) for report in reports)], rows), "", *notes])


def parts(folder: Path = RESULTS) -> dict[str, str]:
    """The generated parts of the README.

    Raises:
        ValueError: a results file is damaged.
    """
    ladders = [ladder(path) for path in sorted(folder.glob("*/results.json"))]
    speeds = sorted(folder.glob("*.json"))
    return {"ladder": "\n\n".join(ladders) or NO_LADDER, "speed": speed(speeds) if speeds else NO_SPEED}


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.readme_tables", description="Write the README's tables from experiments/results."
    )
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if the README is out of date")
    given = parser.parse_args(arguments)
    try:
        stale = refresh({"README.md": parts()}, write=not given.check)
    except ValueError as error:
        raise SystemExit(f"error: {error}") from None
    for path in stale:
        print(f"{path} {'is out of date' if given.check else 'written'}")
    return int(given.check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
