"""Agents in processes of their own, so that the server answers while they search."""

import multiprocessing
import signal
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import lru_cache
from typing import Any

import numpy as np

from agents.registry import make_agent
from agents.search.mcts import MCTSAgent
from agents.search.puct import PUCTAgent
from experiments.common.process_pool import end_with_parent
from samurai_env import Position, parse_variant
from samurai_env.agent_api import Agent, decision_keys

AGENTS_KEPT = 16  # in each process
LONGEST_LINE = 6


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
        search only the choice, whose share is 1, and None for the others; of a search with several trees prior and
        values are None. `line`: ids of the best line as far as it was looked into.
    """
    position = Position.restore(saved)
    agent = _agent(spec, position.variant.spec)
    keys = decision_keys(position.states["seed"], position.states["steps"], position.seat)
    if not isinstance(agent, (MCTSAgent, PUCTAgent)):
        action = int(agent.act(position.states, keys)[0])
        chosen = {"id": action, "share": 1.0, "visits": None, "prior": None, "values": None}
        return {"values": _heuristic_values(position), "actions": [chosen], "line": [action]}
    found = agent.analyse(position.states, keys)
    total, priors = max(1, int(found.visits.sum())), np.nan_to_num(found.priors)
    ranked = sorted(position.legal_actions(), key=lambda action: (-found.visits[action], -priors[action]))
    actions = [
        {
            "id": action,
            "share": float(found.visits[action] / total),
            "visits": int(found.visits[action]),
            "prior": None if np.isnan(found.priors[action]) else float(found.priors[action]),
            "values": None if np.isnan(found.values[action]).any() else found.values[action].tolist(),
        }
        for action in ranked
    ]
    line = _legal_part(found.line, position) or ranked[:1]
    return {"values": found.expected.tolist(), "actions": actions, "line": line}


def _legal_part(line: Sequence[int], position: Position) -> list[int]:
    """The first actions of a line, as long as they are legal in the position as it lies open."""
    at, found = position.clone(), list[int]()
    for action in line[:LONGEST_LINE]:
        if at.over or action not in at.legal_actions():
            break
        at.step(action)
        found.append(action)
    return found


def _heuristic_values(position: Position) -> list[float] | None:
    """The game's own estimate of the returns, None if it has none."""
    if position.variant.game.kernels.heuristic_value is None:
        return None
    values = np.zeros(position.variant.num_players)
    position.variant.game.kernels.heuristic_value(position.states[0], values)
    return [float(value) for value in values]


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
