"""The network that a run starts with: a new one, one from a file, or one grown from fewer players."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from agents.heuristics import ActionFeatures, tuned
from agents.networks.cards import read_card
from agents.networks.config import NetworkConfig, graph_of
from agents.networks.layers import spatial_layers
from agents.networks.network import PolicyValueNet, new_network
from agents.networks.network_files import load_network
from agents.networks.warm_start import add_heuristic, warm_start
from experiments.common.ranges import Weight, Width, Widths
from samurai_env import parse_variant
from samurai_env.core.bits import pick_legal
from samurai_env.core.game import Variant
from samurai_env.envs.vector import GameVectorEnv

MOST_ORIGINS = 20  # networks before that of a run, each made from the next, on its card


@dataclass
class NetworkSettings:
    """The network: its layers, and its weights at the start."""

    encoding: str | None = None
    """Encoding of observations; the game's default if not given."""
    hidden: Widths = (256, 256)
    """Widths of the hidden layers."""
    heuristic_prior: bool = False
    """Add the logits of the game's heuristic policy to the network's: it starts as the heuristic player, softened."""
    tuned_prior: bool = False
    """Read the tuned policy in place of the heuristic policy (board game, --heuristic-prior)."""
    prior_weight: Weight = 1.0
    """Weight of the heuristic logits at the start; at 1 the best action has probability one half on average."""
    action_width: Width = 0
    """Width of layers that read the features of each action (card game, --heuristic-prior); 0 for none."""
    entity_width: Width = 0
    """Width of layers that read all villages (card game, "flat") with the same weights; 0 for none."""
    graph_width: Width = 0
    """Width of layers that read the map as a graph ("flat"); 0 for none."""
    spatial_width: Width = 0
    """Width of layers that read places: convolutions with "planes", attention with "tokens"; 0 for none."""
    init_from: Path | None = None
    """Start from this network of the same form; one for fewer players grows to the larger board, one that reads the
    heuristic policy goes over to the tuned one, one that reads neither learns to with --heuristic-prior."""
    values_only: bool = False
    """Train the values alone: for a network whose policy does not read the hidden layers (distill_rollouts)."""


def check_network(settings: NetworkSettings, variant: Variant) -> None:
    """Check settings that depend on each other or on the game.

    Raises:
        ValueError: names the flag.
    """
    name = variant.encoding_name(settings.encoding)
    encoding = variant.encoding(name)
    if settings.entity_width and encoding.entities is None:
        raise ValueError(f"--entity-width needs an encoding with entities; {variant.game.name} {name!r} has none")
    if settings.graph_width:
        graph_of(variant, name)
    if settings.graph_width and settings.spatial_width:
        raise ValueError("--graph-width and --spatial-width exclude each other")
    if settings.spatial_width:
        spatial_layers(encoding, settings.spatial_width)
    if settings.tuned_prior and not settings.heuristic_prior:
        raise ValueError("--tuned-prior needs --heuristic-prior: it says which policy is read")
    if settings.tuned_prior:
        tuned(variant)
    if settings.action_width and not settings.heuristic_prior:
        raise ValueError("--action-width needs --heuristic-prior: the layers read more of the same features")
    if settings.action_width and variant.game.kernels.action_features is None:
        raise ValueError(f"{variant.game.name} has no action features for --action-width to read")
    if settings.values_only and settings.init_from is None:
        raise ValueError("--values-only needs a network with a policy (--init-from)")
    if settings.prior_weight != 1.0 and not (settings.heuristic_prior and settings.init_from is None):
        raise ValueError("--prior-weight is the start of a new network with --heuristic-prior")


