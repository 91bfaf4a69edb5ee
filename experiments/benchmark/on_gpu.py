"""Measure the environments on a GPU, and write JSON.

    python -m experiments.benchmark.on_gpu --json runs/gpu.json

Random play of growing batches: bare (decisions within one kernel, nothing written but the states), and as a learner has
it (actions drawn on the GPU, then a step with masks, observations, rewards and ends). Every figure is the median of
several, timed by the GPU's events after a warm-up. PPO with games, rollout and learning on the GPU is timed by whole
updates. Needs numba-cuda, torch with CUDA and a GPU.
"""

import argparse
import json
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from experiments.common.provenance import commit
from samurai_env.core.variant_spec import parse_variant
from samurai_env.envs.cuda.vector import CudaVectorEnv
from samurai_env.files.atomic_write import write_atomically

VARIANTS = ("samurai players=2", "samurai players=4", "samurai_card players=2", "samurai_spirit players=3")
SIZES = tuple(2**exponent for exponent in range(10, 21, 2))
PPO_SIZES = (2**12, 2**14, 2**16)
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
        taken.append(cuda.event_elapsed_time(start, end) / 1000)
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


def measure(spec: str, size: int, memory: float) -> dict[str, Any]:
    """Figures of a variant for a number of games."""
    variant = parse_variant(spec)
    settings = {"num_players": variant.num_players, "autoreset_mode": "SameStep", **variant.options}
    env = CudaVectorEnv(variant.game.name, size, **settings)
    steps = max(8, min(256, 2**22 // size))

    def stepping() -> None:
        for _ in range(steps):
            env.step(env.sample())

    env.reset(seed=1, options={"desynchronize": True})
    with_outputs = size * steps / seconds(stepping)
    env.check()
    moved = step_bytes(env)

    def playing() -> None:
        env._ready = True
        env.play_random(PLAYED)

    bare = size * PLAYED / seconds(playing)
    return {
        "variant": spec,
        "games": size,
        "bare_steps_per_second": bare,
        "steps_per_second": with_outputs,
        "bytes_per_step": moved,
        "share_of_bandwidth": with_outputs * moved / memory,
    }


def measure_ppo(spec: str, size: int) -> dict[str, Any]:
    """Decisions a second of PPO that plays so many games at once."""
    import torch

    from experiments.training.ppo_on_gpu import Settings, Trainer

    variant = parse_variant(spec)
    settings: dict[str, Any] = {"num_players": variant.num_players, "autoreset_mode": "SameStep", **variant.options}
    trainer = Trainer(CudaVectorEnv(variant.game.name, size, wrap=torch.as_tensor, **settings), Settings())
    trainer.update()
    decisions = size * trainer.settings.num_steps
    return {"variant": spec, "games": size, "ppo_steps_per_second": decisions / seconds(trainer.update)}


def main() -> None:
    """Measure and write."""
    from numba import cuda

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, required=True, help="the file to write")
    parser.add_argument("--variants", nargs="+", default=VARIANTS)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--ppo-sizes", type=int, nargs="*", default=PPO_SIZES, help="none: PPO is not measured")
    options = parser.parse_args()
    options.json.parent.mkdir(parents=True, exist_ok=True)
    name = cuda.get_current_device().name
    memory = bandwidth()
    report: dict[str, Any] = {
        "gpu": name.decode() if isinstance(name, bytes) else name,
        "commit": commit(),
        "copy_bytes_per_second": memory,
        "figures": [],
        "ppo": [],
    }
    print(report["gpu"], f"{memory / 1e12:.2f} TB/s", flush=True)
    for spec in options.variants:
        for size in options.sizes:
            figures = measure(spec, size, memory)
            report["figures"].append(figures)
            bare, full = figures["bare_steps_per_second"], figures["steps_per_second"]
            share = figures["share_of_bandwidth"]
            print(f"{spec} {size}: bare {bare / 1e6:.1f} M, with outputs {full / 1e6:.1f} M, {share:.1%}", flush=True)
            write_atomically(options.json, json.dumps(report, indent=1))
        for size in options.ppo_sizes:
            report["ppo"].append(figures := measure_ppo(spec, size))
            print(f"{spec} {size}: PPO {figures['ppo_steps_per_second'] / 1e6:.2f} M", flush=True)
            write_atomically(options.json, json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
