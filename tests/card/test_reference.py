"""Tests of the slow reference for Samurai: The Card Game, on its own."""

import copy
import random
from collections import Counter

import pytest

from tests.reference import card as ref
from tests.reference.card import CardGame, around, deal, step, winners_of

# The card list (a reconstruction), written out so that these tests need no data file.
INFLUENCE = ["H2", "H3", "H4", "B2", "B3", "B4", "R2", "R3", "R4", "S1", "S1", "S1", "S2", "S2", "S3"]
VILLAGES = ["H"] * 5 + ["B"] * 5 + ["R"] * 5 + ["HB"] * 9 + ["HR"] * 9 + ["BR"] * 9 + ["HBR"] * 2
CARDS = (INFLUENCE, VILLAGES)
FACTS = {  # players: cards, villages, choices, shared wins, greatest distance (rules page)
    2: (29.6, 22.3, 2.7, 0.022, 6.6),
    3: (44.8, 41.5, 7.4, 0.025, 7.7),
    4: (45.8, 43.9, 8.4, 0.042, 7.8),
}


def new_game(players=2, villages=None, tops=None):
    """A game whose seats hold the cards in `tops` first, then the rest of the set in order."""
    orders = []
    for seat in range(players):
        rest = ref.influence_set(players, INFLUENCE)
        first = list(tops[seat]) if tops else []
        for kind in first:
            rest.remove(kind)
        orders.append(first + rest)
    return CardGame(players, orders, VILLAGES if villages is None else villages)


def place(game, villages=(), cards=()):
    """Lay things on the board by hand: villages as (cell, symbols), cards as (cell, seat, kind)."""
    for cell, symbols in villages:
        game.board[cell] = ("village", symbols)
        game.village_cells.append(cell)
    for cell, seat, kind in cards:
        game.board[cell] = ("card", seat, kind)


def lay(game, cell, kind=None):
    """The mover lays a card (any, if no kind is named) on a cell."""
    game.apply(kind or min(game.legal()))
    names = {where: name for name, where in game.open_cells().items()}
    game.apply(names[cell])


def random_game(players, seed, watch=lambda game: None):
    rng = random.Random(seed)
    game = CardGame(players, *deal(players, rng, CARDS))
    while not game.over:
        watch(game)
        game.apply(rng.choice(sorted(game.legal())))
    return game


def cards_on(board):
    return {cell: content for cell, content in board.items() if content[0] == "card"}


def distance(cell):
    return max(abs(cell[0]), abs(cell[1]))


# ---- components and set-up -------------------------------------------------------------------


def test_default_card_file_holds_the_same_cards():
    influence, villages = ref.load_cards()
    assert Counter(influence) == Counter(INFLUENCE)
    assert Counter(villages) == Counter(VILLAGES)


def test_loader_reads_the_file_format(tmp_path):
    path = tmp_path / "cards.json"
    path.write_text(
        '{"influence_cards": {"cards": [{"type": "samurai", "value": 3}]},'
        '"village_cards": {"cards": [{"symbols": ["rice", "helmet"], "count": 2}]}}'
    )
    assert ref.load_cards(path) == (["S3"], ["HR", "HR"])


def test_components():
    assert len(INFLUENCE) == 15 and len(set(INFLUENCE)) == 12
    assert [Counter(INFLUENCE)[kind] for kind in ("S1", "S2", "S3")] == [3, 2, 1]
    assert Counter(map(len, VILLAGES)) == {1: 15, 2: 27, 3: 2}


