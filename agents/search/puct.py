"""Tree search with a network: PUCT over determinizations, leaves evaluated in batches.

As in `agents.search.mcts` there is one tree for the seat to move, and each simulation draws a determinization of the
root.
The network gives the priors of a node and the returns to expect there; several simulations descend before it is asked.
Its value may be mixed with that of a rollout by the heuristic policy (Silver et al., 2016).
"""

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch

from agents import rollouts
from agents.networks.agent import NetworkAgent
from agents.networks.files import check_fits, load_network
from agents.networks.network import PolicyValueNet, supports_bfloat16
from agents.search.tree import SearchResult, add_child, backup, init_roots, new_result, new_trees, read_roots, select
from agents.settings import LARGEST, Count, Range, Share, check_ranges
from agents.spec import AgentSpec, read_settings
from samurai_env.core import bits
from samurai_env.core.checks import checked_games, checked_keys
from samurai_env.core.game import Game, Variant
from samurai_env.core.jit import bind, jit

# Bound to each game's kernels.
legal: Any = None
step: Any = None
returns: Any = None
determinize: Any = None
rollout: Any = None

NODES = 1 << 16  # nodes in memory at once, over all games searched together
PRIOR_FLOOR = 0.02  # the least prior of a legal action is this divided by their number
LEGAL = -1e8  # log-probabilities below are those of illegal actions
LEAST_PRIOR = 1e-6  # above 0, which marks an action that the network was not asked about
BFLOAT16_BATCH = 32  # from so many leaves at a time on rounding to bfloat16 pays


@dataclass(frozen=True)
class PUCTConfig:
    """Settings of a search with a network; docs/research_log.md has what was measured around the defaults.

    Attributes:
        simulations: simulations a decision.
        net: path of the network.
        c_puct: weight of the prior term in PUCT.
        prior_temperature: of the network's policy: above 1 flattens the priors, below 1 sharpens them.
        fpu: by how much less than its node an action without a child is valued, except at the root (first-play
        urgency). batch_size: simulations that descend before the network is asked; 0 takes 1/32 of all, from 8 to 64.
        rollout_weight: weight of a rollout in the value of a leaf (lambda in Silver et al., 2016); 0 for no rollouts.
        rollout_depth: heuristic decisions of a rollout before the heuristic value is asked; -1 plays to the end.
    """

    simulations: Count = 200
    net: str = ""
    c_puct: Annotated[float, Range(0, 1e9)] = 2.0
    prior_temperature: Annotated[float, Range(0, 1e9, above=True)] = 2.0
    fpu: Annotated[float, Range(0, 1e9)] = 0.0
    batch_size: Annotated[int, Range(0, LARGEST)] = 0
    rollout_weight: Share = 0.0
    rollout_depth: Annotated[int, Range(-1, LARGEST)] = 16

    def __post_init__(self) -> None:
        """Refuse impossible settings.

        Raises:
            ValueError: names the setting.
        """
        check_ranges(self, "a search")


