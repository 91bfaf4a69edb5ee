"""Improving the weights of a game's heuristic policy by self-play; the games' `fit` modules use it.

`choose_best` and `duel` are templates, as in `kernels`: `Climber` puts in a game's functions.
"""

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from samurai_env.core.bits import lowest
from samurai_env.core.game import Game
from samurai_env.core.jit import bind
from samurai_env.core.rng import uniform
from samurai_env.files.atomic_write import write_atomically

# Stand-ins, so that editors and linters know the names that `bind` replaces.
reset: Any = None
legal: Any = None
step: Any = None
returns: Any = None
weighted_policy: Any = None
best_action: Any = None

ROUNDS, GAMES = 4, 450  # a trial plays up to so many rounds of so many games


def choose_best(state, words, scores, weights, rng):
    """The action that the advice with these weights scores highest; ties at random."""
    legal(state, words)
    weighted_policy(state, scores, weights)
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


def duel(state, challenger, champion, seeds, words, scores, payoff, rng):
    """What the challenger's one seat among champions brings, each deal from every seat (float64 (deals,)).

    `words`, `scores` and `payoff` (float64 (players,)) are scratch.
    """
    n, mean = payoff.shape[0], np.zeros(seeds.shape[0])
    for deal in range(seeds.shape[0]):
        for place in range(n):
            reset(state, seeds[deal])
            while not state.over:
                weights = challenger if state.seat == place else champion
                step(state, best_action(state, words, scores, weights, rng))
            returns(state, payoff)
            mean[deal] += payoff[place] / n
    return mean


class Climber:
    """Self-play of one game's built-in player with different weights.

    Args:
        game: the game.
        weighted_policy: compiled `weighted_policy(state, scores, weights)`.

    Attributes:
        best_action: compiled `choose_best` of the game.
    """

    def __init__(self, game: Game, weighted_policy: Any) -> None:
        c = game.kernels
        functions = {
            "reset": c.reset,
            "legal": c.legal,
            "step": c.step,
            "returns": c.returns,
            "weighted_policy": weighted_policy,
        }
        self.game = game
        self.best_action = bind(choose_best, game.name, functions)
        self._duel = bind(duel, game.name, {**functions, "best_action": self.best_action})

    def climb(self, weights: list[float], minutes: float, rng: np.random.Generator) -> list[float]:
        """Improve weights for some minutes: a changed set replaces the best when it clearly wins more than its share.

        Returns:
            The best set found, rounded to three digits.
        """
        variants = {n: self.game.variant(n) for n in self.game.players}
        scratch = {
            n: (v.new(1), np.zeros(v.num_words, np.uint64), np.zeros(v.num_actions), np.zeros(n))
            for n, v in variants.items()
        }
        best, until, tried, taken = np.array(weights), time.monotonic() + 60 * minutes, 0, 0
        while time.monotonic() < until:
            chosen = rng.random(len(best)) < 0.3
            width = rng.choice([0.3, 1.0, 2.0])
            trial = best + chosen * rng.normal(size=len(best)) * width * (0.1 + 0.2 * np.abs(best))
            gain, error = 0.0, 0.0
            for round_ in range(ROUNDS):  # soon given up if it does badly
                parts = []
                for n, (state, words, scores, payoff) in scratch.items():
                    seeds = rng.integers(2**62, size=GAMES // len(scratch) // n).astype(np.uint64)
                    stream = rng.integers(2**62, size=1).astype(np.uint64)
                    parts.append(self._duel(state[0], trial, best, seeds, words, scores, payoff, stream))
                means = np.concatenate(parts)
                gain += means.sum()
                error += len(means) * means.var()
                if gain < 0.5 * np.sqrt(error) * (round_ > 0):
                    break
            tried += 1
            if gain > 2.0 * np.sqrt(error):
                best, taken = trial, taken + 1
                print(f"{tried} tried, {taken} taken, gain {gain:.1f} +- {np.sqrt(error):.1f}", flush=True)
        return [round(float(w), 3) for w in best]


def read_command_line(about: str | None, minutes: float, samples: int) -> argparse.Namespace:
    """What a `fit` module was asked for: `minutes` (float), `samples` and `seed` (int); the arguments are defaults."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=minutes, help="time for the climb (default %(default)g)")
    parser.add_argument(
        "--samples", type=int, default=samples, help="positions of each setting for the fit (default %(default)d)"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of everything random (default 0)")
    return parser.parse_args()


def write_found(path: Path, script: str, asked: argparse.Namespace, weights: list[float], evaluation: Any) -> None:
    """Write the weights of the built-in player and the parameters of the evaluation, and what they come from."""
    origin = f"python -m {script} --minutes {asked.minutes:g} --samples {asked.samples} --seed {asked.seed}"
    status = "parameters of the built-in player and the evaluation, found by self-play"
    found = {"status": status, "origin": origin, "weights": weights, "evaluation": evaluation}
    write_atomically(path, json.dumps(found, indent=1) + "\n")


def search_nearby(loss: Callable[[np.ndarray], float], start: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Positive parameters with a small `loss`, found by random steps from `start` that get shorter as they fail."""
    best, lowest_loss, width = start, loss(start), 0.3
    for _ in range(400):
        trial = best * np.exp(width * rng.normal(size=len(best)))
        if (value := loss(trial)) < lowest_loss:
            best, lowest_loss = trial, value
        else:
            width = max(0.02, width * 0.99)
    return best


def outcome_loss(data: list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]], parameters: np.ndarray) -> float:
    """Mean log loss of naming the winners from expected pieces; the mean over the numbers of players.

    A seat's score is `majority` times the chance to lead in each kind plus `figures` for each piece; a softmax of
    the scores is the chance to win.

    Args:
        data: for each number of players: pieces expected (rows, n, kinds), pieces still open (rows,), share of the
            win (rows, n), and the most that any other seat expects (rows, n, kinds).
        parameters: `majority`, `figures`, `spread` (float64 (3,)).
    """
    majority, figures, spread = parameters
    total = 0.0
    for expected, still_open, won, best in data:
        sharp = (spread / np.sqrt(1.0 + still_open))[:, None, None]
        score = (majority / (1.0 + np.exp(-sharp * (expected - best))) + figures * expected).sum(2)
        total -= (won * (score - np.log(np.exp(score).sum(1, keepdims=True)))).sum(1).mean()
    return total / len(data)


def fit_outcome(samples: list[tuple[np.ndarray, np.ndarray, np.ndarray]], rng: np.random.Generator) -> list[float]:
    """The three parameters of `outcome_loss` that make the winners most likely.

    Args:
        samples: for each number of players: pieces expected (rows, n, kinds), pieces still open (rows,), winners as
            bit sets (rows,).
        rng: source of the random steps.
    """
    data = []
    for expected, still_open, winners in samples:
        n = expected.shape[1]
        best = np.stack([np.delete(expected, seat, axis=1).max(1) for seat in range(n)], axis=1)
        won = (winners[:, None] >> np.arange(n) & 1).astype(np.float64)
        data.append((expected, still_open, won / won.sum(1, keepdims=True), best))
    found = search_nearby(lambda parameters: outcome_loss(data, parameters), np.array([3.0, 0.2, 2.5]), rng)
    guess = np.mean([np.log(expected.shape[1]) for expected, *_ in samples])
    print(f"evaluation: log loss {outcome_loss(data, found):.4f} (a guess among all seats has {guess:.4f})")
    return [round(float(p), 3) for p in found]