@pytest.mark.parametrize("players, cards, stones", [(2, 15, 10), (3, 15, 16), (4, 13, 16)])
def test_setup(players, cards, stones):
    orders, villages = deal(players, random.Random(1), CARDS)
    game = CardGame(players, orders, villages)
    assert [len(order) for order in orders] == [cards] * players
    assert Counter(villages) == Counter(VILLAGES)
    assert game.stones_left == {"H": stones, "B": stones, "R": stones}
    for seat in range(players):
        assert game.hands[seat] == Counter(orders[seat][:5])
        assert game.stacks[seat] == orders[seat][5:]
    assert game.board == {(0, 0): ("village", villages[0])}
    assert game.village_top == villages[1] and game.villages_left == 43
    assert (game.seat, game.phase, game.over) == (0, "card", False)
    assert game.winners() == [] and game.returns() == [0.0] * players


def test_four_players_lack_one_samurai_1_and_one_samurai_2():
    assert Counter(INFLUENCE) - Counter(ref.influence_set(4, INFLUENCE)) == {"S1": 1, "S2": 1}


def test_village_cards_may_be_given_as_sets():
    game = CardGame(2, [INFLUENCE, INFLUENCE], [frozenset("RH"), frozenset("B"), "RBH"])
    assert game.board[(0, 0)] == ("village", "HR")
    assert game.village_stack == ["B", "HBR"]


# ---- laying a card ---------------------------------------------------------------------------


def test_steps_of_a_turn_and_drawing_back():
    game = new_game(2, tops=[["H2", "H3", "H4", "S1", "S1", "R4"], []])
    assert game.legal() == {"H2", "H3", "H4", "S1"}
    game.apply("S1")
    assert game.phase == "cell" and game.seat == 0
    assert game.legal() == {"v0N", "v0E", "v0S", "v0W"}
    game.apply("v0E")
    assert game.board[(1, 0)] == ("card", 0, "S1")
    assert game.hands[0] == Counter(["H2", "H3", "H4", "S1", "R4"])
    assert (game.seat, game.phase) == (1, "card")


@pytest.mark.parametrize("action", ["B2", "v0E", "cell0", "", "S9"])
def test_illegal_card(action):
    game = new_game(2, tops=[["H2", "H3", "H4", "S1", "S1"], []])
    with pytest.raises(ValueError):
        game.apply(action)


@pytest.mark.parametrize("action", ["v0E", "v1N", "H2", "cell0"])
def test_illegal_cell(action):
    game = new_game()
    lay(game, (1, 0))
    game.apply(min(game.legal()))
    with pytest.raises(ValueError):  # filled; no such village; not a cell
        game.apply(action)


def test_a_cell_beside_several_villages_has_the_name_of_the_first_laid():
    game = new_game(2)
    lay(game, (1, 0))  # seat 0
    lay(game, (0, 1))  # seat 1: a village in the cell between, (1, 1)
    assert game.village_cells == [(0, 0), (1, 1)]
    assert game.open_cells() == {"v0N": (0, -1), "v0W": (-1, 0), "v1E": (2, 1), "v1S": (1, 2)}
    place(game, villages=[((2, 2), "H"), ((-1, -1), "H")])
    # (2, 1) and (1, 2) keep the name from village 1; (0, -1) and (-1, 0) that from village 0.
    assert game.open_cells() == {
        "v0N": (0, -1),
        "v0W": (-1, 0),
        "v1E": (2, 1),
        "v1S": (1, 2),
        "v2E": (3, 2),
        "v2S": (2, 3),
        "v3N": (-1, -2),
        "v3W": (-2, -1),
    }


# ---- new villages ----------------------------------------------------------------------------


def test_right_angle_with_another_players_card_brings_the_top_village():
    game = new_game(2, villages=["H", "BR", "R"])
    lay(game, (1, 0))
    lay(game, (0, -1))
    assert game.board[(1, -1)] == ("village", "BR")
    assert game.village_top == "R" and game.villages_left == 1


def test_opposite_sides_bring_none():
    game = new_game(2)
    lay(game, (1, 0))
    lay(game, (-1, 0))
    assert game.village_cells == [(0, 0)]


def test_two_cards_of_one_player_bring_none():
    game = new_game(2)
    lay(game, (1, 0))
    lay(game, (-1, 0))
    game.board[(-1, 0)] = ("card", 0, "H2")
    lay(game, (0, 1))
    assert game.village_cells == [(0, 0)]


