"""The PPO learner: advantages, masks, repeatability, resuming, refusals."""

import dataclasses
import json
import queue
import shutil
import threading
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from rich.console import Console
from safetensors.torch import load_file, save_file
from tensorboard.summary.writer.event_file_writer import _AsyncWriterThread

from agents.heuristics import ActionFeatures
from agents.networks.agent import NetworkAgent
from agents.networks.cards import FORMAT, read_card
from agents.networks.config import NetworkConfig
from agents.networks.network import new_network
from agents.networks.network_files import load_network, save_network
from agents.networks.sampling import sample
from agents.old_names import CARD, CARD_FORMAT, REMOVED, TRAINING, current_settings
from agents.registry import make_agent
from agents.search.puct import PUCTAgent, PUCTConfig
from agents.settings import field_types
from experiments import export
from experiments.common.cli import refuse_old_flags, report_unless_raised_again
from experiments.common.ranges import check_ranges, flag
from experiments.train_ppo import train
from experiments.training import checkpoint
from experiments.training.config import Config, flag_hints
from experiments.training.init_network import origin_of, random_play
from experiments.training.learner import Learner
from experiments.training.opponents import Expert, OpponentSettings
from experiments.training.ppo import turn_seats, warmed_up_ema
from samurai_env import game_names, make_variant
from samurai_env.agent_api import decision_keys

SMALL = Config(
    hidden=(32,), num_envs=8, num_steps=16, minibatch_size=64, eval_every=0, checkpoint_every=1, device="cpu"
)


def small(tmp_path, **changes):
    return dataclasses.replace(SMALL, run=tmp_path, **changes)


def expert(spec, learner, threads):
    return Expert(OpponentSettings(expert=spec), learner.variant, learner.mean_net, threads)


def weights(learner):
    return torch.cat([p.detach().flatten() for p in learner.net.parameters()])


@pytest.mark.parametrize("game", game_names())
def test_every_game_learns(game, tmp_path):
    players = make_variant(game).game.players
    for n in {players[0], players[-1]}:
        learner = Learner(small(tmp_path / str(n), game=f"{game} players={n}"))
        before = weights(learner).clone()
        learner.collect()
        seen = learner.update()
        assert not torch.equal(before, weights(learner))
        assert all(torch.isfinite(torch.tensor(value)) for value in seen.values())
        assert learner.batch.action_masks.gather(2, learner.batch.actions[..., None]).all()


def test_advantages_of_one_game_by_hand(tmp_path):
    learner = Learner(small(tmp_path, num_envs=1, num_steps=4, gae_lambda=0.5))
    batch = learner.batch
    batch.seats[:, 0] = torch.tensor([0, 1, 1, 0])
    batch.dones[:, 0] = torch.tensor([False, False, True, False])
    batch.rewards[2, 0] = torch.tensor([1.0, -1.0])
    batch.values[:, 0] = torch.tensor([[0.2, -0.2], [0.4, -0.4], [0.0, 0.0], [0.1, -0.1], [0.3, -0.3]])
    own, targets, valid = learner.advantages()
    third = -1.0 - 0.0  # seat 1 loses; nothing follows the end
    second = (0.0 + 0.4) + 0.5 * third
    first = (0.4 - 0.2) + 0.5 * ((0.0 - 0.4) + 0.5 * 1.0)
    last = 0.3 - 0.1
    assert own[:, 0].tolist() == pytest.approx([first, second, third, last])
    # Targets are seat-relative: the decider's first.
    assert targets[2, 0].tolist() == pytest.approx([-1.0, 1.0])
    assert valid.all()


def test_advantages_between_decisions_of_opponents_by_hand(tmp_path):
    learner = Learner(small(tmp_path, num_envs=1, num_steps=7, gae_lambda=0.5, opponents=("random",)))
    batch = learner.batch
    batch.own[:, 0] = torch.tensor([True, False, True, False, True, True, False, False])
    batch.seats[:, 0] = torch.tensor([0, 1, 0, 1, 1, 1, 0])
    batch.dones[3, 0] = True
    batch.rewards[1:4, 0] = torch.tensor([[0.5, -0.5], [0.25, -0.25], [-1.0, 1.0]])
    nan = [float("nan")] * 2  # of decisions that the network did not look at
    batch.values[:, 0] = torch.tensor([[0.2, -0.2], nan, [0.4, -0.4], nan, [-0.1, 0.1], [0.3, -0.3], nan, nan])
    own, targets, valid = learner.advantages()
    second = (0.25 - 1.0) - 0.4  # what the opponent's reply brings; nothing follows the end
    first = (0.5 + 0.4 - 0.2) + 0.5 * second
    third = -0.3 - 0.1  # bootstrapped by the last own decision, which has no target: an opponent comes next
    assert valid[:, 0].tolist() == [True, False, True, False, True, False, False]
    assert own[valid].tolist() == pytest.approx([first, second, third])
    assert targets[valid].tolist() == [
        pytest.approx([0.2 + first, -0.2 - first]),
        pytest.approx([0.4 + second, -0.4 - second]),
        pytest.approx([0.1 + third, -0.1 - third]),
    ]


def rollout_rows(learner, *others):
    """A rollout as a minibatch, with other parts of the batch by name."""
    own, returns, _ = learner.advantages()
    names = ["obs", "action_masks", "actions", "log_probs", *others]
    rows = {name: getattr(learner.batch, name).flatten(0, 1) for name in names}
    return rows | {"advantages": own.flatten(), "returns": returns.flatten(0, 1)}


