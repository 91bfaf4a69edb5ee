"""Measure the environments on a GPU; prints a line of JSON a figure. `make gpu` keeps them.

    python -m experiments.benchmark.on_gpu

Random play of growing batches: bare (decisions within one kernel, nothing written but the states), and as a learner has
it (actions drawn on the GPU, then a step with masks, observations, rewards and ends). Every figure is the median of
several, timed by the GPU's events after a warm-up. `start_seconds` is what Python takes to start the two kernels of a
step: about the time of a step of few games if starting limits them, and all that a CUDA graph could save. The share of
the bandwidth is of the bytes that a step must move: where it is small, the layout of the states may waste the rest.
Blocks of several sizes are tried with one batch. PPO with games, rollout and learning on the GPU is timed by whole
updates. A step with masks but without observations is not measured: a kernel writes both. Needs numba-cuda, torch with
CUDA and a GPU.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from samurai_env.core.texts import one_line
from samurai_env.core.variant_spec import parse_variant
from samurai_env.envs.cuda import toolkit
from samurai_env.envs.cuda.vector import CudaVectorEnv

VARIANTS = ("samurai players=2", "samurai players=4", "samurai_card players=2", "samurai_spirit players=3")
SIZES = tuple(2**exponent for exponent in range(10, 21, 2))
PPO_SIZES = (2**12, 2**14, 2**16)
THREADS, THREADS_SIZE = (32, 64, 128, 256), 2**16  # more than 256 threads of 255 registers fit no block
REPETITIONS, PLAYED = 5, 64
COPIED = 2**30  # bytes


def seconds(run: Callable[[], Any]) -> float:
    """Median time of a run on the GPU."""
    from numba import cuda

    run()
    taken = []
    for _ in range(REPETITIONS):
        start, end = cuda.event(), cuda.event()
        start.record()
        run()
        end.record()
        end.synchronize()
        taken.append(start.elapsed_time(end) / 1000)
    return statistics.median(taken)


def bandwidth() -> float:
    """Bytes a second, read and written, of a copy within the GPU's memory."""
    from numba import cuda

    source, target = (cuda.device_array(COPIED, np.uint8) for _ in range(2))
    return 2 * COPIED / seconds(lambda: target.copy_to_device(source))


def step_bytes(env: CudaVectorEnv) -> int:
    """Bytes that a step must move at least: a game's state twice, its action, and all outputs."""
    buffers = env._buffers
    outputs = ("done", "actors", "own", "rewards", "payoffs", "words", "masks", "observations", "seats", "ended")
    written = sum(getattr(buffers, name).nbytes for name in outputs)
    return 2 * env.variant.dtype.itemsize + 8 + written // env.num_envs


def made(spec: str, size: int, **more: Any) -> CudaVectorEnv:
    """Games of a variant as they are measured."""
    variant = parse_variant(spec)
    settings: dict[str, Any] = {"num_players": variant.num_players, "autoreset_mode": "SameStep", **variant.options}
    return CudaVectorEnv(variant.game.name, size, **settings, **more)


def stepping(env: CudaVectorEnv, steps: int) -> Callable[[], None]:
    """Random steps with all outputs, of games at random points."""
    env.reset(seed=1, options={"desynchronize": True})

    def play() -> None:
        for _ in range(steps):
            env.step(env.sample())

    return play


def steps_of(size: int) -> int:
    """How many steps of a batch are timed together; few enough that all their kernels can wait to be started."""
    return max(8, min(256, 2**22 // size))


def starting(play: Callable[[], None], steps: int) -> float:
    """Median seconds that a step takes Python, which does not wait for the GPU."""
    from numba import cuda

    taken = []
    for _ in range(REPETITIONS):
        cuda.synchronize()
        started = time.perf_counter()
        play()
        taken.append((time.perf_counter() - started) / steps)
    return statistics.median(taken)


def measure(spec: str, size: int, memory: float) -> dict[str, Any]:
    """Figures of a variant for a number of games."""
    env, steps = made(spec, size), steps_of(size)
    play = stepping(env, steps)
    step_seconds = seconds(play) / steps
    start_seconds = starting(play, steps)
    env.check()
    moved = step_bytes(env)

    def playing() -> None:
        env._ready = True
        env.play_random(PLAYED)

    return {
        "variant": spec,
        "games": size,
        "bare_steps_per_second": size * PLAYED / seconds(playing),
        "steps_per_second": size / step_seconds,
        "step_seconds": step_seconds,
        "start_seconds": start_seconds,
        "bytes_per_step": moved,
        "share_of_bandwidth": size * moved / (step_seconds * memory),
    }


def measure_threads(spec: str, size: int, threads: int) -> dict[str, Any]:
    """Steps a second with so many threads in a block."""
    kept, toolkit.THREADS = toolkit.THREADS, threads
    try:
        play = stepping(made(spec, size), steps_of(size))
        rate = size * steps_of(size) / seconds(play)
    finally:
        toolkit.THREADS = kept
    return {"variant": spec, "games": size, "threads": threads, "steps_per_second": rate}


def measure_ppo(spec: str, size: int) -> dict[str, Any]:
    """Decisions a second of PPO that plays so many games at once."""
    import torch

    from experiments.training.ppo_on_gpu import Settings, Trainer

    trainer = Trainer(made(spec, size, wrap=torch.as_tensor), Settings())
    trainer.update()
    decisions = size * trainer.settings.num_steps
    return {"variant": spec, "games": size, "ppo_steps_per_second": decisions / seconds(trainer.update)}


def tell(part: str, figures: dict[str, Any]) -> None:
    """Print a figure for `experiments.benchmark.gpu`."""
    print(json.dumps({"part": part, **figures}), flush=True)


def attempt(part: str, measured: Callable[..., dict[str, Any]], *arguments: Any) -> None:
    """Print a figure, or why there is none, such as a full memory; the next may be had all the same."""
    try:
        tell(part, measured(*arguments))
    except Exception as error:
        what = " ".join(map(str, (part, *arguments[:2])))
        tell("missing", {"text": f"{what}: {type(error).__name__}: {one_line(error, 150)}"})


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--variants", nargs="+", default=VARIANTS)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="games at once")
    parser.add_argument("--threads", type=int, nargs="*", default=THREADS, help="threads in a block; none: not tried")
    parser.add_argument("--threads-size", type=int, default=THREADS_SIZE, help="games at once to try these with")
    parser.add_argument("--ppo-sizes", type=int, nargs="*", default=PPO_SIZES, help="none: PPO is not measured")
    options = parser.parse_args()
    try:
        toolkit.check_gpu()
    except RuntimeError as error:
        parser.error(str(error))
    memory = bandwidth()
    tell("bandwidth", {"copy_bytes_per_second": memory})
    for spec in options.variants:
        for size in options.sizes:
            attempt("steps", measure, spec, size, memory)
        for threads in options.threads:
            attempt("threads", measure_threads, spec, options.threads_size, threads)
        for size in options.ppo_sizes:
            attempt("ppo", measure_ppo, spec, size)


if __name__ == "__main__":
    main()
