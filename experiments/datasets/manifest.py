"""The manifest of a dataset, `dataset.json` in its folder: its origin and the shards that are there.

A shard is two files: `games-00000.parquet`, one row a decision, and `games-00000.txt`, the records of the same games.
"""

import hashlib
import json
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from experiments.common.file_hashes import file_hash
from experiments.common.provenance import commit
from experiments.evaluation.matchups import versions
from samurai_env.core.game import Variant
from samurai_env.core.texts import one_line, shown
from samurai_env.core.variant_spec import parse_variant
from samurai_env.files.atomic_write import write_atomically
from samurai_env.files.json_reader import in_form, read_json

FORMAT = "samurai_env dataset 1"
NAME = "dataset.json"

Natural = Annotated[int, Meta(ge=0, lt=2**62)]
Digest = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]


class Origin(Struct, frozen=True):
    """Everything that the bytes of a shard depend on, beside its number and its number of games.

    Attributes:
        format: the version of this format.
        variant: spec of the variant.
        encoding: name of the encoding of observations.
        layout: hash of that encoding's layout and of the action names, see `layout_hash`.
        agents: spec of the agent in each seat of game 0.
        rotate: whether the agents move on by one seat from game to game.
        seed: of the dataset.
        shard_games: games in a shard; the last may have fewer.
        files: hashes of the files that agents' specs name, by spec.
        commit: of the code that played.
        versions: of what played.
    """

    format: str
    variant: str
    encoding: str
    layout: str
    agents: tuple[str, ...]
    rotate: bool
    seed: Natural
    shard_games: Annotated[int, Meta(ge=1, le=10**5)]
    files: dict[str, str]
    commit: str
    versions: dict[str, str]

    def deal(self, game: int) -> int:
        """The seed with which a game is reset: a function of the dataset's seed and the game's number."""
        digest = hashlib.blake2b(f"{self.seed} {game}".encode(), digest_size=8).digest()
        return int.from_bytes(digest, "little") >> 2

    def seating(self, game: int) -> tuple[str, ...]:
        """The spec of the agent in each seat of a game."""
        ahead = game % len(self.agents) if self.rotate else 0
        return self.agents[ahead:] + self.agents[:ahead]

    @property
    def names(self) -> tuple[str, ...]:
        """The specs, each once: the column `agent` holds numbers of these."""
        return tuple(dict.fromkeys(self.agents))


class Shard(Struct, frozen=True):
    """A shard that is there.

    Attributes:
        games: how many.
        decisions: rows of the Parquet file.
        parquet: SHA-256 of the Parquet file.
        records: SHA-256 of the file of records.
    """

    games: Annotated[int, Meta(ge=1, le=10**5)]
    decisions: Natural
    parquet: Digest
    records: Digest


class Manifest(Struct):
    """The contents of `dataset.json`.

    Attributes:
        origin: what the shards depend on.
        games: how many the dataset has once it is finished.
        shards: those that are there, by number.
    """

    origin: Origin
    games: Annotated[int, Meta(ge=1, le=10**9)]
    shards: dict[int, Shard]

    def shard_size(self, number: int) -> int:
        """The number of games of a shard."""
        return min(self.origin.shard_games, self.games - number * self.origin.shard_games)

    @property
    def shard_count(self) -> int:
        """The number of shards of the finished dataset."""
        return -(-self.games // self.origin.shard_games)

    @property
    def last_game(self) -> int:
        """The number after that of the last game that is there."""
        size = self.origin.shard_games
        return max((number * size + shard.games for number, shard in self.shards.items()), default=0)

    @property
    def done(self) -> int:
        """Games that are there."""
        return sum(shard.games for shard in self.shards.values())

    def save(self, folder: Path) -> None:
        """Write `dataset.json`, shards in order of their numbers."""
        found = msgspec.to_builtins(self)
        found["shards"] = {str(number): msgspec.to_builtins(self.shards[number]) for number in sorted(self.shards)}
        write_atomically(folder / NAME, json.dumps(found, indent=1) + "\n")


def layout_hash(variant: Variant, encoding: str) -> str:
    """16 digits that change with the shape, the blocks or the limits of an encoding, or an action's name."""
    layout = variant.encoding(encoding)
    blocks = [(block.name, block.shape, block.limits) for block in layout.blocks]
    text = json.dumps([layout.shape, layout.axis, blocks, variant.action_names])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def origin_of(
    variant: Variant, encoding: str | None, agents: tuple[str, ...], rotate: bool, seed: int, shard_games: int
) -> Origin:
    """The origin of shards that would be played now, with this code."""
    name = variant.encoding_name(encoding)
    return Origin(
        FORMAT,
        variant.spec,
        name,
        layout_hash(variant, name),
        agents,
        rotate,
        seed,
        shard_games,
        {spec: found for spec in dict.fromkeys(agents) if (found := file_hash(spec))},
        commit(),
        versions() | {"pyarrow": version("pyarrow")},
    )


def parquet_file(folder: Path, number: int) -> Path:
    """The file with the decisions of a shard."""
    return folder / f"games-{number:05}.parquet"


def records_file(folder: Path, number: int) -> Path:
    """The file with the records of a shard."""
    return folder / f"games-{number:05}.txt"


def read_manifest(folder: Path) -> Manifest:
    """Read `dataset.json`.

    Raises:
        FileNotFoundError: the folder has none.
        ValueError: it is damaged, or not of this format, or of a game that this program does not have in that form.
    """
    path = folder / NAME
    if not path.exists():
        raise FileNotFoundError(f"there is no dataset in {one_line(folder, 120)}: it has no {NAME}")
    found = read_json(path, dict[str, Any])
    origin = found.get("origin")
    kind = origin.get("format") if isinstance(origin, dict) else None
    if kind != FORMAT:
        raise ValueError(f"{one_line(path, 120)} is no dataset of this format: it says {shown(kind)}, not {FORMAT!r}")
    try:
        manifest = in_form(found, Manifest)
        origin = manifest.origin
        variant = parse_variant(origin.variant)
        if origin.layout != layout_hash(variant, origin.encoding):
            raise ValueError(f"its encoding {origin.encoding} has another layout than this version's")
        if len(origin.agents) != variant.num_players:
            raise ValueError(f"it names {len(origin.agents)} agents for {variant.num_players} seats")
        for number, shard in manifest.shards.items():
            if not 0 <= number < manifest.shard_count or shard.games > manifest.shard_size(number):
                raise ValueError(f"it has a shard {number} of {shard.games} games, of {manifest.games} in all")
    except ValueError as error:
        raise ValueError(f"{one_line(path, 120)} is damaged or foreign: {one_line(error, 130)}") from None
    return manifest


def digest(path: Path) -> str | None:
    """The SHA-256 of a file, read in pieces; None if there is none."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return None


def is_complete(folder: Path, number: int, shard: Shard) -> bool:
    """Whether both files of a shard have their checksums."""
    files = parquet_file(folder, number), records_file(folder, number)
    return tuple(map(digest, files)) == (shard.parquet, shard.records)
