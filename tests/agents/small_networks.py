"""Beliefs and leaf values alike: a search with one stays blind, a file that does not fit is refused."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.registry import make_agent
from samurai_env.core.batch import batch_kernels
from samurai_env.core.game import Variant
from tests.agents.test_agents import positions


def check_search(variant: Variant, spec: str, without: str, games: int = 12) -> None:
    """A search by `spec` is legal, repeatable, other than the one `without`, and the same whatever is hidden."""
    agent = make_agent(spec, variant)
    states, keys = positions(variant, games, 5), np.arange(games, dtype=np.uint64)
    found = agent.search(states, keys)
    kernels, words = batch_kernels(variant.game), np.zeros(variant.num_words, np.uint64)
    assert kernels.first_illegal(states, found.actions, np.zeros(games, np.bool_), words) == -1
    assert (found.values != make_agent(without, variant).search(states, keys).values).any()
    for i in range(games):
        assert agent.act(states[i : i + 1], keys[i : i + 1])[0] == found.actions[i]
        kernels.determinize_one(states, i, int(states["seat"][i]), np.array([99 + i], np.uint64))
    again = agent.search(states, keys)
    assert all((one == other).all() for one, other in zip(found, again, strict=True))


def check_refusals(
    load: Callable[[Path, Variant], Any], path: Path, variant: Variant, what: str, changes: list[tuple[dict, str]]
) -> None:
    """Loading refuses another number of players, damaged weights, and a card with any of the changes, by its text."""
    with pytest.raises(ValueError, match=r"is about samurai players=2 .*, not samurai players=3"):
        load(path, variant.game.variant(3))
    good, card = path.read_bytes(), json.loads(path.with_suffix(".json").read_text())
    path.write_bytes(good[:-1] + b"x")
    with pytest.raises(ValueError, match="is damaged or does not fit its card: its checksum is another"):
        load(path, variant)
    path.write_bytes(good)
    for change, text in [
        *changes,
        ({"variant": "chess"}, f"describes no {what}"),
        ({"format": "other"}, f"is not the card of a {what}"),
    ]:
        path.with_suffix(".json").write_text(json.dumps(card | change))
        with pytest.raises(ValueError, match=text):
            load(path, variant)
    path.with_suffix(".json").write_text(json.dumps(card))
    load(path, variant)
