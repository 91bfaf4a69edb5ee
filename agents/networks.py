"""Policy and value networks: their form, masked choice, and files that hold them."""

import json
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save
from torch import nn

from agents.advice import usual_temperature
from agents.layers import OutlookLayers, SharedLayers, spatial_layers
from samurai_env import parse_spec
from samurai_env.atomic_write import write_atomically
from samurai_env.core.game import Variant

FORMAT = "samurai_env network 2"


@dataclass(frozen=True)
class NetworkForm:
    """What a network is for and how it is built.

    Attributes:
        variant: spec of the variant it was trained on.
        encoding: name of the encoding it reads.
        hidden: widths of the hidden layers.
        advised: whether it also reads the game's built-in advice (`agents.advice`).
        shared: width of the layers that read each of the encoding's `things` with the same weights; 0 for none.
        outlook: width of the layers that read the outlook of each action with the same weights; 0 for none.
        spatial: width of the layers that read planes by convolutions, tokens by attention; 0 for none.
    """

    variant: str
    encoding: str
    hidden: tuple[int, ...] = (256, 256)
    advised: bool = False
    shared: int = 0
    outlook: int = 0
    spatial: int = 0

    def differences(self, wanted: "NetworkForm") -> str:
        """What is otherwise here than wanted, such as "hidden (64,) instead of (256, 256)"."""
        here, there = asdict(self), asdict(wanted)
        return ", ".join(f"{name} {here[name]} instead of {there[name]}" for name in here if here[name] != there[name])


def multiplies_bfloat16() -> bool:
    """Whether this processor has instructions for products of bfloat16 numbers."""
    return bool(getattr(torch.cpu, "_is_avx512_bf16_supported", lambda: False)())


