"""Saved positions of the card game whose fields contradict each other are refused."""

import random

import pytest

from samurai_env import make_variant
from samurai_env.games.card.rules.topology import STEP_X, STEP_Y
from samurai_env.position import Position


def test_two_villages_agree_on_the_card_between_them():
    position, rng, tried = Position(make_variant("samurai_card"), 3), random.Random(3), 0
    while not position.over and tried < 5:
        position.step(rng.choice(position.legal_actions()))
        state, first = position.state, {}
        for village in range(state["villages"]):
            for side in range(4):
                cell = state["village_x"][village] + STEP_X[side], state["village_y"][village] + STEP_Y[side]
                if state["side"][first.setdefault(cell, (village, side))] and first[cell][0] != village:
                    forged = position.clone()
                    forged.state["side"][village, side] = 1 + state["side"][village, side] % 4
                    with pytest.raises(ValueError, match="field 'side'"):
                        Position.restore(forged.save())
                    tried += 1
        assert Position.restore(position.save()).hash() == position.hash()
    assert tried
