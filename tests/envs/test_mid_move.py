"""Games that an environment continues in the middle of a move: what pictures say of it, and of the moves after it."""

from functools import cache

import numpy as np
import pytest

from samurai_env import Position, game_names
from samurai_env.core.game import find_game
from samurai_env.envs.aec import GameAEC
from samurai_env.envs.single import GameEnv

VARIANTS = [find_game(name).variant(n) for name in game_names() for n in (3, find_game(name).players[-1])]


@cache
def half_made(variant) -> list[Position]:
    """Positions of random games in the middle of a move: one for each action that may be the first legal one there."""
    rng, found = np.random.default_rng(1), dict[int, Position]()
    for seed in range(20):
        position = Position(variant, seed)
        while not position.over:
            if position.mid_move:
                found[position.legal_actions()[0]] = position.clone()
            position.step(int(rng.choice(position.legal_actions())))
    return list(found.values())


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_there_are_such_positions(variant) -> None:
    assert half_made(variant)


def given(env, position: Position):
    env.reset(options={"position": position})
    return env


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
@pytest.mark.parametrize("mode", ["ansi", "svg"])
def test_a_picture_tells_no_move_whose_beginning_was_not_seen(variant, mode) -> None:
    game, settings = variant.game.name, {"num_players": variant.num_players, "render_mode": mode, **variant.options}
    for position in half_made(variant)[:20]:
        envs = (
            given(GameAEC(game, **settings), position),
            given(GameEnv(game, seat="all", illegal_action="raise", **settings), position),
        )
        for env in envs:
            quiet = env.render()
            assert env._move == []
            while env.position.mid_move:
                env.step(env.position.legal_actions()[-1])
                assert env._move == []
                assert env.render() != quiet
            if not env.position.over:
                actions = [env.position.legal_actions()[-1]]
                env.step(actions[0])
                assert env._move == actions
                env.render()


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_opponents_go_on_with_a_move(variant) -> None:
    for position in half_made(variant)[:20]:
        learner = (position.seat + 1) % variant.num_players
        settings = {"num_players": variant.num_players, "render_mode": "svg", **variant.options}
        env = GameEnv(variant.game.name, seat=learner, opponents="random", **settings)
        try:
            env.reset(options={"position": position})
        except ValueError as error:
            assert "is over before seat" in str(error)  # noqa: PT017
            continue
        assert "</svg>" in env.render()
