"""Layers over sites and cells on a grid: what they read, and how pieces and cells are scored."""

import math

import numpy as np
import pytest
import torch

from agents.networks.config import NetworkConfig
from agents.networks.maps.grid_layers import GridLayers
from agents.networks.maps.grid_tables import Tables, grid_entries, read_tables
from agents.networks.network import PolicyValueNet
from experiments.training.init_network import random_play
from samurai_env import GameBatch, make_variant
from samurai_env.core.encoding import Cells, Encoding, Graph
from samurai_env.core.game import Variant
from samurai_env.games.card.rules.cards import KINDS, STRENGTH
from samurai_env.games.card.rules.topology import STEP_X, STEP_Y, VILLAGES

VARIANTS = [("samurai_card", 2), ("samurai_card", 4)]
PLAYERS = [players for _, players in VARIANTS]


def graph_of(variant: Variant) -> tuple[Graph, Cells, Encoding]:
    assert variant.game.graph is not None
    graph = variant.game.graph(variant.num_players)
    assert isinstance(graph.places, Cells)
    return graph, graph.places, variant.encoding("flat")


def new_layers(variant: Variant) -> GridLayers:
    torch.manual_seed(0)
    graph, _, encoding = graph_of(variant)
    layers = GridLayers(graph, encoding, 8, 12)
    with torch.no_grad():
        for parameter in layers.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.2)
        layers.scores.weight *= 0.1  # larger gains are clamped
    return layers


def states_of(variant: Variant) -> np.ndarray:
    """States of random games, one after each number of decisions."""
    batch, rng = GameBatch(variant), np.random.default_rng(5)
    states = batch.reset(np.arange(60))
    for length in range(60):
        for _ in range(length):
            masks = batch.legal_masks(states[length : length + 1])
            if masks.any():
                batch.step(states[length : length + 1], rng.choice(np.flatnonzero(masks[0]), 1))
    return states[states["over"] == 0]


def positions(variant: Variant) -> tuple[torch.Tensor, torch.Tensor]:
    """Observations and masks of random play."""
    batch, states = GameBatch(variant), states_of(variant)
    return torch.from_numpy(batch.observe(states)), torch.from_numpy(batch.legal_masks(states))


def tables_of(variant: Variant, obs: np.ndarray) -> Tables:
    _, cells, encoding = graph_of(variant)
    return read_tables(obs, grid_entries(cells, encoding))


def laid_at(state: np.ndarray) -> dict[tuple[int, int], int]:
    """Villages by their places."""
    return {(int(state["village_x"][v]), int(state["village_y"][v])): v for v in range(state["villages"])}


