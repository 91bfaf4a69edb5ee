"""Finding the parameters of the built-in player and the evaluation: `python -m samurai_env.board.tune --minutes 10`.

First the evaluation is fitted to games of the built-in player (who took each figure, who won), then the
player's weights climb by self-play: a changed set replaces the best one when it wins clearly more than
half of the same deals played from every seat. The result is written to `data/advice.json`.
"""

import argparse
import json
import time

import numpy as np

from samurai_env.board import advice
from samurai_env.board.game import GAME
from samurai_env.board.topology import DATA, SETTLEMENT_LAND
from samurai_env.core.bits import has, lowest, pick
from samurai_env.core.compile import jit
from samurai_env.core.random import below, draw, uniform

reset, legal, step = GAME.compiled.reset, GAME.compiled.legal, GAME.compiled.step
FILE = DATA / "advice.json"


@jit
def best_action(state, words, scores, weights, rng):
    """The action that the advice with these weights scores highest; ties at random."""
    legal(state, words)
    advice.advise_with(state, scores, weights)
    best, action = -np.inf, -1
    for i in range(words.shape[0]):
        word = words[i]
        while word != np.uint64(0):
            candidate = 64 * i + np.int64(lowest(word))
            word &= word - np.uint64(1)
            score = scores[candidate] + 1e-7 * uniform(rng)
            if score > best:
                best, action = score, candidate
    return action


@jit
def duel(state, challenger, champion, seeds, words, scores, rng):
    """Win share of the challenger's one seat among champions, each deal from every seat (float64 (deals,))."""
    n = state.hand.shape[0]
    shares = np.zeros(seeds.shape[0])
    for deal in range(seeds.shape[0]):
        for place in range(n):
            reset(state, seeds[deal])
            while not state.over:
                weights = challenger if state.seat == place else champion
                step(state, best_action(state, words, scores, weights, rng))
            if has(np.uint64(state.winners), place):
                winners = 0
                for seat in range(n):
                    winners += has(np.uint64(state.winners), seat)
                shares[deal] += 1.0 / winners / n
    return shares


