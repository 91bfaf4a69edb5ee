"""Tournaments and training beside the table: what the leaderboard measured, and folders named at the server's start."""

import math
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from msgspec import Struct

from agents.best import measured, nearest_measured
from agents.spec import parse_agent_spec
from experiments.common.markdown import variant_title
from experiments.common.provenance import RESULTS
from experiments.evaluation.cooperative_results import CooperativeResults
from experiments.evaluation.ladders import LIST, Ladder, read_ladders, results_of, rule_of
from experiments.evaluation.matchups import ALL, Matchup, Results
from experiments.evaluation.standings import Standings, duration, rating_text, standings
from experiments.evaluation.stopping import StopRule
from samurai_env import Variant, parse_variant
from samurai_env.core.texts import one_line
from samurai_env.files.json_reader import read_json

LARGEST = 2**23  # bytes of a network's card
RESULT_FILE, WIN_FILE, CARD = "results.json", "wins.json", "model.json"  # WIN_FILE: of a cooperative game


class Notes(Struct, frozen=True):
    """The training of a network, from its card."""

    curve: list[dict[str, float]] = []
    steps: int = 0


class Card(Struct):
    """The part of a network's card that is shown."""

    variant: str = ""
    notes: Notes = Notes()


def strengths(variant: Variant, agents: tuple[str, ...]) -> dict[str, Any]:
    """Strengths that the leaderboard measured of agents in a variant, or else in the one most like it.

    Returns:
        `agents`, by spec: `rating` (the win rate in a cooperative game) as text, and `time`, of a decision; and
        `measured`, the options of that one which differ from the variant's, "" if it is the same.
    """
    nearest = nearest_measured(variant)
    rows = measured().variants[nearest] if nearest else ()
    differing = " ".join(word for word in (nearest or "").split() if word not in variant.spec.split())
    found = {
        row.spec: {
            "rating": f"{row.strength:.0%} won" if variant.game.cooperative else f"rating {row.strength:+.0f}",
            "time": "" if row.seconds is None else duration(row.seconds),
        }
        for row in rows
        if row.spec in agents
    }
    return {"measured": differing, "agents": found}


@dataclass(frozen=True)
class Board:
    """A tournament that may be shown.

    Attributes:
        folder: of its results.
        ladder: the table of the leaderboard that it is; None for another tournament.
    """

    folder: Path
    ladder: Ladder | None = None

    @property
    def title(self) -> str:
        """What the table is about, or the folder."""
        return self.ladder.title if self.ladder else str(self.folder)

    @property
    def rule(self) -> StopRule:
        """When its matchups ended."""
        return rule_of(self.ladder) if self.ladder else StopRule()

    @property
    def file(self) -> Path:
        """Its results, which need not be there."""
        wins = self.folder / WIN_FILE
        return wins if wins.exists() else self.folder / RESULT_FILE


def boards(folders: tuple[Path, ...]) -> dict[str, Board]:
    """Tournaments with results, by name: the leaderboard's in its order, then those in the folders.

    A wheel has no list of the leaderboard's tables.
    """
    ladders = [ladder for kind in read_ladders() for ladder in kind] if LIST.exists() else []
    found = {ladder.name: Board(RESULTS / ladder.name, ladder) for ladder in ladders}
    found |= {str(folder): Board(folder) for folder in folders}
    return {name: board for name, board in found.items() if board.file.exists()}


def table_of(name: str, board: Board) -> dict[str, Any]:
    """A tournament's table: `agents` best first, with rating and time, and `cells`, the share of the row's agent.

    In a `free_for_all` that is its share of what it and the column's agent won. Of a `cooperative` game the table has
    `labels` (names of options that differ), `columns` (numbers of players), and `rows` with the `spec` of an agent,
    whether it `cheats`, the options' `values`, and `cells`, the rate of games won, None where nothing was played.

    Raises:
        ValueError: the results are damaged, or none of the leaderboard's agents have played.
    """
    file = board.file
    return _table(name, board, file, file.stat().st_mtime_ns)


@lru_cache(32)
def _table(name: str, board: Board, file: Path, changed: int) -> dict[str, Any]:
    return _win_rates(name, board, file) if file.name == WIN_FILE else _payoffs(name, board)


def _win_rates(name: str, board: Board, file: Path) -> dict[str, Any]:
    wins = CooperativeResults(file)
    settings: dict[tuple[str, ...], dict[int, Variant]] = {}
    played = [parse_variant(spec) for spec in dict.fromkeys(variant for _, variant in wins.returns)]
    if not played:
        raise ValueError(f"no games of {board.title} have been played yet")
    game = played[0].game
    labels = [label for label in game.options if len({variant.options[label] for variant in played}) > 1]
    for variant in played:
        values = tuple(game.option(label).text(variant.options[label]) for label in labels)
        settings.setdefault(values, {})[variant.num_players] = variant
    columns = sorted({variant.num_players for variant in played})
    return {
        "name": name,
        "title": board.ladder.title if board.ladder else game.title,
        "cooperative": True,
        "labels": labels,
        "columns": [f"{n} player{'s' if n > 1 else ''}" for n in columns],
        "rows": [
            {
                "spec": agent,
                "cheats": parse_agent_spec(agent).cheats,
                "values": values,
                "cells": [_rate(wins, agent, found[n]) if n in found else None for n in columns],
            }
            for agent in dict.fromkeys(agent for agent, _ in wins.returns)
            for values, found in settings.items()
            if any(wins.rate(agent, variant) for variant in found.values())
        ],
    }


