"""Playing and writing one shard of a dataset; it depends on nothing but the origin, its number and its games."""

import hashlib
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from agents.arena import as_bytes, record_games
from experiments.datasets.columns import group_rows, rows_of_bytes, schema
from experiments.datasets.manifest import Origin, Shard, parquet_file, records_file
from experiments.evaluation.matches import warm_agent
from samurai_env.core.variant_spec import parse_variant
from samurai_env.files.atomic_write import write_atomically
from samurai_env.game_batch import GameBatch
from samurai_env.game_record import record_text

Task = tuple[Origin, int, int]  # origin, number of the shard, how many games it has
COMPRESSION_LEVEL = 3  # of zstd


class Played(NamedTuple):
    """The games of a shard, their decisions in order of game and step."""

    first: int
    """Number of the first game in the dataset."""
    deals: np.ndarray
    """int64 (games,): seeds."""
    returns: np.ndarray
    """float64 (games, seats)."""
    last: np.ndarray
    """States (games,), as they ended."""
    states: np.ndarray
    """States (decisions,), before each decision."""
    game: np.ndarray
    """int64 (decisions,): the game in the shard."""
    agent: np.ndarray
    """int8 (decisions,): who decided, see `Origin.names`."""
    action: np.ndarray
    """int64 (decisions,)."""


class Made(NamedTuple):
    """A shard as a worker made it: the numbers of its games and decisions, and the contents of its files."""

    games: int
    decisions: int
    parquet: bytes
    records: bytes


def play(origin: Origin, number: int, games: int) -> Played:
    """Play the games of a shard."""
    variant, first = parse_variant(origin.variant), number * origin.shard_games
    numbers = range(first, first + games)
    deals = np.array([origin.deal(game) for game in numbers])
    seating = np.array([[origin.names.index(spec) for spec in origin.seating(game)] for game in numbers])
    found = record_games(variant, [warm_agent(spec, origin.variant) for spec in origin.names], seating, deals)
    returns = GameBatch(variant).returns(found.ends)
    agent = seating[found.game, found.states["seat"]].astype(np.int8)
    return Played(first, deals, returns, found.ends, found.states, found.game, agent, found.actions)


def parquet(origin: Origin, number: int, played: Played) -> bytes:
    """The Parquet file of a shard."""
    batch, wanted = GameBatch(parse_variant(origin.variant)), schema(origin, number)
    counts = np.bincount(played.game, minlength=len(played.deals))
    decision = np.arange(len(played.game)) - (counts.cumsum() - counts)[played.game]
    file = BytesIO()
    with pq.ParquetWriter(
        file,
        wanted,
        compression="zstd",
        compression_level=COMPRESSION_LEVEL,
        use_dictionary=["game", "seat", "agent", "action", "return"],
        write_statistics=["game", "decision"],
    ) as writer:
        for start in range(0, len(played.game), group_rows(origin)):
            rows = slice(start, start + group_rows(origin))
            states, game = played.states[rows], played.game[rows]
            seat = states["seat"]
            columns = [
                pa.array(played.first + game),
                pa.array(decision[rows].astype(np.int32)),
                pa.array(seat.astype(np.int8)),
                pa.array(played.agent[rows]),
                pa.array(played.action[rows].astype(np.int16)),
                pa.array(played.returns[game, seat].astype(np.float32)),
                rows_of_bytes(np.packbits(batch.legal_masks(states), axis=1, bitorder="little")),
                rows_of_bytes(batch.observe(states, encoding=origin.encoding)),
            ]
            writer.write_batch(pa.record_batch(columns, schema=wanted))
    return file.getvalue()


def records(origin: Origin, played: Played) -> bytes:
    """The records of a shard's games, one after the other."""
    variant = parse_variant(origin.variant)
    ends = np.bincount(played.game, minlength=len(played.deals)).cumsum()
    texts, start = [], 0
    for game, end in enumerate(ends.tolist()):
        number, states = played.first + game, np.empty(end - start + 1, variant.dtype)
        as_bytes(states)[:-1] = as_bytes(played.states[start:end])
        states[-1] = played.last[game]
        tags = {"game": str(number)} | {f"player{seat}": spec for seat, spec in enumerate(origin.seating(number))}
        texts.append(record_text(variant, int(played.deals[game]), tags, states, played.action[start:end].tolist()))
        start = end
    return "".join(texts).encode()


def make_shard(task: Task) -> Made:
    """Worker: play a shard; the bytes of its files, since a worker may be on another machine than the dataset."""
    origin, number, games = task
    played = play(origin, number, games)
    return Made(games, len(played.game), parquet(origin, number, played), records(origin, played))


def write_shard(folder: Path, number: int, made: Made) -> Shard:
    """Write the two files of a shard."""
    write_atomically(records_file(folder, number), made.records)
    write_atomically(parquet_file(folder, number), made.parquet)
    sums = (hashlib.sha256(data).hexdigest() for data in (made.parquet, made.records))
    return Shard(made.games, made.decisions, *sums)
