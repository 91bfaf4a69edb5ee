"""PPO of Ray RLlib (Liang et al., 2018), new API stack, in one process."""

from pathlib import Path
from typing import Any, cast

import numpy as np
from ray.rllib.algorithms.ppo import PPOConfig
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
from samurai_env.adapters.rllib import RLlibVectorEnv, act, masked_module
from samurai_env.core.game import Variant

PACKAGE = "ray"


def train(variant: Variant, settings: Settings, budget: Budget, folder: Path) -> list[nn.Linear]:
    """Learn until nothing is left; the layers of the policy, first to last. A run goes on from what is in `folder`."""
    playing: list[Any] = []  # the module that decides for the other seats

    def own_policy(seen: dict[str, np.ndarray]) -> np.ndarray:
        return act(playing[0], seen, sample=True)

    games = {
        "game": variant.game.name,
        "num_players": variant.num_players,
        "opponents": own_policy if settings.opponents == "self" else settings.opponents,
        "reward": settings.reward,
    }
    config = (
        PPOConfig()
        .environment(RLlibVectorEnv, env_config=games)
        .env_runners(num_env_runners=0, num_envs_per_env_runner=NUM_ENVS, gym_env_vectorize_mode="vector_entry_point")
        .rl_module(rl_module_spec=masked_module(fcnet_hiddens=[settings.hidden] * 2, fcnet_activation="relu"))
        .training(
            train_batch_size_per_learner=NUM_ENVS * settings.num_steps,
            minibatch_size=settings.minibatch_size,
            num_epochs=UPDATE_EPOCHS,
            lr=settings.learning_rate,
            gamma=GAMMA,
            lambda_=GAE_LAMBDA,
            entropy_coeff=settings.ent_coef,
        )
        .debugging(seed=1 + budget.decisions)
    )
    algorithm = config.build_algo()
    learner = algorithm.learner_group._learner
    playing.append(algorithm.env_runner.module)
    (optimizer,) = learner._named_optimizers.values()
    path = folder / "state.pt"
    if path.exists():
        state = read_state(path)
        learner.module["default_policy"].load_state_dict(state["policy"])
        optimizer.load_state_dict(state["optimizer"])
        algorithm.env_runner.module.load_state_dict(state["policy"], strict=False)
    rollouts = 0
    before = budget.decisions
    left = budget.left
    while left > 0:
        for group in optimizer.param_groups:
            group["lr"] = settings.learning_rate * left
        budget.decisions = before + int(algorithm.train()["num_env_steps_sampled_lifetime"])
        rollouts += 1
        left = budget.left
        if rollouts % KEPT_EVERY == 0 or left <= 0:
            policy = learner.module["default_policy"].state_dict()
            write_state(path, {"policy": policy, "optimizer": optimizer.state_dict()})
            budget.save()
    module = algorithm.get_module()
    layers = [each for part in (module.encoder, module.pi) for each in part.modules() if isinstance(each, nn.Linear)]
    return [cast(nn.Linear, layer) for layer in layers]
