"""The contract between a game and everything above it.

A `Game` is what a game's package provides: metadata, the layout of its record, and compiled functions
over one record. A `Variant` is a game with a number of players and options; all else in the project
(environments, search, learning, tournaments, records, pictures) is written against these two alone.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

from samurai_env.core.checks import checked_count, is_whole
from samurai_env.core.encoding import Encoding
from samurai_env.core.layout import Field, check_record, record_type
from samurai_env.core.texts import shown


@dataclass(frozen=True)
class Option:
    """An option of a game: one of a few values; the record field of its name holds the index in `values`.

    A subclass may allow values beyond those listed; what they mean is stored by the game's `settings`, not by a field.
    """

    values: tuple[Any, ...]
    default: Any
    meaning: str

    def check(self, label: str, value: Any, num_players: int) -> Any:
        """The value as a variant keeps it (hashable).

        Args:
            label: what the option is called in an error.
            value: what the caller gave.
            num_players: the number of players of the variant.

        Raises:
            ValueError: the option has no such value.
        """
        if not any(value == v and type(value) is type(v) for v in self.values):
            raise ValueError(f"{label} is one of {', '.join(map(repr, self.values))}, not {shown(value)}")
        return value

    def text(self, value: Any) -> str:
        """The value as a word in a variant's spec (no blanks)."""
        return str(value).lower() if isinstance(value, bool) else str(value)

    def parse(self, label: str, text: str) -> Any:
        """The value that is written `text` in a variant's spec; `check` follows.

        Raises:
            ValueError: no value is written so.
        """
        for value in self.values:
            if self.text(value) == text:
                return value
        raise ValueError(f"{label} is one of {', '.join(map(self.text, self.values))}, not {shown(text)}")


@dataclass(frozen=True)
class Kernels:
    """A game's compiled functions. `state` is one record, changed in place; seats are integers.

    Attributes:
        reset: `(state, seed)`: begin the game of that seed; option fields must be set.
        legal: `(state, words)`: write the legal action ids as bits of uint64 words; none once over.
        step: `(state, action)`: carry out a legal action. Not checked here.
        returns: `(state, out)`: write the payoff of each seat (float64), all 0 while the game runs.
        potential: `(state, out)`: write each seat's shaped measure of success so far (float64).
        determinize: `(state, seat, rng)`: resample all that the seat cannot know.
        mid_move: `(state)`: whether the decisions so far leave a move of the rulebook half made.
        observe: by encoding: `(state, seat, out)`: write what the seat sees (int8).
        heuristic_value: `(state, out)`: write the return each seat can expect (float64), for a state that is not over.
        heuristic_policy: `(state, logits)`: write the logit of each legal action (float64), higher is better.
        action_features: `(state, features)`: write what `Game.action_features` lists for each legal action (float32,
            a row an action id); None if the logit of `heuristic_policy` is the only feature. The state may change on
            the way, and is as before afterwards.
    """

    reset: Any
    legal: Any
    step: Any
    returns: Any
    potential: Any
    determinize: Any
    mid_move: Any
    observe: Mapping[str, Any]
    heuristic_policy: Any
    heuristic_value: Any = None
    action_features: Any = None


def no_settings(num_players: int, options: Mapping[str, Any]) -> Mapping[str, Any]:
    """For games whose options decide no more than their own record fields."""
    return {}


def nothing_more(records: np.ndarray) -> dict[str, np.ndarray]:
    """A game that has nothing to tell about its end beyond the returns."""
    return {}


def no_invariants(records: np.ndarray) -> Iterable[tuple[str, np.ndarray]]:
    """No field of the game follows from others."""
    return ()


