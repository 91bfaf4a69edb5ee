"""Samurai Spirit against the plain reference: every field after every decision, views at samples."""

import random
from collections import Counter

import pytest

from samurai_env.core.game import find_game
from samurai_env.games.spirit.rules.cards import LEVELS, MOST, SAMURAI
from tests.agreement.match import DisagreementError, play
from tests.agreement.spirit import PHASE_OF
from tests.reference.spirit import SpiritGame

GAME = find_game("samurai_spirit")
GAMES = 300  # of each number of samurai; a quarter with chosen seats, others with open tokens where possible


def played(players: int) -> Counter[str]:
    """What came up in that many games on both sides; the levels take turns."""
    events: Counter[str] = Counter()
    for seed in range(GAMES):
        rng = random.Random(seed)
        options = {"difficulty": LEVELS[seed // 4 % len(LEVELS)], "first": rng.randrange(players)}
        if seed % 4 == 0:
            options["samurai"] = tuple(rng.sample(SAMURAI, players))
        if seed % 4 == 1 and players < MOST:
            options["two_player_rules"] = "on"
        events += play(GAME.variant(players, **options), seed)
    return events


@pytest.mark.slow
@pytest.mark.parametrize("players", range(1, MOST + 1), ids=lambda players: f"samurai_spirit-{players}")
def test_samurai_spirit_agrees_with_the_reference(players: int) -> None:
    events = played(players)
    assert events["games"] == GAMES
    check_coverage(players, events)


def check_coverage(players: int, events: Counter[str]) -> None:
    """Every rule has come up that can with so many samurai; a driver that stops favouring the rare ones fails here."""
    wanted = dict.fromkeys(PHASE_OF, 10) | {"kiai_heal": 3, "kiai_remove": 5, "defender": 1}
    wanted |= {"won": 1, "death": 90, "families": 20, "farmsteads": 70, "views": 1000}
    wanted |= {"round 2 reached": 70, "round 3 reached": 15}
    wanted |= {"card: discard": 70, "card: replace": 500, "penalty: ignore": 700, "second_fight: fight": 400}
    if players > 1:
        wanted |= {f"{samurai} {side}": 2 for samurai in SAMURAI for side in ("human", "animal")}
        wanted |= {"Kiai in another's turn": 40, "Kiai inside another": 2}
    if players > 3:
        wanted |= {"Kiai at the end of a round": 1}
    impossible = ["open_token"] if players == MOST else []
    impossible += ["kiai_giver", "kiai_token"] if players == 1 else []
    impossible += ["support_to", "kiai_receiver", "kiai_token_to"] if players < 3 else []
    for event in impossible:
        del wanted[event]
        assert not events[event]
    scarce = {event: (events[event], least) for event, least in wanted.items() if events[event] < least}
    assert not scarce, f"came up too rarely (found, wanted): {scarce}"


def test_a_few_games_of_every_kind() -> None:
    for players in range(1, MOST + 1):
        for level in LEVELS:
            play(GAME.variant(players, difficulty=level), 1000 + players)
            play(GAME.variant(players, difficulty=level, first="random"), 2000 + players)


def test_a_disagreement_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SpiritGame, "discard_card", lambda game, card: None)
    with pytest.raises(DisagreementError, match="discard: here"):
        play(GAME.variant(4, difficulty="easy", samurai=("Kyuzo", "Kanbei", "Gorobei", "Kikuchiyo")), 3)
