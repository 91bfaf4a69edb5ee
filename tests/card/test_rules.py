"""The card game, held against its rules: hand-made positions, whole games, moves as text, bad input."""

from collections import Counter

import numpy as np
import pytest

from samurai_env.core.bits import pick
from samurai_env.games.card.actions import CELL0
from samurai_env.games.card.game import GAME
from samurai_env.games.card.rules.cards import CARDS_EACH, KIND_CODES, VILLAGE_CODES
from samurai_env.games.card.rules.scoring import winners
from samurai_env.games.card.rules.topology import STEP_X, STEP_Y, VILLAGES
from samurai_env.position import IllegalActionError, Position
from tests.card.table import (
    CLOSING,
    LOOPS,
    PLAYERS,
    check_limits,
    dealt,
    ids,
    laid,
    legal,
    place,
    play,
    randomly,
    shrink,
    stones,
)

# --- Set-up ---


@pytest.mark.parametrize("n", PLAYERS)
def test_set_up(n):
    position = Position(GAME.variant(n), 3)
    state = position.state
    assert state["hand"].sum(1).tolist() == [5] * n
    assert position.seat == 0
    assert len(laid(position)) == 1
    assert (0, 0) in laid(position)
    for seat in range(n):
        own = state["hand"][seat] + np.bincount(state["stack"][seat, 5:], minlength=12)
        assert own.tolist() == state["copies"].tolist() == state["unseen"][seat].tolist()
    counts = Counter(VILLAGE_CODES[kind - 1] for kind in state["village_stack"])
    assert counts == {"H": 5, "B": 5, "R": 5, "HB": 9, "HR": 9, "BR": 9, "HBR": 2}
    by_code = dict(zip(KIND_CODES, state["copies"].tolist(), strict=True))
    assert {code: by_code[code] for code in ("H2", "R4", "S3")} == {"H2": 1, "R4": 1, "S3": 1}
    assert (by_code["S1"], by_code["S2"]) == ((2, 1) if n == 4 else (3, 2))


def test_seeds_give_different_deals():
    first = {Position(GAME.variant(2), seed).state["village_stack"].tobytes() for seed in range(20)}
    assert len(first) == 20


# --- Laying cards ---


def test_first_turn_and_drawing():
    position = dealt(["H2 H3 H4 B2 B3 S3", "H2 H3 H4 B2 B3"], "H")
    assert legal(position) == {"H2", "H3", "H4", "B2", "B3"}
    position.step(ids(2)["H4"])
    assert position.mid_move
    assert legal(position) == {"v0N", "v0E", "v0S", "v0W"}
    assert position.state["hand"][0].sum() == 5  # in the hand until it is laid
    position.step(ids(2)["v0E"])
    assert not position.mid_move
    assert position.seat == 1
    assert position.state["unseen"][0].sum() == 14
    play(position, "H2 v0W")
    assert legal(position) == {"H2", "H3", "B2", "B3", "S3"}


def test_a_cell_is_named_after_the_oldest_village_beside_it():
    position = dealt(["H2 H3 H4 B2 B3", "H2 H3 H4 B2 B3"], "H B")
    play(position, "H2 v0N", "H2 v0E", "H3 v1E", "H3 v0W", "H4 v2S", "H4")
    assert list(laid(position)) == [(0, 0), (1, -1), (2, 0), (-1, -1), (1, 1)]
    cells = legal(position)
    assert {"v0S", "v4S"} <= cells  # south of village 0 lies west of village 4
    assert "v4W" not in cells
    before = position.state["side"].copy()
    play(position, "v0S")
    changed = np.argwhere(position.state["side"] != before).tolist()
    assert changed == [[0, 2], [4, 3]]  # the card stands beside both
    assert "v0S" not in legal(play(position, "B2"))


# --- New villages ---


