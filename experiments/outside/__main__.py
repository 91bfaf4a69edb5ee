"""Train a learner of another framework with a fixed amount of processor time, and keep its policy as a network.

python -m experiments.outside maskable_ppo --run runs/outside/maskable_ppo
"""

import json
import os
from dataclasses import asdict, dataclass
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # more are slower for networks of this size

import torch
import tyro

from agents.networks.agent import NetworkAgent
from agents.networks.network_files import save_network
from agents.registry import make_agent
from experiments.common.cli import GameSpec, run_program
from experiments.common.provenance import commit, machine
from experiments.common.ranges import Count, Range, check_ranges
from experiments.evaluation.matches import estimate, one_against_others
from experiments.outside.as_network import as_network
from experiments.outside.trials import Budget, Settings, described, drawn_settings
from samurai_env import parse_variant
from samurai_env.core.game import Variant
from samurai_env.files.atomic_write import write_atomically
from samurai_env.files.json_reader import read_json

LEARNERS = ("maskable_ppo", "rllib_ppo", "cleanrl_ppo")
TRIAL_DEALS, TRIALS_FROM = 500, 30_000  # deals that no table uses
Seconds = Annotated[float, Range(0, 1e6, above=True)]


@dataclass(frozen=True)
class Config:
    """What to train."""

    learner: Annotated[str, tyro.conf.Positional]
    """one of maskable_ppo, rllib_ppo, cleanrl_ppo"""
    run: Path
    """folder of the run; what is in it is not done again"""
    game: GameSpec = "samurai players=2"
    """the game"""
    trials: Count = 6
    """settings to try: the first are the defaults, the others drawn"""
    trial_seconds: Seconds = 150.0
    """processor time for each of them"""
    finalists: Count = 3
    """of those, how many that won most against greedy are tried again, from nothing"""
    finalist_seconds: Seconds = 300.0
    """processor time for each of them"""
    seconds: Seconds = 7200.0
    """processor time for the run with the finalist that won most against greedy"""


def wins(variant: Variant, layers: list[torch.nn.Linear]) -> dict[str, float]:
    """The share of wins against greedy, in percent, with its interval."""
    agents = [NetworkAgent(variant, as_network(variant, layers)), make_agent("greedy", variant)]
    found = estimate(one_against_others(variant, agents, TRIALS_FROM, TRIAL_DEALS))
    return {name: round(100 * getattr(found, name), 1) for name in ("mean", "low", "high")}


def finished(config: Config, settings: Settings, seconds: float, folder: Path, **notes: Any) -> dict[str, Any]:
    """Train and measure, unless that is done; what it came to. The network's card has these notes, too."""
    variant = parse_variant(config.game)
    path, begun = folder / "result.json", folder / "asked.json"
    asked = {"learner": config.learner, "game": variant.spec, "budget": seconds, "settings": asdict(settings)}
    for file in (path, begun):
        if not file.exists():
            continue
        found = read_json(file, dict[str, Any])
        if {name: found.get(name) for name in asked} != asked:
            raise ValueError(f"{file} is of another learner, game, time or settings: name another folder with --run")
        if file == path:
            share = found.get("against_greedy")
            if not isinstance(share, dict) or {*share} != {"mean", "low", "high"} or "decisions" not in found:
                raise ValueError(f"{file} is damaged: it lacks what the run came to; delete it to go on with the run")
            return found
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(begun, json.dumps(asked) + "\n")
    budget = Budget(seconds, folder / "spent.json")
    module = import_module(f"experiments.outside.{config.learner}")
    layers = module.train(variant, settings, budget, folder)
    result = {
        **asked,
        "seconds": round(budget.spent, 1),
        "decisions": budget.decisions,
        "against_greedy": wins(variant, layers),
    }
    package = f"{module.PACKAGE} {version(module.PACKAGE)}"
    origin = {"package": package, "commit": commit(), "machine": machine()}
    save_network(as_network(variant, layers), folder / "model.safetensors", {**result, **origin, **notes})
    write_atomically(path, json.dumps(result) + "\n")
    return result


def best_settings(tried: list[dict[str, Any]], count: int) -> list[Settings]:
    """The settings that won most against greedy, best first."""
    ordered = sorted(tried, key=lambda result: -result["against_greedy"]["mean"])
    return [Settings(**result["settings"]) for result in ordered[:count]]


def main(config: Config) -> None:
    """Try settings, train with the best, write the network.

    Raises:
        ValueError: there is no such learner, it is not installed, the game is cooperative, or the folder is of another
            run.
    """
    check_ranges(config)
    if config.learner not in LEARNERS:
        raise ValueError(f"the learners are {', '.join(LEARNERS)}, not {config.learner!r}")
    try:
        import_module(f"experiments.outside.{config.learner}")
    except ModuleNotFoundError as error:
        raise ValueError(f"{error}; make outside-{config.learner} makes an environment that has it") from None
    variant = parse_variant(config.game)
    if variant.game.cooperative:
        raise ValueError(f"{variant.game.title} is cooperative: nobody plays against the learner")
    if variant != variant.game.variant(variant.num_players):
        raise ValueError(f"the learners play games with default options, so not {variant.spec}")
    torch.set_num_threads(1)
    tried: list[dict[str, Any]] = []

    def attempt(settings: Settings, seconds: float, name: str) -> None:
        print(f"{name}: {described(settings)}", flush=True)
        tried.append(finished(config, settings, seconds, config.run / name))
        share, decisions = tried[-1]["against_greedy"]["mean"], tried[-1]["decisions"]
        print(f"  {decisions:,} decisions, against greedy {share} %", flush=True)

    for number, settings in enumerate(drawn_settings(config.trials)):
        attempt(settings, config.trial_seconds, f"trial-{number}")
    for number, settings in enumerate(best_settings(tried, config.finalists)):
        attempt(settings, config.finalist_seconds, f"finalist-{number}")
    (settings,) = best_settings(tried[config.trials :], 1)
    print(f"run: {described(settings)}", flush=True)
    result = finished(config, settings, config.seconds, config.run / "run", trials=tried)
    share = result["against_greedy"]
    print(
        f"  {result['decisions']:,} decisions, against greedy {share['mean']} % [{share['low']}, {share['high']}]\n"
        f"ppo:{config.run / 'run' / 'model.safetensors'}"
    )


if __name__ == "__main__":
    run_program("experiments.outside", Config, main, (__doc__ or "").split("\n")[0])
