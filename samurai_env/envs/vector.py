"""Gymnasium vector environment of any game: thousands of games in one process, stepped by compiled code."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.ma import MaskedArray

from samurai_env.core import batch
from samurai_env.core.batch import StepBuffers, batch_kernels
from samurai_env.core.bits import first_missing
from samurai_env.core.checks import checked_integer, is_seat
from samurai_env.core.game import no_results
from samurai_env.core.rng import next_seed, random_seed
from samurai_env.core.spin_threads import Worker
from samurai_env.core.texts import shown
from samurai_env.core.variant_spec import parse_variant
from samurai_env.envs.common import (
    PICTURE_MODES,
    REWARDS,
    check_choice,
    check_fit,
    check_render_mode,
    checked_autoreset_mode,
    checked_desynchronize,
    checked_options,
    checked_reset_mask,
    checked_seeds,
    ending,
    render,
    variant_from_keywords,
)
from samurai_env.envs.compiled.one_learner import desynchronizing
from samurai_env.envs.guard import Guard
from samurai_env.envs.spaces import OBSERVATIONS, LegalMultiDiscrete, observation_space
from samurai_env.game_batch import GameBatch
from samurai_env.position import IllegalActionError

MODES = {
    AutoresetMode.SAME_STEP: batch.SAME_STEP,
    AutoresetMode.NEXT_STEP: batch.NEXT_STEP,
    AutoresetMode.DISABLED: batch.DISABLED,
}
MAX_GAMES, MAX_THREADS = 2**31 - 1, 256
Seen = dict[str, np.ndarray] | np.ndarray
Outcome = tuple[Seen, dict[str, Any]]
Step = tuple[Seen, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]


class GameVectorEnv(VectorEnv[Seen, np.ndarray, np.ndarray]):
    """Many games at once; the caller decides for every seat (self-play).

    Each step carries out one decision in every game. **The observation after a step is another seat's than the reward:
    the reward is that of the seat that has just decided, the observation that of the seat that decides next.** A
    learner that takes a row for one agent's experience learns from another seat's value with the wrong sign. For one
    learner in each game use `samurai_env.envs.learner.LearnerVectorEnv` (`make_vec(ID, num_envs, opponents="greedy")`),
    for self-play `samurai_env.envs.gae.gae_by_seat`.

    - observations: `{"observation": int8 (num_envs, ...), "action_mask": int8 (num_envs, num_actions)}` of the
      seat that decides next.
    - rewards: float32 (num_envs,), the reward of the seat that decided; `info["rewards"]` has every
      seat's, float32 (num_envs, num_players). Seats that do not make the last move get their result only there.
    - terminations, truncations: bool (num_envs,). A game that ends at its own limit of decisions is truncated.
    - `info["seat"]`: int8 (num_envs,), the seat that decides next; `info["actor"]`: the seat that decided.
    - `info["action_mask"]`: as in the observation.
    - `info["returns"]`: float32 (num_envs, num_players), of the games that have just ended (rows where
      `info["_returns"]`), 0 elsewhere. The game's further results stand beside them, each with its own mask.

    **Arrays are the environment's own buffers, overwritten by the next call**: the observations, terminations,
    truncations and all arrays of the infos, but not the rewards, `final_obs` and a game's further results. Copy
    what you keep, or pass `copy=True`.

    Autoreset: NEXT_STEP (default, as in Gymnasium's own vector environments) spends a step, whose action is ignored, on
    the reset. SAME_STEP starts a new game in the step that ends one, so no step is lost; as in Gymnasium,
    `info["final_obs"]` then has the last observation (an object array: an observation where `info["_final_obs"]`) and
    `info["final_info"]` the results. DISABLED leaves finished games until
    `reset(options={"reset_mask": mask})`; actions for them are ignored.

    `action_space.sample()` draws a legal action for each game, 0 for one that is over.

    To save games keep a copy of `states`, to continue from it call `restore`; never write into `states`.
    `copy.deepcopy` and `pickle` make an environment that continues as this one would, with its own threads; a copy of
    a closed environment is closed.

    One thread at a time: while a call is under way, another thread's raises RuntimeError. After `close` every call
    raises Gymnasium's ClosedEnvironmentError.

    Args:
        game: name of the game.
        num_envs: number of games.
        num_players: number of players; the game's smallest if None.
        encoding: how observations are written; the game's first if None.
        reward: "result": the returns at the end, 0 before; "shaped": plus the change of the game's `potential`.
        autoreset_mode: a Gymnasium `AutoresetMode` or its value as text ("SameStep", ...).
        threads: number of threads that share the games, at most 256 and no more than there are games (default 1; more
            pay off from some hundred games on, if cores are idle).
        observation: "dict" as above; "box": the observations alone, for learners that refuse dicts. The masks are then
            in `info["action_mask"]` and `action_masks()`.
        copy: give away copies of all arrays.
        render_mode: "ansi", "svg" or "rgb_array", for `render`.
        options: the game's options.

    Raises:
        TypeError: `num_envs` or `threads` is not an integer, or an unknown keyword.
        ValueError: an argument that is not possible; the text says what is.
    """

    # What a copy makes again: its own threads, other views of its own arrays, arrays written before they are read.
    NOT_COPIED: ClassVar[set[str]] = {
        *("_kernels", "_observing", "_bytes", "_last", "_final", "_over", "_job", "_workers", "_guard"),
        *("_stepper", "_keep_stepping"),
    }
    action_space: LegalMultiDiscrete
    closed = True  # until it is made: an older Gymnasium closes what could not be made, too

    def __init__(
        self,
        game: str,
        num_envs: int = 1,
        num_players: int | None = None,
        *,
        encoding: str | None = None,
        reward: str = "result",
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        threads: int = 1,
        observation: str = "dict",
        copy: bool = False,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        check_choice("reward", reward, REWARDS)
        check_choice("observation", observation, OBSERVATIONS)
        check_render_mode(render_mode, PICTURE_MODES)
        autoreset_mode = checked_autoreset_mode(autoreset_mode)
        num_envs, threads = checked_integer("num_envs", num_envs), checked_integer("threads", threads)
        if num_envs < 1 or threads < 1:
            raise ValueError(f"num_envs and threads must be at least 1, not {num_envs} and {threads}")
        if num_envs > MAX_GAMES or threads > MAX_THREADS:
            raise ValueError(
                f"num_envs must be at most {MAX_GAMES:,} and threads {MAX_THREADS}, not {num_envs} and {threads}"
            )
        self.variant = variant_from_keywords(type(self), game, num_players, options)
        self.num_envs = num_envs
        self.encoding = self.variant.encoding_name(encoding)
        self.autoreset_mode = autoreset_mode
        self.metadata = {
            "render_modes": list(PICTURE_MODES),
            "render_fps": 2,
            "autoreset_mode": self.autoreset_mode,
        }
        self.render_mode = render_mode
        self.single_observation_space = observation_space(self.variant, self.encoding, observation)
        self.single_action_space = spaces.Discrete(self.variant.num_actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = LegalMultiDiscrete(self.variant.num_actions, num_envs, self._sampling_masks)
        self._boxed, self._copies = observation == "box", bool(copy)
        self._shaped = reward == "shaped"
        self._ready = False
        self._mode = MODES[self.autoreset_mode]
        self._same_step = self._mode == batch.SAME_STEP
        self._has_results = self.variant.game.describe_results is not no_results
        self._threads = threads
        self.closed = False
        self._make_buffers()
        self._connect()

    def _make_buffers(self) -> None:
        """Make the arrays that a copy of the environment copies."""
        variant, count = self.variant, self.num_envs
        shape = variant.encoding(self.encoding).shape
        self.states = variant.new(count)
        self.states["seed"] = np.uint64(random_seed()) + np.arange(count, dtype=np.uint64)  # not reset yet
        self._words = np.zeros((count, variant.num_words), np.uint64)  # legal actions, whatever callers do to the masks
        self._masks = np.zeros((count, variant.num_actions), np.int8)
        self._observations = np.zeros((count, *shape), np.int8)
        self._actions = np.zeros(count, np.int64)
        self._own = np.zeros(count, np.float32)
        self._rewards = np.zeros((count, variant.num_players), np.float32)
        self._returns = np.zeros((count, variant.num_players), np.float32)
        self._done = np.zeros(count, np.bool_)  # over, and not reset in the same step
        self._ended = np.zeros(count, np.bool_)  # in the last step
        self._cut = np.zeros(count, np.bool_)  # whether the game that was last over in this row was cut off
        self._terminated = np.zeros(count, np.bool_)
        self._truncated = np.zeros(count, np.bool_)
        self._actor = np.zeros(count, np.int8)
        self._seat = np.zeros(count, np.int8)
        self._rows = np.arange(count)

    def _connect(self) -> None:
        """Make the attributes of `NOT_COPIED` from the others."""
        self._guard = Guard()
        self._kernels = batch_kernels(self.variant.game)
        self._observing = self._kernels.by_encoding[self.encoding]
        self._choose_kernels()
        # The same memory as plain bytes: of a structured array NumPy copies chosen rows field by field, which is slow.
        self._bytes = self.states.view(np.dtype((np.void, self.states.itemsize)))
        self._last, self._final, self._over = self.states, self._observations, self._done
        if self._same_step:  # a game that ends is overwritten before the step returns
            self._last, self._final = self.variant.new(self.num_envs), np.zeros_like(self._observations)
            self._over = self._ended
        size = -(-self.num_envs // self._threads)
        parts = [slice(start, start + size) for start in range(0, self.num_envs, size)]
        self._job, *jobs = [self._step_arguments(part) for part in parts]
        self._workers = [] if self.closed else [Worker(self._keep_stepping, job) for job in jobs]

    def _choose_kernels(self) -> None:
        """Set the compiled step, and what threads do with it."""
        self._stepper, self._keep_stepping = self._observing.batch_step, self._observing.keep_stepping

    def __getstate__(self) -> dict[str, Any]:
        with self._guard:
            self._settle()
            kept = {name: value for name, value in self.__dict__.items() if name not in self.NOT_COPIED}
            arrays = {name: value.copy() for name, value in kept.items() if isinstance(value, np.ndarray)}
        return {**kept, **arrays, "action_space": deepcopy(self.action_space), "variant": self.variant.spec}

    def __setstate__(self, state: dict[str, Any]) -> None:
        variant = parse_variant(state["variant"])
        form = "box" if state["_boxed"] else "dict"
        space, dtype = observation_space(variant, state["encoding"], form), state["states"].dtype
        if (dtype, state["single_observation_space"]) != (variant.dtype, space):
            raise ValueError("this environment was saved by another version of samurai_env, whose states differ")
        self.__dict__.update(state, variant=variant, states=state["states"].view(variant.dtype))
        self.action_space.legal_masks = self._sampling_masks
        self._connect()

    def _step_arguments(self, part: slice) -> tuple[Any, ...]:
        """The arguments of the compiled step for the games of `part`."""
        buffers = StepBuffers(
            states=self.states,
            actions=self._actions,
            done=self._done,
            actors=self._actor,
            own=self._own,
            rewards=self._rewards,
            payoffs=self._returns,
            words=self._words,
            masks=self._masks,
            observations=self._observations,
            seats=self._seat,
            ended=self._ended,
            last=self._last,
            final=self._final,
        )
        return self._mode, self._shaped, StepBuffers(*(array[part] for array in buffers))

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> Outcome:
        """Start games: game i from `seed + i`, or from `seed[i]`; without a seed from the successor of its last seed.

        Args:
            seed: one integer, or one (or None) for each game.
            options: {"reset_mask": bool (num_envs,)} resets only those games. {"desynchronize": True} advances each of
                them to a random point of a random game from its seed, uniformly over its length, so that games do not
                all start and end together.

        Raises:
            ClosedEnvironmentError: after `close`.
            ResetNeeded: a mask that leaves out games at the first reset, or after a call that was interrupted.
            RuntimeError: another thread uses the environment.
            TypeError: a seed that is not an integer, options that are no mapping, a mask that is not an array of bool,
                `desynchronize` that is not a bool.
            ValueError: a wrong number of seeds, an impossible seed, a mask of another shape, or an unknown option.
        """
        with self._guard:
            self._check_open()
            given = checked_options(options)
            rows, desynchronized = self._chosen(given), checked_desynchronize(given)
            named, seeds = checked_seeds(seed, self.num_envs)
            if named[0]:
                super().reset(seed=int(seeds[0]))  # `np_random`
            self._settle()
            self._ready = False  # until done: Ctrl-C may leave some games reset and others not
            self._done[rows] = False
            self._reset_rows(rows, named[rows], seeds[rows], desynchronized)
            self._ready = True
            return self._handed(self._observed(), self._info())

    def _chosen(self, options: Mapping[str, Any]) -> np.ndarray:
        """Rows to reset; raises as `reset`."""
        mask = checked_reset_mask(options, self.num_envs, self._ready)
        return self._rows if mask is None else np.flatnonzero(mask)

    def _reset_rows(self, rows: np.ndarray, named: np.ndarray, seeds: np.ndarray, desynchronized: bool = False) -> None:
        """Reset the games in these rows: to their seed where one is `named`, else to the successor of the last."""
        self._write_rows(rows, self._reset_states(rows, named, seeds, desynchronized))

    def _reset_states(self, rows: np.ndarray, named: np.ndarray, seeds: np.ndarray, desynchronized: bool) -> np.ndarray:
        """Reset the games in these rows and write no outputs; returns a copy of their states."""
        states, seeds = self._bytes[rows].view(self.states.dtype), seeds.copy()
        seeds[~named] = [next_seed(last) for last in states["seed"][~named]]
        self._kernels.reset_all(states, seeds)
        if desynchronized:
            desynchronizing(self.variant.game)(states, np.zeros(self.variant.num_words, np.uint64))
        self._bytes[rows] = states.view(self._bytes.dtype)
        return states

    def _write_rows(self, rows: np.ndarray, states: np.ndarray) -> None:
        """Write masks, observations and seats of the games in these rows."""
        masks, observations, seats = self._masks[rows], self._observations[rows], self._seat[rows]
        words = self._words[rows]
        self._kernels.legal_words(states, words)
        self._observing.batch_observe(states, masks, observations, seats, np.zeros(words.shape[1], np.uint64))
        self._masks[rows], self._observations[rows], self._seat[rows] = masks, observations, seats
        self._words[rows] = words

    def restore(self, states: np.ndarray) -> Outcome:
        """Continue from a copy of `states` taken earlier; returns what `reset` returns.

        In SAME_STEP games that are over are reset.

        Raises:
            ClosedEnvironmentError: after `close`.
            RuntimeError: another thread uses the environment.
            TypeError: not an array.
            ValueError: another number of games, another variant, or states that cannot occur in a legal game.
        """
        variant = self.variant
        check_fit(states, self.num_envs, variant)
        with self._guard:
            self._check_open()
            states = np.array(states, variant.dtype)  # a copy, so that the checked states are those played
            variant.check(states)
            over = states["over"].nonzero()[0]
            cut = [ending(variant, states[row])[1] for row in over]
            self._settle()
            self._ready = False  # as in `reset`
            self.states[:] = states
            if not self._same_step:
                self._done[:] = self.states["over"]
                self._cut[over] = cut
            self._continue(over)
            self._ready = True
            return self._handed(self._observed(), self._info())

    def _continue(self, over: np.ndarray) -> None:
        """Continue from restored states; the games in the rows `over` are over."""
        self._write_rows(self._rows, self.states)
        if self._same_step:
            self._reset_rows(over, *checked_seeds(None, len(over)))

    def step(self, actions: np.ndarray) -> Step:
        """Carry out one decision in every game.

        Args:
            actions: integers (num_envs,); those of finished games are ignored.

        Raises:
            ClosedEnvironmentError: after `close`.
            IllegalActionError: an illegal action, named with its game; no game changes.
            ResetNeeded: before the first reset, or after a call that Ctrl-C or an error interrupted.
            RuntimeError: another thread uses the environment; with several threads of its own, after a fork.
            ValueError: `actions` of another shape, not integers, or masked.
        """
        if not self._guard.enter(False):  # as `with`, in a third of the time
            raise self._guard.refusal()
        try:
            self._take(actions)
            try:
                count = self._advance()
                info = self._step_info()
                if count:
                    self._add_ends(info)
                np.logical_and(self._cut, self._over, out=self._truncated)
                np.greater(self._over, self._truncated, out=self._terminated)
                rewards = self._own.copy()
                return self._handed(self._observed(), rewards, self._terminated, self._truncated, info)
            except BaseException:  # such as Ctrl-C: some games may have stepped and others not
                self._ready = False
                self._settle()
                raise
        finally:
            self._guard.leave()

    def _advance(self) -> int:
        """Carry out the actions in all threads; how many games have ended."""
        for worker in self._workers:
            worker.start()
        return self._stepper(*self._job) + sum([worker.result() for worker in self._workers])

    def _settle(self) -> None:
        """Wait for threads that still step after an interrupted `step`."""
        for worker in self._workers:
            with suppress(RuntimeError):
                worker.result()

    def _check_open(self) -> None:
        if self.closed:
            raise ClosedEnvironmentError("the environment is closed: make a new one")

    def _check_ready(self) -> None:
        """Refuse a call between two games, or after `close`."""
        if not self._ready:
            self._check_open()
            raise ResetNeeded("call reset() of all games first (again if a call was interrupted), or restore()")

    def _take(self, actions: np.ndarray) -> None:
        """Copy the actions to where compiled code reads them; raises as `step`."""
        self._check_ready()
        if isinstance(actions, MaskedArray):
            raise ValueError("actions must be a plain array, not a masked one: every game needs its action")
        try:
            actions = np.asarray(actions)
        except ValueError:  # a ragged list
            raise ValueError(f"actions must be integers of shape ({self.num_envs},), not {shown(actions)}") from None
        if actions.shape != (self.num_envs,) or actions.dtype.kind not in "iu":
            raise ValueError(
                f"actions must be integers of shape ({self.num_envs},), not {actions.dtype} of shape {actions.shape}"
            )
        self._actions[:] = actions  # a copy, so that the checked actions are those applied
        game = first_missing(self._words, self._actions, self._done)
        if game >= 0:
            action = int(self._actions[game])
            if actions.dtype.kind == "u":  # the largest have become negative in the copy
                action %= 2**64
            why = GameBatch(self.variant).why_illegal(self.states[game], action)
            written = f"action {action} was illegal when the last call returned; `states` has been written into since"
            raise IllegalActionError(f"game {game}: {why or written}")

    def _add_ends(self, info: dict[str, Any]) -> None:
        """Add to `info` the results of games that ended in this step."""
        ended, rows = self._ended, self._ended.nonzero()[0]
        ends: dict[str, Any] = {"returns": self._returns, "_returns": ended}
        if self._has_results:
            self._add_results(rows, ends)
        if not self._same_step:
            info.update(ends)
            return
        final, masks = np.empty(self.num_envs, object), np.zeros((len(rows), self._masks.shape[1]), np.int8)
        for row, observation, mask in zip(rows.tolist(), self._final.take(rows, 0), masks, strict=True):
            final[row] = observation if self._boxed else {"observation": observation, "action_mask": mask}
        info["final_obs"], info["final_info"] = final, ends
        info["_final_obs"] = info["_final_info"] = ended

    def _add_results(self, rows: np.ndarray, ends: dict[str, Any]) -> None:
        """Add the game's further results of finished games."""
        states = self._last.view(self._bytes.dtype)[rows].view(self.states.dtype)
        for key, values in self.variant.game.describe_results(states).items():
            column = np.full(self.num_envs, None if values.dtype == object else 0, values.dtype)
            column[rows] = values
            ends[key], ends[f"_{key}"] = column, self._ended
            if key == "result":
                self._cut[rows] = values == "truncated"

    def _observed(self) -> Seen:
        if self._boxed:
            return self._observations
        return {"observation": self._observations, "action_mask": self._masks}

    def _info(self) -> dict[str, Any]:
        """The info of a reset."""
        return {"seat": self._seat, "action_mask": self._masks}

    def _step_info(self) -> dict[str, Any]:
        """The info of a step, but for the results of games that ended."""
        return {
            "seat": self._seat,
            "actor": self._actor,
            "rewards": self._rewards,
            "action_mask": self._masks,
            "returns": self._returns,
            "_returns": self._ended,
        }

    def _handed(self, *returned: Any) -> Any:
        """Return values of a call, in arrays of the caller's own if it wants them."""
        return tuple(map(_copied, returned)) if self._copies else returned

    def action_masks(self) -> np.ndarray:
        """Legal actions now, bool (num_envs, num_actions), the name that sb3-contrib asks for; all False once over.

        Raises:
            ClosedEnvironmentError: after `close`.
            ResetNeeded: before the first reset.
            RuntimeError: another thread uses the environment.
        """
        with self._guard:
            self._check_ready()
            masks = self._sampling_masks()
        assert masks is not None
        return masks.astype(bool)

    def _sampling_masks(self) -> np.ndarray | None:
        """Legal actions, uint8 (num_envs, num_actions), whatever callers have done to the masks given to them."""
        if not self._ready:
            return None
        return np.unpackbits(self._words.view(np.uint8), axis=1, count=self.variant.num_actions, bitorder="little")

    def state(self) -> np.ndarray:
        """Return what each seat sees, hidden hands included, int8 (num_envs, num_players, ...), in a new array.

        Raises:
            ClosedEnvironmentError: after `close`.
            ResetNeeded: before the first reset.
            RuntimeError: another thread uses the environment.
        """
        with self._guard:
            self._check_ready()
            players = self.variant.num_players
            seen = np.empty((self.num_envs, players, *self._observations.shape[1:]), np.int8)
            self._observing.batch_observe_all(self.states, seen)  # the seat to move first
            turned = (np.arange(players) - self.states["seat"][:, None].astype(np.int64)) % players
        return seen[self._rows[:, None], turned]

    def render(self, game: int | None = None) -> Any:
        """Draw games in `render_mode`: text, SVG string or uint8 pixels (height, width, 3).

        Args:
            game: which game; None draws all.

        Returns:
            The picture of the game, or a tuple of all games' pictures, as Gymnasium has it; None without a mode.

        Raises:
            ClosedEnvironmentError: after `close`.
            ResetNeeded: before the first reset.
            RuntimeError: another thread uses the environment.
            ValueError: there is no such game.
        """
        if self.render_mode is None:
            self._check_open()
            return None
        with self._guard:
            self._check_ready()
            if game is None:
                return tuple(self.render(row) for row in range(self.num_envs))
            if not is_seat(game, self.num_envs):
                raise ValueError(f"games must be 0 to {self.num_envs - 1}, not {shown(game)}")
            return render(self.variant, self.states[game], self.render_mode, self._viewer(game), [])

    def _viewer(self, game: int) -> int | None:
        """The seat that looks at a picture; None sees everything."""
        return None

    def close_extras(self, **kwargs: Any) -> None:
        """Stop the threads.

        Raises:
            RuntimeError: another thread uses the environment.
        """
        with self._guard:
            self.closed, self._ready = True, False
            for worker in self._workers:
                worker.stop()


def _copied(returned: Any) -> Any:
    """The same with arrays of its own."""
    if isinstance(returned, dict):
        return {key: _copied(value) for key, value in returned.items()}
    return returned.copy()
