"""OpenSpiel (C++ games; Lanctot et al., 2019): kernels in Python and in C++, MCTS and IS-MCTS."""

import random
from collections.abc import Callable
from typing import Any

import pyspiel

from experiments.benchmark.peers import COMPILED, LOOP, OBSERVED, SEARCH, Row, meter_from_command_line, named, tell

GAMES = ("hex", "quoridor", "go(board_size=9)")
SIMULATIONS = 1000


def in_python(game: Any, observed: bool) -> Callable[[int], float]:
    """Random steps of one game."""

    def play(steps: int) -> float:
        state = game.new_initial_state()
        for _ in range(steps):
            if observed:
                state.observation_tensor()
                state.legal_actions_mask()
            actions = state.legal_actions()
            state.apply_action(actions[int(random.random() * len(actions))])
            if state.is_terminal():
                state = game.new_initial_state()
        return steps

    return play


def in_cpp(game: Any) -> Callable[[int], float]:
    """Whole games between two uniformly random bots, each game one call."""
    bots = [pyspiel.make_uniform_random_bot(seat, seat + 1) for seat in range(2)]

    def play(games: int) -> float:
        steps = 0
        for seed in range(games):
            state = game.new_initial_state()
            pyspiel.evaluate_bots(state, bots, seed)
            steps += state.move_number()
        return steps

    return play


def searching(game: Any, hidden: bool) -> Callable[[int], float]:
    """Decisions of a search bot in the opening, after the deal."""
    evaluator = pyspiel.RandomRolloutEvaluator(1, 1)
    if hidden:
        bot = pyspiel.ISMCTSBot(1, evaluator, 2.0, SIMULATIONS)
    else:
        bot = pyspiel.MCTSBot(game, evaluator, 2.0, SIMULATIONS, 1000, False, 1, False)
    state = game.new_initial_state()
    while state.is_chance_node():
        state.apply_action(random.choice(state.legal_actions()))

    def decide(decisions: int) -> float:
        for _ in range(decisions):
            bot.restart_at(state)
            bot.step(state)
        return SIMULATIONS * decisions

    return decide


def main() -> None:
    """Measure and print."""
    meter, who = meter_from_command_line(), named("open_spiel")
    for name in GAMES:
        game = pyspiel.load_game(name)
        actions, inputs = game.num_distinct_actions(), game.observation_tensor_size()
        steps = "steps/s"
        tell(Row(COMPILED, who, name, actions, 0, 1, 1, meter.rate("C++", steps, in_cpp(game))))
        tell(Row(LOOP, who, name, actions, 0, 1, 1, meter.rate("Python", steps, in_python(game, False))))
        tell(Row(OBSERVED, who, name, actions, inputs, 1, 1, meter.rate("Python", steps, in_python(game, True))))
    for name in ("connect_four", *GAMES, "gin_rummy", "leduc_poker"):
        game = pyspiel.load_game(name)
        hidden = game.get_type().information == pyspiel.GameType.Information.IMPERFECT_INFORMATION
        what = f"{name}, C++ {'IS-MCTS' if hidden else 'MCTS'}"
        figure = meter.rate("search", "simulations/s", searching(game, hidden))
        tell(Row(SEARCH, who, what, game.num_distinct_actions(), 0, 1, 1, figure))


if __name__ == "__main__":
    main()