def test_cards_of_two_players_at_a_right_angle_bring_a_village():
    position = play(dealt(["H2 H3 H4 B2 B3", "H2 H3 H4 B2 B3"], "H B"), "H2 v0N", "H2 v0E")
    assert laid(position) == {(0, 0): "H", (1, -1): "B"}


def test_facing_cards_bring_none():
    position = play(dealt(["H2 H3 H4 B2 B3", "H2 H3 H4 B2 B3"], "H B"), "H2 v0N", "H2 v0S")
    assert laid(position) == {(0, 0): "H"}


def test_cards_of_one_player_bring_none():
    position = play(dealt(["H2 H3 H4 B2 B3", "H2 H3 H4 B2 B3"], "H B B"), "H2 v0N", "H2 v0S", "H3 v0E")
    assert laid(position) == {(0, 0): "H", (1, 1): "B"}  # with the southern card, not with the northern one


def test_two_places_wait_for_the_movers_choice():
    position = dealt(["H2 H3 H4 B2 B3", "H2 H3 H4 B2 B3", "H2 H3 H4 B2 B3"], "H B R HR BR")
    play(position, "H2 v0N", "H2 v0S", "H2 v0W")
    assert legal(position) == {"cell0", "cell1"}
    assert position.seat == 2
    assert position.mid_move
    flat = position.variant.encoding("flat")
    seen = position.observe(1, "flat")
    assert flat.view(seen, "top").tolist() == [0, 1, 0]
    assert flat.view(seen, "next").tolist() == [0, 0, 1]
    assert flat.view(seen, "waiting").tolist() == [[-1, -1], [-1, 1]]  # the northern place first
    other = position.clone()
    play(position, "cell0")
    assert laid(position) == {(0, 0): "H", (-1, -1): "B", (-1, 1): "R"}
    assert laid(play(other, "cell1")) == {(0, 0): "H", (-1, -1): "R", (-1, 1): "B"}
    assert position.seat == 0
    assert flat.view(position.observe(1, "flat"), "next").tolist() == [0, 0, 0]


def test_places_on_a_level_are_sorted_by_column():
    position = dealt(["H2 H3 H4 B2 B3", "H2 H3 H4 B2 B3", "H2 H3 H4 B2 B3"], "H B R HR BR")
    play(position, "H2 v0E", "H2 v0W", "H2 v0S cell1")
    assert laid(position) == {(0, 0): "H", (1, 1): "B", (-1, 1): "R"}


def test_with_one_village_card_left_the_mover_chooses_its_place():
    position = dealt(["H2 H3 H4 B2 B3", "H2 H3 H4 B2 B3", "H2 H3 H4 B2 B3"], "H")
    shrink(position, 43)
    play(position, "H2 v0N", "H2 v0S", "H2 v0W")
    assert legal(position) == {"cell0", "cell1"}
    play(position, "cell1")
    assert (-1, 1) in laid(position)
    assert (-1, -1) not in laid(position)
    assert position.over  # the last village card has been taken, and the round is over


def test_with_the_village_stack_empty_none_is_laid_and_the_round_is_played_out():
    position = dealt(["H2 H3 H4 B2 B3", "H2 H3 H4 B2 B3", "H2 H3 H4 B2 B3"], "H")
    shrink(position, 43)
    play(position, "H2 v0N", "H2 v0E")
    assert position.state["villages"] == VILLAGES
    assert not position.over
    flat = position.variant.encoding("flat")
    assert flat.view(position.observe(0, "flat"), "last_round").tolist() == [1]
    assert not flat.view(position.observe(0, "flat"), "top").any()
    play(position, "H2 v0S")  # beside the card of seat 1
    assert position.state["villages"] == VILLAGES
    assert position.over


# --- Scoring ---


def four_cards(first: list[str], second: list[str], village: str) -> list[list[int]]:
    """What a village brings two players who lay these cards on it, N and S by seat 0, W and E by seat 1."""
    position = dealt([" ".join(first), " ".join(second)], village)
    play(position, f"{first[0]} v0N", f"{second[0]} v0W", f"{first[1]} v0S")
    if position.state["phase"] == 2:
        play(position, "cell0")
    return stones(play(position, f"{second[1]} v0E"))


