"""Shipped networks by NumPy choose as by torch."""

import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from threadpoolctl import threadpool_info, threadpool_limits

from agents.networks import agent, network_files, numpy_network
from agents.networks.cards import read_card
from agents.networks.config import NetworkConfig
from agents.networks.network import PolicyValueNet
from agents.networks.paths import shipped_networks, weights_file
from agents.registry import make_agent
from samurai_env import GameBatch, make_variant, parse_variant

TIE = 1e-5  # logits that differ by less are those of actions that are alike


def positions(variant, games, seed=1):
    """Positions of random games at all stages."""
    batch, parts = GameBatch(variant), []
    states, rng = batch.reset(np.arange(games)), np.array([seed], np.uint64)
    for _ in range(10):
        batch.play_random(states, rng, 7)
        parts.append(states.copy())
    return np.concatenate(parts)


def compare(path, states):
    """The largest difference of legal logits and of values, and whether all choices are the same.

    By NumPy all positions are evaluated at once, and a few at a time: those go through compiled layers. Actions that
    are alike, such as equal cells of the card game, have the same logit but for the last bit, which depends on the
    processor: either is the same choice.
    """
    variant = parse_variant(read_card(path).variant)
    by_torch = agent.NetworkAgent(variant, network_files.load_network(path))
    by_numpy = agent.NetworkAgent(variant, numpy_network.load_network(path))
    (a, v), (b, w) = by_torch.evaluate(states), by_numpy.evaluate(states)
    parts = [by_numpy.evaluate(states[i : i + numpy_network.FEW]) for i in range(0, len(states), numpy_network.FEW)]
    few, few_values = (np.concatenate(both) for both in zip(*parts, strict=True))
    legal = GameBatch(variant).legal_masks(states) > 0
    assert (b[~legal] < -1e8).all()
    assert b.dtype == w.dtype == np.float32
    assert few.dtype == few_values.dtype == np.float32
    logits = max(np.abs(a - b)[legal].max(), np.abs(a - few)[legal].max())
    chosen = [np.take_along_axis(a, x.argmax(1)[:, None], 1)[:, 0] for x in (b, few)]
    same = all((a.max(1) - of_torch < TIE).all() for of_torch in chosen)
    return logits, max(np.abs(v - w).max(), np.abs(v - few_values).max()), same


@pytest.mark.parametrize("path", shipped_networks(), ids=lambda path: path.stem)
def test_the_choices_are_those_by_torch(path):
    states = positions(parse_variant(read_card(path).variant), 100)
    logits, values, same = compare(path, states)
    assert same
    assert logits < 1e-3
    assert values < 1e-4


def test_a_single_position_gives_what_it_gives_among_others():
    path = shipped_networks()[0]
    variant = parse_variant(read_card(path).variant)
    player = agent.NetworkAgent(variant, numpy_network.load_network(path))
    states = positions(variant, 2)
    alone = np.concatenate([player.evaluate(states[i : i + 1])[0] for i in range(len(states))])
    assert np.allclose(alone, player.evaluate(states)[0], atol=1e-4)


@pytest.mark.parametrize("hidden", [(), (16,)])
@pytest.mark.parametrize("heuristic_prior", [False, True])
def test_other_forms_agree_too(tmp_path, hidden, heuristic_prior):
    variant = make_variant("samurai_card", 2)
    net = PolicyValueNet(NetworkConfig(variant.spec, "flat", hidden, heuristic_prior, 0, 8 * heuristic_prior))
    network_files.save_network(net, tmp_path / "net.safetensors", {})
    logits, values, same = compare(tmp_path / "net.safetensors", positions(variant, 5))
    assert same
    assert max(logits, values) < 1e-4


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize(("hidden", "heuristic_prior"), [((24,), False), ((16, 8), True)])
def test_networks_over_a_graph_agree_too(tmp_path, players, hidden, heuristic_prior):
    torch.manual_seed(1)
    variant = make_variant("samurai", players)
    net = PolicyValueNet(NetworkConfig(variant.spec, "flat", hidden, heuristic_prior, graph_width=8))
    with torch.no_grad():
        for parameter in net.graph.parameters():
            parameter += 0.1 * torch.randn_like(parameter)
    network_files.save_network(net, tmp_path / "net.safetensors", {})
    states = np.concatenate([GameBatch(variant).reset(np.arange(5)), positions(variant, 5)])
    logits, values, same = compare(tmp_path / "net.safetensors", states)
    assert same
    assert max(logits, values) < 1e-3


