"""How an observation array is laid out: one description from which spaces, tables and tests are made."""

from dataclasses import dataclass
from math import prod
from textwrap import shorten

import numpy as np

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
    """Many things of one kind, such as villages, that an encoding tells of one after the other.

    Attributes:
        count: how many; the blocks whose first axis is so long tell of them.
        action: id of the first action that belongs to the first of them.
        actions: how many actions each has; those of one thing stand together.
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
        entities: what networks may read with the same weights, if there is such a thing.
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
        """Where each block lies on the axis."""
        table, start = {}, 0
        for block in self.blocks:
            table[block.name] = slice(start, start + block.size)
            start += block.size
        return table

    def entity_rows(self) -> np.ndarray:
        """Where the entries of each of the `entities` lie on the axis: int64 (things, entries of one).

        Raises:
            ValueError: the encoding has no things.
        """
        if self.entities is None:
            raise ValueError("this encoding tells of no things of one kind")
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
