"""What an observation shows of a map that is laid as the game goes on: sites, and the cells where pieces go, compiled.

Sites are those laid that are not done yet, and the empty squares where a new one may come. All are described alike,
whatever way they face: what lies around a square is counted, not told side by side.
"""

from typing import NamedTuple

import numpy as np

from samurai_env.core.encoding import Cells, Encoding
from samurai_env.core.jit import inlined, jit

ZERO, HALF, ONE = np.float32(0.0), np.float32(0.5), np.float32(1.0)
EMPTY, DONE = -1, -2  # a square without a site, one whose site is done


class GridEntries(NamedTuple):
    """Where an observation says what lies where, int64: entries of the blocks that `Cells` names, of their shapes."""

    laid: np.ndarray
    done: np.ndarray
    position: np.ndarray
    free: np.ndarray
    suits: np.ndarray
    next_suits: np.ndarray
    owner: np.ndarray
    strength: np.ndarray
    waiting: np.ndarray
    steps: np.ndarray
    """(sides, 2), the steps to a side's cell."""
    origin: int
    """Coordinate of the first site on a grid that all squares fit on."""
    cell_action: int
    waiting_action: int


class Tables(NamedTuple):
    """The sites and cells of observations, those of one position after those of the one before."""

    first_site: np.ndarray
    """int64 (batch + 1,): the number of a position's first site; the last is that of all sites."""
    first_cell: np.ndarray
    """int64 (batch + 1,): the same for cells."""
    entries: np.ndarray
    """int8 (sites, suits, entries): whether the site counts in the suit, the strength of each player's pieces around it
    in the suit, one-hot its number of free sides, whether it is laid, whether it is a square to choose, and the number
    of each player's pieces around it."""
    site_action: np.ndarray
    """int64 (sites,): the action that chooses the square, -1 for none."""
    beside: np.ndarray
    """int64 (cells, sides): the sites that a piece in a cell would count for, numbered by position; -1 for none."""
    cell_action: np.ndarray
    """int64 (cells,)."""

    @property
    def nodes(self) -> int:
        """How many pairs (site, suit) there are."""
        return self.entries.shape[0] * self.entries.shape[1]


class Ground(NamedTuple):
    """The squares of one table, int16 (squares in a line, squares in a line)."""

    site: np.ndarray
    """The number of a site, `EMPTY` or `DONE`."""
    piece: np.ndarray
    """Site and side of a piece, `sides * site + side`, or `EMPTY`."""


def grid_entries(cells: Cells, encoding: Encoding) -> GridEntries:
    """Where an encoding has the blocks of a map."""
    at = cells.entries(encoding)
    reach = max(block.limits[1] for block in encoding.blocks if block.name == cells.position)
    return GridEntries(
        laid=at[cells.laid].ravel(),
        done=at[cells.done].ravel(),
        position=at[cells.position],
        free=at[cells.free],
        suits=at[cells.suits],
        next_suits=at[cells.next_suits],
        owner=at[cells.owner],
        strength=at[cells.strength],
        waiting=at[cells.waiting],
        steps=np.array(cells.steps),
        origin=reach + 3,  # a new site lies up to two steps from one that is laid, and the pieces around it three
        cell_action=cells.action,
        waiting_action=cells.waiting_action,
    )


def entry_count(sides: int, players: int) -> int:
    """How many entries describe a site in a suit, see `Tables`."""
    return 1 + players + (sides + 1) + 2 + players


def read_tables(obs: np.ndarray, inputs: GridEntries) -> Tables:
    """Read observations, int8 (batch, entries)."""
    sides, suits, players = len(inputs.steps), inputs.suits.shape[1], inputs.owner.shape[2]
    line, (most_sites, most_cells) = 2 * inputs.origin + 1, most(obs, inputs)
    ground = Ground(*np.full((2, line, line), EMPTY, np.int16))
    tables = Tables(
        np.zeros(len(obs) + 1, np.int64),
        np.zeros(len(obs) + 1, np.int64),
        np.zeros((most_sites, suits, entry_count(sides, players)), np.int8),
        np.full(most_sites, -1),
        np.empty((most_cells, sides), np.int64),
        np.empty(most_cells, np.int64),
    )
    read_all(obs, inputs, ground, tables)
    sites, cells = tables.first_site[-1], tables.first_cell[-1]
    return Tables(*tables[:2], *(array[:sites] for array in tables[2:4]), *(array[:cells] for array in tables[4:]))