def test_cards_facing_each_other_across_a_free_cell_bring_none():
    game = new_game(2)
    place(game, villages=[((4, 0), "H")], cards=[((3, 0), 1, "H2")])
    lay(game, (1, 0))  # (2, 0) lies between cards of two players
    assert game.village_cells == [(0, 0), (4, 0)]


def test_cell_between_must_be_free():
    game = new_game(2)
    place(game, villages=[((1, 1), "H")], cards=[((0, 1), 1, "H2")])
    lay(game, (1, 0))
    assert game.village_cells == [(0, 0), (1, 1)]


def test_one_cell_found_through_two_villages_gets_one_card():
    # The card (1, 0) lies between villages (0, 0) and (2, 0); cards of the other seat at (0, 1)
    # and (2, 1) both ask for the cell (1, 1).
    game = new_game(2)
    place(game, villages=[((2, 0), "H")], cards=[((0, 1), 1, "H2"), ((2, 1), 1, "H3")])
    lay(game, (1, 0))
    assert game.village_cells == [(0, 0), (2, 0), (1, 1)]
    assert game.villages_left == 42


def two_cells(villages, players=2):
    """Seat 0 lays (1, 0) between cards of seat 1 north and south: cells (1, -1) and (1, 1)."""
    game = new_game(players, villages=villages)
    place(game, cards=[((0, -1), 1, "H2"), ((0, 1), 1, "H3")])
    lay(game, (1, 0))
    return game


@pytest.mark.parametrize("action, north, south", [("cell0", "B", "R"), ("cell1", "R", "B")])
def test_mover_chooses_between_two_cells_seeing_the_next_card(action, north, south):
    game = two_cells(["H", "B", "R", "HBR", "H"])
    assert (game.phase, game.seat, game.legal()) == ("village", 0, {"cell0", "cell1"})
    assert game.candidates == [(1, -1), (1, 1)]  # sorted by (y, x)
    assert (game.village_top, game.village_next) == ("B", "R")
    for seat in (0, 1):  # the stack lies face up
        view = game.view(seat)
        assert (view["village_top"], view["village_next"], view["villages_left"]) == ("B", "R", 4)
        assert view["villages_unseen"] == Counter(["HBR", "H"])
    assert game.hands[0].total() == 4  # drawing back comes last
    game.apply(action)
    assert game.board[(1, -1)] == ("village", north)
    assert game.board[(1, 1)] == ("village", south)
    # The first top card is laid first, wherever it goes.
    assert game.board[game.village_cells[1]] == ("village", "B")
    assert (game.village_top, game.village_next, game.seat) == ("HBR", None, 1)
    assert game.hands[0].total() == 5 and game.candidates == []


def test_cells_of_one_row_are_sorted_by_x():
    game = new_game(2)
    place(game, cards=[((-1, 0), 1, "H2"), ((1, 0), 1, "H3")])
    lay(game, (0, 1))
    assert game.candidates == [(-1, 1), (1, 1)]


def test_two_cells_round_a_corner_are_sorted_by_y_first():
    # Villages east and south of the card (-1, 0); free cells north and west of it.
    game = new_game(2)
    place(game, villages=[((-1, 1), "H")], cards=[((0, -1), 1, "H2"), ((-2, 1), 1, "H3")])
    lay(game, (-1, 0))
    assert game.candidates == [(-1, -1), (-2, 0)]


def test_two_cells_one_card_left_the_mover_chooses_the_cell():
    game = two_cells(["H", "B"], players=3)
    assert game.phase == "village" and game.village_next is None
    game.apply("cell1")
    assert game.village_cells == [(0, 0), (1, 1)] and (1, -1) not in game.board
    assert game.end_called and not game.over and game.seat == 1


