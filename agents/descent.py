"""The compiled part of search with a network: simulations up to where it is asked, and what is made of its answers."""

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from agents import priors, rollouts
from agents.priors import LEAST
from agents.tree import back_up, best_child, clear
from samurai_env.core import bits
from samurai_env.core.compile import bind, jit
from samurai_env.core.game import Game

# Put in by `bind`.
legal: Any = None
step: Any = None
redetermine: Any = None
roll_out: Any = None
write_priors: Any = None

FLOOR = 0.02  # the least prior of a legal action is this, shared by all, once the network has answered
LEGAL = -1e8  # log-probabilities below are those of illegal actions
LEAST_PRIOR = 1e-6  # above 0, which marks an action that the network was not asked about
ADVISED, WAITING, ANSWERED = 1, 2, 3  # `known` of a node: its priors are advice, the network is asked, has answered


class Method(NamedTuple):
    """What compiled code takes of `agents.search.Settings`, and the temperature of the advice."""

    exploration: float
    temperature: float
    fpu: float
    mix: float
    after: int
    depth: int
    advice: float


class Room(NamedTuple):
    """What a search works in.

    Attributes:
        trees: nodes (games, simulations in all + 1).
        used: int64 (games,), nodes used.
        left: int64 (games,), simulations left.
        rngs: uint64 (games, 1).
        words: uint64, legal actions.
        scores: float64 (actions,), advice.
        out: float64 (seats,), returns.
    """

    trees: np.ndarray
    used: np.ndarray
    left: np.ndarray
    rngs: np.ndarray
    words: np.ndarray
    scores: np.ndarray
    out: np.ndarray


def simulate(state, nodes, i, path, method, room):
    """One simulation of game `i`, from a redetermined root state, as far as it comes without asking the network.

    Where another redetermination allows actions that were not legal before, a node asks again, or takes advice on them
    where the network is asked sparingly.

    Returns:
        the length of its path less one if its last node asks; -1 if what it found is backed up already.
    """
    node, depth, words = 0, 0, room.words
    path[0] = 0
    nodes[0].pending += 1
    while not state.over:
        this = nodes[node]
        legal(state, words)
        if this.known == ANSWERED:
            if lacks_priors(this, words):
                if method.after == 0:
                    return depth
                write_priors(state, words, method.advice, room.scores, this)
            usual = FLOOR / bits.count(words)
        elif depth == 0 or (this.visits >= method.after and this.known != WAITING):
            if this.known == ADVISED:
                this.known = WAITING  # others that come by need not ask as well
            return depth
        elif this.visits + this.pending == 1:
            break  # a leaf of `agents.mcts`
        else:
            if this.known == 0:
                write_priors(state, words, method.advice, room.scores, this)
                this.known = ADVISED
            usual = LEAST / bits.count(words)
        less = method.fpu if depth > 0 else 0.0
        child, action = best_child(nodes, node, words, state.seat, method.exploration, usual, False, less)
        if action >= 0:
            child = room.used[i]
            room.used[i] += 1
            clear(nodes[child], action, this.child)
            this.child = child
        node = child
        step(state, nodes[node].action)
        depth += 1
        path[depth] = node
        nodes[node].pending += 1
    roll_out(state, method.depth, 1.0, words, room.scores, room.out, room.rngs[i])
    back_up(nodes, path, depth, room.out)
    return -1


def descend(roots, method, room, leaves, paths, depths):
    """Let simulations descend to leaves that ask the network.

    Args:
        roots: records (games,), the positions searched.
        method: see `Method`.
        room: see `Room`.
        leaves: records (games, together), out.
        paths: int32 (games, together, longest), out: the nodes on the way.
        depths: int32 (games, together), out: length of the path less one; -1 where nothing is asked.
    """
    for i in range(roots.shape[0]):
        for j in range(leaves.shape[1]):
            depths[i, j] = -1
            while depths[i, j] < 0 and room.left[i] > 0:
                room.left[i] -= 1
                leaves[i, j] = roots[i]
                redetermine(leaves[i, j], roots[i].seat, room.rngs[i])
                depths[i, j] = simulate(leaves[i, j], room.trees[i], i, paths[i, j], method, room)
                if method.after == 0:
                    break


@jit
def lacks_priors(node, words):
    """Whether an action is legal (`words`) that was not legal whenever the network was asked."""
    for i in range(words.shape[0]):
        word = words[i]
        while word != np.uint64(0):
            if node.prior[64 * i + np.int64(bits.lowest(word))] == 0.0:
                return True
            word &= word - bits.ONE
    return False


@jit
def learn(method, room, leaves, paths, depths, log_probs, expected, values):
    """Enter what the network says of the leaves, in order, and back it up.

    Roll-outs from a node before it was asked about are mixed with what is now expected there, as if it had been known.

    Args:
        method: see `Method`.
        room: see `Room`.
        leaves: records (games, together).
        paths: int32 (games, together, longest), see `descend`.
        depths: int32 (games, together), see `descend`.
        log_probs: float32 (rows, actions), of the leaves that ask.
        expected: float32 (rows, players), by the network, beginning with the leaf's seat.
        values: float32 (rows, players), what is backed up: `expected`, mixed with a roll-out.
    """
    out = room.out
    row, players = 0, out.shape[0]
    for i in range(leaves.shape[0]):
        nodes = room.trees[i]
        for j in range(leaves.shape[1]):
            if depths[i, j] < 0:
                continue
            node, seat = nodes[paths[i, j, depths[i, j]]], leaves[i, j].seat
            if node.known != ANSWERED:
                for player in range(players):
                    whose = (seat + player) % players
                    out[whose] = (1.0 - method.mix) * (node.visits * expected[row, player] - node.value[whose])
                for k in range(depths[i, j] + 1):
                    for player in range(players):
                        nodes[paths[i, j, k]].value[player] += out[player]
                node.prior[:] = 0.0
                node.known = ANSWERED
            total = 0.0
            for action in range(log_probs.shape[1]):
                if log_probs[row, action] > LEGAL:
                    total += np.exp(log_probs[row, action] / method.temperature)
            for action in range(log_probs.shape[1]):
                if log_probs[row, action] > LEGAL:
                    prior = np.exp(log_probs[row, action] / method.temperature) / total
                    node.prior[action] = max(node.prior[action], prior, LEAST_PRIOR)
            for player in range(players):
                out[(seat + player) % players] = values[row, player]
            back_up(nodes, paths[i, j], depths[i, j], out)
            row += 1


def play_on(leaves, games, method, room, values):
    """Mix roll-outs into what the network expects.

    Args:
        leaves: records (rows,), which change.
        games: int64 (rows,): to which game a leaf belongs.
        method: see `Method`.
        room: see `Room`.
        values: float32 (rows, players), in and out: begin with the leaf's seat.
    """
    players = room.out.shape[0]
    for row in range(leaves.shape[0]):
        seat = leaves[row].seat
        roll_out(leaves[row], method.depth, 1.0, room.words, room.scores, room.out, room.rngs[games[row]])
        for player in range(players):
            values[row, player] += method.mix * (room.out[(seat + player) % players] - values[row, player])


@cache
def bound(game: Game) -> tuple[Any, Any]:
    """`descend` and `play_on` of a game."""
    c = game.compiled
    scope = {"legal": c.legal, "step": c.step, "redetermine": c.redetermine}
    scope |= {"write_priors": priors.bound(game), "roll_out": rollouts.bound(game)}
    scope["simulate"] = bind(simulate, game.name, scope)
    return bind(descend, game.name, scope), bind(play_on, game.name, scope)
