"""Games of one text player against agents, by id: what a server of tools offers."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from samurai_env.core.checks import checked_seat
from samurai_env.core.rng import random_seed
from samurai_env.core.texts import shown
from samurai_env.core.variant_spec import parse_variant
from samurai_env.language.text_env import TextEnv
from samurai_env.position import Position

MAX_SESSIONS = 100  # games kept; the one not used for longest goes

Chooser = Callable[[Position], int]  # makes a decision of another seat


def random_player(position: Position) -> int:
    """Choose a legal action, the same one for the same seed and decision."""
    rng = np.random.default_rng((position.seed, position.steps))
    return int(rng.choice(position.legal_actions()))


class GameSessions:
    """Games in progress; in each, one seat replies by text and the others are played by `others`.

    Args:
        others: makes the decisions of all other seats.
    """

    def __init__(self, others: Chooser = random_player) -> None:
        self._others = others
        self._games: OrderedDict[str, tuple[TextEnv, int]] = OrderedDict()
        self._begun = 0
        self._lock = threading.RLock()  # a server of tools may call from several threads

    def new_game(self, variant: str, seed: int | None = None, seat: int = 0) -> dict[str, Any]:
        """Begin a game.

        Args:
            variant: such as `samurai players=2`.
            seed: of the game; None draws one.
            seat: the one that replies.

        Returns:
            `game` (the id that `state` and `move` take), `rules` (text), `others` (moves that the other seats have made
            and that all may see), and what `state` returns.

        Raises:
            TypeError: the variant is not a text, or the seed not an integer.
            ValueError: no such variant or seat, or the others cannot play it.
        """
        found = parse_variant(variant)
        seat = checked_seat(seat, found.num_players)
        env = TextEnv(found, random_seed() if seed is None else seed)
        with self._lock:
            if found.num_players > 1:
                self._others(env.position)  # who cannot play this says so before there is a game
            moves = self._play_others(env, seat)
            self._begun += 1
            name = f"game-{self._begun}"
            self._games[name] = env, seat
            while len(self._games) > MAX_SESSIONS:
                self._games.popitem(last=False)
        return {"game": name, "rules": env.rules(), **self._state(env, seat), "others": moves}

    def state(self, game: str) -> dict[str, Any]:
        """The position as the seat sees it.

        Returns:
            `seat` (the one that replies), `board` (text), `to_move` (a seat), `legal` (moves), `over`, `returns` (by
            seat, once over) and `mistakes` (of the seat so far).

        Raises:
            ValueError: no such game.
        """
        with self._lock:
            return self._state(*self._find(game))

    def move(self, game: str, move: str) -> dict[str, Any]:
        """Make a move of the seat, then those of the others until it is asked again.

        If an earlier call was interrupted while the others played, they go on first, and the move is not made.

        Returns:
            `accepted`, `feedback`, `others` (moves of the other seats that all may see) and the new state.

        Raises:
            ValueError: no such game, or it is over.
        """
        with self._lock:
            env, seat = self._find(game)
            if env.over:
                raise ValueError("the game is over; new_game begins another")
            accepted, feedback = False, "the others had not finished: look at the position, then move"
            if env.seat == seat:
                reply = env.reply(move)
                accepted, feedback = reply.accepted, reply.feedback
            moves = self._play_others(env, seat)
            return {"accepted": accepted, "feedback": feedback, "others": moves, **self._state(env, seat)}

    def _find(self, game: str) -> tuple[TextEnv, int]:
        if not isinstance(game, str) or game not in self._games:
            raise ValueError(f"there is no game {shown(game)}; new_game begins one")
        self._games.move_to_end(game)
        return self._games[game]

    def _state(self, env: TextEnv, seat: int) -> dict[str, Any]:
        position = env.position
        return {
            "seat": seat,
            "over": env.over,
            "to_move": None if env.over else env.seat,
            "board": env.observation(seat),
            "legal": env.legal() if not env.over and env.seat == seat else [],
            "returns": position.returns().tolist() if env.over else None,
            "mistakes": env.mistakes[seat],
        }

    def _play_others(self, env: TextEnv, seat: int) -> list[str]:
        """Play until the seat decides; the moves, as this seat may know them."""
        game, moves = env.variant.game, []
        while not env.over and env.seat != seat:
            before, mover, actions = env.position.clone(), env.seat, []
            while not env.over and env.seat == mover:
                action = self._others(env.position.clone())
                env.position.step(action)
                actions.append(action)
                if not env.position.mid_move:
                    break
            hidden = game.secret(before.state)
            moves.append(f"seat {mover}: {'(hidden)' if hidden else game.format_move(before.state, actions)}")
        return moves
