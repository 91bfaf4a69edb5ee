"""The board game's tuned policy: the heuristic policy with other weights, how they are found, what uses them."""

import json
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from agents.networks import network_files, numpy_network
from agents.networks.agent import NetworkAgent
from agents.networks.config import NetworkConfig
from agents.networks.network import new_network
from agents.networks.network_files import load_network, save_network
from agents.registry import make_agent
from experiments.evaluation.matches import estimate, one_against_others
from experiments.training.config import Config
from experiments.training.init_network import NetworkSettings, check_network
from experiments.training.learner import Learner
from samurai_env import GameBatch, make_variant
from samurai_env.games import tuning
from samurai_env.games.board.game import GAME
from samurai_env.games.board.heuristics import policy
from samurai_env.games.hill_climbing import HillClimber
from tests.agents.test_agents import saved, test_legal_repeatable_and_blind

__all__ = ["saved"]
SPECS = [
    "greedy_tuned",
    "mcts:20,rollout_depth=4,rollout_greedy=1,tuned=1",
    "puct:40,net=NET,rollout_weight=0.5,rollout_depth=4,net_visits=3,tuned=1",
]


@pytest.mark.parametrize("n", [2, 3, 4])
def test_it_is_the_heuristic_policy_with_the_weights_of_the_number_of_players(n):
    batch, rng = GameBatch(make_variant("samurai", n)), np.array([3], np.uint64)
    states, differ = batch.reset(np.arange(20)), 0
    for i in range(len(states)):
        batch.play_random(states[i : i + 1], rng, 5 * i)
    for state in states[states["over"] == 0]:
        plain, tuned, expected = (np.zeros(batch.variant.num_actions) for _ in range(3))
        GAME.kernels.heuristic_policy(state, plain)
        GAME.kernels.tuned_policy(state, tuned)
        policy.weighted_policy(state, expected, policy.TUNED_WEIGHTS[n - 2])
        np.testing.assert_array_equal(tuned, expected)
        differ += (plain != tuned).any()
    assert differ > 10


@pytest.mark.parametrize("n", [2, 4])
@pytest.mark.parametrize("spec", SPECS)
def test_agents_with_it_are_legal_repeatable_and_blind(n, spec, saved):
    test_legal_repeatable_and_blind(make_variant("samurai", n), spec, saved)


@pytest.mark.parametrize(("n", "least"), [(2, 0.52), (3, 0.40), (4, 0.40)])
def test_it_beats_the_heuristic_policy(n, least):
    variant = make_variant("samurai", n)
    agents = [make_agent(name, variant) for name in ("greedy_tuned", "greedy")]
    assert estimate(one_against_others(variant, agents, 5_000, 600)).low > least


@pytest.mark.parametrize("spec", ["greedy_tuned", "mcts:20,tuned=1"])
def test_a_game_without_one_says_so(spec):
    with pytest.raises(ValueError, match="Samurai Spirit has no tuned policy"):
        make_agent(spec, make_variant("samurai_spirit", 2))


def test_a_network_that_has_no_rollouts_has_no_use_for_it():
    with pytest.raises(ValueError, match="tuned=1 needs a rollout_weight above 0"):
        make_agent("puct:20,net=weights/samurai-2,tuned=1", make_variant("samurai", 2))


@pytest.mark.parametrize("rollouts", ["", ",rollout_depth=4", ",rollout_greedy=1"])
def test_a_search_that_never_asks_it_says_so(rollouts):
    variant = make_variant("samurai", 2)
    make_agent("flat_mc:20,tuned=1", variant)
    with pytest.raises(ValueError, match="tuned=1 has no effect here"):
        make_agent(f"mcts:20,tuned=1,prior_temperature=inf{rollouts}", variant)


@pytest.mark.parametrize("n", [2, 4])
def test_a_new_network_with_the_tuned_prior_plays_as_greedy_tuned(n, tmp_path):
    variant = make_variant("samurai", n)
    net = new_network(NetworkConfig(variant.spec, "flat", (8,), heuristic_prior=True, tuned_prior=True))
    nn.init.zeros_(net.policy.weight)
    save_network(net, tmp_path / "net.safetensors", {})
    batch, rng = GameBatch(variant), np.array([n], np.uint64)
    states, differ = batch.reset(np.arange(60)), 0
    for i in range(len(states)):
        batch.play_random(states[i : i + 1], rng, 2 * i)
    states = states[states["over"] == 0]
    for make in (load_network, numpy_network.load_network):
        log_probs, _ = NetworkAgent(variant, make(tmp_path / "net.safetensors")).evaluate(states)
        for state, row, legal in zip(states, log_probs, batch.legal_masks(states), strict=True):
            plain, tuned = np.zeros(variant.num_actions), np.zeros(variant.num_actions)
            GAME.kernels.heuristic_policy(state, plain)
            GAME.kernels.tuned_policy(state, tuned)
            best = np.where(legal > 0, tuned, -np.inf).max()
            assert tuned[row.argmax()] == pytest.approx(best, abs=1e-4)
            differ += plain[row.argmax()] < np.where(legal > 0, plain, -np.inf).max() - 1e-4
    assert differ > 5


