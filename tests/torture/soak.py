"""Everything at once for a minute, or two hours in the long form: the memory of each process must stay flat."""

import itertools
import multiprocessing
import os
import pickle
import random
import time
from collections import defaultdict
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np

BOUND = 8 << 20  # bytes by which a process may grow in the second half, by a straight line through its sizes
PAGE = os.sysconf("SC_PAGE_SIZE")
ROUNDS = 3  # after these, whatever is compiled or allocated once is there
GAMES = {"samurai": 2, "samurai_card": 3, "samurai_spirit": 4}


def vector(seed: int) -> Iterator[int]:
    """Vector environments with threads, and copies of them that must go on in the same way; counts steps."""
    from samurai_env.envs.vector import GameVectorEnv

    rng = np.random.default_rng(seed)
    while True:
        for game, players in GAMES.items():
            env = GameVectorEnv(game, 256, players, autoreset_mode="SameStep", threads=2)
            mask = env.reset(seed=int(rng.integers(2**31)))[0]["action_mask"]
            for copied in (deepcopy, lambda env: pickle.loads(pickle.dumps(env))):
                copy = copied(env)
                for _ in range(200):
                    actions = (mask * rng.random(mask.shape)).argmax(1)
                    mask = env.step(actions)[0]["action_mask"]
                    copy.step(actions)
                assert env.states.tobytes() == copy.states.tobytes(), f"a copy of {game} went another way"
                copy.close()
            env.close()
        yield 256 * 800 * len(GAMES)


def tournament(seed: int) -> Iterator[int]:
    """An endless tournament with worker processes; counts deals."""
    from experiments.common.process_pool import results
    from experiments.tournament import play_chunk
    from samurai_env import make_variant

    specs = [make_variant(game, players).spec for game, players in GAMES.items() if game != "samurai_spirit"]
    pairs = [("mcts:50", "greedy"), ("greedy", "random")]
    deals = itertools.count(seed % 1000 * 10**6)
    tasks = ((spec, pair, 0, deal, 1) for deal in deals for spec in specs for pair in pairs)
    for _ in results(play_chunk, tasks, 2, lambda: False):
        yield 1


def search(seed: int) -> Iterator[int]:
    """Tree search from positions that are saved, restored and looked at in every way; counts decisions."""
    from agents.registry import make_agent
    from samurai_env import make_variant
    from samurai_env.position import Position
    from tests.common.positions import play_random, stream

    rng = random.Random(seed)
    variants = [make_variant(game, players) for game, players in GAMES.items()]
    agents = [[make_agent(spec, variant) for spec in ("mcts:100", "greedy", "random")] for variant in variants]
    while True:
        decisions = 0
        for variant, players in zip(variants, agents, strict=True):
            position = play_random(Position(variant, rng.randrange(2**31)), rng, 10)
            position = Position.restore(position.save()).determinized(position.seat, stream(rng.randrange(2**31)))
            for agent in players * 2:
                if position.over:
                    break
                position.step(int(agent.act(position.states, np.array([rng.randrange(2**31)], np.uint64))[0]))
                position.observe(position.seat)
                variant.game.text(position.state, position.seat)
                decisions += 1
        yield decisions


def training(seed: int) -> Iterator[int]:
    """Two learners that collect and update in turn; counts updates."""
    import torch

    from experiments.training.config import Config
    from experiments.training.learner import Learner

    torch.set_num_threads(1)
    small = {"hidden": (64, 64), "num_envs": 64, "num_steps": 32, "minibatch_size": 512, "seed": seed}
    learners = [
        Learner(Config(game=f"{game} players={GAMES[game]}", **small)) for game in ("samurai", "samurai_spirit")
    ]
    while True:
        for learner in learners:
            learner.collect()
            learner.update()
        yield len(learners)


ROLES = {
    "vector steps": vector,
    "deals": tournament,
    "search decisions": search,
    "updates": training,
}


def play(role: str, seed: int, ready: Any, stop: Any, count: Any) -> None:
    """Play a role in this process until it is to stop."""
    doings = ROLES[role](seed)
    for number, done in enumerate(doings):
        count.value += done
        if number >= ROUNDS:
            ready.set()
        if stop.is_set():
            break
    doings.close()


def family(pid: int) -> list[int]:
    """A process and all that it has started, in the order of their numbers."""
    children = defaultdict(list)
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        children[int(fields[1])].append(int(entry.parent.name))
    found = [pid]
    for member in found:
        found.extend(sorted(children[member]))
    return found


def resident(pid: int) -> int | None:
    """How many bytes of a process are in memory; None once it has ended."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE
    except OSError:
        return None


def growth(times: list[float], sizes: list[int]) -> float:
    """By how many bytes a process grew, by a straight line through its sizes."""
    return float(np.polyfit(times, sizes, 1)[0]) * (times[-1] - times[0])


def run(long: bool, seed: int) -> dict[str, int]:
    duration, pause = (7200.0, 5.0) if long else (60.0, 0.5)
    context = multiprocessing.get_context("spawn")
    stop = context.Event()
    readies = {role: context.Event() for role in ROLES}
    counts = {role: context.Value("q", 0) for role in ROLES}
    processes = {
        role: context.Process(target=play, args=(role, seed, readies[role], stop, counts[role])) for role in ROLES
    }
    for process in processes.values():
        process.start()

    def check() -> None:
        for role, process in processes.items():
            assert process.exitcode is None, f"{role}: the process ended with exit status {process.exitcode}"

    try:
        while not all(ready.is_set() for ready in readies.values()):
            check()
            time.sleep(pause)
        before = {role: count.value for role, count in counts.items()}
        sizes: dict[tuple[str, int], list[tuple[float, int]]] = defaultdict(list)
        begun = time.monotonic()
        while (now := time.monotonic() - begun) < duration:
            check()
            if now > duration / 2:
                for role, process in processes.items():
                    for pid in family(process.pid):
                        if (size := resident(pid)) is not None:
                            sizes[role, pid].append((now, size))
            time.sleep(pause)
        stop.set()
        for role, process in processes.items():
            process.join(120)
            assert process.exitcode == 0, f"{role}: exit status {process.exitcode} at the end"
    finally:
        for process in processes.values():
            process.kill()
    found = {role: count.value - before[role] for role, count in counts.items()}
    longest = max(map(len, sizes.values()))
    growths = {}
    for (role, pid), measured in sizes.items():
        if len(measured) >= 0.9 * longest:
            times, bytes_ = zip(*measured, strict=True)
            growths[role, pid] = growth(times, bytes_)
            found[f"MB ({role}, {pid})"] = round(bytes_[-1] / 2**20)
    (role, pid), most = max(growths.items(), key=lambda item: item[1])
    assert most <= BOUND, f"{role}: process {pid} grew by {most / 2**20:.1f} MB in {duration / 2:.0f} s: {found}"
    found["KB grown at most"] = max(0, round(most / 1024))
    return found