def test_the_sole_highest_takes_a_stone():
    assert four_cards(["H2", "H3"], ["H4", "B2"], "H") == [[1, 0, 0], [0, 0, 0]]


def test_samurai_count_for_every_shape():
    assert four_cards(["S1", "S3"], ["H4", "B4"], "HB") == [[0, 0, 0], [0, 0, 0]]
    assert four_cards(["S2", "S3"], ["H4", "B4"], "HB") == [[1, 1, 0], [0, 0, 0]]


def test_each_symbol_is_scored_apart():
    assert four_cards(["H4", "R2"], ["B3", "R4"], "HBR") == [[1, 0, 0], [0, 1, 1]]


def test_a_tie_and_nobody_at_all_take_none():
    assert four_cards(["H2", "B4"], ["R2", "B4"], "R") == [[0, 0, 0], [0, 0, 1]]
    assert four_cards(["H2", "B4"], ["H4", "B3"], "R") == [[0, 0, 0], [0, 0, 0]]


def test_an_example_with_three_players():
    # Helmets tied between seats 0 and 1, the buddha to seat 1, the rice to seat 2.
    position = dealt(["S1 H2 B2 B3 R2", "H3 B4 B2 B3 R2", "R4 B2 B3 H2 H3"], "HBR")
    play(position, "H2 v0N", "H3 v0S", "R4 v0E cell0", "S1 v0W")
    if position.mid_move:
        play(position, "cell0")
    assert stones(position) == [[0, 1, 0], [0, 0, 0], [0, 0, 1]]
    position = dealt(["S1 H2 B2 B3 R2", "S3 B4 B2 B3 R2", "R4 B2 B3 H2 H3"], "HBR")
    play(position, "H2 v0N", "S3 v0S", "R4 v0E cell0", "S1 v0W")
    if position.mid_move:
        play(position, "cell0")
    assert stones(position) == [[0, 0, 0], [0, 1, 0], [0, 0, 1]]


def test_a_village_laid_between_four_cards_is_scored_at_once():
    """A ring of cards around the place (1, -1), which stays empty because its neighbours belong to one player."""
    position = dealt(["H4 H3 H2 B2 B3", "H4 H3 H2 B2 B3"], "H")
    state = position.state
    places = [(0, 0), (2, 0), (2, -2), (0, -2)]  # villages around the place, the four cards between them
    state["villages"] = 4
    for i, (x, y) in enumerate(places):
        state["village_x"][i], state["village_y"][i] = x, y
    cards = {(1, 0): "H4", (0, -1): "H2", (1, -2): "H3"}  # all of seat 0; (2, -1) is free, that of seat 1 follows
    free = []
    for i, (x, y) in enumerate(places):
        for side in range(4):
            at = x + int(STEP_X[side]), y + int(STEP_Y[side])
            if at in cards:
                state["side"][i, side] = 1 + KIND_CODES.index(cards[at])
            elif at not in free:
                free.append(at)
                action = CELL0 + 4 * i + side
                state["free"][action >> 6] |= np.uint64(1 << (action & 63))
    for cell in ("v0N", "v0E"):  # filled above
        action = ids(2)[cell]
        state["free"][action >> 6] &= ~np.uint64(1 << (action & 63))
    state["seat"] = 1
    state["village_stack"][4] = VILLAGE_CODES.index("HB") + 1
    play(position, "H2 v1N")
    assert laid(position)[(1, -1)] == "HB"
    assert position.state["villages"] == 5
    assert stones(position) == [[1, 0, 0], [0, 0, 0]]  # helmets 9 to 2, buddhas 0 to 0


# --- The end ---


