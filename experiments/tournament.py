"""Let agents play each other on duplicate deals.

    python -m experiments.tournament --agents random,greedy,mcts:1000 --deals 500

Every pair meets: one agent among copies of the other, on the same deals from every seat, and the other way
round with more than two players; each agent also meets copies of itself, which must give par. With three and more
players a free-for-all seats as many different agents as there are seats instead. Win shares are shown with 95 %
intervals over deals, ratings and alpha-rank with resampled deals. Results go to a JSON file as they come; the same
command resumes, and more agents or deals may be added later.
"""

import textwrap
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from importlib.util import find_spec
from io import StringIO
from itertools import combinations, product
from pathlib import Path
from typing import Annotated

import numpy as np
from rich.console import Console
from rich.table import Table

from agents.best import named
from agents.registry import make_agent
from agents.settings import Range
from agents.spec import split_agent_specs
from experiments.common.cli import GameSpec, command_line, make_folder, progress_bar, run_program, save_picture
from experiments.common.file_hashes import check_file_hash
from experiments.common.interrupts import Interrupt
from experiments.common.periodic_save import PeriodicSave
from experiments.common.provenance import commit, machine
from experiments.common.ranges import Count, Seed, check_fits, check_ranges
from experiments.common.tasks import WorkerSettings
from experiments.common.tasks import results as results_of
from experiments.evaluation.matches import Timed, free_for_all, one_against_others, warm_agent
from experiments.evaluation.matchups import Chunk, Lineup, Matchup, Results
from experiments.evaluation.standings import Standings, span, standings
from experiments.evaluation.stopping import StopRule
from samurai_env import parse_variant
from samurai_env.core.game import Variant
from samurai_env.files.atomic_write import write_atomically

# Spec of the variant, line-up, first deal of the tournament, of the task (from there), number of deals.
Task = tuple[str, Lineup, int, int, int]


@dataclass
class Config(WorkerSettings):
    """Settings of a tournament."""

    agents: tuple[str, ...] = ("random", "greedy")
    """Specs of the agents, separated by blanks or commas."""
    game: GameSpec = "samurai"
    """The game with its number of players and options."""
    deals: Count = 200
    """Deals of each matchup, at most; each is played from every seat."""
    first_deal: Seed = 0
    """Number of the first deal: an agent that was tuned on some deals is measured on others."""
    width: float | None = None
    """End a matchup once its interval is no wider, such as 0.06 for 3 points up and down."""
    winner: bool = False
    """End a matchup once it is known who wins more than par, a free-for-all once it is known who wins most; intervals
    are wider, so that one may look at any time."""
    above: float | None = None
    """End a matchup once it is known whether the first agent's win share is above or below this; as --winner."""
    mirror: bool = True
    """Also let every agent play copies of itself: a control that must give par."""
    free_for_all: bool = False
    """With 3 and more players: seat as many different agents as there are seats, every choice of them on every deal."""
    output: Path = Path("runs/tournament")
    """Folder for results.json, table.txt and payoff.png."""
    chunk: Annotated[int, Range(1, 10**4)] = 5
    """Deals that a worker plays at a time: 1 for agents that think long, more for networks, which decide together."""

    def __post_init__(self) -> None:
        self.agents = split_agent_specs(self.agents)

    @property
    def rule(self) -> StopRule:
        """When a matchup ends before all deals are played."""
        return StopRule.of_table(self.winner, self.above, self.free_for_all, self.width)


def play_chunk(task: Task) -> Chunk:
    """Worker: a line-up on some deals."""
    variant, lineup, begin, first, deals = task
    agents = [Timed(warm_agent(spec, variant)) for spec in lineup]
    play_deals = one_against_others if len(lineup) == 2 else free_for_all
    shares = play_deals(parse_variant(variant), agents, begin + first, deals).reshape(deals, -1)
    return Chunk(lineup, first, shares.tolist(), [a.seconds for a in agents], [a.decisions for a in agents], machine())


def lineups_to_meet(config: Config, players: int) -> list[Lineup]:
    """Line-ups to be played: (one, others), or the agents of a free-for-all."""
    if config.free_for_all:
        return list(combinations(config.agents, players))
    pairs: list[Lineup] = []
    for i, one in enumerate(config.agents):
        for j, other in enumerate(config.agents):
            if (i == j and config.mirror) or i < j or (i > j and players > 2):
                pairs.append((one, other))
    return pairs


def stop(matchup: Matchup, config: Config) -> int | None:
    """The number of deals at which a matchup ended; None as long as it has not."""
    return config.rule.after(matchup.shares(config.deals))


