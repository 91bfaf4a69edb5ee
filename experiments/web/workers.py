"""Agents in processes of their own, so that no table waits for another's search."""

import multiprocessing
import signal
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import lru_cache
from typing import Any

import numpy as np

from agents.registry import make_agent
from experiments.common.process_pool import end_with_parent
from samurai_env import Position, parse_variant
from samurai_env.agent_api import Agent, decision_keys

AGENTS_KEPT = 16  # in each process
LONGEST_LINE, LEAST_VISITS = 6, 3


@lru_cache(AGENTS_KEPT)
def _agent(spec: str, variant: str) -> Agent:
    return make_agent(spec, parse_variant(variant))


def choose(spec: str, saved: bytes, salt: int) -> int:
    """The decision of an agent in a position; the salt is that of `decision_keys`."""
    position = Position.restore(saved)
    keys = decision_keys(position.states["seed"], position.states["steps"], salt)
    return int(_agent(spec, position.variant.spec).act(position.states, keys)[0])


def judge(spec: str, saved: bytes) -> dict[str, Any]:
    """An agent's judgement of a position that lies open.

    Returns:
        `values`: the expected return of each seat: of the agent's search, else of the game's heuristic value; None if
        there is neither. `actions`: id, visits and their share, prior and values, one a seat, best first; without a
        search only the choice, whose share is 1, and None for the others. `line`: ids of the best line as far as it
        was looked into.
    """
    position = Position.restore(saved)
    agent: Any = _agent(spec, position.variant.spec)
    keys = decision_keys(position.states["seed"], position.states["steps"], position.seat)
    if not hasattr(agent, "search"):
        action = int(agent.act(position.states, keys)[0])
        chosen = {"id": action, "share": 1.0, "visits": None, "prior": None, "values": None}
        return {"values": _heuristic_values(position), "actions": [chosen], "line": [action]}
    result = agent.search(position.states, keys)
    visits = result.visits[0]
    priors, values = _root(agent, position)
    found: list[dict[str, Any]] = [
        {
            "id": action,
            "share": float(visits[action] / max(1, visits.sum())),
            "visits": int(visits[action]),
            "prior": priors.get(action),
            "values": values.get(action),
        }
        for action in position.legal_actions()
    ]
    found.sort(key=lambda entry: -entry["visits"])
    line = _line(agent, position) or [found[0]["id"]]
    return {"values": [float(value) for value in result.values[0]], "actions": found, "line": line}


def _heuristic_values(position: Position) -> list[float] | None:
    """The game's own estimate of the returns, None if it has none."""
    if position.variant.game.kernels.heuristic_value is None:
        return None
    values = np.zeros(position.variant.num_players)
    position.variant.game.kernels.heuristic_value(position.states[0], values)
    return [float(value) for value in values]


def _tree(agent: Any) -> Any:
    """The tree of an agent's last search, None if it keeps none."""
    nodes = getattr(getattr(agent, "_work", None), "nodes", None)
    return None if nodes is None or len(nodes) == 0 else nodes[0]


def _children(tree: Any, parent: int) -> Iterator[int]:
    child = int(tree[parent]["child"])
    while child >= 0:
        yield child
        child = int(tree[child]["sibling"])


def _line(agent: Any, position: Position) -> list[int]:
    """The most visited actions one after the other, as far as they are legal here and were visited several times."""
    tree, node, at = _tree(agent), 0, position.clone()
    line: list[int] = []
    while tree is not None and len(line) < LONGEST_LINE and not at.over:
        node = max(_children(tree, node), key=lambda one: (tree[one]["visits"], -tree[one]["action"]), default=-1)
        if node < 0 or (line and tree[node]["visits"] < LEAST_VISITS):
            break
        action = int(tree[node]["action"])
        if action not in at.legal_actions():
            break
        line.append(action)
        at.step(action)
    return line


def _root(agent: Any, position: Position) -> tuple[dict[int, float], dict[int, list[float]]]:
    """Priors, and values of all seats, of the actions at the root of the last search, as far as it kept it."""
    tree = _tree(agent)
    if tree is None:
        return {}, {}
    priors = {action: float(tree[0]["prior"][action]) for action in position.legal_actions()}
    values = {}
    for child in _children(tree, 0):
        node = tree[child]
        values[int(node["action"])] = [float(value) for value in node["value"] / max(1, node["visits"])]
    return priors, values


class Workers:
    """A pool of processes that comes back after one of them has died."""

    def __init__(self, processes: int) -> None:
        self.processes = processes
        self._pool: ProcessPoolExecutor | None = None

    def submit(self, work: Any, *arguments: Any) -> Any:
        """A future of `work(*arguments)`."""
        for _ in range(2):
            if self._pool is None:
                context = multiprocessing.get_context("spawn")
                self._pool = ProcessPoolExecutor(self.processes, context, _begin)
            try:
                return self._pool.submit(work, *arguments)
            except BrokenProcessPool:
                self._pool = None
        raise BrokenProcessPool("the processes of the agents cannot be started")

    def close(self) -> None:
        """End the processes at once."""
        if self._pool is not None:
            processes = list((self._pool._processes or {}).values())
            self._pool.shutdown(wait=False, cancel_futures=True)
            for process in processes:
                process.terminate()
            self._pool = None


def _begin() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()
