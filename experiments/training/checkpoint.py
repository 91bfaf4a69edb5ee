"""The files of a training run: the checkpoint, from which it continues exactly, and the network with its card.

The checkpoint is one file and holds everything, the network with its card too. These two are exports, written after
it; a run that continues writes them again, so it does not matter when the one before ended.
"""

import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import torch
from msgspec import Meta, Struct
from safetensors import SafetensorError, safe_open
from safetensors import torch as tensor_files

from agents.networks.cards import CARD_BYTES, NetworkCard, read_card
from agents.networks.config import NetworkConfig
from agents.networks.network_files import load_network, save_network
from agents.old_names import REMOVED, current_settings, current_tensor
from experiments.common.provenance import add_new, as_list
from experiments.training.config import Config
from experiments.training.learner import Learner
from experiments.training.ppo_state import load_state_dict, state_dict
from samurai_env import __version__
from samurai_env.core.texts import one_line, shown
from samurai_env.files.atomic_write import write_atomically
from samurai_env.files.json_reader import in_form, parse_json

FORMAT = "samurai_env checkpoint 2"
Tensors = dict[str, torch.Tensor]

Count = Annotated[int, Meta(ge=0, lt=2**53)]


class Notes(Struct):
    """The notes on a network that a run continues from."""

    command: str
    steps: Count
    updates: Count
    gradient_steps: Count
    games: Count
    seconds: Annotated[float, Meta(ge=0.0)]
    curve: list[dict[str, float]]
    eval_seconds: Annotated[float, Meta(ge=0.0)] = 0.0
    config: dict[str, Any] = {}
    went_on: list[tuple[Count, str]] = []


class Head(Struct):
    """The header of a checkpoint: its network and the notes on it."""

    network: dict[str, Any]
    notes: dict[str, Any]


# What a run cannot change on the way, beside the form of its network.
FIXED = ("seed", "num_envs", "num_steps", "reward", "prior_weight", "values_only")


def notes(learner: Learner) -> dict[str, Any]:
    """The part of the network's card that says how it was made."""
    settings = {k: str(v) if isinstance(v, Path) else v for k, v in asdict(learner.config).items()}
    return {
        "command": learner.commands[0][1],
        "went_on": learner.commands[1:],
        "commit": learner.commits,
        "version": __version__,
        "machine": learner.machines,
        "steps": learner.steps,
        "updates": learner.updates,
        "gradient_steps": learner.gradient_steps,
        "games": learner.games,
        "seconds": round(learner.seconds, 1),
        "eval_seconds": round(learner.eval_seconds, 1),
        "curve": learner.curve,
        "config": settings,
        "origin": learner.origin,
    }


def checkpoint_file(run: Path) -> Path:
    """The checkpoint of the run in a folder."""
    return run / "checkpoint.safetensors"


def save(learner: Learner) -> None:
    """Write the checkpoint, then the network and its card."""
    card = notes(learner)
    head = json.dumps({"network": asdict(learner.net.config), "notes": card})
    tensors = {name: tensor.contiguous().cpu() for name, tensor in state_dict(learner).items()}
    stamp = {"format": FORMAT, "head": head, "checksum": _checksum(tensors, head)}
    learner.config.run.mkdir(parents=True, exist_ok=True)
    write_atomically(checkpoint_file(learner.config.run), tensor_files.save(tensors, stamp))
    save_network(learner.mean_net, learner.config.run / "model.safetensors", card)


def _checksum(tensors: Tensors, head: str) -> str:
    return hashlib.sha256(head.encode() + tensor_files.save(tensors)).hexdigest()


def has_begun(run: Path) -> bool:
    """Whether there is a checkpoint to continue from; False for a run that ended before its first.

    Raises:
        FileNotFoundError: no run was ever started there.
    """
    if checkpoint_file(run).exists():
        return True
    if (run / "model.safetensors").exists():
        raise FileNotFoundError(f"there is no checkpoint in {run} to resume, only a network")
    if not any(run.glob("events.out.tfevents.*")):
        raise FileNotFoundError(f"there is no run in {run} to resume")
    return False


def load(learner: Learner) -> None:
    """Continue from the checkpoint in the run's folder, and export the network and its card from it.

    Raises:
        FileNotFoundError: there is none.
        ValueError: it is damaged, or of a run with other settings.
    """
    run = learner.config.run
    has_begun(run)
    tensors, config, kept = _read(run)
    if config != learner.net.config:
        differences = one_line(config.differences(learner.net.config), 150)
        raise ValueError(f"the network in {one_line(run, 100)} does not fit this run: {differences}")
    try:
        in_form(kept, Notes)
        if any("steps" not in point for point in kept["curve"]):
            raise ValueError("a point of the curve does not say after how many steps")
    except ValueError as error:
        raise ValueError(f"{one_line(checkpoint_file(run), 100)} is damaged: its notes: {error}") from None
    check_same(kept.get("config", {}), learner.config)
    try:
        _restore(learner, tensors, kept)
    except (KeyError, TypeError, ValueError, RuntimeError, AttributeError, IndexError) as error:
        name = one_line(checkpoint_file(run), 100)
        raise ValueError(f"{name} is not a checkpoint of such a run: {one_line(error, 150)}") from None
    save_network(learner.mean_net, run / "model.safetensors", kept)


