"""The games of a cooperative game that agents played, kept in a JSON file with all that is needed to repeat them."""

import json
import platform
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from msgspec import Struct

from agents.old_names import current_spec
from experiments.common.provenance import add_new
from experiments.evaluation.matches import MATCH_SEED, Estimate, wilson
from experiments.evaluation.matchups import Natural, Seconds, Share
from samurai_env import __version__, parse_variant
from samurai_env.core.game import Variant
from samurai_env.core.texts import one_line, shown
from samurai_env.files.atomic_write import write_atomically
from samurai_env.files.json_reader import read_json


class Played(NamedTuple):
    """Some games of an agent as a worker played them."""

    agent: str
    variant: str
    first: int
    """Number of the first game."""
    returns: list[float]
    ends: dict[str, int]
    """How many ended in which way, where the game tells."""
    seconds: float
    """Processor time that the agent thought."""
    decisions: int
    """Decisions that it made."""
    machine: str
    """Where it was."""


class KeptReturns(Struct):
    """The returns of an agent's games of a variant: lists by number of their first game.

    `ends` has how many of these games ended in which way, also by first game; older files have none. So with the time.
    """

    agent: str
    variant: str
    commits: list[str]
    machines: list[str]
    chunks: dict[Natural, list[Share]]
    ends: dict[Natural, dict[str, Natural]] = {}
    seconds: Seconds = 0.0
    decisions: Natural = 0


class KeptCooperativeResults(Struct):
    """The form of the file; see `CooperativeResults`."""

    networks: dict[str, str]
    returns: list[KeptReturns]


class CooperativeResults:
    """The returns of the games played, by (agent, variant) and number of the first game of a chunk; kept in a file."""

    def __init__(self, path: Path) -> None:
        """Read the file, or start an empty one.

        Raises:
            ValueError: it is damaged, or counts a game twice.
        """
        self.path = path
        self.returns: dict[tuple[str, str], dict[int, list[float]]] = {}
        self.commits: dict[tuple[str, str], list[str]] = {}  # that played: a table may grow in several runs
        self.machines: dict[tuple[str, str], list[str]] = {}  # on which
        self.ends: dict[tuple[str, str], dict[int, dict[str, int]]] = {}  # how many ended in which way, by first game
        self.thought: dict[tuple[str, str], tuple[float, int]] = {}  # processor time and decisions
        self.networks: dict[str, str] = {}  # by agent, the hashes of the files that it names
        if not path.exists():
            return
        try:
            self._take(read_json(path, KeptCooperativeResults))
        except ValueError as error:
            hint = "move it away or choose another --output"
            raise ValueError(one_line(f"{one_line(error, 230)}; {hint}")) from None

    def _take(self, saved: KeptCooperativeResults) -> None:
        """Keep what the file holds, if it can have been played."""
        self.networks = {current_spec(spec): digits for spec, digits in saved.networks.items()}
        for found in saved.returns:
            key = current_spec(found.agent), found.variant
            name = f"{one_line(self.path, 120)} is damaged: {shown(found.agent, 40)}"
            if key in self.returns:
                raise ValueError(f"{name} stands there twice with {shown(found.variant)}")
            if not parse_variant(found.variant).game.cooperative:
                raise ValueError(f"{name} played {shown(found.variant)}, which is not cooperative")
            end = 0
            for first, chunk in sorted(found.chunks.items()):
                if first < end:
                    raise ValueError(f"{name} has game {first} in two chunks")
                end = first + len(chunk)
            for first, ends in found.ends.items():
                played, ended = len(found.chunks.get(first, ())), sum(ends.values())
                if ends and ended != played:
                    raise ValueError(f"{name} has {shown(ended)} ends of the {played} games from {first} on")
            self.returns[key] = found.chunks
            self.commits[key], self.machines[key] = found.commits, found.machines
            self.ends[key], self.thought[key] = found.ends, (found.seconds, found.decisions)

    def add(self, played: Played, commit_: str) -> None:
        """Keep what a chunk returned, and the commit that played it."""
        agent, variant = played.agent, played.variant
        self.returns[agent, variant][played.first] = played.returns
        self.ends.setdefault((agent, variant), {})[played.first] = played.ends
        seconds, decisions = self.thought.get((agent, variant), (0.0, 0))
        self.thought[agent, variant] = seconds + played.seconds, decisions + played.decisions
        for kept, now in ((self.commits, commit_), (self.machines, played.machine)):
            add_new(kept.setdefault((agent, variant), []), now)

    def write(self) -> None:
        """Write all results with what is needed to repeat them."""
        contents = {
            "version": __version__,
            "python": platform.python_version(),
            "deal_seeds": f"{MATCH_SEED} + number of the game",
            "networks": self.networks,
            "returns": [
                {
                    "agent": agent,
                    "variant": variant,
                    "commits": self.commits[agent, variant],
                    "machines": self.machines[agent, variant],
                    "chunks": {str(first): [_short(value) for value in chunks[first]] for first in sorted(chunks)},
                    **self._more(agent, variant),
                }
                for (agent, variant), chunks in self.returns.items()
                if chunks
            ],
        }
        self.path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(self.path, json.dumps(contents) + "\n")

    def _more(self, agent: str, variant: str) -> dict[str, Any]:
        """Columns that older files lack: ways of ending and time."""
        ends = self.ends.get((agent, variant), {})
        seconds, decisions = self.thought.get((agent, variant), (0.0, 0))
        more: dict[str, Any] = {"ends": {str(first): ends[first] for first in sorted(ends)}} if ends else {}
        return more | ({"seconds": round(seconds, 6), "decisions": decisions} if decisions else {})

    def seconds(self, agent: str, variant: str) -> float | None:
        """Processor time of a decision; None if it was not measured."""
        seconds, decisions = self.thought.get((agent, variant), (0.0, 0))
        return seconds / decisions if decisions else None

    def ways(self, agent: str, variant: str) -> dict[str, int]:
        """How many games ended in which way, most frequent first; empty where that was not noted."""
        counts = Counter[str]()
        for ends in self.ends.get((agent, variant), {}).values():
            counts.update(ends)
        return dict(counts.most_common())

    def rate(self, agent: str, variant: Variant) -> tuple[Estimate, int] | None:
        """Mean return with its interval, and the number of games; None without games."""
        games = [value for chunk in self.returns.get((agent, variant.spec), {}).values() for value in chunk]
        if not games:
            return None
        mean = float(np.mean(games))
        low, high = wilson(mean, len(games))
        return Estimate(mean, max(0.0, low), min(1.0, high)), len(games)


def _short(value: float) -> float:
    """A return for the file: as an integer, if it is one, it needs half the room."""
    return int(value) if value == int(value) else value
