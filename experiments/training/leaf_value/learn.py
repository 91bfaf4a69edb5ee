"""The program: games of agents, a value fitted to them, then generations of its own games."""

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np
import torch
from rich.console import Console

from agents.best import named
from agents.heuristics import prior_temperature
from agents.leaf_values import shapes
from agents.networks.leaf_value_files import columns_digest, save_leaf_value
from agents.registry import make_agent
from agents.settings import Range
from agents.spec import split_agent_specs
from experiments.common import gathered_positions
from experiments.common.array_files import load_arrays
from experiments.common.cli import GameSpec
from experiments.common.ranges import Count, check_ranges
from experiments.common.tasks import WorkerSettings
from experiments.training.leaf_value.games import DEALS, OwnTask, Task, play, play_own
from experiments.training.leaf_value.lookahead import Settings
from experiments.training.leaf_value.net import FORMS, Net, Positions, judged, log_likelihood, mean_log_likelihood
from experiments.training.supervised import FitSettings, check_positions, fit
from samurai_env import parse_variant
from samurai_env.core.game import Variant

PROGRAM = "experiments.training.leaf_value"
HELD_OUT = 10  # one part in so many is held out
REMEMBERED = 3  # generations of its own games that a value learns from


@dataclass
class OwnGames:
    """Settings of the games that the value plays."""

    generations: Annotated[int, Range(0, 10**4)] = 0
    """Generations of games that the value plays and learns from, after the games of the agents."""
    own_deals: Annotated[int, Range(2 * DEALS, 10**7)] = 20 * DEALS
    """Games of a generation."""
    own_share: Annotated[float, Range(0, 0.4, above=True)] = 0.1  # with more the file of a part may grow too large
    """Share of their decisions whose positions are kept."""
    own_random: Annotated[float, Range(0, 1)] = 0.005
    """Share of their decisions that are random."""
    draws: Count = 4
    """Determinizations that a decision looks at."""
    value_weight: Annotated[float, Range(0, 1e6)] = 0.5
    """Weight of the log odds by the value in a choice, beside the logit of the heuristic policy."""
    trace: Annotated[float, Range(0, 1)] = 0.9
    """Lambda of TD(lambda)."""
    own_learning_rate: Annotated[float, Range(1e-6, 1e6)] = 1e-3
    """AdamW's largest step size in a generation."""


@dataclass
class Config(OwnGames, FitSettings, WorkerSettings):
    """Settings of such a run."""

    run: Path = Path("runs/leaf-value")
    """Folder for the leaf value and the games."""
    game: GameSpec = "samurai players=4"
    """The game with its number of players and options."""
    agents: tuple[str, ...] = ("greedy",)
    """Specs of who plays, separated by blanks or commas: what the rollouts of the search play."""
    deals: Annotated[int, Range(2 * DEALS, 10**7)] = 60_000  # a part to learn from, one held out
    """Games to play."""
    share: Annotated[float, Range(0, 0.4, above=True)] = 0.05  # with more the file of a part may grow too large
    """Share of the decisions whose positions are kept, drawn at random."""
    random: Annotated[float, Range(0, 1)] = 0.03
    """Share of the decisions that are random."""
    hidden: Annotated[tuple[int, int], Range(1, 2**16)] = (32, 16)
    """Units of the hidden layers."""

    def __post_init__(self) -> None:
        self.agents = split_agent_specs(self.agents)


def learn(config: Config, console: Console) -> Path:
    """Play, fit, write; the file of the leaf value.

    Raises:
        ValueError: a setting is impossible, or the game has nothing that a value could be learned from.
        OSError: an agent's file does not exist, or the folder cannot be made.
    """
    check_ranges(config)
    if not config.agents:
        raise ValueError("--agents are one or more, such as greedy_tuned")
    variant = parse_variant(config.game)
    config = replace(config, agents=tuple(named(spec, variant) for spec in config.agents))
    shapes(variant, config.hidden)  # fail before anything is played
    started = time.perf_counter()
    torch.manual_seed(config.seed)
    for name in config.agents:
        make_agent(name, variant)
    config.run.mkdir(parents=True, exist_ok=True)
    made = f"{variant.spec}; {' '.join(config.agents)}; share {config.share:g}; random {config.random:g}; "
    made += f"seed {config.seed}; columns {columns_digest(variant.game)}"
    net, positions, measured = learn_from_agents(config, variant, made, console)
    if config.generations:
        positions += learn_from_own_games(net, config, variant, made, console)
    seconds = time.perf_counter() - started
    path = config.run / "model.safetensors"
    notes = gathered_positions.notes(PROGRAM, config, positions, seconds, **measured)
    save_leaf_value(variant, net.tensors(), path, notes)
    console.print(f"the leaf value is {path}")
    return path


