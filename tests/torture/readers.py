"""Every reader of files and specs against spoiled ones: a valid object or one short line, in bounded time and memory.

    python -m tests.torture.readers [--long] [--seed 1] [--only position] [--first 20000]

A failure names reader, seed and number: `spoiled(reader, seed, number)` makes the same input again.
"""

import argparse
import contextlib
import hashlib
import io
import json
import multiprocessing
import random
import resource
import signal
import struct
import sys
import tempfile
import time
import traceback
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors import torch as tensor_files

from agents.networks.config import NetworkConfig
from agents.networks.network import PolicyValueNet
from agents.networks.network_files import load_network, save_network
from agents.registry import make_agent
from experiments.action_gaps import ActionGaps
from experiments.action_gaps import Config as ActionGapsConfig
from experiments.benchmark import page as speed_page
from experiments.common.provenance import RESULTS
from experiments.distill_rollouts import load_positions
from experiments.evaluation.cooperative_results import CooperativeResults
from experiments.evaluation.ladders import LIST, read_ladders
from experiments.evaluation.matchups import Results
from experiments.search_variants import KeptSpecs
from experiments.strong_play.page import page as strong_play_page
from experiments.strong_play.play import load as load_strong_play
from experiments.strong_play.play import read_sections
from experiments.training import checkpoint
from experiments.training.config import Config as TrainConfig
from experiments.training.learner import Learner
from samurai_env import make_variant, parse_variant
from samurai_env.files.json_reader import read_json
from samurai_env.game_record import GameRecord
from samurai_env.games.card.rules.card_lists import DATA, load_cards
from samurai_env.position import MAGIC, Position
from tests.torture.inputs.mutations import bytes_spoiled, json_spoiled

LONG, SHORT = 100_000, 3_000  # inputs, over all readers
SECONDS, BYTES = 1.0, 200 * 2**20  # for one input; processor time, memory
KNOWN = 5_000  # inputs between two words on how far it has come
MOST = 2**25  # bytes of an input: to write more takes longer than to refuse it
LONGEST = 300  # characters of a refusal
BETWEEN = b"\n--8<--\n"  # card and weights of a network
SPECS = [
    *(
        "greedy",
        "mcts:8,rollout_depth=4,rollout_greedy=1,c_puct=1.5",
        "flat_mc:8",
        "rollout:4,potential_weight=4",
        "ppo:runs/none",
    ),
    *("puct:8,net=runs/none,rollout_weight=0.5", "lookahead", "untrained"),
]
HEAD = {"base": "greedy", "positions": 4, "games": 2, "seed": 1, "networks": {}}
GAINS = json.dumps(
    {
        **{"format": "samurai_env gains 1", "variant": make_variant("samurai").spec, **HEAD},
        **{"choices": {"greedy": [1, 2, 3, 4], "random": [1, 3, 3, 4]}, "seconds": {"greedy": 1.0, "random": 0.1}},
        "worths": [[1, 2, 0.5], [1, 3, -1.0]],
    }
).encode()


@dataclass(frozen=True)
class Reader:
    """One way in.

    Attributes:
        read: what takes the input.
        valid: inputs that it takes.
        spoil: makes another of one of them; None for `bytes_spoiled` alone.
    """

    read: Callable[[bytes], object]
    valid: list[bytes]
    spoil: Callable[[random.Random, bytes], bytes] | None = None


def sealed(rng: random.Random, data: bytes) -> bytes:
    """A saved position with other numbers and the checksum that belongs to them."""
    body = bytearray(data[:-16])
    start = body.index(b"\n", len(MAGIC)) + 1 if rng.random() < 0.9 else len(MAGIC)
    for _ in range(rng.choice((1, 2, 5))):
        body[rng.randrange(start, len(body))] = rng.choice((0, 1, 2, 3, 127, 128, 255, rng.randrange(256)))
    return bytes(body) + hashlib.blake2b(bytes(body), digest_size=16).digest()


def network_spoiled(rng: random.Random, data: bytes) -> bytes:
    """Another card or other weights, with the checksum that belongs to them, or none."""
    card, weights = data.split(BETWEEN, 1)
    kind = rng.randrange(4)
    if kind == 0:
        card = json_spoiled(rng, card)
    elif kind == 1:
        length = int.from_bytes(weights[:8], "little")
        header = json_spoiled(rng, weights[8 : 8 + length])
        weights = struct.pack("<Q", len(header)) + header + weights[8 + length :]
    elif kind == 2:
        weights = bytes_spoiled(rng, weights, weights)
    else:
        found = json.loads(card)
        found["hidden"] = [rng.choice((0, 1, 16, 6000, 65_536, 10**6)) for _ in range(rng.choice((0, 1, 2, 40, 400)))]
        for name in ("entity_width", "action_width", "spatial_width", "graph_width"):
            found[name] = rng.choice((0, 0, 1, 7, 8, 4000, 65_536))
        found["tuned_prior"] = rng.random() < 0.2
        found["encoding"], found["heuristic_prior"] = rng.choice(("flat", "planes", "tokens", "")), rng.random() < 0.5
        card = json.dumps(found).encode()
    with contextlib.suppress(ValueError, RecursionError, TypeError):
        card = json.dumps({**json.loads(card), "sha256": hashlib.sha256(weights).hexdigest()}).encode()
    return card + BETWEEN + weights


