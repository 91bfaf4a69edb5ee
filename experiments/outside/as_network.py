"""A policy of another framework as a network of this project."""

from typing import cast

import torch
from torch import nn

from agents.networks.config import NetworkConfig
from agents.networks.network import PolicyValueNet
from samurai_env.core.game import Variant


def as_network(variant: Variant, layers: list[nn.Linear]) -> PolicyValueNet:
    """The network that computes what these layers with rectifiers between them do.

    Args:
        variant: the game; observations are of its first encoding, as they are.
        layers: from the observation to the logits of the actions.

    Returns:
        The network. Its values are 0: learners keep them in networks of their own.

    Raises:
        ValueError: layers that do not fit the game.
    """
    hidden = tuple(layer.out_features for layer in layers[:-1])
    net = PolicyValueNet(NetworkConfig(variant.spec, variant.encoding_name(None), hidden))
    body = [cast(nn.Linear, each) for each in net.body if isinstance(each, nn.Linear)]
    with torch.no_grad():
        for mine, theirs in zip([*body, net.policy], layers, strict=True):
            if mine.weight.shape != theirs.weight.shape:
                raise ValueError(f"a layer of shape {tuple(theirs.weight.shape)} where {tuple(mine.weight.shape)} fits")
            mine.weight.copy_(theirs.weight)
            mine.bias.copy_(theirs.bias)
        net.value.weight.zero_()
        net.value.bias.zero_()
    return net.eval()
