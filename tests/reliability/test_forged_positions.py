"""A position that is restored can be played on: some action is legal, and determinization ends."""

import random

import numpy as np
import pytest

from samurai_env.core.game import find_game
from samurai_env.games.board.state import FIRST_HAND, SETUP, TILE
from samurai_env.games.card.state import CARD, CELL
from samurai_env.games.spirit.actions import ATTACK, DEFEND, FIGHT
from samurai_env.games.spirit.rules.cards import CARDS, DOLL, FIRST, SYMBOL
from samurai_env.games.spirit.state import ACTION, BOX, LINE0, OFFER, RAIDERS, SECOND_FIGHT, TOP, TURN_OVER
from samurai_env.games.spirit.state import CARD as CARD_IN_HAND
from samurai_env.position import Position
from tests.common.positions import play_random, sampled, stream
from tests.regenerate import GAMES
from tests.torture import forged

BOARD, CARDS_GAME, SPIRIT = (find_game(name) for name in GAMES)


def refused(position: Position) -> None:
    """No such position is restored."""
    with pytest.raises(ValueError, match=r"contradicts its other fields|no action is legal"):
        Position.restore(position.save())


def test_two_player_rules_want_two_dolls() -> None:
    """Determinization, which draws until two dolls are among the raiders, never ended."""
    position = Position(SPIRIT.variant(2), 3)
    r, dolls = position.state, [card for card in range(FIRST[1]) if SYMBOL[card] == DOLL]
    others = [card for card in range(FIRST[1]) if SYMBOL[card] != DOLL and r["where"][card] == BOX]
    for doll in dolls:
        if r["where"][doll] == RAIDERS:
            other = others.pop()
            r["raiders"][list(r["raiders"]).index(doll)] = other
            r["where"][[doll, other]] = BOX, RAIDERS
    refused(position)


def test_as_many_raiders_as_the_level_says() -> None:
    position = Position(SPIRIT.variant(3), 3)
    r = position.state
    r["raiders_left"] -= 1
    r["where"][r["raiders"][r["raiders_left"]]] = BOX
    refused(position)


def test_what_is_known_of_a_card_fits_where_it_lies() -> None:
    for place in (BOX, RAIDERS):
        position = Position(SPIRIT.variant(3), 3)
        position.state["known"][next(c for c in range(CARDS) if position.state["where"][c] == place)] = 5
        refused(position)


def test_card_game_without_a_legal_action() -> None:
    position = next(p for p in sampled(CARDS_GAME.variant(2), range(3), 5) if p.state["phase"] == CELL)
    position.state["free"] = 0
    refused(position)


def test_card_game_with_a_chosen_card_that_nobody_holds() -> None:
    position = next(p for p in sampled(CARDS_GAME.variant(2), range(3), 5) if p.state["phase"] == CELL)
    position.state["card"] = int(np.flatnonzero(position.state["hand"][position.seat] == 0)[0])
    refused(position)


def test_card_game_with_hands_of_another_size() -> None:
    position = next(p for p in sampled(CARDS_GAME.variant(2), range(3), 5) if p.state["phase"] == CARD and not p.over)
    r, seat = position.state, position.seat
    stack = r["stack"][seat, r["drawn"][seat] :]
    r["unseen"][seat] = np.bincount(stack, minlength=r["unseen"].shape[1])  # all others laid, but nowhere
    r["hand"][seat], r["kinds"][seat] = 0, 0
    refused(position)


def test_board_game_where_the_mover_can_play_nothing() -> None:
    positions = sampled(BOARD.variant(2, edition="1998"), range(3), 1)
    position = next(p for p in positions if p.state["phase"] == TILE and p.state["plain_played"] and not p.over)
    r, seat = position.state, position.seat
    hand, row = r["hand"][seat], r["supply"][seat, r["drawn"][seat] :]
    for i in range(len(row)):  # quick tiles go into the supply
        quick = [kind for kind in range(13, 17) if hand[kind]]
        if quick and row[i] < 13:
            hand[quick[0]] -= 1
            hand[row[i]] += 1
            row[i] = quick[0]
    r["kinds"][seat] = sum(1 << kind for kind in range(17) if hand[kind])
    assert not any(hand[13:])
    refused(position)


def test_board_game_with_a_supply_that_was_never_shuffled() -> None:
    """Determinization wrote beyond the row: the hand seemed to lie before its beginning."""
    position = play_random(Position(BOARD.variant(2), 1), random.Random(1), 12)
    assert position.state["phase"] == SETUP
    position.state["drawn"][1] = 0
    refused(position)


