"""Kernels that repeat single operations of the core, to measure their speed."""

from typing import Any

from samurai_env.core.game import Game
from samurai_env.core.jit import bind

determinize: Any = None  # bound to each game's kernel


def copy_many(states, copies, amount):
    """Copy states `amount` times, game after game."""
    for i in range(amount):
        copies[i % states.shape[0]] = states[i % states.shape[0]]


def determinize_many(states, seat, rng, amount):
    """Call `determinize` `amount` times, game after game."""
    for i in range(amount):
        determinize(states[i % states.shape[0]], seat, rng)


def bound_loops(game: Game) -> tuple[Any, Any]:
    """`copy_many` and `determinize_many` of a game."""
    return bind(copy_many, game.name, {}), bind(determinize_many, game.name, {"determinize": game.kernels.determinize})
