"""What agents tell the page about a position."""

import json

import numpy as np
import pytest

from agents.registry import make_agent
from experiments.web.workers import judge
from samurai_env import Position, make_variant
from samurai_env.agent_api import decision_keys


@pytest.mark.parametrize("spec", ["mcts:40", "puct:20,net=weights/samurai-2"])
def test_a_search_tells_priors_and_values_of_all_seats(spec: str) -> None:
    position = Position(make_variant("samurai"), 3)
    found = judge(spec, position.save())
    assert sum(action["prior"] for action in found["actions"]) == pytest.approx(1.0, abs=1e-5)
    tried = [action for action in found["actions"] if action["visits"]]
    assert len(tried) > 1
    assert all(len(action["values"]) == 2 for action in tried)
    assert all(action["values"] is None for action in found["actions"] if not action["visits"])
    assert found["line"][0] == found["actions"][0]["id"]
    for action in found["line"]:
        position.step(action)  # which is legal


def test_of_several_trees_only_visits_are_told() -> None:
    position, spec = Position(make_variant("samurai"), 3), "mcts:40,determinizations=8"
    found = json.loads(json.dumps(judge(spec, position.save()), allow_nan=False))
    keys = decision_keys(position.states["seed"], position.states["steps"], position.seat)
    result = make_agent(spec, position.variant).search(position.states, keys)
    assert {entry["id"]: entry["visits"] for entry in found["actions"]} == {
        action: result.visits[0, action] for action in position.legal_actions()
    }
    assert all(entry["prior"] is None and entry["values"] is None for entry in found["actions"])
    assert found["values"] == result.values[0].tolist()
    assert found["line"] == [int(np.argmax(result.visits[0]))]


def test_an_agent_without_a_search_tells_its_choice() -> None:
    found = judge("greedy", Position(make_variant("samurai_card"), 3).save())
    assert [found["line"]] == [[entry["id"]] for entry in found["actions"]]
    assert len(found["values"]) == 2
