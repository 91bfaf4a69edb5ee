"""Agents from elsewhere, named `module.Name`: what they do wrong is told with their name, and changes nothing."""

import importlib
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np

from samurai_env.core.game import Variant
from samurai_env.core.loops import loops_of
from samurai_env.position import IllegalActionError, Position
from samurai_env.texts import one_line, shown


class Guest:
    """An agent that this project did not write, and does not trust to keep to `agents.base.Agent`."""

    def __init__(self, spec: str, variant: Variant) -> None:
        """Import and make it.

        Raises:
            ValueError: there is no such module or name, or it makes no agent.
        """
        name, _, argument = spec.partition(":")
        make = _find(name)
        if not callable(make):
            raise ValueError(f"there is no agent {shown(name)}: it cannot be called with a variant and an argument")
        try:
            self._agent = make(variant, argument)
        except (ValueError, OSError) as error:
            raise ValueError(f"agent {shown(spec)} could not be made: {error}") from error
        except Exception as error:
            raise ValueError(f"agent {shown(spec)} could not be made:\n{_told(error)}") from error
        if not callable(getattr(self._agent, "act", None)):
            raise ValueError(f"{shown(spec)} makes no agent: what it gives has no method act(states, keys)")
        self._spec, self._variant = spec, variant
        self._words = np.zeros(variant.num_words, np.uint64)

    def act(self, states: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """See `agents.base.Agent.act`; it is shown copies.

        Raises:
            ValueError: it failed, or gave something other than one whole number a game.
            IllegalActionError: it chose an illegal action.
        """
        try:
            actions = np.asarray(self._agent.act(states.copy(), keys.copy()))
        except Exception as error:
            raise ValueError(f"agent {self._spec!r} failed:\n{_told(error)}") from error
        if actions.shape != states.shape or actions.dtype.kind not in "iu":
            wanted = f"{len(states)} whole numbers, an array of shape {states.shape}"
            raise ValueError(f"agent {self._spec!r} gave {actions.dtype} of shape {actions.shape}, not {wanted}")
        actions = actions.astype(np.int64)
        free = np.zeros(len(states), np.bool_)
        wrong = loops_of(self._variant.game).first_illegal(states, actions, free, self._words)
        if wrong >= 0:
            position = Position(self._variant)
            position.states[:] = states[wrong]
            try:
                position.step(int(actions[wrong]))
            except IllegalActionError as error:
                where = f"game with seed {position.seed}, decision {position.steps}"
                raise IllegalActionError(f"agent {self._spec!r} in the {where}: {error}") from None
        return actions


def _find(name: str) -> Callable[..., Any]:
    """What `module.Name` names."""
    module, _, attribute = name.rpartition(".")
    try:
        return getattr(importlib.import_module(module), attribute)
    except ModuleNotFoundError as error:
        if error.name and (module == error.name or module.startswith(f"{error.name}.")):
            raise ValueError(f"there is no agent {shown(name)}: {one_line(error, 150)}") from error
        raise ValueError(f"module {shown(module)} could not be imported:\n{_told(error)}") from error
    except AttributeError as error:
        raise ValueError(f"there is no agent {shown(name)}: {one_line(error, 150)}") from error
    except Exception as error:
        raise ValueError(f"module {shown(module)} could not be imported:\n{_told(error)}") from error


def _told(error: Exception) -> str:
    """The traceback, without the line of this file with which it begins."""
    inner = error.__traceback__.tb_next if error.__traceback__ else None
    return "".join(traceback.format_exception(type(error), error, inner)).rstrip()
