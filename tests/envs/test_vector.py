"""The Gymnasium vector environment of every game: the same games as the other forms, autoreset, buffers, errors."""

import gc
import hashlib
import os
import subprocess
import sys
import time
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import DictInfoToList, RecordEpisodeStatistics, VectorizeTransformObservation

from samurai_env.core.bits import pick_legal
from samurai_env.core.game import Variant, find_game, game_names
from samurai_env.core.rng import next_seed
from samurai_env.envs.aec import GameAEC
from samurai_env.envs.single import GameEnv
from samurai_env.envs.vector import GameVectorEnv
from samurai_env.games import GAMES
from samurai_env.position import IllegalActionError, Position
from tests.common.variants import all_variants, every_variant, label, last_values, some_variants

EVERY, SOME = every_variant(), some_variants()
SMALLEST = [find_game(name).variant() for name in game_names()]
SECOND = [find_game(name).variant(find_game(name).players[1]) for name in game_names()]
ENCODED = [(variant, name) for variant in SMALLEST for name in variant.game.encodings]
CUT_OFF = ["samurai_spirit"]  # games that end at their limit of decisions

each = pytest.mark.parametrize("variant", EVERY, ids=label)
some = pytest.mark.parametrize("variant", SOME, ids=label)
smallest = pytest.mark.parametrize("variant", SMALLEST, ids=label)
second = pytest.mark.parametrize("variant", SECOND, ids=label)
modes = pytest.mark.parametrize("mode", list(AutoresetMode), ids=lambda mode: mode.value)


def make(variant: Variant, num_envs: int = 3, **kwargs) -> GameVectorEnv:
    """In SAME_STEP unless said otherwise: no step is lost."""
    settings = {"autoreset_mode": "SameStep", **variant.options, **kwargs}
    return GameVectorEnv(variant.game.name, num_envs, variant.num_players, **settings)


def make_aec(variant: Variant, **kwargs) -> GameAEC:
    return GameAEC(variant.game.name, variant.num_players, **variant.options, **kwargs)


class Chooser:
    """Random legal actions, those of game i from a stream of its own: the same in every batch size."""

    def __init__(self, num_envs: int, seed: int = 0) -> None:
        self.streams = np.array([[1000 * seed + i] for i in range(num_envs)], np.uint64)

    def __call__(self, masks: np.ndarray) -> np.ndarray:
        actions = np.zeros(len(masks), np.int64)
        for i in range(len(masks)):
            if masks[i].any():
                pick_legal(masks[i : i + 1], self.streams[i], actions[i : i + 1])
        return actions


def outputs(step: tuple) -> tuple:
    """Copies of what a step returned, infos last: what comes next overwrites the arrays."""
    observed, *arrays, info = step
    return ({key: value.copy() for key, value in observed.items()}, *(a.copy() for a in arrays), copied(info))


def copied(info: dict) -> dict:
    return {key: copied(value) if isinstance(value, dict) else value.copy() for key, value in info.items()}


def assert_same(a, b, where="") -> None:
    """Nested dicts and arrays of equal content; object arrays hold dicts or None."""
    if isinstance(a, dict):
        assert set(a) == set(b), where
        for key in a:
            assert_same(a[key], b[key], f"{where}.{key}")
    elif isinstance(a, np.ndarray) and a.dtype == object and any(isinstance(x, dict) for x in a):
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            assert_same(x, y, f"{where}[{i}]")
    else:
        assert np.array_equal(a, b), (where, a, b)


def advance(env: GameVectorEnv, steps: int, seed: int = 0) -> dict[str, np.ndarray]:
    """Begin games and make so many random decisions in each; the last observations."""
    observed, _ = env.reset(seed=seed)
    choose = Chooser(env.num_envs, seed)
    for _ in range(steps):
        observed, *_ = env.step(choose(observed["action_mask"]))
    return observed


def digest(env: GameVectorEnv, steps: int, seed: int = 0) -> str:
    """A hash over all that so many steps return."""
    found = hashlib.sha256()
    observed, info = env.reset(seed=seed)
    choose = Chooser(env.num_envs)
    for _ in range(steps):
        observed, *arrays, info = env.step(choose(observed["action_mask"]))
        for array in (*observed.values(), *arrays, info["seat"], info["rewards"]):
            found.update(array.tobytes())
    return found.hexdigest()


# ---------------------------------------------------------------- made by Gymnasium


