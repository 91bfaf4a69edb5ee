"""Ray under kill -9: nodes and workers die at random while tasks run, and every result still comes once and is right.

Needs ray: `.ray/bin/python -m tests.torture nodes --long` after `make ray`. Kills 50 times in the long form, else 5.
"""

import os
import random
import signal
import time
from collections import Counter
from contextlib import closing
from importlib.util import find_spec
from itertools import count, takewhile
from pathlib import Path

LONG, SHORT = 50, 5  # kills
PAUSES = (0.5, 2.0)  # seconds between a new node and the next kill
SECONDS = 0.2  # of a task
NODE = {"num_cpus": 1, "object_store_memory": 80 << 20}


def children(process: int) -> list[int]:
    """The processes that a process has started."""
    found = []
    for tasks in Path(f"/proc/{process}/task").glob("*/children"):
        found += map(int, tasks.read_text().split())
    return found


def kill_worker(raylet: int) -> bool:
    """Kill the worker of a node that has a task; whether there was one."""
    for process in children(raylet):
        try:
            if b"ray::_do" in Path(f"/proc/{process}/cmdline").read_bytes():
                os.kill(process, signal.SIGKILL)
                return True
        except OSError:  # it has just ended
            continue
    return False


def run(long: bool, seed: int) -> dict[str, int]:
    """Kill nodes and workers while tasks run; how many, and how many results came.

    Raises:
        AssertionError: a result is wrong, missing or comes twice.
    """
    if find_spec("ray") is None:
        return {"kills, since ray is not installed (make ray)": 0}
    import ray
    from ray.cluster_utils import Cluster

    from experiments.common.tasks import WorkerSettings, results
    from tests.ray.work import digest

    rng, kills, counts = random.Random(seed), LONG if long else SHORT, Counter[str]()
    cluster = Cluster(initialize_head=True, head_node_args={**NODE, "num_cpus": 0, "include_dashboard": False})
    nodes = [cluster.add_node(**NODE) for _ in range(2)]
    os.environ["RAY_ADDRESS"] = cluster.address
    tasks = ((number, SECONDS) for number in takewhile(lambda _: counts["nodes"] + counts["workers"] < kills, count()))
    found: dict[tuple[int, float], str] = {}
    due = time.monotonic() + 1.0
    try:
        with closing(results(digest, tasks, WorkerSettings(ray=True), lambda: False)) as coming:
            for task, result in coming:
                assert task not in found, f"{task} came twice"
                found[task] = result
                if time.monotonic() < due or counts["nodes"] + counts["workers"] == kills:
                    continue
                if rng.random() < 0.3:
                    counts["workers"] += kill_worker(nodes[rng.randrange(2)].all_processes["raylet"][0].process.pid)
                else:
                    cluster.remove_node(nodes.pop(rng.randrange(2)), allow_graceful=False)
                    nodes.append(cluster.add_node(**NODE))
                    counts["nodes"] += 1
                due = time.monotonic() + rng.uniform(*PAUSES)
    finally:
        ray.shutdown()
        cluster.shutdown()
    assert [number for number, _ in sorted(found)] == [*range(len(found))]
    for number, _ in found:
        assert found[number, SECONDS] == digest((number, 0.0)), f"task {number} has another result"
    return {"nodes killed": counts["nodes"], "workers killed": counts["workers"], "results": len(found)}
