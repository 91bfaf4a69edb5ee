"""PettingZoo AEC environment of any game."""

from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv
from pettingzoo.utils import OrderEnforcingWrapper

from samurai_env.core.loops import loops_of
from samurai_env.envs.common import RENDER_MODES, REWARDS, Seeds, check_choice, make_variant, observation_space, render
from samurai_env.position import IllegalActionError, Position


class GameAEC(AECEnv):
    """One game, one decision a step; the same agent acts several times in a row where its turn has several steps.

    Observations are `{"observation": int8 array, "action_mask": int8 (num_actions,)}`; the mask is all zero for
    an agent that is not to act. It also stands in `infos[agent]["action_mask"]` of the agent to act.

    Args:
        game: name of the game.
        num_players: number of players; the game's smallest if None.
        encoding: how observations are written; the game's first if None.
        reward: "result": the returns at the end, 0 before; "shaped": plus the growth of the game's `progress`.
        render_mode: "ansi", "svg" or "rgb_array".
        viewer: seat whose secrets pictures may show; None shows all.
        options: the game's options.

    Raises:
        ValueError: an argument that is not possible; the text says what is.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "is_parallelizable": False, "render_fps": 2}  # noqa: RUF012

    def __init__(
        self,
        game: str,
        num_players: int | None = None,
        encoding: str | None = None,
        reward: str = "result",
        render_mode: str | None = None,
        viewer: int | None = None,
        **options: Any,
    ) -> None:
        check_choice("reward", reward, REWARDS)
        check_choice("render_mode", render_mode, RENDER_MODES)
        self.variant = make_variant(game, num_players, options)
        if viewer is not None and not 0 <= viewer < self.variant.num_players:
            raise ValueError(f"viewer is a seat from 0 to {self.variant.num_players - 1} or None, not {viewer}")
        self.metadata = {**GameAEC.metadata, "name": f"{game}_v0"}
        self.encoding = self.variant.encoding_name(encoding)
        self.render_mode = render_mode
        self.viewer = viewer
        self.possible_agents = [f"player_{seat}" for seat in range(self.variant.num_players)]
        self._shaped = reward == "shaped"
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self._shape = self.variant.encoding(self.encoding).shape
        self._no_mask = np.zeros(self.variant.num_actions, np.int8)
        self._seeds = Seeds()
        self._move: list[int] = []
        space, actions = observation_space(self.variant, self.encoding), spaces.Discrete(self.variant.num_actions)
        self.observation_spaces = dict.fromkeys(self.possible_agents, space)
        self.action_spaces = dict.fromkeys(self.possible_agents, actions)
        self._bind()

    def _bind(self) -> None:
        loops = loops_of(self.variant.game)
        self._step_if_legal = loops.apply
        self._write_legal = loops.write_legal
        self._write_observation = loops.observing[self.encoding].write_observation

    def __getstate__(self) -> dict[str, Any]:
        """All but the compiled functions, so that deepcopy and pickle keep the position."""
        state = self.__dict__.copy()
        for name in ("_step_if_legal", "_write_legal", "_write_observation"):
            del state[name]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._bind()

    def observation_space(self, agent: str) -> spaces.Space:
        """The same for every agent."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """The same for every agent."""
        return self.action_spaces[agent]

    @property
    def position(self) -> Position:
        """The game as a Python object, for looking, saving, records; the environment's own, not a copy."""
        return self._position

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin the game of `seed`; without one, the game that follows the last (or a random first one)."""
        self.begin(Position(self.variant, self._seeds.next(seed)))

    def begin(self, position: Position) -> None:
        """Go on from a given position of the same variant (search, puzzles, restored games).

        Raises:
            ValueError: the position is of another variant.
        """
        if position.variant != self.variant:
            raise ValueError(f"the position is of {position.variant.spec}, this environment of {self.variant.spec}")
        self._position = position
        self._states, self._words = position.states, position._words
        self._move = []
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._progress = position.progress() if self._shaped else None
        self._rewarded = False
        self._look()

    def _look(self) -> None:
        """Find out who acts and what is legal."""
        self.agent_selection = self.possible_agents[self._states["seat"][0]]
        self._mask = np.empty_like(self._no_mask)
        self._write_legal(self._states, 0, self._words, self._mask)
        self.infos[self.agent_selection] = {"action_mask": self._mask}

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        """What `agent` sees now, in arrays of its own."""
        out = np.empty(self._shape, np.int8)
        self._write_observation(self._states, 0, self._seats[agent], out)
        mask = self._mask if agent == self.agent_selection else self._no_mask
        return {"observation": out, "action_mask": mask.copy()}

    def step(self, action: int | None) -> None:
        """Carry out one decision of `agent_selection`.

        Raises:
            IllegalActionError: the action is not legal; nothing has changed.
        """
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        if action is None:
            raise IllegalActionError(f"{agent} is to act: None is for agents whose game is over")
        mid_move = self.render_mode is not None and self._position.mid_move
        if not self._step_if_legal(self._states, 0, int(action), self._words):
            self._position.step(int(action))  # raises, with the reason
        if self.render_mode is not None:
            self._move = [*self._move, int(action)] if mid_move else [int(action)]
        if self._rewarded:
            self._clear_rewards()
            self._rewarded = False
        self._cumulative_rewards[agent] = 0.0
        self.infos[agent] = {}
        over = self._states["over"][0]
        if over or self._shaped:
            self._reward(over)
        if over:
            self._finish()
        else:
            self._look()

    def _reward(self, over: bool) -> None:
        rewards = self._position.returns() if over else np.zeros(self.variant.num_players)
        if self._progress is not None:
            progress = self._position.progress()
            rewards += progress - self._progress
            self._progress = progress
        self.rewards = {agent: float(reward) for agent, reward in zip(self.possible_agents, rewards, strict=True)}
        self._rewarded = True
        self._accumulate_rewards()

    def _finish(self) -> None:
        self.terminations = dict.fromkeys(self.agents, True)
        self._mask = self._no_mask
        self.infos = {agent: {"action_mask": self._no_mask.copy()} for agent in self.agents}

    def render(self) -> Any:
        """The position in `render_mode`: text, SVG string, or uint8 pixels (height, width, 3); None without a mode."""
        if self.render_mode is None:
            return None
        return render(self.variant, self._position.record, self.render_mode, self.viewer, self._move)

    def close(self) -> None:
        """Nothing is held open."""


def wrapped(game: str, **kwargs: Any) -> OrderEnforcingWrapper:
    """`GameAEC` with PettingZoo's check of the order of calls; actions are checked by the environment itself."""
    return OrderEnforcingWrapper(GameAEC(game, **kwargs))
