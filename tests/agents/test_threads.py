"""Agents and the rules, asked by several threads."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from agents.registry import make_agent
from samurai_env import GameBatch, make_variant
from samurai_env.core.game import Variant


def positions(variant: Variant, count: int, steps: int) -> np.ndarray:
    """States after some random decisions."""
    batch = GameBatch(variant)
    states = batch.reset(np.arange(count))
    batch.play_random(states, np.array([1], np.uint64), steps)
    return states


@pytest.mark.parametrize("spec", ["greedy", "random", "rollout:1"])
def test_threads_may_share_what_keeps_nothing(spec: str) -> None:
    variant = make_variant("samurai", 2)
    agent, batch, states = make_agent(spec, variant), GameBatch(variant), positions(variant, 400, 3)
    keys = np.arange(len(states), dtype=np.uint64)
    wanted, masks = agent.act(states, keys), batch.legal_masks(states)
    with ThreadPoolExecutor(2) as pool:
        for found in pool.map(lambda _: (agent.act(states, keys), batch.legal_masks(states)), range(20)):
            assert np.array_equal(found[0], wanted)
            assert np.array_equal(found[1], masks)


@pytest.mark.parametrize("spec", ["mcts:20", "puct:20,net=weights/samurai-2"])
def test_a_search_refuses_a_second_thread(spec: str) -> None:
    variant = make_variant("samurai", 2)
    agent, states = make_agent(spec, variant), positions(variant, 1, 3)
    inside, let_go = threading.Event(), threading.Event()

    def search() -> None:
        with agent._guard:
            inside.set()
            assert let_go.wait(60)

    other = threading.Thread(target=search, daemon=True)
    other.start()
    assert inside.wait(60)
    for call in (agent.act, agent.search, agent.analyse):
        with pytest.raises(RuntimeError, match=r"^another thread uses this search right now"):
            call(states, np.zeros(1, np.uint64))
    let_go.set()
    other.join()
    assert agent.act(states, np.zeros(1, np.uint64)).shape == (1,)
