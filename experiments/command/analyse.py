"""Ask a search about a position of a saved game.

    samurai-env analyse game.txt --move 40 --agent mcts:3000

Prints every legal action of each decision of the move, with visits, value and prior; * marks what was played.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import tyro
from rich.console import Console
from rich.table import Table

from agents.baselines.rollout import RolloutAgent
from agents.best import named
from agents.networks.agent import NetworkAgent
from agents.registry import make_agent
from agents.search.mcts import MCTSAgent
from agents.search.puct import PUCTAgent
from agents.search.tree import RootActions
from agents.settings import Range
from experiments.command.replay import find_move, moves
from experiments.common.ranges import check_ranges
from experiments.common.records import read_record
from samurai_env.agent_api import Agent, decision_keys
from samurai_env.position import Position


@dataclass
class Config:
    """What to analyse."""

    file: tyro.conf.Positional[Path]
    """A game record."""
    move: Annotated[int, Range(1, 10**9)] = 1
    """Number of the move."""
    agent: str = "mcts:3000"
    """Spec of the agent that is asked: a search, a network or rollouts."""


def opinion(agent: Agent, position: Position) -> RootActions:
    """What an agent finds out about the actions of a position; what it has no notion of is 0 visits or nan.

    Raises:
        ValueError: the agent only chooses.
    """
    keys = decision_keys(position.states["seed"], position.states["steps"], position.seat)
    if isinstance(agent, (MCTSAgent, PUCTAgent)):
        return agent.analyse(position.states, keys)
    size, players = position.variant.num_actions, position.variant.num_players
    found = RootActions(
        visits=np.zeros(size, np.int64),
        values=np.full((size, players), np.nan),
        priors=np.full(size, np.nan, np.float32),
        expected=np.full(players, np.nan),
    )
    if isinstance(agent, NetworkAgent):
        return found._replace(priors=np.exp(agent.evaluate(position.states)[0][0]))
    if isinstance(agent, RolloutAgent):
        found.values[:, position.seat] = agent.action_values(position.states, keys)[0]
        return found
    raise ValueError("--agent is one that weighs actions: mcts, flat_mc, puct, ppo, rollout or best")


def show(position: Position, found: RootActions, played: int | None, title: str) -> Table:
    """The legal actions, most visited first."""
    table = Table("", "action", title=title, title_justify="left", box=None)
    for head in ("visits", "value", "prior"):
        table.add_column(head, justify="right")
    values, priors = found.values[:, position.seat], np.nan_to_num(found.priors)
    ranks = -found.visits, -np.nan_to_num(values, nan=-9), -priors
    order = sorted(position.legal_actions(), key=lambda action: [rank[action] for rank in ranks])
    for action in order:
        value = "" if np.isnan(values[action]) else f"{values[action]:+.3f}"
        prior = "" if np.isnan(found.priors[action]) else f"{priors[action]:.1%}"
        text = position.variant.game.format_move(position.state, [action])
        mark = "*" if action == played else ""
        table.add_row(mark, text, str(found.visits[action]), value, prior)
    return table


def main(config: Config, console: Console | None = None) -> None:
    """Print the position and a table for each decision of the move."""
    check_ranges(config)
    console = console or Console()
    record = read_record(config.file)
    position, actions = find_move(record, config.move)
    spec = named(config.agent, record.variant)
    agent = make_agent(spec, record.variant)
    game = record.variant.game
    board = game.text(position.state, position.seat)
    played = game.format_move(position.state, actions) if actions else "not made yet"
    move = f"{config.move}. seat {position.seat}: {played}"
    unfinished = config.move == len(moves(record)) and record.position.mid_move
    decisions: list[int | None] = [*actions, None] if unfinished or not actions else [*actions]
    tables = []  # all before anything is printed: an agent may refuse to be asked
    for number, action in enumerate(decisions, 1):
        title = f"decision {number} of {len(decisions)} by {spec}; values are for seat {position.seat}"
        tables.append(show(position, opinion(agent, position), action, title))
        if action is not None:
            position.step(action)
    console.print(board, markup=False, highlight=False)
    console.print(move, markup=False, highlight=False)
    for table in tables:
        console.print()
        console.print(table)
