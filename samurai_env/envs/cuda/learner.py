"""Vector environment on a GPU for one learner in each game: random and greedy opponents play there, too."""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from gymnasium.vector import AutoresetMode

from samurai_env.core.texts import shown
from samurai_env.envs.compiled.one_learner import ROTATING, LearnerBuffers
from samurai_env.envs.cuda.compiled.all_seats import GO_ON
from samurai_env.envs.cuda.compiled.one_learner import LearnerResetJob, LearnerStepJob, cuda_learner_kernels
from samurai_env.envs.cuda.toolkit import on_gpu
from samurai_env.envs.cuda.vector import CudaVectorEnv, Outcome
from samurai_env.envs.learner import COMPILED_KINDS, seating_of
from samurai_env.envs.opponents import COMPILED


class CudaLearnerVectorEnv(CudaVectorEnv):
    """`samurai_env.envs.learner.LearnerVectorEnv` on a GPU, as `CudaVectorEnv` is `GameVectorEnv` there.

    Args:
        game: name of the game.
        num_envs: number of games.
        num_players: number of players; the game's smallest if None.
        opponents: "random", "greedy", or a sequence with one of these for each other seat.
        seat: as for `LearnerVectorEnv`.
        encoding: as for `CudaVectorEnv`.
        reward: as for `CudaVectorEnv`.
        autoreset_mode: as for `CudaVectorEnv`.
        observation: as for `CudaVectorEnv`.
        wrap: as for `CudaVectorEnv`.
        options: the game's options.

    Raises:
        RuntimeError, TypeError, ValueError: as `CudaVectorEnv`.
    """

    REWARD: ClassVar[str] = "rewards"
    GIVEN: ClassVar[tuple[str, ...]] = (
        *("rewards", "payoffs", "masks", "observations", "learners", "ended", "played", "final"),
    )

    def __init__(
        self,
        game: str,
        num_envs: int = 1,
        num_players: int | None = None,
        *,
        opponents: str | Sequence[str] = "random",
        seat: int | str | Sequence[int] | np.ndarray = 0,
        encoding: str | None = None,
        reward: str = "result",
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        observation: str = "dict",
        wrap: Callable[[Any], Any] | None = None,
        **options: Any,
    ) -> None:
        self.opponents, self._seat_choice = opponents, seat
        super().__init__(
            game,
            num_envs,
            num_players,
            encoding=encoding,
            reward=reward,
            autoreset_mode=autoreset_mode,
            observation=observation,
            wrap=wrap,
            **options,
        )

    def _make_own_buffers(self) -> None:
        self._seating, learners = seating_of(self._seat_choice, self.variant.num_players, self.num_envs)
        self._begun = False  # whether learners have had seats
        self._buffers = LearnerBuffers(
            **self._shared,
            waiting=self._zeros(np.int8),
            decided=self._zeros(np.bool_),
            learners=on_gpu(learners),
            streams=self._zeros(np.uint64, 1),
            potentials=self._zeros(np.float64),
            kinds=on_gpu(self._kinds()),
            rewards=self._zeros(np.float32),
            played=self._zeros(np.int8),
            last=self._states,  # not used: kernels have their own
        )

    def _kinds(self) -> np.ndarray:
        """Who plays the other seats; raises ValueError."""
        others, opponents = self.variant.num_players - 1, self.opponents
        alone = isinstance(opponents, str) or not isinstance(opponents, Sequence)
        named: list[Any] = [opponents] * others if alone else list(opponents)
        if len(named) != others or not all(name in COMPILED for name in named):
            raise ValueError(
                f"opponents on a GPU are {' or '.join(COMPILED)}, one for all or one for each of the {others} other "
                f"seats, not {shown(opponents)}"
            )
        return np.array([COMPILED_KINDS[name] for name in named] or [0], np.int8)

    def _choose_kernels(self) -> None:
        super()._choose_kernels()
        kernels = cuda_learner_kernels(self.variant.game, self.variant.num_players, self.encoding)
        self._step_kernel, self._begin_kernel = kernels.learner_game, kernels.begin_learner_game

    def _step_job(self, buffers: Any) -> tuple[Any, ...]:
        return LearnerStepJob(self._mode, self._shaped, self._seating, buffers, self._outcomes)

    def _begin(self, how: np.ndarray, desynchronized: bool) -> Outcome:
        if self._seating == ROTATING and not self._begun and (how == GO_ON).all():
            seats = np.arange(self.num_envs) % self.variant.num_players  # a reset would move on to them
            self._to_gpu(self._buffers.learners, seats.astype(np.int8))
        self._begun = True
        return super()._begin(how, desynchronized)

    def _begin_job(self, desynchronized: int) -> tuple[Any, ...]:
        return LearnerResetJob(
            how=self._how,
            seeds=self._seeds,
            desynchronized=desynchronized,
            sampled=self._streams,
            autoreset=self._mode,
            shaped=self._shaped,
            seating=self._seating,
            buffers=self._buffers,
            outcomes=self._outcomes,
        )

    def _info(self) -> dict[str, Any]:
        return {"seat": self._given["learners"], "action_mask": self._given["masks"]}

    def _step_info(self) -> dict[str, Any]:
        info = {**self._info(), **self._ends()}
        if self._same_step:
            ended = self._given["ended"]
            info["final_info"] = {**info["final_info"], "seat": self._given["played"], "_seat": ended}
        return info
