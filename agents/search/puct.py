"""Tree search with a network: PUCT over determinized states, leaves evaluated in batches.

As in `agents.search.mcts` there is one tree for the seat to move, and every simulation draws a fresh determinization
of the root. The network gives the priors of a node's actions and the returns to expect there; a few simulations descend
before it is asked. What it expects may be mixed with how the game goes on if all follow the built-in advice (Silver et
al., 2016).
"""

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

from agents.api import read_settings
from agents.networks.agent import PPOAgent
from agents.networks.network import PolicyValueNet, check_fits, load_network, multiplies_bfloat16
from agents.search import rollouts
from agents.search.tree import Findings, back_up, begin, best_child, clear, new_findings, new_trees, read_roots
from samurai_env.core import bits
from samurai_env.core.checks import checked_games, checked_keys
from samurai_env.core.game import Game, Variant
from samurai_env.core.jit import bind, jit

legal: Any = None  # put in by `bind`
step: Any = None
returns: Any = None
determinize: Any = None
roll_out: Any = None

TREES = 1 << 16  # nodes held at once, over all games searched together
FLOOR = 0.02  # the least prior of a legal action is this, shared by all
LEGAL = -1e8  # log-probabilities below are those of illegal actions
LEAST_PRIOR = 1e-6  # above 0, which marks an action that the network was not asked about
ROUNDED = 32  # from so many leaves at a time on it pays to round numbers to bfloat16


@dataclass(frozen=True)
class Settings:
    """How to search with a network. experiments/LOG.md has what was measured around the defaults.

    Attributes:
        simulations: simulations a decision.
        exploration: weight of the prior in PUCT.
        temperature: of the priors: above 1 it makes them more alike, below 1 less.
        fpu: by how much less than its node an action not yet tried counts, but for the root (first-play urgency).
        together: simulations that descend before the network is asked; 0 for a thirty-second of all, from 8 to 64.
        mix: share of a roll-out in the value of a leaf, the rest being the network's; 0 for no roll-outs.
        depth: advised decisions of a roll-out before the game's evaluation is asked; -1 plays to the end.
    """

    simulations: int = 200
    exploration: float = 2.0
    temperature: float = 2.0
    fpu: float = 0.0
    together: int = 0
    mix: float = 0.0
    depth: int = 16

    def __post_init__(self) -> None:
        """Refuse impossible settings.

        Raises:
            ValueError: names the setting.
        """
        if self.simulations < 1:
            raise ValueError(f"a search needs at least 1 simulation a decision, not {self.simulations}")
        if not 0 <= self.exploration < np.inf:
            raise ValueError(f"the exploration of a search is 0 or more, not {self.exploration}")
        if not 0 < self.temperature < np.inf:
            raise ValueError(f"the temperature of the priors is above 0, not {self.temperature}")
        if not 0 <= self.fpu < np.inf:
            raise ValueError(f"fpu is taken off the worth of an action not yet tried: 0 or more, not {self.fpu}")
        if self.together < 0:
            raise ValueError(f"simulations that descend together are 1 or more, or 0 for some, not {self.together}")
        if not 0 <= self.mix <= 1:
            raise ValueError(f"mix is a share from 0 to 1, not {self.mix}")
        if self.depth < -1:
            raise ValueError(f"roll-outs have 0 decisions or more, or all (-1), not {self.depth}")


NUMBERS = {
    "exploration": float,
    "temperature": float,
    "fpu": float,
    "together": int,
    "mix": float,
    "depth": int,
}


def descend(roots, trees, used, exploration, fpu, leaves, paths, depths, words, out, rngs):
    """Let simulations descend to leaves that ask the network; those that end a game are backed up at once.

    A node asks again where another determinization allows actions that were not legal before.

    Args:
        roots: records (games,), the positions searched.
        trees: nodes (games, simulations in all + 1).
        used: int64 (games,), in and out: nodes used.
        exploration: see `Settings`.
        fpu: see `Settings`.
        leaves: records (games, simulations), out.
        paths: int32 (games, simulations, longest), out: the nodes on the way.
        depths: int32 (games, simulations), out: length of the path less one; -1 for a simulation already backed up.
        words: uint64 scratch.
        out: float64 (seats,) scratch.
        rngs: uint64 (games, 1).
    """
    for i in range(roots.shape[0]):
        nodes, seat = trees[i], roots[i].seat
        for j in range(leaves.shape[1]):
            leaves[i, j] = roots[i]
            state, path, node, depth = leaves[i, j], paths[i, j], 0, 0
            determinize(state, seat, rngs[i])
            path[0] = 0
            nodes[0].pending += 1
            while nodes[node].known == 1 and not state.over:
                legal(state, words)
                if lacks_priors(nodes[node], words):
                    break
                usual = FLOOR / bits.count(words)
                less = fpu if depth > 0 else 0.0
                child, action = best_child(nodes, node, words, state.seat, exploration, usual, False, less)
                if action >= 0:
                    child = used[i]
                    used[i] += 1
                    clear(nodes[child], action, nodes[node].child)
                    nodes[node].child = child
                node = child
                step(state, nodes[node].action)
                depth += 1
                path[depth] = node
                nodes[node].pending += 1
            depths[i, j] = depth
            if state.over:
                returns(state, out)
                back_up(nodes, path, depth, out)
                depths[i, j] = -1


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
def learn(trees, leaves, paths, depths, log_probs, values, temperature, out):
    """Enter what the network says of the leaves, in order, and back it up; values begin with the leaf's seat."""
    row, players = 0, out.shape[0]
    for i in range(trees.shape[0]):
        for j in range(leaves.shape[1]):
            if depths[i, j] < 0:
                continue
            node = trees[i, paths[i, j, depths[i, j]]]
            node.known = 1
            total = 0.0
            for action in range(log_probs.shape[1]):
                if log_probs[row, action] > LEGAL:
                    total += np.exp(log_probs[row, action] / temperature)
            for action in range(log_probs.shape[1]):
                if log_probs[row, action] > LEGAL:
                    prior = np.exp(log_probs[row, action] / temperature) / total
                    node.prior[action] = max(node.prior[action], prior, LEAST_PRIOR)
            for player in range(players):
                out[(leaves[i, j].seat + player) % players] = values[row, player]
            back_up(trees[i], paths[i, j], depths[i, j], out)
            row += 1


