"""A trained network as an agent, by NumPy and compiled layers, or by torch."""

from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Protocol

import numpy as np

from agents.networks import numpy_network
from agents.networks.cards import check_fits, read_card
from agents.networks.config import NetworkConfig, prior_features
from agents.networks.sampling import sample_by_keys
from agents.settings import Range, check_ranges
from agents.spec import AgentSpec, no_settings, read_settings
from samurai_env.core.checks import checked_games, checked_keys
from samurai_env.core.game import Variant
from samurai_env.game_batch import GameBatch

CPU = "cpu"


class Network(Protocol):
    """A network that plays: `network.PolicyValueNet` or `numpy_network.NumPyNetwork`."""

    @property
    def config(self) -> NetworkConfig:
        """The variant, encoding and layers."""
        ...

    def evaluate(
        self, observations: np.ndarray, masks: np.ndarray, features: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Evaluate positions for the seat to move in each.

        Args:
            observations: int8 (batch, ...).
            masks: int8 (batch, actions).
            features: float32 (batch, actions, columns), for a network with a heuristic prior.

        Returns:
            Log-probabilities, float32 (batch, actions), and expected returns, float32 (batch, players).
        """
        ...

    def rounding(self, batch_size: int) -> AbstractContextManager[Any]:
        """Context of a search that evaluates so many positions at a time."""
        ...


@dataclass(frozen=True)
class NetworkAgentConfig:
    """Settings of an agent that is a network without search.

    Attributes:
        path: of the network, as for `weights_file`.
        temperature: 0 for the most probable action, 1 to draw by the network's probabilities; between, to draw with
            the probable ones more probable still.

    Raises:
        ValueError: a setting is out of its range.
    """

    path: str
    temperature: Annotated[float, Range(0, 100)] = 0.0

    def __post_init__(self) -> None:
        check_ranges(self, "ppo")


class NetworkAgent:
    """Acts by a network's probabilities.

    Args:
        variant: what it plays.
        net: the network.
        temperature: see `NetworkAgentConfig`.
    """

    def __init__(self, variant: Variant, net: Network, temperature: float = 0.0) -> None:
        self.net, self.temperature = net, temperature
        self.variant = variant
        self._batch = GameBatch(variant)
        self._features = prior_features(net.config, variant)

    def evaluate(self, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
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
        features = self._features.compute(states) if self._features else None
        return self.net.evaluate(observations, self._batch.legal_masks(states), features)

    def act(self, states: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """See `samurai_env.agent_api.Agent.act`."""
        log_probs, _ = self.evaluate(states)
        keys = checked_keys(keys, len(log_probs))
        return sample_by_keys(log_probs, self.temperature, keys) if self.temperature else log_probs.argmax(1)


def load_player(path: Path, variant: Variant, device: str = CPU) -> Network:
    """Load a network to play a variant, by torch only where that is needed or faster, as on another device.

    Args:
        path: as for `weights_file`.
        variant: what is played.
        device: torch's name of where it computes.

    Raises:
        ValueError: it is damaged, does not fit, or needs torch; or the device cannot be used.
        FileNotFoundError: there is no such file.
    """
    net: Network
    without_torch = not find_spec("torch")
    with suppress(FileNotFoundError, ValueError):  # the loader says what is wrong
        without_torch |= device == CPU and numpy_network.faster_without_torch(read_card(path).config)
    if not without_torch:
        from agents.networks.network import check_device
        from agents.networks.network_files import load_network

        check_device(device)
        net = load_network(path, device)
    else:
        if device != CPU:
            raise ValueError(f"device={device[:60]} needs torch: pip install torch")
        net = numpy_network.load_network(path)
    check_fits(net.config, variant, path)
    return net


def make(variant: Variant, spec: AgentSpec) -> NetworkAgent:
    """Make the agent of `ppo:PATH`; the path is as for `weights_file`.

    Raises:
        ValueError: no path, an unknown setting, or a network that is damaged or does not fit.
        FileNotFoundError: there is no such file.
    """
    config = read_settings(spec, NetworkAgentConfig)
    return NetworkAgent(variant, load_player(Path(config.path), variant), config.temperature)


def make_untrained(variant: Variant, spec: AgentSpec) -> NetworkAgent:
    """Make the agent of `untrained`: a network with random weights, the control of any table with networks.

    Raises:
        ValueError: an argument or settings.
    """
    import torch

    from agents.networks.network import new_network

    no_settings(spec)
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(0)  # torch.manual_seed would seed the GPU's generators, too
        return NetworkAgent(variant, new_network(NetworkConfig(variant.spec, variant.encoding_name(None))))
