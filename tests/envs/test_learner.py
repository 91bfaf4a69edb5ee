"""One learner in each of many games: the games of `GameEnv`, whoever plays the other seats; copies, threads, errors."""

import copy
import pickle
from dataclasses import dataclass

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers.vector import RecordEpisodeStatistics

from samurai_env.core.game import Variant, find_game, game_names
from samurai_env.envs.learner import LearnerVectorEnv
from samurai_env.envs.single import GameEnv
from samurai_env.envs.vector import GameVectorEnv
from samurai_env.game_batch import GameBatch
from samurai_env.games import GAMES
from samurai_env.position import IllegalActionError
from tests.common.variants import label
from tests.envs.test_vector import Chooser, assert_same, outputs

SMALLEST = [find_game(name).variant() for name in game_names()]
SECOND = [find_game(name).variant(find_game(name).players[1]) for name in game_names()]
TWO = [find_game(name).variant(2) for name in game_names()]
MODES = [mode.value for mode in AutoresetMode]

second = pytest.mark.parametrize("variant", SECOND, ids=label)
two = pytest.mark.parametrize("variant", TWO, ids=label)


class Keyed:
    """An agent that takes a legal action by its key."""

    def __init__(self, variant: Variant) -> None:
        self.batch = GameBatch(variant)

    def act(self, states, keys):
        masks = self.batch.legal_masks(states)
        return [np.flatnonzero(mask)[int(key % mask.sum())] for mask, key in zip(masks, keys)]


def first(seen):
    """The first legal action, in one game or in several."""
    return seen["action_mask"].argmax(-1)


def make(variant: Variant, num_envs: int = 3, **kwargs) -> LearnerVectorEnv:
    return LearnerVectorEnv(variant.game.name, num_envs, variant.num_players, **variant.options, **kwargs)


def assert_same_as_alone(variant: Variant, mode: str, games: int, ends: int, **kwargs) -> None:
    """Play games in a batch and one by one until so many have ended: observations, masks, rewards, ends, infos."""
    env = make(variant, games, autoreset_mode=mode, **kwargs)
    alone = [GameEnv(variant.game.name, variant.num_players, **variant.options, **kwargs) for _ in range(games)]
    observed, info = env.reset(seed=30)
    expected = [one.reset(seed=30 + row) for row, one in enumerate(alone)]
    choose, over = Chooser(games), [False] * games
    while ends > 0:
        assert observed in env.observation_space
        for row, (seen, *_, said) in enumerate(expected):
            assert np.array_equal(observed["observation"][row], seen["observation"])
            assert np.array_equal(observed["action_mask"][row], seen["action_mask"])
            assert np.array_equal(info["action_mask"][row], seen["action_mask"])
            assert info["seat"][row] == said["seat"]
        actions = choose(observed["action_mask"])
        observed, rewards, terminations, truncations, info = env.step(actions)
        for row, one in enumerate(alone):
            if over[row]:
                over[row] = False
                expected[row] = one.reset()
                assert (rewards[row], terminations[row], truncations[row]) == (0.0, False, False)
                continue
            expected[row] = one.step(actions[row])
            assert rewards[row] == np.float32(expected[row][1])
            assert (terminations[row], truncations[row]) == expected[row][2:4]
            ended = terminations[row] or truncations[row]
            assert info["_returns"][row] == ended
            if ended:
                ends -= 1
                seen, *_, said = expected[row]
                assert info["returns"][row].tolist() == np.float32(said["returns"]).tolist()
                over[row] = mode == "NextStep"
                if mode == "SameStep":
                    assert_same(info["final_obs"][row], seen)
                    assert info["final_info"]["seat"][row] == said["seat"]
                    expected[row] = one.reset()


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
@pytest.mark.parametrize("opponents", ["random", "greedy"])
@second
def test_the_games_of_the_single_environment(variant, opponents, mode) -> None:
    """Same seed, same opponents, same game: from every kind of seat, in compiled code."""
    seat, reward = (variant.num_players - 1, "result") if mode == "NextStep" else ("random", "shaped")
    assert_same_as_alone(variant, mode, 3, 5, opponents=opponents, seat=seat, reward=reward)


