"""What is learned beside the network, in training only: it helps the network and is not kept with it."""

from itertools import pairwise

import torch
from torch import nn

from agents.networks.network import PolicyValueNet


class Extras(nn.Module):
    """A critic that sees what all seats see, and a forecast of each seat's progress from what the network has read.

    The critic's values stand in for the network's in the advantages: it knows the hands, so less of a return is luck
    to it (asymmetric actor-critic: Pinto et al., 2018). The forecast is an auxiliary target: it
    teaches the network's hidden layers who will take what (Wu, 2019).
    """

    mean: torch.Tensor
    scale: torch.Tensor

    def __init__(self, net: PolicyValueNet, players: int, privileged: bool, auxiliary: bool) -> None:
        super().__init__()
        form = net.config
        self.privileged, self.auxiliary = privileged, auxiliary
        if privileged:
            self.register_buffer("mean", net.mean.clone())
            self.register_buffer("scale", net.scale.clone())
            widths = [players * len(net.mean), *form.hidden]
            self.critic = nn.Sequential()
            for before, after in pairwise(widths):
                self.critic.append(nn.Linear(before, after))
                self.critic.append(nn.ReLU())
            self.critic.append(nn.Linear(widths[-1], players))
        if auxiliary:
            self.forecast = nn.Linear(net.value.in_features, players)

    def judge(self, together: torch.Tensor) -> torch.Tensor:
        """Returns to expect, float32 (batch, players), from what all see, int8 (batch, players, ...), mover first."""
        inputs = (together.flatten(2).float() - self.mean) * self.scale
        return self.critic(inputs.flatten(1)).float()
