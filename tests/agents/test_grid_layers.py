"""Layers over sites and cells on a grid: what they read, and how pieces and cells are scored."""

import math

import numpy as np
import pytest
import torch

from agents.networks.config import NetworkConfig
from agents.networks.maps.grid_layers import GridLayers
from agents.networks.network import PolicyValueNet
from experiments.training.init_network import random_play
from samurai_env import GameBatch, make_variant
from samurai_env.core.encoding import Cells, Encoding, Graph
from samurai_env.core.game import Variant

VARIANTS = [("samurai_card", 2), ("samurai_card", 4)]


def new_layers(variant: Variant) -> tuple[GridLayers, Graph, Encoding]:
    torch.manual_seed(0)
    assert variant.game.graph is not None
    graph, encoding = variant.game.graph(variant.num_players), variant.encoding("flat")
    layers = GridLayers(graph, encoding, 8, 12)
    with torch.no_grad():
        for parameter in layers.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.2)
        layers.scores.weight *= 0.1  # larger gains are clamped
    return layers, graph, encoding


def positions(variant: Variant) -> tuple[torch.Tensor, torch.Tensor]:
    """Observations and masks of random play."""
    batch, rng = GameBatch(variant), np.random.default_rng(5)
    states = batch.reset(np.arange(40))
    for length in range(40):
        for _ in range(length):
            masks = batch.legal_masks(states[length : length + 1])
            if masks.any():
                batch.step(states[length : length + 1], rng.choice(np.flatnonzero(masks[0]), 1))
    states = states[states["over"] == 0]
    return torch.from_numpy(batch.observe(states)), torch.from_numpy(batch.legal_masks(states))


@pytest.mark.parametrize(("game", "players"), VARIANTS)
@torch.no_grad()
def test_logits_are_what_the_docstring_says(game: str, players: int) -> None:
    """A second computation, cell by cell in plain Python."""
    variant = make_variant(game, players)
    layers, graph, encoding = new_layers(variant)
    cells = graph.places
    assert isinstance(cells, Cells)
    obs, masks = positions(variant)
    (nodes, table), _ = layers.embed(obs, torch.zeros(obs.shape[1]), torch.ones(obs.shape[1]))
    hidden = torch.randn(len(obs), 12)
    logits = layers.logits(obs, (nodes, table), hidden, torch.zeros(len(obs), variant.num_actions))
    scores = layers.scores(nodes.relu() * (1.0 + layers.gate(hidden))[:, None, None])
    sides = layers.sides(nodes.mean(2))
    likes = sorted({piece.like for piece in graph.pieces})
    seen = 0
    for row, array in enumerate(obs.numpy()):
        laid, place, free = (encoding.view(array, name) for name in (cells.laid, cells.position, cells.free))
        at = {tuple(place[site].tolist()): site for site in np.flatnonzero(laid)}
        chosen = encoding.view(array, graph.piece_block).nonzero()[0].tolist()
        total = dict.fromkeys(range(len(graph.pieces)), 0.0)
        for site, side in zip(*free.nonzero(), strict=True):
            x, y = place[site] + np.array(cells.steps[side])
            beside = [(at[x - dx, y - dy], d) for d, (dx, dy) in enumerate(cells.steps) if (x - dx, y - dy) in at]
            seen += len(beside) > 1
            for piece, value in enumerate(graph.pieces):
                suits = range(layers.suits) if value.suit is None else [value.suit]
                score = sum(float(sides[row, s, d]) for s, d in beside)
                score += sum(float(scores[row, s, k, likes.index(value.like)]) for s, _ in beside for k in suits)
                total[piece] += math.exp(score)
                if piece in chosen:
                    action = cells.action + len(cells.steps) * site + side
                    assert masks[row, action]
                    assert float(logits[row, action]) == pytest.approx(score, abs=1e-4)
        for piece, value in total.items():
            expected = float(layers.piece_scale[piece]) * math.log(max(value, 1e-6))
            assert float(logits[row, graph.piece_action + piece]) == pytest.approx(expected, abs=1e-3)
    assert seen > 10  # cells beside several sites


@torch.no_grad()
def test_where_the_first_site_lies_does_not_matter() -> None:
    """Coordinates are read as differences alone (by the layers of sites, not by the rest)."""
    variant = make_variant("samurai_card", 2)
    layers, _, _ = new_layers(variant)
    layers.around.weight.zero_()
    obs, _ = positions(variant)
    moved = obs.clone()
    laid = obs[:, layers.laid].repeat_interleave(2, 1)
    moved[:, layers.at] += 7 * laid
    (nodes, _), summary = layers.embed(obs, torch.zeros(obs.shape[1]), torch.ones(obs.shape[1]))
    (again, _), other = layers.embed(moved, torch.zeros(obs.shape[1]), torch.ones(obs.shape[1]))
    assert torch.equal(nodes, again) and torch.equal(summary, other)


@torch.no_grad()
def test_order_of_the_batch_does_not_matter() -> None:
    """Sites that nobody has laid are left out, and how many these are depends on the batch."""
    variant = make_variant("samurai_card", 3)
    net = PolicyValueNet(NetworkConfig(variant.spec, "flat", (16,), graph_width=8)).eval()
    obs, masks = positions(variant)
    together, values = net(obs, masks)
    for row in range(0, len(obs), 7):
        alone, value = net(obs[row : row + 1], masks[row : row + 1])
        assert torch.allclose(alone[0], together[row], atol=1e-4)
        assert torch.allclose(value[0], values[row], atol=1e-4)


def test_all_weights_learn() -> None:
    variant = make_variant("samurai_card", 4)
    net = PolicyValueNet(NetworkConfig(variant.spec, "flat", (16,), graph_width=8))
    net.standardize(*random_play(variant, net.config, seed=3))
    obs, masks = positions(variant)
    log_probs, values = net(obs, masks)
    (log_probs[masks > 0].sum() + values.sum()).backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in net.parameters())
