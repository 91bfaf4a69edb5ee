"""A trained network as an agent."""

from pathlib import Path

import numpy as np
import torch

from agents.heuristics import ActionFeatures
from agents.networks.files import check_fits, load_network
from agents.networks.network import NetworkConfig, PolicyValueNet, new_network
from agents.spec import AgentSpec, no_settings
from samurai_env.core.checks import checked_games, checked_keys
from samurai_env.core.game import Variant
from samurai_env.game_batch import GameBatch


class NetworkAgent:
    """Takes the action of highest probability by a network."""

    def __init__(self, variant: Variant, net: PolicyValueNet) -> None:
        self.net = net
        self.variant = variant
        self._batch = GameBatch(variant)
        self._features = ActionFeatures(variant) if net.config.heuristic_prior else None

    def evaluate(self, states: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
        """Evaluate positions for the seat to move in each.

        Args:
            states: states (games,), none of them over.

        Returns:
            Log-probabilities, float32 (games, actions), and expected returns, float32 (games, players), the seat to
            move first.

        Raises:
            TypeError: `states` is not an array.
            ValueError: states of another variant, or a game that is over.
        """
        states = checked_games(states, self.variant.dtype)
        observations = self._batch.observe(states, encoding=self.net.config.encoding)
        inputs = [torch.from_numpy(observations), torch.from_numpy(self._batch.legal_masks(states))]
        if self._features:
            inputs.append(torch.from_numpy(self._features.compute(states)))
        with torch.inference_mode():
            log_probs, values = self.net(*(tensor.to(self.net.mean.device) for tensor in inputs))
        return log_probs.cpu(), values.cpu()

    def act(self, states: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """See `agents.api.Agent.act`."""
        log_probs, _ = self.evaluate(states)
        checked_keys(keys, len(log_probs))
        return log_probs.argmax(1).numpy()


def make(variant: Variant, spec: AgentSpec) -> NetworkAgent:
    """Make the agent of `ppo:PATH`, a .safetensors file or the folder of a training run.

    Raises:
        ValueError: no path, settings, or a network that is damaged or does not fit.
        FileNotFoundError: there is no such file.
    """
    if not spec.argument or spec.settings:
        raise ValueError("ppo takes the path of a network, as in ppo:runs/first/model.safetensors, and no settings")
    path = Path(spec.argument)
    net = load_network(path)
    check_fits(net, variant, path)
    return NetworkAgent(variant, net)


def make_untrained(variant: Variant, spec: AgentSpec) -> NetworkAgent:
    """Make the agent of `untrained`: a network with random weights, the control of any table with networks.

    Raises:
        ValueError: an argument or settings.
    """
    no_settings(spec)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return NetworkAgent(variant, new_network(NetworkConfig(variant.spec, variant.encoding_name(None))))
