"""Tune the weights of the heuristic policy for each number of players, by evolution strategies.

    python -m samurai_env.games.board.heuristics.tune --players 4

Writes `data/tuned_policy.json`.
"""

from samurai_env.games import tuning
from samurai_env.games.board.game import GAME
from samurai_env.games.board.heuristics import policy
from samurai_env.games.board.rules.topology import DATA
from samurai_env.games.hill_climbing import HillClimber

if __name__ == "__main__":
    climber = HillClimber(GAME, policy.write_logits)
    what = tuning.Tuned(GAME, policy.WEIGHTS, policy.prepare, climber.play_deals, DATA)
    tuning.main(what, "samurai_env.games.board.heuristics.tune", __doc__)
