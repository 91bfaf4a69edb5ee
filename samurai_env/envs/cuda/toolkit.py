"""The GPU toolkit: numba-cuda, a GPU, and kernels compiled so that they compute what the CPU computes."""

import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import numpy as np
from numba import config, typeof
from numba import types as numba_types

THREADS = 128  # in a block; a guess until `experiments.benchmark.on_gpu` has measured others
PACKAGE = "numba-cuda[cu13]>=0.30,<0.31"  # the extra `cuda`
COMPILER = ("nvvm", "nvrtc")  # NVIDIA's libraries that kernels are compiled with


def check_gpu() -> None:
    """Refuse to go on without numba-cuda, its compiler or a GPU.

    Raises:
        RuntimeError: says in one line what is missing.
    """
    if simulated():
        return
    if find_spec("numba_cuda") is None:
        raise RuntimeError(f"device='cuda' needs numba-cuda, which is not installed: pip install '{PACKAGE}'")
    from numba import cuda

    if not cuda.is_available():
        error = " ".join(str(cuda.cuda_error() or "the driver finds no GPU").split())
        raise RuntimeError(f"device='cuda' needs an NVIDIA GPU and its driver, which are not there: {error[:150]}")
    if libraries := missing_libraries():
        raise RuntimeError(
            f"device='cuda' compiles with NVIDIA's {' and '.join(libraries)}, not to be found: "
            f"pip install '{PACKAGE}', or 'numba-cuda[cu12]' for a driver of CUDA 12"
        )


def missing_libraries() -> list[str]:
    """Those of the compiler's libraries that are neither in NVIDIA's wheels nor in a CUDA toolkit."""
    from cuda.pathfinder import DynamicLibNotFoundError, load_nvidia_dynamic_lib

    missing = []
    for name in COMPILER:
        try:
            load_nvidia_dynamic_lib(name)
        except DynamicLibNotFoundError:
            missing.append(f"lib{name}")
    return missing


def simulated() -> bool:
    """Whether numba's simulator (NUMBA_ENABLE_CUDASIM=1) stands for the GPU."""
    return bool(config.ENABLE_CUDASIM)  # type: ignore[attr-defined]


@contextmanager
def exact_arithmetic() -> Iterator[None]:
    """Keep products and sums apart in what is compiled here, as the CPU has them; fused they are rounded once."""
    if simulated():
        yield
        return
    from numba.cuda.cudadrv import nvvm

    compile_ir = nvvm.compile_ir
    nvvm.compile_ir = lambda ir, **options: compile_ir(ir, **{**options, "fma": 0})
    try:
        yield
    finally:
        nvvm.compile_ir = compile_ir


def _on_host(argument: Any) -> Any:
    """An argument of a simulated kernel as compiled code of the CPU takes it."""
    if isinstance(argument, tuple):
        return type(argument)(*map(_on_host, argument))
    argument = getattr(argument, "_item", argument)
    return getattr(argument, "_ary", argument)


def _simulating(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, compiled for the CPU, as a simulated kernel can call it."""
    return lambda *arguments: function(*map(_on_host, arguments))


class Kernel:
    """A kernel: one thread a game runs `function(job, game)`.

    Args:
        function: compiled with `core.jit`; `job` is a tuple of arrays, numbers and further tuples.
    """

    def __init__(self, function: Any) -> None:
        from numba import cuda

        scope = {"cuda": cuda, "function": _simulating(function) if simulated() else function}
        self.template = types.FunctionType(_one_game.__code__, scope, function.py_func.__name__)
        # Optimization at link time would fuse products and sums again.
        settings: dict[str, Any] = {} if simulated() else {"lto": False}
        self._dispatcher = cuda.jit(self.template, **settings)

    def __call__(self, games: int, job: tuple[Any, ...], stream: Any = 0) -> None:
        """Start the kernel for so many games, compiled before if need be; does not wait for its end."""
        with exact_arithmetic():
            self._dispatcher[-(-games // THREADS), THREADS, stream](games, job)

    def ptx(self, job: tuple[Any, ...], capability: tuple[int, int]) -> str:
        """Compile the kernel for GPUs of this compute capability; takes no GPU."""
        from numba import cuda

        with exact_arithmetic():
            kernel = numba_types.void(*signature(job))
            return cuda.compile(self.template, kernel, cc=capability, device=False, abi="numba", output="ptx")[0]


def on_gpu(array: np.ndarray) -> Any:
    """A copy of an array on the GPU."""
    from numba import cuda

    return cuda.to_device(array)


def signature(job: tuple[Any, ...]) -> tuple[Any, ...]:
    """Types of a kernel's arguments, as numba has them."""
    return numba_types.int64, typeof(job)


def _one_game(games, job):  # type: ignore[no-untyped-def]
    """Template of all kernels; `Kernel` puts in `cuda` and `function`."""
    game = cuda.grid(1)  # noqa: F821
    if game < games:
        function(job, game)  # noqa: F821
