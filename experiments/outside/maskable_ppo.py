"""sb3-contrib's MaskablePPO (Raffin et al., 2021), version 2."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
from sb3_contrib import MaskablePPO
from stable_baselines3.common.logger import Logger
from torch import nn

from experiments.outside.trials import (
    GAE_LAMBDA,
    GAMMA,
    KEPT_EVERY,
    NUM_ENVS,
    UPDATE_EPOCHS,
    Budget,
    Settings,
    read_state,
    write_state,
)
from samurai_env.adapters.sb3 import SB3VecEnv
from samurai_env.core.game import Variant

PACKAGE = "sb3_contrib"


def train(variant: Variant, settings: Settings, budget: Budget, folder: Path) -> list[nn.Linear]:
    """Learn until nothing is left; the layers of the policy, first to last. A run goes on from what is in `folder`."""
    model: MaskablePPO  # made below: it needs the environments
    opponents: str | Callable[[dict[str, np.ndarray]], np.ndarray] = settings.opponents
    if opponents == "self":
        opponents = lambda seen: model.predict(seen["observation"], action_masks=seen["action_mask"])[0]  # noqa: E731
    envs = SB3VecEnv(
        variant.game.name,
        NUM_ENVS,
        num_players=variant.num_players,
        opponents=opponents,
        reward=settings.reward,
        seat="rotate",
    )
    policy: dict[str, Any] = {"net_arch": [settings.hidden] * 2, "activation_fn": nn.ReLU}
    model = MaskablePPO(
        "MlpPolicy",
        envs,
        learning_rate=lambda _: settings.learning_rate * budget.left,
        n_steps=settings.num_steps,
        batch_size=settings.minibatch_size,
        n_epochs=UPDATE_EPOCHS,
        gamma=GAMMA,
        gae_lambda=GAE_LAMBDA,
        ent_coef=settings.ent_coef,
        policy_kwargs=policy,
        seed=1 + budget.decisions,
        device="cpu",
    )
    model.set_logger(Logger(None, []))  # else each call of learn makes an empty folder in /tmp
    path = folder / "state.pt"
    if path.exists():
        state = read_state(path)
        model.policy.load_state_dict(state["policy"])
        model.policy.optimizer.load_state_dict(state["optimizer"])
    envs.seed(1 + budget.decisions)
    envs.set_options({"desynchronize": True})
    rollouts = 0
    left = budget.left
    while left > 0:
        model.learn(NUM_ENVS * settings.num_steps, reset_num_timesteps=False)
        budget.decisions += NUM_ENVS * settings.num_steps
        rollouts += 1
        left = budget.left
        if rollouts % KEPT_EVERY == 0 or left <= 0:
            optimizer = model.policy.optimizer.state_dict()
            write_state(path, {"policy": model.policy.state_dict(), "optimizer": optimizer})
            budget.save()
    first, _, second, _ = model.policy.mlp_extractor.policy_net
    return [cast(nn.Linear, layer) for layer in (first, second, model.policy.action_net)]
