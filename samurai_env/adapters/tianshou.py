"""The vector environment as one of Tianshou (package `tianshou`), and networks that see masks.

from tianshou.data import Collector, VectorReplayBuffer
from samurai_env.adapters.tianshou import TianshouVectorEnv

envs = TianshouVectorEnv("samurai", num_envs=64, opponents="greedy")
collector = Collector(algorithm, envs, VectorReplayBuffer(64 * 64, 64))
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode

from samurai_env.core.texts import install_hint
from samurai_env.envs.learner import LearnerVectorEnv
from samurai_env.envs.spaces import LegalDiscrete

with install_hint("tianshou"):
    import torch
    from tianshou.data import Batch
    from tianshou.env import BaseVectorEnv
    from torch import nn

Rows = int | Sequence[int] | np.ndarray | None


class TianshouVectorEnv(BaseVectorEnv):
    """Many games at once in one process, one learner in each.

    Observations are a `Batch` of "obs" (int8) and "mask" (bool), the names that Tianshou's DQN looks for. A game that
    is cut off at its own limit of decisions has ended: its returns are final, so nothing is bootstrapped.

    Args:
        game: name of the game.
        num_envs: number of games.
        settings: further keywords of `samurai_env.envs.learner.LearnerVectorEnv`: opponents, seat, num_players,
            encoding, reward, threads and the game's options.

    Raises:
        TypeError: an unknown keyword.
        ValueError: an argument that is not possible; the text says what is.
    """

    def __init__(self, game: str, num_envs: int = 64, **settings: Any) -> None:
        self.envs = LearnerVectorEnv(game, num_envs, autoreset_mode=AutoresetMode.DISABLED, **settings)
        self.env_num = num_envs
        self.is_async = self.is_closed = False
        self.waiting_id: list[int] = []
        self._seeds: list[int] | None = None
        actions = self.envs.variant.num_actions
        self._spaces = [LegalDiscrete(actions, partial(self._mask, row)) for row in range(num_envs)]

    def _mask(self, row: int) -> np.ndarray | None:
        mask = self.envs.action_masks()[row].astype(np.int8)
        return mask if mask.any() else None

    def get_env_attr(self, key: str, id: Rows = None) -> list[Any]:
        """An attribute by game; of "action_space" and "observation_space" that of one game."""
        rows = [int(row) for row in self._wrap_id(id)]
        if key == "action_space":
            return [self._spaces[row] for row in rows]
        name = {"observation_space": "single_observation_space"}.get(key, key)
        return [getattr(self.envs, name) for _ in rows]

    def set_env_attr(self, key: str, value: Any, id: Rows = None) -> None:
        """Set an attribute, which all games share."""
        setattr(self.envs, key, value)

    def seed(self, seed: int | np.integer | list[int] | None = None) -> list[Any]:
        """Seed the next reset of all games and their action spaces: one integer, counted up, or one for each."""
        if isinstance(seed, (int, np.integer)):
            seed = [int(seed) + row for row in range(self.env_num)]
        self._seeds = seed
        for space, own in zip(self._spaces, seed or [], strict=False):
            space.seed(int(own))
        return [None] * self.env_num if self._seeds is None else list(self._seeds)

    def reset(self, env_id: Rows = None, **kwargs: Any) -> tuple[Batch, np.ndarray]:
        """Begin the games of these rows, all without rows; their observations and infos."""
        rows = np.asarray(self._wrap_id(env_id))
        mask = np.zeros(self.env_num, np.bool_)
        mask[rows] = True
        seen, _ = self.envs.reset(seed=kwargs.get("seed", self._seeds), options={"reset_mask": mask})
        self._seeds = None
        return as_batch(seen)[rows], np.array([{"env_id": row} for row in rows])

    def step(self, action: Any, id: Rows = None) -> tuple[Batch, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Carry out a decision in the games of these rows; those left out must be over, as Tianshou's collectors do.

        Raises:
            IllegalActionError: an illegal action, or a game left out that is not over; no game has changed.
        """
        rows = np.asarray(self._wrap_id(id))
        actions = np.full(self.env_num, -1)
        actions[rows] = np.asarray(action)
        seen, rewards, terminated, truncated, _ = self.envs.step(actions)
        over = (terminated | truncated)[rows]
        infos = np.array([{"env_id": row} for row in rows])  # no more: Tianshou stacks them entry by entry
        return as_batch(seen)[rows], rewards[rows], over, np.zeros(len(rows), np.bool_), infos

    def render(self, **kwargs: Any) -> list[Any]:
        """Pictures of all games."""
        return list(self.envs.render() or ())

    def close(self) -> None:
        """Close the games."""
        self.envs.close()
        self.is_closed = True


def as_batch(observed: Any) -> Batch:
    """Observations of the project's own forms, {"observation", "action_mask"}, as Tianshou's policies read them."""
    return Batch(obs=observed["observation"].copy(), mask=observed["action_mask"].astype(np.bool_))


class MaskedActor(nn.Module):
    """Logits of a network with those of illegal actions at -1e9, for `ProbabilisticActorPolicy`.

    Args:
        net: from observations, float32 (games, inputs), to logits (games, actions).
    """

    def __init__(self, net: nn.Module) -> None:
        super().__init__()
        self.net = net

    def forward(self, obs: Any, state: Any = None, info: Any = None) -> tuple[torch.Tensor, Any]:
        """Return logits and the state, which is passed on."""
        logits = self.net(_inputs(obs))
        return logits.masked_fill(~torch.as_tensor(obs.mask, dtype=torch.bool, device=logits.device), -1e9), state


class Critic(nn.Module):
    """The value of observations.

    Args:
        net: from observations, float32 (games, inputs), to values (games, 1).
    """

    def __init__(self, net: nn.Module) -> None:
        super().__init__()
        self.net = net

    def forward(self, obs: Any, **kwargs: Any) -> torch.Tensor:
        """Return values, (games, 1)."""
        return self.net(_inputs(obs))


def _inputs(obs: Any) -> torch.Tensor:
    return torch.as_tensor(obs.obs).flatten(1).float()
