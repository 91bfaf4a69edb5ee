"""What `make gpu` runs, as far as it can be seen without a GPU."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from experiments.benchmark import gpu
from experiments.benchmark.gpu_table import NO_GPU, Gpu, gpu_part
from experiments.benchmark.page import pages
from experiments.common.provenance import ROOT
from samurai_env.files.json_reader import read_json

CHECK = {"game": "samurai", "players": 2, "settings": {"reward": "shaped"}, "games": 10_000, "wrong": [], "seconds": 3}
STEPS = {
    **{"variant": "samurai players=2", "games": 1024, "bare_steps_per_second": 9e8, "steps_per_second": 2e8},
    **{"step_seconds": 5e-6, "start_seconds": 4e-6, "bytes_per_step": 2000, "share_of_bandwidth": 0.125},
}
BLOCKS = {"variant": "samurai players=2", "games": 65536, "threads": 64, "steps_per_second": 3e8}
FIGURE = {"name": "act_randomly", "unit": "steps/s", "median": 1e8, "low": 1e8, "high": 1e8, "disturbed": False}
PEER = {
    **{"kind": "batch", "who": "pgx 2.6.0", "what": "hex", "actions": 121, "inputs": 484, "batch": 1024, "threads": 0},
    "figure": FIGURE,
}
SLOWER = {**PEER, "figure": {**FIGURE, "name": "cumulative sums", "median": 5e7}}


def says(folder: Path, text: str, status: int) -> dict[str, str]:
    """An environment whose nvidia-smi says this."""
    program = folder / "nvidia-smi"
    program.write_text(f"#!/bin/sh\necho '{text}'\nexit {status}\n")
    program.chmod(0o755)
    return {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}


def printing(*lines: dict, status: int = 0, error: str = "") -> tuple[str, ...]:
    """A program that prints these figures."""
    code = (
        f"import sys; print('compiling'); print({chr(10).join(map(json.dumps, lines))!r}); sys.stderr.write({error!r})"
    )
    return (sys.executable, "-c", f"{code}; sys.exit({status})")


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Runs the program with others in the place of its three; the file that it keeps, and the exit status."""
    for name in says(tmp_path, "NVIDIA H100, 580.1", 0).items():
        monkeypatch.setenv(*name)
    monkeypatch.setattr(gpu, "version", lambda name: "1.0")

    def main(**programs: tuple[str, ...]) -> tuple[Gpu, int]:
        monkeypatch.setattr(gpu, "PROGRAMS", programs)
        path, status = tmp_path / "runs" / "gpu.json", 0
        try:
            gpu.main(gpu.Config(json=path, programs=tuple(programs)))
        except SystemExit as end:
            status = int(str(end.code))
        return read_json(path, Gpu), status

    return main


def test_one_file_keeps_all_and_the_page_shows_it(run, tmp_path):
    found, status = run(
        check=printing(CHECK),
        on_gpu=printing(
            {"part": "bandwidth", "copy_bytes_per_second": 3e12},
            {"part": "steps", **STEPS},
            {"part": "threads", **BLOCKS},
        ),
        pgx=printing({"part": "peers", **SLOWER}, {"part": "peers", **PEER}),
    )
    assert status == 0
    assert (found["gpu"], found["driver"], found["missing"]) == ("NVIDIA H100", "580.1", [])
    page = pages(tmp_path / "runs")["docs/background/performance.md"]["gpu"]
    assert page == gpu_part(found)
    assert "10,000 games of 1 variants in 1 forms compared with the CPU, bit for bit: no difference." in page
    assert "| Samurai, 2 players | 1,024 | 900 M | **200 M** | 5 | 4 | 2,000 | 12.5% |" in page
    assert "65,536 games**" in page and "| Samurai, 2 players | 300 M |" in page
    assert "| pgx 2.6.0, hex | 121, 484 | 1,024 | 100 M | act_randomly | 200 M | 2.00 x |" in page
    assert "NVIDIA H100, driver 580.1, 3.00 TB/s" in page


def test_what_is_missing_is_named_and_the_rest_kept(run):
    found, status = run(
        check=printing(CHECK),
        on_gpu=printing({"part": "steps", **STEPS}, status=1, error="Traceback\nout of memory"),
        pgx=("/nowhere/python", "-m", "a.pgx_gpu"),
    )
    assert status == 1
    assert len(found["checks"]) == len(found["steps"]) == 1
    ended, not_run = found["missing"]
    assert ended == "on_gpu ended after 1 figures: out of memory"
    assert not_run == "pgx was not run: /nowhere/python is not there"
    assert "- Missing: pgx was not run" in gpu_part(found)


def test_a_difference_from_the_cpu_is_a_failure(run):
    found, status = run(check=printing(CHECK, {**CHECK, "wrong": ["step 3: masks of 2 games, first 0"]}, status=3))
    assert status == 1
    assert found["missing"] == []
    assert "1 forms differ.\n\n- samurai players=2, {'reward': 'shaped'}: step 3: masks of 2 games" in gpu_part(found)


def test_what_comes_after_a_difference_is_not_hidden(run):
    wrong = {**CHECK, "wrong": ["step 3: masks of 2 games, first 0"]}
    found, status = run(check=printing(wrong, status=1, error="out of memory"))
    assert (status, found["missing"]) == (1, ["check ended after 1 figures: out of memory"])


def test_a_line_that_is_no_figure_is_named_and_the_rest_kept(run):
    printed = (sys.executable, "-c", f"print('{{1: 2}}'); print({json.dumps(json.dumps(CHECK))})")
    found, _ = run(check=printed)
    assert len(found["checks"]) == 1
    assert found["missing"] == ["check printed what is no figure: {1: 2}"]


def test_figures_are_kept_as_they_come(run, monkeypatch):
    kept = []
    monkeypatch.setattr(gpu, "write_atomically", lambda path, text: kept.append(len(json.loads(text)["steps"])))
    with pytest.raises(FileNotFoundError):
        run(on_gpu=printing({"part": "steps", **STEPS}, {"part": "steps", **STEPS}))
    assert kept == [1, 2]


def test_without_a_file_the_page_says_that_there_is_no_figure(tmp_path):
    assert pages(tmp_path)["docs/background/performance.md"]["gpu"] == NO_GPU


@pytest.mark.parametrize("said", ["", "No devices were found"])
def test_without_a_gpu_both_say_so(said, tmp_path):
    environment, script = says(tmp_path, said, 9), [str(ROOT / "scripts" / "gpu.sh"), sys.executable]
    program = [sys.executable, "-m", "experiments.benchmark.gpu", "--json", str(tmp_path / "gpu.json")]
    for command in (script, program):
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
        assert done.returncode != 0
        assert f"nvidia-smi finds no GPU: {said}" in done.stderr.replace("\n", " ")
    assert not (tmp_path / "gpu.json").exists()


def test_without_a_driver_the_script_says_so_before_it_installs(tmp_path):
    for tool in ("dirname", "sh"):
        (tmp_path / tool).symlink_to(f"/usr/bin/{tool}")
    script = [str(ROOT / "scripts" / "gpu.sh"), sys.executable]
    done = subprocess.run(script, env={"PATH": str(tmp_path)}, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == "error: nvidia-smi is not there: this needs an NVIDIA GPU and its driver\n"
