"""A file in the manner of CleanRL (Huang et al., 2022): `experiments/examples/ppo_cleanrl.py`."""

from pathlib import Path
from typing import cast

from torch import nn

from experiments.examples import ppo_cleanrl
from experiments.outside.trials import GAE_LAMBDA, GAMMA, NUM_ENVS, UPDATE_EPOCHS, Budget, Settings
from samurai_env.core.game import Variant
from samurai_env.games import GAMES

PACKAGE = "torch"


def train(variant: Variant, settings: Settings, budget: Budget, folder: Path) -> list[nn.Linear]:
    """Learn until nothing is left; the layers of the policy, first to last. A run goes on from what is in `folder`."""
    args = ppo_cleanrl.Args(
        env_id=f"samurai_env:{GAMES[variant.game.name][1]}",
        num_players=variant.num_players,
        opponents=settings.opponents,
        reward=settings.reward,
        state=folder / "state.pt",
        learning_rate=settings.learning_rate,
        num_envs=NUM_ENVS,
        num_steps=settings.num_steps,
        gamma=GAMMA,
        gae_lambda=GAE_LAMBDA,
        num_minibatches=max(1, NUM_ENVS * settings.num_steps // settings.minibatch_size),
        update_epochs=UPDATE_EPOCHS,
        ent_coef=settings.ent_coef,
        hidden=settings.hidden,
    )

    def left(decisions: int) -> float:
        budget.decisions = decisions
        return budget.left

    agent = ppo_cleanrl.train(args, left=left, saved=budget.save)
    first, _, second, _, heads = [cast(nn.Linear, layer) for layer in agent.body]
    policy = nn.Linear(settings.hidden, variant.num_actions)
    policy.weight.data, policy.bias.data = heads.weight.data[1:], heads.bias.data[1:]  # output 0 is the value
    return [first, second, policy]
