"""Play in the terminal against agents.

    python -m experiments.play --opponents mcts:1000 --seat 0

Type a move as it is written in records (`S3 c14r12`, `end`), or a part of it: a tile now and its hex when
asked. `?` lists what is legal, `map` shows the position again, `save FILE` writes the game, `quit` leaves.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console

from agents.registry import make_agent
from experiments.common.cli import GameSpec, run_program
from samurai_env import IllegalActionError, Position, parse_variant
from samurai_env.agent_api import Agent, decision_keys
from samurai_env.game_record import GameRecord


@dataclass
class Config:
    """Settings of a game."""

    opponents: tuple[str, ...] = ("greedy",)
    """Specs of the other players, clockwise from you; one spec serves all."""
    seat: int = 0
    """Your seat."""
    game: GameSpec = "samurai"
    """The game with its number of players and options."""
    seed: int | None = None
    """Seed of the deal; a random one if not given."""


def ask(console: Console, position: Position, record: GameRecord) -> list[int] | None:
    """The actions a person types for the seat to move; None to leave."""
    while True:
        text = console.input(f"[bold]seat {position.seat}[/bold] move (? for help): ").strip()
        if text in ("q", "quit", "exit"):
            return None
        if text in ("?", "help"):
            console.print("legal: " + ", ".join(legal_words(position)), markup=False, highlight=False)
            console.print("or: map, save FILE, quit")
        elif text == "map":
            console.print(position.variant.game.text(position.state, position.seat), markup=False, highlight=False)
        elif text:
            try:
                if text.split()[0] != "save":
                    return typed(position, text)
                file = text[4:].strip()
                if not file:
                    raise ValueError("save needs the name of a file")
                record.save(Path(file))
                console.print(f"written to {file}")
            except (ValueError, OSError) as error:
                console.print(str(error), style="red", markup=False)


def word(position: Position, action: int) -> str:
    """An action of the seat to move as it is typed: the last word of the move that it is or ends."""
    return position.variant.game.format_move(position.state, [action]).split()[-1]


def legal_words(position: Position) -> list[str]:
    """The legal actions as they are typed."""
    return [word(position, action) for action in position.legal_actions()]


def typed(position: Position, text: str) -> list[int]:
    """Action ids of a typed move or part of one, tried on a copy.

    Raises:
        ValueError: an unknown word or an illegal action; the text has actions as they are typed.
    """
    names = position.variant.action_names
    if all(word in names for word in text.split()):
        actions = [names.index(word) for word in text.split()]
    else:
        actions = position.variant.game.parse_move(position.state, text)
    trial = position.clone()
    for action in actions:
        if trial.over or trial.seat != position.seat:
            raise IllegalActionError(f"{text!r} says more than one move")
        if action not in trial.legal_actions():
            legal = legal_words(trial)
            shown = ", ".join(legal[:12]) + (f" and {len(legal) - 12} more" if len(legal) > 12 else "")
            raise IllegalActionError(f"{word(trial, action)} is not legal here; legal: {shown}")
        trial.step(action)
    return actions


def choose_move(position: Position, agent: Agent) -> list[int]:
    """The actions of an agent's whole move."""
    trial = position.clone()
    actions: list[int] = []
    while not actions or (trial.mid_move and not trial.over and trial.seat == position.seat):
        keys = decision_keys(trial.states["seed"], trial.states["steps"], trial.seat)
        actions.append(int(agent.act(trial.states, keys)[0]))
        trial.step(actions[-1])
    return actions


def main(config: Config, console: Console | None = None) -> None:
    """Play one game."""
    console = console or Console()
    variant = parse_variant(config.game)
    others = variant.num_players - 1
    specs = config.opponents * others if len(config.opponents) == 1 else config.opponents
    if len(specs) != others:
        raise ValueError(f"{variant.spec} needs {others} opponent{'s' * (others != 1)}, not {len(specs)}")
    if not 0 <= config.seat < variant.num_players:
        raise ValueError(f"seat must be a number from 0 to {variant.num_players - 1}, not {config.seat}")
    seed = config.seed if config.seed is not None else int(np.random.SeedSequence().generate_state(1)[0])
    players: dict[int, Agent] = {
        (config.seat + 1 + i) % variant.num_players: make_agent(spec, variant) for i, spec in enumerate(specs)
    }
    position, record = Position(variant, seed), GameRecord(variant, seed)
    console.print(f"{variant.spec}, seed {seed}; you are seat {config.seat}")
    while not position.over:
        if position.seat == config.seat:
            if not position.mid_move:
                console.print(variant.game.text(position.state, config.seat), markup=False, highlight=False)
            actions = ask(console, position, record)
            if actions is None:
                return
        else:
            actions = choose_move(position, players[position.seat])
            hidden = variant.game.secret(position.state)
            move = "a move you do not see" if hidden else variant.game.format_move(position.state, actions)
            console.print(f"seat {position.seat}: {move}")
        for action in actions:
            position.step(action)
            record.append(action)
    console.print(variant.game.text(position.state, config.seat), markup=False, highlight=False)
    console.print(f"returns by seat: {position.returns().tolist()}")


if __name__ == "__main__":
    run_program("experiments.play", Config, main, __doc__)