def missing(results: Results, config: Config, lineups: Sequence[Lineup]) -> Iterator[Task]:
    """List what is still to be played; the results are read before each step.

    Free-for-alls go on together, deal by deal: an agent that has met the strongest more often than another has would
    look weak.
    """
    chunks = range(0, config.deals, config.chunk)
    order = [*product(lineups, chunks)]
    if config.free_for_all:
        order.sort(key=lambda task: task[1])
    for lineup, first in order:
        matchup = results.matchups[lineup]
        deals = [d for d in range(first, min(first + config.chunk, config.deals)) if d not in matchup.deals]
        if deals and stop(matchup, config) is None:
            yield results.variant, lineup, config.first_deal, deals[0], deals[-1] - deals[0] + 1


def prepare(config: Config) -> Results:
    """Load the results so far and enter all agents; refuse impossible settings.

    Raises:
        ValueError: names what is wrong.
        OSError: the output folder cannot be made, or a network is not there.
    """
    check_ranges(config)
    rule = config.rule  # refuses what does not go together
    if len(config.agents) < 1 + (not config.mirror):
        raise ValueError("--agents are two or more; one plays itself with --mirror")
    if len(set(config.agents)) != len(config.agents):
        raise ValueError(f"an agent is named twice in {', '.join(config.agents)}")
    variant = parse_variant(config.game)
    if rule.sequential and variant.game.cooperative:
        raise ValueError(f"--winner and --above are for games that somebody wins; {variant.game.title} is cooperative")
    if config.free_for_all:
        _check_free_for_all(config, variant)
    for spec in config.agents:
        make_agent(spec, variant)  # fail before anything is played
    _check_deals(config, variant)
    make_folder(config.output)
    results = Results(config.output / "results.json", variant.spec, config.first_deal)
    for lineup in results.matchups:
        if (len(lineup) > 2) != config.free_for_all:
            held = "one agent among copies of another" if config.free_for_all else "free-for-alls"
            raise ValueError(f"{results.path} holds games of {held}; choose another --output")
    for spec in config.agents:
        check_file_hash(spec, results.networks, results.path)
    return results


def _check_deals(config: Config, variant: Variant) -> None:
    """Refuse more deals than the file of results may hold, before they are played."""
    players = variant.num_players
    numbers = players**2 if config.free_for_all else players  # of a deal
    digits = 6 if players == 2 else 20  # of a number: a third has all
    matchups = max(1, len(lineups_to_meet(config, players)))
    instead = "play others with --first-deal into another --output"
    check_fits("deals", config.deals, matchups * numbers * digits, instead)


def _check_free_for_all(config: Config, variant: Variant) -> None:
    """Refuse settings that a free-for-all has no use for."""
    players = variant.num_players
    if variant.game.cooperative or players == 2:
        why = "is cooperative" if variant.game.cooperative else "has 2 players, of whom every pair meets anyway"
        raise ValueError(f"--free-for-all is for 3 and more players who play against each other; {variant.spec} {why}")
    if len(config.agents) < players:
        raise ValueError(f"--free-for-all needs {players} agents or more here, not {len(config.agents)}")
    if config.width is not None or config.above is not None:
        raise ValueError("--width and --above are for one agent among copies, not for --free-for-all")
    if config.winner and len(config.agents) > players:
        raise ValueError(
            f"--free-for-all with --winner has as many agents as seats, {players} here, not {len(config.agents)}"
        )


def in_kept_order(lineups: Sequence[Lineup], results: Results, config: Config) -> list[Lineup]:
    """Line-ups with their agents in the order in which results so far name them, so that these go on.

    Raises:
        ValueError: `config.above` is about the agent that is named first, and the results name another first.
    """
    known = {frozenset(lineup): lineup for lineup in results.matchups}
    kept = [lineup if lineup in results.matchups else known.get(frozenset(lineup), lineup) for lineup in lineups]
    for old, new in zip(kept, lineups, strict=True):
        if config.above is not None and old != new:
            raise ValueError(
                f"--above is about the agent named first: name {old[0]} before the other, as {results.path} does"
            )
    return kept


def settled(matchup: Matchup, config: Config) -> int:
    """Count the deals of a matchup that need not be played any more."""
    return config.deals if stop(matchup, config) else len(matchup.shares(config.deals))


def drop_late_deals(results: Results, config: Config, fresh: dict[Lineup, set[int]]) -> None:
    """Remove, of the `fresh` deals, those after the end of their matchup: how many there are depends on the workers."""
    for lineup, deals in fresh.items():
        end = stop(results.matchups[lineup], config) or config.deals
        for deal in [deal for deal in deals if deal >= end]:
            del results.matchups[lineup].deals[deal]
            deals.remove(deal)


