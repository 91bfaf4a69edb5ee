"""Agents from elsewhere: their errors are reported with their name and change nothing."""

import re

import numpy as np
import pytest

from agents.registry import make_agent
from samurai_env import IllegalActionError, make_variant
from samurai_env.core.batch import batch_kernels

VARIANT = make_variant("samurai")
CODE = """
import numpy as np
from agents.registry import make_agent

class Guest:
    def __init__(self, variant, argument):
        self.how, self.greedy = argument, make_agent("greedy", variant)
        if argument == "unmade":
            raise KeyError("argument")
        if argument == "refused":
            raise ValueError("takes a number")

    def act(self, states, keys):
        actions = self.greedy.act(states, keys)
        if self.how == "writes":
            states["seat"], keys[:] = 1, 0
        if self.how == "raises":
            return actions + np.zeros(7)
        return {
            "one": actions[:1],
            "column": actions[:, None],
            "fractions": actions + 0.5,
            "nothing": None,
            "high": np.full(len(states), 10**6),
            "taken": np.where(np.arange(len(states)) == 1, 20, actions),
        }.get(self.how, actions)

class Actless(Guest):
    act = None

def five(variant, argument):
    return 5
"""


@pytest.fixture(autouse=True)
def module(tmp_path, monkeypatch):
    (tmp_path / "guest_of_tests.py").write_text(CODE)
    (tmp_path / "guest_lacking.py").write_text("import nowhere_to_be_found")
    (tmp_path / "guest_broken.py").write_text("def broken(:")
    monkeypatch.syspath_prepend(tmp_path)


def openings(count):
    states = VARIANT.new(count)
    batch_kernels(VARIANT.game).reset_all(states, np.arange(count, dtype=np.uint64))
    return states


def test_it_plays_and_cannot_write() -> None:
    states, keys = openings(3), np.arange(3, dtype=np.uint64)
    before = states.copy()
    expected = make_agent("greedy", VARIANT).act(states, keys)
    assert (make_agent("guest_of_tests.Guest:writes", VARIANT).act(states, keys) == expected).all()
    assert (states == before).all()
    assert (keys == np.arange(3)).all()


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("guest_of_tests.Guest:unmade", "could not be made:\nTraceback"),
        ("guest_of_tests.Guest:refused", "agent 'guest_of_tests.Guest:refused' could not be made: takes a number"),
        ("guest_of_tests.Actless", "has no method act(states, keys)"),
        ("guest_of_tests.five", "has no method act(states, keys)"),
        ("guest_lacking.Any", "No module named 'nowhere_to_be_found'"),
        ("guest_broken.Any", "module 'guest_broken' could not be imported:"),
        ("guest.Agent,depth=3", "'guest.Agent' takes its settings after a colon: 'guest.Agent:depth=3'"),
    ],
)
def test_what_makes_no_agent(spec, message) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        make_agent(spec, VARIANT)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("one", "must be integers of shape (3,), not int64 of shape (1,)"),
        ("column", "must be integers of shape (3,), not int64 of shape (3, 1)"),
        ("fractions", "must be integers of shape (3,), not float64 of shape (3,)"),
        ("nothing", "must be integers of shape (3,), not object of shape ()"),
        ("raises", "failed:\nTraceback"),
    ],
)
def test_what_is_no_answer(how, message) -> None:
    with pytest.raises(ValueError, match=re.escape(message)) as error:
        make_agent(f"guest_of_tests.Guest:{how}", VARIANT).act(openings(3), np.zeros(3, np.uint64))
    assert f"agent 'guest_of_tests.Guest:{how}'" in str(error.value)
    assert ("guest_of_tests.py" in str(error.value)) is (how == "raises")  # its own lines, where it failed


@pytest.mark.parametrize(("how", "message"), [("high", "there is no action 1000000"), ("taken", "legal are")])
def test_what_is_illegal(how, message) -> None:
    agent, states = make_agent(f"guest_of_tests.Guest:{how}", VARIANT), openings(3)
    with pytest.raises(IllegalActionError, match=message) as error:
        agent.act(states, np.zeros(3, np.uint64))
    seed = 0 if how == "high" else 1
    assert f"'guest_of_tests.Guest:{how}' in the game with seed {seed}, decision 0: " in str(error.value)
