"""Observations, int8: the encodings `flat`, `tokens` and `planes`.

Seat-relative: player 0 of an observation is the observer, player 1 the next seat clockwise, and so on. An observation
is a function of what the seat may know; the tests hold each against determinization. The functions that write get `at`,
the offsets of the encoding's blocks, and expect zeros where they write nothing.
"""

from functools import cache

import numpy as np

from samurai_env.core.bits import EMPTY, has, popcount, rank, spread, within
from samurai_env.core.encoding import Block, Encoding, block_offsets, copy_block
from samurai_env.core.jit import inlined, jit, scratch
from samurai_env.games.board.rules.tiles import KIND_CODES, KINDS, MOVABLE, STRENGTH, TILES
from samurai_env.games.board.rules.topology import (
    LANDS,
    SEAS,
    SETTLEMENT,
    SETTLEMENT_LAND,
    SETTLEMENTS,
    hexes_in_play,
)
from samurai_env.games.board.state import PHASES

WEAK_SHIP = KIND_CODES.index("SH1")  # a ship of strength 1; the next kind is that of strength 2
HIDDEN = -1  # a captured count that the observer may not see


# --- Parts that every encoding has ---


def _player_blocks(players: tuple[int, ...]) -> list[Block]:
    """The blocks of a player; `players` is the leading axis, if any."""
    by = "by player; " if players else ""
    return [
        Block("unseen", (*players, KINDS), (0, 2), by + "tiles in hand and supply together, by kind"),
        Block("hand_size", players or (1,), (0, 5), by + "tiles in the hand"),
        Block("supply_size", players or (1,), (0, TILES), by + "tiles in the supply"),
        Block("captured", (*players, 3), (HIDDEN, 13), by + "figures captured, by kind; -1 where hidden"),
        Block("to_move", players or (1,), (0, 1), by + "decides now"),
    ]


_TABLE_BLOCKS = [
    Block("aside", (3,), (0, 13), "figures set aside, by kind"),
    Block("pool", (3,), (0, 13), "figures still to be placed in the set-up, by kind"),
    Block("phase", (len(PHASES),), (0, 1), "one-hot: what is decided now, none once over: " + ", ".join(PHASES)),
    Block("tile", (KINDS,), (0, 1), "one-hot: the kind of tile chosen and not yet placed"),
    Block("plain_played", (1,), (0, 1), "the turn's plain tile has been played"),
    Block("may_end", (1,), (0, 1), "the turn's compulsory tile has been played"),
    Block("edition_2016", (1,), (0, 1), "the rules are those of 2016"),
]


@inlined
def hides_captures(state):
    """Whether captured figures are behind screens, which are removed at the end."""
    return state.hide_captures and state.hand.shape[0] > 2 and not state.over


@inlined
def write_player(state, observer, player, out, at, row):
    """Write the player blocks of one player as their row `row`."""
    seat = (observer + player) % state.hand.shape[0]
    copy_block(state.unseen[seat], out, at.unseen + KINDS * row)
    out[at.hand_size + row] = state.hand_size[seat]
    out[at.supply_size + row] = state.supply_size[seat]
    hidden = player > 0 and hides_captures(state)
    for figure in range(3):
        out[at.captured + 3 * row + figure] = HIDDEN if hidden else state.captured[seat, figure]
    out[at.to_move + row] = seat == state.seat and not state.over


@inlined
def write_table(state, out, at):
    """Write the table blocks."""
    for figure in range(3):
        out[at.aside + figure] = state.aside[figure]
        out[at.pool + figure] = state.pool[figure]
    running = not state.over  # at the end nothing is decided and no turn goes on
    out[at.phase + state.phase] = running
    if state.tile >= 0:
        out[at.tile + state.tile] = 1
    out[at.plain_played] = state.plain_played if running else 0
    out[at.may_end] = state.may_end if running else 0
    out[at.edition_2016] = state.edition


# --- flat: every block a copy of a row of the state, or a bit set spread out ---
#
# Rows of settlements, land and sea are read and written 32 entries at a time. What is read behind a row are the fields
# that follow in the state; what is written behind it is a block that is written later.


@cache
def flat(num_players: int) -> Encoding:
    """A vector for networks without an idea of the map (the default)."""
    n = num_players
    towns, lands, seas = int(SETTLEMENTS[n]), int(LANDS[n]), int(SEAS[n])
    blocks = (
        Block("figures", (3, towns), (0, 1), "by kind, settlement: such a figure stands there"),
        Block("influence", (n, towns, 3), (0, 60), "by player, settlement, kind of figure"),
        Block("empty_land", (towns,), (0, 6), "by settlement: empty land hexes around it"),
        Block("land_owner", (n, lands), (0, 1), "by player, land hex: a tile of that player lies there"),
        Block("land_strength", (lands, 3), (0, 4), "by land hex, kind of figure: strength of the tile there"),
        Block("land_movable", (lands,), (0, 1), "by land hex: a token exchange could move the tile there"),
        Block("sea_strength", (n, seas), (0, 2), "by player, sea hex: strength of the ship there"),
        Block("hand", (KINDS,), (0, 2), "own tiles in the hand, by kind"),
        *_player_blocks((n,)),
        *_TABLE_BLOCKS,
        Block("from_land", (lands,), (0, 1), "one-hot: the tile that a token exchange moves"),
        Block("from_spot", (3, towns - 1), (0, 1), "one-hot: first figure of an exchange, by kind, settlement but Edo"),
    )
    return Encoding((sum(b.size for b in blocks),), 0, blocks, "one number an entry")


