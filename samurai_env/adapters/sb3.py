"""Many games with one learner in each, as a `VecEnv` of Stable-Baselines3 (package `stable-baselines3`).

from sb3_contrib import MaskablePPO
from samurai_env.adapters.sb3 import SB3VecEnv

model = MaskablePPO("MlpPolicy", SB3VecEnv("samurai", num_envs=64, opponents="greedy"))
"""

import time
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode

from samurai_env.core.texts import install_hint
from samurai_env.envs.learner import LearnerVectorEnv

with install_hint("stable-baselines3 sb3-contrib"):
    from stable_baselines3.common.vec_env import VecEnv

Indices = int | Iterable[int] | None


class SB3VecEnv(VecEnv):
    """Many games at once in one process; observations are int8 arrays, masks stand in `action_masks()`.

    `infos` of games that have just ended have "terminal_observation", "returns" (every seat's), "seat" (the learner's)
    and SB3's "episode", so that its logs show rewards and lengths without a `VecMonitor`. A game that is cut off at its
    own limit of decisions has ended: its returns are final, so nothing is bootstrapped.

    Args:
        game: name of the game.
        num_envs: number of games.
        settings: further keywords of `samurai_env.envs.learner.LearnerVectorEnv`: opponents, seat, num_players,
            encoding, reward, threads, render_mode and the game's options.

    Raises:
        TypeError: an unknown keyword.
        ValueError: an argument that is not possible; the text says what is.
    """

    def __init__(self, game: str, num_envs: int = 64, **settings: Any) -> None:
        self.envs = LearnerVectorEnv(
            game, num_envs, observation="box", autoreset_mode=AutoresetMode.SAME_STEP, **settings
        )
        self._returned, self._lengths = np.zeros(num_envs), np.zeros(num_envs, np.int64)
        self._start = time.perf_counter()
        super().__init__(num_envs, self.envs.single_observation_space, self.envs.single_action_space)

    def reset(self) -> np.ndarray:
        """Start all games; observations (num_envs, ...).

        Raises:
            ValueError: seeds that are not possible, or a list of options, one for each game.
        """
        if any(self._options) and any(options is not self._options[0] for options in self._options):
            raise ValueError("set_options takes one dict for all games: they are reset together")
        seeds = None if all(seed is None for seed in self._seeds) else self._seeds
        observations, _ = self.envs.reset(seed=seeds, options=self._options[0] or None)
        self._reset_seeds()
        self._reset_options()
        self._returned[:], self._lengths[:] = 0, 0
        assert isinstance(observations, np.ndarray)
        return observations.copy()

    def step_async(self, actions: np.ndarray) -> None:
        """Keep the actions, integers (num_envs,), for `step_wait`."""
        self._actions = actions

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Carry out the actions.

        Returns:
            Observations, int8 (num_envs, ...), rewards, float32 (num_envs,), dones, bool (num_envs,), in arrays of the
            caller's own, and an info a game: empty, or of the game that has ended its "terminal_observation",
            "returns", the learner's "seat" and its "episode".
        """
        observations, rewards, terminated, truncated, info = self.envs.step(self._actions)
        assert isinstance(observations, np.ndarray)
        dones = terminated | truncated
        self._returned += rewards
        self._lengths += 1
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        if dones.any():
            last, ends, now = info["final_obs"], info["final_info"], time.perf_counter() - self._start
            for row in dones.nonzero()[0].tolist():
                infos[row] = {
                    "terminal_observation": last[row],
                    "returns": ends["returns"][row].copy(),
                    "seat": int(ends["seat"][row]),
                    "episode": {"r": float(self._returned[row]), "l": int(self._lengths[row]), "t": now},
                }
            self._returned[dones], self._lengths[dones] = 0, 0
        return observations.copy(), rewards, dones, infos

    def action_masks(self) -> np.ndarray:
        """Legal actions now, bool (num_envs, num_actions)."""
        return self.envs.action_masks()

    def close(self) -> None:
        """Close the games."""
        self.envs.close()

    def get_images(self) -> Sequence[np.ndarray]:
        """Pictures of all games, each uint8 (height, width, 3)."""
        return self.envs.render()

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        """An attribute of the environment, once for each game asked for."""
        return [getattr(self.envs, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Indices = None) -> None:
        """Set an attribute of the environment, which all games share."""
        setattr(self.envs, attr_name, value)

    def env_method(self, method_name: str, *args: Any, indices: Indices = None, **kwargs: Any) -> list[Any]:
        """Call a method of the environment; its result by game where it has a row for each, else once for each."""
        found = getattr(self.envs, method_name)(*args, **kwargs)
        of_each = isinstance(found, np.ndarray) or method_name == "render"  # other tuples are no rows
        rows = of_each and len(found) == self.num_envs
        return [found[row] if rows else found for row in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: type, indices: Indices = None) -> list[bool]:
        """False for each game: there are no wrappers."""
        return [False for _ in self._get_indices(indices)]
