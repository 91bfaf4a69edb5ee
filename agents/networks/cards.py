"""The cards of networks, and the headers of their files. Files may come from strangers; torch is not needed."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Struct

from agents.networks.config import NetworkConfig
from agents.networks.paths import weights_file
from agents.old_names import CARD_FORMAT, current_card, current_tensor
from samurai_env import parse_variant
from samurai_env.core.game import Variant
from samurai_env.core.texts import one_line, shown
from samurai_env.files.json_reader import in_form, parse_json, read_json

FORMAT = "samurai_env network 3"
CARD_BYTES = 4 * 2**20  # at most; the curve of a training run is most of it
HEADER_BYTES = 2**20  # of a .safetensors file, at most
WIDEST, DEEPEST = 2**16, 256  # width and number of hidden layers, at most
DTYPES = {"F16", "BF16", "F32", "F64"}  # of weights, as the header of a .safetensors file names them

Width = Annotated[int, Meta(ge=1, le=WIDEST)]
LayerWidth = Annotated[int, Meta(ge=0, le=WIDEST)]


class NetworkCard(Struct, frozen=True):
    """The card of a network.

    Attributes:
        sha256: of the file of weights; None in older cards.
        notes: how the network was made.
    """

    variant: str
    encoding: str
    hidden: Annotated[list[Width], Meta(max_length=DEEPEST)]
    heuristic_prior: bool
    notes: dict[str, Any]
    entity_width: LayerWidth = 0
    action_width: LayerWidth = 0
    spatial_width: LayerWidth = 0
    graph_width: LayerWidth = 0
    tuned_prior: bool = False
    sha256: str | None = None

    @property
    def config(self) -> NetworkConfig:
        """The variant, encoding and layers of the network."""
        rest = self.entity_width, self.action_width, self.spatial_width, self.graph_width, self.tuned_prior
        return NetworkConfig(self.variant, self.encoding, tuple(self.hidden), self.heuristic_prior, *rest)


class Tensor(Struct):
    """A tensor in the header of a .safetensors file."""

    dtype: str
    shape: Annotated[list[Annotated[int, Meta(ge=0, lt=2**40)]], Meta(max_length=8)]


def read_card(path: Path) -> NetworkCard:
    """Read the card of a network; `path` as for `load_network`.

    Raises:
        FileNotFoundError: it does not exist.
        ValueError: it is damaged or not a network's.
    """
    path = weights_file(path)
    card_path = path.with_suffix(".json")
    if not card_path.exists():
        raise FileNotFoundError(
            f"{one_line(path, 100)} needs its card {one_line(card_path, 100)}, which does not exist"
        )
    found = read_json(card_path, dict[str, Any], CARD_BYTES)
    if found.get("format") not in (FORMAT, CARD_FORMAT):
        raise ValueError(f"{one_line(card_path, 100)} is not the card of a network of samurai_env ({FORMAT})")
    if found["format"] == CARD_FORMAT:
        found = current_card(found)
    try:
        return in_form(found, NetworkCard)
    except ValueError as error:
        raise ValueError(f"{one_line(card_path, 100)} describes no network: {error}") from None


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
    return {current_tensor(name): tuple(tensor.shape) for name, tensor in tensors.items()}


def read_weights(
    path: Path, expected: Callable[[NetworkConfig], dict[str, tuple[int, ...]]]
) -> tuple[NetworkCard, bytes]:
    """Read the card and the .safetensors file of a network, and hold the one against the other.

    Args:
        path: as for `weights_file`.
        expected: the shapes of the tensors of a network; raises ValueError if there is no such network.

    Raises:
        FileNotFoundError: no such file.
        ValueError: a damaged or foreign file; the text says which and why.
    """
    path = weights_file(path)
    if not path.exists():
        raise FileNotFoundError(f"there is no network at {one_line(path, 100)}")
    card = read_card(path)
    try:
        wanted = expected(card.config)
    except ValueError as error:
        raise ValueError(
            f"{one_line(path.with_suffix('.json'), 100)} describes no network: {one_line(error, 150)}"
        ) from None
    data = path.read_bytes()
    check_weights(path, data, card.sha256, wanted)
    return card, data


def check_weights(path: Path, data: bytes, sha256: str | None, wanted: dict[str, tuple[int, ...]]) -> None:
    """Hold the bytes of a .safetensors file against its card.

    Args:
        path: of the file, for errors.
        data: what it holds.
        sha256: the checksum on the card; None if it has none.
        wanted: the shapes of its tensors by name.

    Raises:
        ValueError: a damaged or foreign file; the text says why.
    """
    try:
        if sha256 not in (None, hashlib.sha256(data).hexdigest()):
            raise ValueError("its checksum is another, as if a save had been stopped between the two files")
        found = tensor_shapes(data)
        if other := [name for name in sorted(wanted.keys() | found) if wanted.get(name) != found.get(name)]:
            here, there = found.get(other[0], "missing"), wanted.get(other[0], "not wanted")
            raise ValueError(f"tensor {shown(other[0])} is {shown(here)}, the card says {shown(there)}")
    except ValueError as error:
        raise damaged(path, error) from None


def damaged(path: Path, error: Exception) -> ValueError:
    """The error of a file of weights that cannot be read."""
    return ValueError(f"{one_line(path, 100)} is damaged or does not fit its card: {one_line(error, 150)}")


def check_fits(config: NetworkConfig, variant: Variant, path: Path) -> None:
    """Refuse a network for another game or number of players.

    Raises:
        ValueError: it does not fit.
    """
    trained = parse_variant(config.variant)
    if (trained.game, trained.num_players) != (variant.game, variant.num_players):
        raise ValueError(f"the network {one_line(path, 100)} plays {config.variant}; it cannot play {variant.spec}")
