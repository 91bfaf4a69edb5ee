"""Measure what handing out work costs, in processes and on Ray, and where many workers would saturate.

    python -m experiments.benchmark.cluster              # the constants, then the model for 100 and 1,000 workers
    python -m experiments.benchmark.cluster --rounds 9   # more pairs: on a busy machine

The two forms take turns on tasks that wait instead of computing, so that other programs disturb both alike and what is
left is the handing out. Needs Ray (`pip install ray`).
"""

import json
import os
import pickle
import statistics
import time
from contextlib import closing
from dataclasses import asdict, dataclass, fields
from itertools import repeat
from pathlib import Path
from typing import Annotated

from rich.console import Console

from agents.settings import Range
from experiments.common.cli import check_writable, run_program
from experiments.common.markdown import table
from experiments.common.provenance import commit, machine
from experiments.common.ranges import Count, check_ranges
from experiments.common.tasks import WorkerSettings, results
from experiments.evaluation.matchups import Chunk
from samurai_env.files.atomic_write import write_atomically

MILLISECONDS = (100, 300, 1000)  # of a task
WORKERS = (1, 2)
START_SECONDS = 120  # in which all workers have to begin
IN_FLIGHT, LOOKS = 1500, 20  # tasks, and how often they are looked at
SIZES = (1, 2, 10, 100, 1000)  # workers of the model


@dataclass
class Config:
    """Settings of the measurement."""

    rounds: Count = 5
    """Pairs of runs for each length of a task and number of workers."""
    seconds: Annotated[float, Range(0.5, 1e4)] = 5.0
    """Length of a run."""
    output: Path = Path("runs/cluster.json")
    """File for what was measured."""


@dataclass
class Constants:
    """The constants that the model rests on."""

    driver_ray: float
    """Processor seconds of the program for a task on Ray."""
    look: float
    """The same, more, for each other task in flight."""
    driver_processes: float
    """The same in processes."""
    task_bytes: int
    """Of a task of a tournament with its result, five deals."""
    weights_bytes: int
    """Of the networks that actors are sent after an update."""
    decision_bytes: float
    """Of a decision in a rollout."""
    played: float
    """Decisions that an actor plays in a second on a core."""
    learned: float
    """Decisions that the learner learns from in a second on a core."""


def wait(seconds: float) -> int:
    """Task: wait; who did."""
    time.sleep(seconds)
    return os.getpid()


def hand_out(workers: WorkerSettings, seconds: float, tasks: int) -> tuple[float, float]:
    """Seconds and the program's processor seconds for each of some tasks, once all workers work.

    Raises:
        ValueError: some of the workers do not begin, as on a machine with fewer cores than Ray was told.
    """
    seen, done, begun, start = set(), 0, (0.0, 0.0), time.perf_counter()
    with closing(results(wait, repeat(seconds), workers, lambda: False)) as coming:
        for _, worker in coming:
            seen.add(worker)
            done += len(seen) >= workers.processes
            now = time.perf_counter(), time.process_time()
            if not done and now[0] - start > START_SECONDS:
                raise ValueError(f"after {START_SECONDS} s {len(seen)} of {workers.processes} workers have begun")
            if done == 1:
                begun = now
            if done > tasks:
                break
    return (now[0] - begun[0]) / tasks, (now[1] - begun[1]) / tasks


def ratios(config: Config, milliseconds: int) -> list[tuple[float, float, float, float]]:
    """Of each pair of runs with two workers: seconds and processor seconds a task, in processes and on Ray."""
    tasks = 2 * max(2, round(1000 * config.seconds / milliseconds))  # as many for each worker
    forms = {ray: WorkerSettings(processes=2, ray=ray) for ray in (False, True)}
    found = []
    for number in range(config.rounds):
        order = (False, True) if number % 2 else (True, False)
        run = {ray: hand_out(forms[ray], milliseconds / 1000, tasks) for ray in order}
        found.append((*run[False], *run[True]))
    return found


def growth(config: Config) -> list[list[str]]:
    """Rows of a table: workers, and tasks a second in each form."""
    import ray

    seconds, rows = MILLISECONDS[0] / 1000, []
    for number in WORKERS:
        ray.shutdown()  # so that the next starts with as many CPUs
        tasks = round(number * config.seconds / seconds)
        forms = [WorkerSettings(processes=number, ray=ray) for ray in (False, True)]
        where = " (in the program itself where there are processes)" * (number == 1)
        rows.append([f"{number}{where}", *(f"{1 / hand_out(form, seconds, tasks)[0]:.2f}" for form in forms)])
    return rows


def look_cost() -> float:
    """Processor seconds for each task in flight, of a look at which are done."""
    import ray

    tasks = [ray.remote(num_cpus=1)(wait).remote(60.0) for _ in range(IN_FLIGHT)]
    begun = time.process_time()
    for _ in range(LOOKS):
        ray.wait(tasks, timeout=0)
        ray.wait(tasks, num_returns=len(tasks), timeout=0)
    spent = time.process_time() - begun
    for task in tasks:
        ray.cancel(task, force=True)
    return spent / LOOKS / IN_FLIGHT


