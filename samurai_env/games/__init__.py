"""The games of the family and their ids. A game's package is imported when the game is first asked for."""

from functools import partial
from importlib import import_module

from samurai_env.core.game import Game, register_game

# name of the game: package, Gymnasium id
GAMES = {
    "samurai": ("samurai_env.games.board.game", "samurai_env/Samurai-v0"),
    "samurai_card": ("samurai_env.games.card.game", "samurai_env/SamuraiCard-v0"),
    "samurai_spirit": ("samurai_env.games.spirit.game", "samurai_env/SamuraiSpirit-v0"),
}


def _load(module: str) -> Game:
    return import_module(module).GAME


for _name, (_module, _) in GAMES.items():
    register_game(_name, partial(_load, _module))


def register_ids() -> None:
    """Make the ids known to Gymnasium, and to PettingZoo from 1.27 on."""
    import gymnasium

    for name, (_, env_id) in GAMES.items():
        gymnasium.register(
            env_id,
            entry_point="samurai_env.envs.single:GameEnv",
            vector_entry_point="samurai_env.envs.make_vec:make_vector_env",
            kwargs={"game": name},
            disable_env_checker=True,  # the checker's wrapper costs more than a step; the tests run it
            order_enforce=False,
        )
    try:
        from pettingzoo import register
    except ImportError:  # older than 1.27
        return
    for name, (_, env_id) in GAMES.items():
        register("aec", env_id, entry_point=f"samurai_env.{name}_v0:env")