class PolicyValueNet(nn.Module):
    """A multi-layer perceptron from what a seat sees to action logits and the return each player can expect.

    Values are seat-relative like observations: entry 0 is the observer's. An advised network begins as the built-in
    player with a temperature, and learns what to change about it: its logits are added to the advice.
    """

    mean: torch.Tensor
    scale: torch.Tensor
    temperature: torch.Tensor

    def __init__(self, form: NetworkForm) -> None:
        super().__init__()
        self.form = form
        variant = parse_spec(form.variant)
        inputs = int(np.prod(variant.encoding(form.encoding).shape))
        self.register_buffer("mean", torch.zeros(inputs))
        self.register_buffer("scale", torch.ones(inputs))
        if form.advised:
            self.register_buffer("temperature", torch.tensor(usual_temperature(variant)))
            self.trust = nn.Parameter(torch.ones(()))
            inputs += variant.num_actions
        if form.shared:
            encoding, known = variant.encoding(form.encoding), (inputs, *form.hidden)[-1]
            self.shared = SharedLayers(encoding, form.advised, form.shared, known)
            inputs += 2 * form.shared - self.shared.where.numel()
        if form.spatial:
            self.spatial = spatial_layers(variant.encoding(form.encoding), form.spatial)
            inputs += self.spatial.outputs - self.mean.numel()
        widths = [inputs, *form.hidden]
        self.body = nn.Sequential()
        for before, after in pairwise(widths):
            self.body.append(nn.Linear(before, after))
            self.body.append(nn.ReLU())
        if form.outlook:
            self.outlook = OutlookLayers(len(variant.game.outlook), form.outlook, widths[-1])
        self.policy = nn.Linear(widths[-1], variant.num_actions)
        self.value = nn.Linear(widths[-1], variant.num_players)
        for layer in self.body:
            if isinstance(layer, nn.Linear):
                nn.init.orthogonal_(layer.weight, 2**0.5)
                nn.init.zeros_(layer.bias)
        for head, gain in ((self.policy, 0.01), (self.value, 0.1)):
            nn.init.orthogonal_(head.weight, gain)
            nn.init.zeros_(head.bias)

    def standardise(self, observations: torch.Tensor, looks: torch.Tensor | None = None) -> None:
        """From now on subtract the mean of these inputs and divide by their deviation (rare ones: by a fifth).

        Things and places that are read with the same weights are measured together.

        Args:
            observations: (rows, ...).
            looks: (actions, columns), outlooks of legal actions, for a network with such layers.
        """
        if self.form.spatial:
            axis = 1 + parse_spec(self.form.variant).encoding(self.form.encoding).axis
            columns = observations[::4].movedim(axis, -1).flatten(0, -2).float()  # each has many places
            shape = [-1 if i == axis else 1 for i in range(1, observations.dim())]
            mean, deviation = (x.view(shape).expand(observations.shape[1:]) for x in (columns.mean(0), columns.std(0)))
        else:
            rows = observations.flatten(1).float()
            mean, deviation = rows.mean(0), rows.std(0)
        self.mean.copy_(mean.flatten())
        self.scale.copy_(1.0 / deviation.flatten().clamp_min(0.2))
        if self.form.shared:
            where = self.shared.where
            things = rows[:, where].flatten(0, 1)
            self.mean[where] = things.mean(0)
            self.scale[where] = 1.0 / things.std(0).clamp_min(0.2)
        if looks is not None:
            self.outlook.pace.copy_(1.0 / looks.std(0).clamp_min(0.2))

    def forward(
        self, observations: torch.Tensor, masks: torch.Tensor, looks: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Log-probabilities of the actions (illegal ones about -1e9) and values.

        Args:
            observations: int8 (batch, ...).
            masks: int8 (batch, actions).
            looks: float32 (batch, actions, columns), for advised networks only: see `agents.advice`.

        Returns:
            float32 (batch, actions) and (batch, players).
        """
        log_probs, values, _ = self.read(observations, masks, looks)
        return log_probs, values

    def read(
        self, observations: torch.Tensor, masks: torch.Tensor, looks: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """What `forward` gives, and what the last hidden layer makes of each position, (batch, width)."""
        inputs = (observations.flatten(1).float() - self.mean) * self.scale
        advice = None if looks is None else (-looks[:, :, 0] / self.temperature).clamp_min(-20.0)
        parts = [inputs] if advice is None else [inputs, advice.exp() * masks]
        if self.form.shared:
            seen = self.shared.read(*parts)
            parts[0] = inputs[:, self.shared.rest]
            parts += [seen.mean(1), seen.amax(1)]
        if self.form.spatial:
            parts[0] = self.spatial(inputs.view(observations.shape))
        hidden = self.body(torch.cat(parts, 1))
        logits = self.policy(hidden).float()
        if self.form.shared:
            logits[:, self.shared.actions] += self.shared.scores(seen, hidden).float()
        if self.form.outlook:
            assert looks is not None
            logits = logits + self.outlook(looks, masks, hidden).float()
        if advice is not None:
            logits = logits + self.trust * advice
        log_probs = torch.log_softmax(logits.masked_fill(masks == 0, -1e9), 1)
        return log_probs, self.value(hidden).float(), hidden


def save_network(net: PolicyValueNet, path: Path, notes: dict[str, Any]) -> None:
    """Write weights to `path` (.safetensors) and the form with `notes` to the .json beside it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    card = {"format": FORMAT, **asdict(net.form), "notes": notes}
    write_atomically(path, save({name: tensor.contiguous() for name, tensor in net.state_dict().items()}))
    write_atomically(path.with_suffix(".json"), json.dumps(card, indent=1) + "\n")


def weights_file(path: Path) -> Path:
    """The file of weights that is meant: `path` itself, or the one in the folder of a run."""
    return path / "model.safetensors" if path.is_dir() else path


def read_card(path: Path) -> dict[str, Any]:
    """The JSON beside a network's weights; `path` as for `load_network`.

    Raises:
        FileNotFoundError: it is not there.
        ValueError: it is damaged or not a network's.
    """
    path = weights_file(path)
    card_path = path.with_suffix(".json")
    if not card_path.exists():
        raise FileNotFoundError(f"{path} needs its card {card_path}, which is not there")
    try:
        card = json.loads(card_path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"{card_path} is damaged: {error}") from None
    if not isinstance(card, dict) or card.get("format") != FORMAT:
        raise ValueError(f"{card_path} is not the card of a network of samurai_env ({FORMAT})")
    return card


def load_network(path: Path, device: str = "cpu") -> PolicyValueNet:
    """The network that `save_network` wrote; `path` may be the .safetensors file or the folder of a run.

    Raises:
        FileNotFoundError: no such file.
        ValueError: a damaged or foreign file; the text says which and why.
    """
    path = weights_file(path)
    if not path.exists():
        raise FileNotFoundError(f"there is no network at {path}")
    card = read_card(path)
    try:
        widths = tuple(int(w) for w in card["hidden"])
        layers = {name: int(card.get(name, 0)) for name in ("shared", "outlook", "spatial")}
        form = NetworkForm(str(card["variant"]), str(card["encoding"]), widths, bool(card["advised"]), **layers)
        net = PolicyValueNet(form)
        net.load_state_dict(load_file(path, device="cpu"))
    except KeyError as error:
        raise ValueError(f"{path.with_suffix('.json')} lacks {error}") from None
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path.with_suffix('.json')} describes no network: {error}") from None
    except (SafetensorError, RuntimeError) as error:
        why = " ".join(str(error).split())
        raise ValueError(f"{path} is damaged or does not fit its card: {why[:200]}") from None
    if not all(bool(tensor.isfinite().all()) for tensor in net.state_dict().values()):
        raise ValueError(f"{path} holds numbers that are not finite")
    return net.to(device).eval()


def check_fits(net: PolicyValueNet, variant: Variant, path: Path) -> None:
    """Refuse a network for another game or number of players.

    Raises:
        ValueError: it does not fit.
    """
    trained = parse_spec(net.form.variant)
    if (trained.game, trained.num_players) != (variant.game, variant.num_players):
        raise ValueError(f"the network {path} plays {net.form.variant}; it cannot play {variant.spec}")