def test_two_cells_and_no_card_left():
    game = two_cells(["H"], players=3)
    assert game.village_cells == [(0, 0)]
    assert (game.phase, game.seat) == ("card", 1)


def test_a_new_village_makes_no_further_pair():
    # Seat 0 lays (0, -1): with seat 1's (1, 0) a village comes to (1, -1). On its north side lies
    # seat 1's (1, -2), at a right angle to the card just laid; but the village did not lie there
    # when the card was played, so the cell between those two cards, (0, -2), stays free.
    game = new_game(2)
    place(game, villages=[((2, -2), "H")], cards=[((1, 0), 1, "H2"), ((1, -2), 1, "H3")])
    lay(game, (0, -1))
    assert game.village_cells == [(0, 0), (2, -2), (1, -1)]
    # Had it lain there, the same card would have brought a village to (0, -2).
    game = new_game(2)
    place(game, villages=[((2, -2), "H"), ((1, -1), "B")], cards=[((1, 0), 1, "H2"), ((1, -2), 1, "H3")])
    lay(game, (0, -1))
    assert game.village_cells == [(0, 0), (2, -2), (1, -1), (0, -2)]


# ---- scoring ---------------------------------------------------------------------------------


def rulebook_scoring():
    """A village with all three symbols between Green (seat 0), Red (1) and Blue (2); Blue closes
    it. Green has the most rice, Red the most buddhas, Red and Blue tie for the helmet."""
    game = new_game(3, villages=["HBR"] + ["H"] * 20, tops=[["R3", "H2"], ["S2", "B2"], ["H2", "R2"]])
    lay(game, (0, -1), "R3")  # Green north
    lay(game, (0, 1), "S2")  # Red south: opposite sides, no village
    lay(game, (1, 0), "H2")  # Blue east: villages north-east and south-east
    game.apply("cell0")
    lay(game, (2, -1), "H2")
    while game.phase == "village":
        game.apply("cell0")
    lay(game, (2, 1), "B2")
    while game.phase == "village":
        game.apply("cell0")
    assert game.stones == [Counter(), Counter(), Counter()]
    lay(game, (-1, 0), "R2")  # Blue west
    return game


def test_rulebook_example_scoring():
    game = rulebook_scoring()
    assert game.stones[0] == Counter(R=1)
    assert game.stones[1] == Counter(B=1)
    assert game.stones[2] == Counter()
    assert game.stones_left == Counter(H=16, B=15, R=15)


def test_rulebook_example_scores_before_new_villages():
    game = rulebook_scoring()  # scored, and both free places still wait
    assert (game.phase, game.seat) == ("village", 2)
    assert game.candidates == [(-1, -1), (-1, 1)]
    game.apply("cell1")
    assert game.is_village((-1, -1)) and game.is_village((-1, 1))


@pytest.mark.parametrize(
    "symbols, north, west, south, last, winner",
    [
        ("H", "H3", "H2", "B4", "R4", {"H": 0}),  # only cards of the symbol count
        ("H", "H3", "H2", "S1", "S1", {"H": 1}),  # samurai count: 2 + 1 + 1 of seat 1
        ("H", "H3", "H2", "B4", "S1", {}),  # tie: nobody
        ("H", "B2", "R3", "B4", "R4", {}),  # nobody has any influence
        ("HB", "H4", "B4", "S2", "S1", {"H": 0, "B": 1}),  # each symbol on its own
        ("HBR", "S3", "S2", "H2", "B2", {"R": 0, "H": 1, "B": 1}),
    ],
)
def test_scoring(symbols, north, west, south, last, winner):
    """Seat 0 has the north side; seat 1 west, south and, closing the village, east."""
    game = new_game(2, villages=[symbols] + ["H"] * 9, tops=[[], [last]])
    place(game, cards=[((0, -1), 0, north), ((-1, 0), 1, west), ((0, 1), 1, south)])
    game.seat = 1
    lay(game, (1, 0), last)
    for shape in "HBR":
        for seat in (0, 1):
            assert game.stones[seat][shape] == (winner.get(shape) == seat)


