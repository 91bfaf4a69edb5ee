"""Absurd settings are refused in a line, whatever the program; so is what does not fit into memory."""

import re
import signal
import subprocess
import sys
import time
from dataclasses import fields
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import get_type_hints

import pytest

from agents.settings import Range
from experiments.common.cli import run_program
from experiments.common.ranges import check_ranges
from experiments.leaderboard.page import page

ROOT = Path(__file__).resolve().parents[3]
PROGRAMS = [
    *("action_gaps", "bench", "cooperative", "distill_rollouts", "leaderboard.play", "search_variants", "tournament"),
    *("training.belief", "training.config", "training.leaf_value.learn", "watch"),
]
CHECKED_ELSEWHERE = {"seed"}  # of a single deal


def made(name):
    config = import_module(f"experiments.{name}").Config
    return config("samurai_spirit") if name == "cooperative" else config()


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_number_has_bounds_and_its_default_lies_within(name):
    config = made(name)
    check_ranges(config)
    hints = get_type_hints(type(config), include_extras=True)
    for field in fields(config):
        kinds = str(hints[field.name])
        if ("int" in kinds or "float" in kinds) and not isinstance(getattr(config, field.name), bool):
            bounded = any(isinstance(each, Range) for each in getattr(hints[field.name], "__metadata__", ()))
            assert bounded or field.name in CHECKED_ELSEWHERE | {"width", "above"}, field.name


@pytest.mark.parametrize("name", PROGRAMS)
def test_absurd_sizes_are_refused_in_a_line(name):
    for field in fields(made(name)):
        hint = get_type_hints(type(made(name)), include_extras=True)[field.name]
        if not any(isinstance(each, Range) for each in getattr(hint, "__metadata__", ())):
            continue
        for absurd in (10**23, 10**4000, -1, float("nan"), float("inf")):
            config = made(name)
            setattr(config, field.name, (absurd,) if isinstance(getattr(config, field.name), tuple) else absurd)
            with pytest.raises(
                ValueError, match=f"--{field.name.replace('_', '-')} must be (from|at least|above) "
            ) as error:
                check_ranges(config)
            assert len(str(error.value)) < 150


@pytest.mark.parametrize(
    "error", [MemoryError("Unable to allocate 7 TiB"), RuntimeError("[x.cpp] . can't allocate memory: you tried")]
)
def test_too_little_memory_is_told_in_a_line(error, monkeypatch):
    def fail(_):
        raise error

    monkeypatch.setattr(sys, "argv", ["tournament"])
    with pytest.raises(SystemExit, match=r"error: there is too little memory: .*llocate"):
        run_program("experiments.tournament", import_module("experiments.tournament").Config, fail, "")


def test_a_missing_file_is_named_first(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["tournament"])
    with pytest.raises(SystemExit, match=rf"^error: {re.escape(str(tmp_path / 'none'))}: No such file"):
        run_program(
            "experiments.tournament",
            import_module("experiments.tournament").Config,
            lambda _: (tmp_path / "none").read_text(),
            "",
        )


def test_the_leaderboard_is_the_same_from_every_folder(tmp_path, monkeypatch):
    here = page()
    monkeypatch.chdir(tmp_path)
    assert page() == here
    assert re.search("experiments.reproduce ladder-2 ", here)


@pytest.mark.skipif(sys.platform != "linux", reason="sends signals")
def test_ctrl_c_while_a_program_is_imported_is_quiet():
    command = [sys.executable, "-m", "experiments.tournament", "--help"]
    heed = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # a run of tests in the background ignores it
    program = subprocess.Popen(command, cwd=ROOT, stderr=-1, stdout=-1, preexec_fn=heed)
    loaded = Path(f"/proc/{program.pid}/maps")
    while "numpy" not in loaded.read_text(encoding="utf-8"):  # its imports have begun
        time.sleep(0.01)
    program.send_signal(signal.SIGINT)
    _, reported = program.communicate(timeout=60)
    assert program.returncode == 130
    assert reported == b""
