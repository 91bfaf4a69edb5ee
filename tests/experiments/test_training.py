"""The PPO learner: advantages, masks, repeatability, resuming, refusals."""

import dataclasses
from copy import deepcopy

import numpy as np
import pytest
import torch
from rich.console import Console

from agents.arena import decision_keys
from agents.heuristics import ActionFeatures
from agents.networks.agent import NetworkAgent
from agents.networks.files import read_card
from agents.networks.sampling import sample
from agents.registry import make_agent
from agents.search.puct import PUCTAgent, PUCTConfig
from experiments import export
from experiments.train_ppo import train
from experiments.training import checkpoint
from experiments.training.config import Config
from experiments.training.opponents import Teacher
from experiments.training.ppo import Learner, random_play
from experiments.training.rollout import by_seat
from samurai_env import game_names, make_variant

SMALL = Config(hidden=(32,), num_envs=8, num_steps=16, minibatch=64, evaluate_every=0, checkpoint_every=1, device="cpu")


def small(tmp_path, **changes):
    return dataclasses.replace(SMALL, run=tmp_path, **changes)


def weights(learner):
    return torch.cat([p.detach().flatten() for p in learner.net.parameters()])


@pytest.mark.parametrize("game", game_names())
def test_every_game_learns(game, tmp_path):
    players = make_variant(game).game.players
    for n in {players[0], players[-1]}:
        learner = Learner(small(tmp_path / str(n), game=game, num_players=n))
        before = weights(learner).clone()
        learner.collect()
        seen = learner.update()
        assert not torch.equal(before, weights(learner))
        assert all(torch.isfinite(torch.tensor(value)) for value in seen.values())
        assert learner.batch.masks.gather(2, learner.batch.actions[..., None]).all()


def test_advantages_of_one_game_by_hand(tmp_path):
    learner = Learner(small(tmp_path, num_envs=1, num_steps=4, gae_lambda=0.5))
    batch = learner.batch
    batch.seats[:, 0] = torch.tensor([0, 1, 1, 0])
    batch.dones[:, 0] = torch.tensor([False, False, True, False])
    batch.rewards[2, 0] = torch.tensor([1.0, -1.0])
    batch.values[:, 0] = torch.tensor([[0.2, -0.2], [0.4, -0.4], [0.0, 0.0], [0.1, -0.1], [0.3, -0.3]])
    own, targets = learner.advantages()
    third = -1.0 - 0.0  # seat 1 loses; nothing follows the end
    second = (0.0 + 0.4) + 0.5 * third
    first = (0.4 - 0.2) + 0.5 * ((0.0 - 0.4) + 0.5 * 1.0)
    last = 0.3 - 0.1
    assert own[:, 0].tolist() == pytest.approx([first, second, third, last])
    # Targets are seat-relative: the decider's first.
    assert targets[2, 0].tolist() == pytest.approx([-1.0, 1.0])


def test_values_by_seat_and_back():
    relative = torch.tensor([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]])
    seats = torch.tensor([0, 1])
    turned = by_seat(relative, seats, -1)
    assert turned.tolist() == [[1.0, 2.0, 3.0], [3.0, 1.0, 2.0]]
    assert torch.equal(by_seat(turned, seats, 1), relative)


def test_same_seed_same_network_and_resume_goes_on_exactly(tmp_path):
    console, steps = Console(quiet=True), 8 * 16
    straight = train(small(tmp_path / "straight", total_steps=4 * steps), console)
    again = train(small(tmp_path / "again", total_steps=4 * steps), console)
    assert torch.equal(weights(straight), weights(again))
    # Schedules look at total_steps, so the first half is stopped by hand.
    halves = Learner(small(tmp_path / "halves", total_steps=4 * steps))
    for _ in range(2):
        halves.collect()
        halves.update()
    checkpoint.save(halves)
    resumed = train(small(tmp_path / "halves", total_steps=4 * steps, resume=True), console)
    assert resumed.updates == 4
    assert torch.equal(weights(straight), weights(resumed))


