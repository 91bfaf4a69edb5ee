"""Mini-Samurai for two in plain Python, written from its rules alone, and what exact play of it is worth.

The rules are those in the docstring of `tests.mini.game`. A move is a tile and a land: ("S", "a").
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import cache
from itertools import permutations
from typing import NamedTuple

AROUND = {"H": "abc", "B": "acd", "R": "abd"}  # the lands around the figure
Move = tuple[str, str]


class State(NamedTuple):
    """The table between two moves: by land, "" or seat and tile ("0S"); by seat, the tiles left, the hand first."""

    lands: tuple[str, ...]
    tiles: tuple[str, ...]

    @property
    def seat(self) -> int:
        """The seat to move."""
        return sum(map(bool, self.lands)) % 2

    def hand(self, seat: int) -> str:
        """The hand of a seat, sorted."""
        return "".join(sorted(self.tiles[seat][:2]))


# How a seat plays: the chance of each of its moves. It may look at the hand of the seat to move, not at the other.
Policy = Callable[[State], dict[Move, float]]


def deals() -> list[State]:
    """Every beginning, all of them equally likely (the order of the two tiles in a hand plays no part)."""
    rows = [first + second + third + fourth for first, second, third, fourth in permutations("HBRS") if first < second]
    return [State(("",) * 4, (one, two)) for one in rows for two in rows]


def moves(state: State) -> list[Move]:
    """The legal moves; none once all lands are full."""
    free = [land for land, tile in zip("abcd", state.lands) if not tile]
    return [(tile, land) for tile in state.hand(state.seat) for land in free]


def after(state: State, move: Move) -> State:
    """The table after a move."""
    tile, land = move
    lands = tuple(f"{state.seat}{tile}" if name == land else there for name, there in zip("abcd", state.lands))
    return State(lands, tuple(t.replace(tile, "") if i == state.seat else t for i, t in enumerate(state.tiles)))


def payoff(state: State) -> int:
    """What a full table pays seat 0: 1 if it has more figures, -1 if fewer."""
    lead = 0
    for figure, around in AROUND.items():
        strength = [0, 0]
        for land in around:
            there = state.lands["abcd".index(land)]
            strength[int(there[0])] += {figure: 2, "S": 1}.get(there[1], 0)
        lead += (strength[0] > strength[1]) - (strength[0] < strength[1])
    return (lead > 0) - (lead < 0)


@cache
def value(state: State) -> int:
    """What seat 0 gets when both play perfectly and see everything."""
    values = [value(after(state, move)) for move in moves(state)]
    return payoff(state) if not values else max(values) if state.seat == 0 else min(values)


def uniform(state: State) -> dict[Move, float]:
    """The policy to which all moves are alike."""
    return {move: 1 / len(moves(state)) for move in moves(state)}


def expected(state: State, policies: tuple[Policy, Policy]) -> float:
    """What seat 0 gets on the average when each seat plays its policy."""
    if not moves(state):
        return payoff(state)
    chances = policies[state.seat](state)
    return sum(chance * expected(after(state, move), policies) for move, chance in chances.items())


def best_response(seat: int, policy: Policy, states: Iterable[State]) -> float:
    """What `seat` gets on the average over these beginnings when it answers `policy` in the best way.

    It knows the policy, but of the hidden tiles only what it has seen.
    """
    nodes = [(1.0, state) for state in states]
    return _best(_alike(seat, nodes), seat, policy) / len(nodes)


Nodes = list[tuple[float, State]]  # tables with their chances


def _alike(seat: int, nodes: Nodes) -> list[Nodes]:
    """The tables sorted into lots that a seat cannot tell apart."""
    lots = defaultdict(list)
    for chance, state in nodes:
        lots[state.hand(seat), state.lands].append((chance, state))
    return list(lots.values())


def _best(lots: list[Nodes], seat: int, policy: Policy) -> float:
    """The sum of what the best answer gets in lots of tables, each weighed by its chance."""
    total = 0.0
    for nodes in lots:
        state = nodes[0][1]
        if not moves(state):
            total += sum(chance * payoff(end) for chance, end in nodes) * (1 if seat == 0 else -1)
        elif state.seat == seat:
            answers = ([(chance, after(table, move)) for chance, table in nodes] for move in moves(state))
            total += max(_best(_alike(seat, answer), seat, policy) for answer in answers)
        else:
            answered = [(c * p, after(table, move)) for c, table in nodes for move, p in policy(table).items()]
            total += _best(_alike(seat, answered), seat, policy)
    return total
