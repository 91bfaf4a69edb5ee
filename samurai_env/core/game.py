"""The contract between a game and everything above it.

A `Game` is what a game's package provides: metadata, the layout of its state, and compiled functions over one state.
A `Variant` is a game with a number of players and options. Everything else (environments, search, learning,
tournaments, game records, rendering) uses these two alone.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

import numpy as np

from samurai_env.core.checks import checked_count, is_integer
from samurai_env.core.encoding import Encoding, Graph
from samurai_env.core.layout import Field, check_state, state_dtype
from samurai_env.core.texts import did_you_mean, shown


@dataclass(frozen=True)
class Option:
    """An option of a game: one of a few values; the state field of the same name holds the index in `values`.

    A subclass may allow further values; the game's `settings` then stores what they mean.

    Attributes:
        values: the values.
        default: the one that holds if none is named.
        meaning: one line for readers.
        omit_default: specs leave the default out: they are older than the option, and files and hashes contain them.
    """

    values: tuple[Any, ...]
    default: Any
    meaning: str
    omit_default: bool = False

    def check(self, label: str, value: Any, num_players: int) -> Any:
        """Return the value as a variant keeps it (hashable).

        Args:
            label: name of the option in an error.
            value: the value to check.
            num_players: of the variant.

        Raises:
            ValueError: the option has no such value.
        """
        if not any(value == v and type(value) is type(v) for v in self.values):
            raise ValueError(f"{label} must be one of {', '.join(map(repr, self.values))}, not {shown(value)}")
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
            if self.text(value) == (text.lower() if isinstance(value, bool) else text):
                return value
        raise ValueError(f"{label} must be one of {', '.join(map(self.text, self.values))}, not {shown(text)}")


@dataclass(frozen=True)
class Kernels:
    """A game's compiled functions. `state` is a struct, changed in place; seats are integers.

    Attributes:
        reset: `(state, seed)`: start the game of that seed; option fields must be set.
        legal: `(state, words)`: write the legal action ids as bits of uint64 words; none once over.
        step: `(state, action)`: carry out a legal action. Not checked here.
        returns: `(state, out)`: write the payoff of each seat (float64), all 0 while the game runs.
        potential: `(state, out)`: write each seat's potential for shaped rewards (float64).
        determinize: `(state, seat, rng)`: sample all that the seat cannot know.
        mid_move: `(state)`: whether a move of the rulebook is half made.
        observe: by encoding: `(state, seat, out)`: write the seat's observation (int8).
        heuristic_value: `(state, out)`: write each seat's estimated return (float64), for a state that is not over.
        value_features: `(state, out)`: write what a learned value reads of each seat, hidden things included (float32
            (players, columns)), or of all together in a cooperative game (float32 (1, columns)), for a state that is
            not over; None if no value can be learned.
        heuristic_policy: `(state, logits)`: write the logit of each legal action (float64), higher is better.
        tuned_policy: as `heuristic_policy`, with weights tuned for the number of players; None if there are none.
        action_features: `(state, features)`: write the columns of `Game.action_features` for each legal action
            (float32, a row an action id); None if the logit of `heuristic_policy` is the only feature. The state may
            change on the way and is restored.
        cut_off: `(state)`: whether a game that is over was cut off at its limit of decisions; None if there is no
            limit that a game can reach.
        determinize_by_odds: `(state, seat, odds, rng)`: as `determinize`, but the others' hands are dealt by odds,
            float64 (players, kinds), as `games.hands` says; equally likely if there are 0 columns. States then have the
            fields `hand` and `unseen` (hand and supply together, which is public), int8 (players, kinds). None if
            nobody holds a hand.
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
    value_features: Any = None
    tuned_policy: Any = None
    action_features: Any = None
    cut_off: Any = None
    determinize_by_odds: Any = None