def described(state: np.ndarray, square: tuple[int, int], players: int) -> list[list[int]]:
    """A site's entries by suit, from the state: a second computation."""
    at, pieces = laid_at(state), []
    for side in range(4):
        x, y = square[0] + int(STEP_X[side]), square[1] + int(STEP_Y[side])
        cards = {
            int(state["side"][at[x - dx, y - dy], other]) - 1
            for other, (dx, dy) in enumerate(zip(STEP_X.tolist(), STEP_Y.tolist(), strict=True))
            if (x - dx, y - dy) in at
        }
        pieces += [card for card in cards if card >= 0]  # the same on all villages beside it
    village, rows = at.get(square), []
    symbols = int(state["village_stack"][state["villages"] if village is None else village])
    for suit in range(3):
        by_player = [0] * players
        numbers = [0] * players
        for card in pieces:
            player = (card // KINDS - int(state["seat"])) % players
            by_player[player] += int(STRENGTH[card % KINDS, suit])
            numbers[player] += 1
        free = [int(4 - len(pieces) == k) for k in range(5)]
        rows.append([symbols >> suit & 1, *by_player, *free, int(village is not None), 0, *numbers])
    return rows


@pytest.mark.parametrize("players", PLAYERS)
def test_sites_and_cells_are_those_of_the_game(players: int) -> None:
    """For each free cell: the villages beside it, and those that the game lays once a card lies there."""
    variant = make_variant("samurai_card", players)
    batch, states = GameBatch(variant), states_of(variant)
    tables, new, laid = tables_of(variant, batch.observe(states)), 0, 0
    for i, state in enumerate(states):
        if state["phase"] != 1 or state["villages"] > VILLAGES - 4:
            continue
        before, first = laid_at(state), tables.first_site[i]
        cells = slice(tables.first_cell[i], tables.first_cell[i + 1])
        legal = np.flatnonzero(batch.legal_masks(states[i : i + 1])[0])
        assert sorted(tables.cell_action[cells]) == legal.tolist()
        for action, beside in zip(tables.cell_action[cells], tables.beside[cells], strict=True):
            after = states[i : i + 1].copy()
            batch.step(after, np.array([action]))
            village, side = divmod(int(action) - (variant.num_actions - 4 * VILLAGES), 4)
            x = int(state["village_x"][village] + STEP_X[side])
            y = int(state["village_y"][village] + STEP_Y[side])
            around = [(x + int(dx), y + int(dy)) for dx, dy in zip(STEP_X, STEP_Y, strict=True)]
            due = set(laid_at(after[0])) - set(before)
            if after["phase"][0] == 2:
                waiting = variant.encoding("flat").view(batch.observe(after)[0], "waiting")
                due = {(int(a), int(b)) for a, b in waiting}
            for square, site in zip(around, beside, strict=True):
                assert (site >= 0) == (square in before or square in due)
                if site >= 0:
                    assert tables.entries[first + site].tolist() == described(state, square, players)
                    new, laid = new + (square in due), laid + (square in before)
    assert new > 50 and laid > 100


def test_the_squares_to_choose_are_sites_with_their_actions() -> None:
    variant = make_variant("samurai_card", 2)
    batch, states = GameBatch(variant), states_of(variant)
    states = states[states["phase"] == 2]
    assert len(states) > 1
    obs = batch.observe(states)
    tables = tables_of(variant, obs)
    for i, state in enumerate(states):
        sites = slice(tables.first_site[i], tables.first_site[i + 1])
        actions = tables.site_action[sites]
        assert sorted(actions[actions >= 0]) == np.flatnonzero(batch.legal_masks(states[i : i + 1])[0]).tolist()
        waiting = variant.encoding("flat").view(obs[i], "waiting")
        for square, entries in zip(waiting, tables.entries[sites][actions >= 0], strict=True):
            expected = np.array(described(state, (int(square[0]), int(square[1])), 2))
            expected[:, -3] = 1
            assert entries.tolist() == expected.tolist()


@pytest.mark.parametrize("players", PLAYERS)
@torch.no_grad()
def test_logits_are_what_the_docstrings_say(players: int) -> None:
    """A second computation, cell by cell in plain Python."""
    variant = make_variant("samurai_card", players)
    layers, (graph, _, encoding) = new_layers(variant), graph_of(variant)
    obs, masks = positions(variant)
    (tables, nodes), _ = layers.embed(obs, torch.zeros(obs.shape[1]), torch.ones(obs.shape[1]))
    hidden = torch.randn(len(obs), 12)
    logits = layers.logits(obs, (tables, nodes), hidden, torch.zeros(len(obs), variant.num_actions))
    likes = sorted({piece.like for piece in graph.pieces})
    seen = 0
    for row, array in enumerate(obs.numpy()):
        sites = slice(3 * tables.first_site[row], 3 * tables.first_site[row + 1])
        scores = layers.scores(nodes[sites].relu() * (1.0 + layers.gate(hidden[row]))).unflatten(0, (-1, 3))
        chosen = encoding.view(array, graph.piece_block).nonzero()[0].tolist()
        total = dict.fromkeys(range(len(graph.pieces)), 0.0)
        for cell in range(tables.first_cell[row], tables.first_cell[row + 1]):
            beside = [site for site in tables.beside[cell] if site >= 0]
            seen += len(beside) > 1
            for piece, value in enumerate(graph.pieces):
                suits = range(3) if value.suit is None else [value.suit]
                score = sum(float(scores[s, k, likes.index(value.like)]) for s in beside for k in suits)
                total[piece] += math.exp(score)
                if piece in chosen:
                    assert masks[row, tables.cell_action[cell]]
                    assert float(logits[row, tables.cell_action[cell]]) == pytest.approx(score, abs=1e-4)
        for piece, value in total.items():
            expected = float(layers.piece_scale[piece]) * math.log(max(value, 1e-6))
            assert float(logits[row, graph.piece_action + piece]) == pytest.approx(expected, abs=1e-3)
    assert seen > 10  # cells beside several sites


@torch.no_grad()
def test_a_turn_of_the_table_does_not_matter() -> None:
    """Neither does where the first site lies; by the layers of sites, not by the rest."""
    variant = make_variant("samurai_card", 2)
    layers, (_, cells, encoding) = new_layers(variant), graph_of(variant)
    layers.around.weight.zero_()
    obs, _ = positions(variant)
    at, turned = cells.entries(encoding), obs.clone()
    turned[:, at["place"][:, 0]] = 5 * obs[:, at["laid"].ravel()] - obs[:, at["place"][:, 1]]
    turned[:, at["place"][:, 1]] = obs[:, at["place"][:, 0]]
    turned[:, at["waiting"][:, 0]] = 5 - obs[:, at["waiting"][:, 1]]
    turned[:, at["waiting"][:, 1]] = obs[:, at["waiting"][:, 0]]
    for block in ("free", "owner", "strength"):
        turned[:, np.roll(at[block], -1, 1).ravel()] = obs[:, at[block].ravel()]
    normal = torch.zeros(obs.shape[1]), torch.ones(obs.shape[1])
    (before, _), summary = layers.embed(obs, *normal)
    (after, _), other = layers.embed(turned, *normal)
    assert before.nodes > 500 and before.nodes == after.nodes
    assert torch.allclose(summary, other, atol=1e-5)


@torch.no_grad()
def test_order_of_the_batch_does_not_matter() -> None:
    variant = make_variant("samurai_card", 3)
    net = PolicyValueNet(NetworkConfig(variant.spec, "flat", (16,), graph_width=8)).eval()
    obs, masks = positions(variant)
    together, values = net(obs, masks)
    for row in range(0, len(obs), 7):
        alone, value = net(obs[row : row + 1], masks[row : row + 1])
        assert torch.allclose(alone[0], together[row], atol=1e-4)
        assert torch.allclose(value[0], values[row], atol=1e-4)


def test_a_site_at_the_end_of_the_grid_is_read_as_elsewhere() -> None:
    """All moved so far east that a site lies as far from the first as any can."""
    variant = make_variant("samurai_card", 2)
    batch, states = GameBatch(variant), states_of(variant)
    states = states[(states["phase"] == 1) & (states["villages"] > 3)]
    obs = batch.observe(states)
    at = graph_of(variant)[1].entries(graph_of(variant)[2])
    x, laid = obs[:, at["place"][:, 0]], obs[:, at["laid"].ravel()]
    east = (VILLAGES - 1 - np.where(laid > 0, x, -VILLAGES).max(1))[:, None]
    moved = obs.copy()
    moved[:, at["place"][:, 0]] += (laid * east).astype(np.int8)
    before, after = tables_of(variant, obs), tables_of(variant, moved)
    assert len(before.beside) > 100
    assert all(np.array_equal(a, b) for a, b in zip(before, after, strict=True))


@torch.no_grad()
def test_observations_that_no_game_has_do_no_harm() -> None:
    """All entries anything: coordinates off the grid, more pieces than sides, no site at all."""
    variant = make_variant("samurai_card", 2)
    net = PolicyValueNet(NetworkConfig(variant.spec, "flat", (16,), graph_width=8)).eval()
    shape = (200, variant.encoding("flat").shape[0])
    obs = np.random.default_rng(1).integers(-128, 128, shape, np.int8)
    obs[100:] *= np.random.default_rng(2).random((100, 1)) < 0.5
    log_probs, values = net(torch.from_numpy(obs), torch.ones(200, variant.num_actions, dtype=torch.int8))
    assert log_probs.isfinite().all() and values.isfinite().all()


def test_all_weights_learn() -> None:
    variant = make_variant("samurai_card", 4)
    net = PolicyValueNet(NetworkConfig(variant.spec, "flat", (16,), graph_width=8))
    net.standardize(*random_play(variant, net.config, seed=3))
    obs, masks = positions(variant)
    log_probs, values = net(obs, masks)
    (log_probs[masks > 0].sum() + values.sum()).backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in net.parameters())
