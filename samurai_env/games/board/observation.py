"""What a seat sees, written as int8 numbers: the encodings `flat`, `tokens` and `planes`.

Seat-relative: player 0 of an observation is the observer, player 1 the next seat clockwise, and so on.
An observation is a function of what the seat may know; `tests` hold each against determinization.
"""

from functools import cache

import numpy as np

from samurai_env.core.bits import ONE, has, lowest, popcount, spread
from samurai_env.core.encoding import Block, Encoding
from samurai_env.core.jit import inlined, jit
from samurai_env.games.board.rules.tiles import KINDS, MOVABLE, STRENGTH, TILES
from samurai_env.games.board.rules.topology import (
    ALL_SEA,
    LANDS,
    SEAS,
    SETTLEMENT,
    SETTLEMENT_LAND,
    SETTLEMENTS,
    hexes_in_play,
)
from samurai_env.games.board.state import PHASES

NONE = np.uint64(0)
HIDDEN = -1  # a captured count that the observer may not see


# --- Parts that every encoding has ---


def _player_blocks(players: tuple[int, ...]) -> list[Block]:
    """What is known of a player; `players` is the leading axis, if any."""
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
    """Whether the others' captured figures are behind their screens: at the end these are removed."""
    return state.hide_captures and state.hand.shape[0] > 2 and not state.over


@inlined
def write_player(state, observer, player, out, i):
    """Write the player blocks of one player at `out[i:]`; the index after them."""
    n = state.hand.shape[0]
    seat = (observer + player) % n
    for kind in range(KINDS):
        out[i + kind] = state.unseen[seat, kind]
    i += KINDS
    out[i] = state.hand_size[seat]
    out[i + 1] = state.supply_size[seat]
    i += 2
    hidden = player > 0 and hides_captures(state)
    for figure in range(3):
        out[i + figure] = HIDDEN if hidden else state.captured[seat, figure]
    i += 3
    out[i] = seat == state.seat and not state.over
    return i + 1


@inlined
def write_table(state, out, i):
    """Write the table blocks at `out[i:]` (zeros before); the index after them."""
    for figure in range(3):
        out[i + figure] = state.aside[figure]
        out[i + 3 + figure] = state.pool[figure]
    i += 6
    running = not state.over  # at the end nothing is decided and no turn goes on
    out[i + state.phase] = running
    i += len(PHASES)
    if state.tile >= 0:
        out[i + state.tile] = 1
    i += KINDS
    out[i] = state.plain_played if running else 0
    out[i + 1] = state.may_end if running else 0
    out[i + 2] = state.edition
    return i + 3


# --- flat: every block a copy of a row of the record, or a bit set spread out ---


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


@inlined
def observe_flat(state, seat, out):
    """Write the `flat` encoding of what `seat` sees into `out` (int8, its size)."""
    n, towns = state.hand.shape[0], state.influence.shape[1]
    lands, seas = state.land_tile.shape[0], state.sea_tile.shape[0]
    out[:] = 0
    i = 0
    for figure in range(3):
        spread(state.figures[figure], out[i : i + towns])
        i += towns
    for player in range(n):
        owner = (seat + player) % n
        for town in range(towns):
            for figure in range(3):
                out[i + 3 * town + figure] = state.influence[owner, town, figure]
        i += 3 * towns
    for town in range(towns):
        out[i + town] = popcount(SETTLEMENT_LAND[town] & state.land_free)
    i += towns
    for player in range(n):
        first = 1 + KINDS * ((seat + player) % n)
        for land in range(lands):
            out[i + land] = first <= state.land_tile[land] < first + KINDS
        i += lands
    for land in range(lands):
        for figure in range(3):
            out[i + 3 * land + figure] = state.land_strength[land, figure]
    i += 3 * lands
    movable = NONE
    for owner in range(n):
        movable |= state.movable[owner]
    spread(movable, out[i : i + lands])
    i += lands
    write_ships(state, seat, out, i)
    i += n * seas
    for kind in range(KINDS):
        out[i + kind] = state.hand[seat, kind]
    i += KINDS
    i = write_players_flat(state, seat, out, i)
    i = write_table(state, out, i)
    if state.from_land >= 0:
        out[i + state.from_land] = 1
    i += lands
    if state.from_spot >= 0:
        out[i + state.from_spot] = 1


