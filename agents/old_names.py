"""Names that older versions wrote into files, and what they are now: specs, networks, settings of training.

Readers of files take both; the command line refuses the old ones and names the new.
"""

import re
from collections.abc import Mapping
from typing import Any

AGENTS = {"counsel": "lookahead", "flat": "flat_mc", "playouts": "rollout", "search": "puct", "self": "puct"}
AGENT_SETTINGS = {
    "exploration": "c_puct",
    "temperature": "prior_temperature",
    "depth": "rollout_depth",
    "greedy": "rollout_greedy",
    "tree": "tree_depth",
    "worlds": "determinizations",
    "together": "batch_size",
    "mix": "rollout_weight",
    "margin": "potential_weight",
}
SEARCHES = {"mcts", "flat_mc", "rollout", "puct"}

CARD_FORMAT = "samurai_env network 2"  # has the names of `CARD` and `TENSORS`
CARD = {
    "advised": "heuristic_prior",
    "outlook": "action_width",
    "shared": "entity_width",
    "spatial": "spatial_width",
}
TENSORS = {
    "trust": "prior_weight",
    "temperature": "prior_temperature",
    "shared.known.": "entities.context.",
    "shared.": "entities.",
    "outlook.pace": "actions.scale",
    "outlook.known.": "actions.context.",
    "outlook.": "actions.",
    "spatial.read.": "spatial.embed.",
    "spatial.place": "spatial.position",
}
TRAINING = CARD | {
    "averaging": "ema_decay",
    "clip": "clip_coef",
    "entropy": "ent_coef",
    "epochs": "update_epochs",
    "evaluate_deals": "eval_deals",
    "evaluate_every": "eval_every",
    "initial": "init_from",
    "minibatch": "minibatch_size",
    "opponents": "eval_opponents",  # an evaluation's; those of training were `rivals`
    "rival_share": "opponent_share",
    "rivals": "opponents",
    "teacher": "expert",
    "teacher_steps": "imitation_steps",
    "total_steps": "total_timesteps",
    "trust": "prior_weight",
    "value_weight": "vf_coef",
}
REMOVED = {"privileged": False, "auxiliary": 0.0}  # settings of training, when off; commit 1e132cb has them


def current_spec(spec: str) -> str:
    """The spec of an agent as it is written now; one that is written so already is returned as it is."""
    head, *items = re.split(r",(?=\w+=)", spec)
    old, colon, argument = head.partition(":")
    name = AGENTS.get(old, old)
    if name in SEARCHES:
        for old_key, key in AGENT_SETTINGS.items():
            items = [re.sub(rf"^{old_key}=", f"{key}=", item) for item in items]
    if old == "search":
        path, _, argument = argument.rpartition(":")
        items = [f"net={path}", *items]
    elif old == "self":
        items = ["net=self", *items]
    return ",".join([name + colon + argument, *items])


def current_tensor(name: str) -> str:
    """The name of a network's tensor."""
    for old, new in TENSORS.items():
        if name == old or (old.endswith(".") and name.startswith(old)):
            return new + name[len(old) :]
    return name


def current_card(found: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a card of `CARD_FORMAT`."""
    return {CARD.get(name, name): value for name, value in found.items()}


def current_settings(saved: Mapping[str, Any]) -> dict[str, Any]:
    """Saved settings of training."""
    renamed = dict(TRAINING)
    if "eval_opponents" in saved:
        del renamed["opponents"]
    return {renamed.get(name, name): value for name, value in saved.items()}
