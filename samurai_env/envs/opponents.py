"""Opponents of one learner: named, made from an agent's spec, agents or callables."""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, NamedTuple, Protocol

import numpy as np

from samurai_env.core.game import Variant
from samurai_env.core.rng import STEP, mix
from samurai_env.core.texts import shown

READY = ("random", "greedy")  # played by compiled code of the environments
OPPONENTS_STREAM = np.uint64(0x6F70706F6E656E74)  # keeps the ready opponents' random numbers apart from the game's
AGENTS_STREAM = np.uint64(0x6167656E74730000)  # and the agents' apart from both


class Agent(Protocol):
    """The interface of an agent, as in `agents.api`."""

    def act(self, states: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """Choose a legal action for the seat to move in each of several games."""
        ...


# A callable takes what the seat sees, {"observation", "action_mask"}: of one game in `GameEnv`, where it returns an
# action, of several in `LearnerVectorEnv`, where it returns an array of actions.
Opponent = str | Agent | Callable[[dict[str, np.ndarray]], Any]


class Player(NamedTuple):
    """Who plays a seat: one of `ready`, `act` and `choose` is set.

    Attributes:
        name: for errors.
        ready: "random" or "greedy".
        act: an agent's `act`.
        choose: a callable from observations.
    """

    name: str
    ready: str | None = None
    act: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None
    choose: Callable[[dict[str, np.ndarray]], Any] | None = None


def players_of(variant: Variant, opponents: Opponent | Sequence[Opponent]) -> list[Player]:
    """The player of each other seat, clockwise from the learner's; equal opponents are the same player.

    Args:
        variant: the game that they play.
        opponents: one for all other seats, or a sequence with one for each.

    Raises:
        ValueError: a wrong number, a spec that names no agent, or something that is no opponent.
    """
    others = variant.num_players - 1
    if isinstance(opponents, str) or callable(opponents) or hasattr(opponents, "act"):
        opponents = [opponents] * others
    if not isinstance(opponents, Sequence):
        raise ValueError(f"opponents are a name, an agent, a callable or a sequence of these, not {shown(opponents)}")
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
        if opponent in READY:
            return Player(opponent, ready=opponent)
        return Player(opponent, act=_make_agent(opponent, variant).act)
    name = getattr(opponent, "__name__", type(opponent).__name__)
    if callable(act := getattr(opponent, "act", None)):
        return Player(name, act=act)
    if callable(opponent):
        return Player(name, choose=opponent)
    raise ValueError(
        f"an opponent is {', '.join(READY)}, an agent's spec such as 'mcts:100', an agent or a callable, "
        f"not {shown(opponent)}"
    )


def _make_agent(spec: str, variant: Variant) -> Agent:
    """The agent of a spec. The library does without agents, so they are looked for when one is named."""
    return import_module("samurai_env.agents").make_agent(spec, variant)


def decision_keys(states: np.ndarray) -> np.ndarray:
    """The key of each agent's decision, uint64 (games,): a function of deal and step, whatever is played beside it."""
    scramble = mix.py_func  # on arrays
    return scramble(scramble(states["seed"] ^ AGENTS_STREAM) + states["steps"].astype(np.uint64) * STEP)
