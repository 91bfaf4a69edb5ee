"""Measure the browser table under load: start, sizes, a click, 50 tables at once, 1,000 connections.

    python -m tests.web.load

Prints one figure a line. Run it on an otherwise idle machine.
"""

import argparse
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from experiments.web.app import STATIC
from tests.web.served import Served, served

SPECS = ("samurai players=2", "samurai_card players=2", "samurai_spirit players=2")
TABLES, CONNECTIONS, DECISIONS = 50, 1000, 12


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def start(folder: Path) -> float:
    """Seconds from the command to the first page."""
    port = free_port()
    command = [sys.executable, "-m", "experiments.web", "--no-open", "--port", str(port)]
    begun = time.perf_counter()
    process = subprocess.Popen([*command, "--store", str(folder / "s.sqlite")], stdout=subprocess.DEVNULL)
    try:
        while time.perf_counter() - begun < 120:
            try:
                Served(port, None).raw("GET", "/")
                return time.perf_counter() - begun
            except OSError:
                time.sleep(0.02)
        raise TimeoutError("the server does not start")
    finally:
        process.kill()
        process.wait()


def page_size(server: Served) -> int:
    """Bytes of the page with all that it loads, as a browser without a cache gets them."""
    paths = ["/", *(f"/static/{path.name}" for path in STATIC.iterdir() if path.suffix in (".js", ".css", ".svg"))]
    return sum(len(server.raw("GET", path, headers={"Accept-Encoding": "gzip"})[2]) for path in paths)


def fonts_size(server: Served) -> int:
    return sum(len(server.raw("GET", f"/fonts/DejaVuSans{bold}.ttf")[2]) for bold in ("", "-Bold"))


def decisions(server: Served, spec: str, seed: int, times: list[float]) -> None:
    """Two people decide at random at a table of their own; seconds of each click."""
    rng = random.Random(seed)
    tokens = server.new(spec, "person", "person")["seats"]
    view = server.call("view", tokens[0])
    for _ in range(DECISIONS):
        if view["over"]:
            break
        seat = view["seat"]
        view = server.call("view", tokens[seat])
        body = {"action": rng.choice(view["legal"])["id"], "count": view["count"]}
        begun = time.perf_counter()
        view = server.call("play", tokens[seat], body)
        times.append(time.perf_counter() - begun)


def describe(name: str, times: list[float]) -> None:
    times.sort()
    middle, late = statistics.median(times), times[int(0.95 * len(times))]
    print(f"{name}: median {1000 * middle:.0f} ms, 95 % within {1000 * late:.0f} ms, slowest {1000 * times[-1]:.0f} ms")


def main() -> None:
    """Print the figures."""
    argparse.ArgumentParser(prog="python -m tests.web.load", description=__doc__.partition("\n")[0]).parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        start(folder)
        print(f"start of the server, warm: {min(start(folder) for _ in range(3)):.2f} s")
        with served(folder / "t.sqlite", in_process=False) as server:
            print(f"the page: {page_size(server) / 1000:.0f} kB, its fonts {fonts_size(server) / 1000:.0f} kB more")
            for spec in SPECS:
                decisions(server, spec, 0, [])  # warm
                alone: list[float] = []
                decisions(server, spec, 1, alone)
                describe(f"a click, alone, {spec}", alone)
            together: list[float] = []
            begun = time.perf_counter()
            tables = [
                threading.Thread(target=decisions, args=(server, SPECS[i % len(SPECS)], i, together))
                for i in range(TABLES)
            ]
            for thread in tables:
                thread.start()
            for thread in tables:
                thread.join()
            describe(f"a click, {TABLES} tables at once", together)
            print(f"  {len(together) / (time.perf_counter() - begun):.0f} decisions a second together")
            idle = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(CONNECTIONS)]
            crowded: list[float] = []
            decisions(server, SPECS[0], 2, crowded)
            describe(f"a click beside {CONNECTIONS:,} idle connections", crowded)
            for one in idle:
                one.close()


if __name__ == "__main__":
    main()
