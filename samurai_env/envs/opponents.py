"""Opponents of one learner: named, made from an agent's spec, agents or callables."""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from samurai_env.agent_api import Agent
from samurai_env.core.game import Variant
from samurai_env.core.texts import shown

COMPILED = ("random", "greedy")  # played by compiled code of the environments


# A callable takes what the seat sees, {"observation", "action_mask"}: of one game in `GameEnv`, where it returns an
# action, of several in `LearnerVectorEnv`, where it returns an array of actions.
Opponent = str | Agent | Callable[[dict[str, np.ndarray]], Any]


class Player(NamedTuple):
    """Who plays a seat: one of `compiled`, `act` and `choose` is set.

    Attributes:
        name: for errors.
        compiled: "random" or "greedy".
        act: an agent's `act`.
        choose: a callable from observations.
    """

    name: str
    compiled: str | None = None
    act: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None
    choose: Callable[[dict[str, np.ndarray]], Any] | None = None


def players_of(variant: Variant, opponents: Opponent | Sequence[Opponent]) -> list[Player]:
    """The player of each other seat, clockwise from the learner's; equal opponents are the same player.

    Args:
        variant: the game that they play.
        opponents: one for all other seats, or a sequence with one for each.

    Raises:
        FileNotFoundError: a spec names a file that is not there.
        ValueError: a wrong number, a spec that names no agent, or something that is no opponent.
    """
    others = variant.num_players - 1
    if isinstance(opponents, str) or callable(opponents) or hasattr(opponents, "act"):
        opponents = [opponents] * others
    if not isinstance(opponents, Sequence):
        raise ValueError(
            f"opponents must be a name, an agent, a callable or a sequence of these, not {shown(opponents)}"
        )
    if len(opponents) != others:
        needed = f"{others} opponent{'s' * (others != 1)}"
        raise ValueError(f"{variant.spec} needs {needed}, not {len(opponents)}")
    made: dict[Any, Player] = {}
    for opponent in opponents:
        key = opponent if isinstance(opponent, str) else id(opponent)
        if key not in made:
            made[key] = _player(variant, opponent)
    return [made[opponent if isinstance(opponent, str) else id(opponent)] for opponent in opponents]


def _player(variant: Variant, opponent: Opponent) -> Player:
    if isinstance(opponent, str):
        if opponent in COMPILED:
            return Player(opponent, compiled=opponent)
        return Player(opponent, act=_make_agent(opponent, variant).act)
    name = getattr(opponent, "__name__", type(opponent).__name__)
    if callable(act := getattr(opponent, "act", None)):
        return Player(name, act=act)
    if callable(opponent):
        return Player(name, choose=opponent)
    raise ValueError(
        f"an opponent is {', '.join(COMPILED)}, an agent's spec such as 'mcts:100', an agent or a callable, "
        f"not {shown(opponent)}"
    )


def _make_agent(spec: str, variant: Variant) -> Agent:
    """The agent of a spec. The library does without agents, so they are looked for when one is named."""
    return import_module("samurai_env.agents").make_agent(spec, variant)
