"""PettingZoo module of Samurai: The Card Game: `samurai_card_v0.env(num_players=2, ...)`.

See docs/games/card_game.md for rules, options, observations and actions.
"""

from samurai_env.envs.modules import aec_functions

env, raw_env = aec_functions("samurai_card")
