"""The games as a multi-agent environment of Ray RLlib (package `ray[rllib]`), for its new API stack.

from ray.rllib.algorithms.ppo import PPOConfig
from samurai_env.adapters.rllib import RLlibEnv, masked_module

config = PPOConfig().environment(RLlibEnv, env_config={"game": "samurai"})
config = config.multi_agent(policies={"shared"}, policy_mapping_fn=lambda *_, **__: "shared")
config = config.rl_module(rl_module_spec=masked_module())
"""

from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import VectorWrapper
from gymnasium.vector.utils import batch_space

from samurai_env.core.game import Variant
from samurai_env.core.rng import Seeds
from samurai_env.core.texts import install_hint
from samurai_env.envs.common import REWARDS, check_choice, ending, variant_from_keywords
from samurai_env.envs.learner import LearnerVectorEnv
from samurai_env.envs.spaces import LegalDiscrete
from samurai_env.position import Position

with install_hint("'ray[rllib]' torch"):
    import torch
    from ray.rllib.core.columns import Columns
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec
    from ray.rllib.env.multi_agent_env import MultiAgentEnv
    from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule

Seen = dict[str, np.ndarray]
ByAgent = dict[str, Any]


class RLlibEnv(MultiAgentEnv):
    """One game in which each seat is an agent, `player_0` and on; only the seat that decides has an observation.

    Observations are {"observations", "action_mask"}, float32, as RLlib's `ActionMaskingTorchRLModule` wants them. RLlib
    keeps a trajectory for each agent, so its advantages are those of one seat. At the end every seat has its reward
    and a last observation. A game that is cut off at its own limit of decisions has ended: its returns are final.

    `config` has "game" (its name) and, as the game's other environments, "num_players", "encoding", "reward" and the
    game's options.

    Raises:
        IllegalActionError: from `step`, which changes nothing.
        TypeError: an unknown key of `config`.
        ValueError: an impossible value.
    """

    def __init__(self, config: dict[str, Any] | None = None) -> None:
        super().__init__()
        settings = dict(config or {})
        game = settings.pop("game", "samurai")
        encoding, reward = settings.pop("encoding", None), settings.pop("reward", "result")
        check_choice("reward", reward, REWARDS)
        self.variant = variant_from_keywords(type(self), game, settings.pop("num_players", None), settings)
        self.encoding, self._shaped = self.variant.encoding_name(encoding), reward == "shaped"
        self._seeds, self._position = Seeds(), Position(self.variant)
        self.possible_agents = [f"player_{seat}" for seat in range(self.variant.num_players)]
        self.agents = list(self.possible_agents)
        self.observation_spaces = dict.fromkeys(self.possible_agents, _space(self.variant, self.encoding))
        # RLlib's check of an environment samples from these.
        action_space = LegalDiscrete(self.variant.num_actions, self._legal_mask)
        self.action_spaces = dict.fromkeys(self.possible_agents, action_space)

    def _legal_mask(self) -> np.ndarray | None:
        return None if self._position.over else self._position.legal_mask()

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[ByAgent, ByAgent]:
        """Begin the game of `seed`, or that which follows the last."""
        self._position.reset(self._seeds.next(seed))
        self._potential = self._position.potential()
        agent = self.possible_agents[self._position.seat]
        return {agent: self._seen(self._position.seat)}, {}

    def step(self, action_dict: ByAgent) -> tuple[ByAgent, ByAgent, ByAgent, ByAgent, ByAgent]:
        """Carry out the decision of the seat that had the last observation."""
        position = self._position
        position.step(int(action_dict[self.possible_agents[position.seat]]))
        rewards = position.returns()
        if self._shaped:
            potential = position.potential()
            rewards, self._potential = rewards + potential - self._potential, potential
        seats = range(self.variant.num_players) if position.over else [position.seat]  # all masks are empty at the end
        seen = {self.possible_agents[seat]: self._seen(seat) for seat in seats}
        given = {agent: float(reward) for agent, reward in zip(self.possible_agents, rewards, strict=True) if reward}
        given = {**dict.fromkeys(seen, 0.0), **given}
        infos: ByAgent = {}
        if position.over:
            details, _ = ending(self.variant, position.state)
            infos = {agent: {"returns": position.returns(), **details} for agent in self.possible_agents}
        return seen, given, {"__all__": position.over}, {"__all__": False}, infos

    def _seen(self, seat: int) -> Seen:
        return _floats(self._position.observe(seat, self.encoding), self._position.legal_mask())


