"""The games of the family. A game's package is imported when the game is first asked for."""

from samurai_env.core.game import Game, register_game


def _board() -> Game:
    from samurai_env.board.game import GAME

    return GAME


register_game("samurai", _board)
