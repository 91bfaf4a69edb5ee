"""`render_mode="human"`: a window that follows the game, here on SDL's screen that nobody sees."""

import numpy as np
import pytest

from samurai_env.display import rgb_array
from samurai_env.envs.aec import GameAEC
from samurai_env.envs.single import GameEnv


@pytest.fixture
def pygame(monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    pygame = pytest.importorskip("pygame")
    yield pygame
    pygame.display.quit()


def shown(pygame):
    return pygame.surfarray.array3d(pygame.display.get_surface()).swapaxes(0, 1)


def test_the_window_shows_the_position_after_each_call(pygame):
    env = GameEnv("samurai_card", opponents="random", render_mode="human")
    env.reset(seed=1)
    for _ in range(2):
        scene = env.variant.game.scene(env.position.state, env.seat, env._move)
        assert np.array_equal(shown(pygame), rgb_array(scene))
        env.step(env.action_space.sample())
    assert env.render() is None
    assert pygame.display.get_caption()[0] == env.variant.game.title
    env.close()
    assert pygame.display.get_surface() is None


def test_the_window_follows_all_seats(pygame):
    env = GameAEC("samurai", num_players=2, render_mode="human")
    env.reset(seed=1)
    first = shown(pygame)
    env.step(int(np.flatnonzero(env.observe(env.agent_selection)["action_mask"])[0]))
    assert not np.array_equal(shown(pygame), first)
    env.close()


def test_what_is_missing_is_named(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pygame", None)
    env = GameEnv("samurai_card", opponents="random", render_mode="human")
    with pytest.raises(ImportError, match="pip install pygame-ce aggdraw pillow"):
        env.reset(seed=1)
