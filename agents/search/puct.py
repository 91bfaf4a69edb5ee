"""Tree search with a network: PUCT over determinizations, leaves evaluated in batches.

As in `agents.search.mcts` there is one tree for the seat to move, and each simulation draws a determinization of the
root. The network gives the priors of a node and the returns to expect there, at once or after some visits
(`net_visits`); several simulations descend before it is asked. Its value may be mixed with that of a rollout by the
heuristic policy (Silver et al., 2016).
"""

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np

from agents import leaf_values, rollouts
from agents.heuristics import prior_temperature, tuned
from agents.networks.agent import CPU, Network, NetworkAgent, load_player
from agents.networks.leaf_value_files import load_leaf_value
from agents.search import beliefs, mcts
from agents.search.tree import (
    RootActions,
    SearchResult,
    add_child,
    backup,
    init_roots,
    is_decided,
    new_result,
    new_trees,
    read_roots,
    root_actions,
    select,
)
from agents.settings import LARGEST, Count, Range, Share, check_ranges
from agents.spec import AgentSpec, read_settings
from samurai_env.core import bits
from samurai_env.core.checks import checked_array, checked_games, checked_keys
from samurai_env.core.game import Game, Variant
from samurai_env.core.jit import bind, jit
from samurai_env.envs.guard import Guard

# Bound to each game's kernels.
legal: Any = None
step: Any = None
returns: Any = None
write_priors: Any = None
redeal: Any = None
rollout: Any = None

NODES = 1 << 16  # nodes in memory at once, over all games searched together
PRIOR_FLOOR = 0.02  # the least prior of a legal action is this divided by their number
LEGAL = -1e8  # log-probabilities below are those of illegal actions
# What `expanded` of a node says: whose priors it has. A node that the network is being asked about has the heuristic's.
NO_PRIORS, NETWORK, HEURISTIC, ASKED = 0, 1, 2, 3
CHOOSE, ROLL_OUT, ASK = 0, 1, 2  # what follows at a node: an action, or the simulation ends there
LEAST_PRIOR = 1e-6  # above 0, which marks an action that the network was not asked about


@dataclass(frozen=True)
class PUCTConfig:
    """Settings of a search with a network; what was measured: docs/background/research_log/search.md.

    Attributes:
        simulations: simulations a decision.
        net: path of the network.
        c_puct: weight of the prior term in PUCT.
        prior_temperature: of the network's policy: above 1 flattens the priors, below 1 sharpens them.
        fpu: by how much less than its node an action without a child is valued, except at the root (first-play
            urgency).
        batch_size: simulations that descend before the network is asked; 0 takes 1/32 of all, from 8 to 64, and with
            `net_visits` above 1, where few of them ask, 1/16, from 8 to 512.
        rollout_weight: weight of a rollout in the value of a leaf (lambda in Silver et al., 2016); 0 for no rollouts.
        rollout_depth: heuristic decisions of a rollout before the heuristic value is asked; -1 plays to the end.
        net_visits: visits of a node after which the network is asked about it; 1 asks about every node. Before, the
            node has the priors of the heuristic policy, and a rollout is mixed with the network's value of the last
            node on the way that has one (after the expansion threshold of Silver et al., 2016).
        tuned: 1 has rollouts, and priors before the network's, by the heuristic policy with weights tuned for the
            number of players.
        belief: path of a belief about the others' hands (`agents.search.beliefs`); without one, all are equally likely.
        value: path of a leaf value (`agents.leaf_values`), in place of the heuristic value after rollouts.
        device: torch's name of where the network is evaluated, such as cuda; not for a network in training, which is
            where its learner has it.
    """

    simulations: Count = 200
    net: str = ""
    c_puct: Annotated[float, Range(0, 1e9)] = 2.0
    prior_temperature: Annotated[float, Range(0.01, 1e9)] = 2.0
    fpu: Annotated[float, Range(0, 1e9)] = 0.0
    batch_size: Annotated[int, Range(0, LARGEST)] = 0
    rollout_weight: Share = 0.0
    rollout_depth: Annotated[int, Range(-1, LARGEST)] = 16
    net_visits: Count = 1
    tuned: Annotated[int, Range(0, 1)] = 0
    belief: str = ""
    value: str = ""
    device: str = CPU

    def __post_init__(self) -> None:
        """Refuse impossible settings.

        Raises:
            ValueError: names the setting.
        """
        check_ranges(self, "a search")
        if self.net_visits > 1 and not self.rollout_weight:
            raise ValueError("net_visits above 1 needs a rollout_weight above 0: most leaves have only their rollout")
        if self.value and (not self.rollout_weight or self.rollout_depth < 0):
            raise ValueError(
                "value has no effect here: it needs a rollout_weight above 0 and a rollout_depth of 0 or more"
            )
        if self.tuned and not self.rollout_weight:
            raise ValueError("tuned=1 needs a rollout_weight above 0: without rollouts the network alone is asked")


