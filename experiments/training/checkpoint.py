"""The files of a training run: the checkpoint, from which it goes on exactly, and the network with its card.

The checkpoint is one file and holds everything, the network with its card too. These two files are written after it
and for others to read; a run that goes on writes them anew, so it does not matter where the one before ended.
"""

import hashlib
import json
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors import torch as tensor_files

from agents.networks.files import load_network, read_card, save_network
from agents.networks.network import NetworkConfig
from experiments.common.cli import commit, cpu_name
from experiments.training.config import Config
from experiments.training.ppo import Learner
from samurai_env import __version__
from samurai_env.files.atomic_write import write_atomically

FORMAT = "samurai_env checkpoint 2"
Tensors = dict[str, torch.Tensor]


def notes(learner: Learner) -> dict[str, Any]:
    """What the network's card says of its making."""
    settings = {k: str(v) if isinstance(v, Path) else v for k, v in asdict(learner.config).items()}
    return {
        "command": learner.commands[0][1],
        "went_on": learner.commands[1:],
        "commit": commit(),
        "version": __version__,
        "machine": f"{cpu_name()}, {torch.get_num_threads()} threads",
        "steps": learner.steps,
        "updates": learner.updates,
        "gradient_steps": learner.gradient_steps,
        "games": learner.games,
        "seconds": round(learner.seconds, 1),
        "curve": learner.curve,
        "config": settings,
        "origin": learner.origin,
    }


def checkpoint_file(run: Path) -> Path:
    """The checkpoint of the run in a folder."""
    return run / "checkpoint.safetensors"


def save(learner: Learner) -> None:
    """Write all that resuming needs, then the network and its card."""
    told = notes(learner)
    head = json.dumps({"form": asdict(learner.net.config), "notes": told})
    tensors = _tensors(learner)
    stamp = {"format": FORMAT, "head": head, "checksum": _checksum(tensors, head)}
    learner.config.run.mkdir(parents=True, exist_ok=True)
    write_atomically(checkpoint_file(learner.config.run), tensor_files.save(tensors, stamp))
    save_network(learner.mean_net, learner.config.run / "model.safetensors", told)


def _tensors(learner: Learner) -> Tensors:
    """All of a learner that changes while it learns, but for what `notes` says."""
    tensors = {
        "games": torch.from_numpy(learner.env.states.view(np.uint8).copy()),
        "rng": torch.from_numpy(learner.rng.view(np.int64).copy()),
        "shuffler": learner.shuffler.get_state(),
    }
    parts = {"net": learner.net.state_dict(), "mean": learner.mean_net.state_dict()}
    parts["extra"] = learner.extras.state_dict()
    parts |= {f"past.{number}": net for number, net in enumerate(learner.past.nets if learner.past else ())}
    parts |= {f"adam.{index}": state for index, state in learner.optimizer.state_dict()["state"].items()}
    for part, found in parts.items():
        tensors |= {f"{part}.{name}": tensor.contiguous().cpu() for name, tensor in found.items()}
    return tensors


def _checksum(tensors: Tensors, head: str) -> str:
    return hashlib.sha256(head.encode() + tensor_files.save(tensors)).hexdigest()


# What a run that goes on has to keep, beside the form of its network.
FIXED = ("seed", "num_envs", "num_steps", "reward", "trust", "values_only", "privileged", "auxiliary")


def check_same(begun: dict[str, Any], config: Config) -> None:
    """Refuse to go on with a setting that a run cannot change on the way.

    Raises:
        ValueError: names the options, and what the run was begun with.
    """
    options = {name: f"--{name.replace('_', '-')}" for name in FIXED}
    if untold := [option for name, option in options.items() if name not in begun]:
        raise ValueError(f"the run in {config.run} does not say with what {', '.join(untold)} it was begun")
    other = [name for name in FIXED if begun[name] != getattr(config, name)]
    if other:
        told = ", ".join(f"{options[name]} {begun[name]}" for name in other)
        raise ValueError(f"the run in {config.run} was begun with {told}, and goes on only so")


def has_begun(run: Path) -> bool:
    """Whether there is a run to go on from; if not, but only because it ended before its first checkpoint, False.

    Raises:
        FileNotFoundError: no run was ever begun there.
    """
    if checkpoint_file(run).exists():
        return True
    if (run / "model.safetensors").exists():
        raise FileNotFoundError(f"there is no checkpoint in {run} to go on from, only a network")
    if not any(run.glob("events.out.tfevents.*")):
        raise FileNotFoundError(f"there is no run in {run} to go on from")
    return False


