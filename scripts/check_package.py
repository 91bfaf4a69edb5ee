"""What somebody does first with the installed package: run by `check_package.sh` in an empty environment."""

import os
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path


def command(*words: str) -> str:
    """Run `samurai-env` with these words; what it printed."""
    done = subprocess.run(["samurai-env", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"samurai-env {' '.join(words)} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def scripted_game() -> str:
    """Play a game in the terminal, always the first legal word; the last line."""
    program = subprocess.Popen(
        ["samurai-env", "play", "--opponents", "greedy", "--seed", "1"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "COLUMNS": "10000"},
    )
    assert program.stdin is not None
    assert program.stdout is not None
    program.stdin.write("?\n")
    program.stdin.flush()
    line = ""
    while line := program.stdout.readline() or "":
        if "legal: " in line:
            word = line.split("legal: ")[1].split(",")[0].strip()
            program.stdin.write(f"{word}\n?\n")
            program.stdin.flush()
        if line.startswith("returns by seat"):
            break
    program.kill()
    return line.strip()


def single_environment() -> float:
    """One game of the Gymnasium environment against a search."""
    import gymnasium

    import samurai_env  # noqa: F401 - registers the ids

    env = gymnasium.make("samurai_env/Samurai-v0", opponents="mcts:100")
    env.reset(seed=1)
    over, reward = False, 0.0
    while not over:
        _, reward, over, _, _ = env.step(env.action_space.sample())
    return float(reward)


def main() -> None:
    """Run all checks; the first that fails ends it."""
    assert not Path("agents").exists()
    assert find_spec("torch") is None, "the environment is not empty"
    for name, check in {
        "version": lambda: command("--version").strip(),
        "agents": lambda: f"{len(command('agents').splitlines())} lines",
        "tournament": lambda: command(
            "tournament", "--agents", "best", "greedy", "--deals", "1", "--processes", "1"
        ).splitlines()[-1],
        "play": scripted_game,
        "watch": lambda: command("watch", "--pause", "0", "--record", "game.txt").splitlines()[-1],
        "replay": lambda: command("replay", "game.txt").splitlines()[-1],
        "analyse": lambda: command("analyse", "game.txt", "--move", "20", "--agent", "best").splitlines()[-1].strip(),
        "gymnasium": single_environment,
    }.items():
        began = time.perf_counter()
        found = check()  # type: ignore[operator]
        print(f"{name}: {found} ({time.perf_counter() - began:.1f} s)", flush=True)
        if not found and name != "gymnasium":
            raise SystemExit(f"{name} gave nothing")
    print(f"works without torch, Python {sys.version.split()[0]}")


if __name__ == "__main__":
    main()
