"""Agents that are programs of their own: the protocol, and engines that die, hang, cheat or write nonsense."""

import json
import os
import shutil
import signal
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from agents.engine import EngineError
from agents.registry import make_agent
from experiments.evaluation.matches import Timed
from samurai_env import GameBatch, IllegalActionError, Position, make_variant
from samurai_env.agent_api import decision_keys
from samurai_env.core.game import Variant

ROOT = Path(__file__).resolve().parents[2]
VARIANT = make_variant("samurai_card", num_players=2)
HELLO = 'print(\'{"type": "hello", "protocol": 1}\', flush=True)'


def keys(count: int) -> np.ndarray:
    return np.arange(1, count + 1, dtype=np.uint64) << np.uint64(20)


def program(folder: Path, *lines: str) -> str:
    """The spec of an engine of these lines of Python."""
    path = folder / "engine.py"
    path.write_text("\n".join(("import json, sys, time", *lines)))
    return f"exec:{sys.executable} {path},seconds=5"


def answering(folder: Path, before: str) -> str:
    """The spec of an engine that takes the first legal action, after a line of Python about each request `r`."""
    return program(
        folder,
        HELLO,
        "for line in sys.stdin:",
        "    r = json.loads(line)",
        "    if r['type'] == 'hello': continue",
        f"    {before}",
        "    print(json.dumps({'id': r['id'], 'action': r['state']['legal'][0]}), flush=True)",
    )


def logging_program(folder: Path, log: Path, entry: str) -> str:
    """The spec of an engine that takes the first legal action and writes down an entry of each request."""
    return answering(folder, f"open({str(log)!r}, 'a').write(json.dumps(r[{entry!r}]) + '\\n')")


def play(variant: Variant, spec: str, seed: int = 1) -> list[int]:
    agent, position, actions = make_agent(spec, variant), Position(variant, seed), []
    while not position.over:
        actions.append(int(agent.act(position.states, np.array([seed << 20 | len(actions)], np.uint64))[0]))
        position.step(actions[-1])
    agent.close()
    return actions


@pytest.mark.parametrize(("game", "players"), [("samurai", 2), ("samurai_card", 4), ("samurai_spirit", 2)])
def test_example_plays_whole_games(game: str, players: int) -> None:
    variant = make_variant(game, num_players=players)
    spec = f"exec:{sys.executable} {ROOT / 'docs/examples/engine.py'}"
    assert play(variant, spec) == play(variant, spec)


@pytest.mark.skipif(not shutil.which("node"), reason="needs node")
def test_example_in_javascript_plays() -> None:
    assert len(play(VARIANT, f"exec:node {ROOT / 'docs/examples/engine.mjs'}")) > 40


def test_engine_sees_only_what_its_seat_may_know(tmp_path: Path) -> None:
    log = tmp_path / "log"
    spec = logging_program(tmp_path, log, "state")
    position = Position(VARIANT, 3)
    for _ in range(30):
        position.step(position.legal_actions()[0])
    other = position.determinized(position.seat, np.array([9], np.uint64))
    assert other.save() != position.save()
    agent = make_agent(spec, VARIANT)
    agent.act(np.concatenate([position.states, other.states]), keys(2))
    agent.close()
    first, second = log.read_text().splitlines()
    assert first == second == json.dumps(position.to_dict(position.seat))


def test_the_random_number_does_not_tell_the_deal(tmp_path: Path) -> None:
    """The key does: it can be computed back to the seed but for the bits that were cut off."""
    log = tmp_path / "log"
    spec = logging_program(tmp_path, log, "random")
    position = Position(VARIANT, 1234)
    key = decision_keys(position.states["seed"], position.states["steps"])
    given = np.concatenate([key, key, key + np.uint64(1)])
    agent = make_agent(spec, VARIANT)
    agent.act(np.repeat(position.states, 3), given)
    agent.close()
    first, again, other = map(int, log.read_text().splitlines())
    assert first == again != other
    assert max(first, other) < 2**53
    assert first != int(key[0]) >> 11
    # Of neighbouring keys about half of all bits differ, those of the keys themselves in few places.
    assert 10 < (first ^ other).bit_count() < 43