@pytest.mark.parametrize("n", PLAYERS)
def test_a_shape_used_up_ends_the_game_with_the_round(n):
    position = dealt(["H2 H3 H4 B2 B3"] * n, "H")
    position.state["stones"][0, 2] = 10 if n == 2 else 16
    flat = position.variant.encoding("flat")
    assert flat.view(position.observe(0, "flat"), "last_round").tolist() == [1]
    for seat in range(n):
        assert position.seat == seat
        assert not position.over
        move = next(iter(sorted(legal(position))))
        position.step(ids(n)[move])
        position.step(position.legal_actions()[0])
        if position.mid_move:
            play(position, "cell0")
    assert position.over
    assert position.seat == n - 1
    assert legal(position) == set()


def test_stones_beyond_the_supply_count():
    position = dealt(["H2 H3 S1 S2 S3", "B2 B3 R2 R3 R4"], "H")
    position.state["stones"][:] = [[5, 0, 0], [5, 0, 0]]
    play(position, "H2 v0N", "B2 v0S")
    assert position.over  # the supply is used up: the round was the last
    position = dealt(["H2 H3 S1 S2 S3", "B2 B3 R2 R3 R4"], "H")
    play(position, "H2 v0N", "B2 v0S", "H3 v0W")
    position.state["stones"][:] = [[5, 0, 0], [5, 0, 0]]
    play(position, "B3 v0E")
    assert stones(position)[0] == [6, 0, 0]
    assert position.over
    flat = position.variant.encoding("flat")
    assert flat.view(position.observe(0, "flat"), "supply").tolist() == [0, 10, 10]


@pytest.mark.parametrize("n", PLAYERS)
def test_the_last_cards_end_the_game(n):
    rng = np.random.default_rng(n)
    ends = Counter()
    for seed in range(60):
        position = randomly(Position(GAME.variant(n), seed), rng, 1000)
        state = position.state
        assert position.over
        assert position.seat == n - 1
        cards = state["unseen"].sum(1)
        assert (cards == cards[0]).all()  # equally many turns
        ends[cards[0] == 0] += 1
    assert ends[True] or n == 4  # where the village cards are fewer than the influence cards


@pytest.mark.parametrize("n", CLOSING)
def test_a_closed_board_ends_the_game_at_once(n):
    position = Position(GAME.variant(n), 1)
    for word in CLOSING[n].split():
        assert not position.over
        if not position.mid_move:
            position.step(position.legal_actions()[0])
        play(position, word)
    assert position.over
    assert not position.state["free"].any()
    assert position.state["unseen"].sum(1).min() > 0
    if n == 3:
        assert position.seat < n - 1  # in mid-round
    assert position.state["winners"] == winners(position.state["stones"])


# --- Who wins ---


@pytest.mark.parametrize(
    ("taken", "expected"),
    [
        # The rulebook's example: green has no majority; red 2 + 4 = 6 loses to blue 7 + 3 = 10.
        ([[5, 3, 4], [2, 6, 4], [8, 3, 7]], {2}),
        ([[4, 4, 7], [2, 8, 4], [9, 3, 7]], {2}),
        ([[5, 5, 0], [4, 4, 9]], {0}),  # two majorities
        ([[5, 5, 5], [4, 4, 4]], {0}),  # three
        ([[5, 0, 3], [0, 4, 3]], {0}),  # one each, no others: more in the own shape
        ([[5, 1, 3], [1, 5, 3]], {0, 1}),  # level in everything
        ([[5, 0, 2], [1, 4, 2]], {1}),  # more others beat more in all
        ([[3, 3, 3], [3, 3, 3]], {0, 1}),  # no majority at all: shared
        ([[3, 3, 0], [3, 0, 3], [0, 3, 3]], {0, 1, 2}),
        ([[9, 9, 9], [9, 9, 8], [0, 0, 0]], {0}),  # one majority alone
        ([[0, 9, 9], [1, 0, 0], [0, 9, 9]], {1}),  # few stones, but the only majority
        ([[0, 0, 0]] * 4, {0, 1, 2, 3}),
    ],
)
def test_winners(taken, expected):
    found = winners(np.array(taken, np.int8))
    assert {seat for seat in range(len(taken)) if found >> seat & 1} == expected


