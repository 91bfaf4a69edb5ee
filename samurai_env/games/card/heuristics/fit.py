"""Fit the parameters of the heuristic policy and value by self-play.

    python -m samurai_env.games.card.heuristics.fit --minutes 10

First hill climbing by self-play improves the policy's weights: a changed set replaces the best one when it wins
clearly more than half of the same deals played from every seat. Then the heuristic value is fitted to games of that
policy: who took each stone, who won. Writes `data/heuristic_policy.json` and `data/heuristic_value.json`.
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
from samurai_env.games.hill_climbing import HillClimber, command_of, fit_outcome_model, parse_args, write_parameters

reset, legal, step = GAME.kernels.reset, GAME.kernels.legal, GAME.kernels.step
POLICY, VALUE = DATA / "heuristic_policy.json", DATA / "heuristic_value.json"
CLIMBER = HillClimber(GAME, policy.weighted_policy)
best_action = CLIMBER.best_action


@jit
def sample(state, weights, snapshots, left, takers, winners, words, logits, rng):
    """Fill `snapshots` with positions of games that have some random decisions, and note who took their stones.

    `left` (rows,): cards left to play; `takers` (rows, villages, shapes): the seat that took the stone, -1 nobody;
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
                step(state, best_action(state, words, logits, weights, rng))
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
    words, logits = np.zeros(variant.num_words, np.uint64), np.zeros(variant.num_actions)
    sample(state[0], weights, snapshots, left, takers, winners, words, logits, np.array([seed], np.uint64))
    return snapshots, left, takers, winners


def open_stones(snapshots):
    """Symbols on villages not yet scored: whether there is one (rows, villages, 3), free sides, influences."""
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
    """Fit, by number of free sides, how often a stone is taken, and the factor of influence that predicts the taker."""
    capture_rate, inverse_temperature = np.zeros(5), np.full(5, 5.0)
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
        capture_rate[free] = hits / max(1, cases)
        inverse_temperature[free] = grid[likelihood.argmax()]
    return [round(float(t), 3) for t in capture_rate], [round(float(s), 3) for s in inverse_temperature]


def expected_stones(snapshots, capture_rate, inverse_temperature):
    """Expected stones (rows, n, 3), as `value.expect_stones` has them."""
    stands, free, influence = open_stones(snapshots)
    weight = np.exp(np.array(inverse_temperature)[free][:, :, None, None] * influence)
    share = weight / weight.sum(3, keepdims=True) * (stands * np.array(capture_rate)[free][:, :, None])[..., None]
    return snapshots["stones"] + share.sum(1).transpose(0, 2, 1)


def main():
    """Improve the policy, fit the value to it, write both."""
    args = parse_args(__doc__, minutes=10.0, samples=20_000)
    rng = np.random.default_rng(args.seed)
    weights = CLIMBER.climb(json.loads(POLICY.read_text(encoding="utf-8"))["weights"], args.minutes, rng)
    samples = [positions(n, np.array(weights), args.samples, args.seed + n) for n in (2, 3, 4)]
    capture_rate, inverse_temperature = fit_stones(samples)
    majority_weight, stone_weight, lead_slope = fit_outcome_model(
        [
            (expected_stones(snapshots, capture_rate, inverse_temperature), left, winners)
            for snapshots, left, _, winners in samples
        ],
        rng,
    )
    value = {
        "capture_rate": capture_rate,
        "inverse_temperature": inverse_temperature,
        "majority_weight": majority_weight,
        "stone_weight": stone_weight,
        "lead_slope": lead_slope,
    }
    command = command_of("samurai_env.games.card.heuristics.fit", args)
    write_parameters(POLICY, "weights of the heuristic policy, found by self-play", command, {"weights": weights})
    write_parameters(VALUE, "parameters of the heuristic value, fitted to self-play", command, value)


if __name__ == "__main__":
    main()
