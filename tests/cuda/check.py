"""Play the same games on the CPU and on a GPU, and compare all that a step returns, bit for bit.

    python -m tests.cuda.check                          # 10,000 games of each variant, as self-play and with opponents
    python -m tests.cuda.check --games 500 --only "samurai 2"

Each variant is a process of its own. Actions are drawn from the CPU's masks. What is compared: states, observations,
masks, seats, rewards, ends and returns, with every autoreset mode and reward, each encoding, random and greedy
opponents. NUMBA_ENABLE_CUDASIM=1 puts numba's simulator in the place of the GPU, which is slow.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from samurai_env.core.bits import pick_legal
from samurai_env.core.game import find_game
from samurai_env.envs.cuda.learner import CudaLearnerVectorEnv
from samurai_env.envs.cuda.toolkit import on_gpu
from samurai_env.envs.cuda.vector import CudaVectorEnv
from samurai_env.envs.learner import LearnerVectorEnv
from samurai_env.envs.vector import GameVectorEnv
from samurai_env.games import GAMES

DIFFERS = 3  # exit status: what was compared is not the same

LARGE = 10_000  # bytes of an observation from which not every step's is compared


def forms(players: int, encodings: list[str]) -> Iterator[dict[str, Any]]:
    """Yield settings of the environments to compare."""
    for encoding in encodings:
        yield {"encoding": encoding, "autoreset_mode": "SameStep", "reward": "shaped"}
    yield {"encoding": encodings[0], "autoreset_mode": "NextStep", "reward": "result"}
    yield {"encoding": encodings[0], "autoreset_mode": "Disabled", "reward": "shaped"}
    yield {"opponents": "random", "seat": "random", "autoreset_mode": "SameStep", "reward": "shaped"}
    yield {"opponents": "random", "seat": "rotate", "autoreset_mode": "NextStep", "reward": "result"}
    yield {"opponents": "greedy", "seat": players - 1, "autoreset_mode": "SameStep", "reward": "shaped"}


def differences(name: str, cpu: Any, gpu: Any, rows: np.ndarray | None = None) -> list[str]:
    """The name if two arrays differ in any bit (in these rows)."""
    there = np.asarray(gpu.copy_to_host())
    if rows is not None:
        cpu, there = cpu[rows], there[rows]
    if cpu.dtype.kind == "f":
        cpu, there = cpu.view(np.uint32), there.view(np.uint32)
    if np.array_equal(cpu, there):
        return []
    wrong = np.flatnonzero((cpu != there).reshape(len(cpu), -1).any(1))
    return [f"{name} of {len(wrong)} games, first {wrong[0]}"]


def compare(game: str, players: int, settings: dict[str, Any], games: int, batch: int) -> dict[str, Any]:
    """Play one form until so many games have ended."""
    one = "opponents" in settings
    cpu = (LearnerVectorEnv if one else GameVectorEnv)(game, batch, players, **settings)
    gpu = (CudaLearnerVectorEnv if one else CudaVectorEnv)(game, batch, players, **settings)
    rng, actions = np.array([len(str(settings))], np.uint64), np.zeros(batch, np.int64)
    options = {"desynchronize": settings["reward"] == "shaped"}
    (seen, info), (seen_gpu, info_gpu) = (
        cpu.reset(seed=12345, options=options),
        gpu.reset(seed=12345, options=options),
    )
    ended, step, wrong = 0, 0, []
    large = seen["observation"][0].nbytes >= LARGE
    while not wrong and ended < games:
        if step % 16 == 0 and not np.array_equal(cpu.states.view(np.uint8), gpu.states.view(np.uint8)):
            wrong += ["states"]
        wrong += differences("masks", seen["action_mask"], seen_gpu["action_mask"])
        wrong += differences("seats", info["seat"], info_gpu["seat"])
        if not large or step % 16 == 0:
            wrong += differences("observations", seen["observation"], seen_gpu["observation"])
            if step % 16 == 0:
                wrong += differences("what all seats see", cpu.state(), gpu.state())
        if wrong:
            break
        over = cpu._done
        masks = seen["action_mask"].copy()
        masks[over, 0] = 1
        pick_legal(masks, rng, actions)
        seen, rewards, terminated, truncated, info = cpu.step(actions)
        seen_gpu, rewards_gpu, terminated_gpu, truncated_gpu, info_gpu = gpu.step(on_gpu(actions))
        wrong += differences("rewards", rewards, rewards_gpu)
        wrong += differences("terminated", terminated, terminated_gpu)
        wrong += differences("truncated", truncated, truncated_gpu)
        wrong += differences("returns", info["returns"], info_gpu["returns"])
        wrong += differences("ends", info["_returns"], info_gpu["_returns"])
        if not one:
            wrong += differences("all rewards", info["rewards"], info_gpu["rewards"])
            wrong += differences("actors", info["actor"], info_gpu["actor"])
        rows = np.flatnonzero(info["_returns"])
        if len(rows) and "final_obs" in info and not (large and step % 16):
            final = info["final_obs"]
            last = np.zeros((batch, *seen["observation"].shape[1:]), np.int8)
            last[rows] = np.stack([final[row]["observation"] for row in rows])
            wrong += differences("last observations", last, info_gpu["final_obs"]["observation"], rows)
        ended += len(rows)
        step += 1
        if settings["autoreset_mode"] == "Disabled" and cpu._done.all():
            options = {"reset_mask": np.arange(batch) % 3 > 0} if step % 2 else {}
            (seen, info), (seen_gpu, info_gpu) = cpu.reset(options=options), gpu.reset(options=options)
    gpu.check()
    return {"settings": settings, "games": ended, "steps": step * batch, "wrong": [f"step {step}: {w}" for w in wrong]}


def check(game: str, players: int, games: int, batch: int) -> bool:
    """Compare all forms of a variant; prints a line of JSON for each."""
    good = True
    for settings in forms(players, list(find_game(game).encodings)):
        started = time.monotonic()
        try:
            found = compare(game, players, settings, games, batch)
        except Exception as error:
            found = {"settings": settings, "wrong": [f"{type(error).__name__}: {error}"[:600]]}
        good &= not found["wrong"]
        print(
            json.dumps({"game": game, "players": players, **found, "seconds": round(time.monotonic() - started)}),
            flush=True,
        )
    return good


def main() -> int:
    """Check all variants."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=10_000, help="games of each variant and form")
    parser.add_argument("--batch", type=int, default=2_500, help="games at once")
    parser.add_argument("--processes", type=int, default=14)
    parser.add_argument("--only", default="", help="only variants that begin so, such as 'samurai 2'")
    parser.add_argument("--one", nargs=2, help="check one variant in this process: game, players")
    options = parser.parse_args()
    if options.one:
        return 0 if check(options.one[0], int(options.one[1]), options.games, options.batch) else DIFFERS
    variants = [(game, str(n)) for game in GAMES for n in find_game(game).players]
    chosen = [variant for variant in variants if " ".join(variant).startswith(options.only)]
    if not chosen:
        parser.error(f"no game with a number of players begins with {options.only!r}")

    def run(variant: tuple[str, str]) -> int:
        command = [sys.executable, "-m", "tests.cuda.check", "--one", *variant]
        command += ["--games", str(options.games), "--batch", str(options.batch)]
        return subprocess.run(command, cwd=Path(__file__).resolve().parents[2], check=False).returncode

    with ThreadPoolExecutor(options.processes) as pool:
        ends = set(pool.map(run, chosen)) - {0}
    failed = ends - {DIFFERS}  # it died of something else
    return max(map(abs, failed or ends), default=0)


if __name__ == "__main__":
    sys.exit(main())
