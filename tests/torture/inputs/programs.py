"""Programs that write, small: what they do from wherever they were stopped, and what they must end with."""

import json
import os
import resource
import shutil
import signal
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numba
import numpy as np
import torch
from rich.console import Console
from safetensors.torch import load_file

from agents.networks.cards import read_card
from agents.networks.network_files import load_network
from experiments import action_gaps, distill_rollouts, tournament
from experiments.common import periodic_save
from experiments.common.cli import report_unless_raised_again
from experiments.leaderboard.play import Config, play
from experiments.train_ppo import train
from experiments.training.config import Config as TrainConfig
from samurai_env import Position, make_variant
from samurai_env.core.jit import jit
from samurai_env.game_record import GameRecord

QUIET = Console(quiet=True)
TRAINING: dict[str, Any] = {
    "hidden": (32,),
    "num_envs": 8,
    "num_steps": 16,
    "minibatch_size": 64,
    "checkpoint_every": 1,
}
TRAINING |= {"eval_every": 2, "eval_deals": 2, "total_timesteps": 128 * 6, "device": "cpu"}
LADDER = """[[ladder]]
name = "small"
game = "samurai players=2"
agents = ["random", "greedy"]
deals = 12
full_deals = 12
chunk = 2
"""


@dataclass(frozen=True)
class Program:
    """A program.

    Attributes:
        run: do, in a folder, all that is still to do; as a command would that is given again.
        outcome: what it must leave in the end, whatever happened on the way.
    """

    run: Callable[[Path], object]
    outcome: Callable[[Path], object]


def as_bytes(tensors: dict[str, Any]) -> dict[str, bytes]:
    """Tensors as what they are bit by bit."""
    return {name: tensor.numpy().tobytes() for name, tensor in sorted(tensors.items())}


def network(run: Path) -> object:
    """The network of a run and what its card says that does not depend on the clock."""
    notes = read_card(run).notes
    curve = [{name: value for name, value in point.items() if name != "seconds"} for point in notes.get("curve", ())]
    told = {name: notes.get(name) for name in ("steps", "updates", "gradient_steps", "games", "worth_of_choices")}
    return as_bytes(load_network(run).state_dict()), curve, told


def training(**changes: Any) -> Program:
    """A training run."""

    def run(folder: Path) -> None:
        resume = (folder / "run" / "checkpoint.safetensors").exists()
        train(TrainConfig(**{"run": folder / "run", **TRAINING, **changes}, resume=resume), QUIET)

    def outcome(folder: Path) -> object:
        checkpoint = as_bytes(load_file(folder / "run" / "checkpoint.safetensors"))
        return checkpoint, network(folder / "run"), (folder / "run" / "curve.png").read_bytes()

    return Program(run, outcome)


def play_out(folder: Path) -> None:
    """Learn from rollouts."""
    small = {"rollouts": "rollout:2,potential_weight=4", "deals": 32, "hidden": (8,), "action_width": 8, "epochs": 2}
    distill_rollouts.learn(distill_rollouts.Config(folder / "run", processes=1, **small), QUIET)


def played_out(folder: Path) -> object:
    """The network, and the positions that it learned from."""
    parts = {path.name: path.read_bytes() for path in sorted((folder / "run").glob("positions-*.npz"))}
    return network(folder / "run"), parts


def shares(path: Path) -> object:
    """The deals of a tournament."""
    return {(m["one"], m["others"]): m["shares"] for m in json.loads(path.read_text(encoding="utf-8"))["matchups"]}


def meet(folder: Path) -> None:
    """Play a tournament whose matchups end at a width, and show it."""
    periodic_save.SECONDS = 0.0
    config = tournament.Config(
        ("random", "greedy"), deals=60, width=0.25, chunk=3, processes=1, output=folder / "tournament"
    )
    tournament.show(config, tournament.play(config, QUIET), QUIET)


def met(folder: Path) -> object:
    """The deals, the table and the picture."""
    output = folder / "tournament"
    return shares(output / "results.json"), (output / "table.txt").read_text(encoding="utf-8")[:200]


def lead(folder: Path) -> None:
    """Play a leaderboard."""
    periodic_save.SECONDS = 0.0
    (folder / "list.toml").write_text(LADDER, encoding="utf-8")
    play(Config(processes=1), QUIET, folder, folder / "list.toml")


def gain(folder: Path) -> None:
    """Measure action_gaps."""
    action_gaps.measure(
        action_gaps.Config(("random",), positions=24, games=2, processes=1, output=folder / "gains"), QUIET
    )


def gained(folder: Path) -> object:
    """What was measured."""
    found = json.loads((folder / "gains" / "gains.json").read_text(encoding="utf-8"))
    return found["choices"], found["worths"]