def no_settings(num_players: int, options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Set no further fields: each option has a field of its own."""
    return {}


def no_results(states: np.ndarray) -> dict[str, np.ndarray]:
    """Report nothing about the end of a game beyond the returns."""
    return {}


def no_summary() -> str:
    """Return nothing: the rules are not summed up."""
    return ""


def no_words(before: np.void, actions: list[int]) -> str:
    """Return nothing: the notation of a move says it all."""
    return ""


def no_invariants(states: np.ndarray) -> Iterable[tuple[str, np.ndarray]]:
    """Report no broken invariant: no field follows from others."""
    return ()


@dataclass(frozen=True, eq=False)  # compared and hashed by identity: there is one object a game
class Game:
    """One game of the family.

    Attributes:
        name: short name, used in ids, game records and cache files.
        title: the full name.
        players: the numbers of players.
        cooperative: all seats share one return.
        options: by name.
        fields: number of players -> fields of the state (without the header).
        action_names: number of players -> name of each action id.
        max_steps: number of players -> upper bound of the decisions in a game.
        encodings: by name: number of players -> layout of the observation; the first is the default.
        kernels: the compiled functions.
        format_move: (state before the move, action ids of the move) -> text.
        parse_move: (state before the move, text) -> action ids; raises ValueError.
        forbid: (number of players, options) -> the reason why they exclude each other, or None.
        scene: (state, viewing seat or None for all, last actions) -> shapes to draw, see `samurai_env.display`.
        text: (state, viewing seat or None for all) -> the position as text for a terminal.
        rules_summary: () -> the rules on one page, with the notation of moves.
        move_words: (state before the move, action ids of the move) -> what the seat does, as a phrase for readers, such
            as `lays samurai 2 on c09r15`; tells no more than `format_move`. Empty if that says it all.
        secret: (state before the move) -> whether the move is hidden from the other seats.
        settings: (number of players, options) -> values of further state fields that the options set.
        describe_results: states (n,) of finished games -> further results for the environments' `info`: arrays (n,) by
            name. A "result" of "truncated" means that the game was cut off at its limit of decisions.
        broken_invariants: states (n,) -> names of fields that follow from others, each with bool (n,), true where
            a state contradicts that; only forged states do.
        action_features: the columns that networks read of each legal action; column 0 is a logit, higher is better.
            `kernels.action_features` writes them; without it the only column is the heuristic policy's logit.
        value_columns: names of the numbers that a learned value reads of each seat; `kernels.value_features` writes
            them.
        graph: number of players -> the map as a graph, by blocks of the default encoding; None without a map.
        presets: by name: options that a rulebook names together.
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
    rules_summary: Callable[[], str] = no_summary
    move_words: Callable[[np.void, list[int]], str] = no_words
    secret: Callable[[np.void], bool] = lambda state: False
    settings: Callable[[int, Mapping[str, Any]], Mapping[str, Any]] = no_settings
    describe_results: Callable[[np.ndarray], dict[str, np.ndarray]] = no_results
    broken_invariants: Callable[[np.ndarray], Iterable[tuple[str, np.ndarray]]] = no_invariants
    action_features: tuple[str, ...] = ("logit of the heuristic policy",)
    value_columns: tuple[str, ...] = ()
    graph: Callable[[int], Graph] | None = None
    presets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and deepcopy by name: compiled functions stay where they are."""
        return find_game, (self.name,)

    def describe_result(self, state: np.void) -> dict[str, Any]:
        """Return what `describe_results` reports of one finished game."""
        return {name: column.tolist()[0] for name, column in self.describe_results(np.array([state])).items()}

    def option(self, name: str, others: Iterable[str] = ()) -> Option:
        """The option of that name; `others` are names that a hint may suggest besides.

        Raises:
            ValueError: the game has none.
        """
        if name not in self.options:
            hint = did_you_mean(name, [*self.options, *others])
            raise ValueError(
                f"{self.title} has no option {shown(name)}{hint}; its options are {', '.join(self.options)}"
            )
        return self.options[name]

    def label(self, option: str) -> str:
        """Return the name of an option for error messages."""
        return f"option {option} of {self.title}"

    def preset(self, name: str) -> Mapping[str, Any]:
        """The options of a preset.

        Raises:
            ValueError: the game has none of that name.
        """
        if not isinstance(name, str) or name not in self.presets:
            known = f"its presets are {', '.join(self.presets)}" if self.presets else "it has no presets"
            raise ValueError(f"{self.title} has no preset {shown(name)}; {known}")
        return self.presets[name]

    def variant(self, num_players: int | None = None, *, preset: str | None = None, **options: Any) -> "Variant":
        """This game with a number of players (default: the smallest) and options (default: the game's).

        Args:
            num_players: how many play.
            preset: name of options that go together, such as `beginner`; those given by name come before them.
            **options: the options by name.

        Raises:
            ValueError: impossible number of players, unknown option, value or preset, or options that exclude each
                other.
        """
        if preset is not None:
            options = {**self.preset(preset), **options}
        num_players = self.players[0] if num_players is None else num_players
        if not is_integer(num_players) or num_players not in self.players:
            allowed = ", ".join(map(str, self.players))
            raise ValueError(f"{self.title} is for {allowed} players, not {shown(num_players)}")
        for name in options:
            self.option(name, ("num_players", "preset"))
        full = {
            name: option.check(self.label(name), options.get(name, option.default), num_players)
            for name, option in self.options.items()
        }
        if problem := self.forbid(num_players, full):
            raise ValueError(problem)
        return Variant(self, int(num_players), tuple(full.items()))


_loaders: dict[str, Callable[[], Game]] = {}


def register_game(name: str, loader: Callable[[], Game]) -> None:
    """Register a game by name; `loader` is called on first use."""
    _loaders[name] = cache(loader)


def checked_variant(variant: Any) -> "Variant":
    """Return a `Variant` as it is.

    Raises:
        TypeError: anything else, such as the text that names one.
    """
    if not isinstance(variant, Variant):
        raise TypeError(f"a variant must be a Variant, not {shown(variant)}: make_variant or parse_variant makes one")
    return variant


def game_names() -> list[str]:
    """Return the names of all registered games."""
    return list(_loaders)


def find_game(name: str) -> Game:
    """Return the game of that name.

    Raises:
        ValueError: no such game.
    """
    if not isinstance(name, str) or name not in _loaders:
        hint = did_you_mean(name, _loaders)
        raise ValueError(f"there is no game {shown(name)}{hint}; the games are {', '.join(_loaders)}")
    return _loaders[name]()


@dataclass(frozen=True)
class Variant:
    """A game with its number of players and options: everything that is fixed before play."""

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
        """The variant as text: `samurai players=2 edition=2016 ...`; see `Option.omit_default`."""
        words = [self.game.name, f"players={self.num_players}"]
        for name, value in self.option_items:
            option = self.game.options[name]
            if not option.omit_default or value != option.default:
                words.append(f"{name}={option.text(value)}")
        return " ".join(words)

    @cached_property
    def dtype(self) -> np.dtype:
        """NumPy dtype of the state."""
        return state_dtype(self.game.fields(self.num_players))

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
        """Return the layout of an encoding (default: the game's first).

        Raises:
            ValueError: the game has no encoding of that name.
        """
        return self.game.encodings[self.encoding_name(name)](self.num_players)

    def encoding_name(self, name: str | None) -> str:
        """Return `name` if the game has such an encoding, the default for None.

        Raises:
            ValueError: no encoding of that name.
        """
        if name is None:
            return next(iter(self.game.encodings))
        if not isinstance(name, str) or name not in self.game.encodings:
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
        """Return an array of `count` states with the options set, not yet reset.

        Raises:
            TypeError: `count` is not an integer.
            ValueError: it is negative or exceeds memory.
        """
        return np.repeat(self._blank, checked_count("count", count))

    def check(self, states: np.ndarray | np.void) -> None:
        """Check that states are of this variant and can occur in a legal game.

        Args:
            states: array of states, or one of them.

        Raises:
            ValueError: names the field that is wrong.
        """
        if getattr(states, "dtype", None) != self.dtype:
            raise ValueError(f"{shown(states)} is no state of {self.spec}")
        if not states.size:
            return
        check_state(states, self.game.fields(self.num_players))
        seat = np.max(states["seat"])
        if seat >= self.num_players:  # the header's limits do not know the number of players
            raise ValueError(f"field 'seat' of the saved game is {seat}, {self.spec} has no such seat")
        too_long = np.asarray(states["steps"]) > self.max_steps - (np.asarray(states["over"]) == 0)
        if np.any(too_long):
            steps = np.max(np.asarray(states["steps"])[too_long])
            raise ValueError(f"field 'steps' of the saved game is {steps}, {self.spec} ends after {self.max_steps}")
        for name, _ in self.option_items:
            if name in (self.dtype.names or ()):
                found = np.asarray(states[name])
                other = found[found != self._blank[0][name]]
                if other.size:
                    option = self.game.options[name]
                    value = option.text(option.values[int(other[0])])
                    raise ValueError(f"the saved game has {name}={value}, this variant is {self.spec}")
        for name in self.game.settings(self.num_players, self.options):
            if np.any(states[name] != self._blank[0][name]):
                raise ValueError(f"field {name!r} of the saved game is not what {self.spec} means here")
        rows = np.asarray(states).reshape(-1)
        for name, wrong in self.game.broken_invariants(rows):
            if np.any(wrong):
                raise ValueError(f"field {name!r} of the saved game contradicts its other fields")
        words = np.zeros(self.num_words, np.uint64)
        for i in np.flatnonzero(rows["over"] == 0):
            self.game.kernels.legal(rows[i], words)
            if not words.any():
                raise ValueError("the saved game is not over, yet no action is legal")
