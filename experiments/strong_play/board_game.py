"""Measurements in the board game: first hands, tiles by turn, places, captures, majorities."""

from dataclasses import dataclass

import numpy as np

from experiments.strong_play.general import ratio
from experiments.strong_play.recording import Games
from experiments.strong_play.statistics import PerGame
from samurai_env.games.board.actions import IDLE, LAND0, SEA0, SPOT0
from samurai_env.games.board.rules.tiles import COPIES, FIGURES, KIND_CODES, KIND_NAMES, KINDS, QUICK
from samurai_env.games.board.rules.topology import (
    LAND,
    LAND_BESIDE,
    LANDS,
    SEA,
    SEA_BESIDE,
    SEAS,
    SETTLEMENT,
    SETTLEMENTS,
)
from samurai_env.games.board.state import FIGURE_FIRST, FIGURE_SECOND, FIRST_HAND, SETUP, TILE
from samurai_env.games.board.state import LAND as ON_LAND
from samurai_env.games.board.state import SEA as ON_SEA

EARLY = 3  # turns of a player that count as the opening
TURNS = 12  # that are shown one by one
GROUPS = ("own", "samurai", "ship", "ronin", "exchange")  # "own": for one kind of figure
SIZES = ("village", "city", "Edo")
MARGINS = ("tie", "1", "2", "3", "more")


def _group(name: str) -> int:
    if name in FIGURES:
        return 0
    return GROUPS.index("exchange" if name.endswith("exchange") else name)


GROUP = np.array([_group(name) for name in KIND_NAMES])
IS_QUICK = np.array([bool(int(QUICK) >> kind & 1) for kind in range(KINDS)])


@dataclass(frozen=True)
class Turns:
    """The turns of some games.

    Attributes:
        number: int64 (decisions,): of the decision's turn, counted on through all games; -1 in the set-up.
        own: int64 (decisions,): of the same turn among those of its seat and game, from 1 on; 0 in the set-up.
        game, seat: int64 (turns,).
    """

    number: np.ndarray
    own: np.ndarray
    game: np.ndarray
    seat: np.ndarray


def turns(games: Games) -> Turns:
    """Find where turns begin: another seat, or the same one again with a full hand or its compulsory tile to play."""
    states, game = games.states, games.game
    seat, n = states["seat"].astype(np.int64), games.variant.num_players
    playing = (states["phase"] != FIRST_HAND) & (states["phase"] != SETUP)
    held = states["hand_size"][np.arange(len(seat)), seat].astype(np.int64)
    fresh = np.ones(len(seat), bool)
    fresh[1:] = (
        (game[1:] != game[:-1])
        | ~playing[:-1]
        | (seat[1:] != seat[:-1])
        | (states["may_end"][1:] < states["may_end"][:-1])
        | (held[1:] > held[:-1])
    )
    begins = np.flatnonzero(fresh & playing)
    number = np.cumsum(fresh & playing) - 1
    of_game, of_seat = game[begins], seat[begins]
    owner = of_game * n + of_seat
    order = np.argsort(owner, kind="stable")
    own = np.empty(len(begins), np.int64)
    own[order] = np.arange(len(begins)) - np.searchsorted(owner[order], owner[order]) + 1
    return Turns(np.where(playing, number, -1), np.where(playing, own[number], 0), of_game, of_seat)


def measure(games: Games) -> dict[str, PerGame]:
    """Measure games of the board game."""
    found = turns(games)
    return {
        **_hands(games),
        **_tiles(games, found),
        **_places(games, found),
        **_captures(games, found),
        **_figures(games),
    }


# --- Sums by game and counted seat ---


def _count(games: Games, game: np.ndarray, seat: np.ndarray, item: np.ndarray, items: int) -> np.ndarray:
    """How often each seat has each item, float64 (games, seats, items); NaN for seats that are not counted."""
    count, n = games.counted.shape
    cell = (game * n + seat) * items + item
    found = np.bincount(cell, minlength=count * n * items).reshape(count, n, items).astype(float)
    found[~games.counted] = np.nan
    return found


def _mean(by_seat: np.ndarray) -> np.ndarray:
    """The mean over seats, NaN where no seat has a value."""
    known = np.isfinite(by_seat)
    return ratio(np.where(known, by_seat, 0).sum(1), known.sum(1))


