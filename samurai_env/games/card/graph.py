"""The villages on the grid as a graph: each is a site, the cells around it are where cards go."""

from functools import cache

from samurai_env.core.encoding import Cells, Graph, Piece, Sites
from samurai_env.games.card import actions
from samurai_env.games.card.rules.cards import KIND_NAMES, SHAPES
from samurai_env.games.card.rules.topology import STEP_X, STEP_Y, VILLAGES


def _pieces() -> tuple[Piece, ...]:
    """The kinds of card; helmets, buddhas and rice of the same strength are alike."""
    first = {(name in SHAPES or name, value): kind for kind, (name, value) in reversed([*enumerate(KIND_NAMES)])}
    return tuple(
        Piece(first[name in SHAPES or name, value], SHAPES.index(name) if name in SHAPES else None)
        for name, value in KIND_NAMES
    )


@cache
def graph(num_players: int) -> Graph:
    """The graph of the table, over the blocks of the encoding `flat`; the same for every number of players."""
    blocks = (
        ("symbols", 0, 1),
        ("influence", 0, 1),
        ("strength", 0, 2),
        ("laid", 0, None),
        ("scored", 0, None),
        ("free", 0, None),
        ("owner", 0, None),
    )
    steps = tuple(zip(STEP_X.tolist(), STEP_Y.tolist(), strict=True))
    cells = Cells(
        laid="laid",
        done="scored",
        position="place",
        free="free",
        suits="symbols",
        next_suits="top",
        owner="owner",
        strength="strength",
        waiting="waiting",
        steps=steps,
        action=actions.CELL0,
        waiting_action=actions.CHOICE0,
    )
    no_actions = tuple((-1,) * len(SHAPES) for _ in range(VILLAGES))
    return Graph(Sites(blocks, no_actions), cells, _pieces(), 0, "chosen")