@pytest.mark.parametrize("n", PLAYERS)
def test_returns(n):
    position = Position(GAME.variant(n), 0)
    assert position.returns().tolist() == [0] * n
    position.state["over"] = 1
    for word in range(1, 2**n):
        position.state["winners"] = word
        share = 1 / word.bit_count()
        wanted = [(n * share * (word >> seat & 1) - 1) / (n - 1) for seat in range(n)]
        assert position.returns() == pytest.approx(wanted)
        assert position.returns().sum() == pytest.approx(0)


# --- Whole games ---


@pytest.mark.parametrize("n", PLAYERS)
def test_no_game_outgrows_its_bounds(n):
    rng = np.random.default_rng(10 + n)
    variant = GAME.variant(n)
    for seed in range(25):
        position = Position(variant, seed)
        style = rng.integers(3)
        while not position.over:
            actions = position.legal_actions()
            assert actions
            state = position.state
            free = sum(int(word).bit_count() for word in state["free"])
            assert 1 <= free <= 67
            assert (state["unseen"].sum(1) - state["hand"].sum(1) == (state["stack"] >= 0).sum(1)).all()
            assert (state["hand"] <= state["unseen"]).all()
            assert state["free"][0] & np.uint64(2**CELL0 - 1) == 0
            cells = {c: GAME.action_names(n)[c] for c in actions if c >= CELL0}
            spread = {c: abs(x) + abs(y) for c in cells for x, y in [place(position, c)]}
            action = max(spread, key=spread.__getitem__) if cells and style == 1 else int(rng.choice(actions))
            position.step(action)
        assert position.steps <= variant.max_steps
        state = position.state
        count = int(state["villages"])
        assert len(laid(position)) == count  # no two on one place
        for i, (x, y) in enumerate(laid(position)):
            assert (x + y) % 2 == 0
            assert max(abs(x), abs(y)) <= i
        assert position.state["stones"].sum() <= 3 * count
        variant.check(position.state)


@pytest.mark.parametrize(("n", "reach"), [(2, 29), (3, 43), (4, 43)])
def test_a_zigzag_reaches_the_farthest_place(n, reach):
    """After a card in the north every card goes east of the newest village and brings the next one."""
    position = Position(GAME.variant(n), 4)
    cells = ["v0N", *(f"v{village}E" for village in range(VILLAGES))]
    for cell in cells:
        if not position.over:
            position.step(position.legal_actions()[0])
            play(position, cell)
    assert position.state["village_x"].max() == reach
    for encoding in GAME.encodings:
        check_limits(position, encoding)
    assert GAME.text(position.state)
    assert GAME.scene(position.state).shapes


@pytest.mark.parametrize(
    ("n", "cards", "villages", "choices", "shared"),
    [(2, 29.6, 22.3, 2.7, 0.022), (3, 44.8, 41.5, 7.4, 0.025), (4, 45.8, 43.9, 8.4, 0.042)],
)
def test_random_games_are_like_those_of_an_independent_implementation(n, cards, villages, choices, shared):
    games = 1500
    variant = GAME.variant(n)
    states = variant.new(games)
    LOOPS.reset_all(states, np.arange(games, dtype=np.uint64))
    rng, words = np.array([n], np.uint64), np.zeros(variant.num_words, np.uint64)
    sums, ties = np.zeros(3), 0
    for state in states:
        chosen = 0
        while not state["over"]:
            GAME.kernels.legal(state, words)
            chosen += state["phase"] == 2
            GAME.kernels.step(state, pick(words, rng))
        sums += [CARDS_EACH[n] * n - state["unseen"].sum(), state["villages"], chosen]
        ties += int(state["winners"]).bit_count() > 1
    mean = sums / games
    assert mean == pytest.approx([cards, villages, choices], abs=0.35)
    assert ties / games == pytest.approx(shared, abs=0.02)