class PUCTParams(NamedTuple):
    """Settings of `descend`; see `PUCTConfig`. `heuristic_temperature` is in units of the heuristic policy's logits."""

    c_puct: float
    fpu: float
    net_visits: int
    rollout_weight: float
    rollout_depth: int
    heuristic_temperature: float


class Forest(NamedTuple):
    """The trees of the games searched together.

    Attributes:
        nodes: (games, simulations + 1).
        used: int64 (games,), the number of nodes used.
        rngs: uint64 (games, 1), the random streams.
        odds: float64 (games, players, kinds), of `beliefs.Belief`.
        ended: bool (games,), searches that are over.
    """

    nodes: np.ndarray
    used: np.ndarray
    rngs: np.ndarray
    odds: np.ndarray
    ended: np.ndarray


class Batch(NamedTuple):
    """Simulations that descend before the network is asked.

    Attributes:
        leaves: states (games, batch).
        paths: int32 (games, batch, longest), the nodes on the way.
        depths: int32 (games, batch), length of the path less one; -1 for a simulation already backed up or not made.
    """

    leaves: np.ndarray
    paths: np.ndarray
    depths: np.ndarray


class Workspace(NamedTuple):
    """Scratch memory of a search.

    Attributes:
        words: uint64, legal actions.
        logits: float64 (actions,), of the heuristic policy.
        returns: float64 (seats,).
        value: `leaf_values.LeafValue`.
    """

    words: np.ndarray
    logits: np.ndarray
    returns: np.ndarray
    value: leaf_values.LeafValue


def descend(roots, forest, batch, params, work):
    """Let simulations descend to leaves for the network, in searches not ended; others are backed up at once.

    Args:
        roots: states (games,), the positions searched.
        forest: `Forest`, in and out.
        batch: `Batch`, out.
        params: `PUCTParams`.
        work: `Workspace`.
    """
    leaves, paths, depths, words = batch.leaves, batch.paths, batch.depths, work.words
    for i in range(roots.shape[0]):
        if forest.ended[i]:
            depths[i] = -1
            continue
        nodes, rng = forest.nodes[i], forest.rngs[i]
        for j in range(leaves.shape[1]):
            leaves[i, j] = roots[i]
            state, path = leaves[i, j], paths[i, j]
            redeal(state, roots[i].seat, forest.odds[i], rng)
            depth, asks, judged = find_leaf(state, nodes, forest.used[i : i + 1], path, words, work.logits, params)
            depths[i, j] = depth if asks else -1
            if not asks:
                judge(state, nodes[judged].net_value, rng, params, work)
                backup(nodes, path, depth, work.returns)


def find_leaf(state, nodes, used, path, words, logits, params):
    """Let one simulation descend to a leaf, or to the end of the game.

    Args:
        state: its determinization of the root; out: the leaf.
        nodes: of the tree.
        used: int64 (1,), the number of nodes used, in and out.
        path: int32 (longest,), out: the nodes on the way.
        words: of `Workspace`.
        logits: of `Workspace`.
        params: `PUCTParams`.

    Returns:
        The length of the path less one, whether the network has to be asked about the leaf, and the last node on the
        way with a value of the network.
    """
    node, depth, judged = 0, 0, 0
    path[0] = 0
    nodes[0].in_flight += 1
    while not state.over:
        legal(state, words)
        following = enter(state, nodes[node], depth == 0, words, logits, params)
        if following != CHOOSE:
            return depth, following == ASK, judged
        if nodes[node].expanded == NETWORK:
            judged = node
        prior_floor = PRIOR_FLOOR / bits.count(words)
        reduction = params.fpu if depth > 0 else 0.0
        child, action = select(nodes, node, words, state.seat, params.c_puct, prior_floor, False, reduction)
        if action >= 0:
            child = used[0]
            used[0] += 1
            add_child(nodes, node, child, action)
        node = child
        step(state, nodes[node].action)
        depth += 1
        path[depth] = node
        nodes[node].in_flight += 1
    return depth, False, judged


def enter(state, node, is_root, words, logits, params):
    """What follows at a node, with the legal actions in `words`: `CHOOSE`, `ROLL_OUT` or `ASK`.

    A node asks the network again where a determinization allows actions that were not legal before.
    """
    if node.expanded == NO_PRIORS:
        if is_root or params.net_visits <= 1:
            return ASK
        if node.visits == 0:
            return ROLL_OUT
        write_priors(state, words, params.heuristic_temperature, logits, node)
        node.expanded = HEURISTIC
    elif node.expanded == HEURISTIC and node.visits >= params.net_visits:
        node.expanded = ASKED
        return ASK
    elif node.expanded == NETWORK and lacks_priors(node, words):
        return ASK
    return CHOOSE


