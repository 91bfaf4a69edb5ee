"""Samurai Spirit against the plain reference: every field after every decision, views at samples."""

import random
from collections import Counter
from functools import cache

import pytest

from samurai_env.core.game import find_game
from samurai_env.games.spirit.rules.cards import LEVELS, MOST, SAMURAI
from tests.agreement.match import DisagreementError, play
from tests.agreement.spirit import PHASE_OF
from tests.reference.spirit import SpiritGame

GAME = find_game("samurai_spirit")
GAMES = 300  # of each number of samurai and level; a quarter with chosen seats, others with open tokens where possible


@cache
def played(players: int, level: str) -> Counter[str]:
    """What came up in that many games on both sides."""
    events: Counter[str] = Counter()
    for seed in range(GAMES):
        rng = random.Random(seed)
        options = {"difficulty": level, "first": rng.randrange(players)}
        if seed % 4 == 0:
            options["samurai"] = tuple(rng.sample(SAMURAI, players))
        if seed % 4 == 1 and players < MOST:
            options["two_player_rules"] = "on"
        events += play(GAME.variant(players, **options), seed)
    return events


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("players", range(1, MOST + 1))
def test_samurai_spirit_agrees_with_the_reference(players: int, level: str) -> None:
    assert played(players, level)["games"] == GAMES


@pytest.mark.slow
def test_every_rule_has_come_up() -> None:
    events: Counter[str] = Counter()
    for players in range(1, MOST + 1):
        for level in LEVELS:
            events += played(players, level)
    wanted = dict.fromkeys(PHASE_OF, 20)
    wanted |= {f"{samurai} {side}": 20 for samurai in SAMURAI for side in ("human", "animal")}
    wanted |= {"Kiai inside another": 50, "Kiai in another's turn": 500, "Kiai at the end of a round": 5}
    wanted |= {"won": 100, "death": 500, "families": 500, "farmsteads": 500}
    wanted |= {"round 2 reached": 2000, "round 3 reached": 500, "views": 10_000}
    wanted |= {"card: discard": 500, "card: replace": 500, "penalty: ignore": 500, "second_fight: fight": 500}
    scarce = {event: (events[event], least) for event, least in wanted.items() if events[event] < least}
    assert not scarce, f"came up too rarely (found, wanted): {scarce}"


def test_a_few_games_of_every_kind() -> None:
    for players in range(1, MOST + 1):
        for level in LEVELS:
            play(GAME.variant(players, difficulty=level), 1000 + players)


def test_a_disagreement_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SpiritGame, "discard_card", lambda game, card: None)
    with pytest.raises(DisagreementError, match="discard: here"):
        play(GAME.variant(4, difficulty="easy", samurai=("Kyuzo", "Kanbei", "Gorobei", "Kikuchiyo")), 3)
