"""What each kernel takes of a GPU, without a GPU: compiled to PTX, then by ptxas for one kind of GPU.

    python -m tests.cuda.resources              # compile all and compare with tests/cuda/resources.json
    python -m tests.cuda.resources --record     # write the file again

Needs numba-cuda with its compiler, and ptxas of a CUDA toolkit on the PATH. A kernel that takes more than a tenth more
registers, stack or spilled bytes than the file says is a failure.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from samurai_env.core.game import find_game
from samurai_env.games import GAMES

RECORD = Path(__file__).parent / "resources.json"
CAPABILITY = (9, 0)
TOLERANCE = 1.1
SLACK = 8  # registers and bytes by which a small number may grow


class Card:
    """Stands for the GPU where numba asks for its compute capability."""

    compute_capability = CAPABILITY


def missing() -> str:
    """What is not installed; empty if all is there."""
    if find_spec("numba_cuda") is None:
        return "numba-cuda is not installed"
    return "" if shutil.which("ptxas") else "ptxas is not on the PATH"


def jobs(game: str, players: int, encoding: str) -> dict[str, tuple[Any, Any]]:
    """By name, the kernels of an environment with what they are started with; arrays are NumPy's."""
    from samurai_env.envs.cuda import learner, toolkit, vector
    from samurai_env.envs.cuda.compiled.all_seats import PlayJob, SampleJob, SeeJob

    with ExitStack() as stack:
        for module in (vector, learner):
            stack.enter_context(patch.object(module, "on_gpu", lambda array: array))
        stack.enter_context(patch.object(vector, "check_gpu"))
        settings = {"num_players": players, "encoding": encoding, "autoreset_mode": "SameStep"}
        table = vector.CudaVectorEnv(game, 2, **settings)
        one = learner.CudaLearnerVectorEnv(game, 2, **settings)
        sample = SampleJob(table._shared["words"], table._streams, table._actions)
        see = SeeJob(table._states, np.zeros((2, players, *table._shape), np.int8))
        play = PlayJob(table._states, table._streams, 1, np.zeros(2, np.int64))
        assert isinstance(table._step_kernel, toolkit.Kernel)
        return {
            "step": (table._step_kernel, table._step_job(table._buffers)),
            "begin": (table._begin_kernel, table._begin_job(0)),
            "sample": (table._kernels.sample_game, sample),
            "see": (table._kernels.see_game, see),
            "play": (table._kernels.play_game, play),
            "learner_step": (one._step_kernel, one._step_job(one._buffers)),
            "learner_begin": (one._begin_kernel, one._begin_job(0)),
        }


def ptx_of(kernel: Any, job: Any) -> str:
    """Compile one kernel to PTX."""
    with patch("numba.cuda.dispatcher.get_current_device", lambda: Card):
        return kernel.ptx(job, CAPABILITY)


def resources(kernel: Any, job: Any) -> dict[str, int]:
    """Compile one kernel: registers, bytes of stack, bytes spilled."""
    ptx = ptx_of(kernel, job)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "kernel.ptx")
        path.write_text(ptx)
        arch = "sm_" + "".join(map(str, CAPABILITY))
        command = [
            "ptxas",
            f"-arch={arch}",
            "-v",
            "-o",
            str(path.with_suffix(".cubin")),
            str(path),
        ]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stderr

    def most(pattern: str) -> int:
        return max(map(int, re.findall(pattern, said)))

    stack, registers = most(r"(\d+) bytes stack frame"), most(r"Used (\d+) registers")
    spilled = max(most(r"(\d+) bytes spill stores"), most(r"(\d+) bytes spill loads"))
    return {"registers": registers, "stack": stack, "spilled": spilled}


def cases() -> Iterator[tuple[str, int, str]]:
    """All games, numbers of players and encodings."""
    for game in GAMES:
        for players in find_game(game).players:
            for encoding in find_game(game).encodings:
                yield game, players, encoding


def worse(found: dict[str, int], kept: dict[str, int]) -> list[str]:
    """What a kernel takes clearly more of than it did."""
    return [
        f"{name} {found[name]} instead of {kept[name]}"
        for name in kept
        if found[name] > max(TOLERANCE * kept[name], kept[name] + SLACK)
    ]


def main() -> int:
    """Compile all kernels."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true", help="write the file again")
    parser.add_argument("--only", default="", help="only cases that begin so: 'samurai 2 flat'")
    options = parser.parse_args()
    if problem := missing():
        print(problem, file=sys.stderr)
        return 2
    kept = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    failures = compiled = 0
    for game, players, encoding in cases():
        if not f"{game} {players} {encoding}".startswith(options.only):
            continue
        for name, (kernel, job) in jobs(game, players, encoding).items():
            if name in ("sample", "play") and encoding != next(iter(find_game(game).encodings)):
                continue  # the same for all encodings
            case, started = f"{game} {players} {encoding} {name}", time.monotonic()
            found, compiled = resources(kernel, job), compiled + 1
            problems = worse(found, kept[case]) if case in kept and not options.record else []
            failures += bool(problems)
            print(case, found, f"{time.monotonic() - started:.0f} s", *problems, flush=True)
            if options.record:
                kept[case] = found
                RECORD.write_text(json.dumps(dict(sorted(kept.items())), indent=1) + "\n")
    if not compiled:
        print(f"no case begins with {options.only!r}", file=sys.stderr)
        return 2
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
