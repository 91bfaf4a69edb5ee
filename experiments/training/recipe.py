"""Make a network of weights/ again, from nothing: train it run by run, write its file, compare it with the kept one.

    python -m experiments.training.recipe samurai-2-scratch

The recipes are experiments/training/recipes.toml. What is done is kept in --output, so the same command resumes, and
networks that begin with the same runs share them.
"""

import re
import shlex
import signal
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import msgspec
import tyro

from experiments.common.cli import INTERRUPTED, run_program
from experiments.training.checkpoint import checkpoint_file
from samurai_env import parse_variant
from samurai_env.core.texts import one_line, shown

RECIPES = Path(__file__).with_name("recipes.toml")
FIRST_DEAL = "300000"  # deals that nothing was tuned on
PLACE = re.compile(r"\{([\w.-]+)\}")  # of the folder of another run


class Network(msgspec.Struct, forbid_unknown_fields=True):
    """The last run of a network, and how it is compared with the kept one.

    Attributes:
        run: name of the run.
        game: the game that is played.
        deals: number of deals, or of games of each in a cooperative game.
        agent: spec of the agent that plays with the network's `{file}`.
        others: agents that both files play against, too: a network that beats another may be the weaker one
            against third ones.
    """

    run: str
    game: str
    deals: int
    agent: str = "ppo:{file}"
    others: list[str] = []


class Recipes(msgspec.Struct, forbid_unknown_fields=True):
    """The form of recipes.toml."""

    runs: dict[str, str]
    networks: dict[str, Network]


@dataclass
class Config:
    """Which network, and where it is made."""

    network: tyro.conf.Positional[str]
    """Name of a network in weights/, such as samurai-2 or leaf_values/samurai-4."""
    output: Path = Path("runs/recipes")
    """Folder for the runs, the network and the comparison."""
    list: bool = False
    """Only print the commands."""


def read(path: Path = RECIPES) -> Recipes:
    """Read recipes.

    Raises:
        ValueError: the file is no TOML or has another form.
    """
    try:
        return msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), Recipes)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise ValueError(f"{one_line(path, 100)} has no recipes: {one_line(error, 150)}") from None


def in_order(recipes: Recipes, name: str, before: tuple[str, ...] = ()) -> list[str]:
    """The runs that a run needs, each after those that it reads, and at last itself.

    Raises:
        ValueError: there is no such run, or it needs itself.
    """
    if name not in recipes.runs:
        raise ValueError(f"there is no run {shown(name)} in the recipes")
    if name in before:
        raise ValueError(f"the run {name} needs itself: {' -> '.join([*before, name])}")
    needed = [run for each in PLACE.findall(recipes.runs[name]) for run in in_order(recipes, each, (*before, name))]
    return [*dict.fromkeys(needed), name]


def commands(recipes: Recipes, network: str, output: Path) -> list[list[str]]:
    """The commands that make a network, as words after `python -m experiments.`.

    Raises:
        ValueError: there is no recipe for it.
    """
    if network not in recipes.networks:
        known = ", ".join(recipes.networks)
        raise ValueError(f"there is no recipe for {shown(network)}; there are {known}")
    recipe, found = recipes.networks[network], []
    for name in in_order(recipes, recipe.run):
        words = [PLACE.sub(lambda place: str(output / place[1]), word) for word in shlex.split(recipes.runs[name])]
        resume = ["--resume"] if checkpoint_file(output / name).exists() else []
        found.append([*words, "--run", str(output / name), *resume])
    file = output / recipe.run / "model.safetensors"
    if recipes.runs[recipe.run].startswith("train_ppo"):  # kept in half precision
        file = output / f"{network}.safetensors"
        found.append(["export", "--run", str(output / recipe.run), "--to", str(file), "--replace"])
    return [*found, [*comparison(network, recipe, file), "--output", str(output / f"{network}-compared")]]


def comparison(network: str, recipe: Network, file: Path) -> list[str]:
    """The command in which a file plays against the kept one, and both against others."""
    agents = [recipe.agent.replace("{file}", str(each)) for each in (file, f"weights/{network}.safetensors")]
    agents += recipe.others
    match = ["--game", *recipe.game.split(), "--agents", *agents]
    if parse_variant(recipe.game).game.cooperative:
        return ["cooperative", *match, "--games", str(recipe.deals)]
    return ["tournament", *match, "--deals", str(recipe.deals), "--first-deal", FIRST_DEAL, "--no-mirror"]


def main(config: Config) -> None:
    """Run the commands one after another.

    Raises:
        KeyboardInterrupt: Ctrl-C; the same command resumes.
        ValueError: there is no such recipe, or a command failed.
    """
    package = run_program.__module__.partition("experiments.")[0]  # in the wheel the programs lie below samurai_env
    for words in commands(read(), config.network, config.output):
        command = [f"{package}experiments.{words[0]}", *words[1:]]
        print("python -m", shlex.join(command), flush=True)
        if config.list:
            continue
        status = run(command)
        if status == INTERRUPTED:
            raise KeyboardInterrupt("the same command resumes")
        if status:
            raise ValueError(f"{words[0]} ended with exit status {status}; the same command tries again")


def run(command: list[str]) -> int:
    """Run a program until its end; Ctrl-C and SIGTERM stop it, and it is waited for. Returns its exit status."""
    with subprocess.Popen([sys.executable, "-m", *command]) as process:
        before = {
            signal.SIGINT: signal.signal(signal.SIGINT, signal.SIG_IGN),  # of a terminal: the program has it, too
            signal.SIGTERM: signal.signal(signal.SIGTERM, lambda *_: process.send_signal(signal.SIGINT)),
        }
        try:
            return process.wait()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


if __name__ == "__main__":
    run_program("experiments.training.recipe", Config, main, __doc__)
