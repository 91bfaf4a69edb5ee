"""The command that compiles beforehand."""

from io import StringIO

import pytest
from rich.console import Console

from agents.networks.maps import compiled_layers
from experiments.command import warmup
from experiments.common import cli
from samurai_env import make_variant

GRADIENTS = {
    "samurai": ("embed_fixed_gradient", "logits_gradient"),
    "samurai_card": ("embed_grid_gradient", "grid_logits_gradient"),
}


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


@pytest.mark.parametrize("game", GRADIENTS)
def test_layers_over_a_map_are_compiled_forward_and_back(game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    called = []
    for name in GRADIENTS[game]:
        kernel = getattr(compiled_layers, name)
        monkeypatch.setattr(
            compiled_layers, name, lambda *args, name=name, kernel=kernel: (called.append(name), kernel(*args))
        )
    warmup.compile_learning(make_variant(game, 2))
    assert sorted(called) == sorted(GRADIENTS[game])


def test_without_torch_no_layers_are_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warmup, "find_spec", lambda _: None)
    monkeypatch.setattr(warmup, "NetworkConfig", None)  # a network would fail
    warmup.compile_learning(make_variant("samurai", 2))
