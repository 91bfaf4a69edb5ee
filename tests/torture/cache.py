"""Compiled code on disk: damaged files, full disks, processes at once, kill -9. Every run gives the right result."""

import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FUNCTIONS = 20
# Prints what the functions return and how many came from the cache; "ready" tells that the imports are done.
SMALL = f"""
import numpy as np
from samurai_env.core.jit import bind, jit

def count(record, times):
    for step in range(times):
        record.field[step % record.field.shape[0]] += add(step)
    return record.field.sum()

def adder(number):
    def add(step):
        return step * number + 1
    return add

functions = [bind(count, str(number), {{"add": jit(adder(number))}}) for number in range({FUNCTIONS})]
print("ready", flush=True)
results = [int(f(np.zeros(1, [("field", "i8", (3,))])[0], 100)) for f in functions]
print(results, sum(sum(f.stats.cache_hits.values()) for f in functions))
"""
RIGHT = str([4950 * number + 100 for number in range(FUNCTIONS)])
GAME = """
import hashlib
import gymnasium
print("ready", flush=True)
env = gymnasium.make_vec("samurai_env:samurai_env/SamuraiSpirit-v0", num_envs=8, num_players=3)
observations, info = env.reset(seed=0)
seen = hashlib.sha256()
for _ in range(300):
    observations, rewards, *_ = env.step(observations["action_mask"].argmax(1))
    seen.update(observations["observation"].tobytes() + rewards.tobytes())
print([seen.hexdigest()], 0)
"""


def replaced(path: Path, content: bytes) -> None:
    path.unlink(missing_ok=True)
    path.write_bytes(content)


def flipped(path: Path, chance: random.Random) -> None:
    content = bytearray(path.read_bytes())
    content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    replaced(path, bytes(content))


def overwritten(path: Path, chance: random.Random) -> None:
    content = bytearray(path.read_bytes())
    start = chance.randrange(len(content))
    content[start : start + 512] = chance.randbytes(len(content[start : start + 512]))
    replaced(path, bytes(content))


def loop(path: Path, chance: random.Random) -> None:
    path.unlink()
    path.symlink_to(path)


def folder(path: Path, chance: random.Random) -> None:
    path.unlink()
    path.mkdir()


def other(path: Path, chance: random.Random) -> None:
    """The whole file of another function, or its own."""
    files = [file for file in sorted(path.parent.glob("*.nb[ic]")) if file.is_file()]
    replaced(path, chance.choice([file for file in files if file.suffix == path.suffix]).read_bytes())


DAMAGES: list[Callable[[Path, random.Random], None]] = [
    flipped,
    overwritten,
    loop,
    folder,
    other,
    lambda path, chance: replaced(path, path.read_bytes()[: chance.randrange(path.stat().st_size)]),
    lambda path, chance: replaced(path, path.read_bytes() + chance.randbytes(chance.randrange(1, 4096))),
    lambda path, chance: replaced(path, bytes(path.stat().st_size)),  # as after a power cut
    lambda path, chance: replaced(path, chance.randbytes(chance.randrange(100_000))),
    lambda path, chance: replaced(path, b""),
    lambda path, chance: path.chmod(0),
    lambda path, chance: path.unlink(),
]


