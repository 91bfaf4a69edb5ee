"""Positions of the card game to test with: dealt by hand, or reached by random play."""

from collections import Counter

import numpy as np

from samurai_env.core.batch import batch_kernels
from samurai_env.games.card.actions import CELL0, names
from samurai_env.games.card.game import GAME
from samurai_env.games.card.rules.cards import CARDS_EACH, KIND_CODES, VILLAGE_CODES
from samurai_env.games.card.rules.topology import STEP_X, STEP_Y
from samurai_env.position import Position

PLAYERS = (2, 3, 4)
LOOPS = batch_kernels(GAME)

CLOSING = {  # cells (and choices) of a game in which the board closes
    2: "v0E v0W v0S v1W v0N v1S v3S v4W v2N v4S v3E v2W v6N v5S v6W v5E v7W v7S v9W v8E v9S v10E v11S v10N",
    3: "v0E v0S v0W v1E v1S v2W v3S v4W v2S v3E v4S v0N v7E v6S v7N v6E v9S v8N v8E v9E v10N v11E v12S v10E v11N "
    "v13S v14S cell0 v16S v12E v13E v16E v18E v19E v18N v21E v20E v21N v22N v20S cell0 v24S v22E",
}


def ids(n: int) -> dict[str, int]:
    return {name: i for i, name in enumerate(names(n))}


def dealt(orders: list[str], villages: str) -> Position:
    """A game in which every seat draws these cards and the village cards lie in this order.

    Cards and village cards that are not given follow in some order.
    """
    n = len(orders)
    position = Position(GAME.variant(n), 0)
    state = position.state
    for seat, order in enumerate(orders):
        kinds = [KIND_CODES.index(code) for code in order.split()]
        rest = Counter(np.repeat(np.arange(12), state["copies"]).tolist()) - Counter(kinds)
        row = [*kinds, *rest.elements()]
        assert len(row) == CARDS_EACH[n], "not a player's cards"
        state["hand"][seat] = [row[:5].count(kind) for kind in range(12)]
        state["kinds"][seat] = sum(1 << kind for kind in set(row[:5]))
        state["stack"][seat] = [-1] * 5 + row[5:]
    given = [VILLAGE_CODES.index(code) + 1 for code in villages.split()]
    rest = Counter(dict(zip(range(1, 8), state["village_copies"].tolist(), strict=True))) - Counter(given)
    state["village_stack"] = [*given, *rest.elements()]
    return position


def play(position: Position, *moves: str) -> Position:
    """Make moves such as `H3 v0N`."""
    for move in moves:
        for action in GAME.parse_move(position.state, move):
            position.step(action)
    return position


def legal(position: Position) -> set[str]:
    return {position.variant.action_names[action] for action in position.legal_actions()}


def laid(position: Position) -> dict[tuple[int, int], str]:
    """The villages on the table, by place."""
    state = position.state
    count = int(state["villages"])
    places = zip(state["village_x"].tolist(), state["village_y"].tolist(), strict=True)
    return {place: VILLAGE_CODES[kind - 1] for place, kind in zip(places, state["village_stack"][:count], strict=False)}


def stones(position: Position) -> list[list[int]]:
    return position.state["stones"].tolist()


def randomly(position: Position, rng: np.random.Generator, steps: int) -> Position:
    """Some random decisions, at most."""
    for _ in range(steps):
        if position.over:
            break
        position.step(int(rng.choice(position.legal_actions())))
    return position


def shrink(position: Position, count: int) -> None:
    """Let `count` village cards lie: those after the first in a corner of the grid, far from everything."""
    state = position.state
    state["villages"] = count
    state["village_x"][1:count] = 40
    state["village_y"][1:count] = 40


def place(position: Position, action: int) -> tuple[int, int]:
    village, side = divmod(action - CELL0, 4)
    state = position.state
    return int(state["village_x"][village] + STEP_X[side]), int(state["village_y"][village] + STEP_Y[side])


def positions(n: int, seed: int, count: int = 6):
    """Positions from all over a few random games, every phase among them."""
    rng = np.random.default_rng(seed)
    phases = set()
    for game in range(count):
        position = Position(GAME.variant(n), 100 * seed + game)
        while not position.over:
            phase = int(position.state["phase"])
            if phase == 2 or rng.random() < 0.1:
                phases.add(phase)
                yield position
            randomly(position, rng, 1)
        yield position
    assert phases == {0, 1, 2}


def check_limits(position: Position, encoding: str) -> None:
    layout = position.variant.encoding(encoding)
    low, high = layout.limits()
    for seat in range(position.variant.num_players):
        out = np.full(layout.shape, 77, np.int8)  # whatever was there is overwritten
        seen = position.observe(seat, encoding, out)
        assert (seen >= low).all()
        assert (seen <= high).all()
        np.testing.assert_array_equal(seen, position.observe(seat, encoding))
