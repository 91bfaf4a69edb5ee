"""Policy and value networks: their form, masked choice, and files that hold them."""

import hashlib
import json
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch
from msgspec import Meta, Struct
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import nn

from agents.networks.features import usual_temperature
from agents.networks.layers import OutlookLayers, SharedLayers, spatial_layers
from samurai_env import parse_variant
from samurai_env.core.game import Variant
from samurai_env.core.texts import one_line, shown
from samurai_env.files.atomic_write import write_atomically
from samurai_env.files.json_reader import in_form, parse_json, read_json

FORMAT = "samurai_env network 2"
CARD_BYTES = 4 * 2**20  # at most; the curve of a training run is most of it
HEADER_BYTES = 2**20  # of a .safetensors file, at most
WIDEST, DEEPEST = 2**16, 256  # width and number of hidden layers, at most
# Kinds of numbers that weights may be, by their names in the header of a .safetensors file.
DTYPES = {"F16", "BF16", "F32", "F64"}


@dataclass(frozen=True)
class NetworkForm:
    """What a network is for and how it is built.

    Attributes:
        variant: spec of the variant it was trained on.
        encoding: name of the encoding it reads.
        hidden: widths of the hidden layers.
        advised: whether it also reads the game's built-in advice (`agents.networks.features`).
        shared: width of the layers that read each of the encoding's `entities` with the same weights; 0 for none.
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
        variant = parse_variant(form.variant)
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
            self.outlook = OutlookLayers(len(variant.game.action_features), form.outlook, widths[-1])
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
            axis = 1 + parse_variant(self.form.variant).encoding(self.form.encoding).axis
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
            looks: float32 (batch, actions, columns), for advised networks only: see `agents.networks.features`.

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
    """Write weights to `path` (.safetensors), and their form, checksum and `notes` to the .json beside it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    weights = save({name: tensor.contiguous() for name, tensor in net.state_dict().items()})
    card = {"format": FORMAT, **asdict(net.form), "sha256": hashlib.sha256(weights).hexdigest(), "notes": notes}
    write_atomically(path, weights)
    write_atomically(path.with_suffix(".json"), json.dumps(card, indent=1) + "\n")


def weights_file(path: Path) -> Path:
    """The file of weights that is meant: `path` itself, or the one in the folder of a run."""
    return path / "model.safetensors" if path.is_dir() else path


Width = Annotated[int, Meta(ge=1, le=WIDEST)]
LayerWidth = Annotated[int, Meta(ge=0, le=WIDEST)]


class Card(Struct, frozen=True):
    """What `save_network` writes of a network beside its weights.

    Attributes:
        sha256: of the file of weights; None in cards of before there was one.
        notes: how the network was made.
    """

    variant: str
    encoding: str
    hidden: Annotated[list[Width], Meta(max_length=DEEPEST)]
    advised: bool
    notes: dict[str, Any]
    shared: LayerWidth = 0
    outlook: LayerWidth = 0
    spatial: LayerWidth = 0
    sha256: str | None = None

    @property
    def form(self) -> NetworkForm:
        """What the network is for and how it is built."""
        layers = self.shared, self.outlook, self.spatial
        return NetworkForm(self.variant, self.encoding, tuple(self.hidden), self.advised, *layers)


def read_card(path: Path) -> Card:
    """The JSON beside a network's weights; `path` as for `load_network`.

    Raises:
        FileNotFoundError: it is not there.
        ValueError: it is damaged or not a network's.
    """
    path = weights_file(path)
    card_path = path.with_suffix(".json")
    if not card_path.exists():
        raise FileNotFoundError(f"{path} needs its card {card_path}, which is not there")
    found = read_json(card_path, dict[str, Any], CARD_BYTES)
    if found.get("format") != FORMAT:
        raise ValueError(f"{card_path} is not the card of a network of samurai_env ({FORMAT})")
    try:
        return in_form(found, Card)
    except ValueError as error:
        raise ValueError(f"{card_path} describes no network: {error}") from None


class Tensor(Struct):
    """A tensor in the header of a .safetensors file."""

    dtype: str
    shape: Annotated[list[Annotated[int, Meta(ge=0, lt=2**40)]], Meta(max_length=8)]


def tensor_shapes(data: bytes) -> dict[str, tuple[int, ...]]:
    """The shapes of the tensors in a .safetensors file, from its header alone.

    Raises:
        ValueError: there is no such header, or a tensor does not hold floating-point numbers.
    """
    length = int.from_bytes(data[:8], "little")
    if length > HEADER_BYTES or len(data) < 8 + length:
        raise ValueError("it has no header of a .safetensors file")
    header = in_form(parse_json(data[8 : 8 + length]), dict[str, Any])
    header.pop("__metadata__", None)
    tensors = in_form(header, dict[str, Tensor])
    for name, tensor in tensors.items():
        if tensor.dtype not in DTYPES:
            raise ValueError(f"the tensor {shown(name)} holds {shown(tensor.dtype)}, not floating-point numbers")
    return {name: tuple(tensor.shape) for name, tensor in tensors.items()}


def expected_shapes(form: NetworkForm) -> dict[str, tuple[int, ...]]:
    """The shapes of a network's tensors, without any memory for them.

    Raises:
        ValueError: there is no such network.
    """
    with torch.device("meta"):
        return {name: tuple(tensor.shape) for name, tensor in PolicyValueNet(form).state_dict().items()}


def load_network(path: Path, device: str = "cpu") -> PolicyValueNet:
    """The network that `save_network` wrote; `path` may be the .safetensors file or the folder of a run.

    Nothing is built before the shapes in the file are those that its card asks for.

    Raises:
        FileNotFoundError: no such file.
        ValueError: a damaged or foreign file; the text says which and why.
    """
    path = weights_file(path)
    if not path.exists():
        raise FileNotFoundError(f"there is no network at {path}")
    card = read_card(path)
    try:
        wanted = expected_shapes(card.form)
    except ValueError as error:
        raise ValueError(f"{path.with_suffix('.json')} describes no network: {one_line(error, 150)}") from None
    data = path.read_bytes()
    if card.sha256 not in (None, hashlib.sha256(data).hexdigest()):
        raise ValueError(f"{path} is damaged or does not fit its card: its checksum is another")
    try:
        found = tensor_shapes(data)
        if other := [name for name in sorted(wanted.keys() | found) if wanted.get(name) != found.get(name)]:
            here, there = found.get(other[0], "missing"), wanted.get(other[0], "not wanted")
            raise ValueError(f"tensor {shown(other[0])} is {shown(here)}, the card says {shown(there)}")
        tensors = load(data)
    except (ValueError, SafetensorError) as error:
        raise ValueError(f"{path} is damaged or does not fit its card: {one_line(error, 200)}") from None
    net = PolicyValueNet(card.form)
    net.load_state_dict(tensors)
    if not all(bool(tensor.isfinite().all()) for tensor in net.state_dict().values()):
        raise ValueError(f"{path} holds numbers that are not finite")
    return net.to(device).eval()


def check_fits(net: PolicyValueNet, variant: Variant, path: Path) -> None:
    """Refuse a network for another game or number of players.

    Raises:
        ValueError: it does not fit.
    """
    trained = parse_variant(net.form.variant)
    if (trained.game, trained.num_players) != (variant.game, variant.num_players):
        raise ValueError(f"the network {path} plays {net.form.variant}; it cannot play {variant.spec}")
