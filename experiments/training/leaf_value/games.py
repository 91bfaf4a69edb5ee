"""Positions of games, by workers: of games of agents, and of games that the value itself plays."""

from pathlib import Path

import numpy as np

from agents.arena import play_to_end
from agents.leaf_values import describe_positions
from agents.networks.leaf_value_files import load_leaf_value
from agents.registry import make_agent
from experiments.training.leaf_value import lookahead
from experiments.training.leaf_value.net import shares
from experiments.training.supervised import Recorder
from samurai_env import parse_variant
from samurai_env.core.game import Variant
from samurai_env.game_batch import GameBatch

DEALS = 512  # played by a worker at a time
Task = tuple[str, tuple[str, ...], float, float, int, int]  # spec, agents, share, random, part, seed
OwnTask = tuple[str, str, lookahead.Settings, int, int, int]  # spec, file, settings, generation, part, seed


def play(task: Task) -> dict[str, np.ndarray]:
    """Worker: positions of some deals.

    Returns:
        features: float16 (positions, rows, columns), of `kernels.value_features`.
        won: float32 (positions, players), the share of each seat in the win; in a cooperative game (positions, 2).
        guessed: float32, as `won`, what the heuristic value makes of it.
    """
    spec, names, share, random, part, seed = task
    variant, rng, kept = parse_variant(spec), np.random.default_rng((seed, part)), list[np.ndarray]()
    uniform = make_agent("random", variant)
    agents = [Recorder(make_agent(name, variant), share, rng, kept, uniform, random) for name in names]
    seating = rng.integers(len(agents), size=(DEALS, variant.num_players))
    ended = play_to_end(variant, agents, seating, rng.integers(2**62, size=DEALS))
    ended.sort(order="seed")
    states = np.concatenate(kept)
    found = GameBatch(variant).returns(ended)[np.searchsorted(ended["seed"], states["seed"])]
    return described(variant, states, found)


def play_own(task: OwnTask) -> dict[str, np.ndarray]:
    """Worker: positions of some deals that a leaf value and the heuristic policy have played.

    Returns:
        As `play`, `won` being the share that is expected; and the mean returns of the games, float64 (players,).
    """
    spec, path, settings, generation, part, seed = task
    variant = parse_variant(spec)
    rng = np.random.default_rng((seed, part, 1 + generation))  # (seed, part, 0) is the stream of (seed, part)
    seeds, key = rng.integers(2**62, size=DEALS).astype(np.uint64), int(rng.integers(2**62))
    states, targets, ends = lookahead.play(variant, load_leaf_value(Path(path), variant), seeds, settings, key)
    return described(variant, states, targets) | {"returns": ends.mean(0)}


def described(variant: Variant, states: np.ndarray, returns: np.ndarray) -> dict[str, np.ndarray]:
    """What a value learns from positions and what each seat got or can expect there (float64 (positions, players))."""
    features, guesses = describe_positions(variant, states)
    return {
        "features": features.astype(np.float16),
        "won": shares(returns, variant.game.cooperative).astype(np.float32),
        "guessed": shares(guesses, variant.game.cooperative).astype(np.float32),
    }
