"""Hidden hands dealt by odds: their distribution, and what stays as it is."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from samurai_env import GameBatch, make_variant
from samurai_env.core.game import Variant
from samurai_env.games.hands import UNIFORM, shuffle_hand

TABLES = [("samurai", 2), ("samurai", 4), ("samurai_card", 2), ("samurai_card", 4)]
KINDS = np.array([0, 1, 2, 2, 3, 4], np.int8)


def probabilities(odds: np.ndarray, held: int) -> dict[tuple[int, ...], float]:
    """By hand: its probability, from all ways to choose it."""
    weights: Counter[tuple[int, ...]] = Counter()
    for chosen in combinations(KINDS.tolist(), held):
        weights[tuple(sorted(chosen))] += np.prod(odds[list(chosen)])
    return {hand: weight / sum(weights.values()) for hand, weight in weights.items()}


@pytest.mark.parametrize("odds", [[1.0, 5.0, 2.0, 0.1, 0.5], [1.0] * 5, []])
@pytest.mark.parametrize("held", [0, 1, 3, 6])
def test_hands_have_the_probability_of_their_odds(odds: list[float], held: int) -> None:
    rng, found, count = np.array([held], np.uint64), Counter[tuple[int, ...]](), 20_000
    for _ in range(count):
        row = KINDS.copy()
        shuffle_hand(row, held, np.array(odds), rng)
        assert sorted(row) == sorted(KINDS)
        found[tuple(sorted(row[:held].tolist()))] += 1
    wanted = probabilities(np.array(odds or [1.0] * 5), held)
    assert set(found) <= set(wanted)
    for hand, probability in wanted.items():
        error = np.sqrt(probability * (1 - probability) / count)
        assert abs(found[hand] / count - probability) <= 5 * error + 1e-9, hand


def test_the_supply_is_in_any_order() -> None:
    rng, first = np.array([1], np.uint64), Counter[int]()
    for _ in range(6000):
        row = np.arange(4, dtype=np.int8)
        shuffle_hand(row, 1, np.array([1e4, 1.0, 1.0, 1.0]), rng)
        first[int(row[1])] += 1
    assert min(first[kind] for kind in (1, 2, 3)) > 1800


def positions(variant: Variant, count: int) -> np.ndarray:
    batch = GameBatch(variant)
    states = batch.reset(np.arange(count))
    rng = np.array([7], np.uint64)
    for i in range(count):
        batch.play_random(states[i : i + 1], rng, 2 + 3 * i)
    return states[states["over"] == 0]


@pytest.mark.parametrize(("game", "players"), TABLES)
def test_without_odds_all_is_drawn_as_before(game: str, players: int) -> None:
    variant = make_variant(game, players)
    kernels = variant.game.kernels
    for state in positions(variant, 12):
        alike, by_odds = np.array([state]), np.array([state])
        one, other = np.array([5], np.uint64), np.array([5], np.uint64)
        kernels.determinize(alike[0], state["seat"], one)
        kernels.determinize_by_odds(by_odds[0], state["seat"], UNIFORM, other)
        assert alike.tobytes() == by_odds.tobytes()
        assert one == other


@pytest.mark.parametrize(("game", "players"), TABLES)
def test_odds_change_what_the_others_hold_and_nothing_else(game: str, players: int) -> None:
    variant = make_variant(game, players)
    hidden = {"hand", "kinds", "supply", "stack", "seed", "rng", "card", "village_stack"}
    rng, wanted, had = np.array([5], np.uint64), 0, 0
    odds = np.ones((players, variant.dtype["hand"].shape[1]))
    odds[:, ::2] = 1e3
    for state in positions(variant, 12):
        dealt, seat = np.array([state]), int(state["seat"])
        variant.game.kernels.determinize_by_odds(dealt[0], seat, odds, rng)
        assert (GameBatch(variant).observe(dealt) == GameBatch(variant).observe(np.array([state]))).all()
        for name in set(variant.dtype.names) - hidden:
            assert (dealt[name] == state[name]).all(), name
        assert (dealt["hand"][0, seat] == state["hand"][seat]).all()
        assert (dealt["hand"][0].sum(-1) == state["hand"].sum(-1)).all()
        assert (dealt["hand"][0] <= state["unseen"]).all()
        for other in set(range(players)) - {seat}:
            had += dealt["hand"][0, other, ::2].sum()
            wanted += min(state["unseen"][other, ::2].sum(), state["hand"][other].sum())
    assert had > 0.95 * wanted
