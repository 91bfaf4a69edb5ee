"""Fit the parameters of the heuristic policy and value by self-play.

    python -m samurai_env.games.card.heuristics.fit --minutes 10

First the player's weights climb by self-play: a changed set replaces the best one when it wins clearly more than
half of the same deals played from every seat. Then the evaluation is fitted to games of that player (who took each
stone, who won). The result is written to `data/advice.json`.
"""

import json

import numpy as np

from samurai_env.core.bits import pick
from samurai_env.core.jit import jit
from samurai_env.core.rng import below, draw
from samurai_env.games.card.game import GAME
from samurai_env.games.card.heuristics import policy
from samurai_env.games.card.heuristics.value import cards_left
from samurai_env.games.card.rules.card_lists import DATA
from samurai_env.games.card.rules.scoring import influences, sole_highest, surrounded
from samurai_env.games.hill_climbing import Climber, fit_outcome, read_command_line, write_found

reset, legal, step = GAME.kernels.reset, GAME.kernels.legal, GAME.kernels.step
FILE = DATA / "advice.json"
CLIMBER = Climber(GAME, policy.weighted_policy)
best_action = CLIMBER.best_action


@jit
def sample(state, weights, snapshots, left, takers, winners, words, scores, rng):
    """Fill `snapshots` with positions of games with some random decisions, and what became of their villages.

    `left` (rows,): cards not yet laid; `takers` (rows, villages, shapes): the seat that took the stone, -1 nobody;
    `winners` (rows,): bit sets.
    """
    n, row = state.hand.shape[0], 0
    while row < snapshots.shape[0]:
        reset(state, draw(rng))
        first = row
        while not state.over:
            if row < snapshots.shape[0] and below(rng, 10) == 0:
                snapshots[row] = state
                left[row] = cards_left(state)
                row += 1
            if below(rng, 8) == 0:
                legal(state, words)
                step(state, pick(words, rng))
            else:
                step(state, best_action(state, words, scores, weights, rng))
        for village in range(state.villages):
            if surrounded(state, village):
                for shape in range(3):
                    takers[first:row, village, shape] = sole_highest(influences(state.side[village], shape), n)
        winners[first:row] = state.winners


def positions(num_players, weights, count, seed):
    """Samples for the fit: snapshots, cards left, takers of the stones, winners."""
    variant = GAME.variant(num_players)
    state, snapshots = variant.new(1), variant.new(count)
    left, winners = np.zeros(count, np.int64), np.zeros(count, np.int64)
    takers = np.full((count, snapshots["side"].shape[1], 3), -1, np.int8)
    words, scores = np.zeros(variant.num_words, np.uint64), np.zeros(variant.num_actions)
    sample(state[0], weights, snapshots, left, takers, winners, words, scores, np.array([seed], np.uint64))
    return snapshots, left, takers, winners


def open_stones(snapshots):
    """Every symbol on a village not yet scored: whether there is one (rows, villages, 3), free sides, influences."""
    n = snapshots["hand"].shape[1]
    sides = snapshots["side"].astype(np.int64) - 1
    free = (sides < 0).sum(2)
    laid = np.arange(sides.shape[1])[None, :] < snapshots["villages"][:, None]
    symbols = snapshots["village_stack"][:, :, None] >> np.arange(3) & 1
    strength = policy.STRENGTH[sides % policy.KINDS] * (sides >= 0)[..., None]
    seats = sides // policy.KINDS
    influence = np.stack([(strength * (seats == seat)[..., None]).sum(2) for seat in range(n)], axis=3)
    return (laid & (free > 0))[:, :, None] & (symbols == 1), free, influence


def fit_stones(samples):
    """By number of free sides: how often a stone is taken, and the factor of influence that best names the taker."""
    taken, sharpness = np.zeros(5), np.full(5, 5.0)
    grid = np.linspace(0.02, 3.0, 150)
    for free in range(1, 5):
        likelihood, cases, hits = np.zeros(len(grid)), 0, 0
        for snapshots, _, takers, _ in samples:
            stands, sides, influence = open_stones(snapshots)
            here = stands & (sides == free)[:, :, None]
            cases += here.sum()
            here &= takers >= 0
            hits += here.sum()
            logits = grid[:, None, None] * influence[here][None].astype(np.float64)
            logits -= np.log(np.exp(logits).sum(2, keepdims=True))
            likelihood += logits[:, np.arange(here.sum()), takers[here]].sum(1)
        taken[free] = hits / max(1, cases)
        sharpness[free] = grid[likelihood.argmax()]
    return [round(float(t), 3) for t in taken], [round(float(s), 3) for s in sharpness]


def expected_stones(snapshots, taken, sharpness):
    """Expected stones (rows, n, 3), as `evaluation.expect_stones` has them."""
    stands, free, influence = open_stones(snapshots)
    weight = np.exp(np.array(sharpness)[free][:, :, None, None] * influence)
    share = weight / weight.sum(3, keepdims=True) * (stands * np.array(taken)[free][:, :, None])[..., None]
    return snapshots["stones"] + share.sum(1).transpose(0, 2, 1)


def main():
    """Climb, fit the evaluation to the stronger player, write."""
    asked = read_command_line(__doc__, minutes=10.0, samples=20_000)
    rng = np.random.default_rng(asked.seed)
    weights = CLIMBER.climb(json.loads(FILE.read_text(encoding="utf-8"))["weights"], asked.minutes, rng)
    samples = [positions(n, np.array(weights), asked.samples, asked.seed + n) for n in (2, 3, 4)]
    taken, sharpness = fit_stones(samples)
    majority, stones, spread = fit_outcome(
        [(expected_stones(snapshots, taken, sharpness), left, winners) for snapshots, left, _, winners in samples], rng
    )
    evaluation = {
        "taken": taken,
        "sharpness": sharpness,
        "majority": majority,
        "stones": stones,
        "spread": spread,
    }
    write_found(FILE, "samurai_env.games.card.heuristics.fit", asked, weights, evaluation)


if __name__ == "__main__":
    main()
