"""Information-set Monte-Carlo tree search (Cowling, Powley and Whitehouse, 2012), compiled.

One tree for the seat to move. Every simulation draws a fresh determinization of the root, so nothing hidden is ever
used; other schemes are there to be compared. The game's built-in advice gives the priors of the actions, its evaluation
the returns to expect at a leaf.
"""

from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from agents.api import read_settings
from agents.networks.features import usual_temperature
from agents.search import rollouts
from agents.search.tree import Findings, back_up, begin, best_child, clear, new_findings, new_trees, read_roots
from samurai_env.core import bits
from samurai_env.core.checks import checked_games, checked_keys
from samurai_env.core.game import Game, Variant
from samurai_env.core.jit import bind, jit

# Put in by `bind`.
legal: Any = None
step: Any = None
determinize: Any = None
heuristic_policy: Any = None
roll_out: Any = None


@dataclass(frozen=True)
class Settings:
    """How to search. experiments/LOG.md has what was measured around the defaults.

    Attributes:
        simulations: simulations a decision.
        exploration: weight of the priors in PUCT.
        temperature: of the priors, in units of the temperature at which the advised action would be taken every other
            time; inf gives all actions the same prior.
        depth: decisions played beyond the tree before the game's evaluation is asked; -1 plays to the end.
        greedy: share of those decisions that follow the game's advice; the others are random.
        tree: decisions of a simulation that the tree may choose; 1 is a flat search, -1 sets no limit.
        worlds: if above 0, so many determinizations are drawn, each searched with a tree of its own and a share of the
            simulations, and the tries are added up: determinized UCT (Cowling, Powley and Whitehouse, 2012).
        paranoid: 1 takes it that all others play against the seat to move (Sturtevant and Korf, 2000); 0 is max-n.
    """

    simulations: int = 1000
    exploration: float = 2.0
    temperature: float = 1.0
    depth: int = 0
    greedy: float = 0.0
    tree: int = -1
    worlds: int = 0
    paranoid: int = 0


# Every action is tried, and every game played to the end by the built-in player.
FLAT = Settings(temperature=np.inf, depth=-1, greedy=1.0, tree=1)

NUMBERS = {
    "exploration": float,
    "temperature": float,
    "depth": int,
    "greedy": float,
    "tree": int,
    "worlds": int,
    "paranoid": int,
}


class Method(NamedTuple):
    """`Settings` as compiled code takes them; the temperature in units of the advice."""

    simulations: int
    exploration: float
    temperature: float
    depth: int
    greedy: float
    tree: int
    worlds: int
    paranoid: int


class Room(NamedTuple):
    """What a search works in.

    Attributes:
        nodes: of one tree (1, simulations + 1).
        scratch: two records.
        path: int32, the nodes that a simulation has come through.
        words: uint64, legal actions.
        scores: float64 (actions,), advice.
        out: float64 (seats,), returns.
    """

    nodes: np.ndarray
    scratch: np.ndarray
    path: np.ndarray
    words: np.ndarray
    scores: np.ndarray
    out: np.ndarray


def write_priors(state, words, temperature, scores, node):
    """Write the priors of the legal actions (`words`): the softmax of their advice, or all alike."""
    node.known = 1
    total, best = 0.0, -np.inf
    if temperature < np.inf:
        heuristic_policy(state, scores)
        for action in range(scores.shape[0]):
            if bits.contains(words, action):
                best = max(best, scores[action])
    for action in range(scores.shape[0]):
        if bits.contains(words, action):
            chance = np.exp((scores[action] - best) / temperature) if temperature < np.inf else 1.0
            node.prior[action] = chance
            total += chance
    for action in range(scores.shape[0]):
        node.prior[action] /= total


@jit
def turn_against(seat, out):
    """Give all others the opposite of what a seat gets, shared among them."""
    for other in range(out.shape[0]):
        if other != seat:
            out[other] = -out[seat] / (out.shape[0] - 1)


def simulate(state, nodes, used, method, room, rng):
    """One simulation from a determinized root state; the number of nodes then used."""
    depth, node, seat, words, path = 0, 0, state.seat, room.words, room.path
    eager = method.temperature == np.inf
    path[0] = 0
    nodes[0].pending = 1
    while not state.over and depth != method.tree and (depth == 0 or nodes[node].visits > 0):
        legal(state, words)
        if nodes[node].known == 0:
            write_priors(state, words, method.temperature, room.scores, nodes[node])
        usual = 0.5 / bits.count(words)
        child, action = best_child(nodes, node, words, state.seat, method.exploration, usual, eager, 0.0)
        if action >= 0:
            child = used
            used += 1
            clear(nodes[child], action, nodes[node].child)
            nodes[node].child = child
        node = child
        step(state, nodes[node].action)
        depth += 1
        path[depth] = node
        nodes[node].pending = 1
    roll_out(state, method.depth, method.greedy, words, room.scores, room.out, rng)
    if method.paranoid:
        turn_against(seat, room.out)
    back_up(nodes, path, depth, room.out)
    return used


