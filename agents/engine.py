"""Agents in any language: a program reads requests and writes answers, a line of JSON each (docs/guides/engines.md).

    exec:./my_engine                      # started once, asked for each decision
    exec:python my_engine.py,seconds=2    # at most two seconds a decision

The program gets only what the seat to move may know (`Position.to_dict`) and a number to take its randomness from.
"""

import hashlib
import json
import os
import queue
import shlex
import signal
import subprocess
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Any

import numpy as np

from agents.spec import AgentSpec
from samurai_env.core.checks import checked_games, checked_keys, is_integer
from samurai_env.core.game import Variant
from samurai_env.core.texts import one_line, shown
from samurai_env.position import IllegalActionError, Position
from samurai_env.state_dict import json_schema

PROTOCOL = 1
MAX_LINE = 1_000_000  # characters of an answer
_LAST_WORDS = 20  # lines of stderr that are kept for error texts
_WAITING = 4  # lines that are read before they are asked for; then a program that writes more has to wait
_HINT = "as in exec:./my_engine or exec:python my_engine.py,seconds=2"


class EngineError(ValueError):
    """An engine that does not start, dies, hangs or answers nonsense; one line says which."""


@dataclass(frozen=True)
class EngineConfig:
    """The command that starts an engine, and its time limit.

    Attributes:
        command: the program and its arguments.
        seconds: the longest time a decision, also for the first answer after the start.
    """

    command: tuple[str, ...]
    seconds: float = 10.0


def read_engine_config(spec: AgentSpec) -> EngineConfig:
    """Read `exec:COMMAND[,seconds=SECONDS]`.

    Raises:
        ValueError: no command, an unknown setting, or a time that is none.
    """
    try:
        command = tuple(shlex.split(spec.argument))
    except ValueError as error:
        raise ValueError(f"exec takes a command, {_HINT}; {shown(spec.argument)} cannot be read: {error}") from None
    if not command:
        raise ValueError(f"exec takes a command, {_HINT}")
    for key in spec.settings:
        if key != "seconds":
            raise ValueError(f"exec has no setting {shown(key)}; it has seconds")
    text = spec.settings.get("seconds", str(EngineConfig.seconds))
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0.01 <= seconds <= 86_400:
        raise ValueError(f"seconds of exec must be a time from 0.01 to 86400, not {shown(text)}")
    return EngineConfig(command, seconds)


