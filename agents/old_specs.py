"""Spellings of agent specs in older results files."""

import re

NAMES = {"counsel": "lookahead", "flat": "flat_mc", "playouts": "rollout", "search": "puct", "self": "puct"}
SETTINGS = {
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
_SEARCHES = {"mcts", "flat_mc", "rollout", "puct"}


def current_spelling(spec: str) -> str:
    """The spec as it is written now; one that is written so already is returned as it is."""
    head, *items = re.split(r",(?=\w+=)", spec)
    old, colon, argument = head.partition(":")
    name = NAMES.get(old, old)
    if name in _SEARCHES:
        for old_key, key in SETTINGS.items():
            items = [re.sub(rf"^{old_key}=", f"{key}=", item) for item in items]
    if old == "search":
        path, _, argument = argument.rpartition(":")
        items = [f"net={path}", *items]
    elif old == "self":
        items = ["net=self", *items]
    return ",".join([name + colon + argument, *items])
