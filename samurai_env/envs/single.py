"""Gymnasium environment of any game for one learner: the other seats are played for it."""

from collections.abc import Callable, Sequence
from typing import Any

import gymnasium
import numpy as np

from samurai_env.core.loops import loops_of
from samurai_env.envs.common import (
    RENDER_MODES,
    REWARDS,
    LegalDiscrete,
    Seeds,
    check_choice,
    make_variant,
    observation_space,
    render,
)
from samurai_env.position import Position

# A player of one seat: from what the seat sees, {"observation", "action_mask"}, to an action.
Opponent = Callable[[dict[str, np.ndarray]], int]
READY = ("random", "greedy")


class GameEnv(gymnasium.Env):
    """One seat of a game; a step ends when that seat decides again, or the game is over.

    Args:
        game: name of the game.
        num_players: number of players; the game's smallest if None.
        opponents: who plays the other seats: "random", "greedy" (the built-in player), a callable from the seat's
            observation (a dict as below) to an action, or a sequence with one of these for each other seat,
            clockwise from the learner's.
        seat: the learner's seat, "random" for a new one each game, or "all" to decide for every seat in turn.
        encoding: how observations are written; the game's first if None.
        reward: "result": the return at the end, 0 before; "shaped": plus the growth of the game's `progress`.
        render_mode: "ansi", "svg" or "rgb_array".
        options: the game's options.

    Observations are `{"observation": int8 array, "action_mask": int8 (num_actions,)}`; `info` has the mask, the
    seat that decides and, at the end, the returns of all seats. `action_masks()` is what sb3-contrib asks for.

    Raises:
        ValueError: an argument that is not possible, a wrong number of opponents; the text says what is.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 2}  # noqa: RUF012

    def __init__(
        self,
        game: str,
        num_players: int | None = None,
        opponents: str | Opponent | Sequence[str | Opponent] = "random",
        seat: int | str = 0,
        encoding: str | None = None,
        reward: str = "result",
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        check_choice("reward", reward, REWARDS)
        check_choice("render_mode", render_mode, RENDER_MODES)
        self.variant = make_variant(game, num_players, options)
        others = self.variant.num_players - 1
        if isinstance(opponents, str) or callable(opponents):
            opponents = [opponents] * others
        if len(opponents) != others:
            raise ValueError(f"{self.variant.spec} needs {others} opponents, not {len(opponents)}")
        for opponent in opponents:
            if not callable(opponent) and opponent not in READY:
                raise ValueError(f"an opponent is one of {', '.join(READY)} or a callable, not {opponent!r}")
        if seat not in ("random", "all") and seat not in range(self.variant.num_players):
            raise ValueError(
                f"seat is a number from 0 to {self.variant.num_players - 1}, 'random' or 'all', not {seat!r}"
            )
        self.opponents = list(opponents)
        self.encoding = self.variant.encoding_name(encoding)
        self.render_mode = render_mode
        self.observation_space = observation_space(self.variant, self.encoding)
        self.action_space = LegalDiscrete(self.variant.num_actions, self._sampling_mask)
        self._seat_choice = seat
        self._shaped = reward == "shaped"
        self._seeds = Seeds()
        self._scores = np.zeros(self.variant.num_actions)
        self._last: list[int] = []

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict, dict]:
        """Begin the game of `seed`; without one, the game that follows the last (or a random first one)."""
        super().reset(seed=seed)
        self.position = Position(self.variant, self._seeds.next(seed))
        # A stream of its own, so that opponents' choices do not hang on the learner's use of `np_random`.
        self._rng = np.random.default_rng([self._seeds.last or 0, 1])
        if self._seat_choice == "random":
            self.seat = int(self._rng.integers(self.variant.num_players))
        elif self._seat_choice == "all":
            self.seat = self.position.seat
        else:
            self.seat = int(self._seat_choice)
        self._progress = self.position.progress()
        self._play_others()
        self._reward(self.seat)
        return self._observe(self.seat), self._info()

    def step(self, action: int) -> tuple[dict, float, bool, bool, dict]:
        """Carry out a decision of the learner's seat and all that follows until it decides again.

        Raises:
            IllegalActionError: the action is not legal; nothing has changed.
        """
        actor = self.seat
        self.position.step(int(action))
        self._last = [int(action)]
        self._play_others()
        if self._seat_choice == "all" and not self.position.over:
            self.seat = self.position.seat
        reward = self._reward(actor)
        return self._observe(self.seat), reward, self.position.over, False, self._info()

    def action_masks(self) -> np.ndarray:
        """Legal actions now as bool, shape (num_actions,), the name that sb3-contrib's MaskablePPO asks for."""
        return self.position.legal_mask().astype(bool)

    def _sampling_mask(self) -> np.ndarray | None:
        position = getattr(self, "position", None)
        return None if position is None or position.over else position.legal_mask()

    def _play_others(self) -> None:
        if self._seat_choice == "all":
            return
        position, players = self.position, self.variant.num_players
        while not position.over and position.seat != self.seat:
            opponent = self.opponents[(position.seat - self.seat) % players - 1]
            action = self._ready(opponent) if isinstance(opponent, str) else opponent(self._observe(position.seat))
            position.step(int(action))
            self._last = [int(action)]

    def _ready(self, name: str) -> int:
        """A move of one of the ready opponents for the seat that decides."""
        legal = self.position.legal_actions()
        if name == "greedy":
            loops_of(self.variant.game).write_advice(self.position.states, 0, self._scores)
            best = max(self._scores[action] for action in legal)
            legal = [action for action in legal if self._scores[action] == best]
        return int(self._rng.choice(legal))

    def _observe(self, seat: int) -> dict[str, np.ndarray]:
        mask = self.position.legal_mask()
        if seat != self.position.seat:
            mask[:] = 0
        return {"observation": self.position.observe(seat, self.encoding), "action_mask": mask}

    def _reward(self, seat: int) -> float:
        """What has come to `seat` since the last call."""
        reward = self.position.returns()[seat]
        if self._shaped:
            progress = self.position.progress()
            reward += progress[seat] - self._progress[seat]
            self._progress = progress
        return float(reward)

    def _info(self) -> dict[str, Any]:
        info: dict[str, Any] = {"action_mask": self.position.legal_mask(), "seat": self.seat}
        if self.position.over:
            info["returns"] = self.position.returns()
        return info

    def render(self) -> Any:
        """The position as the learner's seat may see it: text, SVG string or pixels; None without a mode."""
        if self.render_mode is None:
            return None
        viewer = None if self._seat_choice == "all" else self.seat
        return render(self.variant, self.position.record, self.render_mode, viewer, self._last)
