"""Players of the mini game held against exact play: search, exploiters, self-play.

What the exact values are is found by `tests.reference.mini`, which knows the rules alone.
"""

import random
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from rich.console import Console

from agents.networks.agent import NetworkAgent
from agents.registry import make_agent
from agents.search.mcts import MCTSAgent, MCTSConfig
from experiments import best_response, train_ppo
from experiments.common.interrupts import Interrupt
from tests.mini.exact_play import (
    DEALS,
    HIDDEN,
    OPEN,
    decide,
    drawing_policy,
    exploitability,
    policy_of,
    position_of,
    value_against_uniform,
)
from tests.reference import mini as exact

# ---------------------------------------------------------------- search against exact play: open hands


def some_states(count: int) -> list[exact.State]:
    """Tables on which there is much to decide: all beginnings, and others after one or two moves."""
    rng, found = random.Random(2), list(DEALS)
    while len(found) < count:
        state = rng.choice(DEALS)
        for _ in range(rng.randrange(1, 3)):
            state = exact.after(state, rng.choice(exact.moves(state)))
        found.append(state)
    return found


def searched(simulations: int, **settings) -> tuple[int, int, np.ndarray]:
    """Moves that are not the best, tables on which not every move is, and how far off the values at the root are."""
    agent, wrong, mattered, errors = MCTSAgent(OPEN, MCTSConfig(simulations, **settings)), 0, 0, []
    for key, state in enumerate(some_states(300)):
        sign = 1 if state.seat == 0 else -1
        values = {move: sign * exact.value(exact.after(state, move)) for move in exact.moves(state)}
        best, position = max(values.values()), position_of(OPEN, state)
        errors.append(abs(agent.search(position.states, np.array([key], np.uint64))[2][0, state.seat] - best))
        tile = decide(agent, position, key)
        wrong += values[tile, decide(agent, position, key)] < best
        mattered += min(values.values()) < best
    return wrong, mattered, np.array(errors)


def test_search_finds_the_best_moves_and_their_value() -> None:
    """With open hands every table has a value, -1, 0 or 1; the more simulations, the closer search comes to it.

    It explores more than by default, with which the values of a few tables take ten times as many.
    """
    coarse = searched(100, c_puct=2.0)[2]
    wrong, mattered, errors = searched(10_000, c_puct=2.0)
    print(f"\nopen hands, 10,000 simulations: {len(errors) - wrong} best moves on {len(errors)} tables", end="")
    print(f" ({mattered} have worse ones), values {errors.max():.2f} off at most")
    assert mattered > 250
    assert wrong == 0
    assert errors.max() < 0.1
    assert errors.mean() < 0.03 < 0.1 < coarse.mean()


def test_search_against_itself_gets_the_value_of_every_deal() -> None:
    agent = make_agent("mcts:5000", OPEN)
    print(f"\nopen hands, mcts:5000 against itself: {len(DEALS)} deals")
    for deal in DEALS:
        position = position_of(OPEN, deal)
        while not position.over:
            decide(agent, position, 0)
        assert position.returns()[0] == exact.value(deal)
    assert {exact.value(deal) for deal in DEALS} == {0, 1}


# ---------------------------------------------------------------- players against exact play: hidden hands

uniform_exploitability = cache(lambda: exploitability(exact.uniform))


def test_search_comes_close_to_the_best_answer_and_nobody_passes_it() -> None:
    best = uniform_exploitability()
    values = {spec: value_against_uniform(make_agent(spec, HIDDEN)) for spec in ("greedy", "mcts:50", "mcts:1000")}
    assert 0 < values["greedy"] < values["mcts:50"] < values["mcts:1000"] < best
    assert values["mcts:1000"] > 0.97 * best
    # A player that saw hidden tiles could be told by its results.
    alone = [exact.best_response(seat, exact.uniform, [deal]) for seat in (0, 1) for deal in DEALS]
    assert np.mean(alone) > best + 0.05
    shown = {**values, "the best answer": best, "one that sees hidden tiles": float(np.mean(alone))}
    print("\nagainst uniformly random play:", ", ".join(f"{name} {value:.2f}" for name, value in shown.items()))


def test_search_leaves_little_to_the_best_answer() -> None:
    found = {spec: exploitability(policy_of(make_agent(spec, HIDDEN))) for spec in ("greedy", "mcts:1000")}
    print("\nthe best answer gets:", ", ".join(f"{value:.2f} from {spec}" for spec, value in found.items()))
    assert uniform_exploitability() > 0.7
    assert found["greedy"] > 0.6
    assert 0 <= found["mcts:1000"] < 0.05


def test_exploiters_come_close_to_the_best_response_and_never_above(tmp_path) -> None:
    """The program of that name against the uniformly random player, of which the exact value is known."""
    config = best_response.Config(
        "random", game="mini", total_timesteps=700_000, seeds=1, agents=("mcts:1000",), deals=300, output=tmp_path,
        num_envs=128, learning_rate=3e-3, ent_coef=0.002, hidden=(256,),
    )  # fmt: skip
    found = best_response.search(config, Console(quiet=True), Interrupt()).estimates()
    exact_share = (1 + uniform_exploitability()) / 2
    assert list(found) == ["mcts:1000", "PPO, seed 1"]
    assert all(share.low < exact_share for share in found.values())
    assert abs(found["mcts:1000"].mean - exact_share) < 0.05
    learned = (1 + value_against_uniform(make_agent(f"ppo:{tmp_path / 'seed-1'}", HIDDEN))) / 2  # without sampling
    assert found["PPO, seed 1"].low < learned < found["PPO, seed 1"].high
    assert exact_share - 0.05 < learned <= exact_share
    before = (tmp_path / "best_response.json").read_bytes()
    assert best_response.search(config, Console(quiet=True), Interrupt()).estimates() == found
    assert (tmp_path / "best_response.json").read_bytes() == before
    with pytest.raises(ValueError, match=r"target random; choose another --output"):
        best_response.search(replace(config, target="greedy"), Console(quiet=True), Interrupt())


def test_self_play_leaves_little_to_the_best_answer(tmp_path) -> None:
    """Self-play with a large entropy bonus, its actions drawn: hands are hidden, so one fixed choice can be known.

    Where the bonus is small, as by default, it leaves two to four times as much (docs, research log).
    """
    config = train_ppo.Config(
        run=tmp_path, game="mini", total_timesteps=700_000, num_envs=128, minibatch_size=2048, hidden=(128,),
        learning_rate=2e-3, ent_coef=0.3, eval_every=0, device="cpu",
    )  # fmt: skip
    train_ppo.train(config, Console(quiet=True))
    agent = make_agent(f"ppo:{tmp_path},temperature=0.5", HIDDEN)
    assert isinstance(agent, NetworkAgent)
    policy = drawing_policy(agent)
    start = DEALS[0]
    assert sum(policy(start).values()) == pytest.approx(1)
    assert set(policy(start)) == set(exact.moves(start))
    found = exploitability(policy)
    print(f"\nthe best answer gets: {found:.4f} from PPO by self-play")
    assert 0 <= found < 0.02
