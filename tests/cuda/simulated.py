"""What numba's simulator runs in the place of a GPU; `test_simulator.py` starts it with NUMBA_ENABLE_CUDASIM=1."""

import json
import sys
from typing import Any

import numpy as np
import pytest
import torch

from experiments.benchmark import on_gpu as measuring
from experiments.training.ppo_on_gpu import Settings, Trainer
from samurai_env import GameBatch, make_variant
from samurai_env.core.game import find_game
from samurai_env.envs.common import checked_seeds
from samurai_env.envs.cuda import toolkit, vector
from samurai_env.envs.cuda.learner import CudaLearnerVectorEnv
from samurai_env.envs.cuda.toolkit import on_gpu, simulated
from samurai_env.envs.cuda.vector import CudaVectorEnv
from samurai_env.envs.make_vec import make_vector_env
from samurai_env.envs.vector import GameVectorEnv
from samurai_env.position import IllegalActionError
from tests.cuda.check import compare, forms

GAMES, BATCH = 3, 6
FORMS = [form for form in forms(2, ["flat"]) if form.get("opponents") != "random" or form["seat"] == "rotate"]
OTHERS = (("samurai", 4), ("samurai_card", 2), ("samurai_spirit", 2))
OTHERS_FORMS = [
    (game, players, form)
    for game, players in OTHERS
    for form in forms(players, list(find_game(game).encodings))
    if form["autoreset_mode"] == "SameStep" and form.get("opponents") != "random"
]


def named(value: Any) -> str:
    return " ".join(map(str, value.values())) if isinstance(value, dict) else str(value)


def made(games: int = 4, **settings: Any) -> CudaVectorEnv:
    assert simulated()
    return CudaVectorEnv("samurai", games, **settings)


@pytest.mark.parametrize("form", FORMS, ids=named)
def test_games_are_those_of_the_cpu(form: dict[str, Any]) -> None:
    found = compare("samurai", 2, form, GAMES, BATCH)
    assert found["games"] >= GAMES
    assert found["wrong"] == []


@pytest.mark.parametrize("game, players, form", OTHERS_FORMS, ids=named)
def test_other_games_and_more_players_are_those_of_the_cpu(game: str, players: int, form: dict[str, Any]) -> None:
    """Each encoding where all seats are the caller's, and one learner against greedy."""
    found = compare(game, players, form, GAMES, BATCH)
    assert found["games"] >= GAMES
    assert found["wrong"] == []


@pytest.mark.parametrize("game, players", [("samurai", 2), *OTHERS])
def test_the_comparison_notices_a_difference(game: str, players: int) -> None:
    """A GPU with other games, by one seed."""

    def shifted(*arguments: Any) -> Any:
        named, seeds = checked_seeds(*arguments)
        seeds[-1] += np.uint64(1)
        return named, seeds

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vector, "checked_seeds", shifted)
        assert compare(game, players, FORMS[0], GAMES, BATCH)["wrong"]


@pytest.mark.parametrize("seed", [5, np.array(5), [9, None, 3, None], np.arange(4), None])
def test_seeds_are_those_of_the_cpu(seed: Any) -> None:
    """Seeds of any form; games without one follow the last."""
    found = []
    for env in (made(), GameVectorEnv("samurai", 4)):
        env.reset(seed=100)
        env.reset(seed=seed, options={"reset_mask": np.array([True, True, True, False])})
        states = env.states
        found.append(states["seed"].tolist())
    assert found[0] == found[1]


def test_an_illegal_action_leaves_its_game_and_is_reported_once() -> None:
    env = made()
    _, info = env.reset(seed=3)
    before = env.states
    legal = info["action_mask"].copy_to_host().argmax(1)
    legal[2] = info["action_mask"].copy_to_host()[2].argmin()
    env.step(on_gpu(legal))
    after = env.states
    assert after[2].tobytes() == before[2].tobytes()
    assert after["steps"].tolist() == [1, 1, 0, 1]
    with pytest.raises(IllegalActionError, match="game 2"):
        env.check()
    env.check()


def test_impossible_actions_are_refused() -> None:
    env = made()
    env.reset(seed=3)
    for actions in (np.zeros(4, np.int64), [0] * 4, None):
        with pytest.raises(TypeError, match="on the GPU"):
            env.step(actions)
    for actions in (np.zeros(3, np.int64), np.zeros(4, np.int32), np.zeros((4, 1), np.int64)):
        with pytest.raises(ValueError, match=r"int64 of shape \(4,\)"):
            env.step(on_gpu(actions))


def test_sampled_actions_are_legal_and_repeatable() -> None:
    taken = []
    for _ in range(2):
        env = made()
        _, info = env.reset(seed=3)
        for _ in range(30):
            actions = env.sample()
            chosen = actions.copy_to_host()
            assert (info["action_mask"].copy_to_host()[np.arange(4), chosen] == 1).all()
            taken.append(chosen.tolist())
            env.step(actions)
    assert taken[:30] == taken[30:]


def test_states_go_to_the_host_and_back() -> None:
    env = made()
    env.reset(seed=3)
    for _ in range(20):
        env.step(env.sample())
    states = env.states
    other = made()
    seen, _ = other.restore(states)
    assert other.states.tobytes() == states.tobytes()
    mine = env._observed()
    for name in seen:
        assert np.array_equal(seen[name].copy_to_host(), mine[name].copy_to_host())
    with pytest.raises(ValueError, match="states must have shape"):
        other.restore(states[:2])


