"""The state of a PPO learner as named tensors, from which it continues exactly."""

from collections.abc import Mapping

import numpy as np
import torch

from experiments.training.ppo import PPO
from samurai_env.core.texts import shown


def state_dict(ppo: PPO) -> dict[str, torch.Tensor]:
    """All tensors of the training state, by name; `load_state_dict` takes them with the counters."""
    nets = {"net": ppo.net.state_dict(), "mean": ppo.mean_net.state_dict()}
    if ppo.opponents and ppo.opponents.past:
        nets |= {f"past.{number}": net for number, net in enumerate(ppo.opponents.past.nets)}
    nets |= {f"adam.{index}": state for index, state in ppo.optimizer.state_dict()["state"].items()}
    return {f"{part}.{name}": tensor for part, found in nets.items() for name, tensor in found.items()} | {
        "games": torch.from_numpy(ppo.env.states.view(np.uint8).copy()),
        "rng": torch.from_numpy(ppo.rng.view(np.int64).copy()),
        "shuffler": ppo.shuffler.get_state(),
    }


def load_state_dict(ppo: PPO, state: Mapping[str, torch.Tensor], counters: Mapping[str, int]) -> None:
    """Continue exactly from a state.

    Args:
        ppo: a learner with the same settings.
        state: what `state_dict` returned.
        counters: steps, updates, games and gradient_steps.

    Raises:
        KeyError: a counter is missing.
        RuntimeError: impossible state of the shuffler; nothing has changed then.
        ValueError: a tensor is missing or does not fit, or the games do not; no network has changed then.
    """
    _check_tensors(ppo, state)
    ppo.shuffler.set_state(state["shuffler"])
    ppo.next_obs, info = ppo.env.restore(state["games"].numpy().view(ppo.variant.dtype))
    ppo.next_seats = info["seat"]
    parts: dict[str, dict[str, torch.Tensor]] = {}
    for name, tensor in state.items():
        words = name.split(".", 2 if name.startswith(("past.", "adam.")) else 1)
        parts.setdefault(".".join(words[:-1]), {})[words[-1]] = tensor
    ppo.net.load_state_dict(parts["net"])
    ppo.mean_net.load_state_dict(parts["mean"])
    if ppo.opponents and ppo.opponents.past:
        past = {int(part[5:]): net for part, net in parts.items() if part.startswith("past.")}
        ppo.opponents.past.nets = [past[number] for number in sorted(past)]
        if not past:  # the run had no such opponent before
            ppo.opponents.past.remember(ppo.mean_net)
    adam = {int(part[5:]): found for part, found in parts.items() if part.startswith("adam.")}
    ppo.optimizer.load_state_dict({**ppo.optimizer.state_dict(), "state": adam})
    ppo.rng[:] = state["rng"].numpy().view(np.uint64)
    ppo.steps, ppo.updates, ppo.games = (counters[name] for name in ("steps", "updates", "games"))
    ppo.ema.n_averaged.fill_(1 + counters["gradient_steps"])


def _check_tensors(ppo: PPO, state: Mapping[str, torch.Tensor]) -> None:
    """Refuse tensors that are missing, unknown, or of another type or shape than here."""
    known = {name: tensor for name, tensor in state_dict(ppo).items() if not name.startswith(("adam.", "past."))}
    if missing := known.keys() - state.keys():
        raise ValueError(f"there is no tensor {min(missing)}")
    weights = [weight for group in ppo.optimizer.param_groups for weight in group["params"]]
    for number, weight in enumerate(weights):
        moments = {f"adam.{number}.{name}": weight for name in ("exp_avg", "exp_avg_sq")}
        moments[f"adam.{number}.step"] = torch.zeros(())
        if not moments.keys().isdisjoint(state) and (missing := moments.keys() - state.keys()):
            raise ValueError(f"there is no tensor {min(missing)}")
        known |= moments
    net, past = ppo.net.state_dict(), {name.split(".", 2)[1] for name in state if name.startswith("past.")}
    for part in past:
        if not (part.isascii() and part.isdecimal()):
            raise ValueError(f"there is no past network {shown(part)}")
        known |= {f"past.{part}.{name}": tensor for name, tensor in net.items()}
    if missing := known.keys() - state.keys() - {name for name in known if name.startswith("adam.")}:
        raise ValueError(f"there is no tensor {min(missing)}")
    for name, tensor in state.items():
        if name not in known:
            raise ValueError(f"there is a tensor {shown(name)}, which no run has")
        right = known[name]
        if (tensor.dtype, tensor.shape) != (right.dtype, right.shape):
            here, there = f"{tensor.dtype} {shown([*tensor.shape])}", f"{right.dtype} {[*right.shape]}"
            raise ValueError(f"the tensor {name} is {here}, not {there}")
