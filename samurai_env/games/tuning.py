"""Weights of a heuristic policy, tuned for each number of players: the program of the games' `tune` modules.

Evolution strategies (Salimans et al., 2017) with Adam (Kingma and Ba, 2015): pairs of opposite changes to all weights
play the same deals, one seat against copies of an opponent, and the weights move along the changes that won more. The
opponents take turns: the weights as they are, those of the heuristic policy, earlier ones. A run is repeatable: it has
a number of steps, whatever the time; stopped, it goes on from the last line of its log.
"""

import argparse
import json
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from samurai_env.core.game import Game
from samurai_env.core.payoffs import win_shares
from samurai_env.files.atomic_write import write_atomically

FILE = "tuned_policy.json"
PAIRS, DEALS = 24, 48  # of a step; deals of each change, played from every seat
STEP, LAST_STEP = 0.15, 0.05  # length of a step in units of a change; of the last one, as a part of the first
CHANGE, CHANGE_AT_ZERO = 0.15, 0.25  # a change of weight w has the standard deviation 0.15 * (|w| + 0.25)
MEMORY, SQUARES = 0.9, 0.99  # decay of the means of Adam
LOOK, TEST_DEALS = 20, 1000  # steps between two lines of the log and two earlier weights; deals of such a line


class Tuned(NamedTuple):
    """What is tuned.

    Attributes:
        game: the game.
        weights: float64 (parameters,), of the heuristic policy.
        prepare: compiled `prepare(weights)`: the parameters that `play` takes.
        play: compiled `play(state, challenger, champion, seeds, words, logits, payoff, rng)`, as `play_deals` of
            `games.hill_climbing`.
        data: the folder of the game's data files.
    """

    game: Game
    weights: np.ndarray
    prepare: Callable[[np.ndarray], Any]
    play: Callable[..., np.ndarray]
    data: Path


def read_tuned_weights(data: Path) -> np.ndarray:
    """Read a game's tuned weights, float64 (numbers of players, parameters), from its folder of data files."""
    weights = json.loads((data / FILE).read_text(encoding="utf-8"))["weights"]
    return np.array([weights[players] for players in sorted(weights)], np.float64)