def play(
    config: Config, console: Console, interrupt: Interrupt | None = None, lineups: Sequence[Lineup] | None = None
) -> Results:
    """Play what is missing, of all line-ups or those given; Ctrl-C (or `interrupt`) stops and keeps what is done."""
    results = prepare(config)
    players = parse_variant(results.variant).num_players
    lineups = lineups_to_meet(config, players) if lineups is None else lineups
    if players == 2 or config.free_for_all:
        lineups = in_kept_order(lineups, results, config)
    done = {lineup: settled(results.matchups.setdefault(lineup, Matchup()), config) for lineup in lineups}
    command, now = command_line("experiments.tournament", WorkerSettings().given_to(config)), commit()
    fresh = defaultdict[Lineup, set[int]](set)

    def write() -> None:
        drop_late_deals(results, config, fresh)
        results.write(command)

    with (
        PeriodicSave(write) as save,
        interrupt or Interrupt() as interrupt,
        progress_bar(console, "deals", config.deals * len(lineups), sum(done.values())) as bar,
        closing(results_of(play_chunk, missing(results, config, lineups), config, lambda: interrupt.asked)) as coming,
    ):
        for _, chunk in coming:
            matchup = results.matchups[chunk.lineup]
            matchup.add(chunk, now)
            fresh[chunk.lineup].update(range(chunk.first, chunk.first + len(chunk.shares)))
            done[chunk.lineup] = settled(matchup, config)
            bar(sum(done.values()), (", " if config.free_for_all else " among ").join(chunk.lineup))
            save.added()
    return results


def caption(config: Config, found: Standings) -> str:
    """Describe what the numbers of a table rest on."""
    deals = span(list(found.deals.values()))
    text = f"{deals} deal{'' if deals == '1' else 's'} a matchup, each from {found.variant.num_players} seats"
    text = f"{text}; {config.rule}" if str(config.rule) else text
    if config.rule.sequential and found.ratings:
        text += "; intervals of ratings do not allow for that and are too narrow"
    if found.one_way:
        text += "; no ratings: each pair met one way round only (one agent among copies of the other)"
    return text


def show(config: Config, results: Results, console: Console) -> None:
    """Print the table and write table.txt and payoff.png."""
    found = standings(results, config.agents, config.deals, config.rule)
    others = found.variant.num_players - 1
    meaning = f"win share of one (row) among {others} (column)"
    if config.free_for_all:
        meaning = "row's share of the wins of row and column"
    title = f"{found.variant.spec}: {meaning}, 95 % intervals"
    table = Table(title=title, caption=caption(config, found))
    for name in found.head(found.agents):
        table.add_column(name, justify="left" if name == "agent" else "right", overflow="fold")
    for agent in found.agents:
        table.add_row(*found.row(agent, found.agents))
    needed = 80 + 30 * len(found.agents)
    (console if console.is_terminal else Console(file=console.file, width=needed, quiet=console.quiet)).print(table)
    written = StringIO()
    Console(file=written, width=needed).print(table)
    write_atomically(config.output / "table.txt", written.getvalue())
    draw(found, f"{title}; {caption(config, found)}", config.output / "payoff.png")
    what = "results, table and picture" if find_spec("matplotlib") else "results and table"
    console.print(f"{what} are in {config.output}")


def draw(found: Standings, title: str, path: Path) -> None:
    """The payoff matrix as a picture; nothing without matplotlib."""
    if not find_spec("matplotlib"):
        return
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.colors import TwoSlopeNorm
    from matplotlib.figure import Figure

    size = len(found.agents)
    grid = np.full((size, size), np.nan)
    width = 4.0 + 1.3 * size
    figure = Figure(figsize=(width, 2.4 + 0.9 * size), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for (one, other), share in found.shares.items():
        i, j = found.agents.index(one), found.agents.index(other)
        grid[i, j] = share.mean
        dark = not 0.1 < share.mean < 0.9
        axes.text(j, i, f"{share.mean:.1%}", ha="center", va="center", color="white" if dark else "black")
    par = 0.5 if found.variant.game.cooperative or found.wins else 1.0 / found.variant.num_players
    axes.imshow(grid, norm=TwoSlopeNorm(par, 0, 1), cmap="RdYlBu")  # par is pale
    names = [textwrap.fill(agent.replace(",", ", "), 24) for agent in found.agents]
    axes.set_xticks(range(size), names, rotation=30, ha="right", fontsize=8)
    axes.set_yticks(range(size), names, fontsize=8)
    figure.suptitle(textwrap.fill(title, int(13 * width)), fontsize=8)
    save_picture(figure, path)


def main(config: Config) -> None:
    """Play and show; `best` enters under the name of the agent that it stands for."""
    console, interrupt = Console(), Interrupt()
    variant = parse_variant(config.game)
    config = replace(config, agents=tuple(named(spec, variant) for spec in config.agents))
    show(config, play(config, console, interrupt), console)
    interrupt.end()


if __name__ == "__main__":
    run_program("experiments.tournament", Config, main, __doc__)
