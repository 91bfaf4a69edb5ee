"""A trained network as a player."""

from pathlib import Path

import numpy as np
import torch

from agents.api import no_argument
from agents.networks.features import Advice
from agents.networks.network import NetworkForm, PolicyValueNet, check_fits, load_network
from samurai_env.core.batch import batch_kernels
from samurai_env.core.checks import checked_games, checked_keys
from samurai_env.core.game import Variant


class PPOAgent:
    """Takes the action that the network finds most probable."""

    def __init__(self, variant: Variant, net: PolicyValueNet) -> None:
        self.net = net
        self.variant = variant
        self._loops = batch_kernels(variant.game).by_encoding[net.form.encoding]
        self._advice = Advice(variant) if net.form.advised else None
        self._shape = variant.encoding(net.form.encoding).shape

    def evaluate(self, states: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
        """What the network makes of positions, for the seat to move in each.

        Args:
            states: records (games,), none of them over.

        Returns:
            log-probabilities, float32 (games, actions), and expected returns, float32 (games, players), the seat to
            move first.

        Raises:
            TypeError: `states` is not an array.
            ValueError: records of another variant, or a game that is over.
        """
        states = checked_games(states, self.variant.dtype)
        masks = np.zeros((len(states), self.variant.num_actions), np.int8)
        observations = np.zeros((len(states), *self._shape), np.int8)
        seats, words = np.zeros(len(states), np.int8), np.zeros(self.variant.num_words, np.uint64)
        self._loops.batch_observe(states, masks, observations, seats, words)
        inputs = [torch.from_numpy(observations), torch.from_numpy(masks)]
        if self._advice:
            inputs.append(torch.from_numpy(self._advice.outlooks(states)))
        with torch.inference_mode():
            log_probs, values = self.net(*(tensor.to(self.net.mean.device) for tensor in inputs))
        return log_probs.cpu(), values.cpu()

    def act(self, states: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """See `agents.api.Agent.act`."""
        log_probs, _ = self.evaluate(states)
        checked_keys(keys, len(states))
        return log_probs.argmax(1).numpy()


def make(variant: Variant, argument: str) -> PPOAgent:
    """From a spec: `ppo:` and the path of a .safetensors file or of a training run's folder.

    Raises:
        ValueError: no path.
    """
    if not argument:
        raise ValueError("ppo needs the path of a network, as in ppo:runs/first/model.safetensors")
    net = load_network(Path(argument))
    check_fits(net, variant, Path(argument))
    return PPOAgent(variant, net)


def make_untrained(variant: Variant, argument: str) -> PPOAgent:
    """From a spec: `untrained`, a network with random weights: the control of any table with networks.

    Raises:
        ValueError: an argument.
    """
    no_argument("untrained", argument)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return PPOAgent(variant, PolicyValueNet(NetworkForm(variant.spec, variant.encoding_name(None))))
