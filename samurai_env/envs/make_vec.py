"""The entry point of `gymnasium.make_vec`: one of four vector environments."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from samurai_env.core.texts import shown
from samurai_env.envs.common import check_choice, check_keywords
from samurai_env.envs.learner import LearnerVectorEnv
from samurai_env.envs.opponents import Opponent
from samurai_env.envs.vector import GameVectorEnv

DEVICES = ("cpu", "cuda")


def make_vector_env(
    game: str,
    num_envs: int = 1,
    *,
    opponents: Opponent | Sequence[Opponent] | None = None,
    seat: int | str | Sequence[int] | np.ndarray | None = None,
    device: str = "cpu",
    **kwargs: Any,
) -> Any:
    """Make the vector environment of a game, for `gymnasium.make_vec`.

    Args:
        game: name of the game.
        num_envs: number of games.
        opponents: None lets the caller decide for every seat (`GameVectorEnv`); else they play all seats but the
            learner's (`LearnerVectorEnv`).
        seat: the learner's seat, 0 if None; only with opponents.
        device: "cpu", or "cuda" for the same on a GPU (`samurai_env.envs.cuda`).
        kwargs: as the classes have them.

    Raises:
        TypeError: an unknown keyword, or what the classes refuse.
        ValueError: a seat without opponents, an unknown device, or what the classes refuse.
    """
    check_choice("device", device, DEVICES)
    if opponents is None and seat is not None:
        raise ValueError(f"seat={shown(seat)} is that of one learner: name its opponents, too, such as 'greedy'")
    one: dict[str, Any] = {} if opponents is None else {"opponents": opponents, "seat": 0 if seat is None else seat}
    environment: type = LearnerVectorEnv if one else GameVectorEnv
    if device == "cuda":
        from samurai_env.envs.cuda.learner import CudaLearnerVectorEnv
        from samurai_env.envs.cuda.vector import CudaVectorEnv

        environment = CudaLearnerVectorEnv if one else CudaVectorEnv
    check_keywords(environment, game, kwargs, make_vector_env)
    return environment(game, num_envs, **one, **kwargs)