def search(states, keys, method, room, actions, counts, values):
    """Search each game; write the action tried most, how often each was tried and the returns to expect."""
    rng, trees, scratch = np.zeros(1, np.uint64), max(1, method.worlds), room.scratch
    tries, worth = np.zeros_like(counts[0]), np.zeros_like(values[0])
    for i in range(states.shape[0]):
        seat = states[i].seat
        rng[0] = keys[i]
        tries[:] = 0
        worth[:] = 0.0
        for _ in range(trees):
            begin(room.nodes)
            used = 1
            scratch[1] = states[i]
            if method.worlds > 0:
                determinize(scratch[1], seat, rng)
            for _ in range(method.simulations // trees):
                scratch[0] = scratch[1]
                if method.worlds == 0:
                    determinize(scratch[0], seat, rng)
                used = simulate(scratch[0], room.nodes[0], used, method, room, rng)
            read_roots(room.nodes, actions[i : i + 1], counts[i : i + 1], values[i : i + 1])
            tries += counts[i]
            worth += values[i] / trees
        if method.worlds > 0:
            counts[i], values[i] = tries, worth
            actions[i] = np.argmax(tries)


@cache
def _bound(game: Game) -> Any:
    c = game.kernels
    scope = {
        "legal": c.legal,
        "step": c.step,
        "determinize": c.determinize,
        "heuristic_policy": c.heuristic_policy,
        "roll_out": rollouts.bound(game),
    }
    for template in (write_priors, simulate):
        scope[template.__name__] = bind(template, game.name, scope)
    return bind(search, game.name, scope)


class MCTSAgent:
    """Searches anew for every decision."""

    def __init__(self, variant: Variant, settings: Settings) -> None:
        if settings.simulations < 1:
            raise ValueError(f"a search needs at least 1 simulation a decision, not {settings.simulations}")
        if not 0 <= settings.exploration < np.inf:
            raise ValueError(f"the exploration of a search is 0 or more, not {settings.exploration}")
        if not settings.temperature > 0:
            raise ValueError(f"the temperature of a search is above 0, not {settings.temperature}")
        if settings.depth < -1:
            raise ValueError(f"roll-outs have 0 decisions or more, or all (-1), not {settings.depth}")
        if not 0 <= settings.greedy <= 1:
            raise ValueError(f"greedy is a share from 0 to 1, not {settings.greedy}")
        if settings.tree == 0 or settings.tree < -1:
            raise ValueError(f"the tree of a search may choose 1 decision or more, or all (-1), not {settings.tree}")
        if not 0 <= settings.worlds <= settings.simulations:
            raise ValueError(f"worlds are from 0 to the number of simulations, not {settings.worlds}")
        if settings.paranoid not in (0, 1):
            raise ValueError(f"paranoid is 0 or 1, not {settings.paranoid}")
        if settings.paranoid and variant.game.cooperative:
            raise ValueError(f"in {variant.game.name} nobody plays against anybody: paranoid is 0")
        if variant.game.kernels.heuristic_value is None:
            settings = replace(settings, depth=-1)
        self.settings = settings
        self._variant = variant
        self._search = _bound(variant.game)
        temperature = settings.temperature
        if np.isfinite(temperature):
            temperature *= usual_temperature(variant, quick=True)
        self._method = Method(**{**asdict(settings), "temperature": temperature})
        self._room = Room(
            nodes=new_trees(1, settings.simulations, variant),
            scratch=variant.new(2),
            path=np.zeros(variant.max_steps + 2, np.int32),
            words=np.zeros(variant.num_words, np.uint64),
            scores=np.zeros(variant.num_actions),
            out=np.zeros(variant.num_players),
        )

    def visits(self, states: np.ndarray, keys: np.ndarray) -> Findings:
        """What the search finds; the arguments are those of `act`."""
        states = checked_games(states, self._variant.dtype)
        found = new_findings(len(states), self._variant)
        self._search(states, checked_keys(keys, len(states)), self._method, self._room, *found)
        return found

    def act(self, states: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """See `agents.api.Agent.act`."""
        return self.visits(states, keys).actions


def make(variant: Variant, argument: str) -> MCTSAgent:
    """From a spec: `mcts:1000`, or with settings such as `mcts:1000,exploration=1`.

    Raises:
        ValueError: no number, fewer than 1 simulation, or an unknown setting.
    """
    return MCTSAgent(variant, replace(Settings(), **read_settings("mcts", argument, NUMBERS)))


def make_flat(variant: Variant, argument: str) -> MCTSAgent:
    """From a spec: `flat:200`, Monte Carlo without a tree; settings as in `make`.

    Raises:
        ValueError: as `make`.
    """
    return MCTSAgent(variant, replace(FLAT, **read_settings("flat", argument, NUMBERS)))
