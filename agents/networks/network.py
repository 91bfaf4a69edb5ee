"""Policy and value network with masked actions."""

from itertools import pairwise

import numpy as np
import torch
from torch import nn

from agents.heuristics import prior_temperature
from agents.networks.config import MASKED, NetworkConfig, graph_of, prior_variant, supports_bfloat16
from agents.networks.layers import ActionLayers, EntityLayers, spatial_layers
from agents.networks.maps.graph_layers import GraphLayers
from agents.networks.maps.grid_layers import GridLayers
from agents.networks.maps.site_layers import SiteLayers
from agents.networks.numpy_network import NumPyNetwork, faster_without_torch
from samurai_env import parse_variant
from samurai_env.core.encoding import Cells

BFLOAT16_BATCH = 32  # from so many positions at a time on rounding to bfloat16 pays


def check_device(name: str) -> None:
    """Refuse a device on which torch cannot compute.

    Raises:
        ValueError: torch's reason, in a line.
    """
    try:
        torch.zeros(1, device=name).tolist()
    except (RuntimeError, AssertionError) as error:
        raise ValueError(f"device {name[:60]} cannot be used: {str(error).splitlines()[0][:200]}") from None


class PolicyValueNet(nn.Module):
    """A multi-layer perceptron from a seat's observation to action logits and the return each player can expect.

    Values are seat-relative like observations: entry 0 is the observer's. A network with a heuristic prior starts as
    the heuristic policy with a temperature and learns what to change about it: its logits are added.
    """

    mean: torch.Tensor
    scale: torch.Tensor
    prior_temperature: torch.Tensor

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        self.config = config
        variant = parse_variant(config.variant)
        prior_variant(config, variant)  # refuses a policy that there is not
        encoding = variant.encoding(config.encoding)
        inputs = int(np.prod(encoding.shape))
        self.register_buffer("mean", torch.zeros(inputs))
        self.register_buffer("scale", torch.ones(inputs))
        if config.heuristic_prior:
            self.register_buffer("prior_temperature", torch.ones(()))  # see `new_network`
            self.prior_weight = nn.Parameter(torch.ones(()))
            inputs += variant.num_actions
        if config.entity_width:
            context = (inputs, *config.hidden)[-1]
            self.entities = EntityLayers(encoding, config.heuristic_prior, config.entity_width, context)
            inputs += 2 * config.entity_width - self.entities.rows.numel()
        if config.spatial_width:
            self.spatial = spatial_layers(encoding, config.spatial_width)
            inputs += self.spatial.outputs - self.mean.numel()
        if config.graph_width:
            if config.entity_width or config.spatial_width:
                raise ValueError("layers over a graph stand in the place of those over entities or of spatial ones")
            width = (inputs, *config.hidden)[-1]
            graph = graph_of(variant, config.encoding)
            layers = GridLayers if isinstance(graph.places, Cells) else GraphLayers
            self.graph: SiteLayers = layers(graph, encoding, config.graph_width, width)
            inputs += self.graph.outputs - self.mean.numel()
        widths = [inputs, *config.hidden]
        self.body = nn.Sequential()
        for before, after in pairwise(widths):
            self.body.append(nn.Linear(before, after))
            self.body.append(nn.ReLU())
        if config.action_width:
            self.actions = ActionLayers(len(variant.game.action_features), config.action_width, widths[-1])
        self.policy = nn.Linear(widths[-1], variant.num_actions)
        self.value = nn.Linear(widths[-1], variant.num_players)
        for layer in self.body:
            if isinstance(layer, nn.Linear):
                nn.init.orthogonal_(layer.weight, 2**0.5)
                nn.init.zeros_(layer.bias)
        for head, gain in ((self.policy, 0.01), (self.value, 0.1)):
            nn.init.orthogonal_(head.weight, gain)
            nn.init.zeros_(head.bias)

    def measure_prior_temperature(self) -> None:
        """Set the temperature of the heuristic prior by random games."""
        variant = prior_variant(self.config, parse_variant(self.config.variant))
        self.prior_temperature.fill_(prior_temperature(variant))

    def standardize(self, observations: torch.Tensor, features: torch.Tensor | None = None) -> None:
        """Fit the input normalisation: subtract the mean, divide by the deviation (at least a fifth).

        Entities and places that are read with shared weights are measured together.

        Args:
            observations: (rows, ...).
            features: (actions, columns), features of legal actions, for a network with `action_width`.
        """
        config = self.config
        if config.spatial_width:
            axis = 1 + parse_variant(config.variant).encoding(config.encoding).axis
            columns = observations[::4].movedim(axis, -1).flatten(0, -2).float()  # each has many places
            shape = [-1 if i == axis else 1 for i in range(1, observations.dim())]
            mean, deviation = (x.view(shape).expand(observations.shape[1:]) for x in (columns.mean(0), columns.std(0)))
        else:
            rows = observations.flatten(1)
            mean, deviation = torch.empty(2, rows.shape[1])
            for some in (slice(first, first + 512) for first in range(0, rows.shape[1], 512)):
                part = rows[:, some].float()  # all columns at once take half a gigabyte
                mean[some], deviation[some] = part.mean(0), part.std(0)
        self.mean.copy_(mean.flatten())
        self.scale.copy_(1.0 / deviation.flatten().clamp_min(0.2))
        if config.entity_width or config.graph_width:
            inputs = self.entities.rows if config.entity_width else self.graph.rows
            entities = rows[:, inputs].flatten(0, -2).float()
            self.mean[inputs] = entities.mean(0)
            self.scale[inputs] = 1.0 / entities.std(0).clamp_min(0.2)
        if features is not None:
            self.actions.standardize(features)

    def heuristic_logits(self, gaps: torch.Tensor) -> torch.Tensor:
        """Logits of the heuristic prior by gap to the best legal action: a gap is a cost, so softmax takes it negated.

        Args:
            gaps: float32 (batch, actions), column 0 of the action features, at least 0.
        """
        return (-gaps / self.prior_temperature).clamp_min(-20.0)

    def forward(
        self, obs: torch.Tensor, masks: torch.Tensor, features: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Log-probabilities of the actions (illegal ones about -1e9) and values.

        Args:
            obs: int8 (batch, ...).
            masks: int8 (batch, actions).
            features: float32 (batch, actions, columns), for a network with a heuristic prior: `ActionFeatures.compute`.

        Returns:
            float32 (batch, actions) and (batch, players).
        """
        log_probs, values, _ = self.forward_hidden(obs, masks, features)
        return log_probs, values

    def forward_hidden(
        self, obs: torch.Tensor, masks: torch.Tensor, features: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """As `forward`, and the last hidden layer, (batch, width)."""
        if self.config.graph_width:
            seen, inputs = self.graph.embed(obs, self.mean, self.scale)
        else:
            inputs = (obs.flatten(1).float() - self.mean) * self.scale
        prior = None if features is None else self.heuristic_logits(features[:, :, 0])
        parts = [inputs] if prior is None else [inputs, prior.exp() * masks]
        if self.config.entity_width:
            entities = self.entities.embed(*parts)
            parts[0] = inputs[:, self.entities.rest]
            parts += [entities.mean(1), entities.amax(1)]
        if self.config.spatial_width:
            parts[0] = self.spatial(inputs.view(obs.shape))
        hidden = self.body(torch.cat(parts, 1))
        logits = self.policy(hidden).float()
        if self.config.graph_width:
            logits = self.graph.logits(obs, seen, hidden, logits)
        if self.config.entity_width:
            logits[:, self.entities.actions] += self.entities.logits(entities, hidden).float()
        if self.config.action_width:
            assert features is not None
            logits = logits + self.actions(features, masks, hidden).float()
        if prior is not None:
            logits = logits + self.prior_weight * prior
        log_probs = torch.log_softmax(logits.masked_fill(masks == 0, MASKED), 1)
        return log_probs, self.value(hidden).float(), hidden

    def evaluate(
        self, observations: np.ndarray, masks: np.ndarray, features: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """`forward` of NumPy arrays of the same shapes, without gradients."""
        inputs = [torch.from_numpy(x).to(self.mean.device) for x in (observations, masks, features) if x is not None]
        with torch.inference_mode():
            log_probs, values = self(*inputs)
        return log_probs.cpu().numpy(), values.cpu().numpy()

    def rounding(self, batch_size: int) -> torch.autocast:
        """Context of a search that evaluates so many positions at a time: weights are rounded where that pays."""
        kind = self.mean.device.type
        fast = torch.cuda.is_bf16_supported() if kind == "cuda" else supports_bfloat16()
        return torch.autocast(kind, torch.bfloat16, batch_size >= BFLOAT16_BATCH and fast)


def new_network(config: NetworkConfig) -> PolicyValueNet:
    """An untrained network; with a heuristic prior, its temperature is measured on random games."""
    net = PolicyValueNet(config)
    if config.heuristic_prior:
        net.measure_prior_temperature()
    return net


def snapshot(net: PolicyValueNet) -> PolicyValueNet | NumPyNetwork:
    """A network as it now is, to play many positions: a copy without torch where that is faster, otherwise itself."""
    if net.mean.device.type != "cpu" or not faster_without_torch(net.config):
        return net
    return NumPyNetwork(net.config, {name: tensor.numpy().copy() for name, tensor in net.state_dict().items()})