@second
def test_agents_and_callables(variant) -> None:
    others = variant.num_players - 1
    opponents = [Keyed(variant), first, "greedy", "random"][:others]
    assert_same_as_alone(variant, "SameStep", 3, 4, opponents=opponents, seat="random")
    assert_same_as_alone(variant, "NextStep", 2, 2, opponents=opponents[::-1], seat=others)


@two
def test_made_by_gymnasium(variant) -> None:
    env_id = GAMES[variant.game.name][1]
    env = gymnasium.make_vec(env_id, num_envs=2, num_players=2, opponents="greedy")
    assert type(env) is LearnerVectorEnv
    assert env.spec.id == env_id
    assert env.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    assert type(gymnasium.make_vec(env_id, num_envs=2)) is GameVectorEnv
    with pytest.raises(ValueError, match=r"^seat=0 is that of one learner: name its opponents, too"):
        gymnasium.make_vec(env_id, num_envs=2, seat=0)


@two
def test_seats(variant) -> None:
    """One for each game, or another each game; those that move on begin where `reset` with a seed says."""
    env = make(variant, 5, seat=[0, 1, 1, 0, 1], opponents="random", autoreset_mode="SameStep")
    for seed in (1, 2):
        assert env.reset(seed=seed)[1]["seat"].tolist() == [0, 1, 1, 0, 1]
    env = make(variant, 5, seat="rotate", opponents="random", autoreset_mode="SameStep")
    for _ in range(2):
        seats = env.reset(seed=1)[1]["seat"].copy()
        assert seats.tolist() == [0, 1, 0, 1, 0]
        assert env.reset()[1]["seat"].tolist() == [1, 0, 1, 0, 1]
    unseeded = make(variant, 5, seat="rotate", opponents="random", autoreset_mode="SameStep")
    assert [unseeded.reset()[1]["seat"].tolist() for _ in range(2)] == [[0, 1, 0, 1, 0], [1, 0, 1, 0, 1]]
    unseeded.reset()  # its learners have the seats that `restored` begins with: no opponent plays, so no game can end
    restored = make(variant, 5, seat="rotate", opponents="random", autoreset_mode="SameStep")
    assert restored.restore(unseeded.states.copy())[1]["seat"].tolist() == [0, 1, 0, 1, 0]
    found = np.zeros(5, int)
    while not found.all():
        before = env._learners.copy()
        *_, terminations, truncations, info = env.step(env.action_space.sample())
        ended = terminations | truncations
        assert np.array_equal(info["seat"], np.where(ended, 1 - before, before))
        if ended.any():
            assert np.array_equal(info["final_info"]["seat"][ended], before[ended])
        found += ended


@two
def test_episode_statistics_are_the_learners(variant) -> None:
    """Gymnasium's wrapper counts the learner's rewards and decisions."""
    env = RecordEpisodeStatistics(make(variant, 4, opponents="random", seat="rotate"))
    env.reset(seed=1)
    found = 0
    while found < 6:
        *_, terminations, truncations, info = env.step(env.action_space.sample())
        for row in np.flatnonzero(terminations | truncations):
            found += 1
            assert info["episode"]["r"][row] == pytest.approx(info["returns"][row, info["seat"][row]], abs=1e-6)


@pytest.mark.parametrize("mode", MODES)
@two
def test_threads_change_nothing(variant, mode) -> None:
    envs = [make(variant, 31, opponents="greedy", seat="rotate", threads=t, autoreset_mode=mode) for t in (1, 3)]
    results = [env.reset(seed=2) for env in envs]
    for _ in range(60):
        assert_same(*({"seen": result[0], "info": result[-1]} for result in results))
        results = [outputs(env.step(env.action_masks().argmax(1))) for env in envs]
    for env in envs:
        env.close()


