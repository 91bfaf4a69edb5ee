"""The vector environment as one of TorchRL (package `torchrl`): one batched `EnvBase` over many games.

from samurai_env.adapters.torchrl import TorchRLEnv

env = TorchRLEnv("samurai", num_envs=64, opponents="greedy")
print(env.rollout(100))
"""

from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode

from samurai_env.core.texts import install_hint
from samurai_env.envs.make_vec import make_vector_env
from samurai_env.envs.vector import GameVectorEnv

with install_hint("torchrl"):
    import torch
    from tensordict import TensorDict, TensorDictBase
    from torchrl.data import Binary, Bounded, Categorical, Composite, Unbounded
    from torchrl.envs import EnvBase


class TorchRLEnv(EnvBase):
    """Many games at once, batch size (num_envs,).

    Entries: "observation" (float32), "action_mask" (bool, as `MaskedCategorical` wants it), "seat" (int64), "action" (a
    categorical index). With opponents "seat" is the learner's, and so is the reward, (num_envs, 1). Without, the caller
    decides for every seat: "seat" is who decides next and the reward has a column for each seat, (num_envs,
    num_players), for `samurai_env.envs.gae.gae_by_seat`; TorchRL's own `GAE` would bootstrap from another seat's value.

    Args:
        game: name of the game.
        num_envs: number of games.
        opponents: who plays the other seats, as for `samurai_env.envs.learner.LearnerVectorEnv`; None lets the caller
            decide for every seat.
        settings: further keywords of `LearnerVectorEnv` or `GameVectorEnv`: seat, num_players, encoding, reward,
            threads and the game's options.

    Raises:
        TypeError: an unknown keyword.
        ValueError: an argument that is not possible; the text says what is.
    """

    def __init__(self, game: str, num_envs: int = 64, *, opponents: Any = "random", **settings: Any) -> None:
        super().__init__(device="cpu", batch_size=[num_envs])
        self.envs: GameVectorEnv = make_vector_env(
            game, num_envs, opponents=opponents, autoreset_mode=AutoresetMode.DISABLED, **settings
        )
        self._one_learner = opponents is not None
        variant = self.envs.variant
        limits = variant.encoding(self.envs.encoding).limits()
        low, high = (torch.from_numpy(limit).float().expand(num_envs, *limit.shape) for limit in limits)
        actions = variant.num_actions
        self.observation_spec = Composite(
            observation=Bounded(low, high, dtype=torch.float32),
            action_mask=Binary(actions, (num_envs, actions), dtype=torch.bool),
            seat=Categorical(variant.num_players, (num_envs,)),
            shape=self.batch_size,
        )
        self.action_spec = Categorical(actions, (num_envs,))
        self.reward_spec = Unbounded((num_envs, 1 if self._one_learner else variant.num_players))
        flag = Categorical(2, (num_envs, 1), dtype=torch.bool)
        self.full_done_spec = Composite(
            done=flag, terminated=flag.clone(), truncated=flag.clone(), shape=self.batch_size
        )
        self._seed: int | None = None

    def _set_seed(self, seed: int | None) -> None:
        self._seed = seed
        self.envs.action_space.seed(seed)  # of `rand_action`

    def _reset(self, tensordict: TensorDictBase | None = None, **kwargs: Any) -> TensorDict:
        asked = None if tensordict is None else tensordict.get("_reset", None)
        options = {} if asked is None else {"reset_mask": asked.reshape(self.batch_size).numpy()}
        observed, info = self.envs.reset(seed=self._seed, options=options)
        self._seed = None
        return self._entries(observed, info)

    def _step(self, tensordict: TensorDictBase) -> TensorDict:
        observed, rewards, terminated, truncated, info = self.envs.step(tensordict["action"].numpy())
        rewards = rewards[:, None] if self._one_learner else info["rewards"]
        over = terminated | truncated  # a game that is cut off has its final returns: nothing is to be bootstrapped
        flags = {"terminated": over, "truncated": np.zeros_like(over), "done": over}
        entries = self._entries(observed, info).set("reward", torch.tensor(rewards))
        return entries.update({name: torch.tensor(flag)[:, None] for name, flag in flags.items()})

    def _entries(self, observed: Any, info: dict[str, Any]) -> TensorDict:
        """What the next decision is made on."""
        return as_tensordict(observed).set("seat", torch.tensor(info["seat"], dtype=torch.int64))

    def rand_action(self, tensordict: TensorDictBase | None = None) -> TensorDictBase:
        """Write a random legal action into "action"."""
        found = TensorDict({}, self.batch_size) if tensordict is None else tensordict
        return found.set("action", torch.from_numpy(self.envs.action_space.sample()))

    def close(self, *, raise_if_closed: bool = True) -> None:
        """Close the games."""
        self.envs.close()
        super().close(raise_if_closed=raise_if_closed)


def as_tensordict(observed: dict[str, np.ndarray]) -> TensorDict:
    """Observations of the project's own forms, {"observation", "action_mask"}, as a policy of TorchRL reads them."""
    entries = {
        "observation": torch.tensor(observed["observation"], dtype=torch.float32),
        "action_mask": torch.tensor(observed["action_mask"], dtype=torch.bool),
    }
    return TensorDict(entries, [len(observed["observation"])])
