"""The tree of a search: its nodes, the choice among them by PUCT (Silver et al., 2017), and what is read off it.

Nodes are known by the actions that lead to them, whatever a simulation's determinization hides (Cowling, Powley and
Whitehouse, 2012). Returns are vectors: each seat maximises its own component (max-n), which is right for
two, three or four players and for cooperation. Simulations under way count as lost, so that others part from them
(Chaslot et al., 2008).
"""

from typing import NamedTuple

import numpy as np

from samurai_env.core import bits
from samurai_env.core.game import Variant
from samurai_env.core.jit import jit


def node_type(num_players: int, num_actions: int) -> np.dtype:
    """One node: priors of the actions there, sum of returns by seat, the action that leads to it, links, counts."""
    return np.dtype(
        [
            ("value", "<f8", (num_players,)),
            ("prior", "<f4", (num_actions,)),
            ("action", "<i4"),
            ("child", "<i4"),
            ("sibling", "<i4"),
            ("visits", "<i4"),
            ("pending", "<i4"),
            ("known", "<i4"),
        ],
        align=True,
    )


class Findings(NamedTuple):
    """What searches find.

    Attributes:
        actions: int64 (games,), the action tried most.
        counts: int64 (games, actions), how often each was tried at the root.
        values: float64 (games, players), the returns to expect by seat.
    """

    actions: np.ndarray
    counts: np.ndarray
    values: np.ndarray


def new_findings(games: int, variant: Variant) -> Findings:
    """Room for the findings of some searches."""
    counts = np.zeros((games, variant.num_actions), np.int64)
    return Findings(np.zeros(games, np.int64), counts, np.zeros((games, variant.num_players)))


def new_trees(games: int, simulations: int, variant: Variant) -> np.ndarray:
    """Room for the trees of some games.

    Raises:
        ValueError: the memory does not suffice.
    """
    kind = node_type(variant.num_players, variant.num_actions)
    try:
        return np.empty((games, simulations + 1), kind)
    except (MemoryError, ValueError):
        size = games * (simulations + 1) * kind.itemsize / 2**30
        raise ValueError(f"a search with {simulations:,} simulations needs {size:,.0f} GiB of memory") from None


@jit
def clear(node, action, sibling):
    """Begin a node."""
    node.value[:] = 0.0
    node.prior[:] = 0.0
    node.action = action
    node.child = -1
    node.sibling = sibling
    node.visits = 0
    node.pending = 0
    node.known = 0


@jit
def back_up(nodes, path, depth, out):
    """Add what a simulation found to the nodes on its path."""
    for i in range(depth + 1):
        node = nodes[path[i]]
        node.pending -= 1
        node.visits += 1
        for seat in range(out.shape[0]):
            node.value[seat] += out[seat]


@jit
def best_child(nodes, index, words, mover, exploration, usual, eager, fpu):
    """The best child that is legal, and the action to be tried for the first time instead, or -1.

    `words` loses the actions that have a child. `usual` is the least prior of a legal action: some were not legal when
    the priors were written, as another determinization may allow them. With `eager` each action is tried before any is
    tried again; otherwise an action not yet tried counts for `fpu` less than its node (first-play urgency: Gelly and
    Wang, 2006).
    """
    node = nodes[index]
    reach = exploration * np.sqrt(np.float64(node.visits + node.pending))
    best, best_score = -1, -np.inf
    child = node.child
    while child >= 0:
        this = nodes[child]
        if bits.contains(words, this.action):
            words[this.action >> 6] &= ~bits.bit(this.action & 63)
            tries = this.visits + this.pending
            prior = max(np.float64(node.prior[this.action]), usual)
            score = (this.value[mover] - this.pending) / tries + reach * prior / (1.0 + tries)
            if score > best_score:
                best, best_score = child, score
        child = this.sibling
    action, prior = -1, -1.0
    for i in range(words.shape[0]):
        word = words[i]
        while word != np.uint64(0):
            candidate = 64 * i + np.int64(bits.lowest(word))
            word &= word - bits.ONE
            if node.prior[candidate] > prior:
                action, prior = candidate, np.float64(node.prior[candidate])
    if action >= 0 and not eager:
        level = (node.value[mover] - node.pending) / max(1, node.visits + node.pending) - fpu
        if level + reach * max(prior, usual) <= best_score:
            action = -1
    return best, action


@jit
def begin(trees):
    """Empty the trees."""
    for i in range(trees.shape[0]):
        clear(trees[i, 0], -1, -1)


@jit
def read_roots(trees, actions, counts, values):
    """Write what searches have found, see `Findings`; `trees` are nodes (games, ...)."""
    for i in range(trees.shape[0]):
        root = trees[i, 0]
        counts[i] = 0
        for seat in range(values.shape[1]):
            values[i, seat] = root.value[seat] / root.visits
        actions[i] = np.argmax(root.prior)  # if nothing has been tried
        most, child = -1, root.child
        while child >= 0:
            node = trees[i, child]
            counts[i, node.action] = node.visits
            if node.visits > most:
                most, actions[i] = node.visits, node.action
            child = node.sibling