def _rate(wins: CooperativeResults, agent: str, variant: Variant) -> dict[str, object] | None:
    """A cell: the rate of games won, as text too, the number of games and how they ended."""
    rate = wins.rate(agent, variant)
    if rate is None:
        return None
    ends = ", ".join(f"{way.replace('_', ' ')} {n}" for way, n in wins.ways(agent, variant.spec).items())
    return {"share": rate[0].mean, "text": str(rate[0]).strip(), "games": rate[1], "ends": ends}


def _payoffs(name: str, board: Board) -> dict[str, Any]:
    results, found = _standings(board)
    cells: dict[str, dict[str, dict[str, object]]] = {}
    for (one, other), share in found.shares.items():
        text = str(share).strip()
        cells.setdefault(one, {})[other] = {"share": share.mean, "text": text, "deals": found.deals[one, other]}
    return {
        "name": name,
        "title": board.ladder.title if board.ladder else variant_title(results.variant),
        "variant": results.variant,
        "par": 1 / 2 if found.wins else 1 / found.variant.num_players,
        "free_for_all": bool(found.wins),
        "agents": [
            {
                "spec": agent,
                "rating": rating_text(*found.ratings[agent]) if agent in found.ratings else "",
                "alpha_rank": f"{found.masses[agent]:.0%}" if agent in found.masses else "",
                "wins": str(found.wins[agent]).strip() if agent in found.wins else "",
                "time": duration(found.seconds[agent]) if agent in found.seconds else "",
            }
            for agent in found.agents
        ],
        "cells": cells,
    }


def _standings(board: Board) -> tuple[Results, Standings]:
    if board.ladder:
        found = results_of(board.ladder, board.folder.parent)
        if found is None:
            raise ValueError(f"no agents of {board.title} have met yet")
        return found
    results = Results(board.folder / RESULT_FILE)
    return results, standings(results, tuple(dict.fromkeys(agent for lineup in results.matchups for agent in lineup)))


def games_of(folder: Path, one: str, other: str, rule: StopRule = ALL) -> list[dict[str, float]]:
    """The games behind a cell, of the deals up to which the rule counts: deal, seat of the one, its win share.

    Raises:
        ValueError: these two have not met.
    """
    if not (folder / RESULT_FILE).exists():
        raise ValueError("no agents have met there")  # those of a cooperative game do not
    results = Results(folder / RESULT_FILE)
    turned = (one, other) not in results.matchups or not results.matchups[one, other].deals
    pair, variant = (other, one) if turned else (one, other), parse_variant(results.variant)
    if pair not in results.matchups or (turned and variant.num_players != 2):
        raise ValueError(f"{one_line(one, 60)} and {one_line(other, 60)} have not met there")
    games = []
    for deal, shares in enumerate(results.matchups[pair].shares(rule=rule).tolist()):
        for seat, share in enumerate(shares):
            won = 1 - share if turned and not variant.game.cooperative else share  # a team wins together
            games.append({"deal": deal, "seat": 1 - seat if turned else seat, "share": won})
    return sorted(games, key=lambda game: (game["deal"], game["seat"]))


@dataclass(frozen=True)
class PlayedGame:
    """A game of a tournament.

    Attributes:
        variant: what was played.
        players: specs by seat.
        salts: by seat, the salt of its agent's keys: its number in the matchup.
        seed: of the deal.
    """

    variant: Variant
    players: tuple[str, ...]
    salts: tuple[int, ...]
    seed: int


def game_of(folder: Path, one: str, other: str, deal: int, seat: int, rule: StopRule = ALL) -> PlayedGame:
    """The game behind a cell that has the one on this seat; arguments as for `games_of`.

    Raises:
        ValueError: that game has not been played.
    """
    if not any(game["deal"] == deal and game["seat"] == seat for game in games_of(folder, one, other, rule)):
        raise ValueError(f"deal {deal} was not played there with that agent on seat {seat}")
    results = Results(folder / RESULT_FILE)
    variant = parse_variant(results.variant)
    players = tuple(one if i == seat else other for i in range(variant.num_players))
    is_first = bool(results.matchups.get((one, other), Matchup()).deals)  # else the other is the matchup's first agent
    salts = tuple(int((i == seat) != is_first) for i in range(variant.num_players))
    return PlayedGame(variant, players, salts, results.seed_of(deal))


def runs(folders: tuple[Path, ...]) -> list[dict[str, Any]]:
    """Curves of training runs as far as they have come: by run `name`, `variant`, `steps`, and `curves` by entry."""
    found: list[dict[str, Any]] = []
    for folder in folders:
        path = folder / CARD
        if not path.exists():
            continue
        try:
            card = read_json(path, Card, LARGEST)
        except ValueError as error:
            found.append({"name": str(folder), "error": one_line(error), "curves": {}})
            continue
        points = [p for p in card.notes.curve if math.isfinite(p.get("steps", math.nan))]
        names = dict.fromkeys(key for point in points for key in point if key.startswith("win_"))
        curves = {
            name.removeprefix("win_share_").replace("win_rate", "together"): [
                [point["steps"], point[name]] for point in points if name in point and math.isfinite(point[name])
            ]
            for name in names
        }
        found.append(
            {"name": str(folder), "variant": card.variant, "steps": card.notes.steps, "curves": curves, "error": ""}
        )
    return found