class Tuner:
    """Tunes the weights for a number of players."""

    def __init__(self, tuned: Tuned, num_players: int, seed: int) -> None:
        self._tuned = tuned
        self._variant = tuned.game.variant(num_players)
        self._rng = np.random.default_rng(seed)
        self._scratch = threading.local()
        self._threads = ThreadPoolExecutor(os.cpu_count())

    def shares(self, challengers: list[np.ndarray], champion: np.ndarray, seeds: np.ndarray) -> list[np.ndarray]:
        """Each challenger's win share of each deal, float64 (deals,), one seat after another among champions."""
        key = self._rng.integers(2**62, size=1).astype(np.uint64)
        players, against = self._variant.num_players, self._tuned.prepare(champion)

        def share(challenger: np.ndarray) -> np.ndarray:
            if not hasattr(self._scratch, "arrays"):
                self._scratch.arrays = (
                    self._variant.new(1)[0],
                    np.zeros(self._variant.num_words, np.uint64),
                    np.zeros(self._variant.num_actions),
                    np.zeros(players),
                )
            state, words, logits, payoff = self._scratch.arrays
            own = self._tuned.prepare(challenger)
            payoffs = self._tuned.play(state, own, against, seeds, words, logits, payoff, key.copy())
            return win_shares(payoffs, players)

        return list(self._threads.map(share, challengers))

    def seeds(self, deals: int) -> np.ndarray:
        """Draw the seeds of some deals."""
        return self._rng.integers(2**62, size=deals).astype(np.uint64)

    def run(self, steps: int, progress: Path) -> np.ndarray:
        """Tune; the weights found, float64 (parameters,), rounded to four digits. Prints how it goes.

        Args:
            steps: of the whole run.
            progress: file that a run which was stopped goes on from; removed at the end.

        Raises:
            ValueError: the file is damaged.
        """
        start = self._tuned.weights
        unit = CHANGE * (np.abs(start) + CHANGE_AT_ZERO)
        weights, earlier, test = start.copy(), [start], self.seeds(TEST_DEALS)
        slope, squares, done = np.zeros(len(start)), np.zeros(len(start)), 0
        if progress.exists():
            done, weights, slope, squares, *earlier = self._restore(progress)
            print(f"goes on from {progress}, after step {done}", flush=True)
        for step in range(done + 1, steps + 1):
            opponent = (weights, start, earlier[self._rng.integers(len(earlier))], weights)[step % 4]
            changes, seeds = self._rng.normal(size=(PAIRS, len(start))), self.seeds(DEALS)
            tried = [weights + sign * unit * change for change in changes for sign in (1, -1)]
            won = np.array([share.mean() for share in self.shares(tried, opponent, seeds)]).reshape(PAIRS, 2)
            gain = won[:, 0] - won[:, 1]
            found = (gain[:, None] * changes).mean(0) / max(gain.std(), 1e-9)
            slope = MEMORY * slope + (1 - MEMORY) * found
            squares = SQUARES * squares + (1 - SQUARES) * found**2
            pace = np.sqrt(squares / (1 - SQUARES**step)) + 1e-3
            length = STEP * max(LAST_STEP, 1 - step / steps)
            weights = weights + length * unit * slope / (1 - MEMORY**step) / pace
            if step % LOOK == 0 or step == steps:
                earlier.append(weights.copy())
                (share,) = self.shares([weights], start, test)
                error = 1.96 * share.std() / np.sqrt(len(share))
                print(f"step {step}: {share.mean():.1%} +- {error:.1%} against the heuristic policy", flush=True)
                self._save(progress, step, weights, slope, squares, *earlier)
        progress.unlink(missing_ok=True)
        return np.round(weights, 4)

    def _save(self, path: Path, step: int, *arrays: np.ndarray) -> None:
        found = {"step": step, "arrays": [array.tolist() for array in arrays], "rng": self._rng.bit_generator.state}
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, json.dumps(found) + "\n")

    def _restore(self, path: Path) -> tuple[Any, ...]:
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            arrays = np.array(found["arrays"], np.float64)
            if arrays.ndim != 2 or len(arrays) < 4 or arrays.shape[1] != len(self._tuned.weights):
                raise ValueError(f"its arrays are {arrays.shape}")
            self._rng.bit_generator.state = found["rng"]
            return int(found["step"]), *arrays
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{path} is no progress of such a run ({error}): remove it to begin again") from None


def main(tuned: Tuned, module: str, about: str | None) -> None:
    """Tune for the numbers of players of the command line, and write what was found beside what there is for others."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--players", type=int, nargs="+", default=list(tuned.game.players), choices=tuned.game.players,
        help="numbers of players (default: all)",
    )  # fmt: skip
    parser.add_argument("--steps", type=int, default=400, help="steps for each number of players (default 400)")
    parser.add_argument("--seed", type=int, default=0, help="seed of everything random (default 0)")
    parser.add_argument(
        "--run", type=Path, default=Path("runs/tune"),
        help="folder that the same command goes on from if it was stopped (default runs/tune)",
    )  # fmt: skip
    args = parser.parse_args()
    if args.steps < 1:
        parser.error(f"--steps is at least 1, not {args.steps}")
    path = tuned.data / FILE
    for players in args.players:
        print(f"{players} players", flush=True)
        name = f"{tuned.game.name}-{players}-steps-{args.steps}-seed-{args.seed}.json"
        try:
            weights = Tuner(tuned, players, args.seed).run(args.steps, args.run / name)
        except KeyboardInterrupt:
            parser.exit(130, "stopped: the same command goes on from the last line\n")
        except ValueError as error:
            parser.error(str(error))
        kept = json.loads(path.read_text(encoding="utf-8"))
        kept["weights"][str(players)] = weights.tolist()
        kept["origin"][str(players)] = f"python -m {module} --players {players} --steps {args.steps} --seed {args.seed}"
        write_atomically(path, json.dumps(kept, indent=1) + "\n")