class Campaign:
    """Runs of programs over one cache folder, and what they came to."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.chance = random.Random(seed)
        self.counts: Counter[str] = Counter()
        self.cache = folder / "cache"
        self.home = folder / "home"
        self.home.mkdir()
        self.programs = {"small": folder / "small.py", "game": folder / "game.py"}
        self.programs["small"].write_text(SMALL)
        self.programs["game"].write_text(GAME)
        environment = {name: text for name, text in os.environ.items() if not name.startswith(("NUMBA_", "PYTHON"))}
        home = str(self.home)
        self.environment = {
            **environment,
            "PYTHONPATH": str(ROOT),
            "PYTHONDONTWRITEBYTECODE": "1",
            "NUMBA_CACHE_DIR": str(self.cache),
            "HOME": home,
            "XDG_CACHE_HOME": home,
        }

    def start(self, program: str, limit: int | None = None, mount: str | None = None) -> subprocess.Popen[str]:
        """Start a program, with a limit on file sizes, or with a file system of its own under the cache."""
        command = [sys.executable, str(self.programs[program])]
        if mount:
            script = f'mount -t tmpfs -o {mount} none "$0" && exec "$@"'
            command = ["unshare", "-rm", "sh", "-c", script, str(self.cache), *command]

        def restrict() -> None:
            if limit is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        return subprocess.Popen(
            command,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=restrict,
        )

    def finish(self, process: subprocess.Popen[str], what: str, right: str = RIGHT) -> int:
        """Wait for a program, check its result, and return how many functions came from the cache."""
        out, errors = process.communicate(timeout=600)
        assert process.returncode == 0, f"{what}: exit status {process.returncode}\n{errors[-3000:]}"
        result, _, hits = out.strip().splitlines()[-1].rpartition(" ")
        assert result == right, f"{what}: {result} in place of {right}"
        self.counts["runs"] += 1
        return int(hits)

    def run(self, what: str, **restrictions: object) -> int:
        return self.finish(self.start("small", **restrictions), what)

    def check_healed(self, what: str) -> None:
        """Nothing is damaged any more: one run may compile what is missing, the next compiles nothing."""
        self.run(f"{what}, the run after")
        hits = self.run(f"{what}, two runs after")
        assert hits == FUNCTIONS, f"{what}: only {hits} of {FUNCTIONS} functions came from the cache two runs later"
        left = [path for path in self.cache.rglob("*") if path.is_file() and path.suffix not in (".nbi", ".nbc")]
        assert not left, f"{what}: {left[0]} was left"

    def empty(self) -> None:
        shutil.rmtree(self.cache, ignore_errors=True)
        self.cache.mkdir()

    def files(self) -> list[Path]:
        return sorted(self.cache.rglob("*.nb[ic]"))

    def damage(self, rounds: int) -> None:
        """Damage every file, each in a way of its own."""
        self.check_healed("an empty cache")
        for number in range(rounds):
            done = []
            for path in self.files():
                damage = self.chance.choice(DAMAGES)
                damage(path, self.chance)
                done.append(f"{path.name}: {damage.__name__}")
            self.run(f"damage, round {number}: {', '.join(done)}")
            for path in self.files():
                if path.is_dir():  # stays, and costs a compilation each time
                    path.rmdir()
                elif not path.is_file():  # a loop in place of code that is a part of its callers' and not looked for
                    path.unlink()
            self.check_healed(f"damage, round {number}")
            self.counts["damaged files"] += len(done)

    def damage_game(self, rounds: int) -> None:
        """Damage files of a game's rules, and play."""
        self.empty()
        out = self.start("game").communicate()[0]
        right = out.strip().splitlines()[-1].rpartition(" ")[0]
        whole = self.cache.with_name("whole")
        shutil.copytree(self.cache, whole)
        for number in range(rounds):
            shutil.rmtree(self.cache)
            shutil.copytree(whole, self.cache)
            damaged = self.chance.sample(self.files(), 3)
            for path in damaged:
                self.chance.choice(DAMAGES)(path, self.chance)
            what = f"game, round {number}: {', '.join(path.name for path in damaged)}"
            self.finish(self.start("game"), what, right)
            self.counts["damaged files of a game"] += len(damaged)
        shutil.rmtree(whole)

    def limit(self, rounds: int) -> None:
        """Let no file grow beyond a size."""
        for number in range(rounds):
            self.empty()
            size = self.chance.choice([0, 1, self.chance.randrange(60_000)])
            self.run(f"a limit of {size} bytes, round {number}", limit=size)
            self.check_healed(f"a limit of {size} bytes, round {number}")
            self.counts["limits on file sizes"] += 1

    def fill(self, rounds: int) -> None:
        """Full disks and read-only ones, where this system lets us mount one."""
        if subprocess.run(["unshare", "-rm", "true"], capture_output=True, check=False).returncode:
            return
        self.empty()
        for number in range(rounds):
            size, nodes = 4 * self.chance.randrange(1, 60), self.chance.randrange(2, 12)
            mount = self.chance.choice([f"size={size}k", f"nr_inodes={nodes}", "ro"])
            self.run(f"a disk with {mount}, round {number}", mount=mount)
            self.counts["full or read-only disks"] += 1
            shutil.rmtree(self.home)  # where the cache went that could not stay
            self.home.mkdir()

    def compete(self, rounds: int, processes: int = 4) -> None:
        """Let processes compile the same at once."""
        for number in range(rounds):
            self.empty()
            for process in [self.start("small") for _ in range(processes)]:
                self.finish(process, f"processes at once, round {number}")
            self.check_healed(f"processes at once, round {number}")
            self.counts["processes at once"] += processes

    def kill(self, rounds: int) -> None:
        """Kill a process at a random moment of its compiling, some functions written and others not."""
        for number in range(rounds):
            self.empty()
            process = self.start("small")
            process.stdout.readline()
            written = self.chance.randrange(2 * FUNCTIONS)
            while process.poll() is None and len(self.files()) < written:
                time.sleep(0.001)
            time.sleep(self.chance.random() * 0.1)
            process.send_signal(signal.SIGKILL)
            process.communicate()
            self.check_healed(f"kill -9, round {number}")
            self.counts["kills"] += process.returncode == -signal.SIGKILL

    def remove(self, rounds: int) -> None:
        """Remove the folder again and again while a process compiles."""
        for number in range(rounds):
            self.empty()
            process = self.start("small")
            process.stdout.readline()
            stop = threading.Event()

            def keep_removing(stop: threading.Event = stop) -> None:
                while not stop.wait(self.chance.random() * 0.1):
                    shutil.rmtree(self.cache, ignore_errors=True)
                    self.counts["removals of the folder"] += 1

            thread = threading.Thread(target=keep_removing)
            thread.start()
            try:
                self.finish(process, f"removals, round {number}")
            finally:
                stop.set()
                thread.join()
            self.check_healed(f"removals, round {number}")


def run(long: bool, seed: int) -> dict[str, int]:
    with tempfile.TemporaryDirectory() as name:
        campaign = Campaign(Path(name), seed)
        campaign.damage(500 if long else 6)
        campaign.limit(200 if long else 3)
        campaign.fill(200 if long else 6)
        campaign.compete(50 if long else 2)
        campaign.kill(300 if long else 6)
        campaign.remove(50 if long else 2)
        campaign.damage_game(200 if long else 4)
    return dict(campaign.counts)