def write_records(folder: Path) -> None:
    """Write game records, and one of them over and over."""
    for number in range(12):
        record, choose = GameRecord(make_variant("samurai"), number), np.random.default_rng(number)
        position = Position(record.variant, number)
        for _ in range(40):
            action = int(choose.choice(position.legal_actions()))
            position.step(action)
            record.append(action)
        if not (folder / f"{number}.txt").exists():
            record.save(folder / f"{number}.txt")
        record.save(folder / "last.txt")
        GameRecord.load(folder / "last.txt")


def records(folder: Path) -> object:
    """All records, each read and verified."""
    return {path.name: GameRecord.load(path).to_text() for path in sorted(folder.glob("*.txt"))}


def compile_into_cache(folder: Path) -> None:
    """Compile into a cache of its own, or load what is there."""
    numba.config.CACHE_DIR = str(folder)

    def twice(array):
        total = array[0] * 0
        for value in array:
            total += value
        return total * 2

    compiled = jit(twice)
    for kind in (np.int8, np.int64, np.float64):
        found = compiled(np.arange(100, dtype=np.int64).astype(kind))
        assert found == 9900, f"{found} instead of 9900"


CACHE = Program(compile_into_cache, lambda folder: None)  # turns the cache of its whole process
PROGRAMS = {
    "training": training(),
    "expert iteration": training(expert="puct:4,net=self", imitation_steps=256, opponents=("past",)),
    "rollouts": Program(play_out, played_out),
    "tournament": Program(meet, met),
    "leaderboard": Program(lead, lambda folder: shares(folder / "small" / "results.json")),
    "gains": Program(gain, gained),
    "records": Program(write_records, records),
    "numba cache": CACHE,
}


def warm_up() -> None:
    """Run every program once in this process, so that the children that are forked have all imported and compiled.

    Torch computes with one thread: it would start others, which do not survive a fork.
    """
    torch.set_num_threads(1)
    with places() as place:
        for program in PROGRAMS.values():
            if program is not CACHE:
                program.run(place())
    assert threading.active_count() == 1, f"threads that a fork would lose: {threading.enumerate()}"


def start(work: Callable[[], object], told: Path) -> int:
    """Do it in a new process, as a program would: what is wrong is a line in the file `told`, exit status 1."""
    child = os.fork()
    if child:
        return child
    status = 2
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        threading.excepthook = report_unless_raised_again
        with told.open("w", encoding="utf-8") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
            try:
                work()
                status = 0
            except (ValueError, OSError) as error:
                print(f"error: {error}", flush=True)
                status = 1
            except BaseException:
                traceback.print_exc()
    finally:
        os._exit(status)


def end(child: int) -> int:
    """The exit status of a process, below 0 for a signal."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def outcome(program: Program, folder: Path) -> object:
    """What a program left, read in a process of its own."""
    answer = folder.with_suffix(".outcome")

    def read() -> None:
        answer.write_text(repr(program.outcome(folder)), encoding="utf-8")

    told = folder.with_suffix(".told")
    assert end(start(read, told)) == 0, told.read_text(encoding="utf-8")
    return answer.read_text(encoding="utf-8")


def go_on(program: Program, folder: Path, expected: object, reproducer: str) -> None:
    """Let the program come to its end, whatever was done to it before, and compare; None as `expected` is anything.

    Raises:
        AssertionError: it does not end, or not with what it must.
    """
    told = folder.with_suffix(".told")
    status = end(start(lambda: program.run(folder), told))
    assert status == 0, f"{reproducer}: cannot go on ({status}): {told.read_text(encoding='utf-8')[-2000:]}"
    left = [path.name for path in folder.rglob(".*.tmp")]
    assert not left, f"{reproducer}: left behind: {left}"
    assert expected is None or outcome(program, folder) == expected, f"{reproducer}: another end"


@contextmanager
def places() -> Iterator[Callable[[], Path]]:
    """A way to get new empty folders, which are gone afterwards."""
    root = Path(tempfile.mkdtemp(prefix="torture-"))
    count = [0]

    def place() -> Path:
        count[0] += 1
        folder = root / str(count[0])
        folder.mkdir()
        return folder

    try:
        yield place
    finally:
        shutil.rmtree(root)


def discard(folder: Path) -> None:
    """Remove the folder of a run that was compared; hundreds of them would fill the disk."""
    shutil.rmtree(folder)


def undisturbed(program: Program, folder: Path, name: str) -> tuple[object, float]:
    """What the program ends with when nothing happens, and after how many seconds."""
    for _ in range(2):  # the first fills caches
        shutil.rmtree(folder)
        folder.mkdir()
        began = time.monotonic()
        go_on(program, folder, None, f"{name} undisturbed")
    return outcome(program, folder), time.monotonic() - began


def limit_files(size: int) -> None:
    """Let every file that grows beyond `size` bytes fail as on a full disk, half written, in this process."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
