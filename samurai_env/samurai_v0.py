"""PettingZoo module of the board game: `samurai_v0.env(num_players=2, edition="2016", ...)`.

See docs/board_game.md for rules, options, observations and actions.
"""

from functools import partial

from samurai_env.envs.aec import GameAEC, wrapped

env = partial(wrapped, "samurai")
raw_env = partial(GameAEC, "samurai")
