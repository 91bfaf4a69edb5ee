"""PettingZoo AEC environment of any game."""

from copy import deepcopy
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv
from pettingzoo.utils import OrderEnforcingWrapper
from pettingzoo.utils.env_logger import EnvLogger

from samurai_env.core.batch import ILLEGAL, OVER, batch_kernels
from samurai_env.core.checks import checked_integer, is_seat
from samurai_env.core.rng import Seeds
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
from samurai_env.envs.spaces import OBSERVATIONS, LegalDiscrete, observation_space, state_space
from samurai_env.position import IllegalActionError, Position


class GameAEC(AECEnv):
    """One game, one decision a step; the same agent acts several times in a row where its turn has several steps.

    Observations are `{"observation": int8 array, "action_mask": int8 (num_actions,)}`; the mask is all zero for
    an agent that is not to act. It also stands in `infos[agent]["action_mask"]` of the agent to act. At the end
    every agent's info has "returns" (float64, every seat's) and the game's further results. A game that
    ends at its own limit of decisions is truncated, every other end a termination; an illegal action is both.
    `action_space(agent).sample()` draws a legal action for the agent to act, and `state()` stacks what each seat sees.

    Args:
        game: name of the game.
        num_players: number of players; the game's smallest if None.
        encoding: how observations are written; the game's first if None.
        reward: "result": the returns at the end, 0 before; "shaped": plus the change of the game's `potential`.
        render_mode: "ansi", "svg", "rgb_array", or "human" for a window.
        viewer: seat whose secrets pictures may show; None shows all.
        observation: "dict" as above; "box": the observation alone, for learners that refuse dicts. The mask is then in
            `infos[agent]["action_mask"]`.
        options: the game's options.

    Raises:
        TypeError: an unknown keyword.
        ValueError: an argument that is not possible; the text says what is.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "is_parallelizable": False, "render_fps": 2}  # noqa: RUF012

    def __init__(
        self,
        game: str,
        num_players: int | None = None,
        *,
        encoding: str | None = None,
        reward: str = "result",
        render_mode: str | None = None,
        viewer: int | None = None,
        observation: str = "dict",
        **options: Any,
    ) -> None:
        check_choice("reward", reward, REWARDS)
        check_choice("observation", observation, OBSERVATIONS)
        check_render_mode(render_mode)
        self.variant = variant_from_keywords(type(self), game, num_players, options)
        if viewer is not None and not is_seat(viewer, self.variant.num_players):
            raise ValueError(
                f"viewer must be a seat from 0 to {self.variant.num_players - 1} or None, not {shown(viewer)}"
            )
        self.metadata = {**GameAEC.metadata, "name": f"{game}_v0"}
        self.encoding = self.variant.encoding_name(encoding)
        self.render_mode = render_mode
        self.viewer = viewer
        self.possible_agents = [f"player_{seat}" for seat in range(self.variant.num_players)]
        self._shaped = reward == "shaped"
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self._shape = self.variant.encoding(self.encoding).shape
        self._no_mask = np.zeros(self.variant.num_actions, np.int8)
        self._observation = np.zeros(self._shape, np.int8)
        self._seeds = Seeds()
        self._position: Position | None = None
        self._observer: str | None = None  # the agent whose `_mask` and `_observation` are kept
        space = observation_space(self.variant, self.encoding, observation)
        self.observation_spaces = dict.fromkeys(self.possible_agents, space)
        self.state_space = state_space(self.variant, self.encoding)
        self.action_spaces = {
            agent: LegalDiscrete(self.variant.num_actions, partial(self._sampling_mask, agent))
            for agent in self.possible_agents
        }
        self._boxed = observation == "box"
        self._bind()

    def _bind(self) -> None:
        """Keep compiled functions and views of the state as attributes, for speed."""
        observing = batch_kernels(self.variant.game).by_encoding[self.encoding]
        self._act, self._write_observation = observing.act, observing.write_observation
        if self._position is not None:
            self._states, self._words = self._position.states, np.zeros(self.variant.num_words, np.uint64)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what `_bind` sets, so that deepcopy and pickle work."""
        bound = ("_act", "_write_observation", "_states", "_words")
        return {name: value for name, value in self.__dict__.items() if name not in bound}

    def __copy__(self) -> "GameAEC":
        """A whole copy: one that shared the game would move it on."""
        return deepcopy(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for agent, space in self.action_spaces.items():
            space.legal_mask = partial(self._sampling_mask, agent)
        self._bind()

    def _sampling_mask(self, agent: str) -> np.ndarray | None:
        """Return the legal mask of the agent to act; None for others, who may sample anything."""
        return self._mask if self._position is not None and agent == self._observer else None

    def observation_space(self, agent: str) -> spaces.Space:
        """Return the space, the same for every agent."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> LegalDiscrete:
        """Return the agent's space; for the agent to act it samples legal actions."""
        return self.action_spaces[agent]

    @property
    def position(self) -> Position:
        """The game as a `Position`, to inspect, save or record; not a copy.

        Raises:
            AttributeError: before the first reset.
        """
        if self._position is None:
            raise AttributeError("position cannot be accessed before reset")
        return self._position

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start the game of `seed`; without a seed, the game that follows the last (or a random first one).

        Args:
            seed: 0 to 2**63 - 1.
            options: {"position": Position} continues from a copy of that position instead; other keys are ignored. In a
                finished game all agents are terminated, with reward 0: the result was paid before.

        Raises:
            TypeError: `seed` is not an integer, `options` no mapping, or the position no `Position`.
            ValueError: `seed` is out of range, the position is of another variant, or both are given.
        """
        position = self._position = starting_position(self.variant, self._seeds, seed, options)
        self._bind()
        self._move: list[int] = []
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._potential = position.potential()
        self._mask = position.legal_mask()
        self._write_observation(self._states, 0, position.seat, self._observation)
        self._select(position.seat)
        if position.over:
            self._finish()
        if self.render_mode == "human":
            self.render()

    def _select(self, seat: int) -> None:
        """Make a seat the agent to act; `_mask` and `_observation` are its own."""
        self.agent_selection = self._observer = self.possible_agents[seat]
        self.infos[self._observer] = {"action_mask": self._mask.copy()}

    def observe(self, agent: str) -> dict[str, np.ndarray] | np.ndarray:
        """Return what `agent` sees now, in new arrays.

        Returns:
            The observation, int8 of the encoding's shape; with `observation="dict"` beside its "action_mask", int8
            (num_actions,), which is all 0 unless `agent` decides next.

        Raises:
            AttributeError: before the first reset.
            KeyError: no such agent.
        """
        if agent == self._observer:
            out, mask = self._observation.copy(), self._mask
        else:
            out, mask = np.empty(self._shape, np.int8), self._no_mask
            self._write_observation(self.position.states, 0, self._seats[agent], out)
        return out if self._boxed else {"observation": out, "action_mask": mask.copy()}

    def state(self) -> np.ndarray:
        """Return what each seat sees, for centralised critics: int8 (players, ...), row i as `player_i` observes.

        What no seat sees, such as the order of a stack, is not in it.

        Raises:
            AttributeError: before the first reset.
        """
        out = np.empty(self.state_space.shape, np.int8)
        for seat in range(len(out)):
            self._write_observation(self.position.states, 0, seat, out[seat])
        return out

    def step(self, action: int | None) -> None:
        """Carry out one decision of `agent_selection`.

        Raises:
            IllegalActionError: the action is not legal; nothing has changed.
            TypeError: the action is not an integer.
            ValueError: another action than None for an agent whose game is over.
        """
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        if action is None:
            raise IllegalActionError(f"{agent} is to act: None is for agents whose game is over")
        if type(action) is not int:
            action = checked_integer("an action", action)
        if not 0 <= action < len(self._no_mask):  # compiled code takes 64 bits
            self.position.step(action)  # raises, with the reason
        mid_move = self.render_mode is not None and self.position.mid_move
        mask = self._no_mask.copy()  # not the last one, which the caller may have kept
        seat = self._act(self._states, action, self._words, mask, self._observation)
        if seat == ILLEGAL:
            self.position.step(action)  # raises, with the reason
        if self.render_mode is not None:
            self._move = move_with(self._move, action, mid_move)
        self._cumulative_rewards[agent] = 0.0
        self.infos[agent] = {}
        self._mask = mask
        over = seat == OVER
        if over or self._shaped:
            self._reward(over)
        if over:
            self._finish()
        else:
            self._select(seat)
        if self.render_mode == "human":
            self.render()

    def forfeit(self) -> None:
        """End the game because of an illegal action: the agent to act gets -1, the others 0, as PettingZoo has it.

        Both terminations and truncations become true, since the game has not come to its own end.
        """
        loser = self.agent_selection
        self._cumulative_rewards[loser] = 0.0
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self.rewards[loser] = ILLEGAL_REWARD
        self._accumulate_rewards()
        self.terminations = dict.fromkeys(self.agents, True)
        self.truncations = dict.fromkeys(self.agents, True)
        self._observer = None
        returns = np.array([self.rewards[agent] for agent in self.agents])
        self.infos = {agent: {"action_mask": self._no_mask.copy(), "returns": returns.copy()} for agent in self.agents}
        self._deads_step_first()

    def _reward(self, over: bool) -> None:
        rewards = self.position.returns() if over else np.zeros(self.variant.num_players)
        if self._shaped:
            potential = self.position.potential()
            rewards += potential - self._potential
            self._potential = potential
        self.rewards = dict(zip(self.possible_agents, rewards.tolist(), strict=True))
        self._accumulate_rewards()

    def _finish(self) -> None:
        details, truncated = ending(self.variant, self.position.state)
        self.terminations = dict.fromkeys(self.agents, not truncated)
        self.truncations = dict.fromkeys(self.agents, truncated)
        self._observer = None
        self.infos = {
            agent: {"action_mask": self._no_mask.copy(), "returns": self.position.returns(), **details}
            for agent in self.agents
        }

    def render(self) -> Any:
        """The position in `render_mode`: text, SVG string, or uint8 pixels (height, width, 3); None in a window."""
        if self.render_mode is None:
            return None
        return render(self.variant, self.position.state, self.render_mode, self.viewer, self._move)

    def close(self) -> None:
        """Close the window, if there is one."""
        close_window(self.render_mode)


class CheckedAEC(OrderEnforcingWrapper):
    """PettingZoo's check of the order of calls, and the end of a game by an illegal action.

    An illegal action ends the game as PettingZoo's `TerminateIllegalWrapper` does around its classic games, with its
    warning. This one reads no mask for that, and reads the attributes that every step needs directly.
    """

    agents = property(attrgetter("env.agents"))
    agent_selection = property(attrgetter("env.agent_selection"))

    def __copy__(self) -> "CheckedAEC":
        """A whole copy, as of the environment within."""
        return deepcopy(self)

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Observation, reward, terminated, truncated, info of the agent to act, as `AECEnv.last`."""
        return self.env.last(observe) if self._has_reset else super().last(observe)

    def step(self, action: int | None) -> None:
        """Carry out one decision of `agent_selection`; an illegal one ends the game.

        Raises:
            IllegalActionError: there is no such action at all, or None for an agent that is to act.
            TypeError: the action is not an integer.
            ValueError: another action than None for an agent whose game is over.
        """
        try:
            super().step(action)
        except IllegalActionError:
            if action is None or not 0 <= action < self.env.variant.num_actions:
                raise
            EnvLogger.warn_on_illegal_move()
            self.env.forfeit()

    def __str__(self) -> str:
        return str(self.env)


def wrapped(game: str, **kwargs: Any) -> CheckedAEC:
    """`GameAEC` with PettingZoo's check of the order of calls; an illegal action ends the game."""
    return CheckedAEC(GameAEC(game, **kwargs))
