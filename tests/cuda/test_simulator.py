"""The environments of a GPU in numba's simulator, which a process has or has not."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from samurai_env.envs.cuda import toolkit
from samurai_env.envs.make_vec import make_vector_env

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_in_the_simulator() -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", "tests/cuda/simulated.py"]
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_without_numba_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolkit, "find_spec", lambda name: None)
    with pytest.raises(RuntimeError, match=r"needs numba-cuda.*pip install 'samurai-env\[cuda\]'"):
        make_vector_env("samurai", 4, device="cuda")


def test_an_unknown_device() -> None:
    with pytest.raises(ValueError, match="device must be one of cpu, cuda, not 'tpu'"):
        make_vector_env("samurai", 4, device="tpu")
