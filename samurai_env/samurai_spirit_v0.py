"""PettingZoo module of Samurai Spirit: `samurai_spirit_v0.env(num_players=4, difficulty="easy", ...)`.

See docs/games/spirit.md for rules, options, observations and actions.
"""

from samurai_env.envs.modules import aec_functions

env, raw_env = aec_functions("samurai_spirit")
