"""OpenSpiel's search as an agent: legal, repeatable, blind."""

import numpy as np
import pytest

from agents.registry import make_agent
from samurai_env import Position, make_variant

NAME = "samurai_env.adapters.open_spiel_bots.ISMCTS"


def test_it_plays_by_its_name_and_repeats_itself() -> None:
    variant = make_variant("samurai_card")
    agent = make_agent(f"{NAME}:10", variant)
    states = np.concatenate([Position(variant, seed).states for seed in (1, 2)])
    keys = np.array([5, 6], np.uint64)
    first = agent.act(states, keys)
    for state, action in zip(states, first, strict=True):
        position = Position(variant)
        position.states[0] = state
        position.step(int(action))
    assert (agent.act(states, keys) == first).all()


def test_it_sees_nothing_hidden() -> None:
    variant = make_variant("samurai_card")
    agent, position, rng = make_agent(f"{NAME}:10", variant), Position(variant, 3), np.array([4], np.uint64)
    chosen = {int(agent.act(position.determinized(0, rng).states, np.array([7], np.uint64))[0]) for _ in range(4)}
    assert len(chosen) == 1


@pytest.mark.parametrize("number", ["many", "0", "00"])
def test_a_wrong_number_is_refused(number: str) -> None:
    with pytest.raises(ValueError, match=f"number of simulations such as ISMCTS:100, not '{number}'"):
        make_agent(f"{NAME}:{number}", make_variant("samurai_card"))