def test_a_network_goes_over_to_the_tuned_prior_also_with_more_players(tmp_path):
    sizes = {"hidden": (8,), "num_envs": 4, "num_steps": 4, "heuristic_prior": True}
    net = new_network(NetworkConfig(make_variant("samurai", 2).spec, "flat", (8,), heuristic_prior=True))
    save_network(net, tmp_path / "two.safetensors", {})
    for players in (2, 3):
        form = {"game": f"samurai players={players}", "init_from": tmp_path / "two.safetensors", **sizes}
        same, tuned = (Learner(Config(run=tmp_path / "run", tuned_prior=on, **form)).net for on in (False, True))
        assert tuned.config == replace(same.config, tuned_prior=True)
        assert tuned.prior_temperature.item() != same.prior_temperature.item()
        assert torch.equal(tuned.policy.weight, same.policy.weight)


def test_a_tuned_prior_that_cannot_be_is_refused():
    board, card = make_variant("samurai", 2).spec, make_variant("samurai_card", 2).spec
    for expected_shapes in (network_files.expected_shapes, numpy_network.expected_shapes):
        with pytest.raises(ValueError, match="it needs heuristic_prior"):
            expected_shapes(NetworkConfig(board, "flat", (8,), tuned_prior=True))
        with pytest.raises(ValueError, match="The Card Game has no tuned policy"):
            expected_shapes(NetworkConfig(card, "flat", (8,), heuristic_prior=True, tuned_prior=True))
    with pytest.raises(ValueError, match="--tuned-prior needs --heuristic-prior"):
        check_network(NetworkSettings(tuned_prior=True), make_variant("samurai", 2))
    with pytest.raises(ValueError, match="The Card Game has no tuned policy"):
        check_network(NetworkSettings(heuristic_prior=True, tuned_prior=True), make_variant("samurai_card", 2))


def what(data):
    return tuning.Tuned(GAME, policy.WEIGHTS, policy.prepare, HillClimber(GAME, policy.write_logits).play_deals, data)


def test_tuning_writes_its_weights_beside_the_others_and_is_repeatable(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(tuning, "PAIRS", 3)
    monkeypatch.setattr(tuning, "DEALS", 4)
    monkeypatch.setattr(tuning, "TEST_DEALS", 20)
    start = policy.WEIGHTS.tolist()
    before = json.dumps({"meaning": "", "weights": {"2": start, "3": start}, "origin": {}})
    found = []
    for _ in range(2):
        (tmp_path / tuning.FILE).write_text(before, encoding="utf-8")
        argv = ["tune", "--players", "3", "--steps", "2", "--seed", "5", "--run", str(tmp_path / "run")]
        monkeypatch.setattr(sys, "argv", argv)
        tuning.main(what(tmp_path), "here.tune", None)
        assert "step 2: " in capsys.readouterr().out
        kept = json.loads((tmp_path / tuning.FILE).read_text(encoding="utf-8"))
        assert kept["origin"] == {"3": "python -m here.tune --players 3 --steps 2 --seed 5"}
        assert kept["weights"]["2"] == start
        found.append(kept["weights"]["3"])
    assert found[0] == found[1] != start
    assert tuning.read_tuned_weights(tmp_path).shape == (2, policy.PARAMETERS)
    assert not any((tmp_path / "run").iterdir())


def test_tuning_that_was_stopped_goes_on_to_the_same_weights(tmp_path, monkeypatch, capsys):
    for name, value in {"PAIRS": 2, "DEALS": 2, "TEST_DEALS": 10, "LOOK": 2}.items():
        monkeypatch.setattr(tuning, name, value)
    progress = tmp_path / "run" / "progress.json"
    expected = tuning.Tuner(what(tmp_path), 2, 7).run(5, progress)
    capsys.readouterr()

    def stop(self, number):
        raise KeyboardInterrupt

    tuner, seeds = tuning.Tuner(what(tmp_path), 2, 7), tuning.Tuner.seeds
    calls = iter([seeds] * 4 + [stop])  # the test's deals and three steps, the last of them after the first line
    monkeypatch.setattr(tuning.Tuner, "seeds", lambda self, number: next(calls)(self, number))
    with pytest.raises(KeyboardInterrupt):
        tuner.run(5, progress)
    monkeypatch.setattr(tuning.Tuner, "seeds", seeds)
    assert "step 2: " in capsys.readouterr().out
    np.testing.assert_array_equal(tuning.Tuner(what(tmp_path), 2, 7).run(5, progress), expected)
    out = capsys.readouterr().out
    assert "goes on" in out
    assert "after step 2" in out
    assert "step 5: " in out


@pytest.mark.parametrize(
    "text", ["{", "{}", '{"step": 1, "arrays": [[1]], "rng": {}}', '{"step": 1, "arrays": 3}', "[]"]
)
def test_progress_that_is_none_is_refused(text, tmp_path):
    progress = tmp_path / "progress.json"
    progress.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match="is no progress of such a run"):
        tuning.Tuner(what(tmp_path), 2, 0).run(3, progress)


def test_a_share_counts_the_wins_of_one_seat_among_all():
    tuner, seeds = tuning.Tuner(what(policy.DATA), 4, 0), np.arange(200, dtype=np.uint64)
    alike, worthless = tuner.shares([policy.WEIGHTS, np.zeros(policy.PARAMETERS)], policy.WEIGHTS, seeds)
    assert abs(alike.mean() - 0.25) < 0.06
    assert worthless.mean() < 0.1
    assert ((alike >= 0) & (alike <= 1)).all()
