"""The single file `experiments/examples/ppo_cleanrl.py`, in the manner of CleanRL (Huang et al., 2022)."""

from experiments.clients import Policy
from experiments.examples import ppo_cleanrl
from samurai_env.games import GAMES


def train(game: str, players: int, steps: int) -> Policy:
    """Learn against random play from every seat."""
    env_id = f"samurai_env:{GAMES[game][1]}"
    args = ppo_cleanrl.Args(env_id=env_id, num_players=players, total_timesteps=steps)
    return ppo_cleanrl.train(args).act
