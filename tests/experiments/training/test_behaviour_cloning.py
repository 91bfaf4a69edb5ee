"""Behaviour cloning: it learns what was chosen, repeats, goes on, and gives a network that plays."""

import numpy as np
import pytest
import torch
from rich.console import Console

from agents.networks.cards import read_card
from agents.networks.network_files import load_network
from agents.registry import make_agent
from experiments import dataset
from experiments.examples import behaviour_cloning
from experiments.examples.behaviour_cloning import Config, accuracy, train
from samurai_env import GameBatch

pytest.importorskip("pyarrow")
from experiments.datasets.reader import Dataset

QUIET = Console(quiet=True)


@pytest.fixture(scope="module")
def games(tmp_path_factory):
    folder = tmp_path_factory.mktemp("games")
    dataset.make(dataset.Config(games=60, shard_games=20, processes=1, output=folder), QUIET)
    return Dataset(folder)


def settings(games, **changes):
    form = {"hidden": (16,), "graph_width": 16, "minibatch_size": 64}
    return Config(**{"dataset": games.folder, "total_timesteps": 8000, **form} | changes)


@pytest.fixture(scope="module")
def cloned(games, tmp_path_factory):
    config = settings(games, run=tmp_path_factory.mktemp("cloned"), eval_deals=2)
    return config, behaviour_cloning.main(config)


def test_it_learns_what_was_chosen(games, cloned):
    new, _ = train(settings(games, total_timesteps=64), games, QUIET)
    plain, _ = train(settings(games, graph_width=0), games, QUIET)
    assert min(accuracy(cloned[1], games), accuracy(plain, games)) > accuracy(new, games) + 0.1


def test_the_network_is_an_agent(games, cloned):
    config, net = cloned
    agent, batch = make_agent(f"ppo:{config.run}", games.variant), GameBatch(games.variant)
    states = batch.reset(np.arange(20))
    assert batch.first_illegal(states, agent.act(states, np.zeros(20, np.uint64))) == -1
    assert all(torch.equal(*pair) for pair in zip(net.parameters(), load_network(config.run).parameters()))
    notes = read_card(config.run).notes
    assert notes["agreement"] == pytest.approx(accuracy(net, games), abs=1e-4)
    assert notes["dataset"]["seed"] == 1 and len(notes["win_share_greedy"]) == 3


def test_it_repeats_and_goes_on(games, cloned):
    config, net = cloned
    again, _ = train(settings(games), games, QUIET)
    assert all(torch.equal(*pair) for pair in zip(net.parameters(), again.parameters()))
    more, steps = train(settings(games, init_from=config.run, total_timesteps=2000, learning_rate=1e-3), games, QUIET)
    assert 2000 <= steps < 2064 and accuracy(more, games) > accuracy(net, games) - 0.01
    with pytest.raises(ValueError, match=r"does not fit: hidden \(16,\) instead of \(8,\)"):
        train(settings(games, init_from=config.run, hidden=(8,)), games, QUIET)


def test_it_goes_on_in_its_own_folder_and_keeps_where_it_came_from(games, tmp_path):
    short = {"run": tmp_path, "eval_deals": 1, "total_timesteps": 64}
    behaviour_cloning.main(settings(games, **short))
    before = read_card(tmp_path).notes
    behaviour_cloning.main(settings(games, init_from=tmp_path, **short))
    assert read_card(tmp_path).notes["origin"] == before


def test_impossible_settings(games, tmp_path):
    for changes, text in (
        ({"dataset": tmp_path}, "there is no dataset"),
        ({"eval_opponent": "gredy"}, "did you mean 'greedy'"),
        ({"graph_width": -1}, "--graph-width must be from 0"),
        ({"total_timesteps": 0}, "--total-timesteps must be from 1"),
    ):
        with pytest.raises((ValueError, FileNotFoundError), match=text):
            behaviour_cloning.main(settings(games, run=tmp_path / "none", **changes))
    assert not (tmp_path / "none").exists()