def play_on(leaves, depth, mix, values, words, scores, out, rngs, games):
    """Mix roll-outs into what the network expects.

    Args:
        leaves: records (rows,), which change.
        depth: see `Settings`.
        mix: see `Settings`.
        values: float32 (rows, players), in and out: begin with the leaf's seat.
        words: uint64 scratch.
        scores: float64 (actions,) scratch.
        out: float64 (seats,) scratch.
        rngs: uint64 (games, 1).
        games: int64 (rows,): to which game a leaf belongs.
    """
    players = out.shape[0]
    for row in range(leaves.shape[0]):
        seat = leaves[row].seat
        roll_out(leaves[row], depth, 1.0, words, scores, out, rngs[games[row]])
        for player in range(players):
            values[row, player] += mix * (out[(seat + player) % players] - values[row, player])


@cache
def _bound(game: Game) -> tuple[Any, Any]:
    c = game.kernels
    scope = {"legal": c.legal, "step": c.step, "returns": c.returns, "determinize": c.determinize}
    return bind(descend, game.name, scope), bind(play_on, game.name, {"roll_out": rollouts.bound(game)})


class SearchAgent:
    """Searches anew for every decision, led by a network."""

    def __init__(self, variant: Variant, net: PolicyValueNet, settings: Settings) -> None:
        if variant.game.kernels.heuristic_value is None:
            settings = replace(settings, depth=-1)
        self.settings = settings
        self.variant = variant
        self._player = PPOAgent(variant, net)
        self._together = settings.together or min(64, max(8, settings.simulations // 32))
        pays = self._together >= ROUNDED and multiplies_bfloat16()
        self._precision = torch.autocast(net.mean.device.type, torch.bfloat16, pays)
        self._descend, self._play_on = _bound(variant.game)
        self._words = np.zeros(variant.num_words, np.uint64)
        self._out = np.zeros(variant.num_players)
        self._scores = np.zeros(variant.num_actions)

    def visits(self, states: np.ndarray, keys: np.ndarray) -> Findings:
        """What the search finds; the arguments are those of `act`."""
        states = checked_games(states, self.variant.dtype)
        keys = checked_keys(keys, len(states))
        found = new_findings(len(states), self.variant)
        group = max(1, TREES // self.settings.simulations)
        for first in range(0, len(states), group):
            rows = slice(first, first + group)
            with self._precision:  # for a whole search, so that the weights are rounded once
                self._search(states[rows], keys[rows], Findings(*(part[rows] for part in found)))
        return found

    def _search(self, roots: np.ndarray, keys: np.ndarray, found: Findings) -> None:
        games, left = len(roots), self.settings.simulations
        trees = new_trees(games, left, self.variant)
        begin(trees)
        used, rngs = np.ones(games, np.int64), keys.reshape(-1, 1).copy()
        while left > 0:
            together = 1 if left == self.settings.simulations else min(left, self._together)
            left -= together
            leaves = np.empty((games, together), roots.dtype)
            paths = np.empty((games, together, self.variant.max_steps + 2), np.int32)
            depths = np.empty((games, together), np.int32)
            s = self.settings
            self._descend(roots, trees, used, s.exploration, s.fpu, leaves, paths, depths, self._words, self._out, rngs)
            waiting = leaves[depths >= 0]
            if len(waiting):
                log_probs, expected = self._player.evaluate(waiting)
                values = expected.numpy().clip(-1.0, 1.0)  # a search finds where the network goes beyond what can be
                if s.mix > 0:
                    which = (depths >= 0).nonzero()[0]
                    self._play_on(waiting, s.depth, s.mix, values, self._words, self._scores, self._out, rngs, which)
                learn(trees, leaves, paths, depths, log_probs.numpy(), values, s.temperature, self._out)
        read_roots(trees, *found)

    def act(self, states: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """See `agents.api.Agent.act`."""
        return self.visits(states, keys).actions


def make(variant: Variant, argument: str) -> SearchAgent:
    """From a spec: `search:PATH:SIMULATIONS`, or with settings: `search:runs/first:200,exploration=4`.

    Raises:
        ValueError: no path, no number, fewer than 1 simulation, or an unknown setting.
        FileNotFoundError: no network is there.
    """
    path, _, rest = argument.rpartition(":")
    if not path:
        raise ValueError("search needs the path of a network and a number, as in search:runs/first:200")
    net = load_network(Path(path))
    check_fits(net, variant, Path(path))
    return SearchAgent(variant, net, Settings(**read_settings("search", rest, NUMBERS)))
