"""Information-set Monte-Carlo tree search (Cowling, Powley and Whitehouse, 2012), compiled.

One tree for the seat to move, its nodes known by the actions that lead to them. Every simulation draws a
fresh redetermination of the root, so nothing hidden is ever used. Returns are vectors: each seat
maximises its own component (max-n), which is right for two, three or four players and for cooperation.
"""

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from agents import greedy
from agents.base import read_settings
from samurai_env.core import bits, random
from samurai_env.core.compile import bind, jit
from samurai_env.core.game import Game, Variant

# Put in by `bind`.
legal: Any = None
step: Any = None
returns: Any = None
redetermine: Any = None
advise: Any = None
best_advised: Any = None
evaluate: Any = None


@dataclass(frozen=True)
class Settings:
    """How to search. experiments/LOG.md has what was measured around the defaults.

    Attributes:
        simulations: simulations a decision.
        exploration: weight of the confidence term of UCB.
        widening: a node with v visits may have up to 1 + widening * sqrt(v) children, best advised first;
            0 tries every action, in random order.
        bias: weight of an action's advice, which fades as 1 / (visits + 1).
        depth: decisions played beyond the tree before the game's evaluation is asked; -1 plays to the end.
        greedy: share of those decisions that follow the game's advice; the others are random.
        tree: decisions of a simulation that the tree may choose; 1 is a flat search, -1 sets no limit.
    """

    simulations: int = 1000
    exploration: float = 1.0
    widening: float = 0.25
    bias: float = 5.0
    depth: int = 0
    greedy: float = 0.0
    tree: int = -1


# Every action is tried, and every game played to the end by the built-in player.
FLAT = Settings(widening=0.0, bias=0.0, depth=-1, greedy=1.0, tree=1)

NUMBERS = {"exploration": float, "widening": float, "bias": float, "depth": int, "greedy": float, "tree": int}


def node_type(num_players: int) -> np.dtype:
    """One node of the tree: the action that leads to it, links, counts, and the sum of returns by seat."""
    return np.dtype(
        [
            ("value", "<f8", (num_players,)),
            ("prior", "<f8"),
            ("action", "<i4"),
            ("child", "<i4"),
            ("sibling", "<i4"),
            ("visits", "<i4"),
            ("available", "<i4"),
            ("padding", "<i4"),
        ]
    )


def roll_out(state, depth, share, words, scores, out, rng):
    """Play `depth` decisions (to the end if negative), this share of them advised, and write the returns to expect."""
    while not state.over:
        if depth == 0:
            evaluate(state, out)
            return
        depth -= 1
        if share > 0.0 and random.uniform(rng) < share:
            step(state, best_advised(state, words, scores, rng))
        else:
            legal(state, words)
            step(state, bits.pick(words, rng))
    returns(state, out)


def simulate(state, nodes, used, exploration, widening, bias, depth_limit, share, tree, path, words, scores, out, rng):
    """One simulation from a redetermined root state; the number of nodes then used."""
    depth, node = 0, 0
    path[0] = 0
    while not state.over and depth != tree:
        legal(state, words)
        mover, children = state.seat, 0
        best, best_score = -1, -np.inf
        child = nodes[node].child
        while child >= 0:
            this = nodes[child]
            if bits.contains(words, this.action):
                words[this.action >> 6] &= ~bits.bit(this.action & 63)  # what remains is untried
                children += 1
                this.available += 1
                score = this.value[mover] / this.visits
                score += exploration * np.sqrt(np.log(np.float64(this.available)) / this.visits)
                score += bias * this.prior / (this.visits + 1.0)
                if score > best_score:
                    best, best_score = child, score
            child = this.sibling
        allowed = widening == 0.0 or children < 1.0 + widening * np.sqrt(np.float64(nodes[node].visits))
        if allowed and bits.count(words) > 0 and used < nodes.shape[0]:
            action, prior = untried(state, words, scores, widening > 0.0 or bias > 0.0, rng)
            fresh = nodes[used]
            fresh.value[:] = 0.0
            fresh.prior = prior
            fresh.action = action
            fresh.child = -1
            fresh.sibling = nodes[node].child
            fresh.visits = 0
            fresh.available = 1
            nodes[node].child = used
            step(state, action)
            depth += 1
            path[depth] = used
            used += 1
            break
        node = best
        step(state, nodes[node].action)
        depth += 1
        path[depth] = node
    roll_out(state, depth_limit, share, words, scores, out, rng)
    for i in range(depth + 1):
        nodes[path[i]].visits += 1
        for seat in range(out.shape[0]):
            nodes[path[i]].value[seat] += out[seat]
    return used


