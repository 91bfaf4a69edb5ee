"""Learn a value of leaves from games, for searches (`value=FILE`; `agents.leaf_values`).

    python -m experiments.training.leaf_value --run runs/leaf-value --game samurai players=4 --agents greedy_tuned

Agents, drawn anew for every seat, play games, a few of their decisions at random. A small network learns from a share
of the positions, hidden things included, who wins: the likelihood of the winners is maximised. The network of the epoch
with the greatest likelihood on the games held out is kept.

With --generations it goes on by itself, generation by generation: games are played by the heuristic policy and the
value together, one decision ahead, and the value learns from them by TD(lambda). Ctrl-C keeps the games played so far;
the same command resumes.
"""

from rich.console import Console

from experiments.common.cli import run_program
from experiments.training.leaf_value.learn import PROGRAM, Config, learn

if __name__ == "__main__":
    run_program(PROGRAM, Config, lambda config: learn(config, Console()), __doc__)
