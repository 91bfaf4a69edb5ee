"""Tasks on a Ray cluster of two nodes on this machine: same results as processes, and what is killed is done again."""

import os
import socket
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from experiments import tournament
from experiments.common.tasks import WorkerSettings, results, results_in_order

ray = pytest.importorskip("ray", reason="ray is not installed; make ray runs these tests with it")

from experiments.common import ray_tasks  # noqa: E402
from tests.ray.work import digest, divide, kill_once, large, meet, never  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
RAY, HERE = WorkerSettings(processes=2, ray=True), WorkerSettings(processes=1, ray=False)


@pytest.fixture(scope="module")
def cluster():
    """Two nodes with a CPU each; the first is the head and this program's."""
    from ray.cluster_utils import Cluster

    store = {"object_store_memory": 80 << 20}
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False, **store})
    made.add_node(num_cpus=1, **store)
    before = os.environ.get("RAY_ADDRESS")
    os.environ["RAY_ADDRESS"] = made.address
    yield made
    ray.shutdown()
    made.shutdown()
    os.environ.pop("RAY_ADDRESS")
    if before is not None:
        os.environ["RAY_ADDRESS"] = before


def test_results_are_those_of_processes_in_any_order(cluster):
    tasks = [(number, 0.01) for number in range(20)]
    expected = list(results(digest, tasks, HERE, never))
    assert sorted(results(digest, tasks, RAY, never)) == expected
    assert list(results_in_order(digest, tasks, RAY, never)) == expected


def test_both_nodes_work_at_once_and_few_tasks_are_taken_ahead(cluster, tmp_path):
    taken, nodes = [], set()
    tasks = (taken.append(number) or (str(tmp_path), number) for number in range(12))
    for done, (_, node) in enumerate(results(meet, tasks, RAY, never), 1):
        nodes.add(node)
        assert len(taken) <= done + 3
    assert len(nodes) == 2


def test_what_a_killed_worker_was_doing_is_done_again(cluster, tmp_path):
    folder = str(tmp_path / "gone")
    assert list(results(kill_once, [folder], RAY, never)) == [(folder, folder)]


def test_what_a_killed_node_was_doing_is_done_again(cluster):
    tasks = [(number, 0.3) for number in range(12)]
    found = {}
    for task, result in results(digest, tasks, RAY, never):
        found[task] = result
        if len(found) == 3:
            cluster.remove_node(cluster.list_all_nodes()[-1], allow_graceful=False)
            cluster.add_node(num_cpus=1, object_store_memory=80 << 20)
    assert found == {task: digest((task[0], 0.0)) for task in tasks}


def test_large_results_do_not_pile_up(cluster):
    """Forty results of 4 MB go through stores of 80 MB."""
    assert [int(result[0]) for _, result in results_in_order(large, range(40), RAY, never)] == [*range(40)]


def test_the_end_does_not_wait_for_tasks(cluster):
    begun = time.monotonic()
    with closing(results(digest, [(0, 0.0), (1, 600.0), (2, 600.0), (3, 600.0)], RAY, never)) as coming:
        assert next(coming)[0] == (0, 0.0)
    assert list(results(digest, [(4, 0.0)], RAY, never))  # a CPU is free again
    assert time.monotonic() < begun + 30


def test_what_a_task_raises_is_raised(cluster):
    with pytest.raises(ZeroDivisionError):
        list(results(divide, [0], RAY, never))


def test_a_node_with_other_code_is_refused(cluster, monkeypatch):
    monkeypatch.setattr(ray_tasks, "_code", lambda: "version 0, commit abc")
    with pytest.raises(ValueError, match=r"node .* this program version 0, commit abc: give all nodes the same commit"):
        list(results(divide, [1], RAY, never))


def test_a_tournament_has_the_same_results(cluster, tmp_path):
    config = tournament.Config(("random", "greedy"), deals=12, processes=1, ray=False, output=tmp_path / "here")
    files = []
    for given in (config, replace(config, ray=True, output=tmp_path / "ray")):
        found = tournament.play(given, Console(quiet=True))
        for matchup in found.matchups.values():
            matchup.seconds[:] = 0.0, 0.0  # the time that agents thought is another each time
        found.write("command")
        files.append(found.path.read_bytes())
    assert files[0] == files[1]


def start_error(address: str) -> str:
    """What a program says that is to use the cluster at this address."""
    code = """if True:
        from tests.ray.work import divide, never
        from experiments.common.tasks import WorkerSettings, results
        try:
            list(results(divide, [1], WorkerSettings(processes=2, ray=True), never))
        except OSError as error:
            print(error)
    """
    environment = os.environ | {"RAY_ADDRESS": address, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return done.stdout


def test_an_address_without_a_cluster_is_a_line():
    said = start_error("127.0.0.1:1")
    assert said.startswith("no Ray on RAY_ADDRESS=127.0.0.1:1: ")
    assert said.count("\n") == 1


def test_an_address_of_something_else_is_a_line():
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        reason = "what listens there does not answer as the head of a Ray cluster does"
        assert start_error(address) == f"no Ray on RAY_ADDRESS={address}: {reason}\n"
