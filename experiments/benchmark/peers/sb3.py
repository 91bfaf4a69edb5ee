"""sb3-contrib's MaskablePPO (Raffin et al., 2021) on our environment for one learner that decides for every seat.

Measured as it comes, and with large minibatches and few epochs, which our own learner has as well and which are faster.
"""

import time
from collections.abc import Callable
from typing import Any

import torch
from gymnasium.wrappers import TransformObservation
from sb3_contrib import MaskablePPO
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.vec_env import DummyVecEnv

from experiments.benchmark.peers import TRAINING, Row, meter_from_command_line, named, tell
from samurai_env.envs.single import GameEnv

SETTINGS: dict[str, tuple[int, dict[str, Any]]] = {  # games at once, and what MaskablePPO is given
    "its default settings": (1, {}),
    "minibatches of 4,096, 2 epochs": (64, {"n_steps": 128, "batch_size": 4096, "n_epochs": 2}),
}


def make() -> TransformObservation:
    """The environment without the mask in its observations, which the network need not see."""
    env: Any = GameEnv("samurai", 2, seat="all")
    return TransformObservation(env, lambda seen: seen["observation"], env.observation_space["observation"])


def learning(model: MaskablePPO) -> Callable[[int], float]:
    """Whole turns of collecting and updating."""
    turn = model.n_steps * model.n_envs

    def learn(turns: int) -> float:
        model.learn(turns * turn, reset_num_timesteps=False)
        return turns * turn

    return learn


def main() -> None:
    """Measure and print."""
    meter = meter_from_command_line()
    who = named("sb3_contrib", "torch")
    for label, (games, settings) in SETTINGS.items():
        env: Any = DummyVecEnv([make] * games)
        model = MaskablePPO("MlpPolicy", env, policy_kwargs={"net_arch": [256, 256]}, seed=1, device="cpu", **settings)
        model.set_logger(Logger(None, []))  # else each call of learn makes an empty folder in /tmp
        figure = meter.rate("learn", "train steps/s", learning(model), time.perf_counter)
        what = f"MaskablePPO, {label}"
        actions, inputs = int(env.action_space.n), env.observation_space.shape[0]
        tell(Row(TRAINING, who, what, actions, inputs, games, torch.get_num_threads(), figure))


if __name__ == "__main__":
    main()
