"""The games in OpenSpiel (package `open_spiel`). Importing this module registers them under their own names.

    import pyspiel
    import samurai_env.adapters.open_spiel

    game = pyspiel.load_game("samurai(players=3,edition=1998)")

Parameters are the number of players and the game's options. OpenSpiel gives each one type and separates them by commas,
so the word beside numbers is -1 (`first=-1`: the seat that begins is drawn) and names are joined by `+`.

A game begins with chance nodes. There are too many deals to list, so seven nodes draw the 63 bits of the seed of a
library game; `register` takes a list of deals instead, with which chance is one node and exact solvers are exact.
"""

from collections.abc import Callable, Mapping
from hashlib import blake2b
from typing import Any

import numpy as np

from samurai_env.core.checks import checked_seed
from samurai_env.core.game import Game, Option, Variant, find_game, game_names
from samurai_env.core.texts import install_hint
from samurai_env.core.variant_spec import parse_variant
from samurai_env.position import Position

with install_hint("open_spiel"):
    import pyspiel

DIGITS, BITS = 7, 9  # chance nodes before the first decision, and the bits of the seed that each draws
RANDOM_BITS = 31
WORD = -1  # in a parameter of numbers: the option's value that is a word
JOINED = "+"  # in a parameter: a comma, which separates parameters
Deals = Callable[[Variant], np.ndarray]


def register(name: str, deals: Deals | None = None) -> None:
    """Make a game known to `pyspiel.load_game`; one that is known already stays.

    Args:
        name: name of a registered game.
        deals: from a variant to all its initial states, equally likely (structured array); None draws a seed. For games
            of your own: those of the library are known once this module is imported.

    Raises:
        ValueError: there is no such game, or one with `deals` is known already.
    """
    game = find_game(name)
    if name in pyspiel.registered_names():
        if deals is not None:
            raise ValueError(f"{name} is known to OpenSpiel already, so it cannot be given a list of deals")
        return
    kind = _game_type(game)
    # A class, not a closure: pyspiel drops its reference after the interpreter has gone, which only a class survives.
    pyspiel.register_game(kind, type("SpielGame", (SpielGame,), {"game": game, "kind": kind, "list_deals": deals}))


def load(variant: Variant) -> "SpielGame":
    """The game of a variant; `pyspiel.load_game` gives the same by name and parameters."""
    options = {name: _parameter(variant.game.options[name], value) for name, value in variant.option_items}
    return pyspiel.load_game(variant.game.name, {"players": variant.num_players, **options})


def at_position(game: pyspiel.Game, position: Position) -> "SpielState":
    """A state at a copy of a position, with no history: its seats have seen nothing before.

    Raises:
        ValueError: the position is of another variant.
    """
    if position.variant != game.variant:
        raise ValueError(f"the position is of {position.variant.spec}, the game is {game.variant.spec}")
    state = game.new_initial_state()
    state.table.begin(position.clone())
    return state


def with_seed(game: pyspiel.Game, seed: int) -> pyspiel.State:
    """The state after the chance nodes that deal the library's game of this seed.

    Raises:
        TypeError: the seed is not an integer.
        ValueError: an impossible seed, or a game with a list of deals.
    """
    seed, state = checked_seed(seed), game.new_initial_state()
    if game.max_chance_nodes_in_history() != DIGITS:
        raise ValueError(f"{game} has a list of deals: apply the number of one of them instead of a seed")
    for node in range(DIGITS):
        state.apply_action(seed >> BITS * node & (1 << BITS) - 1)
    return state


class SpielGame(pyspiel.Game):
    """A variant as a game of OpenSpiel; `register` makes a subclass for each game."""

    game: Game
    kind: Any
    list_deals: Deals | None

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        game, params, deals = self.game, params or {}, type(self).list_deals
        options = {name: _read(game, name, params[name]) for name in game.options if name in params}
        self.variant = game.variant(params.get("players"), **options)
        self.deals = None if deals is None else deals(self.variant)
        info = pyspiel.GameInfo(
            num_distinct_actions=self.variant.num_actions,
            max_chance_outcomes=1 << BITS if self.deals is None else len(self.deals),
            num_players=self.variant.num_players,
            min_utility=0.0 if game.cooperative else -1.0 / (self.variant.num_players - 1),
            max_utility=1.0,
            utility_sum=None if game.cooperative else 0.0,
            max_game_length=self.variant.max_steps,
        )
        super().__init__(self.kind, info, dict(params))

    def new_initial_state(self) -> "SpielState":
        """The state before the deal."""
        return SpielState(self)

    def max_chance_nodes_in_history(self) -> int:
        """Return how many chance nodes come before the first decision."""
        return DIGITS if self.deals is None else 1

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> "Observer":
        """Return an observer; with perfect recall it has no tensor.

        Raises:
            ValueError: parameters, of which there are none.
        """
        if params:
            raise ValueError(f"observers of {self.variant.spec} take no parameters, not {params}")
        return Observer(self.variant, bool(iig_obs_type and iig_obs_type.perfect_recall))