@pytest.mark.parametrize("name", game_names())
def test_made_by_gymnasium(name) -> None:
    game, env_id = find_game(name), GAMES[name][1]
    options = last_values(game, 3)
    env = gymnasium.make_vec(env_id, num_envs=5, num_players=3, threads=2, autoreset_mode="NextStep", **options)
    assert type(env) is GameVectorEnv
    assert env.num_envs == 5
    assert env.spec.id == env_id
    assert env.variant == game.variant(3, **options)
    assert env.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    assert gymnasium.make_vec(env_id).metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP  # as Gymnasium's own
    env.close()
    env.close()


@each
def test_spaces(variant) -> None:
    """What comes back is in the spaces, and has the types that the class promises."""
    env, choose = make(variant, 4), Chooser(4)
    assert env.single_action_space.n == variant.num_actions
    assert env.action_space.sample().shape == (4,)
    observed, info = env.reset(seed=1)
    for _ in range(12):
        assert observed in env.observation_space
        assert all({key: array[i] for key, array in observed.items()} in env.single_observation_space for i in range(4))
        assert observed["action_mask"].any(axis=1).all()
        actions = choose(observed["action_mask"])
        assert actions in env.action_space
        observed, rewards, terminations, truncations, info = env.step(actions)
        assert (rewards.dtype, rewards.shape) == (np.float32, (4,))
        assert (terminations.dtype, terminations.shape) == (truncations.dtype, truncations.shape) == (np.bool_, (4,))
        assert (info["seat"].dtype, info["seat"].shape) == (info["actor"].dtype, info["actor"].shape) == (np.int8, (4,))
        assert (info["rewards"].dtype, info["rewards"].shape) == (np.float32, (4, variant.num_players))


# ---------------------------------------------------------------- the same game in every form


def assert_same_as_aec(variant: Variant, env: GameVectorEnv, rows: list[int], steps: int, **kwargs) -> int:
    """Step the batch and, for some of its rows, AEC environments with the same actions; how many games ended there."""
    aecs = {row: make_aec(variant, **kwargs) for row in rows}
    observed, info = env.reset(seed=30)
    for row, aec in aecs.items():
        aec.reset(seed=30 + row)
    choose, ended = Chooser(env.num_envs), 0
    for _ in range(steps):
        actions = choose(observed["action_mask"])
        for row, aec in aecs.items():
            agent = aec.agent_selection
            assert env.states[row].tobytes() == aec.position.state.tobytes()
            assert agent == f"player_{info['seat'][row]}"
            expected = aec.observe(agent)
            assert all(np.array_equal(observed[key][row], expected[key]) for key in expected)
        actors = info["seat"].copy()
        observed, rewards, terminations, _, info = env.step(actions)
        assert np.array_equal(info["actor"], actors)
        for row, aec in aecs.items():
            agent = aec.agent_selection
            aec.step(actions[row])
            assert info["rewards"][row].tolist() == np.float32(list(aec.rewards.values())).tolist()
            assert rewards[row] == np.float32(aec.rewards[agent])
            assert terminations[row] == aec.terminations[agent]
            if terminations[row]:
                ended += 1
                assert np.array_equal(info["final_obs"][row]["observation"], aec.observe(agent)["observation"])
                masks = [final["action_mask"] for final in info["final_obs"] if final is not None]
                assert len({id(mask) for mask in masks}) == len(masks), "each game has arrays of its own"
                assert np.array_equal(info["final_info"]["returns"][row], np.float32(aec.infos[agent]["returns"]))
                aec.reset()  # the game that follows, as the batch does automatically
    return ended


@each
def test_the_same_game_as_aec(variant) -> None:
    steps = 2 * len(advance_alone(variant))
    assert assert_same_as_aec(variant, make(variant, 3), [0, 1, 2], steps) > 0


def advance_alone(variant: Variant) -> list[int]:
    """The actions of one random game."""
    position, rng, actions = Position(variant, 30), np.random.default_rng(0), []
    while not position.over:
        actions.append(int(rng.choice(position.legal_actions())))
        position.step(actions[-1])
    return actions


