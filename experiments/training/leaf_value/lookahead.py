"""Games in which a value learns by TD(lambda): played by the heuristic policy and the value, one decision ahead.

An action is worth the mean value of the positions that it leads to, over a few determinizations (the same for all
actions). The choice is the greatest sum of the heuristic policy's logit, in units of its temperature, and the weighted
log odds of that worth: alone, a value that is still poor plays worse than the heuristic policy, since its errors differ
between the moments that the actions lead to.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from agents import leaf_values
from samurai_env.core import bits
from samurai_env.core.game import Game, Variant
from samurai_env.core.jit import bind
from samurai_env.core.rng import uniform

# Bound to each game's kernels.
reset: Any = None
step: Any = None
legal: Any = None
returns: Any = None
determinize: Any = None
heuristic_policy: Any = None
leaf_value: Any = None
choose: Any = None


class Settings(NamedTuple):
    """How games are played, for compiled code.

    Attributes:
        draws: determinizations that a decision looks at.
        weight: of the log odds.
        temperature: of the heuristic policy.
        random: share of the decisions that are random.
        trace: lambda.
        share: of the positions that are kept.
    """

    draws: int
    weight: float
    temperature: float
    random: float
    trace: float
    share: float


class Work(NamedTuple):
    """Scratch memory.

    Attributes:
        states: the game, a determinization, and the position after an action.
        words: uint64, legal actions.
        logits: float64 (actions,), of the heuristic policy.
        worth: float64 (actions, seats), expected returns.
        out: float64 (seats,).
        expected: float64 (decisions of a game, seats), the worth of the best action.
        strayed: bool (decisions,), whether another one was taken.
        kept: int64 (decisions,), which of them are kept.
    """

    states: np.ndarray
    words: np.ndarray
    logits: np.ndarray
    worth: np.ndarray
    out: np.ndarray
    expected: np.ndarray
    strayed: np.ndarray
    kept: np.ndarray


def choose_action(work, value, settings, cooperative, rng):
    """The best action for the seat to move in `work.states[0]`; `work.worth` then has the worth of all legal ones."""
    state, n, worth = work.states[0], work.out.shape[0], work.worth
    legal(state, work.words)
    heuristic_policy(state, work.logits)
    worth[:, :] = 0.0
    for _ in range(settings.draws):
        work.states[1] = state
        determinize(work.states[1], state.seat, rng)
        for action in range(work.logits.shape[0]):
            if bits.contains(work.words, action):
                after = work.states[2:3]
                after[0] = work.states[1]
                step(after[0], action)
                if after[0].over:
                    returns(after[0], work.out)
                else:
                    leaf_value(after[0], value, work.out)
                for seat in range(n):
                    worth[action, seat] += work.out[seat] / settings.draws
    best, chosen = -np.inf, -1
    for action in range(work.logits.shape[0]):
        if bits.contains(work.words, action):
            chance = worth[action, state.seat]
            if not cooperative:
                chance = (chance * (n - 1) + 1) / n
            chance = min(max(chance, 1e-6), 1 - 1e-6)
            score = work.logits[action] / settings.temperature + settings.weight * np.log(chance / (1 - chance))
            score += 1e-9 * uniform(rng)
            if score > best:
                best, chosen = score, action
    return chosen


def play_game(seed, work, value, settings, cooperative, states, targets, ends, rng):
    """Play a deal and write some positions with their targets; return how many.

    Args:
        seed: uint64, the deal.
        work: scratch.
        value: leaf value.
        settings: how.
        cooperative: whether all win or lose together.
        states: the positions; there is room for all of a game.
        targets: float64 (positions, seats): lambda returns of each seat, where the worth of the best action stands for
            what came after a random one.
        ends: float64 (seats,): returns of the game.
        rng: uint64 (1,).
    """
    state, n, kept, decisions = work.states[0], work.out.shape[0], 0, 0
    reset(state, seed)
    while not state.over:
        if uniform(rng) < settings.share:
            states[kept] = state
            work.kept[kept] = decisions
            kept += 1
        action = choose(work, value, settings, cooperative, rng)
        for seat in range(n):
            work.expected[decisions, seat] = work.worth[action, seat]
        work.strayed[decisions] = False
        if uniform(rng) < settings.random:
            other = bits.pick(work.words, rng)
            work.strayed[decisions] = other != action
            action = other
        decisions += 1
        step(state, action)
    returns(state, work.out)
    for seat in range(n):
        ends[seat] = work.out[seat]
    last = kept - 1
    for decision in range(decisions - 1, -1, -1):
        trace = 0.0 if work.strayed[decision] else settings.trace
        for seat in range(n):
            work.out[seat] = trace * work.out[seat] + (1 - trace) * work.expected[decision, seat]
        if last >= 0 and work.kept[last] == decision:
            for seat in range(n):
                targets[last, seat] = work.out[seat]
            last -= 1
    return kept


@cache
def _bound(game: Game) -> Any:
    names = ("reset", "step", "legal", "returns", "determinize", "heuristic_policy")
    scope = {name: getattr(game.kernels, name) for name in names} | {"leaf_value": leaf_values.bound(game)}
    return bind(play_game, game.name, scope | {"choose": bind(choose_action, game.name, scope)})


def play(
    variant: Variant, value: leaf_values.LeafValue, seeds: np.ndarray, settings: Settings, key: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Play some deals.

    Args:
        variant: what is played.
        value: that is to learn.
        seeds: uint64 (games,), the deals.
        settings: how.
        key: of all chance beside the deals.

    Returns:
        states of positions (positions,); float64 (positions, players), lambda returns of each seat there; float64
        (games, players), the returns of the games.
    """
    longest, n = variant.max_steps + 1, variant.num_players
    work = Work(
        states=variant.new(3),
        words=np.zeros(variant.num_words, np.uint64),
        logits=np.zeros(variant.num_actions),
        worth=np.zeros((variant.num_actions, n)),
        out=np.zeros(n),
        expected=np.zeros((longest, n)),
        strayed=np.zeros(longest, np.bool_),
        kept=np.zeros(longest, np.int64),
    )
    states, targets, ends = variant.new(longest), np.zeros((longest, n)), np.zeros((len(seeds), n))
    play_one, cooperative, rng = _bound(variant.game), variant.game.cooperative, np.array([key], np.uint64)
    found = [(variant.new(0), np.zeros((0, n)))]
    for seed, end in zip(seeds, ends, strict=True):
        kept = play_one(seed, work, value, settings, cooperative, states, targets, end, rng)
        found.append((states[:kept].copy(), targets[:kept].copy()))
    kept_states, kept_targets = (np.concatenate(part) for part in zip(*found, strict=True))
    return kept_states, kept_targets, ends
