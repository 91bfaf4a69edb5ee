"""Many games of one variant as an array of states: the rules of the game, batched.

    batch = GameBatch(make_variant("samurai", num_players=3))
    states = batch.reset(np.arange(1000))
    masks = batch.legal_masks(states)
    batch.step(states, masks.argmax(1))

States are NumPy structured arrays (`Variant.dtype`); copying, slicing and saving them is NumPy's own. Agents, search
and experiments use this interface; `samurai_env.core.batch` has the compiled functions behind it.
"""

from typing import Any

import numpy as np

from samurai_env.core.batch import batch_kernels
from samurai_env.core.checks import (
    checked_array,
    checked_buffer,
    checked_count,
    checked_games,
    checked_integer,
    checked_integers,
)
from samurai_env.core.game import Variant, checked_variant
from samurai_env.position import IllegalActionError, Position


class GameBatch:
    """The rules of a variant over arrays of states.

    Every method raises TypeError for `states` that are no array and ValueError for states of another variant. Methods
    that change states in place need a writable array in C order. Several threads may share one, each with its states.

    Args:
        variant: the game, number of players and options.

    Raises:
        TypeError: `variant` is no `Variant`.
    """

    def __init__(self, variant: Variant) -> None:
        self.variant = checked_variant(variant)
        self._kernels = batch_kernels(variant.game)

    def _new_words(self) -> np.ndarray:
        """Scratch for the legal actions of a game; one for each call, so that threads do not share it."""
        return np.zeros(self.variant.num_words, np.uint64)

    def reset(self, seeds: Any) -> np.ndarray:
        """Start a game for each seed.

        Args:
            seeds: integers (games,), from 0 to 2**63 - 1.

        Returns:
            States (games,).

        Raises:
            ValueError: impossible seeds.
        """
        seeds = checked_integers("seeds", seeds, (None,))
        if (seeds < 0).any():
            raise ValueError(f"seeds must be 0 or more, not {seeds.min()}")
        states = self.variant.new(len(seeds))
        self._kernels.reset_all(states, seeds.astype(np.uint64))
        return states

    def clone(self, states: np.ndarray) -> np.ndarray:
        """An independent copy of the states (games,)."""
        return self._read(states).copy()

    def legal_masks(self, states: np.ndarray) -> np.ndarray:
        """Legal actions, int8 (games, actions), zeros and ones; all zero for a game that is over."""
        states = self._read(states)
        masks = np.zeros((len(states), self.variant.num_actions), np.int8)
        self._kernels.legal_masks(states, masks, self._new_words())
        return masks

    def first_illegal(self, states: np.ndarray, actions: Any) -> int:
        """The index of the first game whose action is illegal, -1 if all are legal.

        Args:
            states: states (games,).
            actions: integers (games,).
        """
        states = self._read(states)
        actions = checked_integers("actions", actions, states.shape)
        return int(self._kernels.first_illegal(states, actions, np.zeros(len(states), np.bool_), self._new_words()))

    def why_illegal(self, state: np.void, action: int) -> str:
        """What is wrong with an action in a game, in words; empty if it is legal.

        Args:
            state: of the game, such as `states[0]`.
            action: an integer.

        Raises:
            TypeError: the action is not an integer, or the state none of a game.
            ValueError: the state is of another variant.
        """
        position = Position(self.variant)
        position.states[0] = checked_array("state", np.asarray(state), self.variant.dtype, ())
        return position.why_illegal(checked_integer("an action", action))

    def step(self, states: np.ndarray, actions: Any) -> None:
        """Carry out an action in each game, in place.

        Args:
            states: states (games,), none of them over.
            actions: integers (games,).

        Raises:
            IllegalActionError: an action is illegal; names the game, and no game has changed.
        """
        states = self._write(states)
        actions = checked_integers("actions", actions, states.shape)
        game = self.first_illegal(states, actions)
        if game >= 0:
            raise IllegalActionError(f"game {game}: {self.why_illegal(states[game], actions[game])}")
        self._kernels.step_all(states, actions)

    def apply(self, states: np.ndarray, actions: Any) -> None:
        """As `step`, for actions that are known to be legal: others leave undefined states.

        Raises:
            ValueError: a game is over.
        """
        states = checked_games(self._write(states), self.variant.dtype)
        self._kernels.step_all(states, checked_integers("actions", actions, states.shape))

    def observe(self, states: np.ndarray, seats: Any = None, encoding: str | None = None) -> np.ndarray:
        """Observations, int8 (games, ...).

        Args:
            states: states (games,).
            seats: integers (games,), who observes; the seat to move if None.
            encoding: name of an encoding; the game's first if None.

        Raises:
            ValueError: no such seat or encoding.
        """
        states = self._read(states)
        name = self.variant.encoding_name(encoding)
        out = np.zeros((len(states), *self.variant.encoding(name).shape), np.int8)
        self._kernels.by_encoding[name].observe_seats(states, self._seats(states, seats), out)
        return out

    def returns(self, states: np.ndarray) -> np.ndarray:
        """The return of each seat, float64 (games, players); zeros for a game that runs."""
        states = self._read(states)
        out = np.zeros((len(states), self.variant.num_players))
        self._kernels.returns_all(states, out)
        return out

    def potential(self, states: np.ndarray) -> np.ndarray:
        """The game's potential for reward shaping, float64 (games, players)."""
        states = self._read(states)
        out = np.zeros((len(states), self.variant.num_players))
        self._kernels.potential_all(states, out)
        return out

    def policy_logits(self, states: np.ndarray) -> np.ndarray:
        """The heuristic policy's logits, float64 (games, actions); those of illegal actions mean nothing.

        Raises:
            ValueError: a game is over.
        """
        states = checked_games(states, self.variant.dtype)
        out = np.zeros((len(states), self.variant.num_actions))
        self._kernels.policy_all(states, out)
        return out

    def determinize(self, states: np.ndarray, rng: np.ndarray, seats: Any = None) -> None:
        """Draw in each game what a seat cannot know, in place.

        Args:
            states: states (games,).
            rng: uint64 (1,), the random stream, which moves on; or (games,), one for each game.
            seats: integers (games,), whose knowledge counts; the seat to move if None.

        Raises:
            ValueError: no such seat, or another kind of `rng`.
        """
        states = self._write(states)
        streams = (len(states),) if np.shape(rng) == (len(states),) else (1,)
        rng = checked_buffer("rng", rng, np.uint64, streams)
        self._kernels.determinize_all(states, self._seats(states, seats), rng)

    def play_random(self, states: np.ndarray, rng: np.ndarray, steps: int) -> int:
        """Make uniformly random decisions in each game, in place; finished games are followed by others.

        Args:
            states: states (games,), none of them over.
            rng: uint64 (1,), the random stream, which moves on.
            steps: decisions in each game.

        Returns:
            How many games have ended.

        Raises:
            ValueError: a game is over, a negative number of steps, or another kind of `rng`.
        """
        states = checked_games(self._write(states), self.variant.dtype)
        rng, steps = checked_buffer("rng", rng, np.uint64, (1,)), checked_count("steps", steps)
        return int(self._kernels.play_random(states, rng, steps, self._new_words()))

    def _read(self, states: np.ndarray) -> np.ndarray:
        return checked_array("states", states, self.variant.dtype, (None,))

    def _write(self, states: np.ndarray) -> np.ndarray:
        if not isinstance(states, np.ndarray):
            raise TypeError(f"states must be a NumPy array, not {type(states).__name__}")
        games = len(states) if states.ndim else 0
        return checked_buffer("states", states, self.variant.dtype, (games,))

    def _seats(self, states: np.ndarray, seats: Any) -> np.ndarray:
        if seats is None:
            return states["seat"].astype(np.int64)
        seats = checked_integers("seats", seats, states.shape)
        if ((seats < 0) | (seats >= self.variant.num_players)).any():
            raise ValueError(f"seats must be 0 to {self.variant.num_players - 1}, not {seats.min()} to {seats.max()}")
        return seats
