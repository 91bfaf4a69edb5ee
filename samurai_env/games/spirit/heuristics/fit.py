"""Fit the parameters of the heuristic policy and value by self-play.

    python -m samurai_env.games.spirit.heuristics.fit --minutes 30

First evolution strategies (Salimans et al., 2017) improve the policy's weights: pairs of opposite changes to all
weights play the same deals at all levels, and the weights move along the changes that won more. Then a logistic
regression fits the heuristic value to games of that policy. Writes `data/heuristic_policy.json` and
`data/heuristic_value.json`.
"""

import json
import time

import numpy as np

from samurai_env.core.bits import pick
from samurai_env.core.jit import jit
from samurai_env.core.rng import below, draw
from samurai_env.files.atomic_write import write_atomically
from samurai_env.games.hill_climbing import HillClimber, parse_args
from samurai_env.games.spirit.game import GAME
from samurai_env.games.spirit.heuristics.features import NAMES, WEIGHTS
from samurai_env.games.spirit.heuristics.policy import weighted_policy
from samurai_env.games.spirit.heuristics.value import best_value
from samurai_env.games.spirit.rules.cards import DATA, LEVELS, MOST, ROUNDS
from samurai_env.games.spirit.state import WON

reset, legal, step = GAME.kernels.reset, GAME.kernels.legal, GAME.kernels.step
best_action = HillClimber(GAME, weighted_policy).best_action
POLICY, VALUE = DATA / "heuristic_policy.json", DATA / "heuristic_value.json"
SETTINGS = [(level, n) for level in range(len(LEVELS)) for n in range(1, MOST + 1)]
MOST_SAMURAI = (7, 6, 4, 2)  # by level: the climb plays up to so many, as more win next to nothing
PAIRS, DEALS = 24, 6  # of one step of the climb; deals of each setting
RATE, SHARED = 0.12, 0.5  # length of a step; part of a change that all rounds have in common


@jit
def wins(state, weights, seeds, words, logits, rng):
    """Number of these deals that the policy with these weights wins."""
    won = 0
    for i in range(seeds.shape[0]):
        reset(state, seeds[i])
        while not state.over:
            step(state, best_action(state, words, logits, weights, rng))
        won += state.result == WON
    return won


@jit
def sample(state, weights, values, round_, won, words, logits, rng):
    """Play games with some random decisions; note the value of some positions and how the games end.

    `values` (float64), `round_` (int8) and `won` (bool) are filled, one entry a position.
    """
    row = 0
    while row < values.shape[0]:
        reset(state, draw(rng))
        first = row
        while not state.over:
            if row < values.shape[0] and below(rng, 15) == 0:
                values[row] = best_value(state, weights)
                round_[row] = state.round
                row += 1
            if below(rng, 40) == 0:
                legal(state, words)
                step(state, pick(words, rng))
            else:
                step(state, best_action(state, words, logits, weights, rng))
        won[first:row] = state.result == WON


def scratch(level, n):
    """Return a blank state of a setting, and arrays for legal actions and logits."""
    variant = GAME.variant(n, difficulty=LEVELS[level])
    return variant.new(1)[0], np.zeros(variant.num_words, np.uint64), np.zeros(variant.num_actions)