def test_an_engine_that_writes_unasked_has_to_wait(tmp_path: Path) -> None:
    written = tmp_path / "written"
    spec = program(
        tmp_path,
        HELLO,
        "for number in range(100):",
        "    print('x' * 100_000, flush=True)",
        f"    open({str(written)!r}, 'w').write(str(number))",
    )
    threads = threading.active_count()
    agent, position = make_agent(spec, VARIANT), Position(VARIANT, 1)
    agent._process = agent._start()
    seen, since, end = "", time.time(), time.time() + 60
    while time.time() < end and (not seen or time.time() < since + 0.5):  # until it has written, and then no more
        now = written.read_text() if written.exists() else ""
        if now != seen:
            seen, since = now, time.time()
        time.sleep(0.05)
    assert int(seen) < 20
    agent.close()
    end = time.time() + 10
    while threading.active_count() > threads and time.time() < end:
        time.sleep(0.05)
    assert threading.active_count() == threads
    with pytest.raises(EngineError, match="not JSON"):
        agent.act(position.states, keys(1))


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["sys.exit('no luck')"], "ended with status 1: no luck"),
        ([HELLO, "sys.stdin.readline()", "sys.stdin.readline()", "1 / 0"], "ZeroDivisionError"),
        (["print('hi', flush=True)", "time.sleep(9)"], "is not JSON: 'hi'"),
        (["print('[' * 100000, flush=True)", "time.sleep(9)"], "is not JSON"),
        (["print('{}', flush=True)", "time.sleep(9)"], "to hello"),
        ([HELLO, "print('{}', flush=True)", "time.sleep(9)"], "answered request None"),
        ([HELLO, "print('7', flush=True)", "time.sleep(9)"], "not an object"),
        ([HELLO, 'print(\'{"id": 1, "action": [3]}\', flush=True)', "time.sleep(9)"], "neither an action's name"),
        ([HELLO, 'print(\'{"id": 1, "action": true}\', flush=True)', "time.sleep(9)"], "neither an action's name"),
        ([HELLO, "print('x' * 3000000, flush=True)", "time.sleep(9)"], "a line of more than 1,000,000"),
    ],
)
def test_broken_engines_are_reported(tmp_path: Path, lines: list[str], said: str) -> None:
    agent = make_agent(program(tmp_path, *lines), VARIANT)
    with pytest.raises(EngineError) as caught:
        agent.act(Position(VARIANT, 1).states, keys(1))
    assert said in str(caught.value)
    assert len(str(caught.value)) < 300
    assert "\n" not in str(caught.value)


def test_hanging_engine_is_stopped(tmp_path: Path) -> None:
    spec = program(tmp_path, HELLO, "time.sleep(60)").replace("seconds=5", "seconds=0.5")
    agent, start = make_agent(spec, VARIANT), time.monotonic()
    with pytest.raises(EngineError, match=r"no answer within 0\.5 s"):
        agent.act(Position(VARIANT, 1).states, keys(1))
    assert time.monotonic() - start < 20
    with pytest.raises(EngineError, match="no answer"):  # started again, and stopped again
        agent.act(Position(VARIANT, 1).states, keys(1))


def test_an_interrupted_engine_is_begun_anew(tmp_path: Path) -> None:
    """Its answer to the question that was given up is not taken for that to the next one."""
    asked = tmp_path / "asked"
    spec = answering(tmp_path, f"if r['id'] == 2: open({str(asked)!r}, 'w').close(), time.sleep(4)")
    agent = make_agent(spec, VARIANT)
    agent.act(Position(VARIANT, 1).states, keys(1))

    def interrupt() -> None:
        while not asked.exists():
            time.sleep(0.01)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    thread = threading.Thread(target=interrupt, daemon=True)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    try:
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            agent.act(Position(VARIANT, 2).states, keys(1))
    finally:
        thread.join()
        signal.signal(signal.SIGINT, before)
    assert agent.act(Position(VARIANT, 3).states, keys(1)).shape == (1,)
    agent.close()


def test_the_time_of_an_engine_is_counted_where_agents_are_timed(tmp_path: Path) -> None:
    agent = make_agent(answering(tmp_path, "time.sleep(0.1)"), VARIANT)
    timed = Timed(agent)
    for seed in range(3):
        timed.act(Position(VARIANT, seed).states, keys(1))
    assert timed.decisions == 3
    assert 0.3 <= timed.seconds < 10
    agent.close()


def test_cheating_engine_is_named(tmp_path: Path) -> None:
    spec = program(
        tmp_path,
        HELLO,
        "sys.stdin.readline()",
        "sys.stdin.readline()",
        "print(json.dumps({'id': 1, 'action': 'cell1'}), flush=True)",
    )
    agent, position = make_agent(spec, VARIANT), Position(VARIANT, 1)
    before = position.save()
    with pytest.raises(IllegalActionError, match=r"engine .* action 13 \(cell1\) is illegal"):
        agent.act(position.states, keys(1))
    assert position.save() == before


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("exec:", "takes a command"),
        ("exec:'open", "cannot be read"),
        ("exec:true,time=3", "no setting 'time'"),
        ("exec:true,seconds=soon", "not 'soon'"),
        ("exec:true,seconds=nan", "not 'nan'"),
    ],
)
def test_wrong_specs_are_refused(spec: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        make_agent(spec, VARIANT)


def test_missing_program_is_named() -> None:
    agent = make_agent("exec:no-such-program-here", VARIANT)
    with pytest.raises(EngineError, match="could not be started"):
        agent.act(Position(VARIANT, 1).states, keys(1))


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts open files by /proc")
def test_a_stopped_engine_leaves_no_files_open_and_no_programs(tmp_path: Path) -> None:
    variant = make_variant("samurai_card")
    pid = tmp_path / "pid"
    script = tmp_path / "hang.sh"
    script.write_text(f"sleep 300 & echo $! > {pid}; wait")
    agent = make_agent(f"exec:sh {script},seconds=0.3", variant)
    states, keys = GameBatch(variant).reset([1]), np.zeros(1, np.uint64)
    with pytest.raises(EngineError):
        agent.act(states, keys)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        with pytest.raises(EngineError, match="no answer within"):
            agent.act(states, keys)
    assert len(os.listdir("/proc/self/fd")) <= before
    time.sleep(0.1)  # init has to reap it
    child = Path(f"/proc/{pid.read_text().strip()}/stat")
    assert not child.exists() or child.read_text().split()[2] == "Z"
