"""Opponents that other projects' learners make: settings, time, state, and the policy that is kept."""

import importlib
import json
from dataclasses import asdict, replace
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from agents.networks.network_files import load_network
from experiments.examples import ppo_cleanrl
from experiments.outside import __main__ as outside
from experiments.outside import trials
from experiments.outside.as_network import as_network
from samurai_env import parse_variant
from samurai_env.files.json_reader import read_json

VARIANT = parse_variant("samurai_card players=2")


def layers(*widths: int) -> list[nn.Linear]:
    return [nn.Linear(before, after) for before, after in pairwise(widths)]


def observation_size() -> int:
    return int(VARIANT.encoding(None).shape[0])


def test_every_learner_has_the_same_settings_to_try() -> None:
    six = trials.drawn_settings(6)
    assert six[0] == trials.Settings()
    assert trials.drawn_settings(3) == six[:3]
    assert len(set(six)) == 6
    for settings in six[1:]:
        for name, value in asdict(settings).items():
            assert value in trials.CHOICES[name]


def test_time_is_counted_over_several_starts(tmp_path) -> None:
    budget = trials.Budget(1000.0, tmp_path / "spent.json")
    assert 0.99 < budget.left <= 1
    budget.decisions = 77
    (tmp_path / "spent.json").write_text('{"seconds": 900.0, "decisions": 77}\n', encoding="utf-8")
    again = trials.Budget(1000.0, tmp_path / "spent.json")
    assert again.decisions == 77
    assert 0.09 < again.left <= 0.1
    again.save()
    assert read_json(tmp_path / "spent.json", dict[str, float])["seconds"] >= 900
    assert trials.Budget(900.0, tmp_path / "spent.json").left == 0
    (tmp_path / "spent.json").write_text('{"sec', encoding="utf-8")
    with pytest.raises(ValueError, match=r"spent\.json"):
        trials.Budget(1000.0, tmp_path / "spent.json")


def test_a_policy_becomes_a_network_with_the_same_probabilities() -> None:
    found = layers(observation_size(), 24, 16, VARIANT.num_actions)
    theirs = nn.Sequential(found[0], nn.ReLU(), found[1], nn.ReLU(), found[2])
    seen = torch.from_numpy(np.random.default_rng(1).integers(-2, 9, (40, observation_size()))).float()
    legal = torch.ones((40, VARIANT.num_actions), dtype=torch.bool)
    with torch.no_grad():
        logits, values = as_network(VARIANT, found)(seen, legal)[:2]
        torch.testing.assert_close(logits, theirs(seen).log_softmax(-1))
    assert not values.any()


def test_a_policy_of_another_game_is_refused() -> None:
    with pytest.raises(ValueError, match=r"a layer of shape \(7, 16\) where \(\d+, 16\) fits"):
        as_network(VARIANT, layers(observation_size(), 16, 7))


def test_there_is_a_module_for_every_learner() -> None:
    folder = Path(outside.__file__).parent
    assert all((folder / f"{name}.py").exists() for name in outside.LEARNERS)
    script = Path("scripts/outside.sh").read_text(encoding="utf-8")
    assert all(f"\n{name}) framework=" in script for name in outside.LEARNERS)
    with pytest.raises(ValueError, match=r"the learners are maskable_ppo, .*, not 'dqn'"):
        outside.main(outside.Config("dqn", Path("nowhere")))
    with pytest.raises(ValueError, match=r"--trials must be from 1 to 10000000, not 0"):
        outside.main(outside.Config("maskable_ppo", Path("nowhere"), trials=0))
    with pytest.raises(ValueError, match=r"Samurai Spirit is cooperative"):
        outside.main(outside.Config("cleanrl_ppo", Path("nowhere"), "samurai_spirit"))
    with pytest.raises(ValueError, match=r"play games with default options, so not samurai .* edition=1998"):
        outside.main(outside.Config("cleanrl_ppo", Path("nowhere"), "samurai edition=1998"))
    if not find_spec("ray"):
        with pytest.raises(ValueError, match=r"No module named 'ray'; make outside-rllib_ppo makes an environment"):
            outside.main(outside.Config("rllib_ppo", Path("nowhere")))
    assert not Path("nowhere").exists()


@pytest.mark.parametrize("learner", ["maskable_ppo", "cleanrl_ppo"])
def test_a_learner_is_trained_and_not_again(learner: str, tmp_path, monkeypatch, capsys) -> None:
    module = importlib.import_module(f"experiments.outside.{learner}")
    monkeypatch.setattr(module, "NUM_ENVS", 8)
    monkeypatch.setattr(outside, "TRIAL_DEALS", 3)
    config = outside.Config(
        learner, tmp_path, "samurai_card players=2", trials=2, trial_seconds=0.5, finalists=1, finalist_seconds=0.6
    )
    config = replace(config, seconds=3.0)
    outside.main(config)
    result = read_json(tmp_path / "run" / "result.json", dict)
    assert result["decisions"] > 0
    assert result["decisions"] % (8 * result["settings"]["num_steps"]) == 0
    assert result["seconds"] >= 3
    card = read_json(tmp_path / "run" / "model.json", dict)["notes"]
    *first, last = card["trials"]
    assert [trial["settings"] for trial in first] == [asdict(settings) for settings in trials.drawn_settings(2)]
    assert last["settings"] == card["settings"] == max(first, key=lambda t: t["against_greedy"]["mean"])["settings"]
    assert last["seconds"] >= 0.6
    net = load_network(tmp_path / "run" / "model.safetensors")
    assert net.config.hidden == (card["settings"]["hidden"],) * 2
    assert capsys.readouterr().out.endswith(f"ppo:{tmp_path / 'run' / 'model.safetensors'}\n")
    monkeypatch.setattr(module, "train", None)  # calling it would fail
    outside.main(config)
    with pytest.raises(ValueError, match=r"result.json is of another learner, game, time or settings"):
        outside.main(replace(config, seconds=4.0))


