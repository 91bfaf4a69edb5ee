"""What each kernel takes of a GPU, without a GPU: compiled to PTX, then by ptxas for one kind of GPU.

    python -m tests.cuda.resources              # compile all and compare with tests/cuda/resources.json (half an hour)
    python -m tests.cuda.resources --sample     # a few that stand for the others
    python -m tests.cuda.resources --record     # write the file again; with --missing only what it lacks

`make cuda` makes an environment that can do this: numba-cuda with its compiler, and ptxas, of NVIDIA's wheels or of a
CUDA toolkit on the PATH. A kernel fails that takes more than a tenth more registers, stack or spilled bytes than the
file says, that is not in the file, or that computes otherwise than a CPU.
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

from samurai_env.core.game import Variant, find_game
from samurai_env.games import GAMES

RECORD = Path(__file__).parent / "resources.json"
CAPABILITY = (9, 0)
TOLERANCE = 1.1
SLACK = 8  # registers and bytes by which a small number may grow
EACH_ENCODING = ("step", "begin", "see")
ONCE = ("sample", "play", "learner_step", "learner_begin")
SAMPLE = (
    *("samurai 2 flat step", "samurai 2 tokens see", "samurai 2 flat learner_step"),
    *("samurai_card 4 flat step", "samurai_card 4 flat learner_step"),
    *("samurai_spirit 7 tokens see", "samurai_spirit 7 flat learner_step"),
)
# Instructions that round otherwise than a CPU: fused products and sums, and approximations, also those of NVIDIA's
# exponentials and logarithms.
INEXACT = re.compile(r"\b(?:fma\.rn|\w+\.approx|\w+\.full)\S*")


class Card:
    """Stands for the GPU where numba asks for its compute capability."""

    compute_capability = CAPABILITY


def ptxas() -> str | None:
    """Where ptxas is: that of NVIDIA's wheels fits the compiler beside it, then one on the PATH."""
    if find_spec("numba_cuda") is not None:
        from cuda.pathfinder import find_nvidia_binary_utility

        if found := find_nvidia_binary_utility("ptxas"):
            return found
    return shutil.which("ptxas")


def missing() -> str:
    """What is not installed; empty if all is there."""
    if find_spec("numba_cuda") is None:
        return "numba-cuda is not installed: make cuda"
    return "" if ptxas() else "there is no ptxas: pip install nvidia-cuda-nvcc"


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


def resources(ptx: str) -> dict[str, int]:
    """What a kernel takes: registers, bytes of stack, bytes spilled."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "kernel.ptx")
        path.write_text(ptx)
        arch = "sm_" + "".join(map(str, CAPABILITY))
        command = [str(ptxas()), f"-arch={arch}", "-v", "-o", str(path.with_suffix(".cubin")), str(path)]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stderr

    def most(pattern: str) -> int:
        return max(map(int, re.findall(pattern, said)))

    stack, registers = most(r"(\d+) bytes stack frame"), most(r"Used (\d+) registers")
    spilled = max(most(r"(\d+) bytes spill stores"), most(r"(\d+) bytes spill loads"))
    return {"registers": registers, "stack": stack, "spilled": spilled}


def cases() -> Iterator[tuple[str, int, str, tuple[str, ...]]]:
    """All games, numbers of players and encodings, with the names of those kernels that differ from others'.

    A kernel knows the number of players by the type of the states alone: where several have the same, the largest
    stands for all. Of an encoding it knows `observe`, which `step`, `begin` and `see` have for each.
    """
    for game in map(find_game, GAMES):
        different = {(str(v.dtype), v.num_words): v.num_players for v in (Variant(game, n, ()) for n in game.players)}
        for players in different.values():
            for i, encoding in enumerate(game.encodings):
                yield game.name, players, encoding, (EACH_ENCODING if i else (*EACH_ENCODING, *ONCE))


def names() -> list[str]:
    """Names of all kernels in the file."""
    return [f"{game} {n} {encoding} {name}" for game, n, encoding, kernels in cases() for name in kernels]


def worse(found: dict[str, int], kept: dict[str, int]) -> list[str]:
    """What a kernel takes clearly more of than it did."""
    return [
        f"{name} {found[name]} instead of {kept[name]}"
        for name in kept
        if found[name] > max(TOLERANCE * kept[name], kept[name] + SLACK)
    ]


def faults(case: str, ptx: str, found: dict[str, int], kept: dict[str, dict[str, int]]) -> list[str]:
    """What is wrong with a compiled kernel."""
    inexact = [f"{instruction} rounds otherwise than a CPU" for instruction in sorted(set(INEXACT.findall(ptx)))]
    if case not in kept:
        return [*inexact, "not in resources.json: python -m tests.cuda.resources --record --missing"]
    return inexact + worse(found, kept[case])


def main() -> int:
    """Compile all kernels."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true", help="write the file again")
    parser.add_argument("--missing", action="store_true", help="only kernels that are not in the file")
    parser.add_argument("--sample", action="store_true", help="only a few kernels that stand for the others")
    parser.add_argument("--only", default="", help="only kernels whose names begin so: 'samurai 2 flat'")
    options = parser.parse_args()
    if problem := missing():
        print(problem, file=sys.stderr)
        return 2
    kept = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    chosen = [case for case in (SAMPLE if options.sample else names()) if case.startswith(options.only)]
    if not chosen:
        print(f"no kernel begins with {options.only!r}", file=sys.stderr)
        return 2
    failures = 0
    for case in chosen:
        if options.missing and case in kept:
            continue
        game, players, encoding, name = case.split()
        started = time.monotonic()
        ptx = ptx_of(*jobs(game, int(players), encoding)[name])
        found, compiled = resources(ptx), time.monotonic()
        if options.record:
            kept[case] = found
            RECORD.write_text(
                json.dumps({case: kept[case] for case in sorted(kept) if case in names()}, indent=1) + "\n"
            )
        problems = faults(case, ptx, found, kept)
        failures += bool(problems)
        print(case, found, f"{compiled - started:.0f} s", *problems, sep=", ", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