@pytest.mark.parametrize("reward", ["result", "shaped"])
@pytest.mark.parametrize(("num_envs", "threads"), [(1, 1), (1, 2), (3, 2), (64, 1), (64, 2)])
@second
def test_the_same_game_in_every_batch(variant, num_envs, threads, reward) -> None:
    env = make(variant, num_envs, threads=threads, reward=reward)
    rows = sorted({0, num_envs // 2, num_envs - 1})
    assert assert_same_as_aec(variant, env, rows, 250, reward=reward) > 0
    env.close()


@pytest.mark.parametrize(("variant", "encoding"), ENCODED, ids=lambda x: x if isinstance(x, str) else label(x))
def test_the_same_game_in_every_encoding(variant, encoding) -> None:
    env = make(variant, 3, encoding=encoding)
    assert assert_same_as_aec(variant, env, [0, 1, 2], 200, encoding=encoding) > 0


@second
def test_threads_do_not_disturb_each_other(variant) -> None:
    expected = digest(make(variant, 1000), 80)
    for threads in (2, 3, 8):
        env = make(variant, 1000, threads=threads)
        assert digest(env, 80) == expected
        env.close()


@smallest
def test_threads_sleep_and_wake(variant) -> None:
    """A worker spins for some 200 microseconds, then it sleeps; either way it answers the next step."""
    env, choose = make(variant, 64, threads=2), Chooser(64)
    alone, observed = make(variant, 64), env.reset(seed=0)[0]
    alone.reset(seed=0)
    for waits in (False, True) * 10:
        end = time.monotonic() + 30.0
        while waits and not env._workers[0]._signals.asleep:
            assert time.monotonic() < end
            time.sleep(0.001)
        actions = choose(observed["action_mask"])
        observed, rewards, *_ = env.step(actions)
        expected, same_rewards, *_ = alone.step(actions)
        assert_same(observed, expected)
        assert np.array_equal(rewards, same_rewards)
    env.close()


@smallest
def test_threads_end_with_their_environment(variant) -> None:
    closed, forgotten = make(variant, 8, threads=3), make(variant, 8, threads=3)
    threads = [worker._thread for env in (closed, forgotten) for worker in env._workers]
    assert len(threads) == 4
    assert all(thread.is_alive() for thread in threads)
    closed.close()
    del forgotten
    gc.collect()
    for thread in threads:
        thread.join(5.0)
        assert not thread.is_alive()


@smallest
def test_a_thread_that_has_ended_is_told_of(variant) -> None:
    env, choose = make(variant, 8, threads=2), Chooser(8)
    observed, _ = env.reset(seed=0)
    env._workers[0].stop()
    env._workers[0]._thread.join(5.0)
    before = env.states.copy()
    with pytest.raises(RuntimeError, match="a thread of the environment has ended"):
        env.step(choose(observed["action_mask"]))
    assert np.array_equal(env.states, before)


@smallest
def test_an_interrupted_step_is_never_made_later(variant, monkeypatch) -> None:
    """After Ctrl-C within a step a reset is asked for, and no thread steps the new games by the old call."""
    env, choose = make(variant, 8, threads=2), Chooser(8)
    observed, _ = env.reset(seed=0)
    worker = env._workers[0]
    start = worker.start

    def interrupted_start() -> None:
        monkeypatch.undo()
        start()
        raise KeyboardInterrupt

    def interrupted_result() -> int:
        monkeypatch.undo()
        raise KeyboardInterrupt

    for place, interrupted in (("start", interrupted_start), ("result", interrupted_result)):
        actions = choose(observed["action_mask"])
        monkeypatch.setattr(worker, place, interrupted)
        with pytest.raises(KeyboardInterrupt):
            env.step(actions)
        with pytest.raises(ResetNeeded):
            env.step(actions)
        observed, _ = env.reset(seed=5)
        time.sleep(0.05)
        assert (env.states["steps"] == 0).all()
        observed, *_ = env.step(choose(observed["action_mask"]))
        assert (env.states["steps"] == 1).all()
    env.close()


@some
def test_a_game_does_not_depend_on_its_batch(variant) -> None:
    """Batch size, threads and its place in the batch make no difference to a game."""
    large = make(variant, 64, threads=2)
    observed, _ = large.reset(seed=0)
    choose = Chooser(64)
    small, small_choose = make(variant, 3), Chooser(3, 0)
    small_choose.streams[:] = choose.streams[20:23]
    small_observed, _ = small.reset(seed=20)
    for _ in range(60):
        assert_same(small_observed, {key: array[20:23] for key, array in observed.items()})
        observed, rewards, *_ = large.step(choose(observed["action_mask"]))
        small_observed, small_rewards, *_ = small.step(small_choose(small_observed["action_mask"]))
        assert np.array_equal(small_rewards, rewards[20:23])
    large.close()


@smallest
def test_the_same_in_other_processes(variant) -> None:
    code = (
        "import sys; from samurai_env import parse_variant; from tests.envs.test_vector import digest, make;"
        "print(digest(make(parse_variant(sys.argv[1]), 5, threads=int(sys.argv[2])), 120))"
    )
    expected = digest(make(variant, 5), 120)
    for hash_seed in ("1", "2"):
        found = subprocess.run(
            [sys.executable, "-c", code, variant.spec, hash_seed],
            capture_output=True,
            text=True,
            check=True,
            cwd=Path(__file__).resolve().parents[2],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
        )
        assert found.stdout.strip() == expected


# ---------------------------------------------------------------- autoreset, as Gymnasium's own vector has it


@modes
@some
def test_autoreset_is_gymnasiums(variant, mode) -> None:
    """Gymnasium's `SyncVectorEnv` over environments that decide for all seats returns the same at every step."""

    def alone():
        return GameEnv(variant.game.name, variant.num_players, seat="all", **variant.options)

    env, sync = make(variant, 3, autoreset_mode=mode), SyncVectorEnv([alone] * 3, autoreset_mode=mode)
    observed, info = env.reset(seed=40)
    expected, _ = sync.reset(seed=40)
    choose, ends, known = Chooser(3), 0, ("seat", "action_mask", "final_obs", "_final_obs", "_final_info")
    reported = ("returns", "_returns", *variant.game.describe_result(env.states[0]))
    while ends < 5:
        assert_same(observed, expected)
        actions = choose(observed["action_mask"])
        observed, *found, info = outputs(env.step(actions))
        expected, rewards, *flags, infos = sync.step(actions)
        assert_same(found, [rewards.astype(np.float32), *flags])
        over = found[1] | found[2]
        ends += over.sum()
        assert {key for key in known if key in info} == {key for key in known if key in infos}
        assert np.array_equal(info["_returns"], infos.get("_returns", infos.get("_final_info", np.zeros(3, bool))))
        for key in ("seat", "action_mask", "final_obs", "_final_obs", "_final_info"):
            if key in infos and (key != "seat" or mode == AutoresetMode.SAME_STEP or not over.any()):
                assert_same(info[key], infos[key], key)
        ours, theirs = (i.get("final_info", i) for i in (info, infos))
        for key in reported:
            if key in theirs:
                assert_same(ours[key], theirs[key].astype(ours[key].dtype), key)
        if mode == AutoresetMode.DISABLED and over.any():
            observed, _ = env.reset(options={"reset_mask": over})
            expected, _ = sync.reset(options={"reset_mask": over})


@second
def test_same_step(variant) -> None:
    env, choose, followers = make(variant, 3), Chooser(3), 0
    observed, _ = env.reset(seed=50)
    while followers < 4:
        seeds, before = env.states["seed"].copy(), env.states.copy()
        actions = choose(observed["action_mask"])
        observed, _, terminations, _, info = env.step(actions)
        assert not env.states["over"].any()
        assert ("final_obs" in info) == terminations.any() == ("final_info" in info)
        for row in range(3):
            if terminations[row]:
                followers += 1
                assert env.states["seed"][row] == next_seed(seeds[row])
                assert env.states[row].tobytes() == Position(variant, int(next_seed(seeds[row]))).state.tobytes()
                last = Position(variant)
                last.states[0] = before[row]
                last.step(actions[row])
                assert last.over
                final = info["final_obs"][row]
                assert final in env.single_observation_space
                assert np.array_equal(final["observation"], last.observe(last.seat))
                assert not final["action_mask"].any()
                assert info["final_info"]["returns"][row].tolist() == np.float32(last.returns()).tolist()
            else:
                assert env.states["seed"][row] == seeds[row]
                assert "final_obs" not in info or info["final_obs"][row] is None
                assert "final_info" not in info or not info["final_info"]["returns"][row].any()


@second
def test_next_step_spends_a_step_on_the_reset(variant) -> None:
    env, choose, ended = make(variant, 3, autoreset_mode="NextStep"), Chooser(3), np.zeros(3, bool)
    observed, _ = env.reset(seed=50)
    resets = 0
    while resets < 4:
        seeds, actions = env.states["seed"].copy(), choose(observed["action_mask"])
        actions[ended] = 10**6  # ignored
        observed, rewards, terminations, _, info = outputs(env.step(actions))
        for row in np.flatnonzero(ended):
            resets += 1
            assert env.states[row].tobytes() == Position(variant, int(next_seed(seeds[row]))).state.tobytes()
            assert (rewards[row], terminations[row]) == (0, False)
            assert not info["rewards"][row].any()
        for row in np.flatnonzero(terminations):
            assert env.states["over"][row]
            assert not observed["action_mask"][row].any()
            assert info["_returns"][row]
        ended = terminations


@second
def test_disabled_leaves_finished_games_alone(variant) -> None:
    env, choose = make(variant, 3, autoreset_mode=AutoresetMode.DISABLED), Chooser(3)
    observed, _ = env.reset(seed=50)
    reported = np.zeros(3, int)
    terminations = np.zeros(3, bool)
    while not terminations.all():
        finished, before = terminations.copy(), env.states.copy()
        actions = choose(observed["action_mask"])
        actions[finished] = -1  # ignored
        observed, rewards, terminations, _, info = env.step(actions)
        reported += info.get("_returns", 0)
        assert terminations[finished].all()
        assert env.states[finished].tobytes() == before[finished].tobytes()
        assert not rewards[finished].any()
        assert not info["rewards"][finished].any()
        assert not observed["action_mask"][finished].any()
    assert reported.tolist() == [1, 1, 1]


@second
def test_reset_mask(variant) -> None:
    """Begins the chosen games alone; everything of the others stays."""
    env = make(variant, 4)
    before = {key: array.copy() for key, array in advance(env, 3, seed=60).items()}
    states, mask = env.states.copy(), np.array([False, True, False, True])
    for seed, seeds in ((None, [next_seed(61), next_seed(63)]), ([1, 2, None, 4], [2, 4]), (90, [91, 93])):
        env.restore(states)
        observed, info = env.reset(seed=seed, options={"reset_mask": mask})
        assert env.states["seed"][mask].tolist() == [int(s) for s in seeds]
        assert env.states[~mask].tobytes() == states[~mask].tobytes()
        for row, one in zip((1, 3), seeds, strict=True):
            position = Position(variant, int(one))
            assert env.states[row].tobytes() == position.state.tobytes()
            assert info["seat"][row] == position.seat
            assert np.array_equal(observed["observation"][row], position.observe(position.seat))
            assert np.array_equal(observed["action_mask"][row], position.legal_mask())
        assert all(np.array_equal(observed[key][~mask], before[key][~mask]) for key in before)
    for row in range(4):  # the legal actions are known again everywhere
        for action in range(variant.num_actions):
            if not observed["action_mask"][row, action]:
                actions = observed["action_mask"].argmax(1)
                actions[row] = action
                with pytest.raises(IllegalActionError, match=rf"game {row}: .*action {action}\b"):
                    env.step(actions)
    none = np.zeros(4, bool)
    states = env.states.copy()
    env.reset(options={"reset_mask": none})
    assert env.states.tobytes() == states.tobytes()


@smallest
def test_a_seed_is_that_of_np_random_too(variant) -> None:
    drawn = []
    for _ in range(2):
        env = make(variant, 3)
        env.reset(seed=7)
        env.reset()
        drawn.append(env.np_random.random(5).tolist())
    assert drawn[0] == drawn[1]


@smallest
def test_bad_reset_masks(variant) -> None:
    env = make(variant, 4)
    with pytest.raises(ResetNeeded, match="the first reset, or that after an interrupted call, must be of all games"):
        env.reset(options={"reset_mask": np.array([True, True, True, False])})
    env.reset(seed=1, options={"reset_mask": np.ones(4, bool)})
    before = env.states.copy()
    with pytest.raises(ValueError, match=r"reset_mask must have shape \(4,\), not \(3,\)"):
        env.reset(options={"reset_mask": np.ones(3, bool)})
    for mask in (np.ones(4, np.int64), [True] * 4):
        with pytest.raises(TypeError, match="reset_mask must be a NumPy array of bool"):
            env.reset(options={"reset_mask": mask})
    assert env.states.tobytes() == before.tobytes()


@modes
@pytest.mark.parametrize("name", CUT_OFF)
def test_a_game_that_is_cut_off_is_truncated(name, mode) -> None:
    """Every decision of a game at its limit ends it; where that is not the game's own end, it is a truncation."""
    truncated = 0
    for variant in all_variants(find_game(name)):
        env = make(variant, 8, autoreset_mode=mode)
        env.reset(seed=0)
        states = env.states.copy()
        states["steps"] = variant.max_steps - 1
        observed, _ = env.restore(states)
        *_, terminations, truncations, info = env.step(observed["action_mask"].argmax(1))
        assert (terminations ^ truncations).all()
        assert np.array_equal(truncations, info.get("final_info", info)["result"] == "truncated")
        truncated += truncations.sum()
        if mode == AutoresetMode.DISABLED:
            kept = truncations.copy()
            assert np.array_equal(env.step(np.zeros(8, int))[3], kept)  # until the game is reset
            states = env.states.copy()
            env.reset(seed=1)
            assert not env.step(env._masks.argmax(1))[3].any()
            advance(env, 600)
            finished = env.states.copy()
            assert finished["over"].all()
            for one, expected in ((states, kept), (finished, np.zeros(8, bool)), (states, kept)):
                env.restore(one)
                _, _, terminations, truncations, _ = env.step(np.zeros(8, int))
                assert np.array_equal(truncations, expected)
                assert np.array_equal(terminations, ~expected)
        else:
            assert not env.step(env._masks.argmax(1))[3].any()
    assert truncated > 0


# ---------------------------------------------------------------- seeds


@second
def test_seeds(variant) -> None:
    env = make(variant, 3)
    for seed, expected in ((5, [5, 6, 7]), (np.int64(5), [5, 6, 7]), ([9, 3, 3], [9, 3, 3]), (np.arange(3), [0, 1, 2])):
        env.reset(seed=seed)
        assert env.states["seed"].tolist() == expected
    env.reset()  # each game is followed by the next of its own line
    assert env.states["seed"].tolist() == [int(next_seed(i)) for i in range(3)]
    env.reset(seed=[None, 4, None])
    assert env.states["seed"].tolist() == [int(next_seed(next_seed(0))), 4, int(next_seed(next_seed(2)))]
    a, b = make(variant, 3), make(variant, 3)
    a.reset()
    b.reset(seed=[None, 4, None])
    assert b.states["seed"][1] == 4
    assert len({*a.states["seed"].tolist(), *b.states["seed"].tolist()}) == 6


@smallest
@pytest.mark.parametrize(
    ("seed", "error", "message"),
    [
        ([1, 2], ValueError, "2 seeds for 3 games"),
        ([1, 2, 3, 4], ValueError, "4 seeds for 3 games"),
        (-1, ValueError, "a seed must be an integer from 0"),
        (2**63 - 2, ValueError, "a seed must be an integer from 0"),  # the third game's would be too large
        ([1, -2, 3], ValueError, "a seed must be an integer from 0"),
        ([1, 2.0, 3], TypeError, "integer"),
        (1.0, TypeError, "integer"),
        ("123", TypeError, "integer"),
    ],
)
def test_impossible_seeds(variant, seed, error, message) -> None:
    env = make(variant, 3)
    env.reset(seed=1)
    before = env.states.copy()
    with pytest.raises(error, match=message):
        env.reset(seed=seed)
    assert env.states.tobytes() == before.tobytes()


# ---------------------------------------------------------------- buffers, saving, restoring


@second
def test_arrays_are_reused(variant) -> None:
    """The same arrays come back from every call, with new contents."""
    env, choose = make(variant, 3), Chooser(3)
    observed, info = env.reset(seed=1)
    arrays = [*observed.values(), info["seat"]]
    first = [array.copy() for array in arrays]
    observed, _, terminations, truncations, info = env.step(choose(observed["action_mask"]))
    assert all(a is b for a, b in zip(arrays, [*observed.values(), info["seat"]], strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(arrays, first, strict=True))
    again = env.step(choose(observed["action_mask"]))
    assert again[2] is terminations
    assert again[3] is truncations
    assert again[4]["rewards"] is info["rewards"]
    env.reset(seed=1)
    assert all(np.array_equal(a, b) for a, b in zip(arrays, first, strict=True))


@modes
@some
def test_restore(variant, mode) -> None:
    """From a copy of `states` everything goes on as it did, in this environment and in another."""
    env = make(variant, 3, autoreset_mode=mode)
    observed = {key: array.copy() for key, array in advance(env, 5, seed=70).items()}
    saved = env.states.copy()
    traces = []
    for one in (env, env, make(variant, 3, autoreset_mode=mode)):
        restored, info = one.restore(saved)
        assert_same(restored, observed)
        assert info["seat"].tolist() == saved["seat"].tolist()
        choose, trace = Chooser(3, 9), []
        for _ in range(40):
            trace.append(outputs(one.step(choose(restored["action_mask"]))))
        traces.append(trace)
    for trace in traces[1:]:
        for a, b in zip(traces[0], trace, strict=True):
            assert_same(dict(enumerate(a)), dict(enumerate(b)))


@second
def test_restore_of_finished_games(variant) -> None:
    """With autoreset in the same step, finished games are reset; otherwise they stay over."""
    env = make(variant, 3, autoreset_mode="Disabled")
    advance(env, variant.max_steps)
    states = env.states.copy()
    assert states["over"].all()
    states[1:2] = Position(variant, 1).states
    for mode in AutoresetMode:
        one = make(variant, 3, autoreset_mode=mode)
        observed, _ = one.restore(states)
        fresh = mode == AutoresetMode.SAME_STEP
        assert observed["action_mask"].any(axis=1).tolist() == [fresh, True, fresh]
        assert one.states["over"].tolist() == [not fresh, 0, not fresh]
        _, _, terminations, _, _ = one.step(observed["action_mask"].argmax(1))
        assert terminations[[0, 2]].tolist() == [mode == AutoresetMode.DISABLED] * 2
        last = one.states["seed"] if mode == AutoresetMode.DISABLED else [next_seed(s) for s in states["seed"]]
        assert one.states["seed"][[0, 2]].tolist() == [int(last[0]), int(last[2])]


@some
def test_restore_refuses_what_does_not_fit(variant) -> None:
    env = make(variant, 3)
    advance(env, 5)
    before = env.states.copy()
    with pytest.raises(ValueError, match=r"states must have shape \(3,\), one for each game, not \(2,\)"):
        env.restore(before[:2])
    with pytest.raises(ValueError, match="these are no states of"):
        env.restore(before.view(np.uint8))
    damaged = before.copy()
    damaged["over"][1] = 7
    with pytest.raises(ValueError, match="field 'over' of the saved game holds values from 0 to 7"):
        env.restore(damaged)
    damaged = before.copy()
    damaged["seat"][1] = variant.num_players
    with pytest.raises(ValueError, match="'seat'"):
        env.restore(damaged)
    for other in all_variants(variant.game):
        if other.dtype == variant.dtype and other != variant:
            foreign = make(other, 3)
            foreign.reset(seed=0)
            with pytest.raises(ValueError, match=r"of the saved game|the saved game has"):
                env.restore(foreign.states)
    assert env.states.tobytes() == before.tobytes()


# ---------------------------------------------------------------- errors


@pytest.mark.parametrize("threads", [1, 2])
@some
def test_an_illegal_action_changes_nothing(variant, threads) -> None:
    env = make(variant, 5, threads=threads, reward="shaped")
    observed = advance(env, 4)
    assert not observed["action_mask"].all(axis=1).any()
    legal, states = observed["action_mask"].argmax(1), env.states.copy()
    kept = {key: array.copy() for key, array in observed.items()}
    for row in (0, 4):
        for action in (-1, variant.num_actions, 10**9, int(observed["action_mask"][row].argmin())):
            actions = legal.copy()
            actions[row] = action
            with pytest.raises(IllegalActionError, match=rf"game {row}: .*action {action}\b"):
                env.step(actions)
    assert env.states.tobytes() == states.tobytes()
    assert_same(observed, kept)
    env.step(legal)
    assert env.states.tobytes() != states.tobytes()
    env.close()


@smallest
def test_actions_of_another_kind(variant) -> None:
    env = make(variant, 3)
    legal = advance(env, 1)["action_mask"].argmax(1)
    before = env.states.copy()
    bad = [
        legal[:2],
        legal[None],
        legal.astype(float),
        legal.astype(str),
        None,
        int(legal[0]),
        legal.astype(bool),
        [[0], [1, 2], 3],
    ]
    for actions in bad:
        with pytest.raises(ValueError, match=r"actions must be integers of shape \(3,\), not"):
            env.step(actions)
    assert env.states.tobytes() == before.tobytes()
    after = []
    for actions in (legal, legal.astype(np.int16), legal.astype(np.uint64), legal.tolist(), np.repeat(legal, 2)[::2]):
        env.restore(before)
        env.step(actions)
        after.append(env.states.tobytes())
    assert len(set(after)) == 1


@smallest
def test_step_before_reset(variant) -> None:
    with pytest.raises(ResetNeeded, match="reset"):
        make(variant, 3).step(np.zeros(3, np.int64))


@smallest
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_envs": 0}, "num_envs and threads must be at least 1, not 0 and 1"),
        ({"threads": 0}, "num_envs and threads must be at least 1, not 3 and 0"),
        ({"autoreset_mode": "never"}, "autoreset_mode must be one of NextStep, SameStep, Disabled, not 'never'"),
        ({"reward": "gold"}, "reward must be one of result, shaped, not 'gold'"),
        ({"encoding": "pixels"}, "has no encoding 'pixels'; it has"),
        ({"num_players": 99}, "players, not 99"),
        ({"observation": "text"}, "observation must be one of dict, box, not 'text'"),
        ({"render_mode": "film"}, "render_mode must be one of ansi, svg, rgb_array, not 'film'"),
        ({"render_mode": "human"}, "render_mode must be one of ansi, svg, rgb_array, not 'human'"),
    ],
)
def test_wrong_arguments(variant, arguments, message) -> None:
    with pytest.raises(ValueError, match=message):
        GameVectorEnv(variant.game.name, **{"num_envs": 3, **arguments})


@smallest
def test_an_unknown_keyword(variant) -> None:
    for arguments in ({}, {"opponents": "greedy"}):
        with pytest.raises(TypeError, match="got an unexpected keyword argument 'frameskip'; it takes num_envs") as e:
            gymnasium.make_vec(GAMES[variant.game.name][1], num_envs=2, frameskip=4, **arguments)
        names = ("observation", "copy", "opponents", "seat", "device", *variant.game.options)
        assert all(name in str(e.value) for name in names)
        assert len(str(e.value)) < 330


def test_a_mistyped_keyword_is_answered_with_the_right_one() -> None:
    for wrong, right in {"opponent": "opponents", "num_player": "num_players", "edtion": "edition"}.items():
        with pytest.raises(TypeError, match=f"keyword argument '{wrong}' .did you mean '{right}'"):
            gymnasium.make_vec(GAMES["samurai"][1], num_envs=2, **{wrong: "greedy"})


@smallest
@pytest.mark.parametrize("name", ["num_envs", "threads"])
def test_numbers_that_are_none(variant, name) -> None:
    for value in ("3", 1.5, None):
        with pytest.raises(TypeError, match=f"^{name} must be an integer, not {value!r}$"):
            GameVectorEnv(variant.game.name, **{name: value})
    with pytest.raises(TypeError, match=r"^a seed must be an integer, not 1\.5$"):
        make(variant, 3).reset(seed=1.5)


@smallest
def test_more_threads_than_games(variant) -> None:
    env = make(variant, 2, threads=8)
    assert digest(env, 40) == digest(make(variant, 2), 40)
    env.close()


# ---------------------------------------------------------------- Gymnasium's vector wrappers


@modes
@second
def test_episode_statistics(variant, mode) -> None:
    """Gymnasium's counter of episodes works on the reused arrays."""
    env = RecordEpisodeStatistics(make(variant, 3, autoreset_mode=mode, reward="shaped"))
    observed, _ = env.reset(seed=50)
    choose, totals, lengths, found = Chooser(3), np.zeros(3), np.zeros(3, int), 0
    fresh = np.zeros(3, bool)
    while found < 3:
        observed, rewards, terminations, _, info = env.step(choose(observed["action_mask"]))
        totals += np.where(fresh, 0, rewards)
        lengths += ~fresh
        for row in np.flatnonzero(terminations):
            assert info["episode"]["l"][row] == lengths[row]
            assert info["episode"]["r"][row] == pytest.approx(totals[row], abs=1e-5)
            totals[row] = lengths[row] = 0
            found += 1
        if mode == AutoresetMode.DISABLED and terminations.any():
            observed, _ = env.reset(options={"reset_mask": terminations.copy()})
        fresh = terminations.copy() if mode == AutoresetMode.NEXT_STEP else np.zeros(3, bool)


@modes
@second
def test_info_as_a_list(variant, mode) -> None:
    env = DictInfoToList(make(variant, 3, autoreset_mode=mode))
    observed, infos = env.reset(seed=50)
    choose, terminations = Chooser(3), np.zeros(3, bool)
    assert [set(info) for info in infos] == [{"seat", "action_mask"}] * 3
    while not terminations.any():
        observed, _, terminations, _, infos = env.step(choose(observed["action_mask"]))
    for info, ended in zip(infos, terminations, strict=True):
        reported = info.get("final_info", info) if mode == AutoresetMode.SAME_STEP else info
        assert {"seat", "actor", "rewards"} <= set(info)
        assert ("returns" in reported) == ended
        assert ("final_obs" in info) == (ended and mode == AutoresetMode.SAME_STEP)


@second
def test_a_wrapper_that_changes_observations(variant) -> None:
    """Gymnasium's wrapper writes into the arrays it is given; the games do not notice."""
    env = VectorizeTransformObservation(
        make(variant, 3, autoreset_mode="NextStep"),
        gymnasium.wrappers.TransformObservation,
        func=lambda seen: {"observation": -seen["observation"], "action_mask": 1 - seen["action_mask"]},
        observation_space=None,
    )
    plain, choose = make(variant, 3, autoreset_mode="NextStep"), Chooser(3)
    observed, _ = plain.reset(seed=50)
    env.reset(seed=50)
    for _ in range(150):
        actions = choose(observed["action_mask"])
        changed, *arrays, _ = env.step(actions)
        observed, *expected, _ = plain.step(actions)
        assert_same(arrays, expected)
        assert np.array_equal(changed["observation"], -observed["observation"])
        assert np.array_equal(changed["action_mask"], 1 - observed["action_mask"])
