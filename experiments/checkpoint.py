"""The files of a training run: the network with its card, and the checkpoint from which a run goes on exactly."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file, save_file

from agents.networks import load_network, save_network, write_atomically
from experiments.common import commit, cpu_name
from experiments.ppo_config import Config
from experiments.ppo_learner import Learner
from samurai_env import __version__


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


def save(learner: Learner) -> None:
    """Write the network and all that resuming needs."""
    run = learner.config.run
    save_network(learner.mean_net, run / "model.safetensors", notes(learner))
    tensors = {
        "games": torch.from_numpy(learner.env.states.view(np.uint8).copy()),
        "rng": torch.from_numpy(learner.rng.view(np.int64).copy()),
        "shuffler": learner.shuffler.get_state(),
    }
    tensors |= {f"net.{name}": tensor.contiguous() for name, tensor in learner.net.state_dict().items()}
    tensors |= {f"extra.{name}": tensor.contiguous() for name, tensor in learner.extras.state_dict().items()}
    if learner.past:
        for number, net in enumerate(learner.past.nets):
            tensors |= {f"past.{number}.{name}": tensor for name, tensor in net.items()}
    for index, state in learner.optimizer.state_dict()["state"].items():
        for name, value in state.items():
            tensors[f"adam.{index}.{name}"] = value
    write_atomically(run / "checkpoint.safetensors", lambda path: save_file(tensors, path))


# What a run that goes on has to keep, beside the form of its network.
FIXED = ("seed", "num_envs", "num_steps", "reward", "trust", "values_only", "privileged", "auxiliary")


def check_same(begun: dict[str, Any], config: Config) -> None:
    """Refuse to go on with a setting that a run cannot change on the way.

    Raises:
        ValueError: names the options, and what the run was begun with.
    """
    other = [name for name in FIXED if begun[name] != getattr(config, name)]
    if other:
        told = ", ".join(f"--{name.replace('_', '-')} {begun[name]}" for name in other)
        raise ValueError(f"the run in {config.run} was begun with {told}, and goes on only so")


def load(learner: Learner) -> None:
    """Go on from the files that `save` wrote.

    Raises:
        FileNotFoundError: there are none.
        ValueError: they are damaged, or of a run with other settings.
    """
    run = learner.config.run
    net = load_network(run / "model.safetensors")
    if net.form != learner.net.form:
        raise ValueError(f"the network in {run} does not fit this run: {net.form.differences(learner.net.form)}")
    kept = json.loads((run / "model.json").read_text(encoding="utf-8"))["notes"]
    if not (run / "checkpoint.safetensors").exists():
        raise FileNotFoundError(f"there is no checkpoint in {run} to go on from")
    check_same(kept["config"], learner.config)
    learner.mean_net.load_state_dict(net.state_dict())
    try:
        tensors = load_file(run / "checkpoint.safetensors")
    except Exception as error:
        raise ValueError(f"{run / 'checkpoint.safetensors'} is damaged: {error}") from None
    weights = {name.removeprefix("net."): value for name, value in tensors.items() if name.startswith("net.")}
    missing = ({"games", "rng", "shuffler"} - set(tensors)) | (set(learner.net.state_dict()) - set(weights))
    if missing:
        raise ValueError(f"{run / 'checkpoint.safetensors'} is not a checkpoint: it lacks {', '.join(sorted(missing))}")
    learner.net.load_state_dict(weights)
    extras = {name.removeprefix("extra."): value for name, value in tensors.items() if name.startswith("extra.")}
    learner.extras.load_state_dict(extras)
    past: dict[int, dict[str, torch.Tensor]] = {}
    for name, value in tensors.items():
        if name.startswith("past."):
            _, number, key = name.split(".", 2)
            past.setdefault(int(number), {})[key] = value
    if learner.past:
        learner.past.nets = [past[number] for number in sorted(past)] or learner.past.nets
    games = tensors["games"].numpy().view(learner.variant.dtype)
    observations, info = learner.env.restore(games)
    learner._now = (observations, info["seat"])
    learner.rng[:] = tensors["rng"].numpy().view(np.uint64)
    learner.shuffler.set_state(tensors["shuffler"])
    state: dict[int, dict[str, torch.Tensor]] = {}
    for name, value in tensors.items():
        if name.startswith("adam."):
            _, index, key = name.split(".")
            state.setdefault(int(index), {})[key] = value
    learner.optimizer.load_state_dict({**learner.optimizer.state_dict(), "state": state})
    learner.steps, learner.updates, learner.games = kept["steps"], kept["updates"], kept["games"]
    learner.gradient_steps = kept["gradient_steps"]
    learner.seconds, learner.curve = kept["seconds"], kept["curve"]
    learner.origin = kept.get("origin", learner.origin)  # its file may have been overwritten since
    before = [(0, kept["command"]), *map(tuple, kept.get("went_on", []))]
    now = (learner.steps, learner.config.command)
    learner.commands = before if before[-1][1] == now[1] else [*before, now]
