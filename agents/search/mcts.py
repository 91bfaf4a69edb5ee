"""Information-set Monte Carlo tree search (ISMCTS; Cowling, Powley and Whitehouse, 2012), compiled.

One tree for the seat to move. Each simulation draws a determinization of the root, descends by PUCT, expands a node,
estimates the returns there and backs them up, so nothing hidden is ever used, unless it is told to cheat. The game's
heuristic policy gives the priors, its heuristic value the estimate at a leaf, after a rollout if there is one.
"""

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np

from agents import leaf_values, rollouts
from agents.heuristics import prior_temperature, tuned
from agents.networks.leaf_value_files import load_leaf_value
from agents.search import beliefs
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
    several_roots,
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
redeal: Any = None
heuristic_policy: Any = None
rollout: Any = None


@dataclass(frozen=True)
class MCTSConfig:
    """Settings of a search; what was measured: docs/background/research_log/search.md.

    Attributes:
        simulations: simulations a decision.
        c_puct: weight of the prior term in PUCT.
        prior_temperature: of the softmax that turns the heuristic policy into priors, in units of the temperature at
            which its best action has probability one half on average; inf gives all actions the same prior and visits
            each before any a second time.
        rollout_depth: decisions played beyond the tree before the heuristic value is asked; -1 plays to the end.
        rollout_greedy: share of those decisions that follow the heuristic policy; the others are random.
        tree_depth: decisions of a simulation made inside the tree; 1 is a flat search, -1 sets no limit.
        determinizations: if above 0, number of determinizations, each searched with a tree of its own and a share of
            the simulations; the visits are added up (determinized UCT: Cowling, Powley and Whitehouse, 2012).
        paranoid: 1 assumes that all others play against the seat to move (Sturtevant and Korf, 2000); 0 is max-n.
        cheating: 1 searches the true state, with hidden cards and future draws (cheating UCT: Cowling, Powley and
            Whitehouse, 2012): a bound of what knowing them is worth, no opponent for a fair comparison.
        tuned: 1 has priors and rollouts by the heuristic policy with weights tuned for the number of players.
        belief: path of a belief about the others' hands (`agents.search.beliefs`); without one, all are equally likely.
        value: path of a leaf value (`agents.leaf_values`), in place of the heuristic value.
    """

    simulations: Count = 1000
    c_puct: Annotated[float, Range(0, 1e9)] = 2.0
    prior_temperature: Annotated[float, Range(0.01)] = 1.0
    rollout_depth: Annotated[int, Range(-1, LARGEST)] = 0
    rollout_greedy: Share = 0.0
    tree_depth: Annotated[int, Range(-1, LARGEST)] = -1
    determinizations: Annotated[int, Range(0, LARGEST)] = 0
    paranoid: Annotated[int, Range(0, 1)] = 0
    cheating: Annotated[int, Range(0, 1)] = 0
    tuned: Annotated[int, Range(0, 1)] = 0
    belief: str = ""
    value: str = ""

    def __post_init__(self) -> None:
        """Refuse impossible settings.

        Raises:
            ValueError: names the setting.
        """
        check_ranges(self, "a search")
        if self.tree_depth == 0:
            raise ValueError("tree_depth of a search must be 1 or more, or -1 for no limit, not 0")
        if self.determinizations > self.simulations:
            raise ValueError(f"determinizations must be at most the simulations, not {self.determinizations}")
        if self.cheating and self.determinizations:
            raise ValueError("cheating=1 searches the true state: determinizations must be 0")
        if self.cheating and self.belief:
            raise ValueError("cheating=1 searches the true state: it has no use for a belief")
        if self.value and self.rollout_depth < 0:
            raise ValueError("value has no effect on rollouts to the end: it needs a rollout_depth of 0 or more")
        if self.tuned and np.isinf(self.prior_temperature) and not (self.rollout_depth and self.rollout_greedy):
            raise ValueError("tuned=1 has no effect here: it needs a finite prior_temperature or heuristic rollouts")


CHECK = 64  # simulations between two looks whether the choice can still change
NO_VALUE = leaf_values.no_leaf_value()
# Flat Monte Carlo: every action is tried, every game played to the end by the heuristic policy.
FLAT = MCTSConfig(prior_temperature=np.inf, rollout_depth=-1, rollout_greedy=1.0, tree_depth=1)


