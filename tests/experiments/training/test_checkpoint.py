"""What a training run leaves when it dies at any moment: a run that goes on as if nothing had been."""

import dataclasses
import errno
import json
import os
import shutil
from functools import cache

import pytest
import torch
from rich.console import Console
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from agents.networks.cards import read_card
from agents.networks.network_files import load_network
from experiments.train_ppo import train
from experiments.training import checkpoint, init_network
from experiments.training.learner import Learner
from samurai_env.files import atomic_write
from tests.experiments.training.test_training import small

QUIET = Console(quiet=True)
UPDATE = 128  # decisions of one


class Killed(BaseException):
    """Stands for kill -9: nothing in the program catches it."""


def settings(run, updates=3, **changes):
    return small(run, **{"total_timesteps": updates * UPDATE, "ema_decay": 0.5, **changes})


def kept(run):
    """What of a run does not depend on the clock or on how often it was stopped."""
    notes = read_card(run).notes
    reported = {name: notes[name] for name in ("steps", "updates", "gradient_steps", "games", "command")}
    return load_file(run / "checkpoint.safetensors"), load_network(run).state_dict(), reported


def assert_same(one, other):
    for mine, its in zip(one[:2], other[:2], strict=True):
        assert mine.keys() == its.keys()
        assert all(torch.equal(tensor, its[name]) for name, tensor in mine.items())
    assert one[2] | {"command": ""} == other[2] | {"command": ""}