def checkpoint_spoiled(rng: random.Random, data: bytes) -> bytes:
    """A checkpoint with another head or other tensors, and the checksum that belongs to them."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "checkpoint"
        path.write_bytes(data)
        with safe_open(path, "pt") as file:
            tensors, stamp = {name: file.get_tensor(name) for name in file.keys()}, file.metadata()  # noqa: SIM118
    if rng.random() < 0.5:
        stamp["head"] = json_spoiled(rng, stamp["head"].encode()).decode()
    else:
        for name in rng.sample(sorted(tensors), rng.choice((1, 1, 2, 9))):
            spoil = rng.choice(TENSOR_SPOILS)
            if (other := spoil(rng, tensors[name])) is None:
                del tensors[name]
            else:
                tensors[name] = other.contiguous()
    try:
        stamp["checksum"] = checkpoint._checksum(tensors, stamp["head"])
        return tensor_files.save(tensors, stamp)
    except (SafetensorError, UnicodeEncodeError):  # there can be no such file
        return bytes_spoiled(rng, data, data)


TENSOR_SPOILS: list[Callable[[random.Random, torch.Tensor], torch.Tensor | None]] = [
    lambda rng, tensor: None,
    lambda rng, tensor: tensor[..., :-1] if tensor.ndim else tensor[None],
    lambda rng, tensor: tensor.reshape(-1).repeat(rng.choice((0, 2, 50))),
    lambda rng, tensor: tensor.to(rng.choice((torch.float64, torch.int64, torch.uint8, torch.bool, torch.bfloat16))),
    lambda rng, tensor: torch.full_like(tensor, rng.choice((0, 1, 127))),
    lambda rng, tensor: tensor.reshape(-1)[torch.tensor(_shuffled(rng, tensor.numel()), dtype=torch.int64)].reshape(
        tensor.shape
    ),
]


def _shuffled(rng: random.Random, count: int) -> list[int]:
    numbers = list(range(count))
    rng.shuffle(numbers)
    return numbers


def arrays_spoiled(rng: random.Random, data: bytes) -> bytes:
    """An .npz file whose arrays are spoiled, with the checksums that belong to them."""
    packed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as file, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as other:
        for name in file.namelist():
            member = file.read(name)
            other.writestr(name, bytes_spoiled(rng, member, member) if rng.random() < 0.5 else member)
    return packed.getvalue()


class Readers:
    """All readers, each made when it is first asked for, with files in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.games = [make_variant("samurai", 3), make_variant("samurai_card"), make_variant("samurai_spirit", 2)]
        self._makers: dict[str, Callable[[], Reader]] = {
            "record": lambda: Reader(
                self.file("game.txt", GameRecord.load), [r.to_text().encode() for r in self.played]
            ),
            "position": lambda: Reader(
                lambda data: Position.restore(data).legal_actions(),
                [list(record.replay())[len(record.actions) // 2].save() for record in self.played],
                sealed,
            ),
            "network": lambda: Reader(self.network, self.networks(), network_spoiled),
            "checkpoint": lambda: Reader(
                self.file("checkpoint.safetensors", lambda path: checkpoint.load(self.learner)),
                [self.checkpoint()],
                checkpoint_spoiled,
            ),
            "results": lambda: Reader(self.file("results.json", Results), kept("*/results.json"), json_spoiled),
            "wins": lambda: Reader(
                self.file("wins.json", CooperativeResults),
                [short_wins(data) for data in kept("*/wins.json")],
                json_spoiled,
            ),
            "specs": lambda: Reader(
                self.file("specs.json", lambda path: read_json(path, KeptSpecs)), kept("*/specs.json"), json_spoiled
            ),
            "gains": lambda: Reader(self.file("gains.json", self.gains), [GAINS], json_spoiled),
            "bench": lambda: Reader(
                self.file("bench.json", lambda path: speed_page.speed([path])), kept("bench*.json"), json_spoiled
            ),
            "peers": lambda: Reader(
                self.file("peers.json", lambda path: speed_page.pages(path.parent)),
                kept("peers.json"),
                json_spoiled,
            ),
            "growth": lambda: Reader(
                self.file("growth.json", lambda path: speed_page.pages(path.parent)),
                kept("growth.json"),
                json_spoiled,
            ),
            "strong play": lambda: Reader(
                self.file("card-2.json", self.strong_play), kept("strong-play/card-2.json"), json_spoiled
            ),
            "cards": lambda: Reader(
                self.file("cards.json", lambda path: load_cards(path, f"list{random.random()}")),
                [(DATA / "cards.json").read_bytes()],
                json_spoiled,
            ),
            "boards": lambda: Reader(self.file("list.toml", read_ladders), [LIST.read_bytes()]),
            "arrays": lambda: Reader(self.file("positions.npz", load_positions), [self.new_arrays()], arrays_spoiled),
            "variant": lambda: Reader(
                lambda data: parse_variant(data.decode("utf-8", "surrogateescape")),
                [v.spec.encode() for v in self.games],
            ),
            "agent": lambda: Reader(
                lambda data: make_agent(data.decode("utf-8", "surrogateescape"), self.games[0]),
                [spec.encode() for spec in SPECS],
            ),
        }
        self.names = list(self._makers)
        self._made: dict[str, Reader] = {}

    def __getitem__(self, name: str) -> Reader:
        if name not in self._made:
            self._made[name] = self._makers[name]()
        return self._made[name]

    @cached_property
    def played(self) -> list[GameRecord]:
        """A whole game of each kind."""
        return [GameRecord.play(v, 5, lambda p: p.legal_actions()[-1], {"player0": "last"}) for v in self.games]

    def file(self, name: str, read: Callable[[Path], object]) -> Callable[[bytes], object]:
        """Reads bytes by way of a file; each of these in a folder of its own."""
        folder = self.folder / name.partition(".")[0]
        folder.mkdir(exist_ok=True)

        def through(data: bytes) -> object:
            (folder / name).write_bytes(data)
            return read(folder / name)

        return through

    def gains(self, path: Path) -> object:
        """Go on from a file of gains."""
        return ActionGaps(ActionGapsConfig(positions=4, games=2, output=path.parent), make_variant("samurai"))

    def strong_play(self, path: Path) -> object:
        """Make a table of a section of how strong agents play."""
        section = next(section for section in read_sections() if section.name == path.stem)
        row = "decisions | length.decisions | .1"
        return strong_play_page(
            {path.stem: load_strong_play(section, path.parent)}, f"# -\n\n{{{{table {path.stem}: strong\n{row}\n}}}}"
        )

    def network(self, data: bytes) -> object:
        """Load a network from card and weights."""
        card, _, weights = data.partition(BETWEEN)
        (self.folder / "net.json").write_bytes(card)
        (self.folder / "net.safetensors").write_bytes(weights)
        return load_network(self.folder / "net.safetensors")

    def networks(self) -> list[bytes]:
        """Card and weights of small networks of all kinds."""
        board, card = (variant.spec for variant in self.games[:2])
        forms = [
            NetworkConfig(board, "flat", (8,), heuristic_prior=True),
            NetworkConfig(card, "flat", (8,), heuristic_prior=True, entity_width=8, action_width=8),
            NetworkConfig(board, "planes", (8,), spatial_width=4),
            NetworkConfig(board, "tokens", (8,), spatial_width=4),
        ]
        path, found = self.folder / "net.safetensors", []
        for form in forms:
            save_network(PolicyValueNet(form), path, {"steps": 1})
            found.append(path.with_suffix(".json").read_bytes() + BETWEEN + path.read_bytes())
        return found

    @cached_property
    def learner(self) -> Learner:
        """A small training that may go on from a checkpoint."""
        small = {"hidden": (8,), "num_envs": 4, "num_steps": 8, "minibatch_size": 32, "device": "cpu"}
        return Learner(TrainConfig(run=self.folder / "checkpoint", game="samurai_card", **small))

    def checkpoint(self) -> bytes:
        """The checkpoint of that training after an update."""
        self.learner.collect()
        self.learner.update()
        checkpoint.save(self.learner)
        return (self.folder / "checkpoint" / "checkpoint.safetensors").read_bytes()

    def new_arrays(self) -> bytes:
        """Positions as `distill_rollouts` keeps them."""
        made, counts = io.BytesIO(), np.array([2, 3])
        np.savez_compressed(made, features=np.ones((5, 3), np.float32), values=np.ones(5, np.float32), counts=counts)
        return made.getvalue()


def kept(pattern: str) -> list[bytes]:
    """The project's own results, but for the largest."""
    return [path.read_bytes() for path in sorted(RESULTS.glob(pattern)) if path.stat().st_size < 60_000]


def short_wins(data: bytes) -> bytes:
    """Returns of a cooperative game with three chunks of each agent: a thousand alike only take time."""
    found = json.loads(data)
    for row in found["returns"]:
        for kept_by_game in {"chunks", "ends"} & row.keys():
            row[kept_by_game] = dict(list(row[kept_by_game].items())[:3])
    return json.dumps(found).encode()


def spoiled(reader: Reader, name: str, seed: int, number: int) -> bytes:
    """Input of that number."""
    rng = random.Random(f"{seed} {name} {number}")
    data = rng.choice(reader.valid)
    if reader.spoil and rng.random() < 0.7:
        return reader.spoil(rng, data)[:MOST]
    return bytes_spoiled(rng, data, rng.choice(reader.valid))[:MOST]


def memory() -> int:
    """Bytes of address space that this process has."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


@contextlib.contextmanager
def limited(more: int) -> Iterator[None]:
    """While this context lasts the process can have so many bytes more, where the system can limit them."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (memory() + more, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def trial(reader: Reader, data: bytes) -> bool:
    """Whether an input is taken; AssertionError if it is neither taken nor refused as it should be."""
    began = time.process_time()
    try:
        reader.read(data)
        taken = True
    except (ValueError, OSError) as error:
        told, taken = str(error), False
        assert told, "refused without a word"
        assert len(told) < LONGEST, f"a refusal of {len(told):,} characters: {told[:200]!r}"
        assert len(told.splitlines()) == 1, f"a refusal of several lines: {told!r}"
    except BaseException:
        raise AssertionError(traceback.format_exc(limit=-3)) from None
    spent = time.process_time() - began
    assert spent < SECONDS, f"{spent:.1f} s"
    return taken


def campaign(inputs: int, seed: int, only: str | None = None, first: int = 0) -> dict[str, int]:
    """Try inputs in turn at all readers, in this process, from number `first` on."""
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        readers = Readers(Path(folder))
        names = [only] if only else readers.names
        for name in names:  # what is compiled and imported once is no fault of an input
            taken = 0
            for data in readers[name].valid:
                with contextlib.suppress(OSError):  # a spec may name a file that is not there
                    readers[name].read(data)
                    taken += 1
            assert taken, f"reader {name} takes none of the inputs that are to be spoiled"
        began = memory()
        found = dict.fromkeys([f"{name} {how}" for name in names for how in ("taken", "refused")], 0)
        for number in range(first, inputs):
            if number % KNOWN == 0 and number > first:
                print(f"readers: nothing found up to --first {number}", file=sys.stderr, flush=True)
            name = names[number % len(names)]
            data = spoiled(readers[name], name, seed, number)
            signal.alarm(60)  # ends the process
            try:
                with limited(BYTES):
                    taken = trial(readers[name], data)
            except AssertionError as error:
                where = f"reader {name}, seed {seed}, input {number} of {len(data):,} bytes: {data[:100]!r}"
                raise AssertionError(f"{where}: {error}") from None
            signal.alarm(0)
            found[f"{name} {'taken' if taken else 'refused'}"] += 1
        found["MiB of memory more than at the start"] = (memory() - began) // 2**20
    return found


def _child(pipe: Any, *arguments: Any) -> None:
    try:
        pipe.send(campaign(*arguments))
    except AssertionError as error:
        pipe.send(str(error))


def run(long: bool, seed: int, only: str | None = None, first: int = 0) -> dict[str, int]:
    """The campaign, in a process of its own.

    Args:
        long: 100,000 inputs instead of 3,000.
        seed: of the inputs.
        only: name of a reader; all if not given.
        first: how many inputs of this `seed` have been tried already, by an earlier run.

    Returns:
        Inputs taken and refused, by reader.

    Raises:
        AssertionError: an input was neither taken nor refused in one short line; names it.
    """
    here, there = multiprocessing.Pipe(duplex=False)
    arguments = (there, LONG if long else SHORT, seed, only, first)
    child = multiprocessing.get_context("spawn").Process(target=_child, args=arguments)
    child.start()
    there.close()
    try:
        found = here.recv()
    except EOFError:
        found = f"seed {seed}: the process ended (a minute for one input, or a crash)"
    child.join()
    assert isinstance(found, dict), found
    return found


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.torture.readers", description="Spoiled files for all readers."
    )
    parser.add_argument("--long", action="store_true", help="100,000 inputs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="name of a reader")
    parser.add_argument("--first", type=int, default=0, help="go on from this input")
    given = parser.parse_args()
    for name, count in run(given.long, given.seed, given.only, given.first).items():
        print(f"{name}: {count:,}")


if __name__ == "__main__":
    main()
