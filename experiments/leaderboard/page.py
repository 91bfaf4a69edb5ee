"""LEADERBOARD.md and the README's ladder, from the results of the tables."""

from collections.abc import Sequence
from pathlib import Path

from msgspec import json

from agents.best import Best
from agents.spec import parse_agent_spec
from experiments import cooperative
from experiments.common.file_hashes import files_of
from experiments.common.markdown import anchor, table, variant_title
from experiments.common.provenance import RESULTS
from experiments.evaluation import best_responses
from experiments.evaluation.alpha_rank import shortest_cycle
from experiments.evaluation.cooperative_results import CooperativeResults
from experiments.evaluation.ladders import LIST, Ladder, read_ladders, results_of, rule_of
from experiments.evaluation.matchups import Lineup, Results
from experiments.evaluation.standings import ANCHOR, Standings, duration, rating_text
from experiments.leaderboard.best_agents import best
from experiments.leaderboard.by_time import by_time
from experiments.leaderboard.configs import cooperative_config
from experiments.leaderboard.short_names import table_names
from samurai_env.core.variant_spec import read_spec

CONTROLS = ("random", "untrained")  # left out of the README
TITLE = "# Leaderboard"
NOTHING = "*Nothing has been played yet*: `make leaderboard`."
HEAD = """\
How strong the agents are, measured on duplicate deals: every deal is played from every seat, by the same seeds for
all. How to read the tables and how to put another agent on them: [Benchmark](docs/guides/benchmark.md).
This page is written by `python -m experiments.leaderboard` from the files in `experiments/results`, never by hand;
`make leaderboard` plays what is missing (`make leaderboard FULL=1`: the long form).

## Highest rated by time

The highest-rated agent that decides in the time given, which is what the spec in the head of the column stands for
([`best`](docs/reference/agents.md)); an agent counts for a column up to 1.5 times its time. Ratings with 95 % intervals
are over all tables of a game together, so they differ from those of single tables; `greedy` is 0, and agents that no
games connect with it have none. Where intervals overlap, the slower agent is not shown to be the stronger one; those
wider than 300 points are marked. In Samurai Spirit, at its normal level, it is the share of games that the team has
won. Times are processor time per decision on one core, one game at a time (Samurai Spirit: ten at once). Names are
abbreviations: full specs stand below the tables.

{by_time}

![Rating against the seconds of a decision, one panel for each game](docs/images/strength-time.png)

Bars are 95 % intervals, too narrow for agents of tables that stop early, whose ratings lie somewhat too far apart; the
line is the strongest within a time. Hollow points are known too roughly to order them, no better than 150 points up and
down, and the line leaves them out.
In all tables a blank cell has not been played.

## Contents

{contents}
"""


