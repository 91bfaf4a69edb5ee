"""Reading a dataset: batches as NumPy arrays or torch tensors, and the proof that it holds what it says."""

import os
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from experiments.datasets import manifest
from experiments.datasets.columns import METADATA, bytes_of_rows, schema
from samurai_env.core.checks import checked_count, checked_integer
from samurai_env.core.texts import one_line, shown
from samurai_env.core.variant_spec import parse_variant
from samurai_env.game_batch import GameBatch
from samurai_env.game_record import TITLE, GameRecord, RecordError

if TYPE_CHECKING:
    import torch

Batch = dict[str, np.ndarray]
POOL_BYTES = 2**27  # of rows that are shuffled together
WIDE = {"action": np.int64, "agent": np.int64, "seat": np.int64, "decision": np.int64}  # as learners want them


class Dataset:
    """A finished dataset. A shard whose checksum is wrong is refused when it is first read.

    Attributes:
        folder: where it lies.
        origin: what it was made from, see `experiments.datasets.manifest.Origin`.
        variant: the variant that was played.
        games: how many.
        decisions: rows in all.
        shards: how many.
        names: the columns of a batch.

    Args:
        folder: with `dataset.json`.

    Raises:
        FileNotFoundError: there is no dataset, or a file of it is missing.
        ValueError: it is damaged, foreign or not finished; one line says what.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self._manifest = manifest.read_manifest(self.folder)
        self.origin = self._manifest.origin
        self.variant = parse_variant(self.origin.variant)
        self.games, self.shards = self._manifest.games, self._manifest.shard_count
        if self._manifest.done < self.games:
            raise ValueError(
                f"the dataset in {one_line(folder, 120)} is not finished: {self._manifest.done:,} of {self.games:,} "
                "games are there; the command that began it goes on"
            )
        self.decisions = sum(shard.decisions for shard in self._manifest.shards.values())
        self.names = tuple(schema(self.origin, 0).names)
        self._shape = self.variant.encoding(self.origin.encoding).shape
        self._whole: set[Path] = set()  # files that have had their checksum
        self._groups = [(number, group) for number in range(self.shards) for group in range(self._check(number))]

    def _check(self, number: int) -> int:
        """The number of row groups of a shard whose columns, metadata and rows are what they should be."""
        path = manifest.parquet_file(self.folder, number)
        self._check_there(manifest.records_file(self.folder, number))
        with self._open(number) as file:
            found, wanted = file.schema_arrow, schema(self.origin, number)
            if not found.equals(wanted):
                raise ValueError(f"{one_line(path, 120)} is damaged or foreign: it has other columns")
            if (found.metadata or {}).get(METADATA) != wanted.metadata[METADATA]:
                raise ValueError(f"{one_line(path, 120)} is of another dataset than {manifest.NAME} beside it")
            rows, counted = file.metadata.num_rows, self._manifest.shards[number].decisions
            if rows != counted:
                raise ValueError(f"{one_line(path, 120)} is damaged: it has {rows:,} rows, not {counted:,}")
            return file.num_row_groups

    def _check_there(self, path: Path) -> None:
        if not path.exists():
            raise FileNotFoundError(f"the dataset lacks {one_line(path, 120)}; the command that made it makes it again")

    def _check_once(self, path: Path, wanted: str) -> None:
        """Compare the checksum of a file before it is read for the first time."""
        if path not in self._whole:
            self._check_digest(path, wanted)
            self._whole.add(path)

    def _open(self, number: int) -> pq.ParquetFile:
        path = manifest.parquet_file(self.folder, number)
        self._check_there(path)
        try:
            return pq.ParquetFile(path, memory_map=True)
        except (pa.ArrowException, OSError) as error:
            raise ValueError(f"{one_line(path, 120)} is damaged: {one_line(error, 120)}") from None

    def batches(
        self,
        batch_size: int,
        columns: Sequence[str] | None = None,
        shuffle: int | None = None,
        shards: Sequence[int] | None = None,
    ) -> Iterator[Batch]:
        """Go through the rows once, with no more than some hundred MB in memory.

        Args:
            batch_size: rows of a batch; the last has what is left.
            columns: which columns, all if None.
            shuffle: seed of the order. Row groups come in random order, and the rows of about 128 MB of them are
                mixed. None for the order of the games.
            shards: numbers of the shards to read, all if None: so that some can be held out.

        Yields:
            Arrays by column: `observation` int8 (rows, ...) in the encoding's shape, `action_mask` int8 (rows,
            actions), `return` float32 (rows,), the others int64 (rows,). They are the caller's.

        Raises:
            TypeError: columns that are one text, or a seed that is no integer.
            ValueError: no such column or shard, none of them, no row in a batch, a negative seed, or a damaged file.
        """
        if shuffle is not None:
            shuffle = checked_count("shuffle, the seed of the order,", shuffle)
        if isinstance(columns, str):
            raise TypeError(f"columns must be a sequence of names, such as ({shown(columns)},), not one text")
        names = tuple(self.names if columns is None else columns)
        if unknown := [name for name in names if name not in self.names]:
            raise ValueError(f"there is no column {shown(unknown[0])}; there are {', '.join(self.names)}")
        if not names:
            raise ValueError(f"columns must name one at least of {', '.join(self.names)}")
        if checked_count("batch_size", batch_size) == 0:
            raise ValueError("batch_size must be 1 or more, not 0")
        wanted = set(range(self.shards) if shards is None else shards)
        if outside := wanted - set(range(self.shards)):
            raise ValueError(f"shards must be 0 to {self.shards - 1}, not {shown(min(outside))}")
        if not wanted:
            raise ValueError(f"shards must name one at least of 0 to {self.shards - 1}")
        return self._batches(batch_size, names, shuffle, [pair for pair in self._groups if pair[0] in wanted])

    def _batches(
        self, size: int, names: tuple[str, ...], shuffle: int | None, groups: list[tuple[int, int]]
    ) -> Iterator[Batch]:
        rng = np.random.default_rng(shuffle)
        if shuffle is not None:
            groups = [groups[i] for i in rng.permutation(len(groups))]
        left: Batch | None = None
        for pool in self._pools(groups, names, 0 if shuffle is None else POOL_BYTES):
            if left is not None:
                pool = {name: np.concatenate([left[name], pool[name]]) for name in names}
            rows = len(pool[names[0]]) if names else 0
            order = np.arange(rows) if shuffle is None else rng.permutation(rows)
            full = rows - rows % size
            for start in range(0, full, size):
                yield self._unpacked({name: pool[name][order[start : start + size]] for name in names})
            left = {name: pool[name][order[full:]] for name in names}
        if left is not None and len(left[names[0]]):
            yield self._unpacked(left)

    def _pools(self, groups: list[tuple[int, int]], names: tuple[str, ...], most: int) -> Iterator[Batch]:
        """The row groups, as many together as have `most` bytes, but at least one."""
        parts: list[Batch] = []
        for number, group in groups:
            parts.append(self._read(number, group, names))
            if sum(array.nbytes for part in parts for array in part.values()) >= most:
                yield {name: np.concatenate([part[name] for part in parts]) for name in names}
                parts = []
        if parts:
            yield {name: np.concatenate([part[name] for part in parts]) for name in names}

    def _read(self, number: int, group: int, names: tuple[str, ...]) -> Batch:
        """The columns of a row group; masks and observations as rows of bytes."""
        path = manifest.parquet_file(self.folder, number)
        self._check_once(path, self._manifest.shards[number].parquet)
        try:
            with self._open(number) as file:
                table = file.read_row_group(group, list(names), use_threads=False)
        except (pa.ArrowException, OSError) as error:
            raise ValueError(f"{one_line(path, 120)} is damaged: {one_line(error, 120)}") from None
        found = {}
        for name in names:
            column = table[name].combine_chunks()
            column = column.chunk(0) if isinstance(column, pa.ChunkedArray) else column
            packed = pa.types.is_fixed_size_binary(column.type)
            found[name] = bytes_of_rows(column) if packed else column.to_numpy(zero_copy_only=False)
        return found

    def _unpacked(self, batch: Batch) -> Batch:
        """A batch as `batches` describes it."""
        for name, array in batch.items():
            if name == "observation":
                batch[name] = array.view(np.int8).reshape(-1, *self._shape)
            elif name == "action_mask":
                bits = np.unpackbits(array, axis=1, count=self.variant.num_actions, bitorder="little")
                batch[name] = bits.view(np.int8)
            elif name in WIDE:
                batch[name] = array.astype(WIDE[name])
        return batch

    def torch_batches(
        self,
        batch_size: int,
        columns: Sequence[str] | None = None,
        shuffle: int | None = None,
        shards: Sequence[int] | None = None,
    ) -> "Iterator[dict[str, torch.Tensor]]":
        """As `batches`, with torch tensors."""
        import torch

        for batch in self.batches(batch_size, columns, shuffle, shards):
            yield {name: torch.from_numpy(array) for name, array in batch.items()}

    def record_texts(self, number: int) -> list[str]:
        """The records of a shard's games as text, in order.

        Raises:
            FileNotFoundError: their file is missing.
            ValueError: its checksum is wrong, it holds no text, or another number of records.
        """
        path = manifest.records_file(self.folder, number)
        self._check_there(path)
        self._check_once(path, self._manifest.shards[number].records)
        try:
            texts = re.split(f"^(?={re.escape(TITLE)})", path.read_bytes().decode("utf-8"), flags=re.MULTILINE)[1:]
        except UnicodeDecodeError:
            raise ValueError(f"{one_line(path, 120)} is damaged: it is not UTF-8 text") from None
        if len(texts) != (games := self._manifest.shards[number].games):
            raise ValueError(f"{one_line(path, 120)} is damaged: it has {len(texts):,} records, not {games:,}")
        return texts

    def record(self, game: int) -> GameRecord:
        """The record of a game, every move of it verified.

        Raises:
            TypeError: the number is not an integer.
            ValueError: no such game, or a damaged record.
        """
        game = checked_integer("a game's number", game)
        if not 0 <= game < self.games:
            raise ValueError(f"games must be 0 to {self.games - 1}, not {shown(game)}")
        number, place = divmod(game, self.origin.shard_games)
        return self.parsed(number, place, self.record_texts(number)[place])

    def parsed(self, number: int, place: int, text: str) -> GameRecord:
        """A record of a shard; errors name the file and its place there."""
        try:
            return GameRecord.parse(text)
        except RecordError as error:
            path = manifest.records_file(self.folder, number)
            raise ValueError(f"{one_line(path, 100)}, record {place}, {one_line(error, 150)}") from None

    def verify(self, sample: int = 100, seed: int = 0) -> None:
        """Check the checksum of every file, and replay some games from their records, comparing every column.

        Args:
            sample: how many games are replayed; all if there are no more.
            seed: which.

        Raises:
            FileNotFoundError: a file is missing.
            ValueError: the first difference: the file, the game, the decision and the column.
        """
        for number in range(self.shards):
            self.verify_files(number)
        chosen = np.random.default_rng(seed).permutation(self.games)[:sample]
        by_shard: dict[int, list[int]] = {}
        for game in sorted(chosen.tolist()):
            by_shard.setdefault(game // self.origin.shard_games, []).append(game)
        for number, games in by_shard.items():
            self.verify_games(number, games)

    def verify_files(self, number: int) -> None:
        """Check the checksums of a shard; see `verify`."""
        shard = self._manifest.shards[number]
        files = (
            (manifest.parquet_file(self.folder, number), shard.parquet),
            (manifest.records_file(self.folder, number), shard.records),
        )
        for path, wanted in files:
            self._check_digest(path, wanted)

    def _check_digest(self, path: Path, wanted: str) -> None:
        """Compare the checksum of a file; see `verify`."""
        found = manifest.digest(path)
        if found is None:
            raise FileNotFoundError(f"the dataset lacks {one_line(path, 120)}")
        if found != wanted:
            raise ValueError(f"{one_line(path, 120)} is damaged: its checksum is not the one in {manifest.NAME}")

    def verify_games(self, number: int, games: Sequence[int]) -> None:
        """Replay games of a shard and compare every column; see `verify`."""
        path, texts = manifest.parquet_file(self.folder, number), self.record_texts(number)
        first, there = number * self.origin.shard_games, dict.fromkeys(games, False)
        for game, found in self.by_game(number):
            if game not in there:
                continue
            there[game] = True
            wanted = self.expected(game, self.parsed(number, game - first, texts[game - first]))
            if len(found["game"]) != len(wanted["game"]):
                lengths = f"{len(found['game'])} decisions, its record {len(wanted['game'])}"
                raise ValueError(f"{one_line(path, 120)}: game {game} has {lengths}")
            for name in self.names:
                differs = (found[name] != wanted[name]).reshape(len(wanted["game"]), -1).any(1)
                if differs.any():
                    where = f"game {game}, decision {int(differs.argmax())}"
                    raise ValueError(f"{one_line(path, 120)}: {where}: {name} is not what the record leads to")
        if missing := [game for game, found in there.items() if not found]:
            raise ValueError(f"{one_line(path, 120)} has no game {missing[0]}")

    def by_game(self, number: int) -> Iterator[tuple[int, Batch]]:
        """The games of a shard one by one: the number of each, and its rows as `batches` describes them."""
        left: Batch | None = None
        for batch in self.batches(4096, shards=[number]):
            rows = batch if left is None else {n: np.concatenate([left[n], batch[n]]) for n in self.names}
            cuts = [0, *(np.flatnonzero(np.diff(rows["game"])) + 1).tolist()]
            for start, end in pairwise(cuts):
                yield int(rows["game"][start]), {name: rows[name][start:end] for name in self.names}
            left = {name: rows[name][cuts[-1] :] for name in self.names}
        if left is not None:
            yield int(left["game"][0]), left

    def expected(self, game: int, record: GameRecord) -> Batch:
        """The columns that the record of a game leads to, by the rules and the origin alone.

        Raises:
            ValueError: the record is of another deal or variant.
        """
        origin, batch = self.origin, GameBatch(self.variant)
        if record.variant.spec != origin.variant or record.seed != origin.deal(game) or not record.over:
            raise ValueError(f"the record of game {game} is not of that deal, or not of a whole game")
        states = np.concatenate([position.states for position in record.replay()])[:-1]
        seat, count = states["seat"].astype(np.int64), len(states)
        agent = np.array([origin.names.index(spec) for spec in origin.seating(game)])
        return {
            "game": np.full(count, game),
            "decision": np.arange(count),
            "seat": seat,
            "agent": agent[seat],
            "action": np.array(record.actions),
            "return": record.position.returns().astype(np.float32)[seat],
            "action_mask": batch.legal_masks(states),
            "observation": batch.observe(states, encoding=origin.encoding),
        }
