"""The map of Japan as a graph: settlements, and the land and sea hexes beside them."""

from functools import cache

from samurai_env.core.encoding import Graph, Piece, Places, Sites
from samurai_env.games.board import actions
from samurai_env.games.board.rules.tiles import FIGURES, KIND_NAMES, KINDS, ON_LAND, SHIPS, STRENGTH
from samurai_env.games.board.rules.topology import LAND_BESIDE, LANDS, SEA_BESIDE, SEAS, SETTLEMENTS


def _pieces() -> tuple[Piece, ...]:
    """The kinds of tile; helmets, buddhas and rice of the same strength are alike."""
    first = {(name in FIGURES or name, max(STRENGTH[kind])): kind for kind, name in reversed([*enumerate(KIND_NAMES)])}
    return tuple(
        Piece(first[name in FIGURES or name, max(STRENGTH[kind])], FIGURES.index(name) if name in FIGURES else None)
        for kind, name in enumerate(KIND_NAMES)
    )


@cache
def graph(num_players: int) -> Graph:
    """The graph of the board for so many players, over the blocks of the encoding `flat`."""
    towns = int(SETTLEMENTS[num_players])
    spot0 = int(actions.SPOT0[num_players]) - 1  # Edo, settlement 0, has no spots
    spots = tuple(tuple(spot0 + k * (towns - 1) + town if town else -1 for k in range(3)) for town in range(towns))
    on_land = (("land_owner", 1), ("land_strength", 0), ("land_movable", 0))
    places = tuple(
        Places(
            blocks=blocks,
            action=int(first),
            beside=tuple(tuple(int(town) for town in near if town < towns) for near in beside[: count[num_players]]),
            pieces=tuple(kind for kind in range(KINDS) if int(tiles) >> kind & 1),
        )
        for first, count, beside, tiles, blocks in (
            (actions.LAND0, LANDS, LAND_BESIDE, ON_LAND, on_land),
            (actions.SEA0[num_players], SEAS, SEA_BESIDE, SHIPS, (("sea_strength", 1),)),
        )
    )
    blocks = (("figures", 1, 0), ("influence", 1, 2), ("empty_land", 0, None))
    return Graph(Sites(blocks, spots), places, _pieces(), 0, "tile")
