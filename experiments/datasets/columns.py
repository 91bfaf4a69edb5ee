"""The columns of a dataset: one row a decision, games one after the other."""

import json
from math import prod

import msgspec
import numpy as np
import pyarrow as pa

from experiments.datasets.manifest import Origin
from samurai_env.core.game import Variant
from samurai_env.core.variant_spec import parse_variant

METADATA = b"samurai_env"  # key of the schema's metadata: JSON, the origin and the number of the shard
GROUP_BYTES = 8 * 2**20  # of observations in a row group, about


def schema(origin: Origin, number: int) -> pa.Schema:
    """The Arrow schema of a shard, with its metadata."""
    variant = parse_variant(origin.variant)
    types = {
        "game": pa.int64(),  # its number in the dataset
        "decision": pa.int32(),  # its number in the game
        "seat": pa.int8(),  # that decides
        "agent": pa.int8(),  # who sits there: an index of `Origin.names`
        "action": pa.int16(),
        "return": pa.float32(),  # of the seat, at the end of the game
        "action_mask": pa.binary(mask_bytes(variant)),  # bits, the lowest of the first byte for action 0
        "observation": pa.binary(prod(variant.encoding(origin.encoding).shape)),  # int8, C order
    }
    notes = json.dumps(msgspec.to_builtins(origin) | {"shard": number})
    return pa.schema([pa.field(name, kind, nullable=False) for name, kind in types.items()], {METADATA: notes})


def mask_bytes(variant: Variant) -> int:
    """Bytes of a row's mask."""
    return -(-variant.num_actions // 8)


def group_rows(origin: Origin) -> int:
    """Rows of a row group."""
    size = prod(parse_variant(origin.variant).encoding(origin.encoding).shape)
    return max(64, min(16384, GROUP_BYTES // size))


def rows_of_bytes(rows: np.ndarray) -> pa.Array:
    """Rows of bytes (rows, size) as a column of fixed-size binary values."""
    rows = np.ascontiguousarray(rows).reshape(len(rows), -1)
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(rows.shape[1]), len(rows), [None, pa.py_buffer(rows)])


def bytes_of_rows(column: pa.Array) -> np.ndarray:
    """The reverse of `rows_of_bytes`: uint8 (rows, size), not to be written to."""
    size, values = column.type.byte_width, np.frombuffer(column.buffers()[1], np.uint8)
    return values[column.offset * size :][: len(column) * size].reshape(len(column), size)
