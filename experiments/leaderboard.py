"""Play what LEADERBOARD.md still lacks, and write it from the results.

    python -m experiments.leaderboard               # the short form; --full for the long one
    python -m experiments.leaderboard --no-play     # only write the pages from what has been played

`experiments/leaderboard.toml` says who plays what and how often. Results are in `experiments/results`; the same command
resumes. The README shows the same tables in short.
"""

import json
import os
from contextlib import chdir
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from rich.console import Console

from agents.spec import parse_agent_spec
from experiments import cooperative, tournament
from experiments.common.cli import run_program
from experiments.common.file_hashes import files_of
from experiments.common.interrupts import Interrupt
from experiments.common.markdown import refresh, table, variant_title
from experiments.common.provenance import RESULTS, ROOT
from experiments.common.ranges import check_ranges
from experiments.common.tasks import WorkerSettings
from experiments.evaluation import best_responses
from experiments.evaluation.best_agents import Board, best_agents
from experiments.evaluation.cooperative_results import CooperativeResults
from experiments.evaluation.ladders import LIST, Ladder, read_ladders, results_of
from experiments.evaluation.matches import Estimate
from experiments.evaluation.matchups import Lineup, Results
from experiments.evaluation.standings import ANCHOR, Standings, duration, rating_text, span
from experiments.evaluation.time_curve import draw
from samurai_env import parse_variant
from samurai_env.files.atomic_write import write_atomically

PAGE = ROOT / "LEADERBOARD.md"
BEST = ROOT / "agents" / "best.json"
CURVE = ROOT / "docs" / "images" / "strength-time.png"
CONTROLS = ("random", "untrained")  # left out of the README
NOTHING = "*Nothing has been played yet*: `make leaderboard`."
HEAD = """# Leaderboard

How strong the agents are, measured on duplicate deals: every deal is played from every seat, by the same seeds for all.
How to read the tables and how to put another agent on them: [docs/guides/benchmark.md](docs/guides/benchmark.md). This
page is written by `python -m experiments.leaderboard` from the files in `experiments/results`, never by hand;
`make leaderboard` plays what is missing (`make leaderboard FULL=1`: the long form).

![Rating against the seconds of a decision, one panel for each game](docs/images/strength-time.png)

Strength against the time of a decision, all tables of a game rated together. The line is the strongest within a time;
bars are 95 % intervals.
"""


@dataclass
class Config(WorkerSettings):
    """Settings of the leaderboard."""

    full: bool = False
    """Play the full form: more deals, and the slow agents too (hours)."""
    only: tuple[str, ...] = ()
    """Names of the tables to play; all if not given."""
    play: bool = True
    """Play what is missing; otherwise only write the pages."""
    check: bool = False
    """Neither play nor write; exit with 1 if a page is out of date."""


def tournament_config(ladder: Ladder, folder: Path, full: bool) -> tournament.Config:
    """The settings with which a table of ratings is played."""
    return tournament.Config(
        agents=ladder.agents + (ladder.slow if full else ()),
        game=ladder.game,
        deals=ladder.full_deals if full else ladder.deals,
        first_deal=ladder.first_deal,
        mirror=ladder.mirror,
        width=ladder.width,
        winner=ladder.winner,
        free_for_all=ladder.free_for_all,
        chunk=ladder.chunk,
        output=Path(os.path.relpath(folder / ladder.name, ROOT)),  # it becomes part of the command on the page
    )


def cooperative_config(ladder: Ladder, folder: Path, full: bool) -> cooperative.Config:
    """The settings with which a table of win rates is played."""
    return cooperative.Config(
        game=ladder.game,
        agents=ladder.agents + (ladder.slow if full else ()),
        vary=ladder.vary,
        games=ladder.full_deals if full else ladder.deals,
        output=Path(os.path.relpath(folder / ladder.name, ROOT)),
    )


