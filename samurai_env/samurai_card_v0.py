"""PettingZoo module of Samurai: The Card Game: `samurai_card_v0.env(num_players=2, ...)`.

See docs/card_game.md for rules, options, observations and actions.
"""

from functools import partial

from samurai_env.envs.aec import GameAEC, wrapped

env = partial(wrapped, "samurai_card")
raw_env = partial(GameAEC, "samurai_card")