def climb(weights, minutes, rng):
    """Improve the weights (ROUNDS, FEATURES) by evolution strategies for some minutes.

    The rarer victory is in a setting, the more it counts: the hard settings matter, too.
    """
    places = {(level, n): scratch(level, n) for level, n in SETTINGS if n <= MOST_SAMURAI[level]}
    share = dict.fromkeys(places, 0.2)
    unit = 0.25 * np.abs(weights) + 0.03  # of a change
    drift, size, steps, until = np.zeros(weights.shape), np.zeros(weights.shape), 0, time.monotonic() + 60 * minutes
    while time.monotonic() < until:
        slope, won = np.zeros(weights.shape), dict.fromkeys(places, 0.0)
        for _ in range(PAIRS):
            change = np.sqrt(SHARED) * rng.normal(size=(1, weights.shape[1]))
            change = change + np.sqrt(1 - SHARED) * rng.normal(size=weights.shape)
            seeds, key = rng.integers(2**62, size=DEALS).astype(np.uint64), rng.integers(2**62, size=1)
            for sign in (1, -1):
                trial = weights + sign * change * unit
                for setting, (state, words, logits) in places.items():
                    rate = wins(state, trial, seeds, words, logits, key.astype(np.uint64)) / DEALS
                    slope += sign * change * rate / (share[setting] + 0.1)
                    won[setting] += rate / (2 * PAIRS)
        share = {setting: 0.9 * share[setting] + 0.1 * won[setting] for setting in places}
        steps += 1
        drift, size = 0.9 * drift + 0.1 * slope, 0.98 * size + 0.02 * slope**2
        pace = np.sqrt(size / (1 - 0.98**steps)).mean() * (1 - 0.9**steps)
        weights = weights + RATE * unit * drift / pace
        if steps % 10 == 0:
            shown = (f"{LEVELS[level]} {n}: {rate:.0%}" for (level, n), rate in share.items())
            print(f"step {steps}:", ", ".join(shown), flush=True)
    return weights


def regress(inputs, targets, ridge=1.0, steps=12):
    """Weights of a logistic regression, by Newton's method."""
    found = np.zeros(inputs.shape[1])
    for _ in range(steps):
        chance = 1.0 / (1.0 + np.exp(-inputs @ found))
        slope = inputs.T @ (targets - chance) - ridge * found
        curvature = (inputs * (chance * (1 - chance))[:, None]).T @ inputs + ridge * np.eye(len(found))
        change = np.linalg.solve(curvature, slope)
        found += change * min(1.0, 5.0 / np.abs(change).max())
    return found


def fit(weights, count, seed):
    """Fit, by round, the scale of the value as log odds and a bias for each setting, from `count` positions each."""
    scale, bias = np.zeros(ROUNDS), np.zeros((len(LEVELS), MOST, ROUNDS))
    values, rounds, won = np.zeros(len(SETTINGS) * count), np.zeros(len(SETTINGS) * count, np.int8), []
    for number, (level, n) in enumerate(SETTINGS):
        here, ended = slice(number * count, (number + 1) * count), np.zeros(count, np.bool_)
        state, words, logits = scratch(level, n)
        stream = np.array([seed + number], np.uint64)
        sample(state, weights, values[here], rounds[here], ended, words, logits, stream)
        won.append(ended)
    targets = np.concatenate(won).astype(np.float64)
    setting = np.repeat(np.eye(len(SETTINGS)), count, axis=0)
    for round_ in range(1, ROUNDS + 1):
        here = rounds == round_
        found = regress(np.column_stack([values, setting])[here], targets[here])
        scale[round_ - 1] = found[0]
        for number, (level, n) in enumerate(SETTINGS):
            bias[level, n - 1, round_ - 1] = found[1 + number]
    return scale, bias


def main():
    """Improve the policy, fit the value to it, write both."""
    args = parse_args(__doc__, minutes=30.0, samples=10_000)
    weights = climb(WEIGHTS, args.minutes, np.random.default_rng(args.seed))
    write(weights, *fit(weights, args.samples, args.seed))


def write(weights, scale, bias):
    """Write the data files; the values of open tokens stay as they are."""
    policy = json.loads(POLICY.read_text(encoding="utf-8"))
    policy["weights"] = dict(zip(NAMES, np.round(weights.T, 3).tolist(), strict=True))
    value = {
        "meaning": "log odds of victory = scale[round] * value of the position + bias[difficulty, samurai, round]",
        "scale": np.round(scale, 3).tolist(),
        "bias": np.round(bias, 2).tolist(),
    }
    origin = {"origin": "self-play, python -m samurai_env.games.spirit.heuristics.fit"}
    for path, found in ((POLICY, policy), (VALUE, value)):
        text = json.dumps({**found, **origin})
        text = text.replace("]], ", "]],\n  ").replace("], ", "],\n  ") + "\n"
        write_atomically(path, text)


if __name__ == "__main__":
    main()
