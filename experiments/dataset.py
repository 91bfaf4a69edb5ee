"""Play games between agents and keep every decision, for offline learning.

    python -m experiments.dataset --agents greedy --games 50000 --output runs/greedy
    python -m experiments.dataset --verify --output runs/greedy

Each shard of games is a Parquet file with one row a decision, and the records of the games as text; `dataset.json`
holds their checksums and what they were made from. The same settings give the same bytes, whatever the number of
processes. Ctrl-C or a crash loses only the shards being played: the same command goes on, and a larger --games adds to
what is there. `experiments.datasets.reader` reads a dataset.
"""

import time
from contextlib import closing
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import msgspec
from rich.console import Console

from agents.best import named
from agents.registry import make_agent
from agents.settings import Range
from agents.spec import split_agent_specs
from experiments.common.cli import GameSpec, make_folder, progress_bar, run_program
from experiments.common.interrupts import Interrupt
from experiments.common.ranges import Seed, check_ranges
from experiments.common.tasks import WorkerSettings, results
from experiments.datasets.manifest import NAME, Manifest, is_complete, origin_of, read_manifest
from samurai_env import parse_variant
from samurai_env.core.game import Variant
from samurai_env.core.texts import one_line, shown

MOST_SHARDS = 50_000  # that dataset.json may name


@dataclass
class Config(WorkerSettings):
    """Settings of a dataset."""

    agents: tuple[str, ...] = ("greedy",)
    """Spec of the agent in each seat, separated by blanks or commas; one plays every seat."""
    game: GameSpec = "samurai"
    """The game with its number of players and options."""
    games: Annotated[int, Range(1, 10**9)] = 10_000
    """Games in all."""
    rotate: bool = True
    """Let the agents move on by one seat from game to game."""
    encoding: str | None = None
    """Encoding of observations; the game's default if not given."""
    seed: Seed = 1
    """Seed of the dataset: the deals follow from it."""
    shard_games: Annotated[int, Range(1, 10**5)] = 500
    """Games in a shard: fewer for agents that think long."""
    output: Path = Path("runs/dataset")
    """Folder of the dataset."""
    verify: bool = False
    """Play nothing: check all files of the dataset in --output, and replay --sample of its games."""
    sample: Annotated[int, Range(0, 10**9)] = 100
    """Games that --verify replays."""
    minari: str | None = None
    """Play nothing: write the dataset in --output as Minari's of this id, an episode for each seat of a game."""

    def __post_init__(self) -> None:
        self.agents = split_agent_specs(self.agents)


def need(package: str) -> None:
    """Refuse to go on without a package.

    Raises:
        ValueError: it is not installed.
    """
    if find_spec(package) is None:
        raise ValueError(f"this needs {package}: pip install {package}")


