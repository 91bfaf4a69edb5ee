"""Beliefs about hands: blind to what is hidden, the same in every batch, and refused where they do not fit."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from rich.console import Console

from agents.registry import make_agent
from agents.search.beliefs import LARGEST_LOGIT, Belief, load_belief, save_belief, shapes
from experiments.common.file_hashes import file_hash
from experiments.training.belief import Config, Net, learn, log_likelihood, play
from samurai_env import make_variant
from samurai_env.core.batch import batch_kernels
from samurai_env.core.game import Variant
from tests.agents.small_networks import check_refusals, check_search
from tests.agents.test_agents import positions

TABLES = [("samurai", 2), ("samurai", 4), ("samurai_card", 3)]


def random_belief(variant: Variant, seed: int = 1) -> Belief:
    rng, encoding = np.random.default_rng(seed), variant.encoding_name(None)
    tensors = {
        name: (0.3 * rng.standard_normal(shape)).astype(np.float16).astype(np.float32)  # as files have them
        for name, shape in shapes(variant, encoding, 8).items()
    }
    return Belief(variant, encoding, tensors)


@pytest.mark.parametrize(("game", "players"), TABLES)
def test_odds_depend_on_what_the_seat_sees_alone(game: str, players: int) -> None:
    variant = make_variant(game, players)
    belief, states = random_belief(variant), positions(variant, 12, 5)
    odds = belief.odds(states)
    assert odds.shape == (12, players, variant.dtype["hand"].shape[1])
    assert (abs(np.log(odds)) <= LARGEST_LOGIT).all()
    assert len(np.unique(odds)) > 100
    assert (odds[np.arange(12), states["seat"]] == 1).all()
    for i in range(12):
        assert (belief.odds(states[i : i + 1])[0] == odds[i]).all()
        rng = np.array([99 + i], np.uint64)
        batch_kernels(variant.game).determinize_one(states, i, int(states["seat"][i]), rng)
    assert (belief.odds(states) == odds).all()


@pytest.mark.parametrize(("game", "players"), TABLES)
@pytest.mark.parametrize("spec", ["mcts:30,belief=FILE", "mcts:20,determinizations=4,belief=FILE"])
def test_a_search_with_a_belief_is_legal_repeatable_and_blind(game: str, players: int, spec: str, tmp_path) -> None:
    variant = make_variant(game, players)
    save_belief(random_belief(variant), tmp_path / "belief.safetensors", {})
    check_search(variant, spec.replace("FILE", str(tmp_path / "belief")), spec.replace(",belief=FILE", ""))


def test_a_search_with_a_network_and_a_belief_is_blind(tmp_path) -> None:
    variant = make_variant("samurai", 2)
    save_belief(random_belief(variant), tmp_path / "belief.safetensors", {})
    spec = "puct:40,net=weights/samurai-2,rollout_weight=0.5,rollout_depth=4,net_visits=3"
    check_search(variant, f"{spec},belief={tmp_path / 'belief'}", spec, 6)


def test_files_that_are_no_belief_for_this_game(tmp_path) -> None:
    variant, path = make_variant("samurai", 2), tmp_path / "belief.safetensors"
    with pytest.raises(FileNotFoundError, match="there is no belief at "):
        load_belief(path, variant)
    with pytest.raises(ValueError, match="card of a belief"):
        load_belief(Path("weights/samurai-2"), variant)
    belief = random_belief(variant)
    save_belief(belief, path, {"how": "by chance"})
    loaded = load_belief(tmp_path / "belief", variant)
    assert all((loaded.tensors[name] == tensor).all() for name, tensor in belief.tensors.items())
    changes = [
        ({"hidden": 9}, r"does not fit its card: tensor 'first.bias' is \(8,\), the card says \(9,\)"),
        ({"hidden": 0}, "describes no belief"),
        ({"encoding": "pictures"}, "describes no belief"),
    ]
    check_refusals(load_belief, path, variant, "belief", changes)
    belief.tensors["first.bias"][0] = np.nan
    save_belief(belief, path, {})
    with pytest.raises(ValueError, match="numbers that are not finite"):
        load_belief(path, variant)


@pytest.mark.parametrize("players", [2, 4])
def test_a_shipped_belief_knows_more_than_chance(players: int) -> None:
    variant = make_variant("samurai", players)
    belief = load_belief(Path(f"weights/beliefs/samurai-{players}"), variant)
    found = play((variant.spec, belief.encoding, ("greedy",), 0.2, 0, 99))
    net = Net(variant, belief.encoding, len(belief.tensors["first.bias"]))
    tensors = {name: torch.from_numpy(tensor.T.copy()) for name, tensor in belief.tensors.items()}
    net.load_state_dict(tensors)
    hands, unseen = torch.from_numpy(found["hands"]), torch.from_numpy(found["unseen"])
    with torch.no_grad():
        logits = net(torch.from_numpy(found["observations"]))
    known, alike = (log_likelihood(each, hands, unseen).mean() for each in (logits, torch.zeros_like(logits)))
    assert known > alike + 1.5


def test_settings_that_do_not_go_together() -> None:
    with pytest.raises(ValueError, match="cheating=1 searches the true state: it has no use for a belief"):
        make_agent("mcts:10,cheating=1,belief=x", make_variant("samurai"))
    with pytest.raises(FileNotFoundError, match="there is no belief at nowhere"):
        make_agent("mcts:10,belief=nowhere", make_variant("samurai"))


def test_the_likelihood_of_a_hand_is_that_of_the_deal() -> None:
    from tests.core.test_hands import KINDS, probabilities

    logits = torch.log(torch.tensor([1.0, 5.0, 2.0, 0.1, 0.5]))
    unseen = torch.from_numpy(np.bincount(KINDS)).to(torch.int8)
    wanted = probabilities(logits.exp().numpy(), 3)
    hands = torch.stack([torch.bincount(torch.tensor(hand), minlength=5) for hand in wanted]).to(torch.int8)
    found = log_likelihood(logits.expand(len(hands), -1), hands, unseen.expand(len(hands), -1))
    assert torch.allclose(found.exp(), torch.tensor(list(wanted.values()), dtype=torch.float32), atol=1e-6)


def settings(run, **changes) -> Config:
    given = {"run": run, "agents": ("greedy",), "deals": 64, "hidden": 16, "epochs": 4, "minibatch_size": 256}
    return Config(**given | {"processes": 1} | changes)


def test_a_belief_is_learned_and_the_games_are_kept(tmp_path, monkeypatch) -> None:
    quiet = Console(quiet=True)
    belief = learn(settings(tmp_path), quiet)
    card = json.loads((tmp_path / "model.json").read_text())
    known = card["notes"]["log_likelihood"]
    assert known["belief"] > known["all hands alike"] + 0.5
    monkeypatch.setattr("experiments.training.belief.make_agent", lambda *_: None)  # what plays again would fail
    again = learn(settings(tmp_path), quiet)
    assert all((again.tensors[name] == tensor).all() for name, tensor in belief.tensors.items())
    with pytest.raises(ValueError, match=r"was made with .* seed 1', not .* seed 2; choose another --run"):
        learn(settings(tmp_path, seed=2), quiet)


def test_games_of_a_network_that_has_changed_are_not_taken(tmp_path) -> None:
    network, quiet = tmp_path / "net.safetensors", Console(quiet=True)
    config = settings(tmp_path / "run", agents=(f"ppo:{network}",), epochs=1)

    def place(name: str) -> None:
        for kind in (".safetensors", ".json"):
            network.with_suffix(kind).write_bytes(Path("weights", name).with_suffix(kind).read_bytes())

    place("samurai-2")
    learn(config, quiet)
    place("samurai-2-scratch")
    digits = file_hash("ppo:weights/samurai-2-scratch")
    with pytest.raises(ValueError, match=f"was made with .*, not .* {digits}; choose another --run"):
        learn(config, quiet)


def test_learning_that_diverges_says_so(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("experiments.training.belief.judged", lambda *_: (float("nan"), -1.0))
    with pytest.raises(ValueError, match=r"learning has diverged: .* nan; try a lower --learning-rate"):
        learn(settings(tmp_path, epochs=1), Console(quiet=True))


def test_impossible_settings_of_learning(tmp_path) -> None:
    for changes, text in (
        ({"game": "samurai_spirit"}, "in Samurai Spirit nobody holds a hand"),
        ({"share": 0.0}, "--share must be above 0, at most 1, not 0"),
        ({"agents": ("wizard",)}, "wizard"),
        ({"agents": ()}, "--agents are one or more"),
    ):
        with pytest.raises(ValueError, match=text):
            learn(settings(tmp_path / "none", **changes), Console(quiet=True))
    assert not (tmp_path / "none").exists()
