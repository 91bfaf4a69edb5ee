"""PettingZoo module of Samurai Spirit: `samurai_spirit_v0.env(num_players=2, ...)`.

See docs/spirit.md for rules, options, observations and actions.
"""

from functools import partial

from samurai_env.envs.aec import GameAEC, wrapped

env = partial(wrapped, "samurai_spirit")
raw_env = partial(GameAEC, "samurai_spirit")
