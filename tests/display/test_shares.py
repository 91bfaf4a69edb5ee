"""Shares of actions drawn on the picture of a position."""

import math

import numpy as np
import pytest

from samurai_env import Position, make_variant
from samurai_env.display.scene import Circle, Place, Scene, Text


def test_a_circle_has_the_area_of_its_share_and_the_share_beside_it():
    here, there = Place(20.0, 20.0, 10.0), Place(60.0, 20.0, 10.0)
    scene = Scene(80, 40, places={1: here, 2: here, 3: there, 4: Place(40.0, 20.0, 10.0)})
    scene.add_shares({0: 0.4, 1: 0.3, 2: 0.06, 3: 0.09, 4: 0.004})
    circles = [shape for shape in scene.shapes if isinstance(shape, Circle)]
    assert [(c.x, c.y) for c in circles] == [(20.0, 20.0), (60.0, 20.0)]
    assert [c.radius for c in circles] == pytest.approx([6.0, 3.0])
    assert [shape.text for shape in scene.shapes if isinstance(shape, Text)] == ["36%", "9%"]


@pytest.mark.parametrize(("game", "n"), [("samurai", 2), ("samurai", 4), ("samurai_card", 2)])
def test_every_action_that_names_a_place_has_one_in_the_picture(game, n):
    variant, rng = make_variant(game, num_players=n), np.random.default_rng(n)
    position, seen = Position(variant, 1), 0
    while not position.over:
        scene = variant.game.scene(position.state)
        middles = {}
        for action in position.legal_actions():
            name = variant.action_names[action]
            names_a_place = name.startswith("c") if game == "samurai" else name[0] in "cv"
            assert (action in scene.places) == names_a_place
            if names_a_place:
                place = scene.places[action]
                assert place.radius <= place.x <= scene.width - place.radius
                assert place.radius <= place.y <= scene.height - place.radius
                middles[name.partition(".")[0]] = place  # figures on one settlement share it
                seen += 1
        between = [math.dist((a.x, a.y), (b.x, b.y)) for a in middles.values() for b in middles.values() if a != b]
        assert len(set(middles.values())) == len(middles)
        radius = max((place.radius for place in middles.values()), default=0.0)
        assert min(between, default=math.inf) > 1.9 * radius  # circles do not overlap
        position.step(int(rng.choice(position.legal_actions())))
    assert seen > 0