def test_a_run_that_was_stopped_goes_on_only_with_what_it_was_asked(tmp_path, monkeypatch) -> None:
    """Also before its result is there: else what was learned in another game would count for this one."""

    class Stopped(Exception):
        pass

    def stop(variant: object, settings: object, budget: object, folder: Path) -> None:
        (folder / "state.pt").write_bytes(b"half done")
        raise Stopped

    monkeypatch.setattr(importlib.import_module("experiments.outside.cleanrl_ppo"), "train", stop)
    config = outside.Config("cleanrl_ppo", tmp_path, "samurai players=2", trials=1, trial_seconds=0.5)
    for _ in range(2):
        with pytest.raises(Stopped):
            outside.main(config)
    for changed in (replace(config, game="samurai players=3"), replace(config, trial_seconds=1.0)):
        with pytest.raises(ValueError, match=r"asked\.json is of another learner, game, time or settings"):
            outside.main(changed)
    assert (tmp_path / "trial-0" / "state.pt").read_bytes() == b"half done"
    monkeypatch.undo()
    with pytest.raises(ValueError, match=r"state\.pt is damaged: "):
        outside.main(config)
    with pytest.raises(ValueError, match=r"state\.pt is damaged: "):
        trials.read_state(tmp_path / "trial-0" / "state.pt")
    result = json.loads((tmp_path / "trial-0" / "asked.json").read_text())
    (tmp_path / "trial-0" / "result.json").write_text(json.dumps(result))
    with pytest.raises(ValueError, match=r"result\.json is damaged: it lacks what the run came to"):
        outside.main(config)


@pytest.mark.parametrize("learner", ["maskable_ppo", "cleanrl_ppo"])
@pytest.mark.parametrize("opponents", ["greedy", "self"])
def test_a_run_goes_on_from_its_state(learner: str, opponents: str, tmp_path, monkeypatch) -> None:
    module = importlib.import_module(f"experiments.outside.{learner}")
    monkeypatch.setattr(module, "NUM_ENVS", 8)
    settings = trials.Settings(opponents=opponents, num_steps=4, minibatch_size=16, hidden=16)
    seconds = 3.0  # enough for what comes before the first rollout on a slow machine
    budget = trials.Budget(seconds, tmp_path / "spent.json")
    first = module.train(VARIANT, settings, budget, tmp_path)
    # With no time left nothing is learned, so what comes back is what was kept.
    again = module.train(VARIANT, settings, trials.Budget(seconds, tmp_path / "spent.json"), tmp_path)
    for before, after in zip(first, again, strict=True):
        torch.testing.assert_close(before.weight, after.weight)
    longer = trials.Budget(60.0, tmp_path / "spent.json")
    assert longer.decisions == budget.decisions > 0
    assert not (tmp_path / "state.new").exists()


class JustSpent(trials.Budget):
    """Has time for its first `last` looks at it, and then none."""

    looks = last = 0

    @property
    def left(self) -> float:
        type(self).looks += 1
        return 1e-6 if self.looks <= self.last else 0.0


@pytest.mark.parametrize("learner", ["maskable_ppo", "cleanrl_ppo"])
@pytest.mark.parametrize("last", range(13, 40, 6))
def test_the_last_rollout_is_kept_whenever_the_time_ends(learner: str, last: int, tmp_path, monkeypatch) -> None:
    module = importlib.import_module(f"experiments.outside.{learner}")
    monkeypatch.setattr(module, "NUM_ENVS", 8)
    monkeypatch.setattr(JustSpent, "looks", 0)
    monkeypatch.setattr(JustSpent, "last", last)
    settings = trials.Settings(opponents="greedy", num_steps=4, minibatch_size=16, hidden=16)
    budget = JustSpent(1.0, tmp_path / "spent.json")
    module.train(VARIANT, settings, budget, tmp_path)
    assert trials.Budget(1.0, tmp_path / "spent.json").decisions == budget.decisions


def test_the_single_file_goes_on_from_its_state(tmp_path) -> None:
    said: list[str] = []
    args = ppo_cleanrl.Args(opponents="self", num_envs=32, num_steps=32, hidden=32, eval_games=16)
    for total in (2048, 4096):
        ppo_cleanrl.train(replace(args, total_timesteps=total, state=tmp_path / "state.pt"), said.append)
    assert [int(line.split()[0].replace(",", "")) for line in said] == [0, 1024, 2048, 2048, 3072, 4096]