def judge(state, expected, rng, params, work):
    """Write what a leaf gets without the network into `work.returns`.

    These are the returns of the game if it is over, else those of a rollout mixed with those that the network
    expected on the way (`expected`, float64 (seats,)).
    """
    out = work.returns
    if state.over:
        returns(state, out)
        return
    rollout(state, params.rollout_depth, 1.0, work.words, work.logits, out, rng, work.value)
    for player in range(out.shape[0]):
        out[player] = expected[player] + params.rollout_weight * (out[player] - expected[player])


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
def expand_leaves(trees, batch, log_probs, expected, values, temperature):
    """Expand the leaves with the network's priors and back up values.

    Args:
        trees: nodes (games, nodes).
        batch: `Batch`.
        log_probs: float32 (rows, actions), of the network; rows are the leaves that wait, in order.
        expected: float32 (rows, players), the network's values, the leaf's seat first.
        values: the same with rollouts mixed in: what is backed up.
        temperature: of the priors.
    """
    row, players, leaves, paths, depths = 0, values.shape[1], batch.leaves, batch.paths, batch.depths
    returns_of_leaf = np.zeros(players)
    for i in range(trees.shape[0]):
        for j in range(leaves.shape[1]):
            if depths[i, j] < 0:
                continue
            node = trees[i, paths[i, j, depths[i, j]]]
            if node.expanded == ASKED:
                node.prior[:] = 0.0
            node.expanded = NETWORK
            total = 0.0
            for action in range(log_probs.shape[1]):
                if log_probs[row, action] > LEGAL:
                    total += np.exp(log_probs[row, action] / temperature)
            for action in range(log_probs.shape[1]):
                if log_probs[row, action] > LEGAL:
                    prior = np.exp(log_probs[row, action] / temperature) / total
                    node.prior[action] = max(node.prior[action], prior, LEAST_PRIOR)
            for player in range(players):
                returns_of_leaf[(leaves[i, j].seat + player) % players] = values[row, player]
                node.net_value[(leaves[i, j].seat + player) % players] = expected[row, player]
            backup(trees[i], paths[i, j], depths[i, j], returns_of_leaf)
            row += 1


@jit
def end_decided(trees, left, ended):
    """Mark the searches that `is_decided` says are over, `left` simulations before their end."""
    for i in range(trees.shape[0]):
        if not ended[i]:
            ended[i] = is_decided(trees[i], left)


def rollout_returns(leaves, games, rngs, depth, work):
    """Roll leaves out; what each seat gets, beginning with the leaf's.

    Args:
        leaves: states (rows,), changed.
        games: int64 (rows,): the game of each leaf.
        rngs: uint64 (games, 1).
        depth: `rollout_depth` of `PUCTConfig`.
        work: `Workspace`.

    Returns:
        float64 (rows, players).
    """
    out, players = work.returns, work.returns.shape[0]
    found = np.zeros((leaves.shape[0], players))
    for row in range(leaves.shape[0]):
        seat = leaves[row].seat
        rollout(leaves[row], depth, 1.0, work.words, work.logits, out, rngs[games[row]], work.value)
        for player in range(players):
            found[row, player] = out[(seat + player) % players]
    return found


@cache
def _bound(game: Game) -> tuple[Any, Any]:
    k = game.kernels
    scope = {
        "legal": k.legal,
        "step": k.step,
        "returns": k.returns,
        "redeal": beliefs.bound(game),
        "heuristic_policy": k.heuristic_policy,
        "rollout": rollouts.bound(game),
    }
    scope["write_priors"] = bind(mcts.write_priors, game.name, scope)
    for template in (enter, find_leaf, judge):
        scope[template.__name__] = bind(template, game.name, scope, inline=True)
    return bind(descend, game.name, scope), bind(rollout_returns, game.name, scope)