def test_one_card_may_score_several_villages():
    game = new_game(2, villages=["H"] * 9, tops=[["H4"], []])
    place(
        game,
        villages=[((2, 0), "B")],
        cards=[
            ((0, -1), 1, "H2"),
            ((-1, 0), 1, "H2"),
            ((0, 1), 0, "S1"),
            ((2, -1), 1, "B2"),
            ((3, 0), 1, "S1"),
            ((2, 1), 0, "B2"),
        ],
    )
    lay(game, (1, 0), "H4")
    assert game.stones == [Counter(H=1), Counter(B=1)]


def test_a_new_village_with_four_filled_sides_is_scored_at_once():
    # Seat 0's (1, 0) and seat 1's (0, 1) bring a village to (1, 1); its east and south sides
    # are filled already.
    game = new_game(2, villages=["H", "HB", "R", "R"], tops=[["S1"], []])
    place(game, cards=[((0, 1), 1, "H3"), ((2, 1), 0, "B4"), ((1, 2), 0, "H3")])
    lay(game, (1, 0), "S1")
    assert game.board[(1, 1)] == ("village", "HB")
    assert game.stones == [Counter(H=1, B=1), Counter()]  # H: 1 + 3 to 3, B: 1 + 4 to 0


def test_stones_beyond_the_supply_count_like_the_others():
    game = new_game(2, villages=["HB"] + ["R"] * 9, tops=[["S3"], []])
    place(game, cards=[((0, -1), 0, "H4"), ((-1, 0), 1, "H2"), ((0, 1), 1, "H2")])
    game.stones[0]["H"], game.stones[1]["H"], game.stones_left["H"] = 4, 6, 0
    lay(game, (1, 0), "S3")
    assert game.stones[0] == Counter(H=5, B=1)
    assert game.stones_left == Counter(H=0, B=9, R=10)


# ---- the end ---------------------------------------------------------------------------------


def test_supply_used_up_calls_the_end_and_the_round_is_played_out():
    game = new_game(3, tops=[["H4"], [], []])
    place(game, cards=[((0, -1), 0, "H4"), ((-1, 0), 0, "H2"), ((0, 1), 0, "H2")])
    game.stones_left["H"] = 1
    lay(game, (1, 0), "H4")
    # A closed board would end at once; here no neighbour belongs to another player.
    assert game.over and game.open_cells() == {}
    game = new_game(3, tops=[["H4"], [], []])
    place(game, cards=[((0, -1), 0, "H4"), ((-1, 0), 0, "H2"), ((0, 1), 0, "H2")], villages=[((6, 0), "H")])
    game.stones_left["H"] = 1
    lay(game, (1, 0), "H4")
    assert game.end_called and not game.over and game.seat == 1
    lay(game, (5, 0))
    assert not game.over and game.seat == 2
    lay(game, (7, 0))
    assert game.over and game.legal() == set()
    assert game.winners() == [0] and game.returns() == [1.0, -0.5, -0.5]
    with pytest.raises(ValueError):
        game.apply("H2")


def test_last_village_taken_calls_the_end():
    game = new_game(2, villages=["H", "B"])
    lay(game, (1, 0))
    assert not game.end_called
    lay(game, (0, 1))  # seat 1 takes the last card and ends the round
    assert game.end_called and game.over


@pytest.mark.parametrize("players", [2, 3, 4])
def test_endings_of_random_play(players):
    for seed in range(60):
        game = random_game(players, seed)
        laid = Counter(content[1] for content in cards_on(game.board).values())
        called = (
            not game.village_stack or 0 in game.stones_left.values() or all(hand.total() == 0 for hand in game.hands)
        )
        assert called == game.end_called
        assert called or not game.open_cells()
        if game.open_cells():
            assert len({laid[seat] for seat in range(players)}) == 1  # equally many turns


