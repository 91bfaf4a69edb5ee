"""Hill climbing over the weights of a heuristic policy by self-play, for the games' `fit` modules.

`choose_best` and `play_deals` are templates (see `core.jit.bind`): `HillClimber` binds them to a game.
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

# Bound to each game's kernels.
reset: Any = None
legal: Any = None
step: Any = None
returns: Any = None
weighted_policy: Any = None
best_action: Any = None

ROUNDS, GAMES = 4, 450  # of a trial, at most; games of a round


def choose_best(state, words, logits, weights, rng):
    """Return the action of highest logit by the policy with these weights; ties at random."""
    legal(state, words)
    weighted_policy(state, logits, weights)
    best, action = -np.inf, -1
    for i in range(words.shape[0]):
        word = words[i]
        while word != np.uint64(0):
            candidate = 64 * i + np.int64(lowest(word))
            word &= word - np.uint64(1)
            score = logits[candidate] + 1e-7 * uniform(rng)
            if score > best:
                best, action = score, candidate
    return action


def play_deals(state, challenger, champion, seeds, words, logits, payoff, rng):
    """Play each deal with the challenger in every seat among champions; return its mean payoffs (float64 (deals,)).

    `words`, `logits` and `payoff` (float64 (players,)) are scratch.
    """
    n, mean = payoff.shape[0], np.zeros(seeds.shape[0])
    for deal in range(seeds.shape[0]):
        for place in range(n):
            reset(state, seeds[deal])
            while not state.over:
                weights = challenger if state.seat == place else champion
                step(state, best_action(state, words, logits, weights, rng))
            returns(state, payoff)
            mean[deal] += payoff[place] / n
    return mean


class HillClimber:
    """Self-play of a game's heuristic policy with different weights.

    Args:
        game: the game.
        weighted_policy: compiled `weighted_policy(state, logits, weights)`; the weights are handed on as they are.

    Attributes:
        best_action: compiled `choose_best` of the game.
        play_deals: compiled `play_deals` of the game.
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
        self.play_deals = bind(play_deals, game.name, {**functions, "best_action": self.best_action})

    def climb(self, weights: list[float], minutes: float, rng: np.random.Generator) -> list[float]:
        """Improve weights for some minutes: a changed set replaces the best when it wins clearly more than its share.

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
            for round_ in range(ROUNDS):  # bad sets are given up early
                parts = []
                for n, (state, words, logits, payoff) in scratch.items():
                    seeds = rng.integers(2**62, size=GAMES // len(scratch) // n).astype(np.uint64)
                    stream = rng.integers(2**62, size=1).astype(np.uint64)
                    parts.append(self.play_deals(state[0], trial, best, seeds, words, logits, payoff, stream))
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


def parse_args(about: str | None, minutes: float, samples: int) -> argparse.Namespace:
    """Parse `--minutes`, `--samples` and `--seed` of a `fit` module; the arguments are defaults."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=minutes, help="time for the climb (default %(default)g)")
    parser.add_argument(
        "--samples", type=int, default=samples, help="positions of each setting for the fit (default %(default)d)"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of everything random (default 0)")
    return parser.parse_args()


def command_of(module: str, args: argparse.Namespace) -> str:
    """Return the command that `args` were parsed from."""
    return f"python -m {module} --minutes {args.minutes:g} --samples {args.samples} --seed {args.seed}"


def write_parameters(path: Path, meaning: str, command: str, parameters: dict[str, Any]) -> None:
    """Write parameters to a data file, with what they mean and the command that found them."""
    write_atomically(path, json.dumps({"meaning": meaning, "origin": command, **parameters}, indent=1) + "\n")


def random_search(loss: Callable[[np.ndarray], float], start: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Minimise `loss` over positive parameters by random steps from `start` that get shorter as they fail."""
    best, lowest_loss, width = start, loss(start), 0.3
    for _ in range(400):
        trial = best * np.exp(width * rng.normal(size=len(best)))
        if (value := loss(trial)) < lowest_loss:
            best, lowest_loss = trial, value
        else:
            width = max(0.02, width * 0.99)
    return best


def outcome_loss(data: list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]], parameters: np.ndarray) -> float:
    """Mean log loss of predicting the winners from expected pieces, averaged over the numbers of players.

    A seat's score is `majority_weight` times its chance to lead in each kind plus `piece_weight` for each piece; a
    softmax of the scores is the chance to win.

    Args:
        data: for each number of players: pieces expected (rows, n, kinds), pieces still open (rows,), share of the
            win (rows, n), and the most that any other seat expects (rows, n, kinds).
        parameters: `majority_weight`, `piece_weight`, `lead_slope` (float64 (3,)).
    """
    majority_weight, piece_weight, lead_slope = parameters
    total = 0.0
    for expected, still_open, won, best in data:
        slope = (lead_slope / np.sqrt(1.0 + still_open))[:, None, None]
        score = (majority_weight / (1.0 + np.exp(-slope * (expected - best))) + piece_weight * expected).sum(2)
        total -= (won * (score - np.log(np.exp(score).sum(1, keepdims=True)))).sum(1).mean()
    return total / len(data)


def fit_outcome_model(
    samples: list[tuple[np.ndarray, np.ndarray, np.ndarray]], rng: np.random.Generator
) -> list[float]:
    """Fit the three parameters of `outcome_loss`.

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
    found = random_search(lambda parameters: outcome_loss(data, parameters), np.array([3.0, 0.2, 2.5]), rng)
    guess = np.mean([np.log(expected.shape[1]) for expected, *_ in samples])
    print(f"heuristic value: log loss {outcome_loss(data, found):.4f} ({guess:.4f} for a guess among all seats)")
    return [round(float(p), 3) for p in found]
