"""What can be clicked in the pictures of all games."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from samurai_env import Position, find_game, game_names, make_variant
from samurai_env.display import svg
from samurai_env.display.scene import Panel
from samurai_env.games.board.state import FIRST_HAND

VARIANTS = [(name, n) for name in game_names() for n in (find_game(name).players[0], find_game(name).players[-1])]
EVERY = 9  # position is looked at: pictures take time


def positions(variant, seed=1):
    """Some positions of a random game."""
    position, rng = Position(variant, seed), np.random.default_rng(seed)
    while not position.over:
        if position.steps % EVERY == 0:
            yield position
        position.step(int(rng.choice(position.legal_actions())))
    yield position


def scene(position, viewer=None):
    return position.variant.game.scene(position.state, viewer)


@pytest.mark.parametrize(("game", "n"), VARIANTS)
def test_targets_lie_in_the_picture_and_say_what_they_are(game, n):
    variant = make_variant(game, num_players=n)
    for position in positions(variant):
        picture = scene(position, position.seat)
        assert picture.caption
        for name, target in picture.targets.items():
            assert re.fullmatch(r"[a-z0-9.-]+", name, re.IGNORECASE)
            assert target.label == target.label.strip() != ""
            assert all(0 <= x <= picture.width and 0 <= y <= picture.height for x, y in target.points)
            assert all(0 <= action < variant.num_actions for action in target.actions)
        for action in position.legal_actions():
            assert picture.labels[action]


@pytest.mark.parametrize(("game", "n"), VARIANTS)
def test_each_panel_shows_a_part_and_no_text_is_in_none(game, n):
    def inside(panel: Panel, x: float, y: float) -> bool:
        return panel.x <= x <= panel.x + panel.width and panel.y <= y <= panel.y + panel.height

    for position in positions(make_variant(game, num_players=n)):
        picture = scene(position)
        panels = picture.panels.values()
        for shape in picture.shapes:
            points = getattr(shape, "points", None) or ((shape.x, shape.y),)
            assert any(all(inside(panel, x, y) for x, y in points) for panel in panels), shape


@pytest.mark.parametrize(("game", "n"), VARIANTS)
def test_targets_do_not_depend_on_what_the_viewer_cannot_know(game, n):
    rng = np.array([3], np.uint64)
    for position in positions(make_variant(game, num_players=n)):
        viewer = int(rng[0]) % n
        seen, other = scene(position, viewer), scene(position.determinized(viewer, rng), viewer)
        assert (seen.targets, seen.labels, seen.caption) == (other.targets, other.labels, other.caption)


def test_places_of_the_board_and_tiles_in_hand_are_clickable():
    for position in positions(make_variant("samurai", 3)):
        picture = scene(position, position.seat)
        shown = {action for target in picture.targets.values() for action in target.actions}
        names = position.variant.action_names
        if position.state["phase"] != FIRST_HAND:  # what can be picked lies nowhere
            for action in position.legal_actions():
                assert (action in shown) == (names[action] not in ("end", "idle")), names[action]


def test_a_position_shows_itself_in_a_notebook():
    position = Position(make_variant("samurai", 2), 1)
    assert position._repr_svg_() == svg(scene(position))


def test_targets_are_in_the_svg_with_their_names():
    position = Position(make_variant("samurai", 2), 1)
    picture = scene(position, 0)
    root = ElementTree.fromstring(svg(picture))
    spec = "{http://www.w3.org/2000/svg}"
    found = {
        e.get("data-target"): e.find(f"{spec}title").text for e in root.iter(f"{spec}polygon") if e.get("data-target")
    }
    assert found == {name: target.label for name, target in picture.targets.items()}
    assert root.find(f"{spec}title").text == picture.caption
