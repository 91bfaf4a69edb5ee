"""Fit the parameters of the heuristic policy and value by self-play.

    python -m samurai_env.games.spirit.heuristics.fit --minutes 30

First the weights climb by evolution strategies (Salimans and others, 2017): pairs of opposite changes to all weights
play the same deals at all levels, and the weights move along the changes that won more. Then the evaluation is fitted
to games of the player found (logistic regression). The results are written to `data/outlook.json` and
`data/evaluation.json`.
"""

import json
import time

import numpy as np

from samurai_env.core.bits import pick
from samurai_env.core.jit import jit
from samurai_env.core.rng import below, draw
from samurai_env.files.atomic_write import write_atomically
from samurai_env.games.hill_climbing import Climber, read_command_line
from samurai_env.games.spirit.game import GAME
from samurai_env.games.spirit.heuristics.policy import weighted_policy
from samurai_env.games.spirit.heuristics.prospects import NAMES, WEIGHTS
from samurai_env.games.spirit.heuristics.value import best_prospect
from samurai_env.games.spirit.rules.cards import DATA, LEVELS, MOST, ROUNDS
from samurai_env.games.spirit.state import WON

reset, legal, step = GAME.kernels.reset, GAME.kernels.legal, GAME.kernels.step
best_action = Climber(GAME, weighted_policy).best_action
SETTINGS = [(level, n) for level in range(len(LEVELS)) for n in range(1, MOST + 1)]
MOST_SAMURAI = (7, 6, 4, 2)  # by level: the climb plays up to so many, as more win next to nothing
PAIRS, DEALS = 24, 6  # of one step of the climb; deals of each setting
RATE, SHARED = 0.12, 0.5  # length of a step; part of a change that all rounds have in common


@jit
def wins(state, weights, seeds, words, scores, rng):
    """How many of these deals the player with these weights wins."""
    won = 0
    for i in range(seeds.shape[0]):
        reset(state, seeds[i])
        while not state.over:
            step(state, best_action(state, words, scores, weights, rng))
        won += state.result == WON
    return won


@jit
def sample(state, weights, found, round_, won, words, scores, rng):
    """Play games with some random decisions, and note the prospect of some positions and how the games end.

    `found` (float64), `round_` (int8) and `won` (bool) have a place a position and are filled.
    """
    row = 0
    while row < found.shape[0]:
        reset(state, draw(rng))
        first = row
        while not state.over:
            if row < found.shape[0] and below(rng, 15) == 0:
                found[row] = best_prospect(state, weights)
                round_[row] = state.round
                row += 1
            if below(rng, 40) == 0:
                legal(state, words)
                step(state, pick(words, rng))
            else:
                step(state, best_action(state, words, scores, weights, rng))
        won[first:row] = state.result == WON


def scratch(level, n):
    """An empty record of a setting, and room for legal actions and for scores."""
    variant = GAME.variant(n, difficulty=LEVELS[level])
    return variant.new(1)[0], np.zeros(variant.num_words, np.uint64), np.zeros(variant.num_actions)


def climb(weights, minutes, rng):
    """Improve the weights (ROUNDS, FEATURES) by evolution strategies for some minutes.

    A victory counts the more, the rarer it is in its setting, so that the hard ones have a say.
    """
    places = {(level, n): scratch(level, n) for level, n in SETTINGS if n <= MOST_SAMURAI[level]}
    share = dict.fromkeys(places, 0.2)
    unit = 0.25 * np.abs(weights) + 0.03  # a change of one
    drift, size, steps, until = np.zeros(weights.shape), np.zeros(weights.shape), 0, time.monotonic() + 60 * minutes
    while time.monotonic() < until:
        slope, won = np.zeros(weights.shape), dict.fromkeys(places, 0.0)
        for _ in range(PAIRS):
            change = np.sqrt(SHARED) * rng.normal(size=(1, weights.shape[1]))
            change = change + np.sqrt(1 - SHARED) * rng.normal(size=weights.shape)
            seeds, key = rng.integers(2**62, size=DEALS).astype(np.uint64), rng.integers(2**62, size=1)
            for sign in (1, -1):
                trial = weights + sign * change * unit
                for setting, (state, words, scores) in places.items():
                    rate = wins(state, trial, seeds, words, scores, key.astype(np.uint64)) / DEALS
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
    """By round: the scale of the prospect as log odds, and a start for each setting, from `count` positions each."""
    scale, start = np.zeros(ROUNDS), np.zeros((len(LEVELS), MOST, ROUNDS))
    prospects, rounds, won = np.zeros(len(SETTINGS) * count), np.zeros(len(SETTINGS) * count, np.int8), []
    for number, (level, n) in enumerate(SETTINGS):
        here, ended = slice(number * count, (number + 1) * count), np.zeros(count, np.bool_)
        state, words, scores = scratch(level, n)
        stream = np.array([seed + number], np.uint64)
        sample(state, weights, prospects[here], rounds[here], ended, words, scores, stream)
        won.append(ended)
    targets = np.concatenate(won).astype(np.float64)
    setting = np.repeat(np.eye(len(SETTINGS)), count, axis=0)
    for round_ in range(1, ROUNDS + 1):
        here = rounds == round_
        found = regress(np.column_stack([prospects, setting])[here], targets[here])
        scale[round_ - 1] = found[0]
        for number, (level, n) in enumerate(SETTINGS):
            start[level, n - 1, round_ - 1] = found[1 + number]
    return scale, start


def main():
    """Climb, fit the evaluation to the stronger player, write."""
    asked = read_command_line(__doc__, minutes=30.0, samples=10_000)
    weights = climb(WEIGHTS, asked.minutes, np.random.default_rng(asked.seed))
    write(weights, *fit(weights, asked.samples, asked.seed))


def write(weights, scale, start):
    """Write the data files."""
    rows = dict(zip(NAMES, np.round(weights.T, 3).tolist(), strict=True))
    outlook = {"meaning": "weights of the features in outlook.py, in rounds 1, 2 and 3", "weights": rows}
    evaluation = {
        "meaning": "evaluation.py: log odds = scale [round] * prospect + start [difficulty, samurai, round]",
        "scale": np.round(scale, 3).tolist(),
        "start": np.round(start, 2).tolist(),
    }
    origin = "found by play, with python -m samurai_env.games.spirit.heuristics.fit"
    for name, found in (("outlook", outlook), ("evaluation", evaluation)):
        text = json.dumps({"origin": origin, **found})
        text = text.replace("]], ", "]],\n  ").replace("], ", "],\n  ") + "\n"
        write_atomically(DATA / f"{name}.json", text)


if __name__ == "__main__":
    main()