def load(learner: Learner) -> None:
    """Go on from the checkpoint in the run's folder, and write the network and its card from it anew.

    Raises:
        FileNotFoundError: there is none.
        ValueError: it is damaged, or of a run with other settings.
    """
    run = learner.config.run
    has_begun(run)
    tensors, form, kept = _read(run)
    if form != learner.net.config:
        raise ValueError(f"the network in {run} does not fit this run: {form.differences(learner.net.config)}")
    check_same(kept.get("config", {}), learner.config)
    try:
        _restore(learner, tensors, kept)
    except (KeyError, TypeError, ValueError, RuntimeError, AttributeError, IndexError) as error:
        why = " ".join(str(error).split())[:150]
        raise ValueError(f"{checkpoint_file(run)} is not a checkpoint of such a run: {why}") from None
    save_network(learner.mean_net, run / "model.safetensors", kept)


def _read(run: Path) -> tuple[Tensors, NetworkConfig, dict[str, Any]]:
    """The tensors of a checkpoint, the form of its network and the notes.

    Raises:
        ValueError: it is damaged.
    """
    path = checkpoint_file(run)
    try:
        with safe_open(path, "pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (it is no mapping)
            stamp = file.metadata() or {}
    except SafetensorError as error:
        raise ValueError(f"{path} is damaged: {error}") from None
    if not stamp:
        return _read_three_files(run, tensors)
    if stamp.get("format") != FORMAT:
        raise ValueError(f"{path} is not a checkpoint that this version reads ({FORMAT})")
    head = stamp.get("head", "")
    if stamp.get("checksum") != _checksum(tensors, head):
        raise ValueError(f"{path} is damaged: its checksum does not match")
    try:
        found = json.loads(head)
        form = {field.name: found["form"][field.name] for field in fields(NetworkConfig)}
        return tensors, NetworkConfig(**{**form, "hidden": tuple(form["hidden"])}), dict(found["notes"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"{path} is damaged: {error}") from None


def _read_three_files(run: Path, tensors: Tensors) -> tuple[Tensors, NetworkConfig, dict[str, Any]]:
    """The same of a run of an older version, whose mean network and notes are in the other two files.

    Raises:
        ValueError: the files are not of the same moment.
    """
    net, kept = load_network(run), read_card(run).notes
    taken = {int(step) for name, step in tensors.items() if name.startswith("adam.") and name.endswith(".step")}
    if taken - {kept["gradient_steps"]}:
        raise ValueError(
            f"the files in {run} are of different moments: the card tells of {kept['gradient_steps']} gradient steps, "
            f"the checkpoint of {max(taken)}; it was stopped while it was written and cannot go on"
        )
    return tensors | {f"mean.{name}": tensor for name, tensor in net.state_dict().items()}, net.config, kept


def _restore(learner: Learner, tensors: Tensors, kept: dict[str, Any]) -> None:
    """Put what was kept into the learner."""
    parts: dict[str, Tensors] = {}
    for name, tensor in tensors.items():
        words = name.split(".", 2 if name.startswith(("past.", "adam.")) else 1)
        parts.setdefault(".".join(words[:-1]), {})[words[-1]] = tensor
    learner.net.load_state_dict(parts["net"])
    learner.mean_net.load_state_dict(parts["mean"])
    learner.extras.load_state_dict(parts.get("extra", {}))
    past = sorted((part for part in parts if part.startswith("past.")), key=lambda part: int(part[5:]))
    if learner.past:
        learner.past.nets = [parts[part] for part in past] or learner.past.nets
    states = {int(part[5:]): found for part, found in parts.items() if part.startswith("adam.")}
    learner.optimizer.load_state_dict({**learner.optimizer.state_dict(), "state": states})
    observations, info = learner.env.restore(parts[""]["games"].numpy().view(learner.variant.dtype))
    learner._now = (observations, info["seat"])
    learner.rng[:] = parts[""]["rng"].numpy().view(np.uint64)
    learner.shuffler.set_state(parts[""]["shuffler"])
    learner.steps, learner.updates, learner.games = kept["steps"], kept["updates"], kept["games"]
    learner.gradient_steps = kept["gradient_steps"]
    learner.seconds, learner.curve = kept["seconds"], kept["curve"]
    learner.origin = kept.get("origin", learner.origin)  # its file may have been overwritten since
    before = [(0, kept["command"]), *map(tuple, kept.get("went_on", []))]
    now = (learner.steps, learner.config.command)
    learner.commands = before if before[-1][1] == now[1] else [*before, now]
