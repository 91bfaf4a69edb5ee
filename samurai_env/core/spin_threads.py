"""Threads that each step a part of a batch, and spin until the next step.

A step of some thousand games takes some 100 microseconds, and waking a sleeping thread tens of them. So a worker spins
for a while before it sleeps.
"""

import os
import platform
import threading
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from samurai_env.core.jit import jit

LOOKS = 10_000  # looks at the turn while a thread spins: some 200 microseconds
X86 = platform.machine().lower() in ("x86_64", "amd64")
LINE = 8  # int64 in a cache line: numbers that different threads write lie in different lines

# Lets a thread that waits for the same processor go first.
give_way: Callable[[], None] = getattr(os, "sched_yield", lambda: time.sleep(0))

batch_step: Any = None  # put in by `bind`


@intrinsic
def load(typing_context: Any, array: Any) -> Any:
    """The first entry of an int64 array as it is now; what was written before it was stored can be seen, too."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.load_atomic(data, "acquire", 8)

    return types.int64(array), generate


@intrinsic
def store(typing_context: Any, array: Any, value: Any) -> Any:
    """Set the first entry of an int64 array for other threads to `load`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        builder.store_atomic(arguments[1], data, "release", 8)
        return context.get_dummy_value()

    return types.void(array, types.int64), generate


@intrinsic
def pause(typing_context: Any) -> Any:
    """Leave the processor's core to the other thread on it for a moment, where there is an instruction for that."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if X86:
            kind = ir.FunctionType(ir.VoidType(), [])
            builder.call(cgutils.get_or_insert_function(builder.module, kind, "llvm.x86.sse2.pause"), [])
        return context.get_dummy_value()

    return types.void(), generate


@jit
def announce(number, turn):
    """Let other threads know of a turn."""
    store(number, turn)


@jit
def came(number, turn):
    """Spin until `turn` is announced, for `LOOKS` looks at most; whether it was."""
    for _ in range(LOOKS):
        if load(number) >= turn:
            return True
        pause()
    return False


def keep_stepping(called, done, count, *job):
    """Step a part of a batch as often as it is called; returns when it has spun for a call in vain.

    Args:
        called: int64 (8,), in: how often there was a call.
        done: int64 (8,), out: how many of them have been answered.
        count: int64 (8,), out: what the last step returned.
        job: arguments of `batch_step`.
    """
    turn = done[0]
    while came(called, turn + 1):
        count[0] = batch_step(*job)
        turn += 1
        store(done, turn)


def _line() -> np.ndarray:
    return np.zeros(LINE, np.int64)


@dataclass
class _Signals:
    """State shared by a worker thread and its caller."""

    called: np.ndarray = field(default_factory=_line)
    done: np.ndarray = field(default_factory=_line)
    count: np.ndarray = field(default_factory=_line)
    asleep: bool = True
    stopped: bool = False
    wake: threading.Event = field(default_factory=threading.Event)

    def stop(self) -> None:
        """Let the thread end."""
        self.stopped = True
        self.wake.set()


def _serve(signals: _Signals, keep: Callable[..., None], job: tuple[Any, ...]) -> None:
    """Run a worker thread: it steps and spins in compiled code, and sleeps here."""
    while not signals.stopped:
        signals.asleep = True
        if signals.called[0] == signals.done[0]:
            signals.wake.wait()
        signals.wake.clear()
        signals.asleep = False
        keep(signals.called, signals.done, signals.count, *job)


class Worker:
    """A thread that steps one part of a batch whenever it is called.

    Args:
        keep: `keep_stepping`, bound to a game and an encoding.
        job: the arguments of `batch_step` for the part.
    """

    def __init__(self, keep: Callable[..., None], job: tuple[Any, ...]) -> None:
        self._signals, self._turn = _Signals(), 0
        self._thread = threading.Thread(target=_serve, args=(self._signals, keep, job), daemon=True)
        self._thread.start()
        self.stop = weakref.finalize(self, self._signals.stop)

    def start(self) -> None:
        """Call for a step; the one before must have been waited for.

        Raises:
            RuntimeError: the thread has ended, as after `stop` or in the child of a fork.
        """
        self._check()
        self._turn += 1
        self._call()

    def result(self) -> int:
        """Wait for the step called for; what `batch_step` returned.

        Raises:
            RuntimeError: as `start`.
        """
        while not came(self._signals.done, self._turn):
            self._check()
            self._call()  # once more, in case that `start` was interrupted
            give_way()
        return int(self._signals.count[0])

    def _call(self) -> None:
        announce(self._signals.called, self._turn)
        # `_serve` says that it sleeps and then looks for a call; here it is the other way round, so that with the GIL
        # one of the two sees the other.
        if self._signals.asleep:
            self._signals.wake.set()

    def _check(self) -> None:
        if not self._thread.is_alive():
            raise RuntimeError("a thread of the environment has ended (close, or a fork): make a new environment")