class PUCTAgent:
    """Starts a new search for every decision, guided by a network.

    Raises:
        ValueError: a setting that the game does not allow.
    """

    def __init__(self, variant: Variant, net: Network, config: PUCTConfig) -> None:
        if variant.game.kernels.heuristic_value is None:
            config = replace(config, rollout_depth=-1)
        self.config = config
        self.variant = variant
        self._evaluator = NetworkAgent(variant, net)
        part, most = (32, 64) if config.net_visits == 1 else (16, 512)
        self._batch_size = config.batch_size or max(8, min(most, config.simulations // part))
        self._belief = beliefs.load_belief(Path(config.belief), variant) if config.belief else None
        self._precision = net.rounding(self._batch_size)
        self._guard = Guard("search")
        played = tuned(variant) if config.tuned else variant
        self._descend, self._rollout_returns = _bound(played.game)
        temperature = prior_temperature(played, logits_only=True) if config.net_visits > 1 else 1.0
        self._params = PUCTParams(
            config.c_puct, config.fpu, config.net_visits, config.rollout_weight, config.rollout_depth, temperature
        )
        self._work = Workspace(
            words=np.zeros(variant.num_words, np.uint64),
            logits=np.zeros(variant.num_actions),
            returns=np.zeros(variant.num_players),
            value=load_leaf_value(Path(config.value), variant) if config.value else mcts.NO_VALUE,
        )

    def search(self, states: np.ndarray, keys: np.ndarray) -> SearchResult:
        """Search each game; arguments and errors as for `act`, fields of the result in `SearchResult`."""
        return self._find(states, keys, choose_only=False)

    def _find(self, states: np.ndarray, keys: np.ndarray, choose_only: bool) -> SearchResult:
        states = checked_games(states, self.variant.dtype)
        keys = checked_keys(keys, len(states))
        result = new_result(len(states), self.variant)
        group = max(1, NODES // self.config.simulations)
        with self._guard:
            for first in range(0, len(states), group):
                rows = slice(first, first + group)
                with self._precision:  # for a whole search, so that the weights are rounded once
                    self._search(states[rows], keys[rows], SearchResult(*(part[rows] for part in result)), choose_only)
        return result

    def analyse(self, states: np.ndarray, keys: np.ndarray) -> RootActions:
        """Search one game; `states` (1,) and `keys` (1,) as for `act`.

        Raises:
            ValueError: more or less than one game.
        """
        checked_array("states", states, self.variant.dtype, (1,))
        states = checked_games(states, self.variant.dtype)
        keys = checked_keys(keys, len(states))
        with self._guard, self._precision:
            trees = self._search(states, keys, new_result(1, self.variant), choose_only=False)
            return root_actions(trees[0])

    def _search(self, roots: np.ndarray, keys: np.ndarray, result: SearchResult, choose_only: bool) -> np.ndarray:
        config, games, left = self.config, len(roots), self.config.simulations
        trees = new_trees(games, left, self.variant)
        init_roots(trees)
        odds = self._belief.odds(roots) if self._belief else beliefs.no_odds(roots, self.variant)
        ended = np.zeros(games, np.bool_)
        forest = Forest(trees, used=np.ones(games, np.int64), rngs=keys.reshape(-1, 1).copy(), odds=odds, ended=ended)
        while left > 0 and not ended.all():
            size = 1 if left == config.simulations else min(left, self._batch_size)
            left -= size
            batch = Batch(
                leaves=np.empty((games, size), roots.dtype),
                paths=np.empty((games, size, self.variant.max_steps + 2), np.int32),
                depths=np.empty((games, size), np.int32),
            )
            self._descend(roots, forest, batch, self._params, self._work)
            is_waiting = batch.depths >= 0
            waiting = batch.leaves[is_waiting]
            if len(waiting):
                log_probs, expected = self._evaluator.evaluate(waiting)
                # A search finds where the network exceeds possible returns.
                values = expected = expected.clip(-1.0, 1.0)
                if config.rollout_weight > 0:
                    at = is_waiting.nonzero()[0]
                    played = self._rollout_returns(waiting, at, forest.rngs, config.rollout_depth, self._work)
                    values = (values + config.rollout_weight * (played - values)).astype(np.float32)
                expand_leaves(trees, batch, log_probs, expected, values, config.prior_temperature)
            if choose_only:
                end_decided(trees, left, ended)
        read_roots(trees, *result)
        return trees

    def act(self, states: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """See `samurai_env.agent_api.Agent.act`."""
        return self._find(states, keys, choose_only=True).actions


def read_config(spec: AgentSpec) -> PUCTConfig:
    """The settings of a spec.

    Raises:
        ValueError: no number, an unknown or impossible setting, or one without effect.
    """
    config = read_settings(spec, PUCTConfig)
    if "rollout_depth" in spec.settings and not config.rollout_weight:
        raise ValueError("rollout_depth has no effect here: it needs a rollout_weight above 0")
    return config


def make(variant: Variant, spec: AgentSpec) -> PUCTAgent:
    """Make the agent of `puct:SIMULATIONS,net=PATH`, such as `puct:200,net=runs/first,c_puct=4`.

    Raises:
        ValueError: no path, no number, an unknown or impossible setting, or a device that is not there.
        FileNotFoundError: there is no such network.
    """
    config = read_config(spec)
    if not config.net:
        raise ValueError("puct needs the path of a network, as in puct:200,net=runs/first")
    return PUCTAgent(variant, load_player(Path(config.net), variant, config.device), config)