def origin(ladder: Ladder, results: Results, standing: Standings) -> str:
    """Say how and where a table was played, and with which commands a cell is played again and the table continued."""
    commits = sorted({commit for matchup in results.matchups.values() for commit in matchup.commits})
    machines = sorted({machine for matchup in results.matchups.values() for machine in matchup.machines})
    lines = [
        f"- Code: commit {', '.join(commits)}" + (" (+: with uncommitted changes)" if "+" in "".join(commits) else ""),
        "- Versions: " + ", ".join(f"{name} {number}" for name, number in results.origin["versions"].items()),
        f"- Machine: {'; '.join(machines)}. Seeds of the deals: {results.origin['deal_seeds']}",
        *(
            f"- {_files_of(spec)}: SHA-256 {digits}..."
            for spec, digits in results.networks.items()
            if spec in standing.agents
        ),
    ]
    first, cells = standing.agents[0], [pair for pair in standing.shares if pair[0] != pair[1]]
    cell: Lineup = min(cells, key=lambda pair: (pair[0] != first, pair[1] != ANCHOR))
    if ladder.free_for_all:  # a line-up that has both
        cell = next(each for each in results.matchups if set(cell) <= set(each) <= set(standing.agents))
    commands = [
        f"python -m experiments.reproduce {ladder.name} {' '.join(cell)}",
        f"python -m experiments.leaderboard --full --only {ladder.name}",
    ]
    lines.append(
        "- To play a cell again in a fresh folder, on the table's deals; to play what the table lacks of its full form:"
    )
    return "\n".join([*lines, "", "```sh", *commands, "```"])


def _files_of(spec: str) -> str:
    """Say that a spec names a file, or several, which are hashed as one."""
    count = len(files_of(spec))
    return f"The {count} files of `{spec}`, joined" if count > 1 else f"File of `{spec}`"


def ladder_part(ladder: Ladder, folder: Path) -> str | None:
    """The section of a ladder with ratings; None if nothing has been played."""
    found = results_of(ladder, folder)
    if not found:
        return None
    results, standing = found
    columns = list(standing.agents)
    number = {agent: str(place) for place, agent in enumerate(columns, 1)}
    head = ["", *(number.get(name, name) for name in standing.head(columns))]
    text = table(head, [[number[agent], f"`{agent}`", *standing.row(agent, columns)[1:]] for agent in columns])
    others = standing.variant.num_players - 1
    meaning = "against that of the column" if others == 1 else f"in one seat among {others} copies of the column's"
    about = f"Columns with numbers: win share of the row's agent {meaning}; par is 1/{others + 1}."
    if ladder.free_for_all:
        about = (
            f"A free-for-all: {others + 1} different agents in each game, in every seat of each deal; par of the win"
            f" share is 1/{others + 1}. Columns with numbers: the row's share of the wins of row and column, in games"
            " of both; par is 1/2."
        )
    if standing.one_way:
        about += (
            " Only this direction was played, and copies of one agent may help each other unawares: the agents are not"
            " rated here."
        )
    if ladder.winner:
        about += (
            " A matchup ended once a winner was known: the intervals of win shares hold for that, those of ratings are"
            " too narrow."
        )
    agents = tuple(agent for agent in (*ladder.agents, *ladder.slow) if agent in columns)
    if ANCHOR not in agents and standing.ratings:
        about += (
            f" 0 is the rating of `{agents[0]}`, since `{ANCHOR}` did not play: do not compare it with other tables'."
        )
    return f"## {ladder.title}\n\n{about}\n\n{text}\n\n{origin(ladder, results, standing)}"


def cooperative_part(ladder: Ladder, folder: Path) -> str | None:
    """The tables of win rates of a cooperative game; None if nothing has been played."""
    path = folder / ladder.name / "wins.json"
    if not path.exists():
        return None
    config, wins = cooperative_config(ladder, folder, True), CooperativeResults(path)
    parts = [f"## {ladder.title}", "Games won with the agent in every seat, 95 % intervals."]
    for agent, counts, head, rows in cooperative.tables(config, wins):
        cheats = parse_agent_spec(agent).cheats
        sees = " (sees all cards: what this search wins where nothing is hidden)" if cheats else ""
        parts += [f"`{agent}`{sees}, {span(counts)} games each:", table(head, rows)]
        if ended := cooperative.endings(config, wins, agent):
            parts += ["How they ended, where that was noted:", table(*ended)]
        cell = next(variant for variant in cooperative.variants(config).values() if wins.rate(agent, variant))
        parts.append(
            f'A cell again:\n\n```sh\npython -m experiments.reproduce {ladder.name} {agent} "{cell.spec}"\n```'
        )
    commits = sorted({commit for found in wins.commits.values() for commit in found})
    machines = sorted({machine for found in wins.machines.values() for machine in found})
    parts.append(f"- Code: commit {', '.join(commits)}\n- Machine: {'; '.join(machines)}")
    return "\n\n".join(parts)


