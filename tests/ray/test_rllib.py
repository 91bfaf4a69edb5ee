"""RLlib: its multi-agent form, its vector form, and its PPO learning from both."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from experiments.outside import trials
from samurai_env import IllegalActionError, parse_variant

pytest.importorskip("ray.rllib", reason="ray[rllib] is not installed; make ray runs these tests with it")

from ray.rllib.algorithms.ppo import PPOConfig

from experiments.outside import rllib_ppo
from samurai_env.adapters.rllib import RLlibEnv, RLlibVectorEnv, act, masked_module

CARD = parse_variant("samurai_card players=2")
SMALL: dict[str, Any] = {"fcnet_hiddens": [16, 16], "fcnet_activation": "relu"}


def random_action(seen: dict[str, np.ndarray], rng: np.random.Generator) -> int:
    return int(rng.choice(np.flatnonzero(seen["action_mask"])))


@pytest.mark.parametrize("spec", ["samurai players=3", "samurai_card players=2", "samurai_spirit players=4"])
def test_a_game_is_played_by_seats_in_turn(spec):
    variant = parse_variant(spec)
    env = RLlibEnv({"game": variant.game.name, "num_players": variant.num_players})
    rng = np.random.default_rng(1)
    seen, _ = env.reset(seed=3)
    total = dict.fromkeys(env.possible_agents, 0.0)
    over = False
    while not over:
        ((agent, observed),) = seen.items()
        assert env.observation_spaces[agent].contains(observed)
        seen, rewards, terminated, truncated, infos = env.step({agent: random_action(observed, rng)})
        assert not truncated["__all__"]
        total = {agent: total[agent] + rewards.get(agent, 0.0) for agent in total}
        over = terminated["__all__"]
    assert set(seen) == set(infos) == set(env.possible_agents)
    assert list(total.values()) == pytest.approx(list(infos["player_0"]["returns"]))


def test_an_illegal_action_changes_nothing():
    env = RLlibEnv({"game": "samurai"})
    seen, _ = env.reset(seed=1)
    ((agent, before),) = seen.items()
    kept = env._position.save()
    with pytest.raises(IllegalActionError):
        env.step({agent: int(before["action_mask"].argmin())})
    assert env._position.save() == kept
    observed, _, terminated, _, _ = env.step({agent: int(before["action_mask"].argmax())})
    assert observed and not terminated["__all__"]


@pytest.mark.parametrize(("config", "error"), [({"colour": 1}, TypeError), ({"reward": "gold"}, ValueError)])
@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")  # what was not made is not closed
def test_impossible_settings_are_refused(config, error):
    for form in (RLlibEnv, RLlibVectorEnv):
        with pytest.raises(error, match=r"colour|gold"):
            form({"game": "samurai", "num_envs": 2, **config} if form is RLlibVectorEnv else config)


def test_ppo_learns_with_a_policy_for_all_seats():
    config = PPOConfig().environment(RLlibEnv, env_config={"game": "samurai_card"})
    config = config.multi_agent(policies={"shared"}, policy_mapping_fn=lambda *_, **__: "shared")
    config = config.rl_module(rl_module_spec=masked_module(**SMALL)).env_runners(num_env_runners=0)
    algorithm = config.training(train_batch_size_per_learner=256, minibatch_size=64, num_epochs=1).build_algo()
    before = {name: value.clone() for name, value in algorithm.get_module("shared").state_dict().items()}
    assert algorithm.train()["num_env_steps_sampled_lifetime"] >= 256
    after = algorithm.get_module("shared").state_dict()
    assert any(not torch.equal(before[name], after[name]) for name in before)
    assert all(value.isfinite().all() for value in after.values())
    algorithm.stop()


def test_an_outside_opponent_decides_as_rllibs_module_and_goes_on(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(rllib_ppo, "NUM_ENVS", 8)
    modules = []
    monkeypatch.setattr(PPOConfig, "build_algo", kept(PPOConfig.build_algo, modules))
    settings = trials.Settings(opponents="self", num_steps=4, minibatch_size=16, hidden=16)
    budget = trials.Budget(0.3, tmp_path / "spent.json")
    first = rllib_ppo.train(CARD, settings, budget, tmp_path)
    rng = np.random.default_rng(1)
    seen = rng.integers(0, 3, (40, *CARD.encoding(None).shape)).astype(np.float32)
    with torch.no_grad():
        hidden = torch.from_numpy(seen)
        for layer in first[:-1]:
            hidden = layer(hidden).relu()
        expected = first[-1](hidden).argmax(-1).numpy()
    everything = np.ones((40, CARD.num_actions), np.int8)
    assert (act(modules[0], {"observation": seen, "action_mask": everything}) == expected).all()
    # With no time left nothing is learned, so what comes back is what was kept.
    again = rllib_ppo.train(CARD, settings, trials.Budget(0.3, tmp_path / "spent.json"), tmp_path)
    for before, after in zip(first, again, strict=True):
        torch.testing.assert_close(before.weight, after.weight)


def kept(build, modules):
    """`build`, whose algorithms' modules are remembered."""

    def built(config):
        algorithm = build(config)
        modules.append(algorithm.env_runner.module)
        return algorithm

    return built