class RLlibVectorEnv(VectorWrapper):
    """Many games with one learner in each: `PPOConfig().environment(RLlibVectorEnv, env_config={...})`.

    Needs `env_runners(num_envs_per_env_runner=64, gym_env_vectorize_mode="vector_entry_point")`. Observations are as in
    `RLlibEnv`; infos are empty, since RLlib would take them apart by game.

    Args:
        config: "game" (its name), "num_envs" (RLlib sets it) and the keywords of
            `samurai_env.envs.learner.LearnerVectorEnv`: opponents, seat, num_players, encoding, reward, threads and the
            game's options.

    Raises:
        TypeError: an unknown key of `config`.
        ValueError: an impossible value.
    """

    def __init__(self, config: dict[str, Any] | None = None) -> None:
        env = LearnerVectorEnv(**{"game": "samurai", "seat": "rotate", **(config or {})})
        super().__init__(env)
        self.single_observation_space = _space(env.variant, env.encoding)
        self.observation_space = batch_space(self.single_observation_space, env.num_envs)

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Seen, ByAgent]:
        """Begin all games."""
        observed, _ = self.env.reset(seed=seed, options=options)
        return _floats(**observed), {}

    def step(self, actions: np.ndarray) -> tuple[Seen, np.ndarray, np.ndarray, np.ndarray, ByAgent]:
        """Carry out one decision of each learner."""
        observed, rewards, terminated, truncated, _ = self.env.step(actions)
        # A game that is cut off at its own limit of decisions has ended: its returns are final.
        return _floats(**observed), rewards, terminated | truncated, np.zeros_like(truncated), {}


def _space(variant: Variant, encoding: str) -> spaces.Dict:
    low, high = (limit.astype(np.float32) for limit in variant.encoding(encoding).limits())
    mask = spaces.Box(0.0, 1.0, (variant.num_actions,), np.float32)
    return spaces.Dict({"observations": spaces.Box(low, high, dtype=np.float32), "action_mask": mask})


def _floats(observation: np.ndarray, action_mask: np.ndarray) -> Seen:
    """An observation with RLlib's names, with mask 1 where a game is over.

    There a value is asked for and never an action; rows of logits that are masked throughout would be no numbers.
    """
    mask = np.where(action_mask.any(-1, keepdims=True), action_mask, 1)
    return {"observations": observation.astype(np.float32), "action_mask": mask.astype(np.float32)}


def act(module: Any, observed: Seen, sample: bool = False) -> np.ndarray:
    """Actions of a module, int64 (games,), for observations of the project's own forms.

    Args:
        module: what `algorithm.get_module()` gives.
        observed: {"observation", "action_mask"}, games first.
        sample: draw from the policy; otherwise the most probable actions.
    """
    seen = {name: torch.from_numpy(array) for name, array in _floats(**observed).items()}
    with torch.no_grad():
        logits = module.forward_inference({Columns.OBS: seen})[Columns.ACTION_DIST_INPUTS]
    return (torch.distributions.Categorical(logits=logits).sample() if sample else logits.argmax(-1)).numpy()


def masked_module(**model_config: Any) -> RLModuleSpec:
    """RLlib's network for PPO that masks illegal actions; `model_config` as its `DefaultModelConfig`."""
    return RLModuleSpec(
        module_class=ActionMaskingTorchRLModule, model_config={"head_fcnet_hiddens": (), **model_config}
    )
