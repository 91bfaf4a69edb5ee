"""sb3-contrib's MaskablePPO (Raffin et al., 2021)."""

from typing import Any

from sb3_contrib import MaskablePPO
from torch import nn

from experiments.clients import Policy
from samurai_env.adapters.sb3 import SB3VecEnv


def train(game: str, players: int, steps: int) -> Policy:
    """Learn against random play from every seat."""
    envs = SB3VecEnv(game, 128, num_players=players, opponents="random", seat="rotate", reward="shaped")
    rollout: dict[str, Any] = {"n_steps": 16, "batch_size": 1024, "n_epochs": 4, "gamma": 1.0, "ent_coef": 0.01}
    network = {"net_arch": [256, 256], "activation_fn": nn.ReLU}
    model = MaskablePPO("MlpPolicy", envs, **rollout, learning_rate=1e-3, policy_kwargs=network, device="cpu")
    model.learn(steps)
    return lambda seen: model.predict(seen["observation"], action_masks=seen["action_mask"])[0]
