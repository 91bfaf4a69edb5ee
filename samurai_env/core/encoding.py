"""The layout of an observation: one description for compiled code, spaces, tables and tests."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import prod
from textwrap import shorten

import numpy as np

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
        raise IndexError(f"entries are 0 to {self.shape[self.axis] - 1}, not {shown(index)}")

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
            raise TypeError(f"an observation is a NumPy array, not {shown(observation)}")
        if observation.shape[observation.ndim - len(self.shape) :] != self.shape:
            raise ValueError(f"an observation has shape {self.shape}, or so at its end, not {shown(observation.shape)}")
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
