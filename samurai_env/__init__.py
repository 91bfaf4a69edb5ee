"""Samurai, Samurai: The Card Game and Samurai Spirit as reinforcement-learning environments.

Importing this package registers the Gymnasium ids `samurai_env/Samurai-v0`, ... for `gymnasium.make` and
`gymnasium.make_vec`, and the same ids for `pettingzoo.make` where PettingZoo has it.
"""

from typing import Any

from samurai_env.core.game import Variant, find_game, game_names
from samurai_env.core.variant_spec import parse_variant
from samurai_env.game_batch import GameBatch
from samurai_env.games import register_ids
from samurai_env.position import IllegalActionError, Position

__version__ = "0.1.0"
__all__ = [
    "GameBatch",
    "IllegalActionError",
    "Position",
    "Variant",
    "find_game",
    "game_names",
    "make_variant",
    "parse_variant",
]


def make_variant(game: str = "samurai", num_players: int | None = None, **options: Any) -> Variant:
    """A game with its number of players and options, for `Position`, `GameBatch` and agents.

    Args:
        game: name of the game, one of `game_names()`.
        num_players: how many play; None for the game's smallest number.
        **options: the game's options by name, and `preset`, such as `preset="beginner"`.

    Raises:
        ValueError: unknown game, impossible number of players, unknown option, value or preset.
    """
    return find_game(game).variant(num_players, **options)


register_ids()