@pytest.mark.parametrize("graph_width", [0, 8])
def test_the_first_step_of_adam_by_hand(graph_width, tmp_path, monkeypatch):
    """The fused form reads gradients as they lie in memory: transposed ones were mixed up."""
    monkeypatch.setattr("experiments.training.ppo.CACHE_ROWS", 50)
    learner = Learner(small(tmp_path, device="cpu", precision="float32", graph_width=graph_width))
    learner.collect()
    learner.backward(rollout_rows(learner), 0.1)
    before = {name: p.detach().clone() for name, p in learner.net.named_parameters()}
    learner.optimizer.step()
    rate, epsilon = learner.settings.learning_rate, learner.optimizer.defaults["eps"]
    for name, p in learner.net.named_parameters():
        expected = before[name] - rate * p.grad / (p.grad.abs() + epsilon)
        assert torch.allclose(p, expected, atol=1e-3 * rate), name


@pytest.mark.parametrize("imitates", [False, True])
def test_a_minibatch_in_pieces_has_the_gradient_of_the_whole(imitates, tmp_path, monkeypatch):
    expert = {"expert": "greedy", "imitation_steps": 1000} if imitates else {}
    learner = Learner(small(tmp_path, device="cpu", precision="float32", **expert))
    learner.collect()
    rows = rollout_rows(learner, *["expert_probs"] * imitates)
    found = []
    for size in (len(rows["actions"]), 50, 1):  # in one piece, three and many
        monkeypatch.setattr("experiments.training.ppo.CACHE_ROWS", size)
        learner.net.zero_grad()
        metrics = learner.backward(rows, 0.1)
        found.append((metrics, torch.cat([p.grad.flatten() for p in learner.net.parameters() if p.requires_grad])))
    whole, gradient = found[0]
    assert gradient.abs().max() > 1e-3
    for metrics, other in found[1:]:
        assert metrics == pytest.approx(whole, abs=1e-5)
        assert torch.allclose(other, gradient, rtol=1e-4, atol=1e-6)


def test_values_by_seat_and_back():
    relative = torch.tensor([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]])
    seats = torch.tensor([0, 1])
    turned = turn_seats(relative, seats, -1)
    assert turned.tolist() == [[1.0, 2.0, 3.0], [3.0, 1.0, 2.0]]
    assert torch.equal(turn_seats(turned, seats, 1), relative)


def test_same_seed_same_network_and_resume_goes_on_exactly(tmp_path):
    console, steps = Console(quiet=True), 8 * 16
    straight = train(small(tmp_path / "straight", total_timesteps=4 * steps), console)
    again = train(small(tmp_path / "again", total_timesteps=4 * steps), console)
    assert torch.equal(weights(straight), weights(again))
    # Schedules look at total_timesteps, so the first half is stopped by hand.
    halves = Learner(small(tmp_path / "halves", total_timesteps=4 * steps))
    for _ in range(2):
        halves.collect()
        halves.update()
    checkpoint.save(halves)
    resumed = train(small(tmp_path / "halves", total_timesteps=4 * steps, resume=True), console)
    assert resumed.updates == 4
    assert torch.equal(weights(straight), weights(resumed))


def test_a_network_that_draws_is_imitated_in_what_it_draws(tmp_path):
    spec = "ppo:weights/samurai-2,temperature=1"
    learner = Learner(small(tmp_path, expert=spec, imitation_steps=1000))
    states = learner.env.states.copy()
    keys = decision_keys(states["seed"], states["steps"], 0)
    wanted, probs = learner.expert.decide(states, keys)
    assert wanted.tolist() == make_agent(spec, learner.variant).act(states, keys).tolist()
    assert wanted.tolist() != make_agent("ppo:weights/samurai-2", learner.variant).act(states, keys).tolist()
    assert (probs.sum(1) == 1).all() and (probs.argmax(1) == wanted).all() and probs.max() == 1


