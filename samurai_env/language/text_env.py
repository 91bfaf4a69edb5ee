"""A game played by text: a prompt for the seat to move, a reply with a move, a retry that names the mistake.

For example:

    env = TextEnv(make_variant("samurai", num_players=2), seed=1)
    while not env.over:
        reply = env.reply(model(env.prompt()))  # "... move: S3 c14r12"
        if not reply.accepted:
            print(reply.feedback)  # what was wrong; the next prompt repeats it
"""

import re
from dataclasses import dataclass, field

import numpy as np

from samurai_env.core.checks import checked_count, checked_seat
from samurai_env.core.game import Variant
from samurai_env.core.texts import one_line, shown
from samurai_env.position import IllegalActionError, Position

LONGEST_REPLY = 100_000  # characters; only the end is read
# Within a line: blanks that crossed lines would be read anew from each.
_MOVE = re.compile(r"^(?:[^\S\n]|[>*`])*move(?:[^\S\n]|[*_`])*:(.*)$", re.IGNORECASE | re.MULTILINE)
_STRIP = " \t\r`*\"'."


@dataclass(frozen=True)
class Reply:
    """The outcome of a reply.

    Attributes:
        seat: who replied.
        accepted: whether it was a legal move, which has been made.
        move: the move made, in the game's notation; None if none was.
        feedback: one line: the mistake, or the move that was made.
        forced: the last retry was used up, and a random legal action has been taken.
    """

    seat: int
    accepted: bool
    move: str | None
    feedback: str
    forced: bool = False


@dataclass
class TextEnv:
    """One game, played by text.

    Attributes:
        variant: the game.
        seed: of the game and of forced actions.
        list_legal: whether prompts list the legal moves.
        retries: how many wrong replies in a row are answered with the mistake; the next one is replaced by a random
            legal action.
        position: the game so far.
        mistakes: wrong replies of each seat.
        forced: decisions of each seat that were taken for it.
    """

    variant: Variant
    seed: int = 0
    list_legal: bool = True
    retries: int = 2
    position: Position = field(init=False)
    mistakes: list[int] = field(init=False)
    forced: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.retries = checked_count("retries", self.retries)
        self.reset(self.seed)

    def reset(self, seed: int) -> None:
        """Begin the game of `seed`.

        Raises:
            TypeError: the seed is not an integer.
            ValueError: a negative seed or one of more than 63 bits.
        """
        self.position = Position(self.variant, seed)
        self.seed = self.position.seed
        self.mistakes = [0] * self.variant.num_players
        self.forced = [0] * self.variant.num_players
        self._rng = np.random.default_rng(self.seed)
        self._wrong: list[str] = []

    @property
    def seat(self) -> int:
        """The seat that is asked."""
        return self.position.seat

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.position.over

    def rules(self) -> str:
        """The rules on one page, with the notation of moves."""
        return self.variant.game.rules_summary()

    def observation(self, seat: int) -> str:
        """The position as a seat sees it.

        Raises:
            ValueError: no such seat.
        """
        seat = checked_seat(seat, self.variant.num_players)
        return self.variant.game.text(self.position.state, seat)

    def legal(self) -> list[str]:
        """The legal decisions of the seat to move, in notation; the first word of a move that takes several."""
        game, state = self.variant.game, self.position.state
        return [game.format_move(state, [action]) for action in self.position.legal_actions()]

    def prompt(self, rules: bool = True) -> str:
        """The text for the seat to move: rules (unless left out), position, legal moves, the last mistake.

        Raises:
            ValueError: the game is over.
        """
        if self.over:
            raise ValueError("the game is over: there is nobody to ask; reset begins another")
        parts = [self.rules()] if rules else []
        parts.append(self.observation(self.seat))
        if self.position.mid_move:
            parts.append("You are in the middle of a move: name what is still missing.")
        if self.list_legal:
            parts.append("Legal now: " + ", ".join(self.legal()))
        if self._wrong:
            parts.append(f"Your last reply was refused: {self._wrong[-1]}")
        parts.append(
            f"You are seat {self.seat}. Think as long as you like, then end with one line of the form\nmove: MOVE"
        )
        return "\n\n".join(part.strip("\n") for part in parts) + "\n"

    def reply(self, text: str) -> Reply:
        """Make the move that a reply names: its last line `move: MOVE`, or else its last line.

        A move may be whole (`S3 c14r12`) or its first part (`S3`); the seat is then asked for the rest. If any part is
        illegal, nothing changes. What comes after the move, where a card may have been turned up, is refused unseen.

        Raises:
            TypeError: the reply is not a text.
            ValueError: the game is over.
        """
        if not isinstance(text, str):
            raise TypeError(f"a reply must be a string, not {shown(text)}")
        if self.over:
            raise ValueError("the game is over: no reply is expected; reset begins another")
        seat = self.seat
        move = _move_in(text[-LONGEST_REPLY:])
        try:
            actions, after = self._carried_out(move)
        except ValueError as error:
            return self._refuse(seat, one_line(error))
        written = self.variant.game.format_move(self.position.state, actions)
        self.position, self._wrong = after, []
        return Reply(seat, True, written, f"seat {seat} made the move {written}")

    def _carried_out(self, move: str) -> tuple[list[int], Position]:
        """The decisions of a move and the position after them."""
        if not move:
            raise ValueError("the reply holds no move; end it with a line such as 'move: " + self.legal()[0] + "'")
        actions = self._parse(move)
        after, seat = self.position.clone(), self.seat
        for number, action in enumerate(actions):
            # After the move, whether a word is legal may tell what was drawn, and a refused reply is taken back.
            if after.over or after.seat != seat or (number and not after.mid_move):
                raise ValueError(f"{shown(move)} has more words than this move needs")
            try:
                after.step(action)
            except IllegalActionError:
                word = self.variant.game.format_move(after.state, [action])
                legal = [self.variant.game.format_move(after.state, [a]) for a in after.legal_actions()]
                listed = ", ".join(legal[:10]) + (", ..." if len(legal) > 10 else "")
                raise ValueError(f"{word} is not legal in {shown(move)}; legal there: {listed}") from None
        return actions, after

    def _parse(self, move: str) -> list[int]:
        """The decisions that a move names: notation, or names of actions."""
        try:
            return self.variant.game.parse_move(self.position.state, move)
        except ValueError:
            names = {name: action for action, name in enumerate(self.variant.action_names)}
            if all(word in names for word in move.split()):
                return [names[word] for word in move.split()]
            raise

    def _refuse(self, seat: int, mistake: str) -> Reply:
        """Note a mistake; after the last retry take a random legal action."""
        self.mistakes[seat] += 1
        self._wrong.append(mistake)
        if len(self._wrong) <= self.retries:
            return Reply(seat, False, None, mistake)
        action = int(self._rng.choice(self.position.legal_actions()))
        move = self.variant.game.format_move(self.position.state, [action])
        self.position.step(action)
        self.forced[seat] += 1
        self._wrong = []
        return Reply(seat, False, move, f"{mistake}; after {self.retries + 1} wrong replies {move} was played", True)


def _move_in(text: str) -> str:
    """The move that a reply names; empty if there is none."""
    lines = _MOVE.findall(text) or [line for line in text.splitlines() if line.strip()][-1:]
    return " ".join(lines[-1].strip(_STRIP).split()) if lines else ""