def untried(state, words, scores, advised, rng):
    """An action among the bits of `words`, with its advice relative to the best of them (0 without advice)."""
    if not advised:
        return bits.pick(words, rng), 0.0
    advise(state, scores)
    best, action = -np.inf, -1
    for i in range(words.shape[0]):
        word = words[i]
        while word != np.uint64(0):
            candidate = 64 * i + np.int64(bits.lowest(word))
            word &= word - bits.ONE
            # A little noise breaks ties.
            score = scores[candidate] + 1e-6 * random.uniform(rng)
            if score > best:
                best, action = score, candidate
    return action, best


@jit
def no_evaluation(state, out):
    """Stands in where a game has no evaluation; such games are always played to the end."""
    out[:] = 0.0


def search(
    states,
    keys,
    simulations,
    exploration,
    widening,
    bias,
    depth,
    share,
    tree,
    nodes,
    scratch,
    path,
    words,
    scores,
    out,
    actions,
    counts,
):
    """Search each game and write the most visited action; `counts` (games, actions) gets the visits."""
    rng = np.zeros(1, np.uint64)
    for i in range(states.shape[0]):
        seat = states[i].seat
        rng[0] = keys[i]
        root = nodes[0]
        root.value[:] = 0.0
        root.child = -1
        root.visits = 0
        used = 1
        for _ in range(simulations):
            scratch[0] = states[i]
            redetermine(scratch[0], seat, rng)
            used = simulate(
                scratch[0], nodes, used, exploration, widening, bias, depth, share, tree, path, words, scores, out, rng
            )
        counts[i] = 0
        most, child = -1, root.child
        while child >= 0:
            counts[i, nodes[child].action] = nodes[child].visits
            if nodes[child].visits > most:
                most, actions[i] = nodes[child].visits, nodes[child].action
            child = nodes[child].sibling


@cache
def _bound(game: Game) -> Any:
    c = game.compiled
    scope = {
        "legal": c.legal,
        "step": c.step,
        "returns": c.returns,
        "redetermine": c.redetermine,
        "advise": c.advise,
        "evaluate": c.evaluate or no_evaluation,
        "best_advised": greedy.bound(game)["best_advised"],
    }
    scope["roll_out"] = bind(roll_out, game.name, scope)
    scope["untried"] = bind(untried, game.name, scope)
    scope["simulate"] = bind(simulate, game.name, scope)
    return bind(search, game.name, scope)


class MCTSAgent:
    """Searches anew for every decision."""

    def __init__(self, variant: Variant, settings: Settings) -> None:
        if settings.simulations < 1:
            raise ValueError(f"a search needs at least 1 simulation a decision, not {settings.simulations}")
        if variant.game.compiled.evaluate is None:
            settings = replace(settings, depth=-1)
        self.settings = settings
        self._search = _bound(variant.game)
        self._nodes = np.zeros(settings.simulations + 1, node_type(variant.num_players))
        self._scratch = variant.new(1)
        self._path = np.zeros(variant.max_steps + 2, np.int64)
        self._words = np.zeros(variant.num_words, np.uint64)
        self._scores = np.zeros(variant.num_actions)
        self._out = np.zeros(variant.num_players)

    def visits(self, states: np.ndarray, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Chosen actions, int64 (games,), and how often each action was tried at the root, int64 (games, actions)."""
        s = self.settings
        actions = np.zeros(len(states), np.int64)
        counts = np.zeros((len(states), len(self._scores)), np.int64)
        self._search(
            states,
            keys,
            s.simulations,
            s.exploration,
            s.widening,
            s.bias,
            s.depth,
            s.greedy,
            s.tree,
            self._nodes,
            self._scratch,
            self._path,
            self._words,
            self._scores,
            self._out,
            actions,
            counts,
        )
        return actions, counts

    def act(self, states: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """See `agents.base.Agent.act`."""
        return self.visits(states, keys)[0]


def make(variant: Variant, argument: str) -> MCTSAgent:
    """From a spec: `mcts:1000`, or with settings such as `mcts:1000,widening=0,bias=0`.

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
