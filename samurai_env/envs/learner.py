"""Gymnasium vector environment of any game for one learner in each game: the other seats are played for it."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from gymnasium.vector import AutoresetMode

from samurai_env.agent_api import decision_keys
from samurai_env.core.checks import checked_integers, is_seat
from samurai_env.core.texts import shown
from samurai_env.envs.common import checked_seeds
from samurai_env.envs.compiled.one_learner import (
    ASKED,
    BEGUN,
    DRAWN,
    FIXED,
    GREEDY,
    RANDOM,
    ROTATING,
    LearnerBuffers,
    one_learner_kernels,
)
from samurai_env.envs.opponents import Opponent, Player, players_of
from samurai_env.envs.vector import GameVectorEnv
from samurai_env.game_batch import GameBatch
from samurai_env.position import IllegalActionError

_SEATINGS = {"random": DRAWN, "rotate": ROTATING}
COMPILED_KINDS = {"random": RANDOM, "greedy": GREEDY}


def seating_of(seat: Any, players: int, games: int) -> tuple[int, np.ndarray]:
    """Read a vector environment's argument `seat`.

    Args:
        seat: a number, one for each game, "random" or "rotate".
        players: the number of players.
        games: the number of games.

    Returns:
        FIXED, DRAWN or ROTATING, and the learners' seats, int8 (games,): fixed ones, or those before the first game.

    Raises:
        ValueError: none of these, or no such seat.
    """
    seats = np.zeros(games, np.int8)
    if isinstance(seat, str) and seat in _SEATINGS:
        if _SEATINGS[seat] == ROTATING:
            seats[:] = (np.arange(games) - 1) % players  # each game moves on by one
        return _SEATINGS[seat], seats
    if is_seat(seat, players):
        seats[:] = int(seat)
        return FIXED, seats
    try:
        dimensions = 0 if isinstance(seat, str) else np.ndim(seat)
    except ValueError:  # a ragged list
        dimensions = 1
    if dimensions == 1:
        given = checked_integers("the learners' seats", seat, (games,))
        if ((given >= 0) & (given < players)).all():
            seats[:] = given
            return FIXED, seats
    raise ValueError(
        f"seat must be a number from 0 to {players - 1}, one for each game, 'random' or 'rotate', not {shown(seat)}"
    )


class LearnerVectorEnv(GameVectorEnv):
    """Many games at once with one learner in each; a step ends when its seat decides again, or the game is over.

    Rewards, ends of episodes and observations are the learner's, as `GameEnv` has them for one game: any learner for
    Gymnasium's vector environments and `RecordEpisodeStatistics` work unchanged. (In DISABLED each step says again that
    a game has ended, until it is reset.) With the same seed and opponents the games are those of `GameEnv`. "random"
    and "greedy" opponents are played in compiled code; agents and callables are asked for all games that wait for them
    at once.

    Different from `GameVectorEnv`:

    - rewards: float32 (num_envs,), what has come to the learner since its last decision.
    - `info["seat"]`: int8 (num_envs,), the learner's seat; where a game has ended in SAME_STEP, that of the next game,
      and `info["final_info"]["seat"]` that of the game that has ended. There is no "actor" and no "rewards".
    - A game that is over before its learner has decided is followed by the next silently.
    - `restore` begins the random numbers of the opponents again, and learners' seats are those that `reset` gives for
      the same seeds ("rotate": they stay).
    - After an opponent's error a reset is needed.

    Args:
        game: name of the game.
        num_envs: number of games.
        num_players: number of players; the game's smallest if None.
        opponents: who plays the other seats: "random", "greedy" (the heuristic policy), an agent's spec such as
            "mcts:100", an agent (`samurai_env.agent_api`), a callable from the observations of some games (a dict of
            "observation" and "action_mask", games first) to an array of their actions, or a sequence with one of these
            for each other seat, clockwise from the learner's.
        seat: the learner's seat: a number, one for each game, "random" for a new one each game, or "rotate": game i
            begins on seat i modulo the number of players, and moves on by one each game.
        encoding: how observations are written; the game's first if None.
        reward: "result": the return at the end, 0 before; "shaped": plus the change of the learner's `potential`.
        autoreset_mode: as for `GameVectorEnv`.
        threads: as for `GameVectorEnv`.
        observation: as for `GameVectorEnv`.
        copy: as for `GameVectorEnv`.
        render_mode: as for `GameVectorEnv`.
        options: the game's options.

    Raises:
        IllegalActionError: from `step`, `reset` and `restore`: an opponent chose an illegal action; names it, its game
            and its seat.
        FileNotFoundError: an agent's spec names a file that is not there.
        ImportError: an agent's spec, where the agents cannot be imported.
        TypeError: `num_envs` or `threads` is not an integer, or an unknown keyword.
        ValueError: an argument that is not possible; the text says what is.
    """

    NOT_COPIED: ClassVar[set[str]] = {*GameVectorEnv.NOT_COPIED, "_players", "_asked", "_batch", "_buffers"}

    def __init__(
        self,
        game: str,
        num_envs: int = 1,
        num_players: int | None = None,
        *,
        opponents: Opponent | Sequence[Opponent] = "random",
        seat: int | str | Sequence[int] | np.ndarray = 0,
        encoding: str | None = None,
        reward: str = "result",
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        threads: int = 1,
        observation: str = "dict",
        copy: bool = False,
        render_mode: str | None = None,
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
            threads=threads,
            observation=observation,
            copy=copy,
            render_mode=render_mode,
            **options,
        )

    def _make_buffers(self) -> None:
        super()._make_buffers()
        count = self.num_envs
        self._seating, self._learners = seating_of(self._seat_choice, self.variant.num_players, count)
        self._waiting = np.zeros(count, np.int8)
        self._decided = np.zeros(count, np.bool_)
        self._played = np.zeros(count, np.int8)
        self._streams = np.zeros((count, 1), np.uint64)
        self._potentials = np.zeros(count)
        self._begun = False  # whether learners have had seats

    def _choose_kernels(self) -> None:
        kernels = one_learner_kernels(self.variant.game, self.encoding)
        self._stepper, self._keep_stepping = kernels.learner_step, kernels.keep_stepping
        self._batch = GameBatch(self.variant)
        self._players = players_of(self.variant, self.opponents)
        asked = [player for player in self._players if player.compiled is None]
        self._asked = list({id(player): player for player in asked}.values())  # a callable may have no hash
        kinds = [ASKED if player.compiled is None else COMPILED_KINDS[player.compiled] for player in self._players]
        self._kinds = np.array(kinds, np.int8)

    def _connect(self) -> None:
        super()._connect()
        self._buffers = self._step_arguments(slice(None))[-1]

    def _step_arguments(self, part: slice) -> tuple[Any, ...]:
        buffers = LearnerBuffers(
            states=self.states,
            actions=self._actions,
            done=self._done,
            waiting=self._waiting,
            decided=self._decided,
            learners=self._learners,
            streams=self._streams,
            potentials=self._potentials,
            kinds=self._kinds,
            rewards=self._own,
            payoffs=self._returns,
            words=self._words,
            masks=self._masks,
            observations=self._observations,
            ended=self._ended,
            played=self._played,
            last=self._last,
            final=self._final,
        )
        parts = [array if array is self._kinds else array[part] for array in buffers]
        return self._mode, self._shaped, self._seating, True, LearnerBuffers(*parts)

    def _reset_rows(self, rows: np.ndarray, named: np.ndarray, seeds: np.ndarray, desynchronized: bool = False) -> None:
        self._reset_states(rows, named, seeds, desynchronized)
        if self._seating == ROTATING:
            seeded = rows[named]
            self._learners[seeded] = (seeded - 1) % self.variant.num_players
        self._seat_learners(rows, self._seating)
        self._play_on(rows)

    def _continue(self, over: np.ndarray) -> None:
        stay = self._seating == ROTATING and self._begun
        self._seat_learners(self._rows, FIXED if stay else self._seating)
        if self._same_step:
            self._reset_rows(over, *checked_seeds(None, len(over)))
        self._play_on(np.flatnonzero(self.states["over"] == 0) if self._same_step else self._rows)

    def _seat_learners(self, rows: np.ndarray, seating: int) -> None:
        """Choose seats for games just begun, and begin their opponents' random numbers."""
        kernels = one_learner_kernels(self.variant.game, self.encoding)
        self._begun = True
        kernels.take_seats(seating, self.states, rows, self._learners, self._streams, self.variant.num_players)

    def _play_on(self, rows: np.ndarray) -> None:
        """Bring games of which no learner has decided to its first decision."""
        self._waiting[:] = 0
        self._waiting[rows] = BEGUN
        self._decided[rows] = False
        self._step_waiting()
        self._answer()

    def _advance(self) -> int:
        return super()._advance() + self._answer()

    def _step_waiting(self) -> int:
        return self._stepper(self._mode, self._shaped, self._seating, False, self._buffers)

    def _answer(self) -> int:
        """Ask opponents outside of compiled code until no game waits for one; how many games have ended."""
        count = 0
        while self._asked and len(rows := self._waiting.nonzero()[0]):
            players = [id(self._players[distance - 1]) for distance in self._waiting[rows]]
            for player in self._asked:
                chosen = rows[np.equal(players, id(player))]
                if len(chosen):
                    self._actions[chosen] = self._ask(player, chosen)
            count += self._step_waiting()
        return count

    def _ask(self, player: Player, rows: np.ndarray) -> np.ndarray:
        """The actions of an opponent in the games of these rows; errors as the class names them."""
        states = self._bytes[rows].view(self.states.dtype)
        if player.act is not None:
            given = player.act(states.copy(), decision_keys(states["seed"], states["steps"]))
        else:
            assert player.choose is not None
            seen = {
                "observation": self._batch.observe(states, None, self.encoding),
                "action_mask": self._batch.legal_masks(states),
            }
            given = player.choose(seen)
        actions = checked_integers(f"actions of opponent {player.name}", given, rows.shape)
        wrong = self._batch.first_illegal(states, actions)
        if wrong >= 0:
            game, seat = int(rows[wrong]), int(states["seat"][wrong])
            why = self._batch.why_illegal(states[wrong], actions[wrong])
            raise IllegalActionError(f"game {game}: opponent {player.name} on seat {seat}: {why}")
        return actions

    def _add_ends(self, info: dict[str, Any]) -> None:
        super()._add_ends(info)
        if self._same_step:
            info["final_info"].update(seat=self._played, _seat=self._ended)

    def _info(self) -> dict[str, Any]:
        return {"seat": self._learners, "action_mask": self._masks}

    def _step_info(self) -> dict[str, Any]:
        return {**self._info(), "returns": self._returns, "_returns": self._ended}

    def _viewer(self, game: int) -> int | None:
        return int(self._learners[game])
