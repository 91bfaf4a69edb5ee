"""What single choices gain: against a known truth, and going on where it stopped."""

import json

import numpy as np
import pytest
import torch
from rich.console import Console

from agents.networks.config import NetworkConfig
from agents.networks.network import PolicyValueNet
from agents.networks.network_files import save_network
from agents.registry import make_agent
from experiments import action_gaps
from experiments.action_gaps import ActionGaps, Config, draw_positions, main, measure
from samurai_env import make_variant
from samurai_env.core.batch import batch_kernels
from samurai_env.game_batch import GameBatch

QUIET = Console(quiet=True)


def settings(output, **changes):
    usual = {"game": "samurai_card", "positions": 24, "games": 16, "processes": 1, "output": output}
    return Config(**usual | changes)


def test_positions_have_a_choice_and_are_of_all_stages() -> None:
    variant = make_variant("samurai_card")
    found = draw_positions(variant, "greedy", 200, 1)
    assert not found["over"].any()
    assert (GameBatch(variant).legal_masks(found).sum(1) > 1).all()
    assert len(np.unique(found["seed"])) == 200
    early, late = np.quantile(found["steps"], [0.1, 0.9])
    assert early < 12
    assert late > 45
    assert np.array_equal(found, draw_positions(variant, "greedy", 200, 1))
    assert not np.array_equal(found, draw_positions(variant, "greedy", 200, 2))


def test_who_plays_better_gains_and_who_plays_worse_loses(tmp_path) -> None:
    found = measure(settings(tmp_path, agents=("random", "greedy", "lookahead"), positions=240, games=16), QUIET)
    random, greedy, lookahead = (found.of(agent) for agent in ("random", "greedy", "lookahead"))
    assert not greedy.any()  # the base itself
    assert random.mean() + 2 * random.std() / 240**0.5 < 0
    assert random.mean() < -0.02
    assert lookahead.mean() > random.mean() + 0.02


def test_mean_returns_are_what_playing_on_brings(tmp_path) -> None:
    config = settings(tmp_path, agents=("random",))
    found = measure(config, QUIET)
    variant = make_variant("samurai_card")
    kernels, greedy = batch_kernels(variant.game), make_agent("greedy", variant)
    states = draw_positions(variant, "greedy", 24, 1)
    (position, action), mean = next(iter(found.mean_returns.items()))
    ends = []
    for trial in range(400):
        game, seat = states[position : position + 1].copy(), int(states["seat"][position])
        kernels.determinize_one(game, 0, seat, np.array([trial], np.uint64))
        kernels.step_all(game, np.array([action]))
        while not game["over"][0]:
            kernels.step_all(game, greedy.act(game, np.array([trial], np.uint64)))
        out = np.zeros(2)
        kernels.write_returns(game, 0, out)
        ends.append(out[seat])
    assert abs(np.mean(ends) - mean) < 4 * (np.std(ends) + 0.05) / 16**0.5


def test_it_goes_on_where_it_stopped_and_with_more_agents(tmp_path, monkeypatch) -> None:
    whole = measure(settings(tmp_path / "whole", agents=("random", "lookahead")), QUIET)
    kept = action_gaps.by_blocks

    def stopping(work, tasks, config, console, name):
        for number, done in enumerate(kept(work, tasks, config, console, name)):
            yield done
            if name == "random" and number == 1:
                raise KeyboardInterrupt("stopped")

    monkeypatch.setattr(action_gaps, "by_blocks", stopping)
    with pytest.raises(KeyboardInterrupt):
        measure(settings(tmp_path / "parts", agents=("random",)), QUIET)
    monkeypatch.setattr(action_gaps, "by_blocks", kept)
    assert len(json.loads((tmp_path / "parts" / "gains.json").read_text())["choices"]["random"]) == 16
    measure(settings(tmp_path / "parts", agents=("lookahead",)), QUIET)  # while the other is half asked
    parts = measure(settings(tmp_path / "parts", agents=("random",)), QUIET)
    assert parts.choices == whole.choices
    assert parts.mean_returns == whole.mean_returns


def test_the_file_keeps_the_commits_of_all_runs(tmp_path, monkeypatch) -> None:
    path, asked = tmp_path / "gains.json", list[str]()
    for name, agent in (("a", "random"), ("b", "lookahead"), ("c", "random")):
        monkeypatch.setattr(action_gaps, "commit", lambda name=name: asked.append(name) or name)
        measure(settings(tmp_path, agents=(agent,), games=2), QUIET)
    assert json.loads(path.read_text())["commit"] == ["a", "b"]  # the last run has measured nothing
    assert asked == ["a", "b", "c"]  # once a run
    old = json.loads(path.read_text()) | {"commit": "a", "machine": "m"}  # as before, when it was only the last
    path.write_text(json.dumps(old))
    found = ActionGaps(settings(tmp_path, games=2), make_variant("samurai_card"))
    assert (found.commits, found.machines) == (["a"], ["m"])


def test_the_table_and_what_is_refused(tmp_path, capsys) -> None:
    main(settings(tmp_path, agents=("random,greedy",)))
    shown = capsys.readouterr().out
    assert "+0.0, too few for an interval" in shown
    with pytest.raises(ValueError, match="--agents names nobody"):
        measure(settings(tmp_path, agents=()), QUIET)
    with pytest.raises(ValueError, match="measured with games 16; choose another --output"):
        measure(settings(tmp_path, games=17), QUIET)
    with pytest.raises(ValueError, match="--positions must be from 2 to"):
        measure(settings(tmp_path, positions=1), QUIET)
    with pytest.raises(ValueError, match="no agent 'gredy'"):
        measure(settings(tmp_path, agents=("gredy",)), QUIET)
    (tmp_path / "gains.json").write_text("{}")
    with pytest.raises(ValueError, match=r"is damaged: .*missing required field"):
        ActionGaps(settings(tmp_path), make_variant("samurai_card"))


def test_a_network_that_has_changed_is_refused(tmp_path) -> None:
    def save(seed: int) -> None:
        torch.manual_seed(seed)
        form = NetworkConfig(make_variant("samurai_card").spec, "flat", (8,))
        save_network(PolicyValueNet(form), tmp_path / "net.safetensors", {})

    config = settings(tmp_path / "out", agents=(f"ppo:{tmp_path / 'net.safetensors'}",), games=2)
    save(1)
    first = measure(config, QUIET)
    assert measure(config, QUIET).choices == first.choices
    save(2)
    with pytest.raises(ValueError, match="its file has changed"):
        measure(config, QUIET)