CLOSING_18 = [
    (1, 0),
    (-1, 0),
    (0, 1),
    (-2, 1),
    (0, -1),
    (-2, -1),
    (-1, 2),
    (-1, -2),
    (-2, 3),
    (0, -3),
    (1, -2),
    (1, -4),
    (-3, 2),
    (2, -3),
    (-4, 1),
    (2, -1),
    (-3, 0),
    (3, -2),
]
CLOSING_21 = [
    (1, 0),
    (-1, 0),
    (0, 1),
    (-2, 1),
    (-1, 2),
    (-3, 2),
    (0, -1),
    (-2, -1),
    (-2, 3),
    (-1, -2),
    (-3, 4),
    (0, -3),
    (1, -2),
    (1, -4),
    (-4, 3),
    (2, -3),
    (-5, 2),
    (2, -1),
    (-4, 1),
    (3, -2),
    (-3, 0),
]


@pytest.mark.parametrize("line", [CLOSING_18, CLOSING_21])
def test_a_closed_board_ends_the_game_at_once(line):
    game = new_game(2, villages=["H", "B", "R"] * 14 + ["HB", "HR"])
    for cell in line:
        assert not game.over
        lay(game, cell)
        if game.phase == "village":
            game.apply("cell0")
    assert game.open_cells() == {} and not game.end_called
    assert game.over and game.winners() == winners_of(game.stones) != []
    assert len(cards_on(game.board)) == len(line)  # 21: one turn more for seat 0


@pytest.mark.parametrize("players", [3, 4])
def test_zigzag_to_the_greatest_distance(players):
    """Villages (0,0), (1,1), (2,0), (3,1) ... each brought by one card: distance 43, and in the
    rest of the last round a card at 44. Until then no village is surrounded."""
    game = new_game(players)
    lay(game, (0, 1))
    lay(game, (1, 0))
    x = 2
    while not game.over:
        if players == 4 and x == 4:
            lay(game, (-1, 0))  # seat 0 beside its own card: no village this turn
            assert len(game.village_cells) == 4
        cell = (x, 1 if x % 2 == 0 else 0)
        if cell in game.open_cells().values():
            lay(game, cell)
        else:
            lay(game, min(game.open_cells().values()))
        assert game.phase != "village"
        assert game.stones == [Counter()] * players or not game.village_stack
        x += 1
    assert max(map(distance, game.village_cells)) == 43
    assert max(map(distance, game.board)) == 44
    assert len(game.village_cells) == 44 and game.villages_left == 0
    if players == 3:  # 45 cards and no stone: nobody has a majority
        assert len(cards_on(game.board)) == 45 and game.stones == [Counter()] * 3
        assert game.winners() == [0, 1, 2] and game.returns() == [0.0] * 3


# ---- the winner ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "stones, winners",
    [
        # Rulebook: Green no majority; Red buddhas, 2 + 4 = 6; Blue helmets, 7 + 3 = 10: Blue wins.
        ([dict(H=3, B=1, R=4), dict(H=2, B=8, R=4), dict(H=5, B=7, R=3)], [2]),
        # Majority in two shapes, and in three: wins, however few the stones.
        ([dict(H=3, B=3, R=0), dict(H=2, B=2, R=9)], [0]),
        ([dict(H=1, B=1, R=1), dict()], [0]),
        # The only majority wins, though another has more stones.
        ([dict(H=3), dict(H=2, B=6, R=6), dict(B=6, R=6)], [0]),
        # Other shapes level: more stones in the own majority shape.
        ([dict(H=5, B=1, R=2), dict(H=2, B=4, R=1), dict(B=2, R=2)], [0]),
        # Level there too: shared. The third seat has the majority in rice, but counts fewer others.
        ([dict(H=5, B=2, R=1), dict(H=2, B=5, R=1), dict(R=6)], [0, 1]),
        ([dict(H=5, B=2, R=1), dict(H=2, B=5, R=1)], [0, 1]),
        ([dict(H=5, B=1, R=1), dict(H=1, B=5, R=1), dict(H=1, B=1, R=5)], [0, 1, 2]),
        # Nobody has a majority: all share, whatever the totals.
        ([dict(H=4, B=4, R=4), dict(H=4, B=4), dict(R=4)], [0, 1, 2]),
        ([dict(), dict(), dict(), dict()], [0, 1, 2, 3]),
    ],
)
def test_winners(stones, winners):
    assert winners_of([Counter(own) for own in stones]) == winners


