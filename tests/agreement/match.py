"""A game played twice at once: by the compiled rules and by a plain reference, compared after every decision.

`Match` is what a game has to provide; `MATCHES` says where. Nothing else here knows a game.
"""

import random
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module

import numpy as np

from samurai_env.core.game import Variant
from samurai_env.game_record import GameRecord
from samurai_env.position import Position

# name of the game -> module with its class `Match`
MATCHES = {
    "samurai": "tests.agreement.board",
    "samurai_card": "tests.agreement.card",
    "samurai_spirit": "tests.agreement.spirit",
}


class DisagreementError(AssertionError):
    """The two sides differ; the text shows where and the game so far as a record."""


class Match(ABC):
    """One game on both sides.

    Attributes:
        position: the compiled side; only the driver moves it.
        events: how often each rare rule has come up.
    """

    def __init__(self, position: Position, rng: random.Random) -> None:
        """Begin the reference's game from the same deal as `position`."""
        self.position = position
        self.rng = rng
        self.events: Counter[str] = Counter()

    @abstractmethod
    def legal(self) -> set[str]:
        """The reference's legal actions, by the names of the compiled side."""

    @abstractmethod
    def choose(self, legal: list[str]) -> str:
        """One of these actions: at random, but so that rare rules come up."""

    @abstractmethod
    def apply(self, action: str) -> None:
        """Carry out an action on the reference's side."""

    @abstractmethod
    def differences(self) -> Iterator[str]:
        """What differs between the two sides, everything but the views; called after every decision."""

    @abstractmethod
    def view_differences(self, seat: int) -> Iterator[str]:
        """How the observation of a seat differs from what the reference says it may know."""

    def perft(self, depth: int) -> int | None:
        """`samurai_env.perft.perft` counted by the reference; None if it cannot."""
        return None


def match_of(game: str) -> type[Match]:
    """The class of a game's matches."""
    return import_module(MATCHES[game]).Match


Chooser = Callable[[Match, list[str]], str]


def wrong_fields_missed(match: Match, names: Iterable[str]) -> list[str]:
    """The fields of the state in which a wrong bit would not be found now."""
    missed = []
    for name in names:
        last = match.position.states[name].view(np.uint8).reshape(-1)[-1:]
        last ^= 1
        if not any(difference.startswith(f"field {name} is") for difference in match.differences()):
            missed.append(name)
        last ^= 1
    return missed


def play(variant: Variant, seed: int, views: float = 0.05, choose: Chooser | None = None) -> Counter[str]:
    """Play the game of `seed` on both sides; what came up, counted.

    Args:
        variant: the game with its options.
        seed: of the deal and of the choices.
        views: the share of decisions after which all seats' views are compared (always at the start and the end).
        choose: who decides; by default `Match.choose`.

    Raises:
        DisagreementError: the sides differ.
    """
    return play_and_tell(variant, seed, views, choose)[0]


def play_and_record(
    variant: Variant, seed: int, views: float = 0.05, choose: Chooser | None = None
) -> tuple[Counter[str], GameRecord]:
    """As `play`, with the record of the game."""
    events, actions = play_and_tell(variant, seed, views, choose)
    return events, GameRecord.from_actions(variant, seed, actions)


def play_and_tell(variant: Variant, seed: int, views: float, choose: Chooser | None) -> tuple[Counter[str], list[int]]:
    """As `play`, with the actions."""
    position = Position(variant, seed)
    rng = random.Random(seed)
    match = match_of(variant.game.name)(position, rng)
    names = np.array(variant.action_names, object)
    ids = {name: i for i, name in enumerate(variant.action_names)}
    actions: list[int] = []

    def agree(differences: Iterable[str]) -> None:
        for difference in differences:
            text = GameRecord.from_actions(variant, seed, actions).to_text()
            raise DisagreementError(f"{variant.spec}, seed {seed}, decision {len(actions)}: {difference}\n{text}")

    while True:
        agree(match.differences())
        ours, theirs = names[position.legal_mask().view(bool)].tolist(), match.legal()
        if set(ours) != theirs:
            agree([f"legal only here: {set(ours) - theirs}, only in the reference: {theirs - set(ours)}"])
        if not actions or position.over or rng.random() < views:
            match.events["views"] += 1
            for seat in range(variant.num_players):
                agree(match.view_differences(seat))
        if position.over:
            break
        action = choose(match, ours) if choose else match.choose(ours)
        position.step(ids[action])
        actions.append(ids[action])
        match.apply(action)
    match.events["games"] += 1
    match.events["decisions"] += len(actions)
    return match.events, actions
