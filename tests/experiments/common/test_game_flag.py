"""`--game` takes a variant's spec, in every program that plays a game; the flags before it are refused."""

import shlex
import sys
from importlib import import_module

import pytest

from experiments.common.cli import command_line, run_program
from samurai_env import make_variant, parse_variant

PROGRAMS = ["action_gaps", "bench", "cooperative", "distill_rollouts", "play", "search_variants", "tournament", "watch"]


def parsed(monkeypatch, program: str, *words: str):
    """The settings that a program reads from its command line."""
    module, found = import_module(f"experiments.{program}"), []
    monkeypatch.setattr(sys, "argv", [program, *words])
    run_program(f"experiments.{program}", module.Config, found.append, None)
    return found[0]


@pytest.mark.parametrize("program", [*PROGRAMS, "train_ppo"])
def test_a_spec_is_given_as_words_or_in_quotes(program, monkeypatch):
    as_words = parsed(monkeypatch, program, "--game", "samurai", "players=3", "edition=1998")
    assert as_words.game == parsed(monkeypatch, program, "--game", "samurai players=3 edition=1998").game
    assert parse_variant(as_words.game) == make_variant("samurai", 3, edition="1998")
    assert "--game samurai players=3 edition=1998" in command_line(program, as_words)


def test_a_command_can_be_given_again_as_it_is_noted(monkeypatch):
    words = ["--agents", "greedy", "exec:my_engine --deep,seconds=2", "--output", "runs/my table"]
    asked = parsed(monkeypatch, "tournament", *words)
    again = shlex.split(command_line("tournament", asked))
    assert parsed(monkeypatch, "tournament", *again[again.index("tournament") + 1 :]) == asked


@pytest.mark.parametrize("program", [*PROGRAMS, "train_ppo"])
@pytest.mark.parametrize("flag", ["--num-players", "--options"])
def test_the_flags_before_are_refused(program, flag, monkeypatch):
    with pytest.raises(SystemExit, match=f"error: {flag} is now part of --game: --game samurai players=4 edition=2016"):
        parsed(monkeypatch, program, "--game", "samurai_spirit", flag, "2")


def test_watch_has_as_many_players_as_agents(monkeypatch, tmp_path):
    from rich.console import Console

    from experiments import watch

    config = parsed(monkeypatch, "watch", "--agents", "random", "greedy", "random", "--pause", "0")
    assert watch.main(config, Console(quiet=True)).variant.num_players == 3
    config.game = "samurai players=0"
    with pytest.raises(ValueError, match="is for 2, 3, 4 players, not 0"):
        watch.main(config, Console(quiet=True))
