"""One game as a Python object, where speed matters little: environments, game records, play, rendering."""

import base64
import binascii
import hashlib
import zlib
from typing import Any

import numpy as np

from samurai_env.core.batch import batch_kernels
from samurai_env.core.checks import checked_buffer, checked_integer, checked_seat, checked_seed
from samurai_env.core.game import Variant, checked_variant
from samurai_env.core.texts import shown
from samurai_env.core.variant_spec import parse_variant
from samurai_env.state_dict import to_dict

MAGIC = b"samurai_env position 1\n"
LONGEST_TEXT = 20_000  # characters of a position as text
LARGEST_SAVED = 2**16  # bytes of a saved position


class IllegalActionError(ValueError):
    """An action that is not legal where it was tried."""


class Position:
    """A game in progress.

    Attributes:
        variant: the game, number of players and options.
        states: array (1,) of the state; compiled functions take `states[0]`.
    """

    def __init__(self, variant: Variant, seed: int = 0) -> None:
        """Start the game of `seed` (0 to 2**63 - 1); raises as `reset`, and TypeError if `variant` is none."""
        self.variant = checked_variant(variant)
        self.states = variant.new(1)
        self._words = np.zeros(variant.num_words, np.uint64)
        self.reset(seed)

    def reset(self, seed: int) -> None:
        """Start another game.

        Raises:
            TypeError: the seed is not an integer.
            ValueError: a negative seed or one of more than 63 bits.
        """
        batch_kernels(self.variant.game).reset_all(self.states, np.array([checked_seed(seed)], np.uint64))

    @property
    def state(self) -> np.void:
        """The struct that holds the game: fields by name, such as `position.state["seat"]`."""
        return self.states[0]

    @property
    def seat(self) -> int:
        """The seat that decides now (once over: that decided last)."""
        return int(self.states["seat"][0])

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return bool(self.states["over"][0])

    @property
    def steps(self) -> int:
        """Decisions made so far."""
        return int(self.states["steps"][0])

    @property
    def seed(self) -> int:
        """The seed of this game."""
        return int(self.states["seed"][0])

    def legal_mask(self, out: np.ndarray | None = None) -> np.ndarray:
        """Legal actions as int8 zeros and ones, shape (num_actions,); all zero once over.

        Args:
            out: writable array in C order to write them into; a new one if None.

        Raises:
            TypeError: `out` is not an array.
            ValueError: `out` has another dtype or shape, or cannot be written into.
        """
        shape = (self.variant.num_actions,)
        mask = np.empty(shape, np.int8) if out is None else checked_buffer("out", out, np.int8, shape)
        batch_kernels(self.variant.game).write_legal(self.states, 0, self._words, mask)
        return mask if out is None else out

    def legal_actions(self) -> list[int]:
        """Legal action ids, ascending."""
        return self.legal_mask().nonzero()[0].tolist()

    def step(self, action: int) -> None:
        """Carry out an action of the seat to move.

        Raises:
            IllegalActionError: the action is not legal, or the game is over; nothing has changed.
            TypeError: the action is not an integer.
        """
        action = checked_integer("an action", action)
        known = 0 <= action < self.variant.num_actions  # compiled code takes 64 bits
        if not known or not batch_kernels(self.variant.game).apply(self.states, 0, action, self._words):
            raise IllegalActionError(self.why_illegal(action))

    def why_illegal(self, action: int) -> str:
        """What is wrong with an action, in words; empty if it is legal."""
        names = self.variant.action_names
        if self.over:
            return f"action {shown(action)} after the end of the game; reset to begin another"
        if not 0 <= action < len(names):
            return f"there is no action {shown(action)}; actions are 0 to {len(names) - 1}"
        legal = self.legal_actions()
        if action in legal:
            return ""
        some = ", ".join(f"{a} ({names[a]})" for a in legal[:12]) + (", ..." if len(legal) > 12 else "")
        return f"action {action} ({names[action]}) is illegal for seat {self.seat} now; legal are {some}"

    def observe(self, seat: int, encoding: str | None = None, out: np.ndarray | None = None) -> np.ndarray:
        """Return the observation of `seat`, int8 of the encoding's shape (default encoding: the game's first).

        Args:
            seat: who looks.
            encoding: name of the encoding.
            out: writable array in C order of the encoding's shape to write it into; a new one if None.

        Raises:
            TypeError: `out` is not an array.
            ValueError: no such seat or encoding, or `out` has another dtype or shape, or cannot be written into.
        """
        seat = checked_seat(seat, self.variant.num_players)
        name = self.variant.encoding_name(encoding)
        shape = self.variant.encoding(name).shape
        seen = np.empty(shape, np.int8) if out is None else checked_buffer("out", out, np.int8, shape)
        batch_kernels(self.variant.game).by_encoding[name].write_observation(self.states, 0, seat, seen)
        return seen if out is None else out

    def to_dict(self, seat: int, encoding: str | None = None) -> dict[str, Any]:
        """Return what `seat` may know as plain data for JSON; see `samurai_env.state_dict`.

        Raises:
            ValueError: no such seat or encoding.
        """
        return to_dict(self, seat, encoding)

    def returns(self) -> np.ndarray:
        """Payoff of each seat, float64 (num_players,); zeros while the game runs."""
        out = np.zeros(self.variant.num_players)
        batch_kernels(self.variant.game).write_returns(self.states, 0, out)
        return out

    def potential(self) -> np.ndarray:
        """The potential of each seat, from which shaped rewards are made, float64 (num_players,)."""
        out = np.zeros(self.variant.num_players)
        batch_kernels(self.variant.game).write_potential(self.states, 0, out)
        return out

    @property
    def mid_move(self) -> bool:
        """Whether a move of the rulebook is half made."""
        return bool(batch_kernels(self.variant.game).is_mid_move(self.states, 0))

    def clone(self) -> "Position":
        """An independent copy."""
        other = object.__new__(Position)
        other.variant, other.states, other._words = self.variant, self.states.copy(), self._words.copy()
        return other

    def determinized(self, seat: int, rng: np.ndarray) -> "Position":
        """A copy in which all that `seat` cannot know is sampled from `rng` (uint64, shape (1,), moved on).

        Raises:
            TypeError: `rng` is not an array.
            ValueError: no such seat, or another kind of `rng`, or one that cannot be written into.
        """
        seat = checked_seat(seat, self.variant.num_players)
        rng = checked_buffer("rng", rng, np.uint64, (1,))
        other = self.clone()
        batch_kernels(self.variant.game).determinize_one(other.states, 0, seat, rng)
        return other

    def hash(self) -> str:
        """16 hexadecimal digits that depend on every bit of the state."""
        return hashlib.blake2b(self.states.tobytes(), digest_size=8).hexdigest()

    def _repr_svg_(self) -> str:
        """The picture that a notebook shows, with all hands open."""
        from samurai_env.display import svg

        return svg(self.variant.game.scene(self.state))

    def save(self) -> bytes:
        """The position as bytes, for `restore`."""
        body = MAGIC + self.variant.spec.encode() + b"\n" + self.states.tobytes()
        return body + hashlib.blake2b(body, digest_size=16).digest()

    @staticmethod
    def restore(data: bytes) -> "Position":
        """The position that `save` wrote.

        Raises:
            TypeError: not bytes.
            ValueError: not such a file, damaged, or a state that no legal game can hold.
        """
        if not isinstance(data, (bytes, bytearray)):
            raise TypeError(f"a saved position must be bytes, not {shown(data)}")
        if not data.startswith(MAGIC):
            raise ValueError("these bytes are not a position saved by samurai_env")
        body, digest = data[:-16], data[-16:]
        if hashlib.blake2b(body, digest_size=16).digest() != digest:
            raise ValueError("the saved position is damaged: its checksum does not match")
        spec, _, state = body[len(MAGIC) :].partition(b"\n")
        try:
            variant = parse_variant(spec.decode())
        except UnicodeDecodeError:
            raise ValueError(f"the saved position is of {shown(spec)}, which is no variant") from None
        if len(state) != variant.dtype.itemsize:
            raise ValueError(f"the saved state has {len(state)} bytes, {variant.spec} needs {variant.dtype.itemsize}")
        position = object.__new__(Position)
        position.variant = variant
        position.states = np.frombuffer(state, variant.dtype).copy()
        position._words = np.zeros(variant.num_words, np.uint64)
        variant.check(position.states[0])
        return position

    def to_text(self) -> str:
        """The position as one word of letters, digits, `-` and `_`, for `from_text`; shows everything."""
        return base64.urlsafe_b64encode(zlib.compress(self.save(), 9)).decode().rstrip("=")

    @staticmethod
    def from_text(text: str) -> "Position":
        """The position that `to_text` wrote.

        Raises:
            TypeError: not a text.
            ValueError: not such a word, damaged, or a state that no legal game can hold.
        """
        if not isinstance(text, str):
            raise TypeError(f"a position as text must be a string, not {shown(text)}")
        word = text.strip()
        if not word or len(word) > LONGEST_TEXT or not word.isascii():
            raise ValueError(f"a position as text must be a word of 1 to {LONGEST_TEXT:,} letters, not {shown(text)}")
        try:
            packed = base64.b64decode(word + "=" * (-len(word) % 4), b"-_", validate=True)
            reader = zlib.decompressobj()
            data, whole = reader.decompress(packed, LARGEST_SAVED), reader.eof
        except (binascii.Error, zlib.error):
            whole = False
        if not whole:
            raise ValueError(f"{shown(text)} is not a position as text; perhaps it was cut off")
        return Position.restore(data)
