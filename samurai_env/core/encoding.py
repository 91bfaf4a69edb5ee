"""The layout of an observation: one description for compiled code, spaces, tables and tests.

Beside it stands what networks may read with shared weights: `Entities`, and the `Graph` of a map.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import prod
from textwrap import shorten
from typing import Any

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from samurai_env.core.checks import checked_integer
from samurai_env.core.texts import shown


@dataclass(frozen=True)
class Block:
    """Consecutive entries of an encoding that belong together.

    Attributes:
        name: name of the block.
        shape: the block's own shape; its entries stand in C order.
        limits: smallest and largest value.
        meaning: one line; says what the axes of `shape` are.
    """

    name: str
    shape: tuple[int, ...]
    limits: tuple[int, int]
    meaning: str

    @property
    def size(self) -> int:
        """Number of entries."""
        return prod(self.shape)


@dataclass(frozen=True)
class Entities:
    """Many entities of one kind in an encoding, such as villages.

    Attributes:
        count: how many; the blocks whose first axis has this length describe them.
        action: id of the first action that belongs to the first of them.
        actions: how many actions each has, consecutive for one entity.
    """

    count: int
    action: int
    actions: int


@dataclass(frozen=True)
class Encoding:
    """One way to write an observation, int8.

    Attributes:
        shape: shape of the whole array.
        axis: the axis of `shape` along which `blocks` lie one after another.
        blocks: the description of that axis.
        rows: what the entries of the other axes are, for the docs.
        entities: rows that networks may read with shared weights, if there are any.
    """

    shape: tuple[int, ...]
    axis: int
    blocks: tuple[Block, ...]
    rows: str
    entities: Entities | None = None

    def __post_init__(self) -> None:
        if sum(b.size for b in self.blocks) != self.shape[self.axis]:
            raise ValueError(
                f"blocks hold {sum(b.size for b in self.blocks)} entries, the axis {self.shape[self.axis]}"
            )

    def slices(self) -> dict[str, slice]:
        """Return the slice of each block on the axis."""
        table, start = {}, 0
        for block in self.blocks:
            table[block.name] = slice(start, start + block.size)
            start += block.size
        return table

    def describe(self, index: int) -> str:
        """What the entry at `index` of the axis is, such as `influence[0, 12, 2]: by player, settlement, ...`.

        Raises:
            IndexError: there is no such entry.
            TypeError: not an integer.
        """
        index = checked_integer("an entry", index)
        for block in self.blocks:
            place = self.slices()[block.name]
            if place.start <= index < place.stop:
                where = ", ".join(map(str, np.unravel_index(index - place.start, block.shape)))
                low, high = block.limits
                return f"{block.name}[{where}]: {block.meaning} ({low} to {high})"
        raise IndexError(f"entries must be 0 to {self.shape[self.axis] - 1}, not {shown(index)}")

    def entity_rows(self) -> np.ndarray:
        """Return the indices of each entity's entries on the axis: int64 (entities, entries of one).

        Raises:
            ValueError: the encoding has no entities.
        """
        if self.entities is None:
            raise ValueError("this encoding has no entities")
        count, places = self.entities.count, self.slices()
        rows = [
            np.arange(s.start, s.stop).reshape(count, -1)
            for b in self.blocks
            if b.shape[0] == count and (s := places[b.name])
        ]
        return np.concatenate(rows, 1)

    def view(self, observation: np.ndarray, name: str) -> np.ndarray:
        """The block `name` of an observation (or a batch of them), the block's own shape last.

        Raises:
            KeyError: no block of that name.
            TypeError: not an array.
            ValueError: an array of another shape.
        """
        block = next((b for b in self.blocks if b.name == name), None)
        if block is None:
            known = shorten(", ".join(b.name for b in self.blocks), 200, placeholder=" ...")
            raise KeyError(f"no block {shown(name)}; there are {known}")
        if not isinstance(observation, np.ndarray):
            raise TypeError(f"an observation must be a NumPy array, not {shown(observation)}")
        if observation.shape[observation.ndim - len(self.shape) :] != self.shape:
            raise ValueError(
                f"an observation must have shape {self.shape}, or so at its end, not {shown(observation.shape)}"
            )
        axis = observation.ndim - len(self.shape) + self.axis
        part = np.moveaxis(observation, axis, -1)[..., self.slices()[name]]
        return part.reshape(*part.shape[:-1], *block.shape)

    def limits(self) -> tuple[np.ndarray, np.ndarray]:
        """Smallest and largest values, int8 arrays of `shape`."""
        low, high = np.zeros(self.shape, np.int8), np.zeros(self.shape, np.int8)
        for array, side in ((low, 0), (high, 1)):
            along = np.concatenate([np.full(b.size, b.limits[side], np.int8) for b in self.blocks])
            view = np.moveaxis(array, self.axis, -1)
            view[...] = along
        return low, high


@dataclass(frozen=True)
class Places:
    """Places of one kind beside the sites, where pieces are put, such as sea hexes. One is free if all entries are 0.

    Attributes:
        blocks: the encoding's blocks that describe them: name and axis of the places.
        action: id of the first place's action; the others follow.
        beside: by place, the sites beside it.
        pieces: numbers of the pieces that can be put there.
    """

    blocks: tuple[tuple[str, int], ...]
    action: int
    beside: tuple[tuple[int, ...], ...]
    pieces: tuple[int, ...]

    def rows(self, encoding: Encoding) -> np.ndarray:
        """Where the entries of each place lie in a vector encoding: int64 (places, entries of one)."""
        entries = _indices(encoding)
        blocks = [np.moveaxis(entries[name], axis, 0).reshape(len(self.beside), -1) for name, axis in self.blocks]
        return np.concatenate(blocks, 1)


@dataclass(frozen=True)
class Sites:
    """The sites of a map, such as settlements, and the suits in which each counts, such as kinds of figure.

    Attributes:
        blocks: the encoding's blocks that describe them: name, axis of the sites, axis of the suits or None.
        actions: by site and suit, an action's id; -1 for none.
    """

    blocks: tuple[tuple[str, int, int | None], ...]
    actions: tuple[tuple[int, ...], ...]

    @property
    def shape(self) -> tuple[int, int]:
        """Number of sites and of suits."""
        return len(self.actions), len(self.actions[0])

    def rows(self, encoding: Encoding) -> np.ndarray:
        """Where the entries of each site and suit lie in a vector encoding: int64 (sites, suits, entries of one)."""
        entries, rows = _indices(encoding), []
        for name, site, suit in self.blocks:
            if suit is None:
                block = np.moveaxis(entries[name], site, 0).reshape(self.shape[0], 1, -1)
                rows.append(np.repeat(block, self.shape[1], 1))
            else:
                rows.append(np.moveaxis(entries[name], (site, suit), (0, 1)).reshape(*self.shape, -1))
        return np.concatenate(rows, 2)


@dataclass(frozen=True)
class Piece:
    """A piece: what it is like apart from its suit (pieces with the same number are), and its suit; None for all."""

    like: int
    suit: int | None


@dataclass(frozen=True)
class Cells:
    """Sites that are laid on a grid as the game goes on, and the cells around them, one step away, where pieces go.

    A cell beside several sites has the action of that one whose entry `free` is 1. A piece brings new sites: onto each
    empty square beside it that has another player's piece beside it, at a right angle to a site laid beside the piece.

    Attributes:
        laid: the encoding's block that says whether a site lies on the table, (sites,).
        done: whether it counts no more, since there is a piece on each side, (sites,).
        position: the coordinates, (sites, 2).
        free: by side, whether it has an action and can be chosen, (sites, sides).
        suits: whether a site counts in a suit, (sites, suits).
        next_suits: the same of the site to be laid next, (suits,).
        owner: by side, one-hot, whose piece lies there, (sites, sides, players); the first is the observer.
        strength: by side, that of the piece there, (sites, sides, suits).
        waiting: coordinates of the squares to choose from for the next site, (squares, 2); alike where there is no
            choice.
        steps: by side, the step from the site to the cell.
        action: id of the first side of the first site; the others follow.
        waiting_action: id of the first square to choose; the others follow.
    """

    laid: str
    done: str
    position: str
    free: str
    suits: str
    next_suits: str
    owner: str
    strength: str
    waiting: str
    steps: tuple[tuple[int, int], ...]
    action: int
    waiting_action: int

    def entries(self, encoding: Encoding) -> dict[str, np.ndarray]:
        """Where the entries of the blocks lie in a vector encoding: by block, int64, of the block's shape."""
        return _indices(encoding)


