"""The environments of a GPU in numba's simulator, which a process has or has not."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from samurai_env.envs.cuda import toolkit
from samurai_env.envs.make_vec import make_vector_env

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_in_the_simulator() -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/cuda/simulated.py"]
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_without_numba_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolkit, "find_spec", lambda name: None)
    with pytest.raises(RuntimeError, match=r"needs numba-cuda.*pip install 'numba-cuda\[cu13\]"):
        make_vector_env("samurai", 4, device="cuda")


def test_without_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolkit, "find_spec", lambda name: True)
    monkeypatch.setattr("numba.cuda.is_available", lambda: True)
    monkeypatch.setattr(toolkit, "missing_libraries", lambda: ["libnvvm", "libnvrtc"])
    with pytest.raises(RuntimeError, match=r"libnvvm and libnvrtc.*pip install 'numba-cuda\[cu13\]"):
        make_vector_env("samurai", 4, device="cuda")


@pytest.mark.parametrize("one", [{}, {"opponents": "greedy"}])
@pytest.mark.parametrize("given", [{"threads": 2}, {"copy": True}, {"render_mode": "rgb_array"}])
def test_what_is_for_the_cpu_alone(one: dict[str, str], given: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match=rf"keyword argument '{next(iter(given))}' \(which is for device='cpu'\)"):
        make_vector_env("samurai", 4, device="cuda", **one, **given)


def test_an_unknown_device() -> None:
    with pytest.raises(ValueError, match="device must be one of cpu, cuda, not 'tpu'"):
        make_vector_env("samurai", 4, device="tpu")