def prepare(config: Config) -> Manifest:
    """Open the dataset, or begin an empty one; refuse impossible settings.

    Raises:
        ValueError: names what is wrong.
        OSError: the folder cannot be made, or a network is not there.
    """
    check_ranges(config)
    if (shards := -(-config.games // config.shard_games)) > MOST_SHARDS:
        raise ValueError(
            f"{config.games:,} games make {shards:,} shards, more than {MOST_SHARDS:,}: raise --shard-games"
        )
    variant = parse_variant(config.game)
    agents = agents_by_seat(config, variant)
    origin = origin_of(variant, config.encoding, agents, config.rotate, config.seed, config.shard_games)
    make_folder(config.output)
    if not (config.output / NAME).exists():
        if other := sorted(path.name for path in config.output.glob("games-*")):
            raise ValueError(f"{one_line(config.output, 120)} holds {other[0]} but no {NAME}: choose another --output")
        return Manifest(origin, config.games, {})
    manifest = read_manifest(config.output)
    for name in type(origin).__struct_fields__:
        here, there = getattr(origin, name), getattr(manifest.origin, name)
        if here != there:
            raise ValueError(
                f"the dataset in {one_line(config.output, 80)} has {name} {shown(there)}, not {shown(here)}: "
                "choose another --output"
            )
    if config.games < (there := manifest.last_game):
        raise ValueError(
            f"the dataset in {one_line(config.output, 80)} has {there:,} games: give as many --games or more"
        )
    manifest.games = config.games
    return manifest


def agents_by_seat(config: Config, variant: Variant) -> tuple[str, ...]:
    """The spec for each seat, each made once; `best` is the agent that it stands for now.

    Raises:
        ValueError: a wrong number of them, or one that does not exist.
    """
    given = tuple(named(spec, variant) for spec in config.agents)
    specs = given * variant.num_players if len(given) == 1 else given
    if len(specs) != variant.num_players:
        raise ValueError(f"--agents must be one, or one for each of {variant.num_players} seats, not {len(specs)}")
    for spec in dict.fromkeys(specs):
        make_agent(spec, variant)  # fail before anything is played
    return specs


def make(config: Config, console: Console) -> Manifest:
    """Play the shards that are missing.

    Raises:
        KeyboardInterrupt: after Ctrl-C; what is done is kept.
    """
    need("pyarrow")
    from experiments.datasets.shards import make_shard, write_shard

    manifest = prepare(config)
    for number in sorted(manifest.shards):
        if manifest.shards[number].games < manifest.shard_size(number):
            del manifest.shards[number]  # the last of a smaller dataset
        elif not is_complete(config.output, number, manifest.shards[number]):
            console.print(f"shard {number} is missing or damaged: it is played again")
            del manifest.shards[number]
    if not (config.output / NAME).exists() or manifest.done == manifest.games:
        manifest.save(config.output)  # else with the first new shard: until then the dataset is as it was
    before, started = manifest.done, time.perf_counter()
    tasks = (
        (manifest.origin, number, manifest.shard_size(number))
        for number in range(manifest.shard_count)
        if number not in manifest.shards
    )
    with (
        Interrupt() as interrupt,
        progress_bar(console, "games", manifest.games, before) as bar,
        closing(results(make_shard, tasks, config, lambda: interrupt.asked)) as coming,
    ):
        for (_, number, _), made in coming:
            manifest.shards[number] = write_shard(config.output, number, made)
            manifest.save(config.output)
            rate = f"{(manifest.done - before) / (time.perf_counter() - started):,.0f} games/s"
            bar(manifest.done, rate)
    tell(config, manifest, manifest.done - before, time.perf_counter() - started, console)
    interrupt.end()
    return manifest


def tell(config: Config, manifest: Manifest, played: int, seconds: float, console: Console) -> None:
    """Print what there is."""
    size = sum(path.stat().st_size for path in config.output.glob("games-*.parquet")) / 1e6
    texts = sum(path.stat().st_size for path in config.output.glob("games-*.txt")) / 1e6
    decisions = sum(shard.decisions for shard in manifest.shards.values())
    console.print(
        f"{config.output}: {manifest.done:,} games, {decisions:,} decisions, {size:,.1f} MB of Parquet, "
        f"{texts:,.1f} MB of records",
        soft_wrap=True,
    )
    if played:
        console.print(f"{played:,} games played in {seconds:,.1f} s, {played / seconds:,.0f} a second")


def verify(config: Config, console: Console) -> None:
    """Check the dataset in `config.output`.

    Raises:
        FileNotFoundError: a file is missing.
        ValueError: the first thing that is wrong.
    """
    need("pyarrow")
    from experiments.datasets.reader import Dataset

    dataset = Dataset(config.output)
    dataset.verify(config.sample, config.seed)
    replayed = min(config.sample, dataset.games)
    console.print(
        f"{config.output}: {2 * dataset.shards:,} files have their checksums; {replayed:,} of {dataset.games:,} games "
        f"replayed from their records, every column is the same",
        soft_wrap=True,
    )
    origin = msgspec.json.format(msgspec.json.encode(dataset.origin), indent=1).decode()
    console.print(origin, markup=False, soft_wrap=True)  # JSON, not broken where the output is no terminal


def export(config: Config, console: Console) -> None:
    """Write the dataset in `config.output` as Minari's.

    Raises:
        ValueError: it is damaged, or Minari is not installed or refuses it.
    """
    need("pyarrow")
    need("minari")
    from experiments.datasets import minari_export
    from experiments.datasets.reader import Dataset

    made = minari_export.export(Dataset(config.output), str(config.minari))
    console.print(f"{config.minari}: {made.total_episodes:,} episodes, {made.total_steps:,} steps")


def main(config: Config) -> None:
    """Make the dataset, verify it or export it."""
    console = Console()
    if config.verify:
        verify(config, console)
    if config.minari:
        export(config, console)
    if not (config.verify or config.minari):
        make(config, console)


if __name__ == "__main__":
    run_program("experiments.dataset", Config, main, __doc__)