FLAT = block_offsets(flat, (2, 3, 4))


@inlined
def observe_flat(state, seat, out):
    """Write the `flat` encoding of what `seat` sees into `out` (int8, its size)."""
    n, towns = state.hand.shape[0], state.influence.shape[1]
    lands, seas = state.land_tile.shape[0], state.sea_tile.shape[0]
    at = FLAT[n]
    out[:] = 0
    for figure in range(3):
        for town in range(0, towns, 32):
            spread(state.figures[figure] >> np.uint64(town), 32, out, at.figures + figure * towns + town)
    for player in range(n):
        owner, row = (seat + player) % n, at.influence + 3 * towns * player
        copy_block(state.influence[owner], out, row)
    for town in range(towns):
        out[at.empty_land + town] = popcount(SETTLEMENT_LAND[town] & state.land_free)
    for player in range(n):
        first, row = 1 + KINDS * ((seat + player) % n), at.land_owner + lands * player
        for land in range(0, lands, 32):
            spread(within(state.land_tile, land, 32, first, KINDS), 32, out, row + land)
    copy_block(state.land_strength, out, at.land_strength)
    movable = EMPTY
    for owner in range(n):
        movable |= state.movable[owner]
    for land in range(0, lands, 32):
        spread(movable >> np.uint64(land), 32, out, at.land_movable + land)
    write_ships(state, seat, out, at.sea_strength, seas)
    copy_block(state.hand[seat], out, at.hand)
    for player in range(n):
        write_player(state, seat, player, out, at, player)
    write_table(state, out, at)
    if state.from_land >= 0:
        out[at.from_land + state.from_land] = 1
    if state.from_spot >= 0:
        out[at.from_spot + state.from_spot] = 1


@inlined
def write_ships(state, observer, out, start, seas):
    """Write the strengths of the ships, by player and sea hex."""
    n = state.hand.shape[0]
    for player in range(n):
        first, row = 1 + KINDS * ((observer + player) % n) + WEAK_SHIP, start + seas * player
        for sea in range(0, seas, 32):
            rank(state.sea_tile, sea, 32, first, 2, out, row + sea)


# --- tokens: one row a hex, then one a player, then one for the table ---


def _hex_blocks(n: int) -> list[Block]:
    return [
        Block("terrain", (3,), (0, 1), "one-hot: settlement, open land, sea"),
        Block("size", (1,), (0, 3), "settlement: figures it holds at the start"),
        Block("figures", (3,), (0, 1), "settlement: figures on it, by kind"),
        Block("influence", (3, n), (0, 60), "settlement: influence, by kind of figure, player"),
        Block("empty_land", (1,), (0, 6), "settlement: empty land hexes around it"),
        Block("owner", (n,), (0, 1), "one-hot: the player whose tile lies there"),
        Block("strength", (3,), (0, 4), "strength of the tile there, by kind of figure"),
        Block("movable", (1,), (0, 1), "a token exchange could move the tile there"),
        Block("from_land", (1,), (0, 1), "a token exchange moves the tile there"),
        Block("from_spot", (3,), (0, 1), "one-hot: first figure of an exchange, by kind"),
    ]


def _size(blocks: list[Block]) -> int:
    return sum(b.size for b in blocks)


@inlined
def write_hex(state, observer, index, out, at):
    """Write the hex blocks of one hex (numbered settlements, land, sea)."""
    n, towns, lands = state.hand.shape[0], state.influence.shape[1], state.land_tile.shape[0]
    tile = -1
    if index < towns:
        out[at.terrain] = 1
        out[at.size] = SIZE[index]
        for figure in range(3):
            out[at.figures + figure] = has(state.figures[figure], index)
            for player in range(n):
                out[at.influence + figure * n + player] = state.influence[(observer + player) % n, index, figure]
            if index > 0 and state.from_spot == figure * (towns - 1) + index - 1:
                out[at.from_spot + figure] = 1
        out[at.empty_land] = popcount(SETTLEMENT_LAND[index] & state.land_free)
    elif index < towns + lands:
        out[at.terrain + 1] = 1
        tile = state.land_tile[index - towns] - 1
        out[at.from_land] = state.from_land == index - towns
    else:
        out[at.terrain + 2] = 1
        tile = state.sea_tile[index - towns - lands] - 1
    if tile >= 0:
        owner, kind = tile // KINDS, tile % KINDS
        out[at.owner + (owner - observer + n) % n] = 1
        for figure in range(3):
            out[at.strength + figure] = STRENGTH[kind, figure]
        out[at.movable] = (MOVABLE[state.token_exchange] >> np.uint32(kind)) & np.uint32(1)