class EngineAgent:
    """An agent that asks another program.

    The program is started at the first decision and ends when its standard input is closed.

    Attributes:
        waited: seconds spent on waiting for answers: what its decisions took, of which this process's own processor
            time knows nothing.
    """

    def __init__(self, variant: Variant, config: EngineConfig) -> None:
        self._variant, self._config = variant, config
        self._name = "exec:" + shlex.join(config.command)
        self._process: _Process | None = None
        self._end: Callable[[], object] = lambda: None  # ends the process, at the latest with this object
        self._requests = 0
        self.waited = 0.0
        self._ids = {name: action for action, name in enumerate(variant.action_names)}

    def act(self, states: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """See `samurai_env.agent_api.Agent.act`; games are asked about one after another.

        Raises:
            EngineError: the program does not start, dies, takes too long or gives no answer that can be read.
            IllegalActionError: it chose an illegal action.
        """
        states = checked_games(states, self._variant.dtype)
        keys = checked_keys(keys, len(states))
        position = Position(self._variant)
        actions = np.empty(len(states), np.int64)
        for game, key in enumerate(keys.tolist()):
            position.states[0] = states[game]
            actions[game] = self._ask(position, key)
        return actions

    def close(self) -> None:
        """End the program; the next decision starts it again."""
        if self._process is not None:
            self._end()
            self._process = None

    def _ask(self, position: Position, key: int) -> int:
        self._requests += 1
        request = {
            "type": "act",
            "id": self._requests,
            "random": _hashed(key),
            "state": position.to_dict(position.seat),
        }
        answer = self._exchange(request)
        if answer.get("id") != self._requests:
            raise self._failed(f"answered request {shown(answer.get('id'))} when asked for {self._requests}")
        action: Any = answer.get("action")
        if isinstance(action, str) and action in self._ids:
            action = self._ids[action]
        if not is_integer(action):
            raise self._failed(f"gave no action: 'action' is {shown(action)}, neither an action's name nor its id")
        try:
            position.step(int(action))
        except IllegalActionError as error:
            self.close()
            raise IllegalActionError(one_line(f"engine {shown(self._name)}: {error}")) from None
        return int(action)

    def _exchange(self, request: dict[str, Any]) -> dict[str, Any]:
        """Send a line and read the answer."""
        if self._process is None or not self._process.is_of_this_process():
            self._process = self._start()
        return self._read(self._process, request)

    def _start(self) -> "_Process":
        try:
            process = _Process(self._config.command)
        except (OSError, ValueError) as error:
            raise EngineError(one_line(f"engine {shown(self._name)} could not be started: {error}")) from None
        self._process, self._end = process, weakref.finalize(self, process.end)
        hello = self._read(
            process,
            {
                "type": "hello",
                "protocol": PROTOCOL,
                "variant": self._variant.spec,
                "num_players": self._variant.num_players,
                "actions": list(self._variant.action_names),
                "seconds": self._config.seconds,
                "schema": json_schema(self._variant),
            },
        )
        if hello.get("type") != "hello" or hello.get("protocol") != PROTOCOL:
            raise self._failed(f'answered {shown(hello)} to hello, not {{"type": "hello", "protocol": {PROTOCOL}}}')
        return process

    def _read(self, process: "_Process", request: dict[str, Any]) -> dict[str, Any]:
        started = time.perf_counter()
        try:
            line = process.ask(json.dumps(request, separators=(",", ":")), self._config.seconds)
        except KeyboardInterrupt:
            self.close()  # its answer would be taken for that to the next question
            raise
        except TimeoutError:
            raise self._failed(f"gave no answer within {self._config.seconds:g} s") from None
        except EOFError:
            raise self._failed(f"ended with status {process.status()}{process.last_words()}") from None
        finally:
            self.waited += time.perf_counter() - started
        if len(line) >= MAX_LINE:
            raise self._failed(f"wrote a line of more than {MAX_LINE:,} characters")
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            raise self._failed(f"wrote a line that is not JSON: {shown(line.strip())}") from None
        if not isinstance(answer, dict):
            raise self._failed(f"wrote {shown(answer)}, not an object")
        return answer

    def _failed(self, reason: str) -> EngineError:
        """Stop the program and make the error that says why."""
        self.close()
        return EngineError(one_line(f"engine {shown(self._name)} {reason}"))


def _hashed(key: int) -> int:
    """53 bits of a hash of the key, exact in every JSON reader; the key itself gives the seed of the deal away."""
    return int.from_bytes(hashlib.blake2b(key.to_bytes(8, "little"), digest_size=8).digest(), "little") >> 11


class _Process:
    """A running program: lines in, lines out, with a time limit."""

    def __init__(self, command: tuple[str, ...]) -> None:
        self._pid = os.getpid()
        self._popen = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
        )
        self._ended = False
        self._lines: queue.Queue[bytes] = queue.Queue(_WAITING)
        self._stderr: list[str] = []
        stdout, stderr = self._popen.stdout, self._popen.stderr
        assert stdout is not None
        assert stderr is not None
        self._reader = threading.Thread(target=self._collect_lines, args=(stdout,), daemon=True)
        self._reader.start()
        self._listener = threading.Thread(target=self._collect_words, args=(stderr,), daemon=True)
        self._listener.start()

    def is_of_this_process(self) -> bool:
        """Whether it was started here, not before a fork."""
        return self._pid == os.getpid()

    def ask(self, line: str, seconds: float) -> str:
        """Send a line, return the answer.

        Raises:
            EOFError: the program has ended.
            TimeoutError: no line came in time.
        """
        assert self._popen.stdin is not None
        try:
            self._popen.stdin.write(line.encode() + b"\n")
            self._popen.stdin.flush()
        except OSError:
            raise EOFError from None
        try:
            answer = self._lines.get(timeout=seconds)
        except queue.Empty:
            raise TimeoutError from None
        if not answer:
            raise EOFError
        return answer.decode("utf-8", "replace")

    def status(self) -> int | None:
        """The exit status; None if the program has closed its output and still runs."""
        try:
            return self._popen.wait(1)
        except subprocess.TimeoutExpired:
            return None

    def last_words(self) -> str:
        """The last line on stderr, for an error text."""
        self._listener.join(1)
        words = next((line for line in reversed(self._stderr) if line.strip()), "")
        return f": {words.strip()}" if words else ""

    def end(self) -> None:
        """Close its input, wait a moment, then kill it and what it has started."""
        if not self.is_of_this_process():
            return
        assert self._popen.stdin is not None
        with suppress(OSError):  # what it has not read is lost
            self._popen.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._popen.wait(0.2)
        if hasattr(os, "killpg"):
            with suppress(ProcessLookupError, PermissionError):  # nobody of its session is left
                os.killpg(self._popen.pid, signal.SIGKILL)
        else:
            self._popen.kill()
        self._popen.wait()
        self._ended = True
        with suppress(queue.Empty):  # the reader may be waiting for room
            while True:
                self._lines.get_nowait()
        for thread, stream in ((self._reader, self._popen.stdout), (self._listener, self._popen.stderr)):
            if thread is not threading.current_thread():  # which may collect this object
                thread.join(1)
            if stream is not None and not thread.is_alive():
                stream.close()

    def _collect_lines(self, stream: IO[bytes]) -> None:
        while not self._ended and (line := stream.readline(MAX_LINE)):
            self._lines.put(line)
        self._lines.put(b"")

    def _collect_words(self, stream: IO[bytes]) -> None:
        while line := stream.readline(MAX_LINE):
            self._stderr[:] = [*self._stderr[1 - _LAST_WORDS :], line.decode("utf-8", "replace")]


def make(variant: Variant, spec: AgentSpec) -> EngineAgent:
    """Make the agent of a spec `exec:COMMAND`."""
    return EngineAgent(variant, read_engine_config(spec))
