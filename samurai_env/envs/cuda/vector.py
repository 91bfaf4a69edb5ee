"""Vector environment of any game on a GPU: states, masks, observations and rewards stay there."""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from samurai_env.core import batch
from samurai_env.core.batch import StepBuffers
from samurai_env.core.checks import checked_integer
from samurai_env.core.rng import random_seed
from samurai_env.core.texts import shown
from samurai_env.envs.common import (
    REWARDS,
    check_choice,
    check_fit,
    checked_autoreset_mode,
    checked_desynchronize,
    checked_options,
    checked_reset_mask,
    checked_seeds,
    variant_from_keywords,
)
from samurai_env.envs.cuda.compiled.all_seats import (
    GO_ON,
    KEPT,
    NEXT,
    SEEDED,
    Outcomes,
    PlayJob,
    ResetJob,
    SampleJob,
    SeeJob,
    StepJob,
    cuda_kernels,
)
from samurai_env.envs.cuda.toolkit import check_gpu, on_gpu
from samurai_env.envs.spaces import OBSERVATIONS, observation_space
from samurai_env.envs.vector import MODES
from samurai_env.position import IllegalActionError

MAX_GAMES = 2**26
Outcome = tuple[Any, dict[str, Any]]


class CudaVectorEnv(VectorEnv[Any, Any, Any]):
    """Many games at once on a GPU; the caller decides for every seat. One kernel a step, which nobody waits for.

    Games, rewards, observations and infos are those of `samurai_env.envs.vector.GameVectorEnv`: both run the same
    compiled functions, and `python -m tests.cuda.check` compares them on a GPU, bit for bit. Different from there:

    - Every array is on the GPU, numba's device array unless `wrap` makes something else of it, without a copy:
      `wrap=torch.as_tensor` gives tensors. They are the environment's own buffers, overwritten by the next call.
    - Actions are an int64 array on the GPU (a tensor will do). Whether they are legal the GPU alone knows: a game
      whose action is illegal stays as it is, with its outputs of the last step, and `check` raises the error.
    - With SAME_STEP `info["final_obs"]` is an int8 array of all games, its rows valid where `info["_final_obs"]`;
      returns are in `info["final_info"]`. A game's further results (its name for the end, a score) are not reported;
      `states()` has them.
    - There are no threads, pictures, copies and pickles.

    Args:
        game: name of the game.
        num_envs: number of games, at most 67,108,864.
        num_players: as for `GameVectorEnv`.
        encoding: as for `GameVectorEnv`.
        reward: as for `GameVectorEnv`.
        autoreset_mode: as for `GameVectorEnv`.
        observation: as for `GameVectorEnv`.
        wrap: makes the caller's array of one on the GPU; called once for each buffer.
        options: the game's options.

    Raises:
        RuntimeError: numba-cuda, its compiler or the GPU is missing.
        TypeError: `num_envs` is not an integer, or an unknown keyword.
        ValueError: an argument that is not possible; the text says what is.
    """

    REWARD: ClassVar[str] = "own"  # the buffer of the rewards that `step` returns
    CPU_ONLY: ClassVar[tuple[str, ...]] = ("threads", "copy", "render_mode")  # what is said when one is given
    GIVEN: ClassVar[tuple[str, ...]] = (  # the buffers that callers see
        *("own", "rewards", "payoffs", "masks", "observations", "seats", "actors", "ended", "final"),
    )

    def __init__(
        self,
        game: str,
        num_envs: int = 1,
        num_players: int | None = None,
        *,
        encoding: str | None = None,
        reward: str = "result",
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        observation: str = "dict",
        wrap: Callable[[Any], Any] | None = None,
        **options: Any,
    ) -> None:
        check_choice("reward", reward, REWARDS)
        check_choice("observation", observation, OBSERVATIONS)
        autoreset_mode = checked_autoreset_mode(autoreset_mode)
        if not 1 <= checked_integer("num_envs", num_envs) <= MAX_GAMES:
            raise ValueError(f"num_envs must be 1 to {MAX_GAMES:,}, not {num_envs}")
        self.variant = variant_from_keywords(type(self), game, num_players, options)
        check_gpu()
        self.num_envs = int(num_envs)
        self.encoding = self.variant.encoding_name(encoding)
        self.autoreset_mode = autoreset_mode
        self.metadata = {"render_modes": [], "autoreset_mode": self.autoreset_mode}
        self.single_observation_space = observation_space(self.variant, self.encoding, observation)
        self.single_action_space = spaces.Discrete(self.variant.num_actions)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._boxed, self._shaped, self._ready = observation == "box", int(reward == "shaped"), False
        self._mode = MODES[self.autoreset_mode]
        self._same_step = self._mode == batch.SAME_STEP
        self._wrap = wrap or (lambda array: array)
        self.stream: Any = 0
        """The CUDA stream of kernels and copies: 0, or numba's (`numba.cuda.external_stream`)."""
        self._make_buffers()
        self._choose_kernels()
        self._given = {name: self._wrap(array) for name, array in self._buffers._asdict().items() if name in self.GIVEN}
        self._given |= {name: self._wrap(array) for name, array in self._outcomes._asdict().items()}

    def _zeros(self, dtype: Any, *shape: int) -> Any:
        """Zeros on the GPU, a row a game."""
        return on_gpu(np.zeros((self.num_envs, *shape), dtype))

    def _make_buffers(self) -> None:
        variant, players = self.variant, self.variant.num_players
        states = variant.new(self.num_envs)
        states["seed"] = np.uint64(random_seed()) + np.arange(self.num_envs, dtype=np.uint64)  # not reset yet
        self._shape = shape = variant.encoding(self.encoding).shape
        zeros = self._zeros
        self._states = on_gpu(states)
        self._actions = zeros(np.int64)
        self._streams = zeros(np.uint64, 1)
        self._how, self._seeds = zeros(np.int8), zeros(np.uint64)
        self._outcomes = Outcomes(*(zeros(np.bool_) for _ in Outcomes._fields))
        self._shared = {
            "states": self._states,
            "actions": self._actions,
            "done": zeros(np.bool_),
            "payoffs": zeros(np.float32, players),
            "words": zeros(np.uint64, variant.num_words),
            "masks": zeros(np.int8, variant.num_actions),
            "observations": zeros(np.int8, *shape),
            "ended": zeros(np.bool_),
            "final": zeros(np.int8, *shape) if self._same_step else on_gpu(np.zeros((1, *shape), np.int8)),
        }
        self._make_own_buffers()

    def _make_own_buffers(self) -> None:
        """Make the buffers of this form: set `_buffers`."""
        self._buffers: Any = StepBuffers(
            **self._shared,
            actors=self._zeros(np.int8),
            own=self._zeros(np.float32),
            rewards=self._zeros(np.float32, self.variant.num_players),
            seats=self._zeros(np.int8),
            last=self._states,  # not used: kernels have their own
        )

    def _choose_kernels(self) -> None:
        """Set the kernels of a step and of a reset."""
        self._kernels = cuda_kernels(self.variant.game, self.variant.num_players, self.encoding)
        self._step_kernel, self._begin_kernel = self._kernels.step_game, self._kernels.begin_game

    def _step_job(self, buffers: Any) -> tuple[Any, ...]:
        return StepJob(self._mode, self._shaped, buffers, self._outcomes)

    def _begin_job(self, desynchronized: int) -> tuple[Any, ...]:
        return ResetJob(
            self._how, self._seeds, desynchronized, self._streams, self._mode, self._buffers, self._outcomes
        )

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> Outcome:
        """Start games as `GameVectorEnv.reset` does; `reset_mask` is a NumPy array.

        Raises:
            IllegalActionError: an action of the last steps was illegal, see `check`.
            ClosedEnvironmentError, ResetNeeded, TypeError, ValueError: as there.
        """
        self._check_open()
        given = checked_options(options)
        mask = checked_reset_mask(given, self.num_envs, self._ready)
        desynchronized = checked_desynchronize(given)
        named, seeds = checked_seeds(seed, self.num_envs)
        how = np.where(named, SEEDED, NEXT).astype(np.int8)
        if mask is not None:
            how[~mask] = KEPT
        if self._ready:
            self.check()
        self._to_gpu(self._seeds, seeds)
        return self._begin(how, desynchronized)

    def _begin(self, how: np.ndarray, desynchronized: bool) -> Outcome:
        """Reset games, or go on with those put there, as `how` (int8 (num_envs,)) says of each."""
        self._to_gpu(self._how, how)
        self._begin_kernel(self.num_envs, self._begin_job(int(desynchronized)), self.stream)
        self._ready = True
        return self._observed(), self._info()

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Carry out one decision in every game; returns at once.

        Args:
            actions: int64 (num_envs,) on the GPU, with `__cuda_array_interface__`, such as a tensor; not to be written
                into before the kernel has run (what the same stream does comes later anyway).

        Raises:
            ClosedEnvironmentError: after `close`.
            ResetNeeded: before the first reset.
            TypeError: `actions` is not on the GPU.
            ValueError: `actions` of another shape or dtype.
        """
        self._check_ready()
        buffers = self._buffers._replace(actions=self._taken(actions))
        self._step_kernel(self.num_envs, self._step_job(buffers), self.stream)
        given = self._given
        return self._observed(), given[self.REWARD], given["terminated"], given["truncated"], self._step_info()

    def _taken(self, actions: Any) -> Any:
        """The actions as a kernel takes them; raises as `step`."""
        if isinstance(actions, type(self._actions)):
            taken = actions
        elif hasattr(actions, "__cuda_array_interface__"):
            from numba import cuda

            taken = cuda.as_cuda_array(actions, sync=False)
        else:
            raise TypeError(f"actions must be an array on the GPU, such as a tensor, not {shown(actions)}")
        if taken.shape != (self.num_envs,) or taken.dtype != np.int64 or not taken.is_c_contiguous():
            raise ValueError(
                f"actions must be int64 of shape ({self.num_envs},), adjacent in memory, not {taken.dtype} "
                f"of shape {tuple(taken.shape)}"
            )
        return taken

    def sample(self) -> Any:
        """Draw a legal action for each game, uniformly, on the GPU: int64 (num_envs,), 0 for a game that is over.

        Each game has a stream of its own, which `reset` begins.

        Raises:
            ClosedEnvironmentError: after `close`.
            ResetNeeded: before the first reset.
        """
        self._check_ready()
        job = SampleJob(self._shared["words"], self._streams, self._actions)
        self._kernels.sample_game(self.num_envs, job, self.stream)
        if "actions" not in self._given:
            self._given["actions"] = self._wrap(self._actions)
        return self._given["actions"]

    def play_random(self, steps: int) -> int:
        """Make so many random decisions in every game within one kernel, without outputs; how many games have ended.

        Afterwards a reset is needed. Waits for the kernel.

        Raises:
            ClosedEnvironmentError: after `close`.
            ResetNeeded: before the first reset.
        """
        self._check_ready()
        finished = self._zeros(np.int64)
        self._kernels.play_game(self.num_envs, PlayJob(self._states, self._streams, steps, finished), self.stream)
        self._ready = False
        return int(self._to_host(finished).sum())

    def check(self) -> None:
        """Wait for the GPU, and see whether the actions of all steps so far were legal.

        Raises:
            IllegalActionError: names the first game with an illegal action; it stays as it was. Said once.
        """
        illegal = self._to_host(self._outcomes.illegal)
        if illegal.any():
            self._to_gpu(self._outcomes.illegal, np.zeros_like(illegal))
            raise IllegalActionError(f"game {int(illegal.argmax())}: an action of the last steps was illegal")

    def state(self) -> Any:
        """Return what each seat sees, int8 (num_envs, num_players, ...); a buffer like the others.

        Raises:
            ClosedEnvironmentError: after `close`.
            ResetNeeded: before the first reset.
        """
        self._check_ready()
        if "seen" not in self._given:
            self._seen = self._zeros(np.int8, self.variant.num_players, *self._shape)
            self._given["seen"] = self._wrap(self._seen)
        self._kernels.see_game(self.num_envs, SeeJob(self._states, self._seen), self.stream)
        return self._given["seen"]

    @property
    def states(self) -> np.ndarray:
        """The states of all games as `GameVectorEnv.states` has them, copied from the GPU; to be written, `restore`."""
        return self._to_host(self._states)

    def restore(self, states: np.ndarray) -> Outcome:
        """Continue from such a copy; returns what `reset` returns.

        Raises:
            ClosedEnvironmentError: after `close`.
            TypeError: not an array.
            ValueError: another number of games, another variant, or states that cannot occur in a legal game.
        """
        self._check_open()
        check_fit(states, self.num_envs, self.variant)
        self.variant.check(states)
        self._to_gpu(self._states, states)
        return self._begin(np.full(self.num_envs, GO_ON, np.int8), desynchronized=False)

    def _to_gpu(self, array: Any, values: np.ndarray) -> None:
        """Fill an array on the GPU, after what the stream does before."""
        array.copy_to_device(values, stream=self.stream)

    def _to_host(self, array: Any) -> np.ndarray:
        """Copy an array from the GPU once the stream is done."""
        copy: np.ndarray = array.copy_to_host(stream=self.stream)
        if self.stream != 0:
            self.stream.synchronize()  # only copies on the default stream wait
        return copy

    def _check_open(self) -> None:
        if self.closed:
            raise ClosedEnvironmentError("the environment is closed: make a new one")

    def _check_ready(self) -> None:
        """Refuse a call between two games, or after `close`."""
        if not self._ready:
            self._check_open()
            raise ResetNeeded("call reset() of all games first, or restore()")

    def _observed(self) -> Any:
        given = self._given
        if self._boxed:
            return given["observations"]
        return {"observation": given["observations"], "action_mask": given["masks"]}

    def _info(self) -> dict[str, Any]:
        """The info of a reset."""
        return {"seat": self._given["seats"], "action_mask": self._given["masks"]}

    def _step_info(self) -> dict[str, Any]:
        given = self._given
        return {**self._info(), "actor": given["actors"], "rewards": given["rewards"], **self._ends()}

    def _ends(self) -> dict[str, Any]:
        """The part of the info about games that ended in this step."""
        given = self._given
        ends = {"returns": given["payoffs"], "_returns": given["ended"]}
        if not self._same_step:
            return ends
        final = given["final"]
        if not self._boxed:
            final = {"observation": final}
        ended = ends["_returns"]
        return {**ends, "final_obs": final, "final_info": ends, "_final_obs": ended, "_final_info": ended}

    def close_extras(self, **kwargs: Any) -> None:
        """Let no call follow; the memory goes with the last array of it."""
        self.closed, self._ready = True, False