@pytest.mark.parametrize(
    "stones, returns",
    [
        ([dict(H=1), dict(), dict(), dict()], [1, -1 / 3, -1 / 3, -1 / 3]),
        ([dict(), dict(B=1)], [-1, 1]),
        ([dict(H=5, B=2, R=1), dict(H=2, B=5, R=1), dict(R=6)], [0.25, 0.25, -0.5]),
        ([dict(H=5, B=1), dict(H=1, B=5), {}, {}], [1 / 3, 1 / 3, -1 / 3, -1 / 3]),
        ([dict(H=2), dict(H=2), {}, {}], [0, 0, 0, 0]),
    ],
)
def test_returns(stones, returns):
    game = new_game(len(stones))
    game.stones = [Counter(own) for own in stones]
    assert game.returns() == [0.0] * len(stones)  # nothing before the end
    game.phase = "over"
    assert game.returns() == pytest.approx(returns)


# ---- what a seat may know --------------------------------------------------------------------


def reshuffle_hidden(game, seat, rng):
    """Another position that `seat` must not be able to tell from this one."""
    twin = copy.deepcopy(game)
    for other in range(game.players):
        rng.shuffle(twin.stacks[other])
        if other != seat:
            kept = [game.chosen] if other == game.seat and game.chosen else []
            unseen = list((game.hands[other] - Counter(kept)).elements()) + game.stacks[other]
            rng.shuffle(unseen)
            size = game.hands[other].total() - len(kept)
            twin.hands[other] = Counter(unseen[:size] + kept)
            twin.stacks[other] = unseen[size:]
    open_cards = 1 + (game.village_next is not None)
    below = twin.village_stack[open_cards:]
    rng.shuffle(below)
    twin.village_stack[open_cards:] = below
    return twin


@pytest.mark.parametrize("players", [2, 3, 4])
def test_view_hides_what_a_seat_may_not_know(players):
    rng = random.Random(5)
    changed = 0

    def check(game):
        nonlocal changed
        for seat in range(players):
            twin = reshuffle_hidden(game, seat, rng)
            changed += twin.hands != game.hands
            assert twin.view(seat) == game.view(seat)

    for seed in range(4):
        random_game(players, seed, check)
    assert changed


def test_view_is_relative_to_the_seat():
    game = new_game(3, tops=[["H2", "H3"], ["B2"], ["R2"]])
    lay(game, (1, 0), "H2")
    game.apply("B2")
    own, before, after = game.view(1), game.view(2), game.view(0)
    assert own["board"][(1, 0)] == ("card", 2, "H2")
    assert before["board"][(1, 0)] == ("card", 1, "H2")
    assert after["board"][(1, 0)] == ("card", 0, "H2")
    assert (own["mover"], before["mover"], after["mover"]) == (0, 2, 1)
    assert (own["first_seat"], before["first_seat"], after["first_seat"]) == (2, 1, 0)
    assert (own["chosen"], before["chosen"], after["chosen"]) == ("B2", None, None)
    assert own["hand"] == game.hands[1] and own["hand"].total() == 5
    assert own["unseen"][0] == Counter(game.stacks[1])
    assert own["unseen"][2] == game.hands[0] + Counter(game.stacks[0])
    assert own["hand_sizes"] == [5, 5, 5] and own["stack_sizes"] == [10, 10, 9]


