"""The same kind of work done by this project and by others, one after the other on one machine.

`make peers` makes the environments of the others; one that is missing is named.
"""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from rich.console import Console

from experiments.benchmark import components
from experiments.benchmark.peers import (
    BATCH,
    COMPILED,
    KINDS,
    LOOP,
    OBSERVED,
    RAW,
    SEARCH,
    TRAINING,
    WRAPPED,
    Row,
)
from experiments.benchmark.timing import Figure, Meter
from experiments.common.provenance import ROOT
from samurai_env import __version__
from samurai_env.core.game import Variant
from samurai_env.core.texts import one_line
from samurai_env.files.json_reader import in_form, parse_json

PEERS = ("open_spiel", "pgx", "pettingzoo", "sb3")
FOLDER = ROOT / ".peers"
OURS = f"samurai_env {__version__}"
NUM_ENVS = 1024
SIMULATIONS = 1000


def our_rows(variant: Variant, meter: Meter, train: bool) -> Iterator[Row]:
    """Measure this project at each kind of work."""
    name, inputs = variant.game.title, int(np.prod(variant.encoding().shape))

    def row(kind: str, figure: Figure, what: str, inputs: int = 0, batch: int = 1, threads: int = 1) -> Row:
        return Row(kind, OURS, f"{name}, {what}", variant.num_actions, inputs, batch, threads, figure)

    play = components.random_play(variant, meter)[0]
    yield row(COMPILED, play, "core", batch=components.GAMES_IN_CACHE)
    for threads in (1, 2):
        figure = components.vector(variant, meter, NUM_ENVS, threads)[0]
        yield row(BATCH, figure, "vector env, called from Python each step", inputs, NUM_ENVS, threads)
    bare, observed = components.position(variant, meter)
    yield row(LOOP, bare, "Position")
    yield row(OBSERVED, observed, "Position", inputs)
    raw, _, wrapped = components.aec(variant, meter)
    yield row(RAW, raw, "AEC", inputs)
    yield row(WRAPPED, wrapped, "AEC", inputs)
    yield row(SEARCH, components.search(variant, meter, SIMULATIONS)[1], "IS-MCTS")
    if train:
        import torch

        figure, games = components.training(variant, meter)[0], train_games()
        yield row(TRAINING, figure, "train_ppo's learner", inputs, games, torch.get_num_threads())


def train_games() -> int:
    """Games at once of our learner's default settings."""
    from experiments.training.config import Config

    return Config().num_envs


def peer_rows(peer: str, meter: Meter, folder: Path = FOLDER) -> tuple[list[Row], str]:
    """Read a peer script's measurements, and its errors, if any."""
    python = folder / peer / "bin" / "python"
    if not python.exists():
        return [], f"{peer} is not installed: `make peers` does it"
    command = [str(python), "-m", f"experiments.benchmark.peers.{peer}"]
    command += ["--repetitions", str(meter.repetitions), "--seconds", str(meter.seconds)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": ""})
    try:
        rows = [in_form(parse_json(line), Row) for line in done.stdout.encode().splitlines() if line.startswith(b"{")]
    except ValueError as error:
        return [], f"{peer} printed what is no figure: {one_line(error, 150)}"
    if done.returncode == 0:
        return rows, ""
    last = (done.stderr.strip().splitlines() or ["no message"])[-1]
    return rows, f"{peer} stopped after {len(rows)} figures: {last}"


def side_by_side(variant: Variant, meter: Meter, console: Console, train: bool) -> tuple[list[Row], list[str]]:
    """All rows by kind of work, ours first in each; and what is missing, with the reason."""
    rows: list[Row] = []
    missing: list[str] = []
    with console.status("measuring this project"):
        rows += our_rows(variant, meter, train)
    for peer in PEERS if train else PEERS[:-1]:
        with console.status(f"measuring {peer}"):
            found, problem = peer_rows(peer, meter)
        rows += found
        missing += [problem] * bool(problem)
    return sorted(rows, key=lambda row: KINDS.index(row.kind)), missing


def with_ratios(rows: list[Row]) -> list[tuple[Row, float | None]]:
    """Each peer's row with our median over its median, ours being that with as many threads; None for our own."""
    found = []
    for row in rows:
        ours = [r.figure.median for r in rows if r.who == OURS and r.kind == row.kind and r.threads == row.threads]
        found.append((row, ours[0] / row.figure.median if ours and row.who != OURS else None))
    return found