@inlined
def write_ships(state, observer, out, i):
    """The strengths of the ships, by player and sea hex (zeros before)."""
    n, seas = state.hand.shape[0], state.sea_tile.shape[0]
    for word in range(2):
        filled = ALL_SEA[n, word] & ~state.sea_free[word]
        while filled != NONE:
            sea = 64 * word + np.int64(lowest(filled))
            filled &= filled - ONE
            tile = state.sea_tile[sea] - 1
            player = (tile // KINDS - observer + n) % n
            out[i + player * seas + sea] = STRENGTH[tile % KINDS, 0]


@inlined
def write_players_flat(state, seat, out, i):
    """The player blocks, each for all players together; the index after them."""
    n = state.hand.shape[0]
    sizes = i + n * KINDS
    for player in range(n):
        owner = (seat + player) % n
        for kind in range(KINDS):
            out[i + player * KINDS + kind] = state.unseen[owner, kind]
        out[sizes + player] = state.hand_size[owner]
        out[sizes + n + player] = state.supply_size[owner]
        hidden = player > 0 and hides_captures(state)
        for figure in range(3):
            out[sizes + 2 * n + 3 * player + figure] = HIDDEN if hidden else state.captured[owner, figure]
        out[sizes + 5 * n + player] = owner == state.seat and not state.over
    return i + n * (KINDS + 6)


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
def write_hex(state, observer, index, out, i):
    """Write the hex blocks of one hex (numbered settlements, land, sea) at `out[i:]`, zeros before."""
    n, towns, lands = state.hand.shape[0], state.influence.shape[1], state.land_tile.shape[0]
    tile = -1
    if index < towns:
        out[i] = 1
        out[i + 3] = SIZE[index]
        for figure in range(3):
            out[i + 4 + figure] = has(state.figures[figure], index)
            for player in range(n):
                out[i + 7 + figure * n + player] = state.influence[(observer + player) % n, index, figure]
            if index > 0 and state.from_spot == figure * (towns - 1) + index - 1:
                out[i + 13 + 4 * n + figure] = 1
        out[i + 7 + 3 * n] = popcount(SETTLEMENT_LAND[index] & state.land_free)
    elif index < towns + lands:
        out[i + 1] = 1
        tile = state.land_tile[index - towns] - 1
        out[i + 12 + 4 * n] = state.from_land == index - towns
    else:
        out[i + 2] = 1
        tile = state.sea_tile[index - towns - lands] - 1
    if tile >= 0:
        i += 8 + 3 * n
        owner, kind = tile // KINDS, tile % KINDS
        out[i + (owner - observer + n) % n] = 1
        for figure in range(3):
            out[i + n + figure] = STRENGTH[kind, figure]
        out[i + n + 3] = (MOVABLE >> np.uint32(kind)) & np.uint32(1)


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


@jit
def observe_tokens(state, seat, out):
    """Write the `tokens` encoding of what `seat` sees into `out` (int8, rows x columns)."""
    n = state.hand.shape[0]
    hexes = state.influence.shape[1] + state.land_tile.shape[0] + state.sea_tile.shape[0]
    out[:] = 0
    width = 16 + 4 * n
    for index in range(hexes):
        out[index, 0] = 1
        write_hex(state, seat, index, out[index], 3)
    for player in range(n):
        row = out[hexes + player]
        row[1] = 1
        if player == 0:
            for kind in range(KINDS):
                row[3 + width + kind] = state.hand[seat, kind]
        write_player(state, seat, player, row, 3 + width + KINDS)
    out[hexes + n, 2] = 1
    write_table(state, out[hexes + n], 3 + width + 2 * KINDS + 6)


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


@jit
def observe_planes(state, seat, out):
    """Write the `planes` encoding of what `seat` sees into `out` (int8, planes x rows x columns)."""
    n = state.hand.shape[0]
    hexes = state.influence.shape[1] + state.land_tile.shape[0] + state.sea_tile.shape[0]
    width = 16 + 4 * n
    row = np.zeros(out.shape[0], np.int8)
    for kind in range(KINDS):
        row[width + kind] = state.hand[seat, kind]
    i = write_players_flat(state, seat, row, width + KINDS)
    write_table(state, row, i)
    for plane in range(width):
        out[plane] = 0
    for plane in range(width, out.shape[0]):
        out[plane] = row[plane]
    for index in range(hexes):
        row[:width] = 0
        write_hex(state, seat, index, row, 0)
        y, x = CELLS[n, index, 0], CELLS[n, index, 1]
        for plane in range(width):
            out[plane, y, x] = row[plane]


ENCODINGS = {"flat": flat, "planes": planes, "tokens": tokens}
OBSERVE = {"flat": observe_flat, "planes": observe_planes, "tokens": observe_tokens}