def test_view_is_a_copy():
    game = new_game()
    before = copy.deepcopy(game.__dict__)
    view = game.view(0)
    for value in view.values():
        if isinstance(value, (dict, list)):
            value.clear()
    assert game.__dict__ == before


# ---- properties of every position ------------------------------------------------------------


def check_position(game):
    cards = cards_on(game.board)
    whole = Counter(ref.influence_set(game.players, INFLUENCE))
    for seat in range(game.players):
        # Hand, stack and laid cards are the whole set.
        laid = Counter(kind for _, owner, kind in cards.values() if owner == seat)
        assert game.hands[seat] + Counter(game.stacks[seat]) + laid == whole
        busy = game.phase == "village" and seat == game.seat
        assert game.hands[seat].total() == 5 - busy or not game.stacks[seat]
    laid_villages = [game.board[cell][1] for cell in game.village_cells]
    assert Counter(laid_villages + game.village_stack) == Counter(VILLAGES)
    assert len(set(game.village_cells)) == len(game.village_cells) == len(game.board) - len(cards)
    # The chessboard, and every card beside a village.
    assert all((x + y) % 2 == 0 for x, y in game.village_cells)
    assert all((x + y) % 2 == 1 for x, y in cards)
    assert all(any(game.is_village(cell) for cell in around(card)) for card in cards)
    # The stones are what the surrounded villages give; nothing else was scored.
    stones = [Counter() for _ in range(game.players)]
    for village in game.village_cells:
        beside = [cards[cell] for cell in around(village) if cell in cards]
        for shape in game.board[village][1] if len(beside) == 4 else "":
            sums = sorted(
                (sum(int(kind[1]) for _, owner, kind in beside if owner == seat and kind[0] in shape + "S"), seat)
                for seat in range(game.players)
            )
            if sums[-1][0] > sums[-2][0]:
                stones[sums[-1][1]][shape] += 1
    assert game.stones == stones
    supply = 10 if game.players == 2 else 16
    for shape in "HBR":
        assert game.stones_left[shape] == max(0, supply - sum(own[shape] for own in stones))
    # Names of cells: one each, and the name means the cell.
    cells = game.open_cells()
    assert len(set(cells.values())) == len(cells)
    for name, cell in cells.items():
        assert cell == step(game.village_cells[int(name[1:-1])], name[-1])
        assert cell not in game.board
    # Each new village has at least two filled sides.
    assert len(cells) <= 4 + 2 * (len(game.village_cells) - 1) - len(cards)
    assert bool(game.legal()) != game.over


@pytest.mark.parametrize("players", [2, 3, 4])
def test_properties_in_random_play(players):
    for seed in range(25):
        game = random_game(players, seed, check_position)
        check_position(game)
        assert game.over and sum(game.returns()) == pytest.approx(0)
        assert all(game.stones[seat] == game.view(0)["stones"][seat] for seat in range(players))


# ---- statistics of random play ---------------------------------------------------------------


@pytest.mark.parametrize("players", [2, 3, 4])
def test_statistics_of_random_play(players):
    games, total = 250, Counter()

    def watch(game):
        total["choices"] += game.phase == "village"

    for seed in range(games):
        game = random_game(players, 1000 * players + seed, watch)
        total["cards"] += len(cards_on(game.board))
        total["villages"] += len(game.village_cells)
        total["shared"] += len(game.winners()) > 1
        total["distance"] += max(map(distance, game.board))
    cards, villages, choices, shared, far = FACTS[players]
    assert total["cards"] / games == pytest.approx(cards, abs=0.6)
    assert total["villages"] / games == pytest.approx(villages, abs=1.0)
    assert total["choices"] / games == pytest.approx(choices, abs=0.6)
    assert total["shared"] / games == pytest.approx(shared, abs=0.04)
    assert total["distance"] / games == pytest.approx(far, abs=0.3)