class Table:
    """What a state holds besides its history: the chance actions, then the position and what the seats have seen.

    What a seat has seen is a digest of its own actions and of each change of its observation. It is brought up to date
    when it is asked for, from `seen`, the states at that time and the actions since.
    """

    def __init__(self, variant: Variant) -> None:
        self.variant = variant
        self.digits: tuple[int, ...] = ()
        self.position: Position | None = None

    def begin(self, position: Position, digests: list[bytes] | None = None) -> None:
        """Continue from a position; digests of what the seats have seen until now."""
        self.position, players = position, range(self.variant.num_players)
        looks = [position.observe(seat).tobytes() for seat in players]
        old = digests or [b""] * len(players)
        self.seen = [(old[seat] or _digest(b"", looks[seat]), looks[seat]) for seat in players]
        self.states = position.states.copy()
        self.since: tuple[int, ...] = ()

    def __deepcopy__(self, memo: Any) -> "Table":
        other = object.__new__(Table)
        other.__dict__.update(self.__dict__)
        if self.position is not None:
            other.position = self.position.clone()
        return other

    def __getstate__(self) -> dict[str, Any]:
        states = None if self.position is None else self.position.states
        return {**self.__dict__, "variant": self.variant.spec, "position": states}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, variant=parse_variant(state["variant"]))
        if state["position"] is not None:
            self.position = _position(self.variant, state["position"])

    def step(self, action: int) -> None:
        """Carry out an action of the seat to move."""
        assert self.position is not None
        self.position.step(action)
        self.since = (*self.since, action)

    def digest(self, seat: int) -> bytes:
        """Digest of what a seat has seen and done."""
        assert self.position is not None
        if self.since:
            past, seen = self.position.clone(), list(self.seen)
            past.states[:] = self.states
            for action in self.since:
                actor = past.seat
                past.step(action)
                for other, (digest, look) in enumerate(seen):
                    now = past.observe(other).tobytes()
                    if now != look or other == actor:
                        seen[other] = _digest(digest, b"%d " % action * (other == actor), now), now
            self.seen, self.states, self.since = seen, past.states, ()
        return self.seen[seat][0]

    def resampled(self, seat: int, rng: np.ndarray) -> "Table":
        """A table that `seat` cannot tell from this one; the other seats remember nothing but what they see."""
        assert self.position is not None
        other, digests = Table(self.variant), [b""] * self.variant.num_players
        digests[seat] = self.digest(seat)
        other.digits = self.digits
        other.begin(self.position.determinized(seat, rng), digests)
        return other


