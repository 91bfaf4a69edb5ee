"""Networks for more players that begin as one for fewer."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from agents.networks.config import NetworkConfig
from agents.networks.network import PolicyValueNet
from agents.networks.network_files import save_network
from agents.networks.warm_start import add_heuristic, warm_start
from experiments.training.config import Config
from experiments.training.learner import Learner
from samurai_env import make_variant


def small_net(game: str, players: int = 2, hidden: tuple[int, ...] = (12, 8)) -> PolicyValueNet:
    torch.manual_seed(3)
    net = PolicyValueNet(NetworkConfig(make_variant(game, players).spec, "flat", hidden, heuristic_prior=True))
    torch.nn.init.normal_(net.policy.weight)
    torch.nn.init.normal_(net.value.weight)
    return net.eval()


def placed(small: np.ndarray, game: str, players: int, seats: list[int]) -> np.ndarray:
    """An observation for few as one for more `players`: player p of the few sits at seats[p], all else is 0."""
    few, many = make_variant(game, len(seats)).encoding("flat"), make_variant(game, players).encoding("flat")
    out = np.zeros(many.shape, np.int8)
    for block in few.blocks:
        large = many.view(out, block.name)
        of_players = [sizes == (len(seats), players) for sizes in zip(block.shape, large.shape, strict=True)]
        for at, number in np.ndenumerate(few.view(small, block.name)):
            large[tuple(seats[i] if turned else i for i, turned in zip(at, of_players, strict=True))] = number
    return out


@pytest.mark.parametrize("game", ["samurai", "samurai_card"])
@pytest.mark.parametrize(
    ("players", "seats"), [(3, [0, 1]), (3, [0, 2]), (4, [0, 1]), (4, [0, 3]), (4, [0, 1, 2]), (4, [0, 1, 3])]
)
def test_a_grown_network_reads_further_opponents_like_the_last_one(game, players, seats):
    few, many = make_variant(game, len(seats)), make_variant(game, players)
    net = small_net(game, len(seats))
    grown = warm_start(net, replace(net.config, variant=many.spec)).eval()
    grown.prior_temperature.copy_(net.prior_temperature)
    rng = np.random.default_rng(1)
    small = rng.integers(0, 2, few.encoding("flat").shape, np.int8)
    large = placed(small, game, players, seats)
    names = [many.action_names.index(name) for name in few.action_names]
    mask, shortfall = np.zeros((2, 1, many.num_actions), np.float32)
    mask[0, names[:20]] = 1
    shortfall[0, names] = rng.random(len(names))
    with torch.no_grad():
        expected, values = net(*(torch.from_numpy(a) for a in (small[None], mask[:, names], shortfall[:, names, None])))
        found, more = grown(*(torch.from_numpy(a) for a in (large[None], mask, shortfall[..., None])))
    assert torch.allclose(found[:, names], expected, atol=1e-5)
    assert torch.allclose(more[0, 0], values[0, 0], atol=1e-5)
    share = (len(seats) - 1) / (players - 1)
    for seat in range(1, players):
        assert torch.allclose(more[0, seat], share * values[0, min(seat, len(seats) - 1)], atol=1e-5)


@pytest.mark.parametrize("game", ["samurai", "samurai_card"])
@pytest.mark.parametrize(("players", "seats"), [(3, [0, 2]), (4, [0, 3]), (4, [0, 1, 3])])
def test_a_grown_network_reads_a_map_as_before(game, players, seats):
    few, many = make_variant(game, len(seats)), make_variant(game, players)
    net = PolicyValueNet(NetworkConfig(few.spec, "flat", (8,), graph_width=6)).eval()
    grown = warm_start(net, replace(net.config, variant=many.spec)).eval()
    rng = np.random.default_rng(1)
    small = rng.integers(0, 2, few.encoding("flat").shape, np.int8)
    large = placed(small, game, players, seats)
    sites = net.graph.rows.shape[0]
    with torch.no_grad():
        inputs, inputs_too = (torch.from_numpy(obs[None]).float() for obs in (small, large))
        if game == "samurai":
            own, own_too = inputs[:, net.graph.rows], inputs_too[:, grown.graph.rows]
        else:  # entries of a table: each seat of the larger one that was not there has 0
            own = torch.from_numpy(rng.integers(0, 2, (1, sites, 3, net.graph.first.in_features))).float()
            few_seats, flags = len(seats), 5 + 2
            own_too = torch.zeros(1, sites, 3, grown.graph.first.in_features)
            own_too[..., 0] = own[..., 0]
            own_too[..., 1 + players : 1 + players + flags] = own[..., 1 + few_seats : 1 + few_seats + flags]
            for seat, there in enumerate(seats):
                own_too[..., 1 + there] = own[..., 1 + seat]
                own_too[..., 1 + players + flags + there] = own[..., 1 + few_seats + flags + seat]
        around, nodes = net.graph.first_layer(inputs[:, net.graph.rest], own)
        around_too, nodes_too = grown.graph.first_layer(inputs_too[:, grown.graph.rest], own_too)
        assert torch.allclose(around_too, around, atol=1e-5)
        assert torch.allclose(nodes_too[:, :sites], nodes, atol=1e-5)
        assert torch.allclose(
            grown.graph.second_layer(nodes, torch.eye(sites)), net.graph.second_layer(nodes, torch.eye(sites))
        )
        if game == "samurai":
            for less, more in zip(net.graph.kinds, grown.graph.kinds, strict=True):
                entries = torch.from_numpy(small)[less.rows].float()
                entries_too = torch.from_numpy(large)[more.rows].float()
                assert entries.any()
                assert torch.allclose(more.own(entries_too)[: len(entries)], less.own(entries), atol=1e-5)


@pytest.mark.parametrize(
    ("players", "changed", "message"),
    [
        (2, {}, "from two players or more to more"),
        (3, {"hidden": (12, 9)}, "only the number of players differs"),
        (3, {"heuristic_prior": False}, "only the number of players differs"),
        (3, {"game": "samurai_card"}, "only the number of players differs"),
    ],
)
def test_what_cannot_grow_is_refused(players, changed, message):
    net = small_net("samurai")
    variant = make_variant(changed.pop("game", "samurai"), players).spec
    with pytest.raises(ValueError, match=message):
        warm_start(net, replace(net.config, variant=variant, **changed))


def test_a_run_begins_with_a_grown_network(tmp_path):
    net = small_net("samurai")
    save_network(net, tmp_path / "two.safetensors", {})
    sizes = {"hidden": (12, 8), "num_envs": 8, "num_steps": 4}
    config = Config(run=tmp_path / "run", game="samurai players=3", heuristic_prior=True, **sizes)
    learner = Learner(replace(config, init_from=tmp_path / "two.safetensors"))
    assert np.allclose(learner.net.body[2].weight.detach(), net.body[2].weight.detach())
    assert learner.net.scale.max() > 1, "its inputs are standardised again"
    learner.collect()
    learner.update()
    with pytest.raises(ValueError, match="does not fit this run"):
        learner = Learner(
            replace(config, game="samurai players=2", init_from=tmp_path / "two.safetensors", hidden=(9,))
        )


@pytest.mark.parametrize(
    ("game", "form"),
    [
        ("samurai", {"graph_width": 6}),
        ("samurai", {"graph_width": 6, "tuned_prior": True}),
        ("samurai", {"spatial_width": 4, "encoding": "planes"}),
        ("samurai_card", {"graph_width": 6, "action_width": 5}),
        ("samurai_card", {"hidden": (), "action_width": 5}),
    ],
)
def test_a_network_that_gains_the_heuristic_plays_as_before_and_learns_to_read_it(game, form):
    variant = make_variant(game, 2)
    config = NetworkConfig(variant.spec, **{"encoding": "flat", "hidden": (12, 8), "heuristic_prior": True, **form})
    torch.manual_seed(3)
    net = PolicyValueNet(replace(config, heuristic_prior=False, tuned_prior=False, action_width=0))
    torch.nn.init.normal_(net.policy.weight)
    more = add_heuristic(net, config)
    assert more.config == config
    obs = torch.randint(0, 2, (6, *variant.encoding(config.encoding).shape), dtype=torch.int8)
    masks = torch.randint(0, 2, (6, variant.num_actions), dtype=torch.int8)
    features = torch.rand(6, variant.num_actions, len(variant.game.action_features) if config.action_width else 1)
    for one, other in zip(net(obs, masks), more(obs, masks, features), strict=True):
        assert torch.allclose(one, other, atol=1e-5)
    more(obs, masks, features)[0][:, 0].sum().backward()
    read = ["prior_weight", *(["actions.score.weight"] if config.action_width else [])]
    assert all(more.get_parameter(name).grad.any() for name in read)


def test_what_cannot_gain_the_heuristic_is_refused():
    net = small_net("samurai")
    with pytest.raises(ValueError, match="heuristic_prior True instead of False"):
        add_heuristic(net, replace(net.config, heuristic_prior=False))
    plain = PolicyValueNet(replace(net.config, heuristic_prior=False))
    with pytest.raises(ValueError, match=r"hidden \(12, 8\) instead of \(9,\)"):
        add_heuristic(plain, replace(net.config, hidden=(9,)))


def test_a_run_begins_with_a_network_that_gains_the_heuristic(tmp_path):
    torch.manual_seed(3)
    net = PolicyValueNet(NetworkConfig(make_variant("samurai_card", 2).spec, "flat", (12,), graph_width=6))
    save_network(net, tmp_path / "net.safetensors", {})
    sizes = {"hidden": (12,), "graph_width": 6, "action_width": 5, "num_envs": 8, "num_steps": 4}
    config = Config(run=tmp_path / "run", game="samurai_card", heuristic_prior=True, **sizes)
    learner = Learner(replace(config, init_from=tmp_path / "net.safetensors"))
    assert torch.equal(learner.net.graph.first.weight.detach(), net.graph.first.weight.detach())
    assert learner.net.prior_weight == 0
    assert (learner.net.actions.scale != 1).any(), "its features are standardised"
