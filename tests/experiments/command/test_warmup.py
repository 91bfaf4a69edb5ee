"""The command that compiles beforehand."""

from io import StringIO

import pytest
from rich.console import Console

from experiments.command import warmup
from experiments.common import cli


def test_each_game_is_named_once_where_the_output_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli, "LINES", 0.0)
    monkeypatch.setattr(warmup, "results", lambda work, tasks, *_: ((task, 1.5) for task in tasks))
    monkeypatch.setenv(warmup.QUIET, "off")  # main sets it
    console = Console(file=StringIO())
    warmup.main(warmup.Config(("samurai_card",)), console)
    assert console.file.getvalue().splitlines() == [
        "compiling: 0 of 3",
        *(f"compiling: {done} of 3  samurai_card, {done + 1} players: 1.5 s" for done in (1, 2, 3)),
        "all is compiled",
    ]