@pytest.fixture(scope="module", autouse=True)
def quick():
    """Play the games by which inputs are standardised once for all runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(init_network, "random_play", cache(init_network.random_play))
        yield


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    run = tmp_path_factory.mktemp("whole")
    train(settings(run), QUIET)
    return run


def dies_at(monkeypatch, number, name="replace"):
    """From now on the process dies at one of its calls."""
    real, count = getattr(os, name), [0]

    def call(*given):
        count[0] += 1
        if count[0] == number:
            raise Killed
        return real(*given)

    monkeypatch.setattr(atomic_write.os, name, call)


def run_to_the_end(config):
    """As `make train` does it: go on if there is a checkpoint, otherwise begin."""
    return train(dataclasses.replace(config, resume=(config.run / "checkpoint.safetensors").exists()), QUIET)


def killed_at(number, run, monkeypatch, **changes):
    """A run that died at one of its `os.replace`; there are three for each update."""
    with monkeypatch.context() as patch:
        dies_at(patch, number)
        with pytest.raises(Killed):
            train(settings(run, **changes), QUIET)


def test_past_selves_that_are_asked_for_later_begin_with_the_network_as_it_is(whole, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(whole, run)
    learner = Learner(settings(run, resume=True, opponents=("past",), opponent_share=0.5), resumes=True)
    checkpoint.load(learner)
    (past,) = learner.opponents.past.nets
    assert all(torch.equal(tensor, past[name]) for name, tensor in load_network(run).state_dict().items())


def test_a_foreign_checkpoint_beside_a_foreign_card_is_refused(whole, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(whole, run)
    save_file(load_file(run / "checkpoint.safetensors"), run / "checkpoint.safetensors")  # without its header
    card = json.loads((run / "model.json").read_text())
    card["notes"].pop("gradient_steps")
    (run / "model.json").write_text(json.dumps(card))
    with pytest.raises(ValueError, match=r"is not a checkpoint that this version reads .*`gradient_steps`$"):
        train(settings(run, updates=4, resume=True), QUIET)


@pytest.mark.parametrize("number", [1, 2, 4, 6])
def test_a_death_at_each_file_leaves_what_goes_on_exactly(number, whole, tmp_path, monkeypatch):
    killed_at(number, tmp_path, monkeypatch)
    run_to_the_end(settings(tmp_path))
    assert_same(kept(tmp_path), kept(whole))


def test_a_death_before_the_first_checkpoint_starts_again_with_resume_too(whole, tmp_path, monkeypatch, capsys):
    killed_at(1, tmp_path, monkeypatch)
    train(settings(tmp_path, resume=True), Console(width=300))
    assert "ended before its first checkpoint: it starts again" in capsys.readouterr().out
    assert_same(kept(tmp_path), kept(whole))


def test_exports_of_another_moment_are_healed(whole, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(whole, run)
    (run / "model.safetensors").write_bytes(b"of another moment")
    (run / "model.json").unlink()
    train(settings(run, resume=True), QUIET)
    assert_same(kept(run), kept(whole))
    assert (run / "model.json").read_text() == (whole / "model.json").read_text()


def test_runs_of_older_versions_go_on_and_their_mixtures_are_refused(whole, tmp_path, monkeypatch):
    run, mixed = tmp_path / "run", tmp_path / "mixed"
    killed_at(4, run, monkeypatch)
    tensors = load_file(run / "checkpoint.safetensors")  # the mean network was in the other files alone
    tensors = {name: tensor for name, tensor in tensors.items() if not name.startswith("mean.")}
    save_file(tensors, run / "checkpoint.safetensors")
    shutil.copytree(run, mixed)
    run_to_the_end(settings(run))
    assert_same(kept(run), kept(whole))
    for name in ("model.safetensors", "model.json"):
        shutil.copy(whole / name, mixed / name)
    with pytest.raises(ValueError, match=r"are of different moments: the card tells of 12 .*, the checkpoint of 4;"):
        run_to_the_end(settings(mixed))


def test_a_full_disk_is_a_line_and_the_run_goes_on(whole, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    killed_at(4, tmp_path, monkeypatch)
    before = (tmp_path / "checkpoint.safetensors").read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(atomic_write.os, "fsync", full)
        with pytest.raises(OSError, match=r"No space left on device: '.*model.safetensors'$"):
            run_to_the_end(settings(tmp_path))
    assert (tmp_path / "checkpoint.safetensors").read_bytes() == before
    assert not list(tmp_path.glob(".*"))
    run_to_the_end(settings(tmp_path))
    assert_same(kept(tmp_path), kept(whole))


def test_damage_and_missing_settings_are_named(whole, tmp_path):
    path = tmp_path / "checkpoint.safetensors"
    data = (whole / "checkpoint.safetensors").read_bytes()
    config = settings(tmp_path, resume=True)
    for damaged in (data[:-1], data[:100], b"", data[:-9] + bytes([data[-9] ^ 1]) + data[-8:]):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"checkpoint.safetensors is damaged: ") as error:
            train(config, QUIET)
        assert len(str(error.value)) < 300 and "\n" not in str(error.value)
    learner = Learner(settings(tmp_path))
    reported = checkpoint.notes(learner)
    del reported["config"]["values_only"]
    with pytest.raises(ValueError, match="does not say with what --values-only it was begun"):
        checkpoint.check_same(reported["config"], config)
    head = json.dumps({"network": dataclasses.asdict(learner.net.config), "notes": reported | {"config": {}}})
    for tensors, text in (({}, "does not say with what --seed, --num-envs"), (None, "is damaged: ")):
        found = tensors if tensors is not None else {}
        stamp = {"format": checkpoint.FORMAT, "head": head if tensors is not None else "[]"}
        stamp["checksum"] = checkpoint._checksum(found, stamp["head"])
        save_file(found, path, stamp)
        with pytest.raises(ValueError, match=text):
            train(config, QUIET)


def forge(path, whole, notes=None, network=None, tensors=None):
    """A checkpoint with other notes or tensors (None: without it), and the checksum that belongs to it."""
    data = whole / "checkpoint.safetensors"
    found = load_file(data) | (tensors or {})
    found = {name: tensor for name, tensor in found.items() if tensor is not None}
    with safe_open(data, "pt") as file:
        head = json.loads(file.metadata()["head"])
    head["notes"] |= notes or {}
    head["network"] |= network or {}
    stamp = {"format": checkpoint.FORMAT, "head": json.dumps(head)}
    stamp["checksum"] = checkpoint._checksum(found, stamp["head"])
    save_file(found, path, stamp)


@pytest.mark.parametrize(
    "changes",
    [
        {"notes": {"config": []}},
        {"notes": {"steps": "many"}},
        {"notes": {"gradient_steps": -1}},
        {"notes": {"curve": [{"win_share_random": 1.0}]}},
        {"notes": {"went_on": [[1]]}},
        {"notes": {"seconds": None}},
        {"network": {"hidden": "wide" * 10_000}},
        {"tensors": {"rng": torch.zeros(2, dtype=torch.int64)}},
        {"tensors": {"adam.0.exp_avg": torch.zeros(3)}},
        {"tensors": {"adam.0.step": None}},
        {"tensors": {"adam.99.step": torch.zeros(())}},
        {"tensors": {"x" * 5000: torch.zeros(1)}},
        {"tensors": {"shuffler": None}},
        {"tensors": {"net.mean": None}},
    ],
    ids=lambda changes: str(changes)[:60],
)
def test_a_checkpoint_that_no_run_wrote_is_refused_in_a_line(changes, whole, tmp_path):
    learner = Learner(settings(tmp_path))
    forge(tmp_path / "checkpoint.safetensors", whole, **changes)
    with pytest.raises(ValueError, match=r"checkpoint\.safetensors is ") as error:
        checkpoint.load(learner)
    assert len(str(error.value)) < 300 and "\n" not in str(error.value)


def test_a_start_that_fails_leaves_no_folder(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="nobody"):
        train(settings(tmp_path / "run", 1, eval_every=1, eval_opponents=("nobody",)), QUIET)
    monkeypatch.setattr(Learner, "collect", lambda self: None)
    monkeypatch.setattr(Learner, "update", lambda self: {"loss": float("nan")})
    closed = []
    monkeypatch.setattr(Learner, "close", lambda self: closed.append(self))
    with pytest.raises(ValueError, match="training has diverged"):
        train(settings(tmp_path / "run", 1), QUIET)
    assert len(closed) == 1
    assert not (tmp_path / "run").exists()
