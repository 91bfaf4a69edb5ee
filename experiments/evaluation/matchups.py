"""The games of a tournament so far, kept in a JSON file with all that is needed to repeat them."""

import json
import math
import platform
import re
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
from msgspec import Meta, Struct

from agents.old_names import current_spec
from experiments.common.provenance import add_new
from experiments.evaluation.matches import MATCH_SEED
from experiments.evaluation.stopping import ALL, StopRule
from samurai_env import __version__, parse_variant
from samurai_env.core.game import Variant
from samurai_env.core.texts import one_line, shown
from samurai_env.files.atomic_write import write_atomically
from samurai_env.files.json_reader import in_form, read_json

Pair = tuple[str, str]  # the one agent and the others, who are all alike
Lineup = Pair | tuple[str, ...]  # the agents of a matchup: a pair, or with three and more players those of all seats
SAME_SHARE = 1e-9  # shares that differ by less are the same


Share = Annotated[float, Meta(ge=0.0, le=1.0)]
Seconds = Annotated[float, Meta(ge=0.0)]
Natural = Annotated[int, Meta(ge=0, le=2**62)]


class KeptMatchup(Struct):
    """A matchup in the file; see `Matchup`, and `_as_json` for the shares."""

    one: str
    others: str | Annotated[list[str], Meta(min_length=2)]
    commits: list[str]
    machines: list[str]
    seconds: list[Seconds]
    decisions: list[Natural]
    shares: list[list[Share] | None]


class KeptResults(Struct):
    """The form of the file; see `Results`."""

    variant: str
    command: str
    versions: dict[str, str]
    deal_seeds: str
    networks: dict[str, str]
    matchups: list[KeptMatchup]


class Chunk(NamedTuple):
    """Some deals of a matchup as a worker played them."""

    lineup: Lineup
    first: int
    """Number of the first deal."""
    shares: list[list[float]]
    """See `Matchup.deals`."""
    seconds: list[float]
    """Processor time that each agent thought."""
    decisions: list[int]
    """Decisions that each agent made."""
    machine: str
    """Where it was."""


@dataclass
class Matchup:
    """One agent among copies of another, or as many agents as seats, on duplicate deals.

    Attributes:
        deals: by number of the deal: the one agent's win share by its seat; of as many agents as seats the win shares
            of the first in each game of the deal, those of the second, and so on.
        seconds: processor time that each agent thought.
        decisions: that each agent made in that time.
        commits: of the code that played.
        machines: on which it played.
    """

    deals: dict[int, list[float]] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    decisions: list[int] = field(default_factory=list)
    commits: list[str] = field(default_factory=list)
    machines: list[str] = field(default_factory=list)

    def shares(self, deals: int | None = None, rule: StopRule = ALL) -> np.ndarray:
        """Win shares in order of deals, from the first on and without a gap.

        Args:
            deals: no more than these; None for all.
            rule: no more than it wants.

        Returns:
            float64 (deals, seats), or (deals, agents * games) of as many agents as seats.
        """
        rows: list[list[float]] = []
        while len(rows) in self.deals and len(rows) != deals:
            rows.append(self.deals[len(rows)])
        found = np.array(rows, float)
        return found[: rule.after(found)]

    def add(self, chunk: Chunk, commit_: str) -> None:
        """Keep what a worker played, with the commit of the code."""
        self.deals.update(enumerate(chunk.shares, chunk.first))
        nothing = [0] * len(chunk.lineup)
        self.seconds = [sum(times) for times in zip(self.seconds or nothing, chunk.seconds, strict=True)]
        self.decisions = [sum(counts) for counts in zip(self.decisions or nothing, chunk.decisions, strict=True)]
        for kept, now in ((self.commits, commit_), (self.machines, chunk.machine)):
            add_new(kept, now)