@pytest.mark.parametrize("n", PLAYERS)
def test_progress_is_the_share_of_the_supply(n):
    position = randomly(Position(GAME.variant(n), 5), np.random.default_rng(5), 1000)
    assert position.potential() == pytest.approx(position.state["stones"].sum(1) / (30 if n == 2 else 48))


# --- Bad input ---


def test_illegal_actions_change_nothing():
    position = dealt(["H2 H3 H4 B2 B3", "H2 H3 H4 B2 B3"], "H")
    before = position.save()
    for action in (-1, ids(2)["S3"], ids(2)["v0N"], ids(2)["cell0"], 190, 10**6):
        with pytest.raises(IllegalActionError):
            position.step(action)
    assert position.save() == before
    play(position, "H2")
    for word in ("v1N", "H3", "cell1"):
        with pytest.raises(IllegalActionError, match=word):
            play(position, word)


@pytest.mark.parametrize("text", ["", "  ", "H5 v0N", "H2 v44N", "H2 v0X", "pick H2", "h2 v0n"])
def test_unreadable_moves(text):
    with pytest.raises(ValueError, match="move"):
        GAME.parse_move(Position(GAME.variant(2), 0).state, text)


@pytest.mark.parametrize("players", [1, 5, 0, True])
def test_impossible_numbers_of_players(players):
    with pytest.raises(ValueError, match="2, 3, 4"):
        GAME.variant(players)


@pytest.mark.parametrize("cards", ["no such list", "", 3, None, ["reconstruction"]])
def test_unknown_card_lists(cards):
    with pytest.raises(ValueError, match="reconstruction"):
        GAME.variant(2, cards=cards)


def test_viewers_without_a_seat():
    position = Position(GAME.variant(2), 0)
    for draw in (GAME.text, GAME.scene):
        with pytest.raises(ValueError, match="seat 2"):
            draw(position.state, 2)


@pytest.mark.parametrize(
    ("field", "value", "word"),
    [("villages", 45, "villages"), ("laid", 176, "laid"), ("phase", 3, "phase"), ("copies", 2, "copies")],
)
def test_damaged_records_are_refused(field, value, word):
    position = Position(GAME.variant(2), 0)
    position.state[field] = value
    with pytest.raises(ValueError, match=word):
        Position.restore(position.save())


# 53 decisions: the 15th village took the last free cell, and the next one is being placed.
NO_CELL_LEFT = (
    "eNrFjMFKxEAMhifJZGqnlrGLO_XYkwfBBRc8LoJP4U1K7aGi7dLuLnjUg4_g0YPgM-"
    "i76XZscRdEsFe_hD_JT5ImvV3WaXGZl6tkXjXFoqjK5EQ3GztL66tkfpPe5XUzmyb92MzqPKvKZlEvs35bf2aPx0eHT2fbKv7gtB"
    "dfiPOuTAQII5wTTgCiaGHdghjEQbtGQilb7m4GV62NtLRa6QiD-MDKOJbjKNQYktHAFNKONtp4wViqkdF73kjZfaUDayGMxD-"
    "AyJIRiLuUqFiRIiZPAkilQHWCnUceEfP2BvqETfeD374bxBiSfaDTArYQArPPvo_fLyfTj_uL8uX9bfd59XD9mn8Bvo9Wdg"
)


def test_a_game_without_a_free_cell_before_a_village_is_placed_can_be_kept():
    """A village brings new cells, so the game goes on."""
    position = Position.from_text(NO_CELL_LEFT)
    assert not position.state["free"].any()
    assert not position.over
    assert legal(position) == {"cell0", "cell1"}
    for action in position.legal_actions():
        after = position.clone()
        after.step(action)
        assert after.state["free"].any()
        assert Position.restore(after.save()).to_text() == after.to_text()