def origin(ladder: Ladder, results: Results, standing: Standings) -> str:
    """Say how and where a table was played, and with which commands a cell is played again and the table continued."""
    number = {agent: place for place, agent in enumerate(standing.agents, 1)}
    names = table_names(standing.agents)
    commits = sorted({commit for matchup in results.matchups.values() for commit in matchup.commits})
    machines = sorted({machine for matchup in results.matchups.values() for machine in matchup.machines})
    lines = [
        *(f"- {number[agent]}: `{agent}`" for agent, name in names.items() if name != f"`{agent}`"),
        f"- Code: commit {', '.join(commits)}" + (" (+: with uncommitted changes)" if "+" in "".join(commits) else ""),
        "- Versions: " + ", ".join(f"{name} {number}" for name, number in results.origin["versions"].items()),
        f"- Machine: {'; '.join(machines)}. Seeds of the deals: {results.origin['deal_seeds']}",
        *(
            f"- {_files_of(spec, number[spec])}: SHA-256 {results.networks[spec]}..."
            for spec in standing.agents
            if spec in results.networks
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


def _files_of(spec: str, number: int) -> str:
    """Say that the agent of this number names a file, or several, which are hashed as one."""
    count = len(files_of(spec))
    return f"The {count} files of agent {number}, concatenated" if count > 1 else f"File of agent {number}"


def ladder_part(ladder: Ladder, folder: Path) -> str | None:
    """The section of a ladder with ratings; None if nothing has been played."""
    found = results_of(ladder, folder)
    if not found:
        return None
    results, standing = found
    columns = list(standing.agents)
    number = {agent: str(place) for place, agent in enumerate(columns, 1)}
    names = table_names(columns)
    head = ["", *(number.get(name, name) for name in standing.head(columns))]
    text = table(head, [[number[agent], names[agent], *standing.row(agent, columns)[1:]] for agent in columns])
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
    about += stop_note(ladder, results, standing)
    agents = tuple(agent for agent in (*ladder.agents, *ladder.slow) if agent in columns)
    if ANCHOR not in agents and standing.ratings:
        about += (
            f" 0 is the rating of agent {number[agents[0]]}, since `{ANCHOR}` did not play: do not compare it with"
            " other tables'."
        )
    about = " ".join(each for each in (ladder.note, about, cycle_note(standing)) if each)
    return f"### {ladder.title}\n\n{about}\n\n{text}\n\n{origin(ladder, results, standing)}"


def stop_note(ladder: Ladder, results: Results, standing: Standings) -> str:
    """Say when matchups end and how many have not; empty if all their deals are played."""
    rule = rule_of(ladder)
    if not rule.sequential:
        return ""
    known = "A matchup ends once it is known who wins more"
    if ladder.above is not None:
        known = f"A matchup ends once it is known whether the first agent wins more or less than {ladder.above:.0%}"
    if rule.leader:
        known = "A free-for-all ends once one agent is known to win more than each other one"
        matchups = [found for lineup, found in results.matchups.items() if set(lineup) == set(standing.agents)]
    else:
        pairs = [pair for pair in standing.shares if pair[0] != pair[1]]
        matchups = [results.matchups[pair] for pair in pairs if pair in results.matchups]  # of two players one way
    played = [matchup.shares() for matchup in matchups]
    going = sum(len(shares) > 0 and rule.after(shares) is None for shares in played)
    undecided = f"{going} {'are' if going > 1 else 'is'} still undecided" if going else "all are decided"
    if len(played) == 1:
        undecided = "it is still undecided" if going else "it is decided"
    ratings = "; ratings are somewhat too far apart, and their intervals too narrow" if standing.ratings else ""
    return f" {known}; {undecided}. The intervals of win shares allow for looking after every deal{ratings}."


def cycle_note(standing: Standings) -> str:
    """Name a cycle of agents of which each beats the next, or say that there is none; empty for less than three."""
    if len(standing.agents) < 3:
        return ""
    number = {agent: place for place, agent in enumerate(standing.agents, 1)}
    cycle = [str(number[agent]) for agent in shortest_cycle(standing.beaten())]
    return f"A cycle: {' beats '.join([*cycle, cycle[0]])}." if cycle else "No cycle among the pairs that have met."


def cooperative_part(ladder: Ladder, folder: Path) -> str | None:
    """The tables of win rates of a cooperative game; None if nothing has been played."""
    path = folder / ladder.name / "wins.json"
    if not path.exists():
        return None
    config, wins = cooperative_config(ladder, folder, True), CooperativeResults(path)
    head, rows = cooperative.victories(config, wins)
    if not rows:
        return None
    names = table_names(list(dict.fromkeys(row[0] for row in rows)))
    about = "Share of the games won with the agent in every seat, 95 % intervals."
    if any(parse_agent_spec(agent).cheats for agent in names):
        about += " *Cheating* sees all cards: what this search wins where nothing is hidden."
    if ladder.note:
        about += f" {ladder.note}"
    parts = [f"### {ladder.title}", about, table(head, [[names[agent], *cells] for agent, *cells in rows])]
    if ended := cooperative.endings(config, wins):
        parts += [
            "How games ended, where that was noted:",
            table(ended[0], [[names[agent], *cells] for agent, *cells in ended[1]]),
        ]
    commits = sorted({commit for found in wins.commits.values() for commit in found})
    machines = sorted({machine for found in wins.machines.values() for machine in found})
    lines = [
        *(f"- {name}: `{agent}`" for agent, name in names.items() if name != f"`{agent}`"),
        f"- Code: commit {', '.join(commits)}",
        f"- Machine: {'; '.join(machines)}",
        "- To play a cell again; to play what the table lacks of its full form:",
    ]
    agent = rows[0][0]
    cell = next(variant for variant in cooperative.variants(config).values() if wins.rate(agent, variant))
    commands = [
        f'python -m experiments.reproduce {ladder.name} {agent} "{cell.spec}"',
        f"python -m experiments.leaderboard --full --only {ladder.name}",
    ]
    return "\n\n".join([*parts, "\n".join([*lines, "", "```sh", *commands, "```"])])


def page(folder: Path = RESULTS, file: Path = LIST) -> str:
    """The whole of LEADERBOARD.md.

    Raises:
        ValueError: a file is damaged.
    """
    ladders, cooperative_ladders = read_ladders(file)
    sections: dict[str, list[str]] = {}
    for ladder in sorted(ladders, key=lambda ladder: read_spec(ladder.game).num_players or 0) + cooperative_ladders:
        part = ladder_part(ladder, folder) if ladder in ladders else cooperative_part(ladder, folder)
        if part:
            sections.setdefault(read_spec(ladder.game).game.title, []).append(part)
    if exploited := best_responses.part(folder):
        sections[best_responses.TITLE] = [exploited]
    if not sections:
        return f"{TITLE}\n\n{NOTHING}\n"
    strongest = by_time(json.decode(best(folder, file), type=Best).variants)
    contents = "\n".join(line for title, parts in sections.items() for line in _contents(title, parts))
    text = [f"## {title}\n\n" + "\n\n".join(parts) for title, parts in sections.items()]
    return "\n\n".join([TITLE, HEAD.format(by_time=strongest, contents=contents).rstrip(), *text]) + "\n"


def _contents(title: str, parts: Sequence[str]) -> list[str]:
    """Links to a section and to the tables in it."""
    heads = [part.partition("\n")[0].removeprefix("### ") for part in parts if part.startswith("### ")]
    links = {head: head.removeprefix(title).lstrip(",: ") for head in heads}
    return [f"- [{title}](#{anchor(title)})", *(f"  - [{text}](#{anchor(head)})" for head, text in links.items())]


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
    head = ["game", "agent", "rating", f"win share against `{ANCHOR}`", "CPU time"]
    return table(head, rows) if rows else NOTHING


def readme_part() -> dict[str, dict[str, str]]:
    """The README's table of strength, by page and name."""
    return {"README.md": {"ladder": in_short()}}