@pytest.mark.parametrize("given", [{}, {"opponents": "greedy"}], ids=named)
def test_a_restored_game_that_was_cut_off_is_truncated(given: dict[str, Any]) -> None:
    """As on the CPU; before, it was what the game before it in that row had been."""
    variant = make_variant("samurai_spirit", num_players=2)
    batch = GameBatch(variant)
    states = batch.reset(np.arange(2))
    states["steps"][0] = variant.max_steps - 1
    actions = batch.legal_masks(states).argmax(1)
    batch.step(states[:1], actions[:1])
    flags = []
    for device in ("cpu", "cuda"):
        env = make_vector_env("samurai_spirit", 2, num_players=2, device=device, autoreset_mode="Disabled", **given)
        _, info = env.restore(states)
        masks = info["action_mask"]
        actions = np.asarray(masks if device == "cpu" else masks.copy_to_host()).argmax(1).astype(np.int64)
        ended = env.step(actions if device == "cpu" else on_gpu(actions))[2:4]
        flags.append([(each if device == "cpu" else each.copy_to_host()).tolist() for each in ended])
    assert flags == [[[False, False], [True, False]]] * 2


@pytest.mark.parametrize("resets", [0, 1, 2])
def test_the_learner_moves_on_where_a_restored_game_was_over(resets: int) -> None:
    """With SameStep the next game begins at once, in which a rotating learner has the next seat, as on the CPU.

    Games restored before any reset are the first, so that the learners' seats are those after a first reset.
    """
    batch = GameBatch(make_variant("samurai_card"))
    states = batch.reset(np.arange(3))
    while not states["over"][1]:
        batch.step(states[1:2], batch.legal_masks(states[1:2]).argmax(1))
    seats = []
    for device in ("cpu", "cuda"):
        settings = {"autoreset_mode": "SameStep", "opponents": "greedy", "seat": "rotate"}
        env = make_vector_env("samurai_card", 3, device=device, **settings)
        for _ in range(resets):
            env.reset()
        _, info = env.restore(states)
        seats.append(np.asarray(info["seat"] if device == "cpu" else info["seat"].copy_to_host()).tolist())
    assert seats[0] == seats[1] == ([1, 1, 1] if resets == 2 else [0, 0, 0])


def test_arrays_are_wrapped_once_and_stay_the_same() -> None:
    wrapped = []

    def wrap(array: Any) -> Any:
        wrapped.append(array)
        return [array]

    env = made(wrap=wrap, autoreset_mode="SameStep")
    seen, _ = env.reset(seed=3)
    count = len(wrapped)
    env.sample()
    again, *_ = env.step(env.sample()[0])
    assert len(wrapped) == count + 1  # the actions
    assert again["observation"] is seen["observation"]


def test_ppo_learns_from_tensors_that_share_the_memory() -> None:
    torch.manual_seed(0)
    env = made(6, autoreset_mode="SameStep", wrap=lambda array: torch.from_numpy(array._ary))
    step = env.step
    env.step = lambda actions: step(on_gpu(actions.numpy()))  # type: ignore[method-assign]
    trainer = Trainer(env, Settings(num_steps=5, minibatches=2, width=16))
    before = [weights.clone() for weights in trainer.net.parameters()]
    assert trainer.update() == 30
    env.check()  # all actions were legal
    assert env.states["steps"].sum() > 0
    assert trainer.seen["observation"].data_ptr() == env._buffers.observations._ary.ctypes.data
    for old, new in zip(before, trainer.net.parameters(), strict=True):
        assert new.isfinite().all()
        assert not torch.equal(old, new)


def test_random_play_ends_games() -> None:
    env = made()
    env.reset(seed=3)
    assert env.play_random(300) > 4
    assert (env.states["steps"] > 0).all()


def test_what_is_measured_on_a_gpu_runs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Small sizes, and a clock in the place of the GPU's events, which the simulator has not."""
    blocks = []

    def seconds(run: Any) -> float:
        blocks.append(toolkit.THREADS)
        run()
        return 0.5

    monkeypatch.setattr(measuring, "seconds", seconds)
    monkeypatch.setattr(measuring, "COPIED", 1000)
    monkeypatch.setattr(measuring, "steps_of", lambda size: 2)
    monkeypatch.setattr(measuring, "PLAYED", 3)
    arguments = ["--variants", "samurai players=2", "--sizes", "3", "--threads", "32", "64", "--threads-size", "4"]
    monkeypatch.setattr(sys, "argv", ["on_gpu", *arguments, "--ppo-sizes", "2"])
    measuring.main()
    memory, steps, *threads, ppo = map(json.loads, capsys.readouterr().out.splitlines())
    assert memory == {"part": "bandwidth", "copy_bytes_per_second": 4000.0}
    assert steps["part"] == "steps"
    assert steps["start_seconds"] > 0
    assert (steps["bare_steps_per_second"], steps["steps_per_second"], steps["step_seconds"]) == (18.0, 12.0, 0.25)
    assert steps["bytes_per_step"] > 2 * 512 + 614 + 141
    assert steps["share_of_bandwidth"] == pytest.approx(3 * steps["bytes_per_step"] / (0.25 * 4000))
    assert [(line["threads"], line["steps_per_second"]) for line in threads] == [(32, 16.0), (64, 16.0)]
    assert blocks[-2:] == [32, 64]
    assert toolkit.THREADS == 128
    assert ppo["part"] == "missing"  # the simulator's arrays are none that torch takes
    assert ppo["text"].startswith("ppo samurai players=2 2: ")


def test_opponents_of_a_card_are_random_or_greedy() -> None:
    for opponents in ("mcts:10", ["random", "greedy"], [None]):
        with pytest.raises(ValueError, match="random or greedy"):
            CudaLearnerVectorEnv("samurai", 2, opponents=opponents)


def test_only_spirit_is_cut_off() -> None:
    assert find_game("samurai").kernels.cut_off is None
    assert find_game("samurai_spirit").kernels.cut_off is not None