@pytest.mark.parametrize("copied", [copy.deepcopy, copy.copy, lambda env: pickle.loads(pickle.dumps(env))])
@two
def test_a_copy_plays_on_identically(variant, copied) -> None:
    opponents = "random" if variant.game.name == "samurai" else first
    settings = {"seat": "random", "autoreset_mode": "SameStep", "reward": "shaped"}
    env = make(variant, 3, opponents=opponents, threads=2, **settings)
    env.reset(seed=1)
    env.action_space.seed(4)
    for _ in range(9):
        env.step(env.action_space.sample())
    other = copied(env)
    for _ in range(50):
        actions = env.action_space.sample()
        assert np.array_equal(actions, other.action_space.sample())
        expected = outputs(env.step(actions))
        assert_same(dict(enumerate(expected)), dict(enumerate(outputs(other.step(actions)))))
    env.close()


@two
def test_restore(variant) -> None:
    """Games go on from a copy of `states`, twice in the same way; opponents move where it is their turn."""
    every = GameVectorEnv(variant.game.name, 4, 2, **variant.options)
    every.reset(seed=3, options={"desynchronize": True})
    env, traces = make(variant, 4, opponents="random", seat=1), []
    for _ in range(2):
        seen, info = env.restore(every.states)
        trace = [outputs((seen, info))]
        assert (env.states["seat"] == 1).all()
        for _ in range(20):
            trace.append(outputs(env.step(env.action_masks().argmax(1))))
        traces.append(trace)
    for a, b in zip(*traces):
        assert_same(dict(enumerate(a)), dict(enumerate(b)))


@two
def test_opponents_errors_name_seat_and_agent(variant) -> None:
    def wrong(seen):
        return (seen["action_mask"] == 0).argmax(1)

    def long(seen):
        return [0] * 4

    for opponent, error, message in (
        (wrong, IllegalActionError, r"^game \d: opponent wrong on seat 1: action \d+ .* is illegal for seat 1 now"),
        (long, ValueError, "^actions of opponent long must be integers of shape "),
    ):
        env = make(variant, 3, opponents=opponent)
        with pytest.raises(error, match=message):  # noqa: PT012
            env.reset(seed=1)
            for _ in range(50):
                env.step(env.action_space.sample())
        with pytest.raises(ResetNeeded):
            env.step(np.zeros(3, int))


@two
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seat": 2}, "seat must be a number from 0 to 1, one for each game, 'random' or 'rotate', not 2"),
        ({"seat": "all"}, "seat must be a number from 0 to 1, one for each game, 'random' or 'rotate', not 'all'"),
        ({"seat": [0, 1, 2]}, "seat must be a number from 0 to 1, one for each game"),
        ({"seat": [0, 1]}, r"the learners' seats must be integers of shape \(3,\)"),
        ({"seat": [[0], [1, 0]]}, r"^the learners' seats must be integers of shape \(3,\), not \[\[0\], \[1, 0\]\]"),
        ({"opponents": ["random"] * 2}, "needs 1 opponent, not 2"),
        ({"opponents": "greddy"}, "there is no agent 'greddy'"),
    ],
)
def test_wrong_arguments(variant, arguments, message) -> None:
    with pytest.raises(ValueError, match=message):
        make(variant, 3, **arguments)


def test_opponents_that_have_no_hash_are_asked() -> None:
    @dataclass
    class FirstLegal:
        offset: int = 0

        def __call__(self, seen):
            return seen["action_mask"].argmax(1)

    env = LearnerVectorEnv("samurai", 3, 4, opponents=FirstLegal())
    env.reset(seed=1)
    assert len(env._asked) == 1
    for _ in range(20):
        env.step(env.action_space.sample())
