"""Measure the browser table under load: start, sizes, a click, 50 tables at once, 1,000 connections.

    python -m tests.web.load

Prints one figure a line. Run it on an otherwise idle machine; the server and the people share it.
"""

import argparse
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from experiments.web.app import STATIC
from tests.web.served import Served

SPECS = ("samurai players=2", "samurai_card players=2", "samurai_spirit players=2")
TABLES, CONNECTIONS, DECISIONS = 50, 1000, 12
STORED, STORED_DECISIONS = 100, 40
PAUSE = 1.0  # seconds from an answer to the next click, of people that hurry


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def server_of(store: Path) -> Iterator[tuple[Served, int]]:
    """A server in a process of its own, and the number of the process."""
    port = free_port()
    command = [sys.executable, "-m", "experiments.web", "--no-open", "--port", str(port), "--store", str(store)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    server = Served(port, None)
    try:
        for _ in range(6000):
            try:
                server.raw("GET", "/")
                break
            except OSError:
                time.sleep(0.02)
        yield server, process.pid
    finally:
        process.kill()
        process.wait()


def processor_seconds(process: int) -> float:
    """Seconds that a process has computed so far."""
    words = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def start(store: Path, token: str = "") -> tuple[float, float, float]:
    """Seconds from the command to the first page and to what it shows; processor seconds up to then."""
    begun = time.perf_counter()
    with server_of(store) as (server, process):
        page = time.perf_counter() - begun
        if token:
            server.call("view", token)
        else:
            server.call("offers")
        return page, time.perf_counter() - begun, processor_seconds(process)


def page_size(server: Served) -> int:
    """Bytes of the page with all that it loads, as a browser without a cache gets them."""
    paths = [
        "/",
        "/static/palette.css",
        *(f"/static/{path.name}" for path in STATIC.iterdir() if path.suffix in (".js", ".css", ".svg")),
    ]
    return sum(len(server.raw("GET", path, headers={"Accept-Encoding": "gzip"})[2]) for path in paths)


def fonts_size(server: Served) -> int:
    return sum(len(server.raw("GET", f"/fonts/DejaVuSans{bold}.ttf")[2]) for bold in ("", "-Bold"))


def decisions(
    server: Served, spec: str, seed: int, times: list[float], pause: float = 0.0, number: int = DECISIONS
) -> str:
    """Two people decide at random at a table of their own; seconds of each click. Returns the first one's token."""
    rng = random.Random(seed)
    tokens = server.new(spec, "person", "person")["seats"]
    view = server.call("view", tokens[0])
    for _ in range(number):
        if view["over"]:
            break
        time.sleep(pause * 2 * rng.random())
        seat = view["seat"]
        view = server.call("view", tokens[seat])
        body = {"action": rng.choice(view["legal"])["id"], "count": view["count"]}
        begun = time.perf_counter()
        view = server.call("play", tokens[seat], body)
        times.append(time.perf_counter() - begun)
    return str(tokens[0])


def describe(name: str, times: list[float]) -> None:
    times.sort()
    middle, late = statistics.median(times), times[int(0.95 * len(times))]
    print(f"{name}: median {1000 * middle:.0f} ms, 95 % within {1000 * late:.0f} ms, slowest {1000 * times[-1]:.0f} ms")


@contextmanager
def stalls(server: Served) -> Iterator[list[float]]:
    """Seconds of requests for a small file, one after the other, meanwhile."""
    times: list[float] = []
    done = threading.Event()

    def ask() -> None:
        while not done.wait(0.02):
            begun = time.perf_counter()
            server.raw("GET", "/static/icon.svg")
            times.append(time.perf_counter() - begun)

    thread = threading.Thread(target=ask)
    thread.start()
    yield times
    done.set()
    thread.join()


def together(server: Served, pause: float) -> None:
    """Print what a click takes while people decide at all tables at once."""
    times: list[float] = []
    begun = time.perf_counter()
    people = [
        threading.Thread(target=decisions, args=(server, SPECS[i % len(SPECS)], i, times, pause)) for i in range(TABLES)
    ]
    with stalls(server) as others:
        for thread in people:
            thread.start()
        for thread in people:
            thread.join()
    rate = len(times) / (time.perf_counter() - begun)
    describe(f"a click, {TABLES} tables at once, {pause:g} s between clicks, {rate:.0f} a second", times)
    describe("  meanwhile a request for a small file", others)


def main() -> None:
    """Print the figures."""
    argparse.ArgumentParser(prog="python -m tests.web.load", description=__doc__.partition("\n")[0]).parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        start(folder / "s.sqlite")
        page, shown, work = min(start(folder / "s.sqlite") for _ in range(3))
        print(f"start, warm: page after {page:.2f} s, games offered after {shown:.2f} s, {work:.2f} s computed")
        with server_of(folder / "t.sqlite") as (server, _):
            print(f"the page: {page_size(server) / 1000:.0f} kB, its fonts {fonts_size(server) / 1000:.0f} kB more")
            for spec in SPECS:
                alone: list[float] = []
                with stalls(server) as others:
                    begun = time.perf_counter()
                    decisions(server, spec, 0, [], number=1)
                    first = time.perf_counter() - begun
                describe(f"first table of {spec} after {first:.2f} s; meanwhile a request for a small file", others)
                decisions(server, spec, 1, alone)
                describe(f"a click, alone, {spec}", alone)
            for pause in (PAUSE, 0.0):
                together(server, pause)
            idle = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(CONNECTIONS)]
            crowded: list[float] = []
            decisions(server, SPECS[0], 2, crowded)
            describe(f"a click beside {CONNECTIONS:,} idle connections", crowded)
            for one in idle:
                one.close()
            for i in range(STORED):
                token = decisions(server, SPECS[i % len(SPECS)], i, [], number=STORED_DECISIONS)
        page, shown, work = start(folder / "t.sqlite", token)
        tables = STORED + 2 * TABLES
        print(
            f"start with {tables} tables: page after {page:.2f} s, a table after {shown:.2f} s, {work:.2f} s computed"
        )


if __name__ == "__main__":
    main()
