"""Distilling rollouts: repeatable, resumes where it stopped, better than the heuristic policy."""

import json
from contextlib import suppress

import numpy as np
import pytest
import torch
from rich.console import Console

from agents.networks.network_files import load_network
from experiments.common.array_files import load_arrays, save_arrays
from experiments.common.gathered_positions import is_there, part_file, stamp
from experiments.distill_rollouts import (
    Config,
    Positions,
    centred,
    learn,
    logits,
    made,
    worth_of_choices,
)
from experiments.train_ppo import train
from samurai_env import make_variant
from tests.experiments.training.test_training import small

QUIET = Console(quiet=True)


def settings(run, **changes):
    return Config(
        **{"run": run, "deals": 48, "rollouts": "rollout:8,potential_weight=4", "epochs": 30, "minibatch_size": 256}
        | {"hidden": (16,), "action_width": 16}
        | changes
    )


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    run = tmp_path_factory.mktemp("played-out")
    return run, learn(settings(run), QUIET)


def test_it_learns_what_actions_are_worth(learned):
    run, net = learned
    notes = json.loads((run / "model.json").read_text())["notes"]
    positions = Positions([part_file(run, part) for part in (1, 2)])
    features, values, row = positions.rows(torch.arange(len(positions)))
    assert notes["positions"] > len(positions) > 1200
    assert values.isfinite().all()
    with torch.no_grad():
        found = 0.05 * logits(net, features, row)
    true, *said = (centred(values, row).numpy() for values in (values, -features[:, 0], found))
    by_heuristic, by_network = (np.corrcoef(true, values)[0, 1] for values in said)
    assert by_network > by_heuristic + 0.01


def test_the_network_chooses_by_that_and_ppo_goes_on_from_it(learned, tmp_path):
    run, net = learned
    saved = load_network(run)
    assert all(torch.equal(one, other) for one, other in zip(net.parameters(), saved.parameters(), strict=True))
    form = {"hidden": (16,), "action_width": 16, "heuristic_prior": True, "game": "samurai_card"}
    learner = train(small(tmp_path, **form, init_from=run, total_timesteps=256), QUIET)
    assert torch.isfinite(torch.cat([p.flatten() for p in learner.net.parameters()])).all()
    assert learner.origin["positions"] > 1200


def test_values_are_learned_and_choices_stay_to_the_bit(learned, tmp_path):
    run, net = learned
    form = {"hidden": (16,), "action_width": 16, "heuristic_prior": True, "game": "samurai_card"}
    learner = train(small(tmp_path / "values", **form, init_from=run, values_only=True, total_timesteps=512), QUIET)
    before, after = net.state_dict(), learner.mean_net.state_dict()
    changed = {name.split(".")[0] for name in before if not torch.equal(before[name], after[name])}
    assert changed == {"body", "value"}
    again = train(small(tmp_path / "all", **form, init_from=run, total_timesteps=512), QUIET)
    assert not torch.equal(again.mean_net.policy.weight, net.policy.weight)
    with pytest.raises(ValueError, match="reads its hidden layers"):
        train(small(tmp_path / "no", **form, init_from=tmp_path / "all", values_only=True), QUIET)
    with pytest.raises(ValueError, match="--values-only needs a network with a policy"):
        train(small(tmp_path / "no", **form, values_only=True), QUIET)


def test_tied_choices_count_as_one_position():
    row, values = torch.tensor([0, 0, 0, 1, 1]), torch.tensor([3.0, 0.0, 0.0, 1.0, 0.0])
    scores = torch.tensor([1.0, 1.0, 0.0, 5.0, 2.0])  # of position 0, one of the first two
    found = worth_of_choices(range(2), scores, row, values)
    assert found == pytest.approx(((3 + 0) / 2 - 1 + 1 - 0.5) / 2)


def test_it_goes_on_where_it_stopped_and_repeats(learned, tmp_path):
    run, net = learned
    for part in (0, 2):
        (tmp_path / part_file(run, part).name).write_bytes(part_file(run, part).read_bytes())
    again = learn(settings(tmp_path), QUIET)  # features at part 1 again
    assert all(torch.equal(one, other) for one, other in zip(net.parameters(), again.parameters(), strict=True))


def test_impossible_settings(tmp_path):
    for changes, text in (
        ({"game": "samurai"}, "Samurai has no action features"),
        ({"rollouts": "greedy"}, "--rollouts must look like rollout:16,potential_weight=4, not 'greedy'"),
        ({"deals": 16}, "--deals must be from 32 to 10000000, not 16"),
    ):
        with pytest.raises(ValueError, match=text):
            learn(settings(tmp_path / "none", **changes), QUIET)
    assert not (tmp_path / "none").exists()
    with pytest.raises(ValueError, match="samurai has no action features for --action-width to read"):
        train(small(tmp_path, heuristic_prior=True, action_width=8), QUIET)
    with pytest.raises(ValueError, match="--action-width needs --heuristic-prior"):
        train(small(tmp_path, game="samurai_card", action_width=8), QUIET)


def test_an_error_of_a_decompressor_names_the_file(tmp_path):
    save_arrays(tmp_path / "file.npz", {"a": np.zeros(3, "f4")})
    data = (tmp_path / "file.npz").read_bytes()
    for place in [place for place in range(len(data)) if data[place : place + 2] in (b"\x08\x00", b"\x00\x00")]:
        (tmp_path / "file.npz").write_bytes(data[:place] + b"\x0c" + data[place + 1 :])
        with suppress(ValueError):  # nothing else
            load_arrays(tmp_path / "file.npz", {"a": ("<f4", 1)})
    with pytest.raises(FileNotFoundError):
        load_arrays(tmp_path / "none.npz", {"a": ("<f4", 1)})


def test_positions_of_other_settings_or_damaged_ones_are_refused(tmp_path):
    variant = make_variant("samurai_card")
    wanted = made(settings(tmp_path), variant)
    assert not is_there(tmp_path, 0, wanted)
    for other, text in (({"seed": 2}, "was made with .* seed 2', not .* seed 1; choose another --run"), ({}, None)):
        path = part_file(tmp_path, 0)
        save_arrays(path, stamp(made(settings(tmp_path, **other), variant)))
        if text is None:
            assert is_there(tmp_path, 0, wanted)
        else:
            with pytest.raises(ValueError, match=text):
                is_there(tmp_path, 0, wanted)
    path.write_bytes(path.read_bytes()[:60])
    with pytest.raises(ValueError, match="is damaged: "):
        is_there(tmp_path, 0, wanted)
