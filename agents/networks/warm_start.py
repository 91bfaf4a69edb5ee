"""Warm start: a network for more players from one for fewer of the same game, or one that reads more.

Entries, hexes and actions that both numbers of players have keep their weights. Further opponents are read like the
last known one; new sites of a map lie where the average one does; all else that is new starts with zero weights.
"""

from dataclasses import replace
from itertools import product

import numpy as np
import torch

from agents.networks.config import NetworkConfig
from agents.networks.maps.graph_layers import GraphLayers, PlaceLayer
from agents.networks.maps.grid_layers import GridLayers
from agents.networks.maps.site_layers import SiteLayers
from agents.networks.network import PolicyValueNet, new_network
from samurai_env import parse_variant
from samurai_env.core.encoding import Block
from samurai_env.core.game import Variant


def _counterparts(small: Block, large: Block, few: int, many: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Entries of the larger block and those of the smaller one that they are read like, one pair for each opponent.

    An axis as long as there are players is taken for the axis of players; on others the first places are the same.
    """
    inside, outside = np.arange(small.size).reshape(small.shape), np.arange(large.size).reshape(large.shape)
    axes = [axis for axis, sizes in enumerate(zip(small.shape, large.shape, strict=True)) if sizes == (few, many)]
    pairs = []
    for players in product(range(many), repeat=len(axes)):
        here, there = [slice(size) for size in small.shape], [slice(size) for size in small.shape]
        for axis, player in zip(axes, players, strict=True):
            like = min(player, few - 1)
            here[axis], there[axis] = slice(player, player + 1), slice(like, like + 1)
        pairs.append((outside[tuple(here)].ravel(), inside[tuple(there)].ravel()))
    return pairs


def _inputs(small: Variant, large: Variant, encoding: str) -> tuple[np.ndarray, np.ndarray]:
    """Entries of the larger encoding, and those of the smaller one that they are read like."""
    here, there, past_large, past_small = [], [], 0, 0
    for less, more in zip(small.encoding(encoding).blocks, large.encoding(encoding).blocks, strict=True):
        for outside, inside in _counterparts(less, more, small.num_players, large.num_players):
            here.append(past_large + outside)
            there.append(past_small + inside)
        past_large, past_small = past_large + more.size, past_small + less.size
    return np.concatenate(here), np.concatenate(there)


def _columns(read: torch.Tensor, known: torch.Tensor, counterparts: np.ndarray) -> np.ndarray:
    """Columns of a layer that reads the entries `known`, by the entries that the larger one reads; -1 for new ones."""
    place = {int(entry): column for column, entry in enumerate(known)}
    return np.array([place.get(int(counterparts[entry]), -1) for entry in read])


def _graph_columns(small: SiteLayers, large: SiteLayers, counterparts: np.ndarray) -> dict[str, np.ndarray]:
    """`_columns` of the graph layers that read observations, by the names of their weights."""
    pairs = {"around": (large.rest, small.rest)}
    further = {}
    if isinstance(small, GridLayers) and isinstance(large, GridLayers):
        (sides, few), many = small.inputs.owner.shape[1:], large.inputs.owner.shape[2]
        alike, flags = np.minimum(np.arange(many), few - 1), 1 + few + np.arange(sides + 3)  # see `Tables.entries`
        further["graph.first.weight"] = np.concatenate([[0], 1 + alike, flags, flags[-1] + 1 + alike])
    else:
        pairs["first"] = large.rows[0, 0], small.rows[0, 0]
    if isinstance(small, GraphLayers) and isinstance(large, GraphLayers):
        for number, (less, more) in enumerate(zip(small.kinds, large.kinds, strict=True)):
            assert isinstance(less, PlaceLayer)
            assert isinstance(more, PlaceLayer)
            pairs[f"kinds.{number}.own"] = more.rows[0], less.rows[0]
    return further | {f"graph.{name}.weight": _columns(*pair, counterparts) for name, pair in pairs.items()}


@torch.no_grad()
def warm_start(net: PolicyValueNet, config: NetworkConfig) -> PolicyValueNet:
    """Start a network from one for fewer players; its inputs are still to be standardized.

    Args:
        net: for at least two players of the same game.
        config: for more players; variants and encoding may not differ otherwise.

    Raises:
        ValueError: the configs differ in more than the number of players, or there is no way from one to the other.
    """
    small, large = parse_variant(net.config.variant), parse_variant(config.variant)
    like = net.config if small.game != large.game else replace(net.config, variant=config.variant)
    if like != config:
        raise ValueError(
            f"a network is a warm start if only the number of players differs; this one has {like.differences(config)}"
        )
    few, many = small.num_players, large.num_players
    if not 2 <= few < many or config.encoding != "flat" or config.entity_width or not config.hidden:
        raise ValueError(
            "a warm start goes from two players or more to more, reads flat, has hidden layers and no entity layers"
        )
    grown = new_network(config)
    here, there = _inputs(small, large, config.encoding)
    counterparts = np.full(len(grown.mean), -1)
    counterparts[here] = there
    names = large.action_names
    actions = np.array([names.index(name) for name in small.action_names])
    columns = {}
    body = counterparts
    if config.graph_width:
        columns = _graph_columns(net.graph, grown.graph, counterparts)
        body = np.arange(grown.graph.outputs)
    if config.heuristic_prior:
        prior = np.full(large.num_actions, -1)
        before = net.graph.outputs if config.graph_width else len(net.mean)
        prior[actions] = before + np.arange(small.num_actions)
        body = np.concatenate([body, prior])
    columns["body.0.weight"] = body
    share = 1.0 if large.game.cooperative else (few - 1) / (many - 1)  # what one loses all others win together
    alike = np.minimum(np.arange(1, many), few - 1)
    weights = dict(grown.named_parameters())
    for name, old in net.named_parameters():
        new = weights[name]
        if name.startswith("policy."):
            new.zero_()
            new[actions] = old
        elif name.startswith("value."):
            new[0] = old[0]
            new[1:] = share * old[alike]
        elif name in columns:
            new.zero_()
            new[:, columns[name] >= 0] = old[:, columns[name][columns[name] >= 0]]
        elif name == "graph.position":
            new.copy_(old.mean(0))
            new[: len(old)] = old
        else:
            new.copy_(old)
    return grown


@torch.no_grad()
def add_heuristic(net: PolicyValueNet, config: NetworkConfig) -> PolicyValueNet:
    """Let a network also read the heuristic policy, and the features of actions; it plays as before at first.

    Args:
        net: without a heuristic prior and without entity layers, which would read it.
        config: as the network's, with `heuristic_prior`, and with `tuned_prior` or `action_width` if they are wanted.

    Raises:
        ValueError: the configs differ in more than that.
    """
    like = replace(config, heuristic_prior=False, tuned_prior=False, action_width=0)
    if net.config != like or not config.heuristic_prior or config.entity_width:
        raise ValueError(f"only a heuristic prior can be added; this network has {net.config.differences(config)}")
    more = new_network(config)
    weights = more.state_dict()
    for name, old in net.state_dict().items():
        new = weights[name]
        new.zero_()
        new[tuple(slice(size) for size in old.shape)] = old  # the entries of the prior are the last ones
    weights["prior_weight"].zero_()
    if config.action_width:
        weights["actions.score.weight"].zero_()
    return more
