"""Gymnasium environment of any game for one learner: the other seats are played for it."""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded

from samurai_env.agent_api import decision_keys
from samurai_env.core.batch import batch_kernels
from samurai_env.core.bits import pick_legal
from samurai_env.core.checks import checked_integer, checked_integers, is_seat
from samurai_env.core.rng import Seeds, below, mix
from samurai_env.core.texts import shown
from samurai_env.envs.common import (
    ILLEGAL_REWARD,
    RENDER_MODES,
    REWARDS,
    check_choice,
    check_render_mode,
    close_window,
    ending,
    move_with,
    render,
    starting_position,
    variant_from_keywords,
)
from samurai_env.envs.compiled.one_learner import OPPONENTS_STREAM
from samurai_env.envs.opponents import Opponent, Player, players_of
from samurai_env.envs.spaces import OBSERVATIONS, LegalDiscrete, observation_space
from samurai_env.position import IllegalActionError, Position

ILLEGAL_ACTIONS = ("terminate", "raise")
Step = tuple[dict[str, np.ndarray] | np.ndarray, float, bool, bool, dict[str, Any]]


class GameEnv(gymnasium.Env):
    """One seat of a game; a step ends when that seat decides again, or the game is over.

    Observations are `{"observation": int8 array, "action_mask": int8 (num_actions,)}`. `info` has "action_mask", the
    "seat" that decides and, at the end, "returns" (float64, every seat's) and what else the game tells of its end.
    A game that ends at its own limit of decisions is truncated, every other end is a termination.
    `action_masks()` is what sb3-contrib asks for; `action_space.sample()` draws a legal action.

    Args:
        game: name of the game.
        num_players: number of players; the game's smallest if None.
        opponents: who plays the other seats: "random", "greedy" (the heuristic policy), an agent's spec such as
            "mcts:100", an agent (`samurai_env.agent_api`), a callable from the seat's observation (always a dict as
            above) to an action, or a sequence with one of these for each other seat, clockwise from the learner's.
            "random" if None; none for the seat "all".
        seat: the learner's seat, "random" for a new one each game, or "all" to decide for every seat in turn; the
            reward is then what the step brought the seat that decided.
        encoding: how observations are written; the game's first if None.
        reward: "result": the return at the end, 0 before; "shaped": plus the change of the game's `potential`.
        render_mode: "ansi", "svg", "rgb_array", or "human" for a window.
        observation: "dict" as above; "box": the observation alone, for learners that refuse dicts. The mask is then in
            `info["action_mask"]` and `action_masks()`.
        illegal_action: "terminate": an illegal action ends the episode with reward -1 and a warning, as in PettingZoo's
            classic games, so that learners and checkers that know no masks survive; "raise": it is an error.
        options: the game's options.

    Raises:
        FileNotFoundError: an opponent's spec names a file that is not there.
        TypeError: an unknown keyword.
        ValueError: an argument that is not possible, a wrong number of opponents; the text says what is.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 2}  # noqa: RUF012
    action_space: LegalDiscrete

    def __init__(
        self,
        game: str,
        num_players: int | None = None,
        *,
        opponents: Opponent | Sequence[Opponent] | None = None,
        seat: int | str = 0,
        encoding: str | None = None,
        reward: str = "result",
        render_mode: str | None = None,
        observation: str = "dict",
        illegal_action: str = "terminate",
        **options: Any,
    ) -> None:
        check_choice("reward", reward, REWARDS)
        check_choice("observation", observation, OBSERVATIONS)
        check_choice("illegal_action", illegal_action, ILLEGAL_ACTIONS)
        check_render_mode(render_mode)
        self.variant = variant_from_keywords(type(self), game, num_players, options)
        players = range(self.variant.num_players)
        if not (seat in ("random", "all") if isinstance(seat, str) else is_seat(seat, len(players))):
            raise ValueError(f"seat must be a number from 0 to {players[-1]}, 'random' or 'all', not {shown(seat)}")
        if seat == "all" and opponents is not None:
            raise ValueError("with seat='all' the caller decides for every seat: leave opponents out")
        self.opponents = "random" if opponents is None else opponents
        self._players = players_of(self.variant, self.opponents)
        self.encoding = self.variant.encoding_name(encoding)
        self.render_mode = render_mode
        self.observation_space = observation_space(self.variant, self.encoding, observation)
        self.action_space = LegalDiscrete(self.variant.num_actions, self._sampling_mask)
        self.seat = 0 if isinstance(seat, str) else int(seat)
        self._seat_choice = seat
        self._shaped = reward == "shaped"
        self._boxed = observation == "box"
        self._raises = illegal_action == "raise"
        self._forfeited = self._warned = False
        self._seeds = Seeds()
        self._position: Position | None = None
        self._move: list[int] = []
        # Scratch of the compiled opponents.
        self._scores = np.zeros(self.variant.num_actions)
        self._choices = np.zeros((1, self.variant.num_actions), np.int8)
        self._chosen = np.zeros(1, np.int64)

    def __getstate__(self) -> dict[str, Any]:
        """All but the players, which a copy makes again: an agent may hold what cannot be copied."""
        return {name: value for name, value in self.__dict__.items() if name != "_players"}

    def __copy__(self) -> "GameEnv":
        """A whole copy: one that shared the game would move it on."""
        return deepcopy(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._players = players_of(self.variant, self.opponents)
        self.action_space.legal_mask = self._sampling_mask

    @property
    def position(self) -> Position:
        """The game as a `Position`, to inspect, save or record; not a copy.

        Raises:
            ResetNeeded: before the first reset.
        """
        if self._position is None:
            raise ResetNeeded("call reset() first")
        return self._position

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, np.ndarray] | np.ndarray, dict[str, Any]]:
        """Begin the game of `seed`; without one, the game that follows the last (or a random first one).

        Args:
            seed: 0 to 2**63 - 1.
            options: {"position": Position} continues from a copy of that position instead; the opponents play on until
                the learner decides. Other keys are ignored.

        Raises:
            TypeError: `seed` is not an integer, `options` no mapping, or the position no `Position`.
            ValueError: `seed` is out of range, both are given, or the position is of another variant or its game over
                before the learner decides.
        """
        before = self.__dict__.copy()
        position = starting_position(self.variant, self._seeds, seed, options)
        super().reset(seed=None if seed is None else position.seed)
        self._position = position
        self._move = []
        self._forfeited = False
        # A stream of its own, so that opponents' choices do not depend on the learner's use of `np_random`.
        self._rng = np.array([mix(np.uint64(position.seed) ^ OPPONENTS_STREAM)], np.uint64)
        if self._seat_choice == "random":
            self.seat = int(below(self._rng, self.variant.num_players))
        elif self._seat_choice == "all":
            self.seat = self.position.seat
        self._play_others()
        if position.over and options and options.get("position") is not None:
            seat, self.__dict__ = self.seat, before  # the game that was played goes on
            raise ValueError(f"the game of options['position'] is over before seat {seat} decides")
        self._potential = self.position.potential()
        if self.render_mode == "human":
            self.render()
        return self._observe(self.seat), self._info()[0]

    def step(self, action: int | np.integer) -> Step:
        """Carry out a decision of the learner's seat and all that follows until it decides again.

        Raises:
            IllegalActionError: there is no such action, the game is over, or the action is illegal and
                `illegal_action="raise"`; nothing has changed. Or an opponent's action is illegal: the text names it
                and its seat, which is to move.
            ResetNeeded: before the first reset, or after a call that ended while an opponent was to move.
            TypeError: the action, or that of an opponent that is a callable, is not an integer.
            ValueError: an agent's actions are not an array of integers (1,).
        """
        actor, action = self.seat, checked_integer("an action", action)
        if self._forfeited:
            raise IllegalActionError(f"action {shown(action)} after the end of the game; reset to begin another")
        if not self.position.over and self.position.seat != actor:
            raise ResetNeeded(
                f"an opponent was stopped before seat {actor} could decide: call reset(), or with"
                " options={'position': env.unwrapped.position} to let it go on"
            )
        try:
            self._carry_out(action)
        except IllegalActionError as error:
            if self._raises or self.position.over or not 0 <= action < self.variant.num_actions:
                raise
            return self._forfeit(error)
        self._play_others()
        over = self.position.over
        if self._seat_choice == "all" and not over:
            self.seat = self.position.seat
        info, truncated = self._info()
        if self.render_mode == "human":
            self.render()
        return self._observe(self.seat), self._reward(actor), over and not truncated, truncated, info

    def _forfeit(self, error: IllegalActionError) -> Step:
        """End the episode because of the learner's illegal action, which the error describes."""
        if not self._warned:
            gymnasium.logger.warn(f"{error}; it ends the episode with reward {ILLEGAL_REWARD:g}. This is said once")
        self._forfeited = self._warned = True
        returns = np.zeros(self.variant.num_players)
        returns[self.seat] = ILLEGAL_REWARD
        return self._observe(self.seat), ILLEGAL_REWARD, True, False, {**self._info()[0], "returns": returns}

    def action_masks(self) -> np.ndarray:
        """Legal actions now as bool, shape (num_actions,), the name that sb3-contrib's MaskablePPO asks for."""
        return self._mask().astype(bool)

    def _mask(self) -> np.ndarray:
        """Legal actions as int8; all zero once the game is over."""
        mask = self.position.legal_mask()
        return np.zeros_like(mask) if self._forfeited else mask

    def _sampling_mask(self) -> np.ndarray | None:
        position = self._position
        return None if position is None or position.over or self._forfeited else position.legal_mask()

    def _carry_out(self, action: int) -> None:
        position = self.position
        mid_move = self.render_mode is not None and position.mid_move
        position.step(action)
        if self.render_mode is not None:
            self._move = move_with(self._move, action, mid_move)

    def _play_others(self) -> None:
        if self._seat_choice == "all":
            return
        position, players = self.position, self.variant.num_players
        while not position.over and (seat := position.seat) != self.seat:
            player = self._players[(seat - self.seat) % players - 1]
            action = self._compiled_choice(player.compiled) if player.compiled else self._asked(player, seat)
            try:
                self._carry_out(action)
            except IllegalActionError as error:
                raise IllegalActionError(f"opponent {player.name} on seat {seat}: {error}") from None

    def _asked(self, player: Player, seat: int) -> int:
        """A decision of an agent or a callable."""
        what = f"the action of opponent {player.name} on seat {seat}"
        if player.act is None:
            assert player.choose is not None
            return checked_integer(what, player.choose(self._seen(seat)))
        states = self.position.states.copy()
        return int(checked_integers(what, player.act(states, decision_keys(states["seed"], states["steps"])), (1,))[0])

    def _compiled_choice(self, name: str) -> int:
        """A decision of "random" or "greedy": any, or any of those that the heuristic policy scores highest."""
        legal = self.position.legal_mask(self._choices[0])
        if name == "greedy":
            batch_kernels(self.variant.game).write_policy(self.position.states, 0, self._scores)
            self._scores[legal == 0] = -np.inf
            legal[:] = self._scores == self._scores.max()
        pick_legal(self._choices, self._rng, self._chosen)
        return int(self._chosen[0])

    def _observe(self, seat: int) -> dict[str, np.ndarray] | np.ndarray:
        """Return the learner's observation of a seat; it is the one to move, or the game is over."""
        return self.position.observe(seat, self.encoding) if self._boxed else self._seen(seat)

    def _seen(self, seat: int) -> dict[str, np.ndarray]:
        """Return a seat's observation with its legal actions."""
        return {"observation": self.position.observe(seat, self.encoding), "action_mask": self._mask()}

    def _reward(self, seat: int) -> float:
        """Return the reward of `seat` since the last call."""
        reward = self.position.returns()[seat] if self.position.over else 0.0
        if self._shaped:
            potential = self.position.potential()
            reward += potential[seat] - self._potential[seat]
            self._potential = potential
        return float(reward)

    def _info(self) -> tuple[dict[str, Any], bool]:
        """The info, and whether the game was cut off."""
        info: dict[str, Any] = {"action_mask": self._mask(), "seat": self.seat}
        if not self.position.over:
            return info, False
        details, truncated = ending(self.variant, self.position.state)
        return {**info, "returns": self.position.returns(), **details}, truncated

    def close(self) -> None:
        """Close the window, if there is one."""
        close_window(self.render_mode)

    def render(self) -> Any:
        """The position as the learner's seat may see it: text, SVG string or pixels; None in a window."""
        if self.render_mode is None:
            return None
        viewer = None if self._seat_choice == "all" else self.seat
        return render(self.variant, self.position.state, self.render_mode, viewer, self._move)
