"""A line on stderr before code of a game is compiled, once for all processes; silence when it is cached."""

import os
import subprocess
import sys
from pathlib import Path

from samurai_env.core.notices import QUIET, notice

ROOT = Path(__file__).resolve().parents[2]
CODE = """
import subprocess, sys
from samurai_env.core.jit import bind, jit

def double(x):
    return 2 * x

def triple(x):
    return 3 * x

double, triple = (jit(f) if "shared" in sys.argv else bind(f, "go", {}) for f in (double, triple))
print(double(2) + triple(2), flush=True)
if "with-child" in sys.argv:
    subprocess.run([sys.executable, __file__], check=True)
"""


def run(folder, *words, **variables):
    """Run the script; what it wrote to stdout and stderr."""
    script = folder / "script.py"
    script.write_text(CODE)
    environment = {k: v for k, v in os.environ.items() if k != QUIET} | {"PYTHONPATH": str(ROOT), **variables}
    done = subprocess.run(
        [sys.executable, script, *words], env=environment, cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout.split(), done.stderr


def test_a_line_before_compiling_and_silence_when_cached(tmp_path):
    out, err = run(tmp_path, "with-child")
    assert out == ["10", "10"]
    assert err.count("\n") == 1
    assert err.startswith("samurai_env: compiling the rules of go: ")
    assert "kept for later runs" in err
    assert run(tmp_path) == (["10"], "")


def test_what_games_share_is_short_and_not_said(tmp_path):
    assert run(tmp_path, "shared") == (["10"], "")


def test_it_can_be_silenced(tmp_path):
    assert run(tmp_path, **{QUIET: "off"}) == (["10"], "")


def test_said_once_for_each_topic(capsys, monkeypatch):
    monkeypatch.setenv(QUIET, "")
    for topic in ("a", "b", "a"):
        notice(topic, f"about {topic}")
    assert capsys.readouterr().err == "samurai_env: about a\nsamurai_env: about b\n"