def descend(roots, trees, used, c_puct, fpu, leaves, paths, depths, words, out, rngs):
    """Let simulations descend to leaves for the network; those that end a game are backed up at once.

    A node asks the network again where a determinization allows actions that were not legal before.

    Args:
        roots: states (games,), the positions searched.
        trees: nodes (games, simulations in all + 1).
        used: int64 (games,), in and out: nodes used.
        c_puct: see `PUCTConfig`.
        fpu: see `PUCTConfig`.
        leaves: states (games, batch), out.
        paths: int32 (games, batch, longest), out: the nodes on the way.
        depths: int32 (games, batch), out: length of the path less one; -1 for a simulation already backed up.
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
            nodes[0].in_flight += 1
            while nodes[node].expanded == 1 and not state.over:
                legal(state, words)
                if lacks_priors(nodes[node], words):
                    break
                prior_floor = PRIOR_FLOOR / bits.count(words)
                reduction = fpu if depth > 0 else 0.0
                child, action = select(nodes, node, words, state.seat, c_puct, prior_floor, False, reduction)
                if action >= 0:
                    child = used[i]
                    used[i] += 1
                    add_child(nodes, node, child, action)
                node = child
                step(state, nodes[node].action)
                depth += 1
                path[depth] = node
                nodes[node].in_flight += 1
            depths[i, j] = depth
            if state.over:
                returns(state, out)
                backup(nodes, path, depth, out)
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
def expand_leaves(trees, leaves, paths, depths, log_probs, values, temperature, out):
    """Expand the leaves with the network's priors and back up its values, which begin with the leaf's seat."""
    row, players = 0, out.shape[0]
    for i in range(trees.shape[0]):
        for j in range(leaves.shape[1]):
            if depths[i, j] < 0:
                continue
            node = trees[i, paths[i, j, depths[i, j]]]
            node.expanded = 1
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
            backup(trees[i], paths[i, j], depths[i, j], out)
            row += 1


def mix_rollouts(leaves, depth, weight, values, words, logits, out, rngs, games):
    """Mix the returns of rollouts into the network's values.

    Args:
        leaves: states (rows,), changed.
        depth: `rollout_depth` of `PUCTConfig`.
        weight: `rollout_weight` of `PUCTConfig`.
        values: float32 (rows, players), in and out: begin with the leaf's seat.
        words: uint64 scratch.
        logits: float64 (actions,) scratch.
        out: float64 (seats,) scratch.
        rngs: uint64 (games, 1).
        games: int64 (rows,): the game of each leaf.
    """
    players = out.shape[0]
    for row in range(leaves.shape[0]):
        seat = leaves[row].seat
        rollout(leaves[row], depth, 1.0, words, logits, out, rngs[games[row]])
        for player in range(players):
            values[row, player] += weight * (out[(seat + player) % players] - values[row, player])


@cache
def _bound(game: Game) -> tuple[Any, Any]:
    k = game.kernels
    scope = {"legal": k.legal, "step": k.step, "returns": k.returns, "determinize": k.determinize}
    return bind(descend, game.name, scope), bind(mix_rollouts, game.name, {"rollout": rollouts.bound(game)})


class PUCTAgent:
    """Starts a new search for every decision, guided by a network."""

    def __init__(self, variant: Variant, net: PolicyValueNet, config: PUCTConfig) -> None:
        if variant.game.kernels.heuristic_value is None:
            config = replace(config, rollout_depth=-1)
        self.config = config
        self.variant = variant
        self._evaluator = NetworkAgent(variant, net)
        self._batch_size = config.batch_size or min(64, max(8, config.simulations // 32))
        pays = self._batch_size >= BFLOAT16_BATCH and supports_bfloat16()
        self._precision = torch.autocast(net.mean.device.type, torch.bfloat16, pays)
        self._descend, self._mix_rollouts = _bound(variant.game)
        self._words = np.zeros(variant.num_words, np.uint64)
        self._out = np.zeros(variant.num_players)
        self._logits = np.zeros(variant.num_actions)

    def search(self, states: np.ndarray, keys: np.ndarray) -> SearchResult:
        """Search each game; arguments and errors as for `act`."""
        states = checked_games(states, self.variant.dtype)
        keys = checked_keys(keys, len(states))
        result = new_result(len(states), self.variant)
        group = max(1, NODES // self.config.simulations)
        for first in range(0, len(states), group):
            rows = slice(first, first + group)
            with self._precision:  # for a whole search, so that the weights are rounded once
                self._search(states[rows], keys[rows], SearchResult(*(part[rows] for part in result)))
        return result

    def _search(self, roots: np.ndarray, keys: np.ndarray, result: SearchResult) -> None:
        config, games, left = self.config, len(roots), self.config.simulations
        trees = new_trees(games, left, self.variant)
        init_roots(trees)
        used, rngs = np.ones(games, np.int64), keys.reshape(-1, 1).copy()
        while left > 0:
            batch = 1 if left == config.simulations else min(left, self._batch_size)
            left -= batch
            leaves = np.empty((games, batch), roots.dtype)
            paths = np.empty((games, batch, self.variant.max_steps + 2), np.int32)
            depths = np.empty((games, batch), np.int32)
            self._descend(
                roots, trees, used, config.c_puct, config.fpu, leaves, paths, depths, self._words, self._out, rngs
            )
            waiting = leaves[depths >= 0]
            if len(waiting):
                log_probs, expected = self._evaluator.evaluate(waiting)
                values = expected.numpy().clip(-1.0, 1.0)  # a search finds where the network exceeds possible returns
                if config.rollout_weight > 0:
                    of_game = (depths >= 0).nonzero()[0]
                    scratch = (self._words, self._logits, self._out, rngs)
                    self._mix_rollouts(waiting, config.rollout_depth, config.rollout_weight, values, *scratch, of_game)
                temperature = config.prior_temperature
                expand_leaves(trees, leaves, paths, depths, log_probs.numpy(), values, temperature, self._out)
        read_roots(trees, *result)

    def act(self, states: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """See `agents.api.Agent.act`."""
        return self.search(states, keys).actions


def make(variant: Variant, spec: AgentSpec) -> PUCTAgent:
    """Make the agent of `puct:SIMULATIONS,net=PATH`, such as `puct:200,net=runs/first,c_puct=4`.

    Raises:
        ValueError: no path, no number, or an unknown or impossible setting.
        FileNotFoundError: there is no such network.
    """
    config = read_settings(spec, PUCTConfig)
    if not config.net:
        raise ValueError("puct needs the path of a network, as in puct:200,net=runs/first")
    net = load_network(Path(config.net))
    check_fits(net, variant, Path(config.net))
    return PUCTAgent(variant, net, config)
