"""What the vector environment hands out besides the games: samples, masks, states, pictures, copies, other forms."""

from copy import deepcopy

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.wrappers.vector import DtypeObservation, FlattenObservation, NormalizeObservation

from samurai_env.core.game import find_game, game_names
from samurai_env.envs.vector import GameVectorEnv
from samurai_env.games import GAMES
from samurai_env.position import Position
from tests.common.variants import label
from tests.envs.test_vector import assert_same, make, outputs

VARIANTS = [find_game(name).variant(2) for name in game_names()]
MODES = ["NextStep", "SameStep", "Disabled"]

each = pytest.mark.parametrize("variant", VARIANTS, ids=label)


@pytest.mark.parametrize("mode", MODES)
@each
def test_samples_are_legal(variant, mode) -> None:
    """Whatever a caller writes into the masks; every legal action is drawn, and a seed decides them."""
    env, drawn = make(variant, 40, autoreset_mode=mode), np.zeros((40, variant.num_actions), bool)
    assert env.action_space.sample().shape == (40,)  # any action: there are no games yet
    assert env.action_space == gymnasium.vector.utils.batch_space(env.single_action_space, 40)
    observed, info = env.reset(seed=1)
    for _ in range(300):
        drawn[np.arange(40), env.action_space.sample()] = True
    legal = observed["action_mask"].astype(bool)
    assert not (drawn & ~legal).any()
    assert (drawn.sum(1) >= np.minimum(legal.sum(1), 5)).all()
    env.action_space.seed(3)
    samples = env.action_space.sample()
    env.action_space.seed(3)
    assert np.array_equal(env.action_space.sample(), samples)
    for _ in range(150):
        observed["action_mask"][:] = 1
        observed, *_, info = env.step(env.action_space.sample())
        assert np.array_equal(info["action_mask"], observed["action_mask"])
        assert np.array_equal(env.action_masks(), observed["action_mask"].astype(bool))
        assert info["returns"][~info["_returns"]].any() == np.False_
    with pytest.raises(ResetNeeded):
        make(variant, 2).action_masks()


@pytest.mark.parametrize("mode", MODES)
@each
def test_the_observation_alone(variant, mode) -> None:
    """The mask is then in the info and `action_masks()`, and Gymnasium's wrappers for Box spaces take it."""
    plain, boxed = (make(variant, 4, autoreset_mode=mode, observation=form) for form in ("dict", "box"))
    for env in (plain, boxed):
        env.reset(seed=1)
    for _ in range(60):
        actions = plain.action_masks().argmax(1)
        seen, *rest, info = plain.step(actions)
        alone, *same, also = boxed.step(actions)
        assert alone in boxed.observation_space
        assert np.array_equal(alone, seen["observation"])
        assert_same(dict(enumerate(rest)), dict(enumerate(same)))
        assert np.array_equal(also["action_mask"], seen["action_mask"])
        for row in np.flatnonzero(info.get("_final_obs", [])):
            assert np.array_equal(also["final_obs"][row], info["final_obs"][row]["observation"])


@each
def test_gymnasiums_wrappers_in_the_default_mode(variant) -> None:
    env_id = GAMES[variant.game.name][1]
    env = FlattenObservation(gymnasium.make_vec(env_id, num_envs=3, num_players=2))
    observed, _ = env.reset(seed=1)
    assert observed.shape == (3, np.prod(variant.encoding().shape) + variant.num_actions)
    for wrapper in (NormalizeObservation, lambda env: DtypeObservation(env, np.float32)):
        for settings in ({}, {"opponents": "random"}):
            env = wrapper(gymnasium.make_vec(env_id, num_envs=3, num_players=2, observation="box", **settings))
            env.reset(seed=1)
            observed, *_ = env.step(env.action_space.sample())
            assert observed.dtype == np.float32


@each
def test_copies_of_all_arrays(variant) -> None:
    env, kept = make(variant, 3, copy=True), []
    kept.append(env.reset(seed=1))
    copies = [outputs(kept[0])]
    for _ in range(20):
        kept.append(env.step(env.action_space.sample()))
        copies.append(outputs(kept[-1]))
    for ours, expected in zip(kept, copies):
        assert_same(dict(enumerate(ours)), dict(enumerate(expected)))


@each
def test_state_is_what_all_seats_see(variant) -> None:
    env = make(variant, 3)
    with pytest.raises(ResetNeeded):
        env.state()
    env.reset(seed=1, options={"desynchronize": True})
    state = env.state()
    for row in range(3):
        position = Position(variant)
        position.states[0] = env.states[row]
        for seat in range(2):
            assert np.array_equal(state[row, seat], position.observe(seat))


@each
def test_desynchronized_games(variant) -> None:
    """Games are at all stages, the same for the same seeds, and legal; the next ones begin at their beginning."""
    env, twin = make(variant, 60), make(variant, 20)
    env.reset(seed=0)
    assert not env.states["steps"].any()
    observed, _ = env.reset(seed=5, options={"desynchronize": True})
    variant.check(env.states)
    stages = env.states["steps"] / env.states["steps"].max()
    assert (stages < 0.3).any()
    assert ((stages > 0.3) & (stages < 0.6)).any()
    assert observed["action_mask"].any(1).all()
    twin.reset(seed=5, options={"desynchronize": True})
    assert twin.states.tobytes() == env.states[:20].tobytes()
    mask = np.arange(60) < 5
    others = env.states[~mask].copy()
    env.reset(seed=5, options={"desynchronize": False, "reset_mask": mask})
    assert not env.states["steps"][mask].any()
    assert env.states[~mask].tobytes() == others.tobytes()
    with pytest.raises(ValueError, match=r"^the options of reset are reset_mask, desynchronize, not 'desynchronise'"):
        env.reset(options={"desynchronise": True})
    before, drawn = env.states.copy(), deepcopy(env).np_random.random()
    for wrong in (mask, "no", 1, None):
        with pytest.raises(TypeError, match=r"^desynchronize must be True or False, for all games that are reset"):
            env.reset(seed=8, options={"desynchronize": wrong})
    assert env.states.tobytes() == before.tobytes()
    assert env.np_random.random() == drawn
    env.step(env.action_space.sample())


@each
def test_pictures(variant) -> None:
    """Of one game, or of all as Gymnasium has it; the learner's as its seat may see them."""
    assert make(variant, 2).render() is None
    env = make(variant, 2, render_mode="ansi")
    with pytest.raises(ResetNeeded):
        env.render()
    env.reset(seed=1)
    assert env.render() == (env.render(0), env.render(1))
    assert env.render(1) == variant.game.text(env.states[1], None)
    for game in (2, -1, "0"):
        with pytest.raises(ValueError, match=r"^games must be 0 to 1, not"):
            env.render(game)
    env = gymnasium.make_vec(GAMES[variant.game.name][1], num_envs=2, num_players=2, opponents="random", seat=1)
    assert env.render() is None
    env = gymnasium.make_vec(
        GAMES[variant.game.name][1], num_envs=2, num_players=2, opponents="random", seat=1, render_mode="ansi"
    )
    env.reset(seed=1)
    assert env.render(0) == variant.game.text(env.states[0], 1)


def test_the_default_is_without_copies() -> None:
    env = GameVectorEnv("samurai", 2)
    first, _ = env.reset(seed=1)
    again, *_ = env.step(env.action_space.sample())
    assert again["observation"] is first["observation"]