def test_imitation_learns_the_experts_choice_and_then_stops(tmp_path):
    steps = 8 * 16
    learner = Learner(small(tmp_path, expert="greedy", imitation_steps=12 * steps, total_timesteps=20 * steps))
    losses = []
    while learner.imitating:
        states = learner.env.states.copy()
        learner.collect()
        wanted, shares = learner.expert.decide(states, decision_keys(states["seed"], states["steps"], 0))
        assert (shares.argmax(1) == wanted).all() and shares.sum() == 8
        assert learner.batch.actions[0].tolist() == wanted.tolist()
        losses.append(learner.update()["policy_loss"])
    assert learner.steps == 12 * steps
    assert losses[-1] < losses[0] - 0.1
    learner.collect()
    own = learner.batch.log_probs.exp()
    assert (own > 0).all()
    seen = learner.update()
    assert abs(seen["policy_loss"]) < 0.5  # the clipped objective again, no cross-entropy


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"expert": "past", "imitation_steps": 9}, "past is an opponent"),
        ({"eval_opponents": ("past",)}, "past is an opponent"),
        ({"opponents": ("past:3",)}, "the opponent past takes no argument, not 'past:3'"),
        ({"expert": "puct:10,net=self"}, "--expert puct:10,net=self needs --imitation-steps"),
        ({"expert": "puct:0,net=self", "imitation_steps": 9}, "simulations of a search must be from 1 to"),
        ({"expert": "puct:9,net=self,device=cuda", "imitation_steps": 9}, "net=self is evaluated where --device says"),
        ({"device": "nonsense"}, "--device nonsense cannot be used: "),
        ({"expert": "self:50", "imitation_steps": 9}, "--expert self:50 is now puct:50,net=self"),
        ({"expert": "puct:many,net=self", "imitation_steps": 9}, "puct takes a number of simulations"),
        (
            {"expert": "puct:9,net=self,rollout_weight=7", "imitation_steps": 9},
            "rollout_weight of .* must be from 0 to 1, not 7",
        ),
        ({"vf_coef": -1.0}, "--vf-coef must be from 0 to 1000000, not -1"),
    ],
)
def test_impossible_experts_and_opponents_are_refused(changes, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        train(small(tmp_path / "run", **changes), Console(quiet=True))
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("spec", ["mcts:30", "puct:10,net=self"])
def test_a_search_teaches_how_often_it_tried_each_action(spec, threads, tmp_path):
    learner = Learner(small(tmp_path, heuristic_prior=True))
    learner.collect()
    states = learner.env.states
    keys = decision_keys(states["seed"], states["steps"], 0)
    if spec == "mcts:30":
        searcher = make_agent(spec, learner.variant)
    else:
        searcher = PUCTAgent(learner.variant, learner.mean_net, PUCTConfig(10))
    found = searcher.search(states, keys)
    actions, wanted = expert(spec, learner, threads).decide(states, keys)
    assert actions.tolist() == found.actions.tolist()
    assert np.allclose(wanted.sum(1), 1)
    alone, whole = expert("puct:1,net=self", learner, 1).decide(states, keys)
    assert (whole.argmax(1) == alone).all() and whole.sum() == 8
    assert np.allclose(wanted * np.square(found.visits).sum(1, keepdims=True), np.square(found.visits))


def test_a_network_that_teaches_itself_keeps_its_choices_and_learns_what_to_expect(tmp_path):
    train(small(tmp_path / "first", heuristic_prior=True, total_timesteps=512), Console(quiet=True))
    spec = f"ppo:{tmp_path / 'first'}"
    again = {"init_from": tmp_path / "first", "expert": spec, "imitation_steps": 40_000, "total_timesteps": 40_000}
    large = {"num_envs": 32, "num_steps": 128, "minibatch_size": 512, "learning_rate": 3e-3}
    learner = Learner(small(tmp_path, heuristic_prior=True, gae_lambda=1.0, vf_coef=5.0, **large, **again))
    states = learner.env.states.copy()
    before, _ = NetworkAgent(learner.variant, deepcopy(learner.net).eval()).evaluate(states)
    actions, wanted = learner.expert.decide(states, np.zeros(len(states), np.uint64))
    assert actions.tolist() == before.argmax(1).tolist()
    assert np.allclose(wanted, np.exp(before), atol=1e-6)
    explained = []
    while learner.imitating:
        learner.collect()
        explained.append(learner.update()["explained_variance"])
    after, _ = NetworkAgent(learner.variant, learner.mean_net).evaluate(states)
    assert np.mean(explained[-4:]) > np.mean(explained[:4])
    assert (np.exp(before) * (before - after)).sum(1).max() < 1e-3


def test_expert_iteration_learns_from_the_choices_of_its_own_search(tmp_path):
    learner = Learner(
        small(tmp_path, heuristic_prior=True, expert="puct:10,net=self", imitation_steps=1000, total_timesteps=1000)
    )
    losses = []
    while learner.imitating:
        learner.collect()
        assert learner.batch.imitating
        assert not (learner.batch.expert_probs.float() * (1 - learner.batch.action_masks)).any()
        losses.append(learner.update()["policy_loss"])
    assert 0 < losses[-1] < losses[0]


def test_past_selves_are_kept_through_the_run_and_drawn(tmp_path):
    learner = Learner(small(tmp_path, opponents=("past",), opponent_share=0.5, total_timesteps=4 * 128))
    first = {name: tensor.clone() for name, tensor in learner.mean_net.state_dict().items()}
    for number in range(4):
        assert len(learner.opponents.past.nets) == 1 + number
        learner.collect()
        assert not learner.batch.own.all()
        learner.update()
    assert all(torch.equal(learner.opponents.past.nets[0][name], first[name]) for name in first)
    drawn = [learner.opponents.past.draw(seed, number) for seed in (1, 2) for number in range(50)]
    assert set(drawn[:50]) == set(drawn[50:]) == set(range(5))
    assert drawn[:50] != drawn[50:]
    assert [learner.opponents.past.draw(1, number) for number in range(50)] == drawn[:50]
    playing = learner.opponents.past._net.state_dict()
    assert all(torch.equal(playing[name], learner.opponents.past.nets[drawn[49]][name]) for name in playing)
    checkpoint.save(learner)
    resumed = Learner(learner.config)
    checkpoint.load(resumed)
    for kept, found in zip(learner.opponents.past.nets, resumed.opponents.past.nets, strict=True):
        assert all(torch.equal(kept[name], found[name]) for name in kept)


def repeated_and_resumed(tmp_path, changes):
    """A run of two updates, after a look that it ends alike if it was stopped (in tmp_path / "half") between them."""
    console = Console(quiet=True)
    straight = train(small(tmp_path / "straight", **changes), console)
    half = Learner(small(tmp_path / "half", **changes))
    half.collect()
    half.update()
    checkpoint.save(half)
    assert torch.equal(weights(straight), weights(train(small(tmp_path / "half", **changes, resume=True), console)))
    return straight


@pytest.mark.parametrize(
    "imitation", [{}, {"heuristic_prior": True, "expert": "puct:5,net=self", "imitation_steps": 9999}]
)
def test_a_run_with_all_that_helps_in_training_repeats_and_resumes(imitation, tmp_path):
    changes = {"reward": "shaped", "opponents": ("greedy", "past"), "total_timesteps": 2 * 8 * 16} | imitation
    repeated_and_resumed(tmp_path, changes)
    with pytest.raises(ValueError, match="begun with --reward 'shaped'; it resumes only with the same"):
        train(small(tmp_path / "half", **changes | {"reward": "result"}, resume=True), Console(quiet=True))


def test_a_rollout_begun_with_the_expert_is_learned_as_the_experts(tmp_path):
    steps = 8 * 16
    learner = Learner(small(tmp_path, expert="greedy", imitation_steps=steps + 1, total_timesteps=4 * steps))
    imitated = []
    for _ in range(3):
        learner.collect()
        imitated.append((learner.batch.imitating, learner.update()["policy_loss"] > 0.5))
    assert imitated == [(True, True), (True, True), (False, False)]


@pytest.mark.parametrize("game", game_names())
def test_an_advised_network_begins_as_the_built_in_player(game, tmp_path):
    learner = Learner(small(tmp_path, game=game, heuristic_prior=True))
    learner.collect()
    states = learner.env.states
    scores = ActionFeatures(learner.variant).compute(states)[:, :, 0]
    chosen = NetworkAgent(learner.variant, learner.net).act(states, np.zeros(8, np.uint64))
    assert (scores[np.arange(8), chosen] <= 0.1 * float(learner.net.prior_temperature)).all()
    learner.update()
    assert torch.isfinite(weights(learner)).all()


def test_advised_runs_repeat_and_resume(tmp_path):
    changes = {"heuristic_prior": True, "opponents": ("greedy",), "opponent_share": 0.5, "total_timesteps": 2 * 8 * 16}
    straight = repeated_and_resumed(tmp_path, changes)
    further = Learner(small(tmp_path / "further", **changes, init_from=tmp_path / "half"))
    kept = torch.cat([p.flatten() for p in straight.mean_net.parameters()])
    assert torch.equal(weights(further), kept)
    assert not torch.equal(kept, weights(straight))


@pytest.mark.parametrize("players", [2, 3])
def test_decisions_of_opponents_are_played_by_them_and_not_learned(players, tmp_path):
    learner = Learner(
        small(tmp_path, game=f"samurai players={players}", opponents=("greedy", "random"), opponent_share=0.75)
    )
    greedy = make_agent("greedy", learner.variant)
    for _ in range(2):
        states, moves = learner.env.states.copy(), np.full(8, -1)
        wanted = greedy.act(states, decision_keys(states["seed"], states["steps"], 1))
        theirs = learner.opponents.decides(learner.env.states)
        learner.opponents.play(learner.env.states, moves)
        assert theirs.tolist() == [g < 6 and states["seat"][g] != states["seed"][g] % players for g in range(8)]
        for g in range(8):
            assert moves[g] == wanted[g] if theirs[g] and g % 2 == 0 else (moves[g] >= 0) == theirs[g]
        learner.collect()
        assert learner.batch.own[0].tolist() == (~theirs).tolist()
        valid = learner.advantages()[2]
        assert not (valid & ~learner.batch.own[:-1]).any()
        assert int((learner.batch.own[:-1] & ~valid).sum()) <= 6  # the last of a game with opponents
        rows = torch.cat(list(learner._minibatches(valid)))
        assert valid.flatten()[rows].all()
        assert len(rows) == learner.config.update_epochs * int(valid.sum())
        learner.update()


@pytest.mark.parametrize("game", ["samurai", "samurai_card"])
def test_where_opponents_decide_in_all_games_no_network_is_asked(game, tmp_path, monkeypatch):
    learner = Learner(small(tmp_path, game=game, graph_width=8, opponents=("greedy",), opponent_share=1.0))
    asked = []
    monkeypatch.setattr(learner.opponents, "decides", lambda states: np.ones(len(states), bool))
    monkeypatch.setattr(learner, "_predict", lambda *args: asked.append(args))
    learner.collect()
    assert not asked and not learner.batch.own.any()


def test_a_run_that_is_longer_than_first_meant_keeps_past_selves_to_its_end(tmp_path):
    learner = Learner(small(tmp_path, opponents=("past",), opponent_share=0.5))
    opponents, copies = learner.opponents, []
    for last, total in ((1000, 1000), (2000, 2000)):
        opponents._part = None  # a resumed run has a new object
        for done in range(last - 1000, last, 10):
            opponents.start_rollout(done // 10, done, total)
            opponents.end_update(learner.mean_net, done + 10, total)
        copies.append(len(opponents.past.nets) - 1)
    assert copies == [20, 30]


def test_minibatches_of_one_row_do_not_diverge(tmp_path):
    learner = Learner(small(tmp_path, num_envs=1, num_steps=3, minibatch_size=1))
    for _ in range(2):
        learner.collect()
        learner.update()
    assert weights(learner).isfinite().all()


def test_the_card_names_every_commit_and_machine_that_learned(tmp_path, monkeypatch):
    for name, steps in (("abcdef0", 128), ("1234567", 256), ("abcdef0", 384)):
        with monkeypatch.context() as now:
            now.setattr("experiments.training.learner.commit", lambda name=name: name)
            train(small(tmp_path, total_timesteps=steps, resume=steps > 128), Console(quiet=True))
    notes = read_card(tmp_path).notes
    assert notes["commit"] == ["abcdef0", "1234567"]
    assert len(notes["machine"]) == 1


def test_a_run_resumes_without_the_network_that_it_started_from(tmp_path):
    start, run = tmp_path / "start", tmp_path / "run"
    train(small(start, total_timesteps=128), Console(quiet=True))
    train(small(run, total_timesteps=128, init_from=start), Console(quiet=True))
    origin = read_card(run).notes["origin"]
    start.rename(tmp_path / "moved")
    learner = train(small(run, total_timesteps=256, init_from=start, resume=True), Console(quiet=True))
    assert learner.steps == 256
    assert origin is not None
    assert read_card(run).notes["origin"] == origin
    with pytest.raises(ValueError, match="start'; it has its weights, so leave --init-from out"):
        train(small(run, total_timesteps=384, init_from=tmp_path / "moved", resume=True), Console(quiet=True))
    train(small(run, total_timesteps=384, resume=True), Console(quiet=True))
    assert read_card(run).notes["config"]["init_from"] == str(start)


def test_a_network_that_has_become_useless_is_told(tmp_path):
    learner = Learner(small(tmp_path))
    with torch.no_grad():
        learner.net.policy.bias[:] = torch.nan
    with pytest.raises(ValueError, match=r"training has diverged after 0 steps; try a lower --learning-rate"):
        learner.collect()
    with torch.no_grad():
        learner.net.policy.bias[:] = -1e12  # below what the logits of illegal actions are set to
    with pytest.raises(ValueError, match="training has diverged"):
        learner.collect()


def test_a_rollout_of_one_decision_has_not_diverged(tmp_path):
    config = small(tmp_path, game="samurai_spirit players=1", num_envs=1, num_steps=1, total_timesteps=2)
    assert train(config, Console(quiet=True)).steps == 2


def test_a_policy_over_a_map_does_not_stay_while_values_learn(tmp_path):
    config = small(tmp_path / "run", graph_width=8, total_timesteps=128)
    train(config, Console(quiet=True))
    net = load_network(tmp_path / "run")
    with torch.no_grad():
        net.policy.weight.zero_()
    save_network(net, tmp_path / "zero.safetensors", {})
    wrong = dataclasses.replace(config, run=tmp_path / "no", init_from=tmp_path / "zero.safetensors", values_only=True)
    with pytest.raises(ValueError, match="reads its hidden layers"):
        train(wrong, Console(quiet=True))


def test_a_rollout_of_opponents_alone_is_refused(tmp_path):
    learner = Learner(small(tmp_path, num_envs=1, num_steps=1, opponents=("greedy",), opponent_share=1.0))
    learner.collect()
    learner.batch.own[1] = False  # an opponent is to move
    with pytest.raises(ValueError, match="in 1 steps of a game no decision of the network has a result: use a larger"):
        learner.update()


@pytest.mark.parametrize("encoding", ["flat", "tokens"])
def test_inputs_are_standardised_by_random_play(tmp_path, encoding):
    learner = Learner(small(tmp_path, encoding=encoding))
    rows = random_play(learner.variant, learner.net.config, learner.config.seed)[0].flatten(1)
    means, deviations = torch.empty(2, rows.shape[1])
    for columns in (slice(first, first + 512) for first in range(0, rows.shape[1], 512)):  # all at once take 2 GB
        inputs = (rows[:, columns].float() - learner.net.mean[columns]) * learner.net.scale[columns]
        means[columns], deviations[columns] = inputs.mean(0), inputs.std(0)
    assert means.abs().max() < 1e-3
    assert deviations.max() < 1.001
    assert (deviations > 0.5).float().mean() > 0.02  # the others are rare, or never change


def test_an_exported_network_is_half_as_large_and_plays_alike(tmp_path):
    run, file = tmp_path / "run", tmp_path / "kept" / "net.safetensors"
    learner = train(small(run, hidden=(64, 64), heuristic_prior=True, total_timesteps=256), Console(quiet=True))
    export.main(export.Config(run, file))
    assert file.stat().st_size < 0.55 * (run / "model.safetensors").stat().st_size
    agents = [make_agent(f"ppo:{path}", learner.variant) for path in (run, file)]
    full, half = (agent.evaluate(learner.env.states) for agent in agents)
    assert abs(np.exp(full[0]) - np.exp(half[0])).max() < 0.01
    assert abs(full[1] - half[1]).max() < 0.01
    card = read_card(file).notes
    assert card["command"].startswith("python -m experiments.train_ppo --run")
    assert card["steps"] == 256
    with pytest.raises(ValueError, match="is there already: add --replace"):
        export.main(export.Config(run, file))
    export.main(export.Config(run, file, replace=True))
    with pytest.raises(ValueError, match="name ends in"):
        export.main(export.Config(run, tmp_path / "net"))


def test_what_float16_cannot_hold_is_not_exported(tmp_path):
    kept, run = tmp_path / "kept.safetensors", tmp_path / "run.safetensors"
    net = new_network(NetworkConfig(make_variant("samurai").spec, "flat", (8,), True))
    save_network(net, kept, {"steps": 3})
    before = kept.read_bytes()
    with torch.no_grad():
        net.policy.weight[0, 0] = 1e5
    save_network(net, run, {"steps": "many"})
    with pytest.raises(ValueError, match=r"run\.safetensors has weights that are too large for float16"):
        export.main(export.Config(run, kept, replace=True))
    assert kept.read_bytes() == before


def test_a_network_that_was_not_trained_by_decisions_is_exported(tmp_path, capsys):
    file = tmp_path / "net.safetensors"
    save_network(new_network(NetworkConfig(make_variant("samurai").spec, "flat", (8,), True)), file, {"positions": 3})
    export.main(export.Config(file, tmp_path / "other.safetensors"))
    assert capsys.readouterr().out.rstrip().endswith(make_variant("samurai").spec.rpartition(" ")[2])


def test_a_card_is_carried_over_to_the_present_format_and_the_weights_stay(tmp_path):
    file = tmp_path / "net.safetensors"
    net = new_network(NetworkConfig(make_variant("samurai").spec, "flat", (8,), True))
    save_network(net, file, {"steps": 3})
    weights, card = file.read_bytes(), file.with_suffix(".json")
    old = json.loads(card.read_text()) | {"format": CARD_FORMAT}
    old = {next((o for o, n in CARD.items() if n == key), key): value for key, value in old.items()}
    card.write_text(json.dumps(old))
    export.main(export.Config(file, file))
    assert file.read_bytes() == weights
    assert json.loads(card.read_text())["format"] == FORMAT
    assert read_card(file).notes == {"steps": 3}
    assert load_network(file).config == net.config


def test_the_shipped_cards_are_in_the_present_format():
    for card in (Path(__file__).resolve().parents[3] / "weights").glob("*.json"):
        assert json.loads(card.read_text())["format"] == FORMAT


def test_a_long_chain_of_runs_leaves_cards_that_can_be_read(tmp_path):
    """Each tells of the runs before it, but of no more than twenty: JSON within JSON is read to a depth of 32."""
    run = tmp_path / "0"
    train(small(run, total_timesteps=256), Console(quiet=True))
    card = json.loads((run / "model.json").read_text())
    notes = card["notes"]
    for number in range(1, 40):
        (run / "model.json").write_text(json.dumps(card | {"notes": notes}))
        notes = {"command": f"run {number}", "origin": origin_of(run)}
    further = tmp_path / "further"
    train(small(further, total_timesteps=256, init_from=run), Console(quiet=True))
    notes, told = read_card(further).notes, []
    while notes := notes["origin"]:
        told.append(notes["command"])
    assert told == [f"run {number}" for number in range(38, 18, -1)]
    train(small(further, total_timesteps=512, resume=True), Console(quiet=True))


def test_a_card_tells_how_the_network_was_made_with_which_its_run_began(tmp_path):
    run, further = tmp_path / "run", tmp_path / "further"
    train(small(run, total_timesteps=256), Console(quiet=True))
    assert read_card(run).notes["origin"] is None
    began = read_card(run).notes
    train(small(further, total_timesteps=256, init_from=run), Console(quiet=True))
    assert read_card(further).notes["origin"] == began
    train(small(run, total_timesteps=512, resume=True), Console(quiet=True))  # `initial` is another by now
    train(small(further, total_timesteps=512, init_from=run, resume=True, learning_rate=0.5), Console(quiet=True))
    made = read_card(further).notes
    assert made["origin"] == began
    assert "--learning-rate" not in made["command"]
    (step, command), *more = made["went_on"]
    assert (step, more) == (256, [])
    assert "--total-timesteps 512" in command
    assert "--learning-rate 0.5" in command


def test_actions_are_drawn_by_their_probabilities():
    probabilities = np.array([[0.0, 0.25, 0.0, 0.75], [0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]], np.float32)
    rng, actions, counts = np.array([1], np.uint64), np.zeros(3, np.int64), np.zeros((3, 4))
    for _ in range(4000):
        sample(probabilities, rng, actions)
        counts[np.arange(3), actions] += 1
    assert np.abs(counts / 4000 - probabilities).max() < 0.03
    assert not counts[probabilities == 0].any()
    sample(np.array([[0.3, 0.0]], np.float32), rng, actions[:1])  # rounding may leave a rest
    assert actions[0] == 0


def test_a_run_goes_on_with_other_opponents_and_says_when_it_is_done(tmp_path, capsys):
    changes = {"total_timesteps": 128, "eval_every": 1, "eval_deals": 1}
    train(small(tmp_path, **changes, eval_opponents=("random",)), Console(quiet=True))
    changes |= {"total_timesteps": 256, "resume": True, "eval_opponents": ("greedy",)}
    learner = train(small(tmp_path, **changes), Console())
    assert [sorted(point)[2:] for point in learner.curve] == 2 * [["win_share_random"]] + [["win_share_greedy"]]
    assert "going on from 128 steps" in " ".join(capsys.readouterr().out.split())
    train(small(tmp_path, **changes), Console())
    assert "is done, with 256 steps" in " ".join(capsys.readouterr().out.split())  # wherever the line was broken


def test_a_curve_has_a_point_at_the_start_and_ten_more_and_evaluations_change_nothing(tmp_path):
    whole: dict[str, Any] = {"total_timesteps": 25 * 128}
    points = {"eval_deals": 1, "eval_opponents": ("random",)}
    default = train(small(tmp_path / "a", **whole, **points, eval_every=None), Console(quiet=True))
    assert [point["steps"] for point in default.curve] == [128 * n for n in (0, 3, 5, 8, 10, 13, 15, 18, 20, 23, 25)]
    given = train(small(tmp_path / "c", **whole, **points, eval_every=10), Console(quiet=True))
    assert [point["steps"] for point in given.curve] == [128 * n for n in (0, 10, 20, 25)]
    never = train(small(tmp_path / "b", **whole, eval_every=0), Console(quiet=True))
    assert never.curve == []
    assert torch.equal(weights(default), weights(never))


def test_a_run_by_the_clock(tmp_path, monkeypatch):
    ticks = iter(range(10**6))
    monkeypatch.setattr("experiments.train_ppo.time.perf_counter", lambda: float(next(ticks)))
    learner = train(small(tmp_path, minutes=0.5, total_timesteps=1, eval_every=None, eval_deals=1), Console(quiet=True))
    assert learner.steps > 128  # not --total-timesteps
    assert learner.length() == (30_000, 30_000) or learner.length()[0] == 31_000
    assert len(learner.curve) >= 11
    assert learner.optimizer.param_groups[0]["lr"] < 0.2 * learner.config.learning_rate


def test_refusals(tmp_path):
    console = Console(quiet=True)
    with pytest.raises(FileNotFoundError, match=r"there is no run in .* to resume"):
        train(small(tmp_path / "none", resume=True), console)
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match=r"--run is a folder, and .*file is a file"):
        train(small(tmp_path / "file"), console)
    config = small(tmp_path / "run", total_timesteps=128)
    train(config, console)
    with pytest.raises(ValueError, match="already holds a run"):
        train(config, console)
    with pytest.raises(ValueError, match="does not fit this run"):
        train(dataclasses.replace(config, hidden=(16,), resume=True), console)
    with pytest.raises(ValueError, match="begun with --num-envs 8; it resumes only with the same"):
        train(dataclasses.replace(config, num_envs=4, resume=True), console)
    with pytest.raises(ValueError, match="precision must be float32 or bfloat16, not half"):
        train(small(tmp_path / "half", precision="half"), console)
    for changes, text in (
        (
            {"graph_width": 8, "encoding": "tokens"},
            "graph_width needs a game with a map, and a flat encoding; this is samurai 'tokens'",
        ),
        ({"graph_width": 8, "game": "samurai_spirit"}, "this is samurai_spirit 'flat'"),
        ({"reward": "shapd"}, "--reward must be result or shaped, not 'shapd'"),
        ({"gae_lambda": 2.0}, "--gae-lambda must be from 0 to 1, not 2"),
        ({"opponent_share": 0.9}, "--opponent-share 0.9 has no effect without --opponents"),
        ({"max_lag": 9}, "--max-lag 9 has no effect without --actors"),
        ({"eval_deals": 7}, "--eval-opponents and --eval-deals have no effect with --eval-every 0"),
        (
            {"game": "samurai_spirit", "eval_every": 1, "eval_opponents": ("greedy",)},
            "--eval-opponents have no effect in a cooperative game",
        ),
        (
            {"expert": "puct:10,net=self,rollout_depth=4", "imitation_steps": 1},
            "rollout_depth has no effect here: it needs a rollout_weight above 0",
        ),
        (
            {"opponents": ("greedy", "random", "past")},
            "--opponent-share 0.25 of --num-envs 8 are 2 games, too few for 3 --opponents",
        ),
        ({"clip_coef": 0.0}, "--clip-coef must be above 0, at most .*, not 0"),
    ):
        with pytest.raises(ValueError, match=text):
            train(small(tmp_path / "impossible", **changes), console)
    assert not (tmp_path / "impossible").exists()
    (tmp_path / "run" / "checkpoint.safetensors").rename(tmp_path / "aside")
    with pytest.raises(ValueError, match="already holds a network, without a checkpoint"):
        train(config, console)
    with pytest.raises(FileNotFoundError, match="there is no checkpoint in"):
        train(dataclasses.replace(config, resume=True), console)
    (tmp_path / "aside").rename(tmp_path / "run" / "checkpoint.safetensors")
    with pytest.raises(ValueError, match="--opponent-share must be from 0 to 1, not 2"):
        train(small(tmp_path / "share", opponents=("greedy",), opponent_share=2.0), console)
    with pytest.raises(ValueError, match="does not fit this run"):
        train(small(tmp_path / "form", init_from=tmp_path / "run", hidden=(16,), heuristic_prior=True), console)
    path = tmp_path / "run" / "checkpoint.safetensors"
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(ValueError, match="is damaged"):
        train(dataclasses.replace(config, total_timesteps=512, resume=True), console)


def old_names(settings):
    """Settings as cards had them before version 0.2."""
    old = {new: name for name, new in TRAINING.items()}
    return {old.get(name, name): value for name, value in settings.items()} | REMOVED


def as_before_version_02(run):
    """Rewrite a run's files as they were: three of them, with old names of settings, fields and tensors."""
    old = {"prior_weight": "trust", "prior_temperature": "temperature"}
    for file in ("checkpoint.safetensors", "model.safetensors"):
        tensors = {}
        for name, tensor in load_file(run / file).items():
            part, _, last = name.rpartition(".")
            if not name.startswith("mean."):
                tensors[f"{part}.{old.get(last, last)}".lstrip(".")] = tensor
        save_file(tensors, run / file)
    card = json.loads((run / "model.json").read_text(encoding="utf-8"))
    del card["sha256"]
    card["format"] = CARD_FORMAT
    for name, new in CARD.items():
        card[name] = card.pop(new)
    card["notes"]["config"] = old_names(card["notes"]["config"])
    (run / "model.json").write_text(json.dumps(card), encoding="utf-8")
    return card


def test_a_run_begun_under_the_old_names_goes_on(tmp_path):
    changes = {"total_timesteps": 256, "opponents": ("greedy",), "heuristic_prior": True, "prior_weight": 2.0}
    straight = train(small(tmp_path / "straight", **changes), Console(quiet=True))
    half = Learner(small(tmp_path / "half", **changes))
    half.collect()
    half.update()
    checkpoint.save(half)
    new = read_card(tmp_path / "half").notes["config"]
    card = as_before_version_02(tmp_path / "half")
    assert card["notes"]["config"]["trust"] == 2.0
    assert card["notes"]["config"]["rivals"] == ["greedy"]
    assert current_settings(card["notes"]["config"]) == new | REMOVED
    shutil.copytree(tmp_path / "half", tmp_path / "gone")
    resumed = train(small(tmp_path / "half", **changes, resume=True), Console(quiet=True))
    assert torch.equal(weights(straight), weights(resumed))
    card["notes"]["config"]["privileged"] = True
    (tmp_path / "gone" / "model.json").write_text(json.dumps(card), encoding="utf-8")
    with pytest.raises(ValueError, match="begun with --privileged, which is gone; commit 1e132cb has it"):
        train(small(tmp_path / "gone", **changes, resume=True), Console(quiet=True))


def test_opponents_of_an_evaluation_and_of_training_are_told_apart():
    assert current_settings({"opponents": ["greedy"], "rivals": ["past"], "total_steps": 5}) == {
        "eval_opponents": ["greedy"], "opponents": ["past"], "total_timesteps": 5
    }  # fmt: skip
    present = {"eval_opponents": ["greedy"], "opponents": ["past"]}
    assert current_settings(present | {"total_steps": 5}) == present | {"total_timesteps": 5}


def test_settings_of_shipped_networks_are_known():
    names = {field.name for field in dataclasses.fields(Config)}
    assert set(TRAINING.values()) <= names
    assert not set(flag_hints()) & names
    for card in Path("weights").glob("*.json"):
        notes = read_card(card.with_suffix(".safetensors")).notes
        while notes:
            if "experiments.train_ppo" in notes["command"]:
                settings = current_settings(notes["config"])
                assert set(settings) <= names | set(REMOVED) | {"num_players", "options"}, card  # now in `game`
                assert all(settings.get(name, off) == off for name, off in REMOVED.items()), card
            notes = notes.get("origin")


@pytest.mark.parametrize(
    ("flag", "hint"),
    [
        ("--minibatch=64", "--minibatch is now --minibatch-size"),
        ("--advised", "--advised is now --heuristic-prior"),
        ("--no-advised", "--no-advised is now --heuristic-prior"),
        ("--rival_share", "--rival_share is now --opponent-share"),
        ("--privileged", "--privileged gained nothing and is gone; commit 1e132cb has it"),
    ],
)
def test_old_flags_are_refused_with_the_new_ones(flag, hint):
    with pytest.raises(ValueError, match=hint):
        refuse_old_flags(["--run", "x", flag], flag_hints())


def test_every_number_has_a_range_and_its_default_lies_within():
    check_ranges(Config())
    for name, (_, allowed) in field_types(Config).items():
        value = getattr(Config(), name)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            assert allowed, name
        if allowed:
            for absurd in (-1, float("nan"), 10**23, 10**4000):
                config = Config(**{name: (absurd,) if isinstance(value, tuple) else absurd})
                if allowed.high == float("inf") and absurd > 0:
                    continue
                with pytest.raises(ValueError, match=f"{flag(name)} must be .*, not") as error:
                    check_ranges(config)
                assert len(str(error.value)) < 150


def test_the_average_of_the_weights_by_hand():
    average = warmed_up_ema(0.5)
    for step, kept in ((1, 1 / 11), (90, 0.5)):
        averaged = [torch.tensor([1.0]), torch.tensor([2.0])]
        average(averaged, [torch.zeros(1), torch.zeros(1)], torch.tensor(step))
        assert [float(tensor) for tensor in averaged] == pytest.approx([kept, 2 * kept])


def test_a_full_disk_is_told_once(capsys, monkeypatch):
    """TensorBoard's thread printed a traceback as well (campaign writes, --seed 72, fault 247)."""

    class Full:
        def write(self, data):
            raise OSError(27, "File too large")

    monkeypatch.setattr(threading, "excepthook", report_unless_raised_again)
    events = queue.Queue()
    events.put(b"event")
    for thread, told in (
        (_AsyncWriterThread(events, Full(), 1), False),
        (threading.Thread(target=Full().write, args=(b"",)), True),
    ):
        thread.start()
        thread.join()
        assert ("File too large" in capsys.readouterr().err) == told
