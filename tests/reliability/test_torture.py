"""The campaigns of `python -m tests.torture`: each has its contract, and reports what it finds."""

import importlib
import inspect
import random
import subprocess
import sys
from pathlib import Path

import pytest

import tests.torture
from samurai_env import make_variant
from tests.torture.__main__ import main
from tests.torture._campaigns import campaigns, can_go_on, carry_out

FOLDER = Path(tests.torture.__file__).parent


@pytest.mark.parametrize("name", campaigns())
def test_each_campaign_has_the_contract(name: str):
    module = importlib.import_module(f"tests.torture.{name}")
    assert module.__doc__
    parameters = inspect.signature(module.run).parameters
    assert list(parameters)[:2] == ["long", "seed"]
    assert all(p.default is not p.empty for p in list(parameters.values())[2:])
    assert inspect.get_annotations(module.run, eval_str=True)["return"] == dict[str, int]


@pytest.mark.parametrize(
    "name", sorted(".".join(file.relative_to(FOLDER).with_suffix("").parts) for file in FOLDER.rglob("[a-z]*.py"))
)
def test_what_helps_the_campaigns_imports_and_opens(name: str):
    importlib.import_module(f"tests.torture.{name}")


def test_every_door_is_made_with_its_arguments():
    from tests.torture.inputs.entry_points import all_entry_points

    made = [entry_point.name for entry_point in all_entry_points(random.Random(1))]
    assert len(made) > 100


def test_one_game_of_a_batch_always_runs():
    from tests.torture.inputs.entry_points import of_batches

    class Last(random.Random):
        """Plays every game to its end."""

        def choice(self, values):
            return values[-1]

    for entry_point in of_batches(make_variant("samurai_card"), Last(1)):
        for name in {"states", "actions", "seats"} & entry_point.right.keys():
            assert len(entry_point.right[name]()) > 0, entry_point.name


def test_a_campaign_that_fails_is_told_of():
    assert "No module named 'tests.torture.unheard_of'" in carry_out("unheard_of", False, 1)


def test_an_unknown_campaign_is_refused():
    command = [sys.executable, "-m", "tests.torture", "unheard_of"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "there is no campaign 'unheard_of'; there are arguments, cache, " in done.stderr.replace("\n", " ")


def test_what_takes_hours_can_go_on():
    assert [name for name in campaigns() if can_go_on(name)] == ["arguments", "leaks", "readers", "rules", "writes"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["rules", "readers", "--seed", "1", "--first", "3"], "--first goes with --seed and the name of one campaign"),
        (["rules", "--first", "3"], "--first goes with --seed"),
        (["soak", "--seed", "1", "--first", "3"], "that can go on: arguments, leaks, readers, rules, writes"),
        (["rules", "--seed", "1", "--first", "-3"], "--first must be 0 or more"),
    ],
)
def test_a_start_that_means_nothing_is_refused(words, message, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["tests.torture", *words])
    with pytest.raises(SystemExit):
        main()
    assert message in capsys.readouterr().err.replace("\n", " ")
