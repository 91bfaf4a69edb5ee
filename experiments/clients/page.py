"""Write the tables of docs/guides/clients.md and language.md, and the programs, from results and files here.

python -m experiments.clients.page            # write them
python -m experiments.clients.page --check    # only say whether the pages are out of date (exit status 1)
"""

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from experiments.common.markdown import refresh, table
from experiments.common.provenance import RESULTS, ROOT
from experiments.evaluation.matchups import Results
from experiments.evaluation.standings import duration, standings
from samurai_env.core.game import find_game
from samurai_env.core.texts import one_line
from samurai_env.core.variant_spec import parse_variant
from samurai_env.files.atomic_write import append_line

PAGE, LANGUAGE = "docs/guides/clients.md", "docs/guides/language.md"
FOLDER = ROOT / "experiments" / "clients"
GREEDY = "greedy"
LEARNERS = {
    "sb3": "Stable-Baselines3",
    "ppo_cleanrl": "CleanRL-style file",
    "rllib": "RLlib",
    "torchrl": "TorchRL",
    "tianshou": "Tianshou",
}


def rows_of(path: Path) -> list[dict[str, Any]]:
    """The rows of a file of JSON lines.

    Raises:
        ValueError: it cannot be read, or a line is no JSON object.
    """
    if not path.exists():
        return []
    try:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"{one_line(path, 120)} is damaged or no text: {one_line(error, 120)}") from None
    if not all(isinstance(row, dict) for row in rows):
        raise ValueError(f"{one_line(path, 120)} is damaged: a line is no JSON object")
    return rows


def check_results(path: Path | None) -> None:
    """Make the folder of a file to which rows will be added, before anything is measured.

    Raises:
        ValueError: there can be no such file, or it is damaged.
    """
    if path is None:
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"--results: {one_line(error, 200)}") from None
    rows_of(path)


def add_row(path: Path, row: Mapping[str, Any]) -> None:
    """Add a row to a file of JSON lines; programs side by side lose nothing.

    Raises:
        ValueError: the file is damaged.
    """
    rows_of(path)
    append_line(path, json.dumps(row))


def reached() -> str:
    """The result of each learner, the last run of each client and game."""
    last = {(row["client"], row["variant"]): row for row in rows_of(RESULTS / "clients.jsonl")}
    lines = []
    for row in sorted(last.values(), key=lambda row: (list(LEARNERS).index(row["client"]), row["variant"].split()[1])):
        variant = parse_variant(row["variant"])
        share = f"**{row['share']:.1f}** ({row['low']:.1f} to {row['high']:.1f})"
        game = f"{variant.game.title}, {variant.num_players} players"
        speed = f"{row['steps_per_second']:,}"
        lines.append([LEARNERS[row["client"]], row["version"], row["lines"], game, f"{row['steps']:,}", speed, share])
    return table(
        ["learner", "version", "lines", "game", "decisions", "decisions/s", "win share against random, %"], lines
    )


def throughput() -> str:
    """Random play through the adapters and through the frameworks' own ways."""
    last = {
        (row["client"], row["way"]): row["steps_per_second"] for row in rows_of(RESULTS / "clients-throughput.jsonl")
    }
    return table(["framework", "way", "decisions/s"], [[*key, f"{value:,}"] for key, value in last.items()])


def spiel_checks() -> str:
    """What OpenSpiel's own tools found: its test of every variant, and an equilibrium of Mini-Samurai."""
    row = rows_of(RESULTS / "clients-open_spiel.jsonl")[-1]
    lines = [
        ["`random_sim_test`, variants passed", row["variants"]],
        [f"NashConv on Mini-Samurai after {row['iterations']} iterations of CFR+", f"{row['nash_conv']:.4f}"],
    ]
    return table([row["version"], "result"], lines)


def spiel_search() -> str:
    """OpenSpiel's IS-MCTS and the project's own against greedy, and what a decision costs."""
    results = Results(RESULTS / "clients-open_spiel.json")
    agents = list(dict.fromkeys(agent for lineup in results.matchups for agent in lineup))
    found = standings(results, agents)
    lines = []
    for agent in (name for name in found.agents if name != GREEDY):
        share, time = found.shares[agent, GREEDY], duration(found.seconds[agent])
        games = found.deals.get((agent, GREEDY)) or found.deals[GREEDY, agent]
        lines.append([f"`{agent}`", time, duration(found.seconds[GREEDY]), games, str(share).strip()])
    return table(["agent", "a decision", "greedy's", "deals, each from both seats", "win share against greedy"], lines)


def by_text() -> str:
    """The games of the scripted client, the last run of each door and game."""
    last = {(row["door"], row["game"]): row for row in rows_of(RESULTS / "clients-text.jsonl")}
    lines = [
        [
            "the text environment" if row["door"] == "text" else row["version"],
            find_game(row["game"]).title,
            f"{row['finished']} of {row['games']}",
            f"{row['replies']:,}",
            f"{row['refused']} of {row['nonsense']}",
        ]
        for row in last.values()
    ]
    return table(["through", "game", "games finished", "replies", "nonsense refused"], lines)


def program(client: str) -> str:
    """The program of a client: its imports, and the function that trains."""
    source = (FOLDER / f"{client}.py").read_text(encoding="utf-8")
    code = source.split('"""\n', 1)[1].strip()
    return f"```py\n{code}\n```"


def pages() -> dict[str, dict[str, str]]:
    """The generated parts of the pages."""
    learners = {"reached": reached(), "throughput": throughput(), **{name: program(name) for name in LEARNERS}}
    learners |= {"open_spiel-checks": spiel_checks(), "open_spiel-search": spiel_search()}
    return {PAGE: learners, LANGUAGE: {"text-games": by_text()}}


def main() -> None:
    """Write or check."""
    parser = argparse.ArgumentParser("python -m experiments.clients.page", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    args = parser.parse_args()
    try:
        written = pages()
    except ValueError as error:
        parser.error(str(error))
    for path in (stale := refresh(written, not args.check)):
        print(f"{path} {'is out of date' if args.check else 'written'}")
    sys.exit(bool(stale and args.check))


if __name__ == "__main__":
    main()