class SearchParams(NamedTuple):
    """`MCTSConfig` for compiled code; the temperature in units of the heuristic policy's logits."""

    simulations: int
    c_puct: float
    prior_temperature: float
    rollout_depth: int
    rollout_greedy: float
    tree_depth: int
    determinizations: int
    paranoid: int
    cheating: int


class Workspace(NamedTuple):
    """Scratch memory of a search.

    Attributes:
        nodes: nodes of one tree (1, simulations + 1).
        states: two states.
        path: int32, the nodes that a simulation has come through.
        words: uint64, legal actions.
        logits: float64 (actions,), of the heuristic policy.
        returns: float64 (seats,).
        value: `leaf_values.LeafValue`.
    """

    nodes: np.ndarray
    states: np.ndarray
    path: np.ndarray
    words: np.ndarray
    logits: np.ndarray
    returns: np.ndarray
    value: leaf_values.LeafValue


def write_priors(state, words, temperature, logits, node):
    """Expand a node: write the priors of the legal actions (`words`), the softmax of the heuristic policy."""
    node.expanded = 1
    total, best = 0.0, -np.inf
    if temperature < np.inf:
        heuristic_policy(state, logits)
        for action in range(logits.shape[0]):
            if bits.contains(words, action):
                best = max(best, logits[action])
    for action in range(logits.shape[0]):
        if bits.contains(words, action):
            weight = np.exp((logits[action] - best) / temperature) if temperature < np.inf else 1.0
            node.prior[action] = weight
            total += weight
    for action in range(logits.shape[0]):
        node.prior[action] /= total


@jit
def oppose(seat, returns):
    """Give all others the opposite of what a seat gets, shared equally."""
    for other in range(returns.shape[0]):
        if other != seat:
            returns[other] = -returns[seat] / (returns.shape[0] - 1)


def simulate(state, nodes, used, params, work, rng):
    """Run one simulation from a determinized root state: select, expand, estimate, back up.

    Returns:
        The number of nodes then used.
    """
    depth, node, root_seat, words, path = 0, 0, state.seat, work.words, work.path
    visit_all = params.prior_temperature == np.inf
    path[0] = 0
    nodes[0].in_flight = 1
    while not state.over and depth != params.tree_depth and (depth == 0 or nodes[node].visits > 0):
        legal(state, words)
        if nodes[node].expanded == 0:
            write_priors(state, words, params.prior_temperature, work.logits, nodes[node])
        prior_floor = 0.5 / bits.count(words)
        child, action = select(nodes, node, words, state.seat, params.c_puct, prior_floor, visit_all, 0.0)
        if action >= 0:
            child = used
            used += 1
            add_child(nodes, node, child, action)
        node = child
        step(state, nodes[node].action)
        depth += 1
        path[depth] = node
        nodes[node].in_flight = 1
    rollout(state, params.rollout_depth, params.rollout_greedy, words, work.logits, work.returns, rng, work.value)
    if params.paranoid:
        oppose(root_seat, work.returns)
    backup(nodes, path, depth, work.returns)
    return used


def search(states, keys, odds, params, work, choose_only, actions, visits, values):
    """Search each game and write its `SearchResult`.

    Args:
        states: states (games,).
        keys: uint64 (games,).
        odds: float64 (games, players, kinds), of `beliefs.Belief`.
        params: `SearchParams`.
        work: `Workspace`.
        choose_only: end a search once the most visited action cannot change: the actions are the same, visits and
            values those until then.
        actions: of the `SearchResult`, out, as the next two.
        visits: see there.
        values: see there.
    """
    rng, trees, scratch = np.zeros(1, np.uint64), max(1, params.determinizations), work.states
    total_visits, total_values = np.zeros_like(visits[0]), np.zeros_like(values[0])
    for i in range(states.shape[0]):
        seat = states[i].seat
        rng[0] = keys[i]
        total_visits[:] = 0
        total_values[:] = 0.0
        for tree in range(trees):
            simulations = params.simulations // trees + (tree < params.simulations % trees)
            init_roots(work.nodes)
            used = 1
            scratch[1] = states[i]
            if params.determinizations > 0:
                redeal(scratch[1], seat, odds[i], rng)
            for number in range(simulations):
                looks = choose_only and trees == 1 and number % CHECK == 0
                if looks and is_decided(work.nodes[0], simulations - number):
                    break
                scratch[0] = scratch[1]
                if params.determinizations == 0 and not params.cheating:
                    redeal(scratch[0], seat, odds[i], rng)
                used = simulate(scratch[0], work.nodes[0], used, params, work, rng)
            read_roots(work.nodes, actions[i : i + 1], visits[i : i + 1], values[i : i + 1])
            total_visits += visits[i]
            total_values += values[i] / trees
        if params.determinizations > 0:
            actions[i] = np.argmax(total_visits)
            for action in range(total_visits.shape[0]):
                visits[i, action] = total_visits[action]
            for player in range(total_values.shape[0]):
                values[i, player] = total_values[player]


