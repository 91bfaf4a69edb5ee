"""Recipes of the networks in weights/: every command is one that its program takes, in an order that works."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import tyro

from experiments import cooperative, distill_rollouts, tournament
from experiments.common.cli import INTERRUPTED
from experiments.common.provenance import ROOT
from experiments.training import belief, recipe
from experiments.training.config import Config as Training
from experiments.training.config import check
from experiments.training.leaf_value import learn
from experiments.training.recipe import Config, Network, Recipes, commands, in_order, main, read
from samurai_env import parse_variant

SETTINGS = {
    "train_ppo": Training,
    "training.belief": belief.Config,
    "training.leaf_value": learn.Config,
    "distill_rollouts": distill_rollouts.Config,
    "tournament": tournament.Config,
    "cooperative": cooperative.Config,
}
SHORT = Recipes(
    {"a": "train_ppo --hidden 8", "b": "train_ppo --init-from {a} --expert ppo:{a}", "c": "train_ppo --init-from {c}"},
    {"two": Network("b", "samurai players=2", 9, others=["greedy"]), "circle": Network("c", "samurai players=2", 9)},
)


def test_there_is_a_recipe_for_every_network():
    kept = {
        path.relative_to(ROOT / "weights").with_suffix("").as_posix()
        for path in (ROOT / "weights").rglob("*.safetensors")
    }
    assert {name for name in kept if not name.startswith("outside/")} == set(read().networks)  # scripts/outside.sh


@pytest.mark.parametrize("network", read().networks)
def test_the_programs_take_the_commands(network, tmp_path):
    kept = ROOT / "weights" / f"{network}.safetensors"
    for program, *words in commands(read(), network, tmp_path):
        if program == "export":
            continue
        settings = tyro.cli(SETTINGS[program], args=words)
        if isinstance(settings, Training):  # the kept network stands for those of the runs before
            settings.init_from = settings.init_from and kept
            settings.expert = f"ppo:{kept}" if settings.imitation_steps else settings.expert
            for name in ("opponents", "eval_opponents"):
                specs = getattr(settings, name)
                setattr(settings, name, tuple(f"ppo:{kept}" if spec.startswith("ppo:") else spec for spec in specs))
            check(settings)
    played = json.loads(kept.with_suffix(".json").read_text())["variant"]
    assert parse_variant(settings.game).spec == parse_variant(played).spec  # of the comparison


@pytest.mark.parametrize("network", [name for name in read().networks if "/" in name])
def test_the_settings_are_those_of_the_card(network, tmp_path):
    program, *words = commands(read(), network, tmp_path)[0]
    card = json.loads((ROOT / "weights" / f"{network}.json").read_text())
    settings = tyro.cli(SETTINGS[program], args=words)
    for name, value in card["notes"]["config"].items():
        found = getattr(settings, name)
        if name == "game":
            assert parse_variant(found).spec == card["variant"]
        elif name != "run":
            assert (list(found) if isinstance(found, tuple) else found) == value, name


def test_runs_come_after_those_that_they_read():
    assert in_order(SHORT, "b") == ["a", "b"]
    with pytest.raises(ValueError, match="the run c needs itself: c -> c"):
        in_order(SHORT, "c")
    with pytest.raises(ValueError, match="there is no run 'd'"):
        in_order(SHORT, "d")
    with pytest.raises(ValueError, match="there is no recipe for 'three'; there are two, circle"):
        commands(SHORT, "three", Path("runs"))


def test_a_file_of_a_run_needs_no_export(tmp_path):
    network = Network("a", "samurai_spirit players=4", 7, "mcts:9,value={file}")
    recipes = Recipes({"a": "training.leaf_value"}, {"leaf_values/x": network})
    agents = [f"mcts:9,value={tmp_path}/a/model.safetensors", "mcts:9,value=weights/leaf_values/x.safetensors"]
    match = ["--game", "samurai_spirit", "players=4", "--agents", *agents, "--games", "7"]
    assert commands(recipes, "leaf_values/x", tmp_path) == [
        ["training.leaf_value", "--run", f"{tmp_path}/a"],
        ["cooperative", *match, "--output", f"{tmp_path}/leaf_values/x-compared"],
    ]


def test_it_runs_the_commands_and_resumes(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(recipe, "read", lambda: SHORT)
    ran: list[list[str]] = []
    monkeypatch.setattr(recipe, "run", lambda command: ran.append(command) or 0)
    main(Config("two", tmp_path))
    assert [command[0] for command in ran] == [
        *["experiments.train_ppo"] * 2,
        "experiments.export",
        "experiments.tournament",
    ]
    assert ran[1][1:] == ["--init-from", f"{tmp_path}/a", "--expert", f"ppo:{tmp_path}/a", "--run", f"{tmp_path}/b"]
    agents = [f"ppo:{tmp_path}/two.safetensors", "ppo:weights/two.safetensors", "greedy"]
    match = ["--game", "samurai", "players=2", "--agents", *agents, "--deals", "9", "--first-deal", "300000"]
    assert ran[3][1:] == [*match, "--no-mirror", "--output", f"{tmp_path}/two-compared"]
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "checkpoint.safetensors").touch()
    ran.clear()
    main(Config("two", tmp_path))
    assert ran[0][-1] == "--resume"
    assert ran[1][-1] != "--resume"
    ran.clear()
    capsys.readouterr()
    main(Config("two", tmp_path, list=True))
    assert not ran
    assert capsys.readouterr().out.count("python -m experiments.") == 4


@pytest.mark.parametrize(("status", "error"), [(INTERRUPTED, KeyboardInterrupt), (1, ValueError)])
def test_it_stops_where_a_command_does(status, error, tmp_path, monkeypatch):
    monkeypatch.setattr(recipe, "read", lambda: SHORT)
    monkeypatch.setattr(recipe, "run", lambda command: status)
    with pytest.raises(error, match="the same command"):
        main(Config("two", tmp_path))


def test_a_damaged_file_is_refused(tmp_path):
    for text in ("runs = 1", "[runs", "[runs]\n[networks]\nx = 1"):
        (tmp_path / "recipes.toml").write_text(text)
        with pytest.raises(ValueError, match="has no recipes"):
            read(tmp_path / "recipes.toml")


def test_a_recipe_that_is_stopped_stops_its_program():
    """A plain `kill` reached the recipe alone; its training went on."""
    begun = "import signal; signal.signal(2, signal.default_int_handler); print('begun', flush=True)"  # as Interrupt
    waits = ["timeit", "-n", "1", "-r", "1", "-s", begun, "import time; time.sleep(60)"]
    code = f"from experiments.training.recipe import run; raise SystemExit(run({waits}) != 0)"
    with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "begun\n"
        process.terminate()
        process.communicate(timeout=30)  # ends once nobody can write any more, so when both have ended
        assert process.returncode == 1
