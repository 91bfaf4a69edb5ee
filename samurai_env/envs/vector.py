"""Gymnasium vector environment of any game: thousands of games in one process, stepped by compiled loops."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from samurai_env.core import loops
from samurai_env.core.loops import loops_of
from samurai_env.envs.common import REWARDS, Seeds, check_choice, make_variant, observation_space
from samurai_env.position import IllegalActionError

MODES = {
    AutoresetMode.SAME_STEP: loops.SAME_STEP,
    AutoresetMode.NEXT_STEP: loops.NEXT_STEP,
    AutoresetMode.DISABLED: loops.DISABLED,
}


class GameVectorEnv(VectorEnv):
    """Many games at once; the caller decides for every seat (self-play).

    Each step carries out one decision in every game. **The arrays returned are the environment's own buffers,
    overwritten by the next call**; copy what you keep.

    - observations: `{"observation": int8 (num_envs, ...), "action_mask": int8 (num_envs, num_actions)}` of the
      seat that decides next.
    - rewards: float32 (num_envs,), what the step brought the seat that decided; `info["rewards"]` has every
      seat's, float32 (num_envs, num_players).
    - terminations: bool (num_envs,). Games are never truncated.
    - `info["seat"]`: int8 (num_envs,), the seat that decides next; `info["actor"]`: the seat that decided.

    Autoreset: SAME_STEP (default) begins a new game in the step that ends one and puts the last observation in
    `info["final_obs"]` (rows where `info["_final_obs"]`); NEXT_STEP spends a step, whose action is ignored, on the
    reset; DISABLED leaves finished games until `reset(options={"reset_mask": mask})`.

    Args:
        game: name of the game.
        num_envs: number of games.
        num_players: number of players; the game's smallest if None.
        encoding: how observations are written; the game's first if None.
        reward: "result": the returns at the end, 0 before; "shaped": plus the growth of the game's `progress`.
        autoreset_mode: a Gymnasium `AutoresetMode` or its value as text ("SameStep", ...).
        threads: games are shared out among so many threads (default 1; more pays from about 1,000 games on).
        options: the game's options.

    Raises:
        ValueError: an argument that is not possible; the text says what is.
    """

    def __init__(
        self,
        game: str,
        num_envs: int = 1,
        num_players: int | None = None,
        encoding: str | None = None,
        reward: str = "result",
        autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
        threads: int = 1,
        **options: Any,
    ) -> None:
        check_choice("reward", reward, REWARDS)
        if num_envs < 1 or threads < 1:
            raise ValueError(f"num_envs and threads are at least 1, not {num_envs} and {threads}")
        self.variant = make_variant(game, num_players, options)
        self.num_envs = num_envs
        self.encoding = self.variant.encoding_name(encoding)
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {"render_modes": [], "autoreset_mode": self.autoreset_mode}
        self.single_observation_space = observation_space(self.variant, self.encoding)
        self.single_action_space = spaces.Discrete(self.variant.num_actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._mode = MODES[self.autoreset_mode]
        self._shaped = reward == "shaped"
        self._seeds = Seeds()
        self._make_buffers()
        size = -(-num_envs // threads)
        self._parts = [slice(start, min(start + size, num_envs)) for start in range(0, num_envs, size)]
        self._pool = ThreadPoolExecutor(len(self._parts)) if len(self._parts) > 1 else None
        self._loops = loops_of(self.variant.game)
        self._observing = self._loops.observing[self.encoding]

    def _make_buffers(self) -> None:
        variant, count = self.variant, self.num_envs
        shape = variant.encoding(self.encoding).shape
        self.states = variant.new(count)
        self._words = np.zeros((count, variant.num_words), np.uint64)  # scratch: a row for each thread is used
        self._masks = np.zeros((count, variant.num_actions), np.int8)
        self._observations = np.zeros((count, *shape), np.int8)
        self._final = np.zeros((count if self._mode == loops.SAME_STEP else 0, *shape), np.int8)
        self._rewards = np.zeros((count, variant.num_players), np.float32)
        self._done = np.zeros(count, np.bool_)
        self._skip = np.zeros(count, np.bool_)
        self._truncated = np.zeros(count, np.bool_)
        self._seat = np.zeros(count, np.int8)
        self._rows = np.arange(count)

    def reset(
        self, *, seed: int | Sequence[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Begin games: game i that of `seed + i`, or of `seed[i]`; without seeds, new random ones.

        Args:
            seed: one integer, or one for each game.
            options: {"reset_mask": bool (num_envs,)} begins only those games anew (after their predecessors' seeds
                unless seeds are given).

        Raises:
            ValueError: a wrong number of seeds, or a mask of another shape.
        """
        chosen = np.ones(self.num_envs, np.bool_)
        if options and "reset_mask" in options:
            chosen = np.asarray(options["reset_mask"], np.bool_)
            if chosen.shape != (self.num_envs,):
                raise ValueError(f"reset_mask has shape {chosen.shape}, not ({self.num_envs},)")
        if seed is None and not chosen.all():
            seeds = np.array([loops.next_seed(s) for s in self.states["seed"]], np.uint64)
        elif seed is None or isinstance(seed, (int, np.integer)):
            seeds = np.uint64(self._seeds.next(seed)) + np.arange(self.num_envs, dtype=np.uint64)
        else:
            if len(seed) != self.num_envs:
                raise ValueError(f"{len(seed)} seeds for {self.num_envs} games")
            seeds = np.array(seed, np.uint64)
        begun = self.states[chosen]
        self._loops.begin(begun, seeds[chosen])
        self.states[chosen] = begun
        self._done[chosen] = False
        self._observing.batch_observe(self.states, self._masks, self._observations, self._seat, self._words[0])
        return self._observed(), {"seat": self._seat}

    def restore(self, states: np.ndarray) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Go on from saved records (a copy of `states` taken earlier); returns what `reset` returns.

        Raises:
            ValueError: another number of games or another kind of record.
        """
        if states.shape != self.states.shape or states.dtype != self.states.dtype:
            raise ValueError(
                f"{states.shape[0]} records of this kind do not fit {self.num_envs} games of {self.variant.spec}"
            )
        self.states[:] = states
        self._done[:] = self.states["over"]
        self._observing.batch_observe(self.states, self._masks, self._observations, self._seat, self._words[0])
        return self._observed(), {"seat": self._seat}

    def step(
        self, actions: np.ndarray
    ) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Carry out one decision in every game.

        Args:
            actions: integers (num_envs,); those of finished games are ignored.

        Raises:
            ValueError: `actions` of another shape or not integers.
            IllegalActionError: an illegal action, named with its game; no game has changed.
        """
        actions = np.asarray(actions)
        if actions.shape != (self.num_envs,) or actions.dtype.kind not in "iu":
            raise ValueError(
                f"actions are integers of shape ({self.num_envs},), not {actions.dtype} of shape {actions.shape}"
            )
        actions = np.ascontiguousarray(actions, np.int64)
        if self._mode == loops.SAME_STEP:
            self._done[:] = False
        self._skip[:] = self._done
        actor = self._seat.copy()
        self._check(actions)
        if self._pool is None:
            self._step_part(0, actions)
        else:
            list(self._pool.map(lambda part: self._step_part(part, actions), range(len(self._parts))))
        info: dict[str, Any] = {"seat": self._seat, "actor": actor, "rewards": self._rewards}
        if self._mode == loops.SAME_STEP and self._done.any():
            info["final_obs"], info["_final_obs"] = {"observation": self._final}, self._done
        return self._observed(), self._rewards[self._rows, actor], self._done, self._truncated, info

    def _check(self, actions: np.ndarray) -> None:
        game = self._loops.first_illegal(self.states, actions, self._skip, self._words[0])
        if game >= 0:
            names, action = self.variant.action_names, int(actions[game])
            shown = names[action] if 0 <= action < len(names) else "no such action"
            legal = ", ".join(f"{a} ({names[a]})" for a in np.flatnonzero(self._masks[game])[:12])
            raise IllegalActionError(f"action {action} ({shown}) is illegal in game {game}; legal are {legal} ...")

    def _step_part(self, part: int, actions: np.ndarray) -> None:
        rows = self._parts[part]
        self._observing.batch_step(
            self.states[rows],
            actions[rows],
            self._mode,
            self._shaped,
            self._done[rows],
            self._rewards[rows],
            self._masks[rows],
            self._observations[rows],
            self._final[rows] if self._mode == loops.SAME_STEP else self._final,
            self._seat[rows],
            self._words[rows.start],
        )

    def _observed(self) -> dict[str, np.ndarray]:
        return {"observation": self._observations, "action_mask": self._masks}

    def close_extras(self, **kwargs: Any) -> None:
        """Stop the threads."""
        if self._pool is not None:
            self._pool.shutdown()
