"""PPO of Ray RLlib (Liang et al., 2018), new API stack."""

from ray.rllib.algorithms.ppo import PPOConfig

from experiments.clients import Policy
from samurai_env.adapters.rllib import RLlibVectorEnv, act, masked_module


def train(game: str, players: int, steps: int) -> Policy:
    """Learn against random play from every seat."""
    settings = {"game": game, "num_players": players, "opponents": "random", "reward": "shaped"}
    config = (
        PPOConfig()
        .environment(RLlibVectorEnv, env_config=settings)
        .env_runners(num_env_runners=0, num_envs_per_env_runner=128, gym_env_vectorize_mode="vector_entry_point")
        .rl_module(rl_module_spec=masked_module(fcnet_hiddens=[256, 256], fcnet_activation="relu"))
        .training(train_batch_size_per_learner=8192, minibatch_size=1024, num_epochs=4, lr=1e-3, gamma=1.0)
    )
    algorithm = config.build_algo()
    while algorithm.train()["num_env_steps_sampled_lifetime"] < steps:
        pass
    module = algorithm.get_module()
    return lambda seen: act(module, seen)
