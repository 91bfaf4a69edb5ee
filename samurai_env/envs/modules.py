"""The contents of a game's PettingZoo module, such as `samurai_env.samurai_v0`."""

from collections.abc import Callable
from typing import Any

from pettingzoo.utils import OrderEnforcingWrapper

from samurai_env.envs.aec import GameAEC, wrapped


def aec_functions(game: str) -> tuple[Callable[..., OrderEnforcingWrapper], Callable[..., GameAEC]]:
    """The functions `env` and `raw_env` of the module `samurai_env.<game>_v0`."""

    def env(
        num_players: int | None = None,
        *,
        encoding: str | None = None,
        reward: str = "result",
        render_mode: str | None = None,
        viewer: int | None = None,
        observation: str = "dict",
        **options: Any,
    ) -> OrderEnforcingWrapper:
        """The environment with PettingZoo's check of the order of calls; an illegal action ends the game.

        As in PettingZoo's classic games, the agent of the illegal action gets -1 and a warning is printed.

        Args:
            num_players: number of players; the game's smallest if None.
            encoding: how observations are written; the game's first if None.
            reward: "result": the returns at the end, 0 before; "shaped": plus the change of the game's `potential`.
            render_mode: "ansi", "svg", "rgb_array", or "human" for a window.
            viewer: seat whose secrets pictures may show; None shows all.
            observation: "dict" of observation and mask; "box": the observation alone, the mask only in `infos`.
            options: the game's options, see its page in docs/.

        Returns:
            The wrapped `samurai_env.envs.aec.GameAEC`, which says what observations and infos hold.

        Raises:
            TypeError: an unknown keyword.
            ValueError: an argument that is not possible; the text says what is.
        """
        return wrapped(
            game,
            num_players=num_players,
            encoding=encoding,
            reward=reward,
            render_mode=render_mode,
            viewer=viewer,
            observation=observation,
            **options,
        )

    def raw_env(
        num_players: int | None = None,
        *,
        encoding: str | None = None,
        reward: str = "result",
        render_mode: str | None = None,
        viewer: int | None = None,
        observation: str = "dict",
        **options: Any,
    ) -> GameAEC:
        """The environment itself, without checks of order: faster. The arguments are those of `env`.

        An illegal action raises `IllegalActionError` and changes nothing.
        """
        return GameAEC(
            game,
            num_players,
            encoding=encoding,
            reward=reward,
            render_mode=render_mode,
            viewer=viewer,
            observation=observation,
            **options,
        )

    for function in (env, raw_env):  # found by name, as pickle does it
        function.__module__, function.__qualname__ = f"samurai_env.{game}_v0", function.__name__
    return env, raw_env