SIZE = np.array([s.size for s in SETTLEMENT], np.int8)


@cache
def tokens(num_players: int) -> Encoding:
    """One row a hex, player and table, for attention and graph networks."""
    n = num_players
    player_blocks = [Block("hand", (KINDS,), (0, 2), "observer: own tiles in the hand, by kind"), *_player_blocks(())]
    blocks = (
        Block("row_type", (3,), (0, 1), "one-hot: hex, player, table"),
        *_hex_blocks(n),
        *player_blocks,
        *_TABLE_BLOCKS,
    )
    rows = len(hexes_in_play(n)) + n + 1
    return Encoding(
        (rows, _size(list(blocks))), 1, blocks, "rows: settlements, open land, sea (each by number), players, table"
    )


TOKENS = block_offsets(tokens, (2, 3, 4))


@jit
def observe_tokens(state, seat, out):
    """Write the `tokens` encoding of what `seat` sees into `out` (int8, rows x columns)."""
    n = state.hand.shape[0]
    hexes = state.influence.shape[1] + state.land_tile.shape[0] + state.sea_tile.shape[0]
    at = TOKENS[n]
    out[:] = 0
    for index in range(hexes):
        out[index, at.row_type] = 1
        write_hex(state, seat, index, out[index], at)
    for player in range(n):
        row = out[hexes + player]
        row[at.row_type + 1] = 1
        if player == 0:
            for kind in range(KINDS):
                row[at.hand + kind] = state.hand[seat, kind]
        write_player(state, seat, player, row, at, 0)
    table = out[hexes + n]
    table[at.row_type + 2] = 1
    write_table(state, table, at)


# --- planes: the map as a picture, all that is not on the map spread over it ---


@cache
def _frame(num_players: int) -> tuple[int, int, int, int]:
    """Left column, top row, width and height of the part of the map in play."""
    hexes = hexes_in_play(num_players)
    left, top = min(h.col for h in hexes), min(h.row for h in hexes)
    return left, top, max(h.col for h in hexes) - left + 1, max(h.row for h in hexes) - top + 1


def _cells() -> np.ndarray:
    """Row and column of each hex in the planes, by number of players: int16 (5, 174, 2)."""
    table = np.zeros((5, 174, 2), np.int16)
    for n in (2, 3, 4):
        left, top, _, _ = _frame(n)
        for i, h in enumerate(hexes_in_play(n)):
            table[n, i] = h.row - top, h.col - left
    return table


CELLS = _cells()


@cache
def planes(num_players: int) -> Encoding:
    """The map as planes of (row, column), odd columns half a hex lower, for convolutions."""
    n = num_players
    _, _, width, height = _frame(n)
    blocks = (
        *_hex_blocks(n),
        Block("hand", (KINDS,), (0, 2), "own tiles in the hand, by kind; same number everywhere"),
        *[Block(b.name, b.shape, b.limits, b.meaning + "; same number everywhere") for b in _player_blocks((n,))],
        *[Block(b.name, b.shape, b.limits, b.meaning + "; same number everywhere") for b in _TABLE_BLOCKS],
    )
    return Encoding((_size(list(blocks)), height, width), 0, blocks, "planes x rows x columns of the map in play")


PLANES = block_offsets(planes, (2, 3, 4))
MOST_PLANES = max(planes(n).shape[0] for n in (2, 3, 4))


@jit
def observe_planes(state, seat, out):
    """Write the `planes` encoding of what `seat` sees into `out` (int8, planes x rows x columns)."""
    n = state.hand.shape[0]
    hexes = state.influence.shape[1] + state.land_tile.shape[0] + state.sea_tile.shape[0]
    at = PLANES[n]
    local = at.hand  # from here on a plane is the same number everywhere
    row = scratch(MOST_PLANES, np.int8)
    row[:] = 0
    for kind in range(KINDS):
        row[at.hand + kind] = state.hand[seat, kind]
    for player in range(n):
        write_player(state, seat, player, row, at, player)
    write_table(state, row, at)
    out[:local] = 0
    for plane in range(local, out.shape[0]):
        out[plane] = row[plane]
    for index in range(hexes):
        row[:local] = 0
        write_hex(state, seat, index, row, at)
        y, x = CELLS[n, index, 0], CELLS[n, index, 1]
        for plane in range(local):
            out[plane, y, x] = row[plane]


ENCODINGS = {"flat": flat, "planes": planes, "tokens": tokens}
OBSERVE = {"flat": observe_flat, "planes": observe_planes, "tokens": observe_tokens}