@dataclass(frozen=True)
class Graph:
    """A map as a graph: sites, where points are won, and the places beside them, where pieces go.

    The suits are alike: what holds for one holds for the others.

    Attributes:
        sites: such as settlements.
        places: kinds of places, such as land and sea; or the cells of a grid, where all pieces can go.
        pieces: those to choose from, in the order of their actions.
        piece_action: id of the action that chooses the first piece; the others follow.
        piece_block: the encoding's block that shows the chosen piece, one-hot.
    """

    sites: Sites
    places: tuple[Places, ...] | Cells
    pieces: tuple[Piece, ...]
    piece_action: int
    piece_block: str


def _indices(encoding: Encoding) -> dict[str, np.ndarray]:
    """Each block's indices in a vector encoding, of the block's shape."""
    slices = encoding.slices()
    return {
        block.name: np.arange(slices[block.name].start, slices[block.name].stop).reshape(block.shape)
        for block in encoding.blocks
    }


def block_offsets(encoding: Callable[[int], Encoding], players: Iterable[int]) -> np.ndarray:
    """Compute where the blocks start, for compiled code: `offsets[n].hand` is the first entry of block `hand`.

    A block with rows for entities or players has row r at its start + r times the size of a row.

    Args:
        encoding: from the number of players.
        players: possible numbers; the blocks have the same names for all.

    Returns:
        Structured array indexed by the number of players, a field of int64 for each block and `end` for their end.
    """
    by_players = {n: encoding(n) for n in players}
    names = [block.name for block in next(iter(by_players.values())).blocks]
    table = np.zeros(max(by_players) + 1, [(name, np.int64) for name in [*names, "end"]])
    for n, layout in by_players.items():
        for name, place in layout.slices().items():
            table[name][n] = place.start
        table["end"][n] = layout.shape[layout.axis]
    return table


@intrinsic
def copy_block(typing_context: Any, values: Any, out: Any, start: Any) -> Any:
    """Copy an array of int8, of any shape, into the vector `out` from entry `start` on, in C order (both contiguous).

    In compiled code; one instruction moves 32 bytes or more, where a loop over two axes moves one.

    Raises:
        TypeError: at compilation, for other arrays.
    """
    for array in (values, out):
        if not (isinstance(array, types.Array) and array.dtype == types.int8 and array.is_c_contig):
            raise TypeError(f"copy_block copies contiguous arrays of int8, not {array}")

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        source, target = (context.make_array(signature.args[i])(context, builder, args[i]) for i in range(2))
        one = context.get_constant(types.intp, 1)
        size = one
        for length in cgutils.unpack_tuple(builder, source.shape):
            size = builder.mul(size, length)
        cgutils.raw_memcpy(builder, builder.gep(target.data, [args[2]]), source.data, size, one)
        return context.get_dummy_value()

    return types.void(values, out, types.intp), code