def test_forms_of_other_layers_name_torch(tmp_path):
    variant = make_variant("samurai", 2)
    net = PolicyValueNet(NetworkConfig(variant.spec, "planes", (8,), spatial_width=4))
    network_files.save_network(net, tmp_path / "net.safetensors", {})
    with pytest.raises(ValueError, match="layers that need torch"):
        numpy_network.load_network(tmp_path / "net.safetensors")


def test_damage_is_noticed(tmp_path):
    path = shipped_networks()[0]
    for suffix in (".safetensors", ".json"):
        (tmp_path / f"net{suffix}").write_bytes(path.with_suffix(suffix).read_bytes())
    net = tmp_path / "net.safetensors"
    data = bytearray(net.read_bytes())
    data[-1] ^= 1
    net.write_bytes(data)
    with pytest.raises(ValueError, match="its checksum is another"):
        numpy_network.load_network(net)
    with pytest.raises(FileNotFoundError, match="there is no network"):
        numpy_network.load_network(tmp_path / "other")


def test_without_torch_networks_and_their_search_play(monkeypatch):
    monkeypatch.setattr(agent, "find_spec", lambda name: None)
    monkeypatch.setitem(sys.modules, "torch", None)
    variant = make_variant("samurai", 2)
    states, keys = GameBatch(variant).reset([1, 2]), np.zeros(2, np.uint64)
    for spec in ("ppo:weights/samurai-2", "puct:8,net=weights/samurai-2"):
        actions = make_agent(spec, variant).act(states, keys)
        assert not GameBatch(variant).first_illegal(states, actions) >= 0
    with pytest.raises(ValueError, match="device=cuda needs torch"):
        make_agent("puct:8,net=weights/samurai-2,device=cuda", variant)
    with pytest.raises(ValueError, match="untrained needs torch"):
        make_agent("untrained", variant)


def test_shipped_networks_are_found_from_anywhere(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    found = weights_file(Path("weights/samurai-2"))
    assert found.is_absolute()
    assert weights_file(Path("weights/samurai-2.safetensors")) == found
    (tmp_path / "weights").mkdir()
    (tmp_path / "weights" / "samurai-2.safetensors").touch()  # one's own comes first
    assert not weights_file(Path("weights/samurai-2")).is_absolute()
    assert weights_file(Path("weights/none")) == Path("weights/none")
    assert weights_file(Path("weights")) == Path("weights") / "model.safetensors"  # a folder, here
    monkeypatch.chdir(tmp_path / "weights")
    assert weights_file(Path("weights")) == Path("weights")


def test_products_take_one_thread(monkeypatch):
    """On busy cores threads of BLAS, which wait for small products by spinning, took most of the time of a search."""
    if not any("numpy" in pool["filepath"] for pool in threadpool_info()):
        pytest.skip("this NumPy has no BLAS whose threads can be told")
    path = shipped_networks()[0]
    by_numpy = agent.NetworkAgent(parse_variant(read_card(path).variant), numpy_network.load_network(path))
    seen, forward = [], numpy_network.NumPyNetwork._forward

    def looking(*arguments):
        seen.extend(
            pool["num_threads"] for pool in threadpool_info() if "numpy" in pool["filepath"]
        )  # torch has its own
        return forward(*arguments)

    monkeypatch.setattr(numpy_network.NumPyNetwork, "_forward", looking)
    before = threadpool_info()
    by_numpy.evaluate(positions(by_numpy.variant, 10))
    assert seen
    assert set(seen) == {1}
    assert threadpool_info() == before


def test_products_take_one_thread_also_if_several_threads_ask_for_it():
    """The limit is one of the whole process: who began first must not lift it while another still multiplies."""
    if not any("numpy" in pool["filepath"] for pool in threadpool_info()):
        pytest.skip("this NumPy has no BLAS whose threads can be told")

    def threads():
        return [pool["num_threads"] for pool in threadpool_info() if "numpy" in pool["filepath"]]

    with threadpool_limits(limits=2, user_api="blas"):
        before = threads()
        first, second = numpy_network.one_blas_thread(), numpy_network.one_blas_thread()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert set(threads()) == {1}
        second.__exit__(None, None, None)
        assert threads() == before