def init_network(settings: NetworkSettings, variant: Variant, seed: int, resumes: bool = False) -> PolicyValueNet:
    """Make or load the network; the inputs of a new one, or of one grown to more players, are standardised.

    That takes mean and deviation from random play; the weights stay as they are. If the run resumes, the network only
    has the right form: its weights are those of the checkpoint, and `init_from` may be gone.

    Raises:
        FileNotFoundError: `init_from` does not exist.
        ValueError: it is damaged or has another form.
    """
    form = NetworkConfig(
        variant.spec,
        variant.encoding_name(settings.encoding),
        tuple(settings.hidden),
        settings.heuristic_prior,
        entity_width=settings.entity_width,
        action_width=settings.action_width,
        spatial_width=settings.spatial_width,
        graph_width=settings.graph_width,
        tuned_prior=settings.tuned_prior,
    )
    if resumes:
        net = new_network(form)
    elif settings.init_from:
        net = _load(settings.init_from, form, variant, seed)
    else:
        net = new_network(form)
        if form.heuristic_prior:
            nn.init.constant_(net.prior_weight, settings.prior_weight)
        net.standardize(*random_play(variant, form, seed))
    if settings.values_only:
        if not resumes:
            _check_values_only(net, settings.init_from)
        for name, tensor in net.named_parameters():  # the policy depends on the others
            tensor.requires_grad_(name.startswith(("body.", "value.")))
    return net.train()


def origin_of(path: Path) -> dict[str, Any]:
    """The notes on the network that a run starts from, and within them those on its own origins.

    Of a long chain of runs the farthest are left out, as cards have to stay readable.

    Raises:
        FileNotFoundError: there is no such network.
        ValueError: its card is damaged.
    """
    notes: dict[str, Any] = read_card(path).notes
    last = notes
    for _ in range(MOST_ORIGINS - 1):
        if not isinstance(last.get("origin"), dict):
            return notes
        last = last["origin"]
    last["origin"] = None
    return notes


def _load(path: Path, form: NetworkConfig, variant: Variant, seed: int) -> PolicyValueNet:
    net = load_network(path)
    if parse_variant(net.config.variant).num_players < variant.num_players:
        net = warm_start(net, replace(form, tuned_prior=net.config.tuned_prior))
        net.standardize(*random_play(variant, form, seed))
    if form.tuned_prior and net.config == replace(form, tuned_prior=False):
        net.config = form
        net.measure_prior_temperature()
    without = replace(form, heuristic_prior=False, tuned_prior=False, action_width=0)
    if form.heuristic_prior and net.config == without and not form.entity_width:
        net = add_heuristic(net, form)
        _, features = random_play(variant, form, seed)
        if features is not None:
            net.actions.standardize(features)
    if net.config != form:
        raise ValueError(f"the network in {path} does not fit this run: {net.config.differences(form)}")
    return net


def _check_values_only(net: PolicyValueNet, path: Path | None) -> None:
    """Check that values can be trained without a change of the policy.

    Raises:
        ValueError: the policy reads the hidden layers, which the values train.
    """
    reading = [net.policy.weight]
    reading += [net.actions.context.weight] if net.config.action_width else []
    reading += [net.entities.context.weight] if net.config.entity_width else []
    reading += [net.graph.gate.weight] if net.config.graph_width else []
    if any(bool(tensor.any()) for tensor in reading):
        raise ValueError(f"--values-only: the policy of the network in {path} reads its hidden layers and would change")


def random_play(variant: Variant, form: NetworkConfig, seed: int) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Sample the inputs of such a network from random games at all stages.

    Returns:
        Observations, int8 (12,800, ...); action features, float32 (legal actions, columns), if the form reads them.
    """
    env = GameVectorEnv(
        variant.game.name,
        256,
        variant.num_players,
        encoding=form.encoding,
        autoreset_mode="SameStep",
        **variant.options,
    )
    features_of = ActionFeatures(variant) if form.action_width else None
    observed, _ = env.reset(seed=seed)
    rng, actions, features = np.array([seed], np.uint64), np.zeros(env.num_envs, np.int64), []
    obs = np.empty((50, *observed["observation"].shape), np.int8)
    for step in range(250):
        pick_legal(observed["action_mask"], rng, actions)
        env.step(actions)
        if step % 5 == 0:
            obs[step // 5] = observed["observation"]
            if features_of:
                features.append(features_of.compute(env.states)[observed["action_mask"] > 0])
    rows = torch.from_numpy(obs).flatten(0, 1)
    return rows, torch.from_numpy(np.concatenate(features)) if features else None