def learn_from_agents(
    config: Config, variant: Variant, made: str, console: Console
) -> tuple[Net, int, dict[str, dict[str, float]]]:
    """Learn from games of agents: the network, the number of positions, what is to be told of it."""
    tasks: list[Task] = [
        (variant.spec, config.agents, config.share, config.random, part, config.seed)
        for part in range(-(-config.deals // DEALS))
    ]
    files = gathered_positions.gather(play, tasks, DEALS, config.run, made, config.agents, config, console)
    learned = Positions([file for number, file in enumerate(files) if number % HELD_OUT])
    held_out = Positions(files[::HELD_OUT])
    check_positions(learned, held_out)
    net = Net(variant, config.hidden, learned.features)
    found = fitted(net, config, learned, held_out, console)
    guessed = float(log_likelihood(held_out.guessed.clamp(min=1e-6).log(), held_out.won).mean())
    mean = learned.won.mean(0, keepdim=True).clamp(min=1e-6)
    constant = float(log_likelihood(mean.log(), held_out.won).mean())
    console.print(
        f"{len(held_out):,} positions held out: mean log-likelihood of the winners {found:.4f}, by the heuristic value "
        f"{guessed:.4f}, by how often each seat wins {constant:.4f}"
    )
    measured = {"log_likelihood": {"leaf value": round(found, 4), "heuristic value": round(guessed, 4)}}
    return net, len(learned) + len(held_out), measured


def fitted(net: Net, config: FitSettings, learned: Positions, held_out: Positions, console: Console) -> float:
    """Fit a network to positions; the mean log-likelihood of those held out."""
    return fit(
        net,
        config,
        len(learned),
        lambda rows: mean_log_likelihood(net, learned, rows),
        lambda: judged(net, held_out, config.minibatch_size),
        console,
    )


def learn_from_own_games(net: Net, config: Config, variant: Variant, made: str, console: Console) -> int:
    """Let the value play and learn, generation by generation; the number of positions."""
    temperature = prior_temperature(variant, logits_only=True)
    settings = Settings(
        config.draws, config.value_weight, temperature, config.own_random, config.trace, config.own_share
    )
    layers, epochs, size, rate = config.hidden, config.epochs, config.minibatch_size, config.learning_rate
    made += f"; {config.deals} deals; hidden {layers}; {epochs} epochs; {size} a step; rate {rate:g}"
    made += f"; {config.own_deals} own deals; {tuple(settings)}; rate {config.own_learning_rate:g}"
    learned, positions = list[list[Path]](), 0
    for number in range(config.generations):
        folder, player = config.run / f"generation-{number:03}", config.run / f"generation-{number:03}.safetensors"
        folder.mkdir(exist_ok=True)
        # Games that are there are by this very file, whose card was written last.
        if not (any(folder.iterdir()) and player.with_suffix(".json").exists()):
            save_leaf_value(variant, net.tensors(), player, {})
        tasks: list[OwnTask] = [
            (variant.spec, str(player), settings, number, part, config.seed)
            for part in range(-(-config.own_deals // DEALS))
        ]
        files = gathered_positions.gather(play_own, tasks, DEALS, folder, made, config.agents, config, console)
        learned = [*learned, [file for part, file in enumerate(files) if part % HELD_OUT]][-REMEMBERED:]
        held_out = Positions(files[::HELD_OUT])
        known = Positions([file for past in learned for file in past])
        check_positions(known, held_out, "--own-share")
        pace = FitSettings(1, config.minibatch_size, config.own_learning_rate, config.seed + number)
        found = fitted(net, pace, known, held_out, console)
        each = [load_arrays(file, {"returns": ("<f8", 1), "won": FORMS["won"]}) for file in files]
        returns = np.mean([arrays["returns"] for arrays in each], 0).round(3).tolist()
        positions += sum(len(arrays["won"]) for arrays in each)
        console.print(f"generation {number}: mean returns {returns}, mean log-likelihood {found:.4f}")
    return positions