@cache
def _bound(game: Game) -> Any:
    k = game.kernels
    scope = {
        "legal": k.legal,
        "step": k.step,
        "redeal": beliefs.bound(game),
        "heuristic_policy": k.heuristic_policy,
        "rollout": rollouts.bound(game),
    }
    for template in (write_priors, simulate):
        scope[template.__name__] = bind(template, game.name, scope)
    return bind(search, game.name, scope)


class MCTSAgent:
    """Starts a new search for every decision.

    Raises:
        ValueError: a setting that the game does not allow.
    """

    def __init__(self, variant: Variant, config: MCTSConfig) -> None:
        if config.paranoid and variant.game.cooperative:
            raise ValueError(f"in {variant.game.name} nobody plays against anybody: paranoid is 0")
        if variant.game.kernels.heuristic_value is None:
            config = replace(config, rollout_depth=-1)
        self.config = config
        self._guard = Guard("search")
        self._variant = variant
        played = tuned(variant) if config.tuned else variant
        self._search = _bound(played.game)
        temperature = config.prior_temperature
        if np.isfinite(temperature):
            temperature *= prior_temperature(played, logits_only=True)
        settings = {**vars(config), "prior_temperature": temperature}
        self._params = SearchParams(**{name: settings[name] for name in SearchParams._fields})
        self._belief = beliefs.load_belief(Path(config.belief), variant) if config.belief else None
        self._work = Workspace(
            nodes=new_trees(1, config.simulations, variant),
            states=variant.new(2),
            path=np.zeros(variant.max_steps + 2, np.int32),
            words=np.zeros(variant.num_words, np.uint64),
            logits=np.zeros(variant.num_actions),
            returns=np.zeros(variant.num_players),
            value=load_leaf_value(Path(config.value), variant) if config.value else NO_VALUE,
        )

    def search(self, states: np.ndarray, keys: np.ndarray) -> SearchResult:
        """Search each game; arguments and errors as for `act`, fields of the result in `SearchResult`."""
        return self._find(states, keys, choose_only=False)

    def _find(self, states: np.ndarray, keys: np.ndarray, choose_only: bool) -> SearchResult:
        states = checked_games(states, self._variant.dtype)
        result = new_result(len(states), self._variant)
        odds = self._belief.odds(states) if self._belief else beliefs.no_odds(states, self._variant)
        keys = checked_keys(keys, len(states))
        with self._guard:
            self._search(states, keys, odds, self._params, self._work, choose_only, *result)
        return result

    def analyse(self, states: np.ndarray, keys: np.ndarray) -> RootActions:
        """Search one game; `states` (1,) and `keys` (1,) as for `act`.

        Several trees have no common root: of them only visits and expected returns are known.

        Raises:
            ValueError: more or less than one game.
        """
        checked_array("states", states, self._variant.dtype, (1,))
        with self._guard:
            result = self.search(states, keys)
            return several_roots(result) if self.config.determinizations else root_actions(self._work.nodes[0])

    def act(self, states: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """See `samurai_env.agent_api.Agent.act`."""
        return self._find(states, keys, choose_only=True).actions


def make(variant: Variant, spec: AgentSpec) -> MCTSAgent:
    """Make the agent of `mcts:SIMULATIONS`, such as `mcts:1000,c_puct=1`.

    Raises:
        ValueError: no number, or an unknown or impossible setting.
    """
    agent = MCTSAgent(variant, read_settings(spec, MCTSConfig))
    if agent.config.rollout_greedy and not agent.config.rollout_depth:
        raise ValueError("rollout_greedy has no effect here: it needs a rollout_depth other than 0")
    return agent


def make_flat(variant: Variant, spec: AgentSpec) -> MCTSAgent:
    """Make the agent of `flat_mc:SIMULATIONS`: Monte Carlo without a tree; settings as for `make`.

    Raises:
        ValueError: as `make`.
    """
    return MCTSAgent(variant, read_settings(spec, MCTSConfig, **vars(FLAT)))
