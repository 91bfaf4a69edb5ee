"""The search tree: nodes, selection by PUCT, backup, and reading off the result.

A node is identified by the actions that lead to it, whatever the determinization of a simulation hides (Cowling, Powley
and Whitehouse, 2012). Returns are vectors and each seat maximises its own component (max-n), which holds for any
number of players and for cooperation.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from samurai_env.core import bits
from samurai_env.core.game import Variant
from samurai_env.core.jit import jit

LEAST_VISITS = 3  # of an action in a line of play, after the first


def node_dtype(num_players: int, num_actions: int) -> np.dtype:
    """Structured dtype of one node.

    Fields: `value` is the sum of returns by seat, `net_value` what a network expects, `prior` the priors of the actions
    here, `action` the action that leads here, `child` and `sibling` link nodes (-1: none), `visits` counts simulations
    backed up, `in_flight` those that have come through and are not backed up yet, `expanded` is not 0 once `prior` has
    been written.
    """
    return np.dtype(
        [
            ("value", "<f8", (num_players,)),
            ("net_value", "<f8", (num_players,)),
            ("prior", "<f4", (num_actions,)),
            ("action", "<i4"),
            ("child", "<i4"),
            ("sibling", "<i4"),
            ("visits", "<i4"),
            ("in_flight", "<i4"),
            ("expanded", "<i4"),
        ],
        align=True,
    )


class SearchResult(NamedTuple):
    """The result of a batch of searches.

    Attributes:
        actions: int64 (games,), the most visited action at the root.
        visits: int64 (games, actions), visits of each action at the root.
        values: float64 (games, players), mean returns by seat.
    """

    actions: np.ndarray
    visits: np.ndarray
    values: np.ndarray


class RootActions(NamedTuple):
    """What a search of one game found at the root, by action id; nan is what it does not know.

    Attributes:
        visits: int64 (actions,), how often each was tried.
        values: float64 (actions, players), mean returns by seat; nan where it was not tried.
        priors: float32 (actions,), before the search; 0 where the action is illegal.
        expected: float64 (players,), mean returns of all simulations by seat.
        line: the most visited actions one after the other. Those after the first need not be legal: another
            determinization may allow other actions.
    """

    visits: np.ndarray
    values: np.ndarray
    priors: np.ndarray
    expected: np.ndarray
    line: tuple[int, ...] = ()


def root_actions(nodes: np.ndarray) -> RootActions:
    """Read one tree, nodes (simulations + 1,)."""
    root = nodes[0]
    visits, values = np.zeros(len(root["prior"]), np.int64), np.full((len(root["prior"]), len(root["value"])), np.nan)
    for child in _children(nodes, 0):
        node = nodes[child]
        visits[node["action"]] = node["visits"]
        values[node["action"]] = node["value"] / node["visits"]
    return RootActions(visits, values, root["prior"].copy(), root["value"] / root["visits"], tuple(_line(nodes)))


def several_roots(result: SearchResult) -> RootActions:
    """What several trees of one game have in common: the visits and the expected returns."""
    visits, expected = result.visits[0], result.values[0]
    unknown = np.full(len(visits), np.nan, np.float32)
    return RootActions(visits, np.full((len(visits), len(expected)), np.nan), unknown, expected)


def _children(nodes: np.ndarray, parent: int) -> Iterator[int]:
    child = int(nodes[parent]["child"])
    while child >= 0:
        yield child
        child = int(nodes[child]["sibling"])


def _line(nodes: np.ndarray) -> Iterator[int]:
    """The most visited actions from the root on, after the first as long as they were visited several times."""
    node, visits, action = 0, nodes["visits"], nodes["action"]
    while children := list(_children(nodes, node)):
        prior = nodes[node]["prior"]  # decides between actions visited as often
        most = max(children, key=lambda child: (visits[child], prior[action[child]], -action[child]))
        if node and visits[most] < LEAST_VISITS:
            return
        node = most
        yield int(action[node])


def new_result(games: int, variant: Variant) -> SearchResult:
    """An empty result for some games."""
    visits = np.zeros((games, variant.num_actions), np.int64)
    return SearchResult(np.zeros(games, np.int64), visits, np.zeros((games, variant.num_players)))


def new_trees(games: int, simulations: int, variant: Variant) -> np.ndarray:
    """Uninitialised nodes (games, simulations + 1) of `node_dtype`.

    Raises:
        ValueError: the memory does not suffice.
    """
    dtype = node_dtype(variant.num_players, variant.num_actions)
    try:
        return np.empty((games, simulations + 1), dtype)
    except (MemoryError, ValueError):
        size = games * (simulations + 1) * dtype.itemsize / 2**30
        raise ValueError(f"a search with {simulations:,} simulations needs {size:,.0f} GiB of memory") from None


@jit
def init_node(node, action, sibling):
    """Initialise a node that `action` leads to."""
    node.value[:] = 0.0
    node.prior[:] = 0.0
    node.action = action
    node.child = -1
    node.sibling = sibling
    node.visits = 0
    node.in_flight = 0
    node.expanded = 0


@jit
def init_roots(trees):
    """Empty the trees."""
    for i in range(trees.shape[0]):
        init_node(trees[i, 0], -1, -1)


@jit
def backup(nodes, path, depth, returns):
    """Add the returns of a simulation to the nodes on its path."""
    for i in range(depth + 1):
        node = nodes[path[i]]
        node.in_flight -= 1
        node.visits += 1
        for seat in range(returns.shape[0]):
            node.value[seat] += returns[seat]


@jit
def select(nodes, index, legal, seat, c_puct, prior_floor, visit_all, fpu):
    """Select by PUCT among the legal actions of a node.

    The score of action a at node s (Rosin, 2011; Silver et al., 2017) is

        Q(s, a) + c_puct * P(s, a) * sqrt(N(s)) / (1 + N(s, a))

    with Q the mean return of the seat to move, P the prior and N the number of visits. Simulations in flight count as
    visits with a return of -1 (virtual loss: Chaslot et al., 2008). An action without a child has the value of its node
    less `fpu` for Q (first-play urgency: Gelly and Wang, 2006).

    Args:
        nodes: of one tree.
        index: the node s.
        legal: uint64 words, the legal actions; loses those that have a child.
        seat: the seat to move at s.
        c_puct: weight of the prior term.
        prior_floor: the least P of a legal action; some were not legal when the priors were written, since another
            determinization may allow other actions.
        visit_all: try each action before any is tried again.
        fpu: see above.

    Returns:
        The best child (-1: none) and the action to expand instead (-1: none).
    """
    node = nodes[index]
    scale = c_puct * np.sqrt(np.float64(node.visits + node.in_flight))  # c_puct * sqrt(N(s))
    best, best_score = -1, -np.inf
    child = node.child
    while child >= 0:
        this = nodes[child]
        if bits.contains(legal, this.action):
            legal[this.action >> 6] &= ~bits.bit(this.action & 63)
            n = this.visits + this.in_flight
            q = (this.value[seat] - this.in_flight) / n
            p = max(np.float64(node.prior[this.action]), prior_floor)
            score = q + scale * p / (1.0 + n)
            if score > best_score:
                best, best_score = child, score
        child = this.sibling
    action, p = -1, -1.0  # the action without a child that has the largest prior
    for i in range(legal.shape[0]):
        word = legal[i]
        while word != np.uint64(0):
            candidate = 64 * i + np.int64(bits.lowest(word))
            word &= word - bits.ONE
            if node.prior[candidate] > p:
                action, p = candidate, np.float64(node.prior[candidate])
    if action >= 0 and not visit_all:
        q = (node.value[seat] - node.in_flight) / max(1, node.visits + node.in_flight) - fpu
        if q + scale * max(p, prior_floor) <= best_score:
            action = -1
    return best, action


@jit
def add_child(nodes, index, used, action):
    """Append the child that `action` leads to; `used` is its index."""
    init_node(nodes[used], action, nodes[index].child)
    nodes[index].child = used


@jit
def is_decided(nodes, left):
    """Whether the most visited action at the root stays that, whatever the `left` more simulations visit."""
    most, second, child = 0, 0, nodes[0].child
    while child >= 0:
        visits = np.int64(nodes[child].visits)
        if visits > most:
            most, second = visits, most
        elif visits > second:
            second = visits
        child = nodes[child].sibling
    return most - second > left


@jit
def read_roots(trees, actions, visits, values):
    """Write the `SearchResult` of trees (games, nodes)."""
    for i in range(trees.shape[0]):
        root = trees[i, 0]
        visits[i] = 0
        for seat in range(values.shape[1]):
            values[i, seat] = root.value[seat] / root.visits
        actions[i] = np.argmax(root.prior)  # if nothing has been tried
        most, child = -1, root.child
        while child >= 0:
            node = trees[i, child]
            visits[i, node.action] = node.visits
            if node.visits > most:
                most, actions[i] = node.visits, node.action
            child = node.sibling