def versions() -> dict[str, str]:
    """Versions of what plays."""
    found = {"samurai_env": __version__, "python": platform.python_version()}
    for package in ("numpy", "numba", "torch"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _read_kept(path: Path) -> KeptResults:
    """Read results.json, also one with the names of before."""
    found = _current(read_json(path, dict[str, Any]))
    try:
        return in_form(found, KeptResults)
    except ValueError as error:
        raise ValueError(f"{one_line(path, 120)} is damaged: {one_line(error, 100)}") from None


class Results:
    """All matchups of a tournament.

    Attributes:
        path: the file.
        variant: spec of what is played.
        matchups: by line-up.
        networks: by spec of an agent, the hash of the files that it names (`experiments.common.file_hashes`).
        origin: with what the file was last written: command, versions, seeds.
    """

    def __init__(self, path: Path, variant: str | None = None, first_deal: int = 0) -> None:
        """Read the file, or start an empty one.

        Args:
            path: the file, which need not exist if the variant is given.
            variant: spec of what it has to hold; None for whatever it holds.
            first_deal: number of the deal with which its matchups have to begin, if a variant is given.

        Raises:
            ValueError: it is damaged, or holds games of another variant or of other deals.
        """
        self.path, self.matchups, self.networks = path, dict[Lineup, Matchup](), dict[str, str]()
        self.origin: dict[str, Any] = {}
        self.seeds = f"{MATCH_SEED} + number of the deal" + (f", from deal {first_deal} on" if first_deal else "")
        if variant is None or path.exists():
            self._read(variant)
        else:
            self.variant = variant

    def _read(self, variant: str | None) -> None:
        try:
            self._take(_read_kept(self.path))
        except ValueError as error:
            hint = "move it away or choose another --output"
            raise ValueError(one_line(f"{one_line(error, 230)}; {hint}")) from None
        if variant is not None and variant != self.variant:
            raise ValueError(
                f"{self.path} holds games of {one_line(self.variant, 120)}; move it away or choose another --output"
            )
        if variant is not None and self.origin["deal_seeds"] != self.seeds:
            held = f"with seeds {shown(self.origin['deal_seeds'])}, not {self.seeds}"
            raise ValueError(f"{self.path} holds deals {held}; move it away or choose another --output")

    def seed_of(self, deal: int) -> int:
        """The seed of one of the deals of the matchups, which count from 0.

        Raises:
            ValueError: the file does not say it.
        """
        said = str(self.origin.get("deal_seeds", self.seeds))
        found = re.fullmatch(r"([0-9]{1,18}) \+ number of the deal(?:, from deal ([0-9]{1,18}) on)?", said)
        if not found:
            raise ValueError(f"{one_line(self.path, 120)} does not say the seeds of its deals, but {shown(said)}")
        return int(found[1]) + int(found[2] or 0) + deal

    def _take(self, saved: KeptResults) -> None:
        """Keep what the file holds, if it can have been played."""
        self.variant = saved.variant
        self.networks = {current_spec(spec): digits for spec, digits in saved.networks.items()}
        self.origin = {"command": saved.command, "versions": saved.versions, "deal_seeds": saved.deal_seeds}
        variant = parse_variant(saved.variant)
        players = variant.num_players
        for found in saved.matchups:
            others = [found.others] if isinstance(found.others, str) else found.others
            lineup = tuple(map(current_spec, (found.one, *others)))
            name = f"{one_line(self.path, 120)} is damaged: the matchup of {shown(found.one, 40)}"
            if lineup in self.matchups or (len(lineup) > 2 and set(lineup) in map(set, self.matchups)):
                raise ValueError(f"{name} with {shown(', '.join(others), 40)} stands there twice")
            if len(lineup) > 2:
                _check_free_for_all(name, lineup, variant)
            if not len(found.seconds) == len(found.decisions) == len(lineup):
                raise ValueError(f"{name} has times or decisions of another number of agents than {len(lineup)}")
            size = players if len(lineup) == 2 else players**2
            deals = {number: row for number, row in enumerate(found.shares) if row is not None}
            for number, row in deals.items():
                if len(row) != size:
                    raise ValueError(f"{name} has {len(row)} win shares in deal {number}, the game has {size}")
                if not variant.game.cooperative and (share := _impossible_share(row, players)) is not None:
                    possible = "0, 1 and, if the win is shared, " + " or ".join(f"1/{n}" for n in range(2, players + 1))
                    raise ValueError(f"{name} has a win share of {share} in deal {number}; possible are {possible}")
                games = [sum(row[game::players]) for game in range(players)]
                if len(lineup) > 2 and not all(math.isclose(total, 1.0, rel_tol=SAME_SHARE) for total in games):
                    raise ValueError(f"{name} has a game in deal {number} with more or less than one win")
            self.matchups[lineup] = Matchup(deals, found.seconds, found.decisions, found.commits, found.machines)

    def write(self, command: str) -> None:
        """Write everything; `command` is what repeats it."""
        self.origin = {
            "command": command,
            "versions": versions(),
            "deal_seeds": self.seeds,
        }
        contents = {"variant": self.variant, **self.origin, "networks": self.networks}
        contents["matchups"] = [_as_json(lineup, found) for lineup, found in self.matchups.items() if found.deals]
        text = json.dumps(contents, separators=(",", ":"))
        self.path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(self.path, text + "\n")


def _check_free_for_all(name: str, lineup: Lineup, variant: Variant) -> None:
    """Refuse a free-for-all that nobody can have played."""
    if variant.game.cooperative:
        raise ValueError(f"{name} has {len(lineup)} agents; {variant.game.title} is cooperative")
    if len(lineup) != variant.num_players:
        raise ValueError(f"{name} has {len(lineup)} agents, the game has {variant.num_players} seats")
    if len(set(lineup)) < len(lineup):
        raise ValueError(f"{name} has an agent twice")


def _current(found: dict[str, Any]) -> dict[str, Any]:
    """Convert a file to the present names: in older files `matchups` are `meetings`."""
    return {"matchups" if key == "meetings" else key: value for key, value in found.items()}


def _impossible_share(row: list[float], players: int) -> float | None:
    """The first share that is not that of a loser or of one of so many winners; None if there is none."""
    possible = (0.0, *(1 / winners for winners in range(1, players + 1)))
    return next(
        (share for share in row if not any(math.isclose(share, value, rel_tol=SAME_SHARE) for value in possible)), None
    )


def _as_json(lineup: Lineup, matchup: Matchup) -> dict[str, Any]:
    """A matchup for the file: shares in a list by number of the deal, null where one was not played."""
    rows = [matchup.deals.get(number) for number in range(max(matchup.deals) + 1)]
    return {
        "one": lineup[0],
        "others": lineup[1] if len(lineup) == 2 else lineup[1:],
        "commits": matchup.commits,
        "machines": matchup.machines,
        "seconds": matchup.seconds,
        "decisions": matchup.decisions,
        # Most shares are 0 or 1: as integers they need half the room.
        "shares": [row and [int(share) if share == int(share) else share for share in row] for row in rows],
    }