@jit
def sample(state, weights, snapshots, takers, winners, words, scores, rng):
    """Fill `snapshots` with positions of games with some random decisions, and what became of their figures.

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
                step(state, best_action(state, words, scores, weights, rng))
            for settlement in range(state.influence.shape[0]):
                gone = SETTLEMENT_LAND[settlement] & state.land_free == np.uint64(0)
                for figure in range(3):
                    if gone and has(figures[figure], settlement) and not has(state.figures[figure], settlement):
                        best = -1
                        for seat in range(n):
                            if best < 0 or (
                                state.influence[settlement, figure, seat] > state.influence[settlement, figure, best]
                            ):
                                best = seat
                        for seat in range(n):
                            same = (
                                state.influence[settlement, figure, seat] == state.influence[settlement, figure, best]
                            )
                            if seat != best and same:
                                best = -2
                                break
                        takers[first:row, settlement, figure] = max(best, -1)
        winners[first:row] = state.winners


def positions(num_players, weights, count, seed):
    """Samples for the fit: empties, influences and takers of figures; snapshots and winners."""
    variant = GAME.variant(num_players)
    state, snapshots = variant.new(1), variant.new(count)
    towns = state["influence"].shape[1]
    takers, winners = np.zeros((count, towns, 3), np.int8), np.zeros(count, np.int64)
    words, scores = np.zeros(variant.num_words, np.uint64), np.zeros(variant.num_actions)
    sample(state[0], weights, snapshots, takers, winners, words, scores, np.array([seed], np.uint64))
    return snapshots, takers, winners


def figure_rows(snapshots, takers):
    """Every figure on the board that somebody later took: empty hexes (rows,), influences (rows, n), taker (rows,)."""
    towns = snapshots["influence"].shape[1]
    stands = (snapshots["figures"][:, None, :] >> np.arange(towns, dtype=np.uint64)[None, :, None]) & np.uint64(1)
    free = SETTLEMENT_LAND[None, :towns] & snapshots["land_free"][:, None]
    empty = np.repeat(np.bitwise_count(free)[:, :, None], 3, axis=2)
    chosen = (stands == 1) & (takers >= 0)
    return empty[chosen], snapshots["influence"][chosen].astype(np.float64), takers[chosen]


def fit_sharpness(rows):
    """By number of empty hexes, the factor that makes softmax(factor * influence) most likely to name the taker."""
    sharpness = np.full(7, 5.0)
    grid = np.linspace(0.05, 3.0, 119)
    for empty in range(1, 7):
        likelihood = np.zeros(len(grid))
        for empties, influence, taker in rows:
            here = empties == empty
            logits = grid[:, None, None] * influence[here][None]
            logits -= np.log(np.exp(logits).sum(2, keepdims=True))
            likelihood += logits[:, np.arange(here.sum()), taker[here]].sum(1)
        sharpness[empty] = grid[likelihood.argmax()]
    return [round(float(s), 3) for s in sharpness]


def expected_figures(snapshots, sharpness):
    """Expected final figures (rows, n, 3) and figures still open (rows,), as `evaluation.expect_figures` has them."""
    towns = snapshots["influence"].shape[1]
    stands = (snapshots["figures"][:, None, :] >> np.arange(towns, dtype=np.uint64)[None, :, None]) & np.uint64(1)
    empty = np.bitwise_count(SETTLEMENT_LAND[None, :towns] & snapshots["land_free"][:, None])
    weight = np.exp(np.array(sharpness)[empty][:, :, None, None] * snapshots["influence"])
    share = weight / weight.sum(3, keepdims=True) * stands[..., None]
    return snapshots["captured"] + share.sum(1).transpose(0, 2, 1), stands.sum((1, 2)).astype(np.float64)


def fit_outcome(samples, sharpness, rng):
    """The three parameters of the evaluation that make the winners most likely, by random local search."""
    data = []
    for snapshots, _, winners in samples:
        expected, still_open = expected_figures(snapshots, sharpness)
        n = expected.shape[1]
        best = np.stack([np.delete(expected, seat, axis=1).max(1) for seat in range(n)], axis=1)
        won = (winners[:, None] >> np.arange(n) & 1).astype(np.float64)
        data.append((expected, best, still_open, won / won.sum(1, keepdims=True)))

    def loss(parameters):
        majority, figures, spread = parameters
        total = 0.0
        for expected, best, still_open, won in data:
            sharp = (spread / np.sqrt(1.0 + still_open))[:, None, None]
            score = (majority / (1.0 + np.exp(-sharp * (expected - best))) + figures * expected).sum(2)
            total -= (won * (score - np.log(np.exp(score).sum(1, keepdims=True)))).sum(1).mean()
        return total / len(data)

    best = np.array([3.0, 0.2, 2.5])
    lowest_loss, width = loss(best), 0.3
    for _ in range(400):
        trial = best * np.exp(width * rng.normal(size=3))
        if (value := loss(trial)) < lowest_loss:
            best, lowest_loss = trial, value
        else:
            width = max(0.02, width * 0.99)
    print(f"evaluation: log loss {lowest_loss:.4f} (a guess among all seats has {np.log([2, 3, 4]).mean():.4f})")
    return [round(float(p), 3) for p in best]


def climb(weights, minutes, rng):
    """Improve the player's weights by self-play for some minutes."""
    variants = {n: GAME.variant(n) for n in (2, 3, 4)}
    scratch = {n: (v.new(1), np.zeros(v.num_words, np.uint64), np.zeros(v.num_actions)) for n, v in variants.items()}
    best, until, tried, taken = np.array(weights), time.monotonic() + 60 * minutes, 0, 0
    while time.monotonic() < until:
        chosen = rng.random(len(best)) < 0.3
        trial = best + chosen * rng.normal(size=len(best)) * (0.1 + 0.2 * np.abs(best))
        margin, error = 0.0, 0.0
        for round_ in range(4):  # soon given up if it does badly
            scores = []
            for n in (2, 3, 4):
                seeds = rng.integers(2**62, size=150 // n).astype(np.uint64)
                state, words, values = scratch[n]
                stream = rng.integers(2**62, size=1).astype(np.uint64)
                scores.append(duel(state[0], trial, best, seeds, words, values, stream) * n / 2)
            part = np.concatenate(scores)
            margin += part.sum() - len(part) / 2
            error += len(part) * part.var()
            if margin < 0.5 * np.sqrt(error) * (round_ > 0):
                break
        tried += 1
        if margin > 2.0 * np.sqrt(error):
            best, taken = trial, taken + 1
            print(f"{tried} tried, {taken} taken, margin {margin:.1f} +- {np.sqrt(error):.1f}", flush=True)
    return [round(float(w), 3) for w in best]


def main():
    """Fit, climb, fit again to the stronger player, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10.0, help="self-play time for the player's weights")
    parser.add_argument("--samples", type=int, default=40_000, help="positions for the fit, for each number of players")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    rng = np.random.default_rng(arguments.seed)
    weights = climb(json.loads(FILE.read_text(encoding="utf-8"))["weights"], arguments.minutes, rng)
    samples = [positions(n, np.array(weights), arguments.samples, arguments.seed + n) for n in (2, 3, 4)]
    sharpness = fit_sharpness([figure_rows(snapshots, takers) for snapshots, takers, _ in samples])
    majority, figures, spread = fit_outcome(samples, sharpness, rng)
    FILE.write_text(
        json.dumps(
            {
                "status": "parameters of the built-in player and the evaluation, found by self-play",
                "origin": f"python -m samurai_env.board.tune --minutes {arguments.minutes:g} "
                f"--samples {arguments.samples} --seed {arguments.seed}",
                "weights": weights,
                "evaluation": {"sharpness": sharpness, "majority": majority, "figures": figures, "spread": spread},
            },
            indent=1,
        )
        + "\n",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