@jit
def most(obs, inputs):
    """How many sites and cells observations can have at most."""
    sites, cells = 0, 0
    for i in range(obs.shape[0]):
        sites += inputs.waiting.shape[0]
        for site in range(inputs.laid.shape[0]):
            if obs[i, inputs.laid[site]] != 0 and obs[i, inputs.done[site]] == 0:
                sites += 1
                for side in range(inputs.free.shape[1]):
                    cells += obs[i, inputs.free[site, side]] != 0
    return sites + (inputs.steps.shape[0] - 1) * cells, cells


@inlined
def coordinates(obs, entries, origin):
    """Coordinates on the ground; those of an impossible observation become ones that are on it."""
    x, y = origin + obs[entries[0]], origin + obs[entries[1]]
    return min(max(x, 3), 2 * origin - 3), min(max(y, 3), 2 * origin - 3)


@inlined
def owner_of(obs, inputs, site, side):
    """The player whose piece lies on a side of a site, -1 if none does."""
    for player in range(inputs.owner.shape[2]):
        if obs[inputs.owner[site, side, player]] != 0:
            return player
    return -1


@inlined
def add_piece(obs, inputs, site, side, player, entries):
    """Count a piece among those around a site, int8 (suits, entries); returns 1."""
    last = entries.shape[1] - inputs.owner.shape[2]
    for suit in range(entries.shape[0]):
        entries[suit, 1 + player] += obs[inputs.strength[site, side, suit]]
        entries[suit, last + player] += 1
    return 1


@inlined
def set_flags(inputs, pieces, is_laid, is_choice, entries):
    """Write the number of free sides of a site with so many pieces around, and what it is; int8 (suits, entries)."""
    players, sides = inputs.owner.shape[2], inputs.steps.shape[0]
    for suit in range(entries.shape[0]):
        entries[suit, 1 + players + sides - pieces] = 1
        entries[suit, 2 + players + sides] = is_laid
        entries[suit, 3 + players + sides] = is_choice


@inlined
def write_laid(obs, inputs, site, entries):
    """Describe a site that is laid, int8 (suits, entries)."""
    pieces = 0
    for side in range(inputs.steps.shape[0]):
        player = owner_of(obs, inputs, site, side)
        if player >= 0:
            pieces += add_piece(obs, inputs, site, side, player, entries)
    for suit in range(entries.shape[0]):
        entries[suit, 0] = obs[inputs.suits[site, suit]]
    set_flags(inputs, pieces, 1, 0, entries)


@inlined
def write_new(obs, inputs, ground, x, y, is_choice, entries):
    """Describe an empty square as if the next site lay there, int8 (suits, entries)."""
    pieces, sides = 0, inputs.steps.shape[0]
    for step in range(sides):
        piece = ground.piece[x + inputs.steps[step, 0], y + inputs.steps[step, 1]]
        if piece >= 0:
            site, side = piece // sides, piece % sides
            pieces += add_piece(obs, inputs, site, side, owner_of(obs, inputs, site, side), entries)
    for suit in range(entries.shape[0]):
        entries[suit, 0] = obs[inputs.next_suits[suit]]
    set_flags(inputs, pieces, 0, is_choice, entries)


