"""Compiled layers over a map: products, and outputs and gradients as by torch."""

import numpy as np
import pytest
import torch

from agents.networks.config import NetworkConfig
from agents.networks.maps.products import (
    add_listed_rows,
    add_product,
    add_to_listed_rows,
    add_transposed_product,
    larger,
)
from agents.networks.maps.score_kernels import clamped, exponential
from agents.networks.maps.tables import LARGEST
from agents.networks.network import PolicyValueNet, snapshot
from samurai_env import GameBatch, make_variant
from samurai_env.core.jit import jit


@jit
def clamped_powers(x, out):
    """The exponentials of clamped numbers."""
    for i in range(x.shape[0]):
        out[i] = exponential(clamped(x[i]))


@jit
def larger_of(a, b, out):
    """The larger of numbers."""
    for i in range(a.shape[0]):
        out[i] = larger(a[i], b[i])


def random(*shape: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


@pytest.mark.parametrize("rows", [1, 3, 4, 9, 51])
@pytest.mark.parametrize("columns", [1, 3, 4, 7, 12, 16, 31, 48])
@pytest.mark.parametrize("inner", [1, 5, 32])
def test_products_are_those_of_numpy(rows: int, columns: int, inner: int) -> None:
    a, b, before = random(rows, inner), random(inner, columns), random(rows, columns)
    for add, left in ((add_product, a), (add_transposed_product, np.ascontiguousarray(a.T))):
        out = before.copy()
        add(left, b, out)
        assert np.allclose(out, before + a @ b, atol=1e-4)


@pytest.mark.parametrize("columns", [1, 6, 8, 12, 16, 21, 64])
def test_listed_rows_are_added(columns: int) -> None:
    table, row, factors = random(20, columns), random(1, columns), random(10)
    listed = np.random.default_rng(2).choice(20, 10, replace=False)
    out, changed = row.copy(), table.copy()
    add_listed_rows(factors, listed, 7, table, out)
    assert np.allclose(out[0], row[0] + factors[:7] @ table[listed[:7]], atol=1e-5)
    add_to_listed_rows(factors, listed, 7, changed, row)
    expected = table.copy()
    expected[listed[:7]] += factors[:7, None] * row
    assert np.allclose(changed, expected, atol=1e-5)


def test_exponentials_are_exact_to_seven_digits() -> None:
    x = np.concatenate([np.linspace(-20, 20, 100_001), [0.0, LARGEST, -LARGEST]]).astype(np.float32)
    out = np.empty_like(x)
    clamped_powers(x, out)
    exact = np.exp(np.clip(x.astype(np.float64), -LARGEST, LARGEST))
    assert np.abs(out / exact - 1).max() < 5e-7


def test_the_larger_of_two() -> None:
    a, b = random(1000), random(1000, seed=2)
    b[:100] = a[:100]
    out = np.empty_like(a)
    larger_of(a, b, out)
    assert np.array_equal(out, np.maximum(a, b))


def network(players: int, width: int, game: str = "samurai") -> tuple[PolicyValueNet, torch.Tensor, torch.Tensor]:
    """A network with all weights far from 0, observations of all stages of games, and their legal actions."""
    torch.manual_seed(3)
    variant = make_variant(game, players)
    net = PolicyValueNet(NetworkConfig(variant.spec, "flat", (24,), graph_width=width))
    batch, rng, parts = GameBatch(variant), np.array([7], np.uint64), []
    states = batch.reset(np.arange(6))
    for _ in range(9):
        parts.append(states.copy())
        batch.play_random(states, rng, 12)
    states = np.concatenate(parts)
    obs = torch.from_numpy(batch.observe(states, encoding="flat"))
    net.standardize(obs)
    with torch.no_grad():
        for parameter in net.graph.parameters():
            parameter += 0.1 * torch.randn_like(parameter)
        net.graph.scores.weight *= 4  # some scores are clamped
    return net, obs, torch.from_numpy(batch.legal_masks(states))


SIZES = [(2, 16), (2, 12), (3, 8), (4, 32)]


@pytest.mark.parametrize(
    ("game", "players", "width"),
    [("samurai", *size) for size in SIZES] + [("samurai_card", *size) for size in SIZES],
)
def test_outputs_and_gradients_are_those_by_torch(
    game: str, players: int, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    net, obs, masks = network(players, width, game)
    masks = torch.ones_like(masks)  # what lies in a place counts for illegal actions alone

    def compute() -> list[torch.Tensor]:
        log_probs, values = net(obs, masks)
        net.zero_grad()
        generator = torch.Generator().manual_seed(5)
        (log_probs * torch.randn(log_probs.shape, generator=generator)).sum().backward(retain_graph=True)
        (values * torch.randn(values.shape, generator=generator)).sum().backward()
        gradients = [parameter.grad.clone() for parameter in net.parameters()]
        return [log_probs.detach(), values.detach(), *gradients]

    compiled = compute()
    monkeypatch.setattr(net.graph, "_embed_compiled", net.graph._embed_by_torch)
    monkeypatch.setattr(net.graph, "_logits_compiled", net.graph._logits_by_torch)
    names = ["log_probs", "values", *(name for name, _ in net.named_parameters())]
    for name, ours, theirs in zip(names, compiled, compute(), strict=True):
        assert theirs.abs().max() > 0, name
        assert float((ours - theirs).abs().max() / theirs.abs().max()) < 1e-4, name


def test_a_maximum_that_several_nodes_have_shares_its_gradient() -> None:
    """As by torch: all sites without a difference between them."""
    net, obs, masks = network(2, 8)
    with torch.no_grad():
        for name in ("position", "first.weight", "context.weight"):
            net.graph.get_parameter(name).zero_()
    gradients = []
    for by_torch in (False, True):
        if by_torch:
            net.graph._embed_compiled = net.graph._embed_by_torch
        net.zero_grad()
        net(obs, masks)[1].sum().backward()
        gradients.append(net.graph.third.bias.grad.clone())
    assert torch.allclose(*gradients, atol=1e-4)
    assert gradients[0].abs().max() > 0.1


@pytest.mark.parametrize("game", ["samurai", "samurai_card"])
def test_a_snapshot_evaluates_as_the_network_did(game: str) -> None:
    net, obs, masks = network(2, 16, game)
    copy = snapshot(net)
    before = copy.evaluate(obs.numpy(), masks.numpy())
    for ours, theirs in zip(before, net.evaluate(obs.numpy(), masks.numpy()), strict=True):
        assert np.allclose(ours, theirs, atol=1e-4)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter += 1.0
    for ours, later in zip(before, copy.evaluate(obs.numpy(), masks.numpy()), strict=True):
        assert np.array_equal(ours, later)
