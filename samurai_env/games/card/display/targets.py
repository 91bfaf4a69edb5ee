"""Clickable targets on the table, and descriptions of the actions."""

from collections.abc import Callable, Mapping

import numpy as np

from samurai_env.display.scene import Target
from samurai_env.display.shapes import square
from samurai_env.games.card.actions import CELL0, CHOICE0, names
from samurai_env.games.card.display import player_view
from samurai_env.games.card.rules.cards import KINDS, SHAPES

SIDE_WORDS = {"N": "north", "E": "east", "S": "south", "W": "west"}


def places(
    villages: Mapping[player_view.Place, player_view.Village],
    cards: Mapping[player_view.Place, player_view.Card],
    free: Mapping[player_view.Place, str],
    ids: Mapping[str, int],
    center: Callable[[player_view.Place], tuple[float, float]],
    half: float,
) -> dict[str, Target]:
    """Villages, cards and free cells, by name.

    Args:
        villages: on the table, by place.
        cards: on the table, by place.
        free: names of the places where a card or village can be laid.
        ids: action ids by name.
        center: the middle of a place in the picture.
        half: half the width of a card there.
    """
    found: dict[str, Target] = {}

    def add(name: str, place: player_view.Place, label: str, actions: tuple[int, ...] = ()) -> None:
        found[name] = Target(square(*center(place), half, "none").points, label, actions)

    for place, village in villages.items():
        symbols = ", ".join(SHAPES[shape] for shape in village.shapes)
        add(village.name, place, f"village {village.name}: {symbols}{', scored' if village.scored else ''}")
    for place, card in cards.items():
        x, y = place
        add(f"card{x}.{y}", place, f"{player_view.kind_text(card.kind)} of seat {card.seat}")
    for place, name in free.items():
        label = f"free place {name}" if name.startswith("cell") else f"free cell {cell_text(name)}"
        add(name, place, label, (ids[name],))
    return found


def cell_text(name: str) -> str:
    """Such as `east of v4` for `v4E`."""
    return f"{SIDE_WORDS[name[-1]]} of {name[:-1]}"


def labels(state: np.void) -> dict[int, str]:
    """Describe each action in words, by id; those of illegal actions mean nothing."""
    all_names = names(state["hand"].shape[0])
    words = {kind: f"choose {player_view.kind_text(kind)}" for kind in range(KINDS)}
    words |= {CHOICE0: "village to the first place (cell0)", CHOICE0 + 1: "village to the second place (cell1)"}
    return words | {action: f"lay it {cell_text(all_names[action])}" for action in range(CELL0, len(all_names))}
