"""Stable-Baselines3's view of the vector environment: the games of the single environment, and a learner runs on it."""

import numpy as np
import pytest
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported

from samurai_env.adapters.sb3 import SB3VecEnv
from samurai_env.envs.single import GameEnv
from tests.common.variants import label, some_variants


@pytest.mark.parametrize("variant", some_variants(), ids=label)
def test_the_games_of_the_single_environment(variant) -> None:
    """Observations, masks, rewards and ends are those of `GameEnv`, and stay as they were given."""
    settings = {"num_players": variant.num_players, "opponents": "greedy", **variant.options}
    envs, single = SB3VecEnv(variant.game.name, 3, **settings), GameEnv(variant.game.name, **settings)
    envs.seed(10)
    seen, kept = envs.reset(), []
    expected, info = single.reset(seed=11)
    rng, over, total, length = np.random.default_rng(1), False, 0.0, 0
    while not over:
        assert (seen[1] == expected["observation"]).all()
        kept.append((seen, seen.copy()))
        masks = get_action_masks(envs)
        assert (masks[1] == info["action_mask"]).all()
        actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in masks])
        seen, rewards, dones, infos = envs.step(actions)
        expected, reward, terminated, truncated, info = single.step(actions[1])
        over = terminated or truncated
        assert (rewards[1], dones[1]) == (pytest.approx(reward), over)
        total, length = total + reward, length + 1
    assert all((now == before).all() for now, before in kept)
    assert (infos[1]["terminal_observation"] == expected["observation"]).all()
    assert infos[1]["returns"] == pytest.approx(info["returns"])
    assert (infos[1]["episode"]["r"], infos[1]["episode"]["l"]) == (pytest.approx(total), length)
    assert not infos[1].get("TimeLimit.truncated")


def test_a_learner_runs_and_reports() -> None:
    envs = SB3VecEnv("samurai_card", 16, seat="rotate")
    assert is_masking_supported(envs)
    model = MaskablePPO("MlpPolicy", envs, n_steps=64, batch_size=256, n_epochs=1, seed=1, device="cpu")
    model.learn(2 * 16 * 64)
    assert len(model.ep_info_buffer) > 10
    masks = np.stack(envs.env_method("action_masks"))
    actions, _ = model.predict(envs.reset(), action_masks=masks)
    assert masks[np.arange(16), actions].all()


def test_pictures_and_attributes() -> None:
    envs = SB3VecEnv("samurai_card", 2, render_mode="ansi")
    envs.reset()
    assert envs.get_attr("num_envs", 0) == [2]
    assert len(envs.env_method("render", indices=[1])) == 1
    first, second = envs.env_method("reset")  # as long as there are games, but no row for each
    assert first is second and len(first) == 2
    assert not any(envs.env_is_wrapped(SB3VecEnv))
    envs.set_options({"desynchronize": True})
    envs.reset()
    envs.set_options([{"desynchronize": True}, {}])
    with pytest.raises(ValueError, match="one dict for all games"):
        envs.reset()
    with pytest.raises(TypeError, match="unexpected keyword argument 'oponents'"):
        SB3VecEnv("samurai", oponents="greedy")