def learning() -> tuple[int, float, float, float]:
    """Bytes of the weights and of a decision, and decisions played and learned in a second on a core."""
    import torch  # here and not above: worker processes import this module

    from experiments.training.config import Config as TrainingConfig
    from experiments.training.learner import Learner
    from experiments.training.ppo import Batch

    torch.set_num_threads(1)
    learner = Learner(TrainingConfig(num_envs=64, num_steps=64, device="cpu", precision="float32"))
    decisions, times = 64 * 64, ([], [])  # type: tuple[int, tuple[list[float], list[float]]]
    for _ in range(4):
        for spent, do in zip(times, (learner.collect, learner.update), strict=True):
            begun = time.process_time()
            do()
            spent.append(time.process_time() - begun)
    tensors = [getattr(learner.batch, field.name) for field in fields(Batch)]
    rollout = sum(tensor.nbytes for tensor in tensors if isinstance(tensor, torch.Tensor))
    played, learned = (decisions / min(spent[1:]) for spent in times)
    nets = learner.net, learner.mean_net
    weights = sum(tensor.nbytes for net in nets for tensor in net.state_dict().values())
    return weights, rollout / decisions, played, learned


def task_bytes() -> int:
    """Bytes of a tournament's task and its result, pickled."""
    pair = ("greedy", "random")
    task = ("samurai players=2 edition=2016", pair, 0, 0, 5)
    found = Chunk(pair, 0, [[1.0, 0.0]] * 5, [0.123456789, 0.123456789], [1000, 1000], machine())
    return len(pickle.dumps(task)) + len(pickle.dumps(found))


def busy(constants: Constants, workers: int, seconds: float) -> float:
    """The share of time in which workers have a task, if one takes so long and the program keeps one core busy."""
    each = constants.driver_ray + constants.look * 1.5 * workers
    return min(1.0, seconds / (each * workers))


def model(constants: Constants) -> str:
    """Tables of where tasks and actors saturate."""
    lengths = (0.1, 1.0, 10.0, 60.0)
    tasks = [[f"{workers:,}", *(f"{busy(constants, workers, length):.0%}" for length in lengths)] for workers in SIZES]
    actors = []
    for workers in SIZES:
        played, learned = workers * constants.played, constants.learned
        rate = min(played, learned)
        actors.append(
            [f"{workers:,}", f"{rate:,.0f}", f"{rate * constants.decision_bytes / 1e6:,.0f}", f"{rate / played:.0%}"]
        )
    return "\n\n".join(
        [
            "Share of time in which workers work, by the length of a task:",
            table(["workers", *(f"{length:g} s" for length in lengths)], tasks),
            "Actors and a learner of one core:",
            table(["actors", "decisions/s", "MB/s to the learner", "actors busy"], actors),
        ]
    )


def main(config: Config, console: Console | None = None) -> None:
    """Measure, print and write."""
    check_ranges(config)
    console = console or Console(width=120)
    check_writable(config.output)
    say = lambda text: console.print(text, markup=False, highlight=False)  # noqa: E731
    rows, kept = [], {}  # type: tuple[list, dict]
    for milliseconds in MILLISECONDS:
        found = ratios(config, milliseconds)
        kept[milliseconds] = found
        ratio = [ray / here for here, _, ray, _ in found]
        fastest = min(ray for _, _, ray, _ in found) / min(here for here, *_ in found)  # others can only slow down
        rows.append([f"{milliseconds} ms", *(f"{100 * (value - 1):+.1f} %" for value in (*_spread(ratio), fastest))])
    say(f"{machine()}, commit {commit()}; two workers, {config.rounds} pairs of runs")
    say(table(["task", "Ray takes longer: median", "least", "most", "fastest runs"], rows))
    say(table(["workers", f"tasks/s of {MILLISECONDS[0]} ms in processes", "on Ray"], growth(config)))
    shortest = kept[MILLISECONDS[0]]  # longer tasks add what Ray does without tasks
    cpu = [statistics.median(run[1 + 2 * number] for run in shortest) for number in (0, 1)]
    weights, decision, played, learned = learning()
    constants = Constants(cpu[1], look_cost(), cpu[0], task_bytes(), weights, decision, played, learned)
    say(table(["constant", "value"], [[name, f"{value:.4g}"] for name, value in asdict(constants).items()]))
    say(model(constants))
    config.output.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(config.output, json.dumps({"runs": kept, "constants": asdict(constants)}) + "\n")


def _spread(values: list[float]) -> tuple[float, float, float]:
    return statistics.median(values), min(values), max(values)


if __name__ == "__main__":
    run_program("experiments.benchmark.cluster", Config, main, __doc__)
