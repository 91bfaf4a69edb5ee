"""Observations, int8: the encodings `flat`, `tokens` and `planes`.

Seat-relative: player 0 of an observation is the observer, player 1 the next seat clockwise, and so on. Villages stand
in their order of laying, as in the action ids. An observation is a function of what the seat may know; the tests hold
each against determinization. The functions that write get `at`, the offsets of the encoding's blocks, and expect zeros
where they write nothing.
"""

from collections.abc import Callable, Iterable
from functools import cache

import numpy as np

from samurai_env.core.bits import EMPTY, ONE, has, spread, store
from samurai_env.core.encoding import Block, Encoding, Entities, block_offsets, copy_block
from samurai_env.core.jit import inlined, jit, scratch
from samurai_env.games.card.actions import CELL0
from samurai_env.games.card.rules.cards import (
    CARDS,
    HAND,
    KINDS,
    STONES_EACH,
    STRENGTH,
    VILLAGE_CODES,
    VILLAGES_BY_SYMBOLS,
)
from samurai_env.games.card.rules.kernels import cell_x, cell_y, last_round, stones_left, waiting_side
from samurai_env.games.card.rules.scoring import surrounded
from samurai_env.games.card.rules.setup import hand_size
from samurai_env.games.card.rules.topology import REACH, STEP_X, STEP_Y, VILLAGES
from samurai_env.games.card.state import CELL, PHASES, VILLAGE

VILLAGE_KINDS = len(VILLAGE_CODES)
STRONGEST = int(STRENGTH.max())


# --- Parts that several encodings have ---


def _village_blocks(n: int, rows: tuple[int, ...]) -> list[Block]:
    """The blocks of a village; `rows` is the leading axis, if any."""
    by = "by village; " if rows else "village: "
    return [
        Block("laid", rows or (1,), (0, 1), by + "it lies on the table; all of the following is 0 if not"),
        Block("place", (*rows, 2), (-REACH, REACH), by + "places east and south of the first village"),
        Block("symbols", (*rows, 3), (0, 1), by + "symbols on it, by shape"),
        Block("scored", rows or (1,), (0, 1), by + "all four sides are filled, so it has been scored"),
        Block("influence", (*rows, 3, n), (0, 4 * STRONGEST), by + "influence, by shape, player"),
        Block("free", (*rows, 4), (0, 1), by + "by side: a free cell that bears the name of this village"),
        Block("owner", (*rows, 4, n), (0, 1), by + "by side: one-hot: the player whose card lies there"),
        Block("strength", (*rows, 4, 3), (0, STRONGEST), by + "by side: strength of the card there, by shape"),
    ]


def _player_blocks(rows: tuple[int, ...]) -> list[Block]:
    """The blocks of a player; `rows` is the leading axis, if any."""
    by = "by player; " if rows else ""
    return [
        Block("unseen", (*rows, KINDS), (0, CARDS), by + "cards in hand and stack together, by kind"),
        Block("hand_size", rows or (1,), (0, HAND), by + "cards in the hand"),
        Block("stack_size", rows or (1,), (0, CARDS), by + "cards in the stack"),
        Block("stones", (*rows, 3), (0, VILLAGES), by + "stones taken, by shape"),
        Block("first", rows or (1,), (0, 1), by + "begins every round"),
        Block("to_move", rows or (1,), (0, 1), by + "decides now"),
    ]


_TABLE_BLOCKS = [
    Block("supply", (3,), (0, int(STONES_EACH.max())), "stones in the supply, by shape"),
    Block("top", (3,), (0, 1), "symbols on the top village card, by shape"),
    Block("next", (3,), (0, 1), "symbols on the village card below it, seen while a place is chosen"),
    Block(
        "village_stack",
        (VILLAGE_KINDS,),
        (0, max(VILLAGES_BY_SYMBOLS.values())),
        "cards in the village stack, the visible ones among them: " + ", ".join(VILLAGE_CODES),
    ),
    Block("phase", (len(PHASES),), (0, 1), "one-hot: what is decided now, none once over: " + ", ".join(PHASES)),
    Block("last_round", (1,), (0, 1), "the end has been called: the game ends with this round"),
    Block("chosen", (KINDS,), (0, 1), "one-hot: the card that the observer has chosen and not yet laid"),
]
_HAND_BLOCK = Block("hand", (KINDS,), (0, HAND), "observer: own cards in the hand, by kind")
_WAITING_BLOCK = Block(
    "waiting", (2, 2), (-REACH, REACH), "cell0 and cell1: places east and south of the first village"
)


