"""Fit the parameters of the heuristic policy and value by self-play.

    python -m samurai_env.games.board.heuristics.fit --minutes 10

First hill climbing by self-play improves the policy's weights: a changed set replaces the best one when it wins
clearly more than half of the same deals played from every seat. Then the heuristic value is fitted to games of that
policy: who took each figure, who won. Writes `data/heuristic_policy.json` and `data/heuristic_value.json`.
"""

import json

import numpy as np

from samurai_env.core.bits import has, pick
from samurai_env.core.jit import jit
from samurai_env.core.rng import below, draw
from samurai_env.games.board.game import GAME
from samurai_env.games.board.heuristics import policy
from samurai_env.games.board.rules.topology import DATA, SETTLEMENT_LAND
from samurai_env.games.hill_climbing import HillClimber, command_of, fit_outcome_model, parse_args, write_parameters

reset, legal, step = GAME.kernels.reset, GAME.kernels.legal, GAME.kernels.step
POLICY, VALUE = DATA / "heuristic_policy.json", DATA / "heuristic_value.json"
CLIMBER = HillClimber(GAME, policy.weighted_policy)
best_action = CLIMBER.best_action


@jit
def sample(state, weights, snapshots, takers, winners, words, logits, rng):
    """Fill `snapshots` with positions of games that have some random decisions, and note who took their figures.

    `takers` (rows, settlements, 3): the seat that took the figure, -1 nobody; `winners` (rows,): bit sets.
    """
    n, row, first = state.hand.shape[0], 0, 0
    while row < snapshots.shape[0]:
        reset(state, draw(rng))
        first = row
        while not state.over:
            if state.pool[0] + state.pool[1] + state.pool[2] == 0 and row < snapshots.shape[0] and below(rng, 10) == 0:
                snapshots[row] = state
                takers[row] = -1
                row += 1
            figures = state.figures.copy()
            if below(rng, 8) == 0:
                legal(state, words)
                step(state, pick(words, rng))
            else:
                step(state, best_action(state, words, logits, weights, rng))
            for settlement in range(state.influence.shape[1]):
                gone = SETTLEMENT_LAND[settlement] & state.land_free == np.uint64(0)
                for figure in range(3):
                    if gone and has(figures[figure], settlement) and not has(state.figures[figure], settlement):
                        best = -1
                        for seat in range(n):
                            if best < 0 or (
                                state.influence[seat, settlement, figure] > state.influence[best, settlement, figure]
                            ):
                                best = seat
                        for seat in range(n):
                            same = (
                                state.influence[seat, settlement, figure] == state.influence[best, settlement, figure]
                            )
                            if seat != best and same:
                                best = -2
                                break
                        takers[first:row, settlement, figure] = max(best, -1)
        winners[first:row] = state.winners


def positions(num_players, weights, count, seed):
    """Samples for the fit: snapshots, takers of their figures, winners."""
    variant = GAME.variant(num_players)
    state, snapshots = variant.new(1), variant.new(count)
    towns = state["influence"].shape[2]
    takers, winners = np.zeros((count, towns, 3), np.int8), np.zeros(count, np.int64)
    words, logits = np.zeros(variant.num_words, np.uint64), np.zeros(variant.num_actions)
    sample(state[0], weights, snapshots, takers, winners, words, logits, np.array([seed], np.uint64))
    return snapshots, takers, winners


def of_seats(snapshots):
    """Influences with the seats last: (rows, settlements, 3, n)."""
    return snapshots["influence"].transpose(0, 2, 3, 1)


def figure_rows(snapshots, takers):
    """Figures on the board that a seat took later: empty hexes (rows,), influences (rows, n), taker (rows,)."""
    towns = snapshots["influence"].shape[2]
    stands = (snapshots["figures"][:, None, :] >> np.arange(towns, dtype=np.uint64)[None, :, None]) & np.uint64(1)
    free = SETTLEMENT_LAND[None, :towns] & snapshots["land_free"][:, None]
    empty = np.repeat(np.bitwise_count(free)[:, :, None], 3, axis=2)
    chosen = (stands == 1) & (takers >= 0)
    return empty[chosen], of_seats(snapshots)[chosen].astype(np.float64), takers[chosen]


def fit_inverse_temperature(rows):
    """Fit, by number of empty hexes, the factor for which softmax(factor * influence) best predicts the taker."""
    inverse_temperature = np.full(7, 5.0)
    grid = np.linspace(0.05, 3.0, 119)
    for empty in range(1, 7):
        likelihood = np.zeros(len(grid))
        for empties, influence, taker in rows:
            here = empties == empty
            logits = grid[:, None, None] * influence[here][None]
            logits -= np.log(np.exp(logits).sum(2, keepdims=True))
            likelihood += logits[:, np.arange(here.sum()), taker[here]].sum(1)
        inverse_temperature[empty] = grid[likelihood.argmax()]
    return [round(float(s), 3) for s in inverse_temperature]


def expected_figures(snapshots, inverse_temperature):
    """Expected final figures (rows, n, 3) and figures still open (rows,), as `value.expect_figures` has them."""
    towns = snapshots["influence"].shape[2]
    stands = (snapshots["figures"][:, None, :] >> np.arange(towns, dtype=np.uint64)[None, :, None]) & np.uint64(1)
    empty = np.bitwise_count(SETTLEMENT_LAND[None, :towns] & snapshots["land_free"][:, None])
    weight = np.exp(np.array(inverse_temperature)[empty][:, :, None, None] * of_seats(snapshots))
    share = weight / weight.sum(3, keepdims=True) * stands[..., None]
    return snapshots["captured"] + share.sum(1).transpose(0, 2, 1), stands.sum((1, 2)).astype(np.float64)


def main():
    """Improve the policy, fit the value to it, write both."""
    args = parse_args(__doc__, minutes=10.0, samples=40_000)
    rng = np.random.default_rng(args.seed)
    weights = CLIMBER.climb(json.loads(POLICY.read_text(encoding="utf-8"))["weights"], args.minutes, rng)
    samples = [positions(n, np.array(weights), args.samples, args.seed + n) for n in (2, 3, 4)]
    inverse_temperature = fit_inverse_temperature([figure_rows(snapshots, takers) for snapshots, takers, _ in samples])
    majority_weight, figure_weight, lead_slope = fit_outcome_model(
        [(*expected_figures(snapshots, inverse_temperature), winners) for snapshots, _, winners in samples], rng
    )
    value = {
        "inverse_temperature": inverse_temperature,
        "majority_weight": majority_weight,
        "figure_weight": figure_weight,
        "lead_slope": lead_slope,
    }
    command = command_of("samurai_env.games.board.heuristics.fit", args)
    write_parameters(POLICY, "weights of the heuristic policy, found by self-play", command, {"weights": weights})
    write_parameters(VALUE, "parameters of the heuristic value, fitted to self-play", command, value)


if __name__ == "__main__":
    main()
