"""Progress where the output is no terminal."""

from io import StringIO

import pytest
from rich.console import Console

from experiments.common import cli


@pytest.mark.parametrize("done", [0, 60])
def test_lines_say_how_long_it_will_take(monkeypatch, done):
    """Only what has been done since the start counts."""
    now = [100.0]
    monkeypatch.setattr(cli.time, "monotonic", lambda: now[0])
    out = StringIO()
    with cli.progress_bar(Console(file=out), "deals", 100, done) as bar:
        now[0] += 5.0
        bar(done + 5, "early")  # no line yet
        now[0] += 15.0
        bar(done + 20, "late")
    first, second = out.getvalue().splitlines()
    assert first == f"deals: {done} of 100"
    assert second == f"deals: {done + 20} of 100, about {(80 - done)} s left  late"


def test_times_are_rough():
    assert [cli._in_words(seconds) for seconds in (None, 9.9, 119, 121, 7199, 7201)] == [
        "",
        "",
        ", about 119 s left",
        ", about 2 min left",
        ", about 120 min left",
        ", about 2 h left",
    ]