def test_imitation_learns_the_teachers_choice_and_then_stops(tmp_path):
    steps = 8 * 16
    learner = Learner(small(tmp_path, teacher="greedy", teacher_steps=12 * steps, total_steps=20 * steps))
    losses = []
    while learner.imitating:
        states = learner.env.states.copy()
        learner.collect()
        wanted, shares = learner.teacher.decide(states, decision_keys(states["seed"], states["steps"], 0))
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
        ({"teacher": "past", "teacher_steps": 9}, "past is a rival"),
        ({"opponents": ("past",)}, "past is a rival"),
        ({"rivals": ("past:3",)}, "the rival past stands alone, not as 'past:3'"),
        ({"teacher": "puct:10,net=self"}, "--teacher puct:10,net=self needs --teacher-steps"),
        ({"teacher": "puct:0,net=self", "teacher_steps": 9}, "at least 1 simulation"),
        ({"teacher": "self", "teacher_steps": 9}, "self takes a number of simulations"),
        ({"teacher": "puct:9,net=self,rollout_weight=7", "teacher_steps": 9}, "mix is a share from 0 to 1"),
        ({"auxiliary": -1.0}, "--auxiliary is at least 0"),
    ],
)
def test_teachers_and_rivals_that_cannot_be(changes, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        train(small(tmp_path / "run", **changes), Console(quiet=True))
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("spec", ["mcts:30", "puct:10,net=self"])
def test_a_search_teaches_how_often_it_tried_each_action(spec, threads, tmp_path):
    learner = Learner(small(tmp_path, advised=True))
    learner.collect()
    states = learner.env.states
    keys = decision_keys(states["seed"], states["steps"], 0)
    if spec == "mcts:30":
        searcher = make_agent(spec, learner.variant)
    else:
        searcher = PUCTAgent(learner.variant, learner.mean_net, PUCTConfig(10))
    found = searcher.search(states, keys)
    actions, wanted = Teacher(learner.variant, spec, learner.mean_net, threads).decide(states, keys)
    assert actions.tolist() == found.actions.tolist()
    assert np.allclose(wanted.sum(1), 1)
    alone, whole = Teacher(learner.variant, "puct:1,net=self", learner.mean_net, 1).decide(states, keys)
    assert (whole.argmax(1) == alone).all() and whole.sum() == 8
    assert np.allclose(wanted * np.square(found.visits).sum(1, keepdims=True), np.square(found.visits))


def test_a_network_that_teaches_itself_keeps_its_choices_and_learns_what_to_expect(tmp_path):
    train(small(tmp_path / "first", advised=True, total_steps=512), Console(quiet=True))
    spec = f"ppo:{tmp_path / 'first'}"
    again = {"initial": tmp_path / "first", "teacher": spec, "teacher_steps": 40_000, "total_steps": 40_000}
    large = {"num_envs": 32, "num_steps": 128, "minibatch": 512, "learning_rate": 3e-3}
    learner = Learner(small(tmp_path, advised=True, gae_lambda=1.0, value_weight=5.0, **large, **again))
    states = learner.env.states.copy()
    before, _ = NetworkAgent(learner.variant, deepcopy(learner.net).eval()).evaluate(states)
    actions, wanted = learner.teacher.decide(states, np.zeros(len(states), np.uint64))
    assert actions.tolist() == before.argmax(1).tolist()
    assert np.allclose(wanted, before.exp(), atol=1e-6)
    explained = []
    while learner.imitating:
        learner.collect()
        explained.append(learner.update()["explained_variance"])
    after, _ = NetworkAgent(learner.variant, learner.mean_net).evaluate(states)
    assert np.mean(explained[-4:]) > np.mean(explained[:4])
    assert (before.exp() * (before - after)).sum(1).max() < 1e-3


def test_expert_iteration_learns_from_the_choices_of_its_own_search(tmp_path):
    learner = Learner(small(tmp_path, advised=True, teacher="puct:10,net=self", teacher_steps=1000, total_steps=1000))
    losses = []
    while learner.imitating:
        learner.collect()
        assert learner.batch.imitated
        assert not (learner.batch.wanted.float() * (1 - learner.batch.masks)).any()
        losses.append(learner.update()["policy_loss"])
    assert 0 < losses[-1] < losses[0]


def test_the_critic_sees_all_hands_and_the_network_its_own(tmp_path):
    learner = Learner(small(tmp_path, num_players=3, privileged=True))
    learner.collect()
    batch, variant = learner.batch, learner.variant
    assert torch.equal(batch.together[:, :, 0], batch.observations)
    states, hands = learner.env.states, []
    together = np.zeros((8, 3, *variant.encoding().shape), np.int8)
    learner._observing.batch_observe_all(states, together)
    for game in range(8):
        for player in range(3):
            seat = (states["seat"][game] + player) % 3
            seen = variant.encoding().view(together[game, player], "hand")
            hands.append(seen.tolist() == states["hand"][game, seat].tolist())
    assert all(hands)
    before = learner.extras.critic[0].weight.clone()
    learner.update()
    assert not torch.equal(before, learner.extras.critic[0].weight)
    assert not {name for name in learner.net.state_dict() if "critic" in name}


@pytest.mark.parametrize("game", game_names())
def test_growth_of_progress_is_told_apart_from_results(game, tmp_path):
    learner = Learner(small(tmp_path, game=game, auxiliary=0.5, num_steps=200))
    learner.collect()
    batch = learner.batch
    assert (batch.rewards[~batch.dones] == 0).all()
    assert batch.dones.any() and (batch.growths != 0).any()
    ended = batch.rewards[batch.dones]
    assert set(np.round(ended.unique().tolist(), 3)) <= {-1.0, 0.0, 1.0}
    assert batch.growths.abs().max() <= 1
    before = learner.extras.forecast.weight.clone()
    assert all(np.isfinite(value) for value in learner.update().values())
    assert not torch.equal(before, learner.extras.forecast.weight)


def test_past_selves_are_kept_through_the_run_and_drawn(tmp_path):
    learner = Learner(small(tmp_path, rivals=("past",), rival_share=0.5, total_steps=4 * 128))
    first = {name: tensor.clone() for name, tensor in learner.mean_net.state_dict().items()}
    for number in range(4):
        assert len(learner.past.nets) == 1 + number
        learner.collect()
        assert not learner.batch.learned.all()
        learner.update()
    assert all(torch.equal(learner.past.nets[0][name], first[name]) for name in first)
    drawn = [learner.past.draw(seed, number) for seed in (1, 2) for number in range(50)]
    assert set(drawn[:50]) == set(drawn[50:]) == set(range(5))
    assert drawn[:50] != drawn[50:]
    assert [learner.past.draw(1, number) for number in range(50)] == drawn[:50]
    playing = learner.past._player.net.state_dict()
    assert all(torch.equal(playing[name], learner.past.nets[drawn[49]][name]) for name in playing)
    checkpoint.save(learner)
    resumed = Learner(learner.config)
    checkpoint.load(resumed)
    for kept, found in zip(learner.past.nets, resumed.past.nets, strict=True):
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


@pytest.mark.parametrize("teaching", [{}, {"advised": True, "teacher": "puct:5,net=self", "teacher_steps": 9999}])
def test_a_run_with_all_that_helps_in_training_repeats_and_resumes(teaching, tmp_path):
    changes = {"privileged": True, "auxiliary": 0.5, "rivals": ("greedy", "past"), "total_steps": 2 * 8 * 16} | teaching
    repeated_and_resumed(tmp_path, changes)
    with pytest.raises(ValueError, match="begun with --privileged True, and goes on only so"):
        train(small(tmp_path / "half", **changes | {"privileged": False}, resume=True), Console(quiet=True))


def test_a_batch_begun_with_the_teacher_is_learned_as_the_teachers(tmp_path):
    steps = 8 * 16
    learner = Learner(small(tmp_path, teacher="greedy", teacher_steps=steps + 1, total_steps=4 * steps))
    imitated = []
    for _ in range(3):
        learner.collect()
        imitated.append((learner.batch.imitated, learner.update()["policy_loss"] > 0.5))
    assert imitated == [(True, True), (True, True), (False, False)]


@pytest.mark.parametrize("game", game_names())
def test_an_advised_network_begins_as_the_built_in_player(game, tmp_path):
    learner = Learner(small(tmp_path, game=game, advised=True))
    learner.collect()
    states = learner.env.states
    scores = ActionFeatures(learner.variant).compute(states)[:, :, 0]
    chosen = NetworkAgent(learner.variant, learner.net).act(states, np.zeros(8, np.uint64))
    assert (scores[np.arange(8), chosen] <= 0.1 * float(learner.net.prior_temperature)).all()
    learner.update()
    assert torch.isfinite(weights(learner)).all()


def test_advised_runs_repeat_and_resume(tmp_path):
    changes = {"advised": True, "rivals": ("greedy",), "rival_share": 0.5, "total_steps": 2 * 8 * 16}
    straight = repeated_and_resumed(tmp_path, changes)
    further = Learner(small(tmp_path / "further", **changes, initial=tmp_path / "half"))
    kept = torch.cat([p.flatten() for p in straight.mean_net.parameters()])
    assert torch.equal(weights(further), kept)
    assert not torch.equal(kept, weights(straight))


@pytest.mark.parametrize("players", [2, 3])
def test_decisions_of_rivals_are_played_by_them_and_not_learned(players, tmp_path):
    learner = Learner(small(tmp_path, num_players=players, rivals=("greedy", "random"), rival_share=0.75))
    greedy = make_agent("greedy", learner.variant)
    for _ in range(2):
        states, moves = learner.env.states.copy(), np.full(8, -1)
        wanted = greedy.act(states, decision_keys(states["seed"], states["steps"], 1))
        theirs = learner._let_rivals_play(moves)
        assert theirs.tolist() == [g < 6 and states["seat"][g] != states["seed"][g] % players for g in range(8)]
        for g in range(8):
            assert moves[g] == wanted[g] if theirs[g] and g % 2 == 0 else (moves[g] >= 0) == theirs[g]
        learner.collect()
        assert learner.batch.learned[0].tolist() == (~theirs).tolist()
        rows = torch.cat(list(learner._minibatches()))
        assert learner.batch.learned.flatten()[rows].all()
        assert len(rows) == learner.config.epochs * int(learner.batch.learned.sum())


@pytest.mark.parametrize("encoding", ["flat", "tokens"])
def test_inputs_are_standardised_by_random_play(tmp_path, encoding):
    learner = Learner(small(tmp_path, encoding=encoding))
    rows = random_play(learner.variant, learner.net.config, learner.config.seed)[0].flatten(1).float()
    inputs = (rows - learner.net.mean) * learner.net.scale
    assert inputs.mean(0).abs().max() < 1e-3
    assert inputs.std(0).max() < 1.001
    assert (inputs.std(0) > 0.5).float().mean() > 0.02  # the others are rare, or never change


def test_a_published_network_is_half_as_large_and_plays_alike(tmp_path):
    run, file = tmp_path / "run", tmp_path / "kept" / "net.safetensors"
    learner = train(small(run, hidden=(64, 64), advised=True, total_steps=256), Console(quiet=True))
    export.main(export.Config(run, file))
    assert file.stat().st_size < 0.55 * (run / "model.safetensors").stat().st_size
    agents = [make_agent(f"ppo:{path}", learner.variant) for path in (run, file)]
    full, half = (agent.evaluate(learner.env.states) for agent in agents)
    assert (full[0].exp() - half[0].exp()).abs().max() < 0.01
    assert (full[1] - half[1]).abs().max() < 0.01
    card = read_card(file).notes
    assert card["command"].startswith("python -m experiments.train_ppo --run")
    assert card["steps"] == 256
    with pytest.raises(ValueError, match="is there already: add --replace"):
        export.main(export.Config(run, file))
    export.main(export.Config(run, file, replace=True))
    with pytest.raises(ValueError, match="name ends in"):
        export.main(export.Config(run, tmp_path / "net"))


def test_a_card_tells_how_the_network_was_made_with_which_its_run_began(tmp_path):
    run, further = tmp_path / "run", tmp_path / "further"
    train(small(run, total_steps=256), Console(quiet=True))
    assert read_card(run).notes["origin"] is None
    began = read_card(run).notes
    train(small(further, total_steps=256, initial=run), Console(quiet=True))
    assert read_card(further).notes["origin"] == began
    train(small(run, total_steps=512, resume=True), Console(quiet=True))  # `initial` is another by now
    train(small(further, total_steps=512, initial=run, resume=True, learning_rate=0.5), Console(quiet=True))
    made = read_card(further).notes
    assert made["origin"] == began
    assert "--learning-rate" not in made["command"]
    (step, command), *more = made["went_on"]
    assert (step, more) == (256, [])
    assert "--total-steps 512" in command
    assert "--learning-rate 0.5" in command


def test_actions_are_drawn_by_their_probabilities():
    probabilities = np.array([[0.0, 0.25, 0.0, 0.75], [0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]], np.float32)
    rng, actions, counts = np.array([1], np.uint64), np.zeros(3, np.int64), np.zeros((3, 4))
    for _ in range(4000):
        sample(probabilities, rng, actions)
        counts[np.arange(3), actions] += 1
    assert np.abs(counts / 4000 - probabilities).max() < 0.03
    assert not counts[probabilities == 0].any()
    sample(np.array([[0.3, 0.0]], np.float32), rng, actions)  # rounding may leave a rest
    assert actions[0] == 0


def test_a_run_goes_on_with_other_opponents_and_says_when_it_is_done(tmp_path, capsys):
    changes = {"total_steps": 128, "evaluate_every": 1, "evaluate_deals": 1}
    train(small(tmp_path, **changes, opponents=("random",)), Console(quiet=True))
    changes |= {"total_steps": 256, "resume": True, "opponents": ("greedy",)}
    learner = train(small(tmp_path, **changes), Console())
    assert [sorted(point)[2:] for point in learner.curve] == [["win_share_random"], ["win_share_greedy"]]
    assert "going on from 128 steps" in " ".join(capsys.readouterr().out.split())
    train(small(tmp_path, **changes), Console())
    assert "is done, with 256 steps" in " ".join(capsys.readouterr().out.split())  # wherever the line was broken


def test_refusals(tmp_path):
    console = Console(quiet=True)
    with pytest.raises(FileNotFoundError, match="there is no run in"):
        train(small(tmp_path / "none", resume=True), console)
    config = small(tmp_path / "run", total_steps=128)
    train(config, console)
    with pytest.raises(ValueError, match="already holds a run"):
        train(config, console)
    with pytest.raises(ValueError, match="does not fit this run"):
        train(dataclasses.replace(config, hidden=(16,), resume=True), console)
    with pytest.raises(ValueError, match="begun with --num-envs 8, and goes on only so"):
        train(dataclasses.replace(config, num_envs=4, resume=True), console)
    with pytest.raises(ValueError, match="precision is float32 or bfloat16, not half"):
        train(small(tmp_path / "half", precision="half"), console)
    for changes, text in (
        ({"reward": "shapd"}, "--reward is result or shaped, not 'shapd'"),
        ({"gae_lambda": 2.0}, "--gae-lambda is at most 1.0, not 2.0"),
        ({"clip": 0.0}, "nothing would be learned"),
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
    with pytest.raises(ValueError, match="--rival-share is at most 1"):
        train(small(tmp_path / "share", rivals=("greedy",), rival_share=2.0), console)
    with pytest.raises(ValueError, match="does not fit this run"):
        train(small(tmp_path / "form", initial=tmp_path / "run", advised=True), console)
    path = tmp_path / "run" / "checkpoint.safetensors"
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(ValueError, match="is damaged"):
        train(dataclasses.replace(config, total_steps=512, resume=True), console)