@inlined
def is_due(obs, inputs, ground, laid_sites, x, y, step):
    """Whether a piece of the observer on a cell brings a site onto the square one step on, see `Cells`."""
    steps, sides = inputs.steps, inputs.steps.shape[0]
    for turn in range(sides):
        if steps[turn, 0] * steps[step, 0] + steps[turn, 1] * steps[step, 1] != 0:
            continue
        there_x, there_y = x + steps[turn, 0], y + steps[turn, 1]
        site = ground.site[there_x, there_y]
        if site != DONE and not 0 <= site < laid_sites:
            continue
        piece = ground.piece[there_x + steps[step, 0], there_y + steps[step, 1]]
        if piece >= 0 and owner_of(obs, inputs, piece // sides, piece % sides) != 0:
            return True
    return False


@jit
def read_table(obs, inputs, ground, tables, at_site, at_cell):
    """Read one observation.

    Args:
        obs: int8 (entries,).
        inputs: `GridEntries`.
        ground: `Ground`, empty; it is empty again afterwards.
        tables: `Tables`, out.
        at_site: the number of the position's first site.
        at_cell: the same for cells.

    Returns:
        The numbers of sites and of cells.
    """
    steps, sides, origin = inputs.steps, inputs.steps.shape[0], inputs.origin
    sites, cells = 0, 0
    for site in range(inputs.laid.shape[0]):
        if obs[inputs.laid[site]] == 0:
            continue
        x, y = coordinates(obs, inputs.position[site], origin)
        for side in range(sides):
            if owner_of(obs, inputs, site, side) >= 0:
                ground.piece[x + steps[side, 0], y + steps[side, 1]] = sides * site + side
        if obs[inputs.done[site]] != 0:
            ground.site[x, y] = DONE
            continue
        ground.site[x, y] = sites
        write_laid(obs, inputs, site, tables.entries[at_site + sites])
        sites += 1
    laid_sites = sites
    for site in range(inputs.laid.shape[0]):
        if obs[inputs.laid[site]] == 0 or obs[inputs.done[site]] != 0:
            continue
        for side in range(sides):
            if obs[inputs.free[site, side]] == 0:
                continue
            x, y = coordinates(obs, inputs.position[site], origin)
            x, y = x + steps[side, 0], y + steps[side, 1]
            for step in range(sides):
                there_x, there_y = x + steps[step, 0], y + steps[step, 1]
                beside = ground.site[there_x, there_y]
                if beside == EMPTY or beside >= laid_sites:
                    if not is_due(obs, inputs, ground, laid_sites, x, y, step):
                        beside = EMPTY
                    elif beside == EMPTY:
                        beside = sites
                        ground.site[there_x, there_y] = sites
                        write_new(obs, inputs, ground, there_x, there_y, 0, tables.entries[at_site + sites])
                        sites += 1
                tables.beside[at_cell + cells, step] = max(beside, EMPTY)
            tables.cell_action[at_cell + cells] = inputs.cell_action + sides * site + side
            cells += 1
    waiting = inputs.waiting
    if obs[waiting[0, 0]] != obs[waiting[1, 0]] or obs[waiting[0, 1]] != obs[waiting[1, 1]]:
        for choice in range(waiting.shape[0]):
            x, y = coordinates(obs, waiting[choice], origin)
            write_new(obs, inputs, ground, x, y, 1, tables.entries[at_site + sites])
            tables.site_action[at_site + sites] = inputs.waiting_action + choice
            sites += 1
    clear(obs, inputs, ground)
    return sites, cells


@inlined
def clear(obs, inputs, ground):
    """Empty the ground: new sites lie up to two steps from those that are laid and not done."""
    for site in range(inputs.laid.shape[0]):
        if obs[inputs.laid[site]] == 0:
            continue
        x, y = coordinates(obs, inputs.position[site], inputs.origin)
        ground.site[x, y] = EMPTY
        for side in range(inputs.steps.shape[0]):
            ground.piece[x + inputs.steps[side, 0], y + inputs.steps[side, 1]] = EMPTY
        if obs[inputs.done[site]] == 0:
            for there_x in range(x - 2, x + 3):
                for there_y in range(y - 2, y + 3):
                    ground.site[there_x, there_y] = EMPTY


@jit
def read_all(obs, inputs, ground, tables):
    """Read observations, int8 (batch, entries), into tables with enough rows."""
    for i in range(obs.shape[0]):
        first_site, first_cell = tables.first_site[i], tables.first_cell[i]
        sites, cells = read_table(obs[i], inputs, ground, tables, first_site, first_cell)
        tables.first_site[i + 1], tables.first_cell[i + 1] = first_site + sites, first_cell + cells


@jit
def read_entries(tables, i, out):
    """Write the inputs of a position's nodes, float32 (nodes, entries): strengths and numbers of pieces are halved."""
    suits, count = tables.entries.shape[1:]
    sides = tables.beside.shape[1]
    players = (count - sides - 4) // 2
    first = tables.first_site[i]
    for node in range(out.shape[0]):
        row = tables.entries[first + node // suits, node % suits]
        for k in range(count):
            is_flag = k == 0 or players < k < count - players
            out[node, k] = np.float32(row[k]) * (ONE if is_flag else HALF)


def all_entries(tables: Tables) -> np.ndarray:
    """The inputs of all nodes as `read_entries` writes them, float32 (sites, suits, entries)."""
    sites, suits, count = tables.entries.shape
    whole = Tables(np.array([0, sites]), *tables[1:])
    out = np.empty((sites * suits, count), np.float32)
    read_entries(whole, 0, out)
    return out.reshape(sites, suits, count)


@inlined
def shares_near(tables, i):
    """By site, the shares of itself and of the sites that have a cell in common with it, float32 (sites, sites)."""
    sites = tables.first_site[i + 1] - tables.first_site[i]
    near = np.zeros((sites, sites), np.float32)
    for cell in range(tables.first_cell[i], tables.first_cell[i + 1]):
        for one in range(tables.beside.shape[1]):
            for other in range(tables.beside.shape[1]):
                if tables.beside[cell, one] >= 0 and tables.beside[cell, other] >= 0:
                    near[tables.beside[cell, one], tables.beside[cell, other]] = ONE
    for site in range(sites):
        total = ZERO
        for other in range(sites):
            total += near[site, other]
        if total > ZERO:
            for other in range(sites):
                near[site, other] /= total
    return near