@inlined
def write_village(state, observer, village, out, at, row):
    """Write the village blocks of a laid village as their row `row`."""
    n = state.hand.shape[0]
    out[at.laid + row] = 1
    out[at.place + 2 * row] = state.village_x[village]
    out[at.place + 2 * row + 1] = state.village_y[village]
    for shape in range(3):
        out[at.symbols + 3 * row + shape] = state.village_stack[village] >> shape & 1
    out[at.scored + row] = surrounded(state, village)
    influence, free = at.influence + 3 * n * row, at.free + 4 * row
    owners, strengths = at.owner + 4 * n * row, at.strength + 12 * row
    for side in range(4):
        card = state.side[village, side] - 1
        if card >= 0:
            player, kind = (card // KINDS - observer + n) % n, card % KINDS
            out[owners + side * n + player] = 1
            for shape in range(3):
                out[influence + shape * n + player] += STRENGTH[kind, shape]
                out[strengths + side * 3 + shape] = STRENGTH[kind, shape]
        else:
            action = CELL0 + 4 * village + side
            out[free + side] = has(state.free[action >> 6], action & 63)


@inlined
def write_player(state, observer, player, out, at, row):
    """Write the player blocks of one player as their row `row`."""
    seat = (observer + player) % state.hand.shape[0]
    for kind in range(KINDS):
        out[at.unseen + KINDS * row + kind] = state.unseen[seat, kind]
    out[at.hand_size + row] = hand_size(state, seat)
    out[at.stack_size + row] = state.stack.shape[1] - state.drawn[seat]
    for shape in range(3):
        out[at.stones + 3 * row + shape] = state.stones[seat, shape]
    out[at.first + row] = seat == state.first_seat
    out[at.to_move + row] = seat == state.seat and not state.over


@inlined
def write_table(state, observer, out, at):
    """Write the table blocks."""
    for shape in range(3):
        out[at.supply + shape] = max(0, stones_left(state, shape))
        if state.villages < VILLAGES:
            out[at.top + shape] = state.village_stack[state.villages] >> shape & 1
        if state.phase == VILLAGE and state.villages + 1 < VILLAGES:
            out[at.next + shape] = state.village_stack[state.villages + 1] >> shape & 1
    counts = EMPTY
    for place in range(VILLAGES):  # all of them, so that the compiler makes vectors of it
        below = np.uint64(place >= state.villages)
        counts += below << np.uint64(8 * (state.village_stack[place] - 1))
    store(counts, 8, out, at.village_stack)  # one entry too many, of the next block
    out[at.phase + state.phase] = not state.over
    out[at.last_round] = last_round(state)
    if state.phase == CELL and state.seat == observer:
        out[at.chosen + state.card] = 1


@inlined
def waiting_place(state, choice):
    """Coordinates of the place number `choice` that waits for a village card."""
    side = waiting_side(state, choice)
    return cell_x(state, state.laid) + STEP_X[side], cell_y(state, state.laid) + STEP_Y[side]


@inlined
def write_waiting(state, out, at):
    """Write the block `waiting`."""
    if state.phase == VILLAGE:
        for choice in range(2):
            x, y = waiting_place(state, choice)
            out[at.waiting + 2 * choice], out[at.waiting + 2 * choice + 1] = x, y


# --- flat ---


@cache
def flat(num_players: int) -> Encoding:
    """A vector for networks without an idea of the grid (the default)."""
    n = num_players
    blocks = (*_village_blocks(n, (VILLAGES,)), _HAND_BLOCK, *_player_blocks((n,)), *_TABLE_BLOCKS, _WAITING_BLOCK)
    return Encoding((_size(blocks),), 0, blocks, "one number an entry", Entities(VILLAGES, CELL0, 4))


def _size(blocks: tuple[Block, ...]) -> int:
    return sum(b.size for b in blocks)


FLAT = block_offsets(flat, (2, 3, 4))


@inlined
def observe_flat(state, seat, out):
    """Write the `flat` encoding of what `seat` sees into `out` (int8, its size)."""
    n = state.hand.shape[0]
    at = FLAT[n]
    out[:] = 0
    write_villages(state, seat, out, at)
    copy_block(state.hand[seat], out, at.hand)
    for player in range(n):
        write_player(state, seat, player, out, at, player)
    write_table(state, seat, out, at)
    write_waiting(state, out, at)


def _bytes(values: Iterable[int]) -> np.uint64:
    """Up to eight small numbers as the bytes of a word, the first one lowest."""
    return np.uint64(int.from_bytes(bytes(values), "little"))


def _side_words(write: Callable[[int, int, int], list[int]]) -> np.ndarray:
    """By number of players, observer and entry of the field `side`: the word of `write(n, player, kind)`; 0 if free."""
    words = np.zeros((5, 4, 4 * KINDS + 1), np.uint64)
    for n in (2, 3, 4):
        for observer, owner, kind in np.ndindex(n, n, KINDS):
            words[n, observer, 1 + KINDS * owner + kind] = _bytes(write(n, (owner - observer) % n, kind))
    return words


def _influence(n: int, player: int, kind: int) -> list[int]:
    """The influence of a card, by shape, player."""
    return (STRENGTH[kind][:, None] * (np.arange(n) == player)).ravel().tolist()


# Entries of blocks as words.
OWNER = _side_words(lambda n, player, kind: [i == player for i in range(n)])
STRENGTHS = _side_words(lambda n, player, kind: STRENGTH[kind].tolist())[4, 0]  # the same for all
INFLUENCE = _side_words(lambda n, player, kind: _influence(n, player, kind)[:8])
MORE_INFLUENCE = _side_words(lambda n, player, kind: _influence(n, player, kind)[8:])
SYMBOLS = np.array([_bytes(kind >> shape & 1 for shape in range(3)) for kind in range(8)])


@inlined
def write_villages(state, observer, out, at):
    """Write the village blocks as `write_village` does: a store that spills is covered by that of the next village."""
    n = state.hand.shape[0]
    spread((ONE << np.uint64(state.villages)) - ONE, 64, out, at.laid)
    for i in range(3):
        after = state.free[i + 1] << np.uint64(64 - CELL0) if i < 2 else EMPTY
        spread(state.free[i] >> np.uint64(CELL0) | after, 64, out, at.free + 64 * i)
    for village in range(min(state.villages, VILLAGES - 1)):
        out[at.place + 2 * village] = state.village_x[village]
        out[at.place + 2 * village + 1] = state.village_y[village]
        store(SYMBOLS[state.village_stack[village]], 4, out, at.symbols + 3 * village)
        scored, influence, more = True, EMPTY, EMPTY
        for side in range(4):
            card, cell = state.side[village, side], 4 * village + side
            scored &= card > 0
            influence += INFLUENCE[n, observer, card]
            more += MORE_INFLUENCE[n, observer, card]
            store(OWNER[n, observer, card], 4, out, at.owner + n * cell)
            store(STRENGTHS[card], 4, out, at.strength + 3 * cell)
        out[at.scored + village] = scored
        store(influence, 8, out, at.influence + 3 * n * village)
        if n > 2:
            store(more, 8, out, at.influence + 3 * n * village + 8)
    if state.villages == VILLAGES:  # spills nothing
        write_village(state, observer, VILLAGES - 1, out, at, VILLAGES - 1)


# --- tokens: one row a village, then one a player, then one for the table ---


@cache
def tokens(num_players: int) -> Encoding:
    """One row a village, player and table, for attention and graph networks."""
    n = num_players
    blocks = (
        Block("row_type", (3,), (0, 1), "one-hot: village, player, table"),
        *_village_blocks(n, ()),
        _HAND_BLOCK,
        *_player_blocks(()),
        *_TABLE_BLOCKS,
        _WAITING_BLOCK,
    )
    rows = "rows: 44 villages in order of laying (all 0 where not yet laid), players, table"
    return Encoding((VILLAGES + n + 1, _size(blocks)), 1, blocks, rows)


TOKENS = block_offsets(tokens, (2, 3, 4))


@jit
def observe_tokens(state, seat, out):
    """Write the `tokens` encoding of what `seat` sees into `out` (int8, rows x columns)."""
    n = state.hand.shape[0]
    at = TOKENS[n]
    out[:] = 0
    for village in range(state.villages):
        out[village, at.row_type] = 1
        write_village(state, seat, village, out[village], at, 0)
    for kind in range(KINDS):
        out[VILLAGES, at.hand + kind] = state.hand[seat, kind]
    for player in range(n):
        row = out[VILLAGES + player]
        row[at.row_type + 1] = 1
        write_player(state, seat, player, row, at, 0)
    table = out[VILLAGES + n]
    table[at.row_type + 2] = 1
    write_table(state, seat, table, at)
    write_waiting(state, table, at)


# --- planes: a window on the grid, all that is not on the grid spread over it ---

WINDOW = 21  # rows and columns; nearly every game fits; what lies outside is cut off (docs/games/card_game.md)


@cache
def planes(num_players: int) -> Encoding:
    """A window of the grid as planes of (row, column), for convolutions."""
    n = num_players
    everywhere = [_HAND_BLOCK, *_player_blocks((n,)), *_TABLE_BLOCKS]
    blocks = (
        Block("village_place", (1,), (0, 1), "a village card can lie here, no influence card"),
        Block("laid", (1,), (0, 1), "a village lies here"),
        Block("symbols", (3,), (0, 1), "symbols of the village, by shape"),
        Block("scored", (1,), (0, 1), "the village has been scored"),
        Block("influence", (3, n), (0, 4 * STRONGEST), "influence on the village, by shape, player"),
        Block("owner", (n,), (0, 1), "one-hot: the player whose card lies here"),
        Block("strength", (3,), (0, STRONGEST), "strength of the card, by shape"),
        Block("free", (1,), (0, 1), "a free cell beside a village"),
        Block("name_village", (1,), (0, VILLAGES - 1), "free cell: the village in its name"),
        Block("name_side", (1,), (0, 3), "free cell: the side in its name, N, E, S, W"),
        Block("waiting", (2,), (0, 1), "the places cell0 and cell1"),
        *[Block(b.name, b.shape, b.limits, b.meaning + "; same number everywhere") for b in everywhere],
    )
    rows = f"planes x {WINDOW} rows x {WINDOW} columns, the middle of all villages laid at row and column {WINDOW // 2}"
    return Encoding((_size(blocks), WINDOW, WINDOW), 0, blocks, rows)


@jit
def window_corner(state):
    """Coordinates of the window's first column and row: the middle between the outermost villages is its middle."""
    left, right, top, bottom = 0, 0, 0, 0
    for village in range(state.villages):
        x, y = np.int64(state.village_x[village]), np.int64(state.village_y[village])
        left, right, top, bottom = min(left, x), max(right, x), min(top, y), max(bottom, y)
    return (left + right) // 2 - WINDOW // 2, (top + bottom) // 2 - WINDOW // 2


@jit
def inside(x, y):
    """Whether a column and row belong to the window."""
    return 0 <= x < WINDOW and 0 <= y < WINDOW


PLANES = block_offsets(planes, (2, 3, 4))
MOST_PLANES = max(planes(n).shape[0] for n in (2, 3, 4))


@jit
def observe_planes(state, seat, out):
    """Write the `planes` encoding of what `seat` sees into `out` (int8, planes x rows x columns)."""
    n = state.hand.shape[0]
    at = PLANES[n]
    left, top = window_corner(state)
    local = at.hand  # from here on a plane is the same number everywhere
    row = scratch(MOST_PLANES, np.int8)
    row[:] = 0
    for kind in range(KINDS):
        row[at.hand + kind] = state.hand[seat, kind]
    for player in range(n):
        write_player(state, seat, player, row, at, player)
    write_table(state, seat, row, at)
    for plane in range(local, out.shape[0]):
        out[plane] = row[plane]
    out[:local] = 0
    for y in range(WINDOW):
        for x in range((left + top + y) & 1, WINDOW, 2):
            out[at.village_place, y, x] = 1
    for village in range(state.villages):
        paint_village(state, seat, village, out, state.village_x[village] - left, state.village_y[village] - top)
    if state.phase == VILLAGE:
        for choice in range(2):
            x, y = waiting_place(state, choice)
            if inside(x - left, y - top):
                out[at.waiting + choice, y - top, x - left] = 1


@jit
def paint_village(state, observer, village, out, x, y):
    """Paint a village at column x and row y of the window, and what lies on its sides."""
    n = state.hand.shape[0]
    at = PLANES[n]
    shown = inside(x, y)
    if shown:
        out[at.laid, y, x] = 1
        for shape in range(3):
            out[at.symbols + shape, y, x] = state.village_stack[village] >> shape & 1
        out[at.scored, y, x] = surrounded(state, village)
    for side in range(4):
        card = state.side[village, side] - 1
        side_x, side_y = x + STEP_X[side], y + STEP_Y[side]
        side_shown = inside(side_x, side_y)
        if card >= 0:
            player, kind = (card // KINDS - observer + n) % n, card % KINDS
            if side_shown:
                out[at.owner + player, side_y, side_x] = 1
            for shape in range(3):
                if shown:
                    out[at.influence + shape * n + player, y, x] += STRENGTH[kind, shape]
                if side_shown:
                    out[at.strength + shape, side_y, side_x] = STRENGTH[kind, shape]
        elif side_shown:
            action = CELL0 + 4 * village + side
            if has(state.free[action >> 6], action & 63):
                out[at.free, side_y, side_x] = 1
                out[at.name_village, side_y, side_x] = village
                out[at.name_side, side_y, side_x] = side


ENCODINGS = {"flat": flat, "planes": planes, "tokens": tokens}
OBSERVE = {"flat": observe_flat, "planes": observe_planes, "tokens": observe_tokens}
