"""External agents, named `module.Name`: their errors are reported with their name and change nothing."""

import importlib
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np

from samurai_env.core.checks import checked_games, checked_integers, checked_keys
from samurai_env.core.game import Variant
from samurai_env.core.texts import one_line, shown
from samurai_env.game_batch import GameBatch
from samurai_env.position import IllegalActionError


class ExternalAgent:
    """An agent of another project, which is not trusted to keep to `samurai_env.agent_api.Agent`."""

    def __init__(self, spec: str, variant: Variant) -> None:
        """Import and make it.

        Raises:
            ValueError: there is no such module or name, it makes no agent, or settings without a colon before them.
        """
        name, _, argument = spec.partition(":")
        if "," in name:
            module, _, settings = name.partition(",")
            raise ValueError(f"{shown(module)} takes its settings after a colon: {shown(f'{module}:{settings}')}")
        make = _find(name)
        if not callable(make):
            raise ValueError(f"there is no agent {shown(name)}: it cannot be called with a variant and an argument")
        try:
            self._agent = make(variant, argument)
        except (ValueError, OSError) as error:
            raise ValueError(f"agent {shown(spec)} could not be made: {error}") from error
        except Exception as error:
            raise ValueError(f"agent {shown(spec)} could not be made:\n{_traceback(error)}") from error
        if not callable(getattr(self._agent, "act", None)):
            raise ValueError(f"{shown(spec)} makes no agent: what it gives has no method act(states, keys)")
        self._spec, self._variant = spec, variant
        self._batch = GameBatch(variant)

    def act(self, states: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """See `samurai_env.agent_api.Agent.act`; it receives copies.

        Raises:
            ValueError: it failed, or gave something other than one whole number a game.
            IllegalActionError: it chose an illegal action.
        """
        states = checked_games(states, self._variant.dtype)
        keys = checked_keys(keys, len(states))
        try:
            given = self._agent.act(states.copy(), keys.copy())
        except Exception as error:
            raise ValueError(f"agent {self._spec!r} failed:\n{_traceback(error)}") from error
        actions = checked_integers(f"actions of agent {self._spec!r}", given, states.shape)
        wrong = self._batch.first_illegal(states, actions)
        if wrong >= 0:
            where = f"game with seed {states['seed'][wrong]}, decision {states['steps'][wrong]}"
            why = self._batch.why_illegal(states[wrong], actions[wrong])
            raise IllegalActionError(f"agent {self._spec!r} in the {where}: {why}")
        return actions


def _find(name: str) -> Callable[..., Any]:
    """Import the object that `module.Name` names."""
    module, _, attribute = name.rpartition(".")
    try:
        return getattr(importlib.import_module(module), attribute)
    except ModuleNotFoundError as error:
        if error.name and (module == error.name or module.startswith(f"{error.name}.")):
            hint = "; PYTHONPATH says where modules are looked for"
            raise ValueError(f"there is no agent {shown(name)}: {one_line(error, 150)}{hint}") from error
        raise ValueError(f"module {shown(module)} could not be imported:\n{_traceback(error)}") from error
    except AttributeError as error:
        raise ValueError(f"there is no agent {shown(name)}: {one_line(error, 150)}") from error
    except Exception as error:
        raise ValueError(f"module {shown(module)} could not be imported:\n{_traceback(error)}") from error


def _traceback(error: Exception) -> str:
    """The traceback, without the line of this file with which it begins."""
    inner = error.__traceback__.tb_next if error.__traceback__ else None
    return "".join(traceback.format_exception(type(error), error, inner)).rstrip()
