"""Layers over the graph of a map: what they read, and how pieces and places are scored."""

import numpy as np
import pytest
import torch

from agents.networks.config import NetworkConfig
from agents.networks.maps.graph_layers import GraphLayers
from agents.networks.network import PolicyValueNet
from agents.networks.network_files import load_network, save_network
from agents.registry import make_agent
from experiments.training.init_network import random_play
from samurai_env import GameBatch, make_variant

VARIANTS = [("samurai", 2), ("samurai", 3), ("samurai", 4)]


def layers_of(game: str, players: int) -> GraphLayers:
    torch.manual_seed(0)
    variant = make_variant(game, players)
    layers = GraphLayers(variant.game.graph(players), variant.encoding("flat"), 8, 12)
    with torch.no_grad():
        for parameter in layers.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.2)
        layers.scores.weight *= 0.1  # larger gains are clamped
    return layers


def positions(game: str, players: int) -> torch.Tensor:
    variant = make_variant(game, players)
    form = NetworkConfig(variant.spec, "flat", (12,), graph_width=8)
    return random_play(variant, form, seed=3)[0][::199]


def plain(obs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """A mean and a scale that leave observations as they are."""
    return torch.zeros(obs.shape[1]), torch.ones(obs.shape[1])


@pytest.mark.parametrize(("game", "players"), VARIANTS)
def test_every_entry_is_read_once_by_sites_or_by_the_rest(game: str, players: int) -> None:
    layers, encoding = layers_of(game, players), make_variant(game, players).encoding("flat")
    assert set(layers.rows.flatten().tolist()).isdisjoint(layers.rest.tolist())
    assert {*layers.rows.flatten().tolist(), *layers.rest.tolist()} == set(range(encoding.shape[0]))
    slices, shape = encoding.slices(), {b.name: b.shape for b in encoding.blocks}
    site, suit = 4, 1
    for name, index in (("figures", (suit, site)), ("influence", (0, site, suit)), ("empty_land", (site,))):
        assert slices[name].start + np.ravel_multi_index(index, shape[name]) in layers.rows[site, suit]


@pytest.mark.parametrize(("game", "players"), VARIANTS)
@torch.no_grad()
def test_logits_are_what_the_docstring_says(game: str, players: int) -> None:
    """A second computation, place by place in plain Python."""
    layers, variant = layers_of(game, players), make_variant(game, players)
    graph, slices = variant.game.graph(players), variant.encoding("flat").slices()
    obs = positions(game, players)[:20]
    nodes, _ = layers.embed(obs, *plain(obs))
    hidden = torch.randn(len(obs), 12)
    logits = layers.logits(obs, nodes, hidden, torch.zeros(len(obs), variant.num_actions))
    scores = layers.scores(nodes.relu() * (1.0 + layers.gate(hidden))[:, None, None])
    likes = sorted({piece.like for piece in graph.pieces})
    for row in range(len(obs)):

        def gain(piece: int, sites: tuple[int, ...], row: int = row) -> float:
            like, suit = graph.pieces[piece].like, graph.pieces[piece].suit
            suits = range(layers.suits) if suit is None else [suit]
            return sum(float(scores[row, site, s, likes.index(like)]) for site in sites for s in suits)

        total = dict.fromkeys(range(len(graph.pieces)), 0.0)
        chosen = obs[row, slices[graph.piece_block]].nonzero().flatten().tolist()
        for number, kind in enumerate(graph.places):
            entries = obs[row, torch.from_numpy(kind.rows(variant.encoding("flat")))]
            for place, sites in enumerate(kind.beside):
                own = float(layers.kinds[number].own(entries[place].float()))
                expected = own + sum(gain(piece, sites) for piece in chosen)
                assert float(logits[row, kind.action + place]) == pytest.approx(expected, abs=1e-3)
                if not entries[place].any():
                    for piece in kind.pieces:
                        total[piece] += np.exp(gain(piece, sites))
        placed = {piece for kind in graph.places for piece in kind.pieces}
        for piece, value in total.items():
            expected = float(layers.piece_scale[piece]) * np.log(value + 1e-6) if piece in placed else 0.0
            assert float(logits[row, graph.piece_action + piece]) == pytest.approx(expected, abs=1e-3)
        for site, actions in enumerate(graph.sites.actions):
            for suit, action in enumerate(actions):
                if action >= 0:
                    assert float(logits[row, action]) == pytest.approx(float(scores[row, site, suit, -1]), abs=1e-4)


def test_suits_are_alike() -> None:
    """Without what is known of the rest, suits that change places change places in the embedding."""
    layers, obs = layers_of("samurai", 2), positions("samurai", 2)
    with torch.no_grad():
        layers.context.weight.zero_()
        order, turned = torch.tensor([2, 0, 1]), obs.clone()
        turned[:, layers.rows] = obs[:, layers.rows[:, order]]
        nodes, after = (layers.embed(x, *plain(x))[0] for x in (obs, turned))
    assert torch.allclose(after, nodes[:, :, order], atol=1e-5)
    assert not torch.allclose(after, nodes, atol=1e-2)


@pytest.mark.parametrize("game", ["samurai", "samurai_card"])
def test_such_a_network_plays_and_is_saved(game, tmp_path) -> None:
    variant = make_variant(game, 4)
    net = PolicyValueNet(NetworkConfig(variant.spec, "flat", (16,), graph_width=8))
    path = tmp_path / "net.safetensors"
    save_network(net.eval(), path, {})
    assert load_network(path).config == net.config
    batch, keys = GameBatch(variant), np.arange(20, dtype=np.uint64)
    states = batch.reset(np.arange(20))
    assert batch.first_illegal(states, make_agent(f"ppo:{path}", variant).act(states, keys)) == -1


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ({"game": "samurai_spirit"}, "a map"),
        ({"encoding": "planes"}, "a flat encoding"),
        ({"encoding": "tokens", "spatial_width": 8}, "in the place of"),
    ],
)
def test_no_such_network(form: dict, text: str) -> None:
    variant = make_variant(form.pop("game", "samurai"))
    with pytest.raises(ValueError, match=text):
        PolicyValueNet(NetworkConfig(**{"variant": variant.spec, "encoding": "flat", "graph_width": 8} | form))