def page(folder: Path = RESULTS, file: Path = LIST) -> str:
    """The whole of LEADERBOARD.md.

    Raises:
        ValueError: a file is damaged.
    """
    ladders, cooperative_ladders = read_ladders(file)
    parts = [
        *(ladder_part(ladder, folder) for ladder in ladders),
        *(cooperative_part(ladder, folder) for ladder in cooperative_ladders),
        best_responses.part(folder),
    ]
    return "\n\n".join([HEAD.rstrip(), *([part for part in parts if part] or [NOTHING])]) + "\n"


def in_short(folder: Path = RESULTS, file: Path = LIST) -> str:
    """The README's table: the agents of some ladders, without the controls.

    Raises:
        ValueError: a file is damaged.
    """
    rows = []
    for ladder in read_ladders(file)[0]:
        found = results_of(ladder, folder) if ladder.readme else None
        if found:
            standing = found[1]
            for agent in standing.agents:
                if agent not in CONTROLS:
                    share = standing.shares.get((agent, ANCHOR))
                    time = duration(standing.seconds[agent]) if agent in standing.seconds else ""
                    rating = rating_text(*standing.ratings[agent]) if agent in standing.ratings else ""
                    cells = [rating, "" if share is None else str(share).strip(), time]
                    rows.append([variant_title(found[0].variant), f"`{agent}`", *cells])
    head = ["game", "agent", "rating", f"win share against `{ANCHOR}`", "a decision"]
    return table(head, rows) if rows else NOTHING


def readme_part() -> dict[str, dict[str, str]]:
    """The README's table of strength, by page and name."""
    return {"README.md": {"ladder": in_short()}}


def best(folder: Path = RESULTS, file: Path = LIST) -> str:
    """The text of `agents/best.json`, which says what the agent `best` stands for.

    Raises:
        ValueError: a file is damaged.
    """
    ladders, cooperative_ladders = read_ladders(file)
    rates: dict[str, dict[str, tuple[Estimate, float | None]]] = {}
    for ladder in cooperative_ladders:
        if (path := folder / ladder.name / "wins.json").exists():
            wins = CooperativeResults(path)
            for agent, variant in wins.returns:
                if rate := wins.rate(agent, parse_variant(variant)):
                    rates.setdefault(variant, {})[agent] = rate[0], wins.seconds(agent, variant)
    found = [(ladder, results_of(ladder, folder)) for ladder in ladders]
    boards = [Board(known[0], known[1].agents, ladder.chunk == 1) for ladder, known in found if known]
    return best_agents(boards, rates)


def write_pages(write: bool) -> list[str]:
    """Bring LEADERBOARD.md, the README's ladder and what `best` names up to date; the names of those that were not."""
    stale = refresh(readme_part(), write)
    chosen = best()
    for path, text in ((PAGE, page()), (BEST, chosen)):
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(path.name)
            if write:
                write_atomically(path, text)
    if write and (BEST.name in stale or not CURVE.exists()):
        variants = json.loads(chosen)["variants"]
        rated = {spec: rows for spec, rows in variants.items() if not parse_variant(spec).game.cooperative and rows}
        draw(rated, CURVE)
    return stale


def play(
    config: Config, console: Console, folder: Path = RESULTS, file: Path = LIST, interrupt: Interrupt | None = None
) -> None:
    """Play what is missing, table by table; Ctrl-C (or `interrupt`, if given) stops and keeps what is done.

    Raises:
        ValueError: there is no table of a name given.
    """
    ladders, cooperative_ladders = read_ladders(file)
    names = [ladder.name for ladder in ladders + cooperative_ladders]
    if unknown := set(config.only) - set(names):
        raise ValueError(f"there is no table {min(unknown)!r}; the tables are {', '.join(names)}")
    with chdir(ROOT), interrupt or Interrupt() as interrupt:  # agents and output are named from there
        for ladder in ladders + cooperative_ladders:
            if interrupt.asked or (config.only and ladder.name not in config.only):
                continue
            if not (ladder.agents or config.full):
                continue  # the short form has nothing to play there
            if ladder.needs and not find_spec(ladder.needs):
                console.print(f"{ladder.name}: left out, since {ladder.needs} is not installed")
                continue
            console.print(f"{ladder.name}:")
            if ladder in ladders:
                rated = config.given_to(tournament_config(ladder, folder, config.full))
                tournament.play(rated, console, interrupt)
            else:
                counted = config.given_to(cooperative_config(ladder, folder, config.full))
                cooperative.play(counted, console, interrupt)


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
