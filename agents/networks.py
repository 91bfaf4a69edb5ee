"""Policy and value networks: their form, masked choice, and files that hold them."""

import json
import os
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn

from agents.advice import usual_temperature
from samurai_env import parse_spec
from samurai_env.core.encoding import Encoding
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
    """

    variant: str
    encoding: str
    hidden: tuple[int, ...] = (256, 256)
    advised: bool = False
    shared: int = 0
    outlook: int = 0


def multiplies_bfloat16() -> bool:
    """Whether this processor has instructions for products of bfloat16 numbers."""
    return bool(getattr(torch.cpu, "_is_avx512_bf16_supported", lambda: False)())


class SharedLayers(nn.Module):
    """Layers that read each of many things of one kind, and score its actions, with the same weights.

    Args:
        encoding: one that has `things`.
        advised: whether the advice on a thing's actions is read with it.
        width: of these layers.
        known: width of what is known of the whole position when actions are scored.

    Raises:
        ValueError: the encoding has no things.
    """

    where: torch.Tensor  # int64 (things, entries): their inputs
    rest: torch.Tensor  # int64: all other inputs

    def __init__(self, encoding: Encoding, advised: bool, width: int, known: int) -> None:
        super().__init__()
        where = encoding.of_things()
        things = encoding.things
        assert things is not None
        self.register_buffer("where", torch.from_numpy(where), persistent=False)
        rest = np.setdiff1d(np.arange(encoding.shape[0]), where)
        self.register_buffer("rest", torch.from_numpy(rest), persistent=False)
        self.actions = slice(things.action, things.action + things.count * things.actions)
        self.first = nn.Linear(where.shape[1] + things.actions * advised, width)
        self.second = nn.Linear(width, width)
        self.third = nn.Linear(width, width)
        self.known = nn.Linear(known, width, bias=False)
        self.score = nn.Linear(width, things.actions)
        nn.init.orthogonal_(self.score.weight, 0.01)
        nn.init.zeros_(self.score.bias)

    def read(self, inputs: torch.Tensor, advice: torch.Tensor | None = None) -> torch.Tensor:
        """Each thing as the layers see it, float (batch, things, width)."""
        rows = inputs[:, self.where]
        if advice is not None:
            rows = torch.cat([rows, advice[:, self.actions].unflatten(1, (len(self.where), -1))], 2)
        return self.second(self.first(rows).relu()).relu()

    def scores(self, seen: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
        """What to add to the logits of the things' actions, float (batch, these actions)."""
        return self.score((self.third(seen) + self.known(hidden)[:, None]).relu()).flatten(1)


class OutlookLayers(nn.Module):
    """Layers that read the outlook of each legal action (`agents.advice`) with the same weights, and score it.

    Args:
        columns: of the outlook.
        width: of these layers.
        known: width of what is known of the whole position.
    """

    pace: torch.Tensor  # float (columns,): by what they are multiplied

    def __init__(self, columns: int, width: int, known: int) -> None:
        super().__init__()
        self.register_buffer("pace", torch.ones(columns))
        self.first = nn.Linear(2 * columns, width)
        self.known = nn.Linear(known, width, bias=False)
        self.second = nn.Linear(width, width)
        self.score = nn.Linear(width, 1)
        nn.init.zeros_(self.known.weight)
        nn.init.orthogonal_(self.score.weight, 0.01)
        nn.init.zeros_(self.score.bias)

    def scores(self, looks: torch.Tensor, row: torch.Tensor, known: torch.Tensor | None = None) -> torch.Tensor:
        """Score legal actions, each seen as it is and beside the mean of those of its position.

        Args:
            looks: float (legal actions of all positions, columns).
            row: int64 (legal actions of all positions,): to which position each belongs.
            known: float (positions, width), of the whole position.

        Returns:
            float (legal actions of all positions,).
        """
        looks = looks * self.pace
        count = torch.bincount(row)
        mean = torch.zeros((len(count), looks.shape[1]), dtype=looks.dtype, device=looks.device).index_add(
            0, row, looks
        )
        seen = self.first(torch.cat([looks, looks - (mean / count[:, None].clamp_min(1))[row]], 1))
        if known is not None:
            seen = seen + known[row]
        return self.score(self.second(seen.relu()).relu())[:, 0]

    def forward(self, looks: torch.Tensor, masks: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
        """What to add to the logits, float (batch, actions), 0 for illegal actions."""
        legal = masks > 0
        scores = self.scores(looks[legal], legal.nonzero()[:, 0], self.known(hidden))
        return torch.zeros(legal.shape, dtype=scores.dtype, device=scores.device).masked_scatter(legal, scores)


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

        Things that are read with the same weights are measured together.

        Args:
            observations: (rows, ...).
            looks: (actions, columns), outlooks of legal actions, for a network with such layers.
        """
        rows = observations.flatten(1).float()
        self.mean.copy_(rows.mean(0))
        self.scale.copy_(1.0 / rows.std(0).clamp_min(0.2))
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


def write_atomically(path: Path, write: Any) -> None:
    """Call `write(temporary path)` and put the result in place, so that a file is whole or absent."""
    temporary = path.with_name(path.name + ".part")
    write(temporary)
    mask = os.umask(0)
    os.umask(mask)
    temporary.chmod(0o666 & ~mask)  # some writers make files that only their owner can read
    os.replace(temporary, path)


def save_network(net: PolicyValueNet, path: Path, notes: dict[str, Any]) -> None:
    """Write weights to `path` (.safetensors) and the form with `notes` to the .json beside it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    card = {"format": FORMAT, **asdict(net.form), "notes": notes}
    write_atomically(path, lambda p: save_file({k: v.contiguous() for k, v in net.state_dict().items()}, p))
    write_atomically(path.with_suffix(".json"), lambda p: p.write_text(json.dumps(card, indent=1) + "\n"))


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
        layers = {name: int(card.get(name, 0)) for name in ("shared", "outlook")}
        form = NetworkForm(str(card["variant"]), str(card["encoding"]), widths, bool(card["advised"]), **layers)
        net = PolicyValueNet(form)
        net.load_state_dict(load_file(path, device="cpu"))
    except (KeyError, TypeError) as error:
        raise ValueError(f"{path.with_suffix('.json')} lacks or misstates {error}") from None
    except (SafetensorError, RuntimeError) as error:
        raise ValueError(f"{path} is damaged or does not fit its card: {str(error).splitlines()[0]}") from None
    return net.to(device).eval()


def check_fits(net: PolicyValueNet, variant: Variant, path: Path) -> None:
    """Refuse a network for another game or number of players.

    Raises:
        ValueError: it does not fit.
    """
    trained = parse_spec(net.form.variant)
    if (trained.game, trained.num_players) != (variant.game, variant.num_players):
        raise ValueError(f"the network {path} plays {net.form.variant}; it cannot play {variant.spec}")
