"""Layers that read the places of an encoding: convolutions over planes, attention among rows."""

import numpy as np
import pytest
import torch

from agents.networks.config import NetworkConfig
from agents.networks.layers import Attention, Convolutions, spatial_layers
from agents.networks.network import PolicyValueNet
from agents.networks.network_files import load_network, save_network
from agents.registry import make_agent
from experiments.training.init_network import random_play
from samurai_env import make_variant
from samurai_env.core.batch import batch_kernels

GAMES = ["samurai", "samurai_card"]


def net_for(game: str, encoding: str) -> PolicyValueNet:
    torch.manual_seed(0)
    return PolicyValueNet(
        NetworkConfig(make_variant(game).spec, encoding, (16,), heuristic_prior=True, spatial_width=8)
    )


def test_convolutions_see_the_places_around() -> None:
    layers = Convolutions((5, 9, 7), 8)
    planes = torch.rand(1, 5, 9, 7)
    changed = planes.clone()
    changed[0, 2, 4, 3] += 1.0
    with torch.no_grad():
        before, after = layers(planes).view(8, 9, 7), layers(changed).view(8, 9, 7)
    differs = (before != after).any(0)
    assert differs[4, 3]
    rows, columns = differs.nonzero().unbind(1)
    assert (rows - 4).abs().max() <= 2
    assert (columns - 3).abs().max() <= 2


def test_attention_knows_rows_by_content_and_place() -> None:
    torch.manual_seed(0)
    layers, order = Attention((6, 5), 8), torch.tensor([3, 0, 1, 5, 4, 2])
    rows = torch.rand(2, 6, 5)
    with torch.no_grad():
        seen, moved = layers(rows).view(2, 6, 8), layers(rows[:, order]).view(2, 6, 8)
        assert not torch.allclose(moved, seen[:, order], atol=1e-3), "places are told apart"
        layers.position.zero_()
        seen, moved = layers(rows).view(2, 6, 8), layers(rows[:, order]).view(2, 6, 8)
    assert torch.allclose(moved, seen[:, order], atol=1e-5)


@pytest.mark.parametrize("encoding", ["planes", "tokens"])
@pytest.mark.parametrize("game", GAMES)
def test_such_a_network_plays_and_is_saved(game: str, encoding: str, tmp_path) -> None:
    net = net_for(game, encoding)
    variant = make_variant(game)
    path = tmp_path / "net.safetensors"
    save_network(net.eval(), path, {})
    assert load_network(path).config == net.config
    states = variant.new(5)
    batch_kernels(variant.game).reset_all(states, np.arange(5, dtype=np.uint64))
    keys = np.arange(5, dtype=np.uint64)
    together = make_agent(f"ppo:{path}", variant).act(states, keys)
    alone = [make_agent(f"ppo:{path}", variant).act(states[i : i + 1], keys[i : i + 1])[0] for i in range(5)]
    assert together.tolist() == alone
    assert make_agent(f"puct:10,net={path}", variant).search(states, keys).visits.sum() == 5 * 9


@pytest.mark.parametrize(("encoding", "places"), [("planes", (1, 2)), ("tokens", (0,))])
def test_all_places_are_standardised_alike(encoding: str, places: tuple[int, ...]) -> None:
    net, variant = net_for("samurai", encoding), make_variant("samurai")
    observations = random_play(variant, net.config, 1)[0][::4]  # all planes as floats take 0.6 GB
    net.standardize(observations)
    shape = variant.encoding(encoding).shape
    for tensor in (net.mean, net.scale):
        by_place = tensor.view(shape)
        assert torch.allclose(by_place, by_place.mean(places, keepdim=True).expand(shape), atol=1e-5)
    inputs = (observations[::2].flatten(1).float() - net.mean) * net.scale
    means = inputs.view(-1, *shape).mean((0, *[1 + place for place in places]))
    assert means.abs().max() < 0.15  # of a part of them
    assert net.scale.unique().numel() > 10


def test_what_does_not_fit_is_refused() -> None:
    variant = make_variant("samurai")
    with pytest.raises(ValueError, match="need the encoding planes or tokens"):
        spatial_layers(variant.encoding("flat"), 8)
    with pytest.raises(ValueError, match="the width must be a multiple of 4, not 6"):
        spatial_layers(variant.encoding("tokens"), 6)
    assert isinstance(spatial_layers(variant.encoding("planes"), 6), Convolutions)