def test_board_game_whose_set_up_begins_before_the_hands_are_full() -> None:
    """Edo stood empty, so that at last figures were left for which there was no room."""
    position = play_random(Position(BOARD.variant(3), 1), random.Random(1), 5)
    assert position.state["phase"] == FIRST_HAND
    position.state["phase"] = SETUP
    refused(position)


@pytest.mark.parametrize("phase", [FIRST_HAND, SETUP, TILE])
def test_board_game_with_figures_that_do_not_fit_the_set_up(phase: int) -> None:
    position = next(p for p in sampled(BOARD.variant(2), range(9), 1) if p.state["phase"] == phase and not p.over)
    r = position.state
    if r["pool"][0]:  # a helmet that was placed or captured is not in the pool
        r["pool"][0] -= 1
        r["captured"][0, 0] += 1
    else:
        r["figures"][0] &= r["figures"][0] - np.uint64(1)
        r["pool"][0] += 1
    refused(position)


def test_a_winner_that_the_captures_deny() -> None:
    for game in (BOARD, CARDS_GAME):
        position = play_random(Position(game.variant(3), 2), random.Random(2))
        position.state["winners"] ^= 3
        refused(position)


def spirit_asked(phase: int, players: int = 3) -> Position:
    """A position of Samurai Spirit that asks in this phase."""
    positions = sampled(SPIRIT.variant(players), range(200), 1)
    return next(p for p in positions if p.state["phase"] == phase and not p.over)


@pytest.mark.parametrize(
    ("phase", "changes"),
    [
        (ACTION, {"choices": 1 << ATTACK | 1 << DEFEND}),
        (ACTION, {"choices": 1 << FIGHT}),
        (ACTION, {"phase": CARD_IN_HAND}),
        (ACTION, {"stage": TURN_OVER}),
        (ACTION, {"nested": 1}),
        (ACTION, {"half_made": 1}),
        (ACTION, {"fights": 1}),
        (ACTION, {"asked": 1}),
        (ACTION, {"must_pass": 1}),
        (ACTION, {"farmsteads": 0}),
        (ACTION, {"families": 0}),
        (ACTION, {"open_tokens": 1}),
        (ACTION, {"away": 127}),
        (ACTION, {"passed": 7}),
        (CARD_IN_HAND, {"phase": ACTION}),
        (CARD_IN_HAND, {"had": 0}),
        (ACTION, {"kept": 1}),
        (CARD_IN_HAND, {"moved": -1}),
        (SECOND_FIGHT, {"fights": 2}),
        (OFFER, {"nested": 0}),
        (OFFER, {"phase": TOP}),
        (OFFER, {"kiai_stage": 3}),
    ],
    ids=str,
)
def test_spirit_asks_what_its_phase_asks(phase: int, changes: dict[str, int]) -> None:
    position = spirit_asked(phase)
    Position.restore(position.save())
    for name, value in changes.items():
        position.state[name] = value
    refused(position)


def test_spirit_with_a_ring_of_cards_in_a_line() -> None:
    """Of two cards each lay on the other; neither was ever reached."""
    position = next(p for p in sampled(SPIRIT.variant(1), range(99), 1) if sum(p.state["where"] >= LINE0) > 2)
    r = position.state
    top = r["last"][0]
    first, second = [card for card in np.flatnonzero(r["where"] == LINE0) if card != top][:2]
    chain = [card for card in np.flatnonzero(r["where"] == LINE0) if card not in (top, first, second)]
    for card, below in zip([top, *chain], [*chain, -1], strict=True):
        r["beneath"][card] = below
    r["beneath"][first], r["beneath"][second] = second, first
    refused(position)


@pytest.mark.parametrize("name", GAMES)
def test_forged_positions_are_played_to_their_end(name: str) -> None:
    assert sum(forged.play(name, seed)["played"] for seed in range(40)) > 1


@pytest.mark.parametrize("name", GAMES)
def test_what_is_restored_can_be_determinized(name: str) -> None:
    """Numbers changed at random: most are refused; the others have a legal action in every determinization."""
    game, rng, restored = find_game(name), random.Random(5), 0
    variant = game.variant(2)
    fields = [f for f in game.fields(2) if f.name not in game.options]
    for position in sampled(variant, range(4), 6):
        for _ in range(8):
            forged = position.clone()
            for _ in range(rng.choice((1, 1, 2))):
                field = rng.choice(fields)
                values = forged.states[field.name].reshape(-1)
                i = rng.randrange(len(values))
                values[i] = min(max(int(values[i]) + rng.choice((-1, 1)), field.limits[0]), field.limits[1])
            try:
                played = Position.restore(forged.save())
            except ValueError:
                continue
            restored += 1
            for seat in range(2):
                other = played.determinized(seat, stream(restored))
                assert other.over or other.legal_actions()
    assert restored > 5