@dataclass(frozen=True, eq=False)  # compared and hashed by identity: there is one object a game
class Game:
    """One game of the family.

    Attributes:
        name: short name, used in ids, records and cache files.
        title: the game's own name.
        players: the possible numbers of players.
        cooperative: all seats share one return.
        options: by name.
        fields: number of players -> fields of the record (without the header).
        action_names: number of players -> name of each action id.
        max_steps: number of players -> an upper bound of the decisions in a game.
        encodings: by name: number of players -> layout of the observation; the first is the default.
        kernels: the compiled functions.
        format_move: (record before, action ids of one move) -> text of the move.
        parse_move: (record before, text) -> action ids; ValueError says what is wrong.
        forbid: (number of players, options) -> why this combination is impossible, or None.
        scene: (record, seat that looks or None for all, last actions) -> what to draw, see `render`.
        text: (record, seat that looks or None for all) -> the position as text for a terminal.
        secret: (record before) -> whether the others do not see which move is made.
        settings: (number of players, options) -> contents of further record fields that the options decide.
        describe_results: records (n,) of finished games -> what else to tell of their ends, for the environments'
            `info`: arrays (n,) by name. A "result" that is "truncated" says that a game was cut off at its limit.
        broken_invariants: records (count,) -> names of fields that follow from others, each with an array that is true
            where a record says otherwise; only a forged record does.
        action_features: what advised networks read of each legal action: first a score, higher is better;
        `kernels.action_features` writes it. Without that it is the score of `kernels.heuristic_policy` alone.
    """

    name: str
    title: str
    players: tuple[int, ...]
    cooperative: bool
    options: Mapping[str, Option]
    fields: Callable[[int], list[Field]]
    action_names: Callable[[int], tuple[str, ...]]
    max_steps: Callable[[int], int]
    encodings: Mapping[str, Callable[[int], Encoding]]
    kernels: Kernels
    format_move: Callable[[np.void, list[int]], str]
    parse_move: Callable[[np.void, str], list[int]]
    forbid: Callable[[int, Mapping[str, Any]], str | None]
    scene: Callable[..., Any]
    text: Callable[..., str]
    secret: Callable[[np.void], bool] = lambda record: False
    settings: Callable[[int, Mapping[str, Any]], Mapping[str, Any]] = no_settings
    describe_results: Callable[[np.ndarray], dict[str, np.ndarray]] = nothing_more
    broken_invariants: Callable[[np.ndarray], Iterable[tuple[str, np.ndarray]]] = no_invariants
    action_features: tuple[str, ...] = ("advice",)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and deepcopy by name: compiled functions stay where they are."""
        return find_game, (self.name,)

    def describe_result(self, record: np.void) -> dict[str, Any]:
        """What `describe_results` tells of one finished game."""
        return {name: column.tolist()[0] for name, column in self.describe_results(np.array([record])).items()}

    def option(self, name: str) -> Option:
        """The option of that name.

        Raises:
            ValueError: the game has none.
        """
        if name not in self.options:
            raise ValueError(f"{self.title} has no option {shown(name)}; its options are {', '.join(self.options)}")
        return self.options[name]

    def label(self, option: str) -> str:
        """What errors call an option."""
        return f"option {option} of {self.title}"

    def variant(self, num_players: int | None = None, **options: Any) -> "Variant":
        """This game with a number of players (default: the smallest) and options (default: the game's).

        Raises:
            ValueError: impossible number of players, unknown option or value, or options that exclude each other.
        """
        num_players = self.players[0] if num_players is None else num_players
        if not is_whole(num_players) or num_players not in self.players:
            allowed = ", ".join(map(str, self.players))
            raise ValueError(f"{self.title} is for {allowed} players, not {shown(num_players)}")
        for name in options:
            self.option(name)
        full = {
            name: option.check(self.label(name), options.get(name, option.default), num_players)
            for name, option in self.options.items()
        }
        if problem := self.forbid(num_players, full):
            raise ValueError(problem)
        return Variant(self, int(num_players), tuple(full.items()))


_loaders: dict[str, Callable[[], Game]] = {}


def register_game(name: str, loader: Callable[[], Game]) -> None:
    """Make a game known by name; `loader` is called when the game is first asked for."""
    _loaders[name] = cache(loader)


def game_names() -> list[str]:
    """The names of all games known."""
    return list(_loaders)


def find_game(name: str) -> Game:
    """The game of that name.

    Raises:
        ValueError: no such game.
    """
    if name not in _loaders:
        raise ValueError(f"there is no game {shown(name)}; the games are {', '.join(_loaders)}")
    return _loaders[name]()


@dataclass(frozen=True)
class Variant:
    """A game with its number of players and options: everything that is fixed before a game begins."""

    game: Game
    num_players: int
    option_items: tuple[tuple[str, Any], ...]

    def __repr__(self) -> str:
        return f"<{self.spec}>"

    @property
    def options(self) -> dict[str, Any]:
        """All options with their values."""
        return dict(self.option_items)

    @property
    def spec(self) -> str:
        """The variant as text: `samurai players=2 edition=2016 ...`."""
        options = " ".join(f"{name}={self.game.options[name].text(value)}" for name, value in self.option_items)
        return f"{self.game.name} players={self.num_players} {options}".strip()

    @cached_property
    def dtype(self) -> np.dtype:
        """NumPy dtype of the record."""
        return record_type(self.game.fields(self.num_players))

    @cached_property
    def action_names(self) -> tuple[str, ...]:
        """The name of each action id."""
        return self.game.action_names(self.num_players)

    @property
    def num_actions(self) -> int:
        """Number of action ids."""
        return len(self.action_names)

    @property
    def num_words(self) -> int:
        """Number of uint64 words that hold a legal-action set."""
        return (self.num_actions + 63) // 64

    @property
    def max_steps(self) -> int:
        """An upper bound of the decisions in a game."""
        return self.game.max_steps(self.num_players)

    def encoding(self, name: str | None = None) -> Encoding:
        """The layout of an encoding (default: the game's first).

        Raises:
            ValueError: the game has no encoding of that name.
        """
        return self.game.encodings[self.encoding_name(name)](self.num_players)

    def encoding_name(self, name: str | None) -> str:
        """`name` if the game has such an encoding, the default for None."""
        if name is None:
            return next(iter(self.game.encodings))
        if name not in self.game.encodings:
            known = ", ".join(self.game.encodings)
            raise ValueError(f"{self.game.title} has no encoding {shown(name)}; it has {known}")
        return name

    @cached_property
    def _blank(self) -> np.ndarray:
        blank = np.zeros(1, self.dtype)
        for name, value in self.option_items:
            if name in (self.dtype.names or ()):
                blank[name] = self.game.options[name].values.index(value)
        for name, value in self.game.settings(self.num_players, self.options).items():
            blank[name] = value
        return blank

    def new(self, count: int = 1) -> np.ndarray:
        """An array of `count` records with the options set, not yet reset.

        Raises:
            TypeError: `count` is not an integer.
            ValueError: it is negative, or no memory has so many.
        """
        return np.repeat(self._blank, checked_count("count", count))

    def check(self, records: np.ndarray | np.void) -> None:
        """Refuse a record, or an array of them, of another variant or that no legal game can hold.

        Raises:
            ValueError: says which field is wrong.
        """
        if getattr(records, "dtype", None) != self.dtype:
            raise ValueError(f"{shown(records)} is no record of {self.spec}")
        check_record(records, self.game.fields(self.num_players))
        seat = np.max(records["seat"])
        if seat >= self.num_players:  # the header's limits do not know the number of players
            raise ValueError(f"field 'seat' of the saved game is {seat}, {self.spec} has no such seat")
        for name, _ in self.option_items:
            if name in (self.dtype.names or ()):
                found = np.asarray(records[name])
                other = found[found != self._blank[0][name]]
                if other.size:
                    option = self.game.options[name]
                    value = option.text(option.values[int(other[0])])
                    raise ValueError(f"the saved game has {name}={value}, this variant is {self.spec}")
        for name in self.game.settings(self.num_players, self.options):
            if np.any(records[name] != self._blank[0][name]):
                raise ValueError(f"field {name!r} of the saved game is not what {self.spec} means here")
        rows = np.asarray(records).reshape(-1)
        for name, wrong in self.game.broken_invariants(rows):
            if np.any(wrong):
                raise ValueError(f"field {name!r} of the saved game contradicts its other fields")
        words = np.zeros(self.num_words, np.uint64)
        for i in np.flatnonzero(rows["over"] == 0):
            self.game.kernels.legal(rows[i], words)
            if not words.any():
                raise ValueError("the saved game is not over, yet no action is legal")
