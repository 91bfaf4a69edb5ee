"""PettingZoo module of the board game: `samurai_v0.env(num_players=2, edition="2016", ...)`.

See docs/games/board_game.md for rules, options, observations and actions.
"""

from samurai_env.envs.modules import aec_functions

env, raw_env = aec_functions("samurai")