class SpielState(pyspiel.State):
    """A game in progress."""

    def __init__(self, game: SpielGame) -> None:
        super().__init__(game)
        self.table = Table(game.variant)

    def current_player(self) -> int:
        """The seat that decides; chance before the deal."""
        position = self.table.position
        if position is None:
            return pyspiel.PlayerId.CHANCE
        return pyspiel.PlayerId.TERMINAL if position.over else position.seat

    def is_terminal(self) -> bool:
        """Whether the game is over."""
        return self.table.position is not None and self.table.position.over

    def _legal_actions(self, player: int) -> list[int]:
        assert self.table.position is not None
        return self.table.position.legal_actions()

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Equally likely parts of the seed, or deals."""
        count = self.get_game().max_chance_outcomes()
        return [(outcome, 1 / count) for outcome in range(count)]

    def _apply_action(self, action: int) -> None:
        if self.table.position is not None:
            self.table.step(action)
            return
        self.table.digits = digits = (*self.table.digits, int(action))
        deals, variant = self.get_game().deals, self.table.variant
        if deals is not None:
            self.table.begin(_position(variant, deals[action : action + 1]))
        elif len(digits) == DIGITS:
            self.table.begin(Position(variant, sum(digit << BITS * node for node, digit in enumerate(digits))))

    def _action_to_string(self, player: int, action: int) -> str:
        return f"deal {action}" if player == pyspiel.PlayerId.CHANCE else self.table.variant.action_names[action]

    def returns(self) -> list[float]:
        """Payoff of each seat; zeros while the game runs."""
        position = self.table.position
        return [0.0] * self.table.variant.num_players if position is None else position.returns().tolist()

    def resample_from_infostate(self, player: int, sampler: Callable[[], float]) -> "SpielState":
        """Return a state with all that `player` cannot know drawn again.

        Its history still has the chance actions of this state, from which it no longer follows.
        """
        bits = [int(sampler() * (1 << RANDOM_BITS)) for _ in range(2)]
        rng = np.array([bits[0] << RANDOM_BITS | bits[1]], np.uint64)
        other = self.clone()
        other.table = self.table.resampled(player, rng)
        return other

    def _to_observation_struct(self, player: int) -> dict[str, Any]:
        return {} if self.table.position is None else self.table.position.to_dict(player)

    def __str__(self) -> str:
        position = self.table.position
        if position is None:
            return " ".join(["deal", *map(str, self.table.digits)])
        return self.table.variant.game.text(position.state)


class Observer:
    """What a seat sees: a float32 tensor in the game's first encoding and the position as text; or all it has seen."""

    def __init__(self, variant: Variant, perfect_recall: bool) -> None:
        self.variant, self.perfect_recall = variant, perfect_recall
        self.tensor, self.dict = None, {}
        if not perfect_recall:
            seen = np.zeros(variant.encoding().shape, np.float32)
            self.tensor, self.dict = seen.reshape(-1), {"observation": seen}

    def set_from(self, state: SpielState, player: int) -> None:
        """Write what a seat sees; zeros before the deal."""
        if not self.perfect_recall:
            position = state.table.position
            self.dict["observation"][...] = 0 if position is None else position.observe(player)

    def string_from(self, state: SpielState, player: int) -> str:
        """What a seat sees as text with a digest, or with perfect recall the digest of all that it has seen."""
        position = state.table.position
        if position is None:
            return f"seat {player}: before the deal"
        if self.perfect_recall:
            return f"seat {player}: {state.table.digest(player).hex()}"
        shown = self.variant.game.text(position.state, player)
        return f"{shown}\n{_digest(position.observe(player).tobytes()).hex()}"


def _game_type(game: Game) -> Any:
    kinds = pyspiel.GameType
    return kinds(
        short_name=game.name,
        long_name=game.title,
        dynamics=kinds.Dynamics.SEQUENTIAL,
        chance_mode=kinds.ChanceMode.EXPLICIT_STOCHASTIC,
        information=kinds.Information.IMPERFECT_INFORMATION,
        utility=kinds.Utility.IDENTICAL if game.cooperative else kinds.Utility.ZERO_SUM,
        reward_model=kinds.RewardModel.TERMINAL,
        max_num_players=max(game.players),
        min_num_players=min(game.players),
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification={
            "players": min(game.players),
            **{name: _parameter(option, option.default) for name, option in game.options.items()},
        },
    )


def _parameter(option: Option, value: Any) -> str | int | bool:
    """A value of an option in the one type that OpenSpiel has for it, that of the default."""
    typed = _typed(option.text(value))
    if isinstance(typed, str):
        return WORD if isinstance(_typed(option.text(option.default)), int) else typed.replace(",", JOINED)
    return typed


def _typed(text: str) -> str | int | bool:
    """The value of an option in the type that OpenSpiel reads from text such as "edition=1998"."""
    if text in ("true", "false"):
        return text == "true"
    return int(text) if text.isdecimal() else text


def _read(game: Game, name: str, value: Any) -> Any:
    """The value of an option that `_parameter` wrote."""
    option = game.option(name)
    words = [value for value in option.values if isinstance(_typed(option.text(value)), str)]
    if value == WORD and len(words) == 1:
        return words[0]
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return option.parse(game.label(name), text.replace(JOINED, ","))


def _position(variant: Variant, states: np.ndarray) -> Position:
    position = Position(variant)
    position.states[:] = states
    return position


def _digest(*parts: bytes) -> bytes:
    return blake2b(b"|".join(parts), digest_size=12).digest()


for _name in game_names():
    register(_name)
