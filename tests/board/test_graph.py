"""The map as a graph, against the names of hexes and tiles."""

import re

import pytest

from samurai_env import make_variant
from samurai_env.games.board.graph import graph
from samurai_env.games.board.rules.topology import LAND, SEA, SETTLEMENT


@pytest.mark.parametrize("players", [2, 3, 4])
def test_places_and_actions(players: int) -> None:
    names, map_ = make_variant("samurai", players).action_names, graph(players)
    settlements = SETTLEMENT[: map_.sites.shape[0]]
    for kind, hexes in zip(map_.places, (LAND, SEA), strict=True):
        for place, sites in enumerate(kind.beside):
            assert names[kind.action + place] == hexes[place].label
            near = [i for i, s in enumerate(settlements) if (s.col, s.row) in hexes[place].neighbours()]
            assert sorted(sites) == near
    for site, actions in enumerate(map_.sites.actions):
        for letter, action in zip("HBR", actions, strict=True):
            assert names[action] == f"{settlements[site].label}.{letter}" if site else action == -1


def test_pieces() -> None:
    names = make_variant("samurai").action_names
    pieces = graph(2).pieces
    assert len(pieces) == 17
    for i, a in enumerate(pieces):
        suit = "HBR".find(names[i][0]) if re.fullmatch("[HBR][234]", names[i]) else None
        assert a.suit == suit
        for j, b in enumerate(pieces):
            alike = i == j or (suit is not None and b.suit is not None and names[i][1] == names[j][1])
            assert (a.like == b.like) == alike
    land, sea = ({names[piece] for piece in kind.pieces} for kind in graph(2).places)
    assert sea == {"SH1", "SH2"}
    assert land == {*names[:17]} - sea - {"FX"}
