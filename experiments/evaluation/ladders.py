"""The tables of the leaderboard: the list, `experiments/leaderboard.toml`, and the standings of each."""

import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from experiments.common.markdown import variant_title
from experiments.common.provenance import ROOT
from experiments.evaluation.matchups import Results
from experiments.evaluation.standings import Standings, standings
from experiments.evaluation.stopping import StopRule
from samurai_env.core.texts import listed, one_line, shown
from samurai_env.core.variant_spec import EXAMPLE, read_spec
from samurai_env.files.json_reader import in_form

LIST = ROOT / "experiments" / "leaderboard.toml"
LARGEST = 2**16  # bytes of the list


@dataclass(frozen=True)
class Ladder:
    """One table.

    Attributes:
        name: folder of its results.
        game: spec of the game; all numbers of players are played if a cooperative one names none.
        agents: specs of the agents.
        deals: of each matchup (games of each agent and variant, if cooperative) in the short form.
        full_deals: the same in the full form.
        slow: agents that play in the full form only.
        width: a matchup ends once its interval is no wider (ratings only).
        winner: a matchup ends once it is known who wins more than par, a free-for-all once it is known who wins most
            (ratings only).
        above: a matchup ends once it is known whether its first agent wins more than this share (ratings only).
        vary: cooperative games: an option of which every value is played.
        about: what is special about the table, for its title.
        note: more of that, for the text below it.
        chunk: deals that a worker plays at a time (ratings only).
        first_deal: number of the first deal, for agents that were tuned on earlier ones (ratings only).
        mirror: whether agents also play themselves (ratings only).
        readme: whether the README shows its agents (ratings only).
        free_for_all: as many different agents as seats meet, not one among copies of another (ratings only).
        needs: a module of another project that an agent needs; where it is missing, the table is not played.
    """

    name: str
    game: str
    agents: tuple[str, ...]
    deals: int
    full_deals: int
    slow: tuple[str, ...] = ()
    width: float | None = None
    winner: bool = False
    above: float | None = None
    vary: str | None = None
    about: str = ""
    note: str = ""
    chunk: int = 5
    first_deal: int = 0
    mirror: bool = True
    readme: bool = False
    free_for_all: bool = False
    needs: str | None = None

    @property
    def title(self) -> str:
        """The game, its number of players unless they vary, and what the table is about."""
        game, players, _ = read_spec(self.game)
        variant = game.title if players is None else variant_title(self.game)
        return variant + (f": {self.about}" if self.about else "")


def read_ladders(path: Path = LIST) -> tuple[list[Ladder], list[Ladder]]:
    """The tables of ratings and those of win rates.

    Raises:
        ValueError: the file is damaged, or a table has an unknown setting or lacks one.
    """
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
        if len(data) > LARGEST:
            raise ValueError(f"it has more than {LARGEST:,} bytes")
        found = tomllib.loads(data.decode())
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is damaged: {one_line(error, 150)}") from None
    ladders: dict[str, list[Ladder]] = {"ladder": [], "cooperative": []}
    for kind, entries in found.items():
        if kind not in ladders:
            raise ValueError(f"{path} has [[{one_line(kind, 40)}]]; it may have [[ladder]] and [[cooperative]]")
        for entry in entries if isinstance(entries, list) else [entries]:
            ladders[kind].append(_ladder(path, entry))
    return ladders["ladder"], ladders["cooperative"]


def _ladder(path: Path, entry: Any) -> Ladder:
    """A table of the file."""
    name = "a table without a name"
    try:
        settings = in_form(entry, dict[str, Any])
        name = one_line(settings.get("name", name), 40)
        known = sorted(each.name for each in fields(Ladder))
        if {"players", "options"} & settings.keys():
            raise ValueError(f"players and options are part of game, as in {EXAMPLE!r}")
        if unknown := settings.keys() - set(known):
            raise ValueError(f"no setting {shown(min(unknown), 30)}; it has {listed(known)}")
        return in_form(settings, Ladder)
    except ValueError as error:
        raise ValueError(f"{one_line(path, 80)}: {name} is wrong: {one_line(error, 200)}") from None


def rule_of(ladder: Ladder) -> StopRule:
    """When its matchups end, as far as intervals have to know of it.

    Where `width` ends them, all deals that were played count, also those that workers were at when it was reached.
    """
    return StopRule.of_table(ladder.winner, ladder.above, ladder.free_for_all)


def results_of(ladder: Ladder, folder: Path) -> tuple[Results, Standings] | None:
    """The results and standings of a ladder among its agents; None if nothing has been played.

    Args:
        ladder: the table.
        folder: of the results of all tables.

    Raises:
        ValueError: the results are damaged.
    """
    path = folder / ladder.name / "results.json"
    if not path.exists():
        return None
    results = Results(path)
    named = (*ladder.agents, *ladder.slow)
    met = [set(lineup) for lineup, found in results.matchups.items() if 0 in found.deals]
    met = [lineup for lineup in met if len(lineup) > 1 and lineup <= set(named)]
    agents = tuple(agent for agent in named if any(agent in lineup for lineup in met))
    return (results, standings(results, agents, rule=rule_of(ladder))) if agents else None