def _of_phase(games: Games, phase: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Game, seat and action of the decisions of a phase."""
    now = games.states["phase"] == phase
    return games.game[now], games.states["seat"][now].astype(np.int64), games.actions[now]


# --- Hands and tiles ---


def _hands(games: Games) -> dict[str, PerGame]:
    return {"hand": PerGame(KIND_CODES, _mean(_count(games, *_of_phase(games, FIRST_HAND), KINDS)))}


def _tiles(games: Games, found: Turns) -> dict[str, PerGame]:
    """What is played, in which turn, and how many tiles a turn has."""
    played = (games.states["phase"] == TILE) & (games.actions < KINDS)
    game, seat = games.game[played], games.states["seat"][played].astype(np.int64)
    kind, number, own = games.actions[played], found.number[played], found.own[played]
    tiles = _count(games, game, seat, kind, KINDS)
    by_turn = _count(games, game, seat, GROUP[kind] * TURNS + np.minimum(own, TURNS) - 1, len(GROUPS) * TURNS)
    shape = (*games.counted.shape, KINDS)
    when = np.bincount((game * shape[1] + seat) * KINDS + kind, own, minlength=int(np.prod(shape))).reshape(shape)
    closing = _closing(games, found)
    closed = _count(games, game[closing[number]], seat[closing[number]], kind[closing[number]], KINDS)

    quick = np.bincount(number, IS_QUICK[kind], minlength=len(found.game))
    kinds_of_turn = [np.ones(len(quick), bool), quick > 0, quick > 1, closing]
    total = [_count(games, found.game[sel], found.seat[sel], np.zeros(sel.sum(), np.int64), 1) for sel in kinds_of_turn]
    all_turns = total[0]
    pace = [all_turns, ratio(np.nansum(tiles, 2, keepdims=True), all_turns), *(ratio(t, all_turns) for t in total[1:])]
    idle = _of_phase(games, FIGURE_FIRST)
    idles = _count(games, *idle[:2], (idle[2] == IDLE).astype(np.int64), 2)
    labels = [f"{group} {turn}" for group in GROUPS for turn in range(1, TURNS + 1)]
    return {
        "played": PerGame(KIND_CODES, _mean(tiles / COPIES)),
        "when": PerGame(KIND_CODES, _mean(ratio(when, tiles))),
        "closing": PerGame(KIND_CODES, _mean(ratio(closed, tiles))),
        "by_turn": PerGame(labels, _mean(by_turn)),
        "turns": PerGame(("number", "tiles", "quick", "two quick", "closing"), _mean(np.concatenate(pace, 2))),
        "idle": PerGame(("share",), _mean(ratio(idles[:, :, 1:], idles.sum(2, keepdims=True)))),
    }


# --- Places ---


def _places(games: Games, found: Turns) -> dict[str, PerGame]:
    """Where tiles are laid in the first turns of each player (by whomever), and beside what by counted seats."""
    n = games.variant.num_players
    lands, seas = int(LANDS[n]), int(SEAS[n])
    phase, early = games.states["phase"], found.own <= EARLY
    laid = ((phase == ON_LAND) | (phase == ON_SEA)) & early
    game, seat = games.game[laid], games.states["seat"][laid].astype(np.int64)
    place = games.actions[laid] - LAND0
    assert int(SEA0[n]) == LAND0 + lands
    cells = np.bincount(game * (lands + seas) + place, minlength=len(games.ends) * (lands + seas))
    values = (cells > 0).reshape(len(games.ends), -1).astype(float)
    sizes = np.array([s.size for s in SETTLEMENT] + [0] * (100 - len(SETTLEMENT)))
    on_land = place < lands
    size = sizes[LAND_BESIDE[place[on_land]]].max(1) - 1
    beside = _count(games, game[on_land], seat[on_land], size, len(SIZES))
    near = (SEA_BESIDE[place[~on_land] - lands] < int(SETTLEMENTS[n])).sum(1)
    ships = _count(games, game[~on_land], seat[~on_land], near, 3)
    return {
        "places": PerGame([h.label for h in LAND[:lands] + SEA[:seas]], values),
        "beside": PerGame(SIZES, _mean(ratio(beside, beside.sum(2, keepdims=True)))),
        "ships": PerGame(("none", "one", "two"), _mean(ratio(ships, ships.sum(2, keepdims=True)))),
    }


# --- Captures ---


def _figures_before(games: Games) -> np.ndarray:
    """The figures as they stand when captures are made, uint64 (decisions, kinds): an exchange has been done."""
    figures = games.states["figures"].copy()
    swaps = np.flatnonzero(games.states["phase"] == FIGURE_SECOND)
    n = games.variant.num_players
    towns = int(SETTLEMENTS[n]) - 1
    first, second = games.states["from_spot"][swaps].astype(np.int64), games.actions[swaps] - int(SPOT0[n])
    both = np.left_shift(np.uint64(1), (first % towns + 1).astype(np.uint64))
    both |= np.left_shift(np.uint64(1), (second % towns + 1).astype(np.uint64))
    figures[swaps, first // towns] ^= both
    figures[swaps, second // towns] ^= both
    return figures


@dataclass(frozen=True)
class Captures:
    """Figures that left the board: arrays (captures,) of int64.

    Attributes:
        decision: after which.
        settlement, figure: what.
        taker: the seat that took it, -1 if it was set aside.
        margin: strength of the best player over the next; 0 if it was set aside.
    """

    decision: np.ndarray
    settlement: np.ndarray
    figure: np.ndarray
    taker: np.ndarray
    margin: np.ndarray


def captures(games: Games) -> Captures:
    """Find all captures: figures that stand before a decision and on no settlement after it."""
    after, playing = games.after, games.states["phase"] != SETUP
    gone = _figures_before(games) & ~after["figures"]
    gone[~playing] = 0
    bits = np.arange(int(SETTLEMENTS[games.variant.num_players]), dtype=np.uint64)
    left = np.right_shift(gone[:, :, None], bits) & np.uint64(1)
    decision, figure, settlement = np.nonzero(left)
    strengths = np.sort(after["influence"][decision, :, settlement, figure].astype(np.int64), axis=1)
    margin = strengths[:, -1] - strengths[:, -2]
    taker = after["influence"][decision, :, settlement, figure].argmax(1)
    return Captures(decision, settlement, figure, np.where(margin > 0, taker, -1), margin)


def _closing(games: Games, found: Turns) -> np.ndarray:
    """Which turns end with a capture, bool (turns,)."""
    closing = np.zeros(len(found.game), bool)
    closing[found.number[captures(games).decision]] = True
    return closing


def _captures(games: Games, found: Turns) -> dict[str, PerGame]:
    """By how much figures are won, and who wins those that a turn of one's own decides."""
    taken, count = captures(games), len(games.ends)
    game = games.game[taken.decision]
    closer = games.states["seat"][taken.decision].astype(np.int64)
    counted = taken.taker >= 0
    counted[counted] = games.counted[game[counted], taken.taker[counted]]
    bucket = np.minimum(taken.margin, len(MARGINS) - 1)
    margins = np.bincount(game * len(MARGINS) + bucket, minlength=count * len(MARGINS)).reshape(count, -1)
    ahead = np.bincount(game[counted], taken.margin[counted], count)
    won_by = ratio(ahead, np.bincount(game[counted], minlength=count))[:, None]
    mine = games.counted[game, closer]
    closes = np.column_stack(
        [
            np.bincount(game[mine & (taken.taker == closer)], minlength=count),
            np.bincount(game[mine & (taken.taker == -1)], minlength=count),
            np.bincount(game[mine & (taken.taker >= 0) & (taken.taker != closer)], minlength=count),
        ]
    )
    return {
        "margin": PerGame(MARGINS, ratio(margins, margins.sum(1, keepdims=True))),
        "lead": PerGame(("mean",), won_by),
        "closer": PerGame(("own", "aside", "other"), ratio(closes, closes.sum(1, keepdims=True))),
        **_first_capture(games, found, taken),
    }


def _first_capture(games: Games, found: Turns, taken: Captures) -> dict[str, PerGame]:
    """Which settlement goes first and when, whether its taker wins; how many go at all."""
    game, count = games.game[taken.decision], len(games.ends)
    sizes = np.array([s.size for s in SETTLEMENT[: SETTLEMENTS[games.variant.num_players]]]) - 1
    some = np.flatnonzero(np.bincount(game, minlength=count))  # games with a capture
    begins = np.searchsorted(game, some)
    taker, closer = taken.taker[begins], taken.decision[begins]
    first = np.zeros((count, len(SIZES)))
    first[some, sizes[taken.settlement[begins]]] = 1
    facts = np.full((count, 4), np.nan)
    facts[some, 0] = found.own[closer]
    facts[some, 1] = found.own[closer] == 1
    facts[some, 2] = games.states["seat"][closer] == games.states["first_seat"][closer]
    facts[some, 3] = np.where(taker >= 0, games.returns[some, taker] == 1, np.nan)
    once = np.unique(np.column_stack([game, taken.settlement]), axis=0)
    decided = np.bincount(once[:, 0] * len(SIZES) + sizes[once[:, 1]], minlength=count * len(SIZES))
    total = np.bincount(sizes, minlength=len(SIZES))
    return {
        "first": PerGame(SIZES, first),
        "first_capture": PerGame(("turn", "turn one", "first seat", "wins"), facts),
        "decided": PerGame(SIZES, decided.reshape(count, -1) / total),
    }


# --- Figures ---


def _figures(games: Games) -> dict[str, PerGame]:
    """How many figures of which kinds winners and losers have, how games are won and how they end.

    A shared win has no winner and no loser.
    """
    captured = games.ends["captured"].astype(float)  # (games, seats, kinds)
    kinds = -np.sort(-captured, 2)
    won = games.returns == 1
    most = captured.max(1, keepdims=True)
    majority = (captured == most) & ((captured == most).sum(1, keepdims=True) == 1)
    majorities = majority.sum(2)
    names = ("best", "second", "third")

    def of(seats: np.ndarray) -> np.ndarray:
        return _mean(np.where((seats & games.counted)[:, :, None], kinds, np.nan))

    sole = won.any(1)
    winners = np.where(sole, (majorities * won).sum(1), -1)
    ways = np.column_stack([winners >= 2, winners == 1, winners == 0, ~sole]).astype(float)
    aside = games.ends["aside"].sum(1)
    own = np.where(games.counted[:, :, None], captured.sum(2, keepdims=True), np.nan)
    others = np.where(games.counted[:, :, None], np.nan, captured.sum(2, keepdims=True))
    return {
        "winner": PerGame(names, of(won)),
        "loser": PerGame(names, of(~won & sole[:, None])),
        "figures": PerGame(("own", "others", "aside"), np.column_stack([_mean(own), _mean(others), aside])),
        "won_by": PerGame(("two", "one", "none", "shared"), ways),
        "end": PerGame(("tied",), (aside >= 4)[:, None].astype(float)),
    }