def check_same(begun: dict[str, Any], config: Config) -> None:
    """Refuse to continue with a setting that a run cannot change on the way.

    Raises:
        ValueError: names the flags, and what the run was started with.
    """
    begun = current_settings(begun)
    flags = {name: f"--{name.replace('_', '-')}" for name in FIXED}
    if untold := [flag for name, flag in flags.items() if name not in begun]:
        raise ValueError(f"the run in {config.run} does not say with what {', '.join(untold)} it was begun")
    gone = [name for name, off in REMOVED.items() if begun.get(name, off) != off]
    if gone:
        raise ValueError(f"the run in {config.run} was begun with --{gone[0]}, which is gone; commit 1e132cb has it")
    other = [name for name in FIXED if begun[name] != getattr(config, name)]
    if other:
        told = ", ".join(f"{flags[name]} {shown(begun[name], 20)}" for name in other)
        raise ValueError(f"the run in {config.run} was begun with {told}; it resumes only with the same")
    start = begun.get("init_from")
    if config.init_from and (not start or Path(str(start)).resolve() != config.init_from.resolve()):
        told = f"with --init-from {shown(start, 80)}" if start else "without --init-from"
        raise ValueError(f"the run in {config.run} was begun {told}; it has its weights, so leave --init-from out")


def _read(run: Path) -> tuple[Tensors, NetworkConfig, dict[str, Any]]:
    """Read the tensors of a checkpoint, the config of its network and the notes.

    Raises:
        ValueError: it is damaged.
    """
    path = checkpoint_file(run)
    name = one_line(path, 100)
    try:
        with safe_open(path, "pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (it is no mapping)
            stamp = file.metadata() or {}
    except SafetensorError as error:
        raise ValueError(f"{name} is damaged: {one_line(error, 150)}") from None
    if not stamp:
        return _read_three_files(run, tensors)
    if stamp.get("format") != FORMAT:
        raise ValueError(f"{name} is not a checkpoint that this version reads ({FORMAT})")
    head = stamp.get("head", "")
    if stamp.get("checksum") != _checksum(tensors, head):
        raise ValueError(f"{name} is damaged: its checksum does not match")
    try:
        found = in_form(parse_json(head.encode(), CARD_BYTES), Head)
        return tensors, in_form({**found.network, "notes": found.notes}, NetworkCard).config, found.notes
    except ValueError as error:
        raise ValueError(f"{name} is damaged: {one_line(error, 150)}") from None


def _read_three_files(run: Path, tensors: Tensors) -> tuple[Tensors, NetworkConfig, dict[str, Any]]:
    """As `_read`, for a run of an older version, whose mean network and notes are in the other two files.

    Raises:
        ValueError: the files are not of the same moment, or not those of a run.
    """
    net, kept = load_network(run), read_card(run).notes
    try:
        in_form(kept, Notes)
        taken = {int(step) for name, step in tensors.items() if name.startswith("adam.") and name.endswith(".step")}
    except (ValueError, RuntimeError) as error:
        reason = f"{one_line(checkpoint_file(run), 100)} is not a checkpoint that this version reads ({FORMAT}), and"
        raise ValueError(f"{reason} the card beside it is not that of an older run: {one_line(error, 100)}") from None
    if taken - {kept["gradient_steps"]}:
        raise ValueError(
            f"the files in {run} are of different moments: the card tells of {kept['gradient_steps']} gradient steps, "
            f"the checkpoint of {max(taken)}; it was stopped while it was written and cannot be resumed"
        )
    renamed = {}
    for name, tensor in tensors.items():
        part, _, rest = name.partition(".")
        if part == "net":
            name = f"net.{current_tensor(rest)}"
        elif part == "past":
            number, _, inner = rest.partition(".")
            name = f"past.{number}.{current_tensor(inner)}"
        renamed[name] = tensor
    return renamed | {f"mean.{name}": tensor for name, tensor in net.state_dict().items()}, net.config, kept


def _restore(learner: Learner, tensors: Tensors, kept: dict[str, Any]) -> None:
    """Put what was kept into the learner."""
    load_state_dict(learner, tensors, kept)
    learner.seconds, learner.curve = kept["seconds"], kept["curve"]
    learner.eval_seconds = kept.get("eval_seconds", 0.0)
    learner.origin = kept.get("origin")
    start = current_settings(kept["config"]).get("init_from")
    learner.config.init_from = Path(start) if start else None
    for name, these in (("commit", learner.commits), ("machine", learner.machines)):
        earlier = as_list(kept.get(name, []))
        add_new(earlier, these[0])
        these[:] = earlier
    before = [(0, kept["command"]), *map(tuple, kept.get("went_on", []))]
    now = (learner.steps, learner.config.command)
    learner.commands = before if before[-1][1] == now[1] else [*before, now]
