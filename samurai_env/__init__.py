"""Samurai, Samurai: The Card Game and Samurai Spirit as reinforcement-learning environments.

Importing this package registers the Gymnasium ids `samurai_env/Samurai-v0`, ... for `gymnasium.make` and
`gymnasium.make_vec`, and the same ids for `pettingzoo.make` where PettingZoo has it.
"""

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


def make_variant(game: str = "samurai", num_players: int | None = None, **options: object) -> Variant:
    """A game with its number of players and options, for `Position`, `GameBatch` and agents.

    Raises:
        ValueError: unknown game, impossible number of players, unknown option or value.
    """
    return find_game(game).variant(num_players, **options)


register_ids()
