"""Train a learner of another framework on a game, and let it meet random play.

python -m experiments.clients sb3 --game samurai --num-players 2
"""

import ast
import json
import time
from dataclasses import asdict, dataclass
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import numpy as np
import tyro

from experiments.clients import Policy
from experiments.clients.page import add_row, check_results
from experiments.common.cli import run_program
from experiments.common.ranges import Count, check_ranges
from experiments.evaluation.matches import estimate
from samurai_env.core.game import find_game
from samurai_env.core.payoffs import win_shares
from samurai_env.envs.learner import LearnerVectorEnv

FOLDER = Path(__file__).parent
# By name: the package whose version counts.
PACKAGES = {
    "sb3": "sb3_contrib",
    "ppo_cleanrl": "torch",
    "rllib": "ray",
    "torchrl": "torchrl",
    "tianshou": "tianshou",
}


@dataclass(frozen=True)
class Config:
    """What to train."""

    client: Annotated[str, tyro.conf.Positional]
    """one of sb3, ppo_cleanrl, rllib, torchrl, tianshou"""
    game: str = "samurai"
    """name of the game"""
    num_players: int = 2
    """number of players"""
    steps: Count = 200_000
    """decisions of the learner"""
    eval_games: Count = 1000
    """games against random play afterwards"""
    results: Path | None = None
    """JSON lines to which the row is added"""


@dataclass(frozen=True)
class Row:
    """The result of a client.

    Attributes:
        client: its name.
        version: package and version.
        lines: of a user's code.
        variant: the game.
        steps: decisions asked for; frameworks that learn in large batches make up to 3 % more or fewer.
        steps_per_second: decisions in a second of processor time, the learning and the compilation or loading of code
            included.
        share: percent of the wins against random play.
        low, high: 95 % interval of that; see `estimate`.
        games: how many were played.
    """

    client: str
    version: str
    lines: int
    variant: str
    steps: int
    steps_per_second: float
    share: float
    low: float
    high: float
    games: int


def user_lines(client: str) -> int:
    """How many lines of code a user writes: the body of `train`, without imports and docstring."""
    tree = ast.parse((FOLDER / f"{client}.py").read_text(encoding="utf-8"))
    body = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "train").body
    return (body[-1].end_lineno or 0) - (body[0].end_lineno or 0)


def shares(policy: Policy, game: str, players: int, games: int) -> np.ndarray:
    """Play games against random play, from every seat in turn.

    Returns:
        float64 (games,): the learner's share of the win; a win shared by k counts 1/k. In a cooperative game bool:
        whether it was won.
    """
    envs = LearnerVectorEnv(
        game, games, num_players=players, opponents="random", seat="rotate", autoreset_mode="Disabled"
    )
    seen, _ = envs.reset(seed=10**6)
    over, found = np.zeros(games, bool), np.zeros(games)
    while not over.all():
        actions = np.zeros(games, np.int64)
        rows = np.flatnonzero(~over)
        assert isinstance(seen, dict)
        actions[rows] = policy({key: values[rows] for key, values in seen.items()})
        seen, rewards, terminated, truncated, _ = envs.step(actions)
        over = terminated | truncated
        found += rewards
    if find_game(game).cooperative:
        return found > 0
    return win_shares(found, players)


def main(config: Config) -> Row:
    """Train, evaluate, print and keep the row.

    Raises:
        ValueError: there is no such client, its framework is not installed, or a number is out of its range.
    """
    check_ranges(config)
    if config.client not in PACKAGES:
        raise ValueError(f"the clients are {', '.join(PACKAGES)}, not {config.client!r}")
    variant = find_game(config.game).variant(config.num_players)
    check_results(config.results)
    try:
        train = import_module(f"experiments.clients.{config.client}").train
    except ModuleNotFoundError as error:
        raise ValueError(f"{error}; {config.client} needs the package {PACKAGES[config.client]}") from None
    start = time.process_time()
    policy = train(config.game, config.num_players, config.steps)
    seconds = time.process_time() - start
    won = estimate(shares(policy, config.game, config.num_players, config.eval_games)[:, None])
    name = PACKAGES[config.client]
    row = Row(
        client=config.client,
        version=f"{name} {version(name)}",
        lines=user_lines(config.client),
        variant=variant.spec,
        steps=config.steps,
        steps_per_second=round(config.steps / seconds),
        share=round(100 * won.mean, 1),
        low=round(100 * won.low, 1),
        high=round(100 * won.high, 1),
        games=config.eval_games,
    )
    print(json.dumps(asdict(row)), flush=True)
    if config.results is not None:
        add_row(config.results, asdict(row))
    return row


if __name__ == "__main__":
    run_program("experiments.clients", Config, main, __doc__)
