"""Actors that play with the newest network and feed one learner."""

import os
from contextlib import ExitStack, closing
from dataclasses import replace

import pytest
import torch
from rich.console import Console

from experiments.train_ppo import train
from experiments.training import checkpoint
from experiments.training.config import Config, check

ray = pytest.importorskip("ray", reason="ray is not installed; make ray runs these tests with it")

from experiments.training.actors import ActorLearner, as_array  # noqa: E402
from experiments.training.learner import Learner  # noqa: E402

QUIET = Console(quiet=True)


def settings(run, **changes):
    sizes = {"num_envs": 16, "num_steps": 16, "minibatch_size": 128, "hidden": (16,), "update_epochs": 1}
    given = {"run": run, "total_timesteps": 8 * 256, "eval_every": 0, "device": "cpu", "actors": 2}
    return Config(**given | sizes | changes)


@pytest.fixture
def learner_of(tmp_path):
    """Learners whose actors end with the test."""
    with ExitStack() as stack:
        yield lambda **changes: stack.enter_context(closing(ActorLearner(settings(tmp_path, **changes))))


@pytest.fixture(scope="module", autouse=True)
def here():
    before = os.environ.pop("RAY_ADDRESS", None)
    yield
    ray.shutdown()
    if before is not None:
        os.environ["RAY_ADDRESS"] = before


def test_a_run_learns_from_actors_and_resumes(tmp_path):
    learner = train(settings(tmp_path), QUIET)
    assert isinstance(learner, ActorLearner)
    assert (learner.steps, learner.updates) == (8 * 256, 8)
    assert len(learner.lags) == 2
    assert set(learner.lags) <= {0, 1, 2}
    resumed = train(settings(tmp_path, resume=True, total_timesteps=10 * 256), QUIET)
    assert (resumed.steps, resumed.updates) == (10 * 256, 10)
    assert checkpoint.checkpoint_file(tmp_path).exists()


def test_actors_play_by_the_weights_of_the_learner_and_old_rollouts_are_dropped(learner_of):
    learner = learner_of(max_lag=1)
    learner.collect()
    batch = learner.batch
    with torch.no_grad():
        log_probs, _ = learner.net(batch.obs.flatten(0, 1), batch.action_masks.flatten(0, 1))
    chosen = log_probs.gather(1, batch.actions.flatten()[:, None])[:, 0]
    torch.testing.assert_close(chosen, batch.log_probs.flatten(), atol=2e-2, rtol=0)
    assert set(learner.lags) == {0}
    learner.updates += 2  # as if the learner were far ahead
    learner.collect()
    assert learner.dropped >= 1  # a fast actor may play both parts
    assert max(learner.lags) <= 1


def test_a_killed_actor_costs_time_only(learner_of):
    learner = learner_of()
    learner.collect()
    learner.update()
    actor, _ = next(iter(learner._playing.values()))
    ray.kill(actor, no_restart=False)  # kill -9 of its process
    for _ in range(3):
        learner.collect()
        learner.update()
    assert learner.updates == 4


def test_what_an_actor_raises_is_raised_and_all_end(learner_of, tmp_path):
    learner = learner_of()
    learner.config.encoding = "none"  # an encoding that no actor knows
    with pytest.raises(ValueError, match="none"):
        learner.collect()
    assert learner._playing  # those that failed are among them
    learner.close()
    assert not learner._playing


def test_an_expert_searches_in_the_actors(learner_of):
    learner = learner_of(expert="puct:4,net=self", imitation_steps=256)
    learner.collect()
    assert learner.batch.imitating
    probs = learner.batch.expert_probs.float()
    assert torch.allclose(probs.sum(-1), torch.ones(16, 16), atol=0.05)
    assert "lag" in learner.update()
    learner.collect()
    assert not learner.batch.imitating  # what actors had begun as imitation was dropped


def test_a_wrong_address_is_said_before_anything_else(tmp_path, monkeypatch):
    ray.shutdown()
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    monkeypatch.setattr(Learner, "__init__", lambda *_: pytest.fail("games are compiled"))
    with pytest.raises(ConnectionError, match=r"no Ray on RAY_ADDRESS=127\.0\.0\.1:1"):
        train(settings(tmp_path / "run", eval_every=1), QUIET)
    assert not (tmp_path / "run").exists()


def test_bfloat16_survives_as_an_array():
    tensor = torch.tensor([0.5, -3.0], dtype=torch.bfloat16)
    assert torch.from_numpy(as_array(tensor)).view(torch.bfloat16).equal(tensor)


def test_impossible_settings_are_refused(tmp_path):
    with pytest.raises(ValueError, match="--num-envs 16 is no multiple of --actors 3, which share it"):
        check(settings(tmp_path, actors=3))
    with pytest.raises(ValueError, match="--opponents play without --actors only"):
        check(settings(tmp_path, opponents=("past",)))
    check(replace(settings(tmp_path), actors=4))
