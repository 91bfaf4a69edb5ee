"""The settings of a training run: those of its parts together."""

from dataclasses import dataclass, fields, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

from agents.best import named
from agents.networks.network import check_device
from agents.old_names import REMOVED, TRAINING
from agents.settings import Range
from experiments.common.cli import GameSpec, command_line
from experiments.common.ranges import Count, check_ranges
from experiments.training.curve import EvaluationSettings, check_evaluation
from experiments.training.init_network import NetworkSettings, check_network
from experiments.training.opponents import OpponentSettings, check_opponents
from experiments.training.ppo import PPOSettings
from samurai_env import parse_variant
from samurai_env.envs.common import REWARDS


@dataclass
class RunSettings:
    """The run's files and its game."""

    run: Path = Path("runs/ppo")
    """Folder for the network, checkpoints, curve and tensorboard files."""
    resume: bool = False
    """Continue from the checkpoint in `run`."""
    minutes: Annotated[float | None, Range(0, 1e6, above=True)] = None
    """Length of the run by the clock, evaluations included, in place of --total-timesteps."""
    checkpoint_every: Count = 20
    """Updates between two checkpoints."""
    game: GameSpec = "samurai"
    """The game with its number of players and options."""
    reward: str = "result"
    """Reward of a step, "result" or "shaped", as in the environments; evaluations look at results alone."""


@dataclass
class ActorSettings:
    """Actors that play while this process learns; see `experiments.training.actors`."""

    actors: Annotated[int, Range(0, 10**4)] = 0
    """Actors on Ray (at RAY_ADDRESS, or started here) that share the games, a CPU each; 0 plays and learns in turn."""
    max_lag: Count = 2
    """Updates by which an actor's network may be older than the one that learns; older rollouts are dropped."""


def check_actors(settings: "Config") -> None:
    """Check what actors need.

    Raises:
        ValueError: names the flag, or says what is missing.
    """
    if settings.actors and settings.num_envs % settings.actors:
        raise ValueError(f"--num-envs {settings.num_envs} is no multiple of --actors {settings.actors}, which share it")
    if settings.actors and settings.opponents:
        raise ValueError("--opponents play without --actors only")
    if settings.max_lag != Config.max_lag and not settings.actors:
        raise ValueError(f"--max-lag {settings.max_lag} has no effect without --actors")
    if settings.actors and find_spec("ray") is None:
        raise ValueError("--actors needs ray: pip install ray")


@dataclass
class Config(ActorSettings, EvaluationSettings, OpponentSettings, PPOSettings, NetworkSettings, RunSettings):
    """Settings of a training run; the flags come in the order run, network, PPO, opponents, evaluation, actors."""

    @property
    def command(self) -> str:
        """The command that starts a run with these settings."""
        return command_line("experiments.train_ppo", replace(self, resume=False))


def check(config: Config) -> None:
    """Check all settings before anything is written.

    Raises:
        FileNotFoundError: a file that a setting names does not exist.
        ValueError: names the flag, the value and what is possible.
    """
    check_ranges(config)
    if config.reward not in REWARDS:
        raise ValueError(f"--reward must be {' or '.join(REWARDS)}, not {config.reward!r}")
    if config.precision not in ("float32", "bfloat16"):
        raise ValueError(f"--precision must be float32 or bfloat16, not {config.precision}")
    variant = parse_variant(config.game)
    check_network(config, variant)
    check_opponents(config, config.num_envs, variant)
    check_evaluation(config, variant)
    check_actors(config)
    try:
        check_device(config.device)
    except ValueError as error:
        raise ValueError(f"--{error}") from None


def with_named_agents(config: Config) -> Config:
    """The settings with the agents that `best` stands for now, so that the run's card tells with whom it learned."""
    variant = parse_variant(config.game)
    return replace(
        config,
        expert=named(config.expert, variant),
        opponents=tuple(named(spec, variant) for spec in config.opponents),
        eval_opponents=tuple(named(spec, variant) for spec in config.eval_opponents),
    )


def flag_hints() -> dict[str, str]:
    """Map removed flags, without dashes, to hints."""
    present = {field.name for field in fields(Config)}
    hints = {old: f"is now --{new.replace('_', '-')}" for old, new in TRAINING.items() if old not in present}
    return hints | dict.fromkeys(REMOVED, "gained nothing and is gone; commit 1e132cb has it")
