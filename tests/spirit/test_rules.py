"""Samurai Spirit rule by rule: positions laid out by hand (see `spirit_desk`), played on, and looked at."""

import json

import numpy as np
import pytest

from samurai_env.core.batch import batch_kernels
from samurai_env.core.game import find_game
from samurai_env.core.rng import next_seed
from samurai_env.core.variant_spec import parse_variant
from samurai_env.display.palette import MARK
from samurai_env.display.scene import Polygon, Text
from samurai_env.games.spirit.actions import GROUPS, PLAYER0, names
from samurai_env.games.spirit.display.card_texts import PENALTIES, TALENTS
from samurai_env.games.spirit.display.scene import MOST_SHOWN
from samurai_env.games.spirit.heuristics.policy import LOWEST
from samurai_env.games.spirit.rules import cards
from samurai_env.games.spirit.rules.cards import CARD_NAMES, MOST, SAMURAI
from samurai_env.games.spirit.rules.kernels import MAX_STEPS
from samurai_env.games.spirit.state import (
    BOX,
    DISCARD_PILE,
    IN_HAND,
    LEFT0,
    LINE0,
    PHASES,
    PLACE_KNOWN,
    RAIDERS,
    RESULTS,
    UNSEEN,
)
from samurai_env.position import IllegalActionError, Position
from tests.spirit.desk import CARD, GAME, Desk

LEVELS = ("easy", "normal", "hard", "heroic")
PLAIN = ("P1-02", "P2-02", "P3-02", "P4-03", "P1-07", "P2-07", "P3-06", "P4-06")  # cards without penalty


# ---------------------------------------------------------------- facts


def test_the_deck_has_the_counts_of_the_rulebook():
    assert len(CARD_NAMES) == 66
    assert list(cards.FIRST) == [0, 52, 59, 66]
    assert [int(np.sum(v == cards.VALUE)) for v in range(1, 7)] == [13, 13, 13, 13, 7, 7]
    plunderers = cards.SYMBOL[:52]
    assert [int(np.sum(plunderers == s)) for s in (cards.HAT, cards.DOLL, cards.FARM, -1)] == [14, 18, 16, 4]
    assert int(cards.FLAMES.sum()) == 35
    assert cards.KIAI.tolist() == [[8, 11], [8, 11], [9, 12], [9, 12], [10, 13], [9, 12], [10, 13]]
    assert cards.FARMSTEADS.sum() == 6
    assert len(cards.FAMILIES) == 3


def test_every_fact_says_how_sure_it_is():
    facts = json.loads((cards.DATA / "spirit.json").read_text(encoding="utf-8"))
    words = set(facts["confidence_words"])
    assert {card["confidence"] for card in facts["cards"]} <= words
    assert sum(card["confidence"] == "confirmed" for card in facts["cards"]) == 9
    confirmed = [s[k] == "confirmed" for s in facts["samurai"] for k in ("confidence_human", "confidence_animal")]
    assert sum(confirmed) == 5
    assert facts["farmstead_tokens"]["distribution_status"] == "reconstruction"


@pytest.mark.parametrize("n", range(1, 8))
@pytest.mark.parametrize(
    ("level", "extra", "each", "officers"),
    [("easy", 3, 6, -1), ("normal", 2, 7, 0), ("hard", 1, 7, 0), ("heroic", 0, 7, 0)],
)
def test_set_up_and_reinforcements(n, level, extra, each, officers):
    position = Position(GAME.variant(n, difficulty=level), 3)
    r = position.state
    assert r["barricades"] == r["most_barricades"] == n + extra
    assert r["raiders_left"] == each * n == np.sum(r["where"] == RAIDERS)
    assert set(r["who"][:n].tolist()) <= set(range(7))
    assert len(set(r["who"][:n].tolist())) == n
    assert bin(int(r["open_tokens"])).count("1") == (7 - n if n <= 2 else 0)
    desk = a_round_before_its_end(n, level)
    desk.play("pass")
    assert desk.r["round"] == 2
    assert desk.r["raiders_left"] == 10 + n + officers


def a_round_before_its_end(n: int, level: str, round_: int = 1) -> Desk:
    """All but one samurai have passed, nothing is missing, ten cards are in play."""
    desk = Desk(*SAMURAI[:n], difficulty=level)
    desk.r["round"] = round_
    desk.r["left"][:] = 0  # whatever lies there, it has the symbols
    desk.discards(*PLAIN).raiders("P1-13", "P2-13")
    return desk.passed(*range(1, n)).start()


def test_first_seat_and_seating():
    position = Position(GAME.variant(3, samurai=("Kyuzo", "Kanbei", "Heihachi"), first=2), 9)
    assert position.seat == 2
    assert [SAMURAI[i] for i in position.state["who"][:3]] == ["Kyuzo", "Kanbei", "Heihachi"]
    drawn = {tuple(Position(GAME.variant(2), seed).state["who"][:2].tolist()) for seed in range(300)}
    assert len(drawn) == 42  # every pair in every order


def test_at_least_two_dolls_under_the_two_player_rules():
    kernels, states = batch_kernels(GAME), GAME.variant(1, difficulty="easy").new(3000)
    kernels.reset_all(states, np.arange(3000, dtype=np.uint64))
    dolls = np.sum((states["where"] == RAIDERS) & (cards.SYMBOL == cards.DOLL), axis=1)
    assert dolls.min() == 2
    free = GAME.variant(3, difficulty="easy").new(3000)
    kernels.reset_all(free, np.arange(3000, dtype=np.uint64))
    assert np.sum((free["where"] == RAIDERS) & (cards.SYMBOL == cards.DOLL), axis=1).min() < 2


# ---------------------------------------------------------------- fight, support, pass


def three(*raiders: str, difficulty: str = "normal", **options) -> Desk:
    """Gorobei, Kikuchiyo, Kyuzo: no talent of the first touches an odd card."""
    return Desk("Gorobei", "Kikuchiyo", "Kyuzo", difficulty=difficulty, **options).raiders(*raiders, "P1-13", "P2-13")


def test_attack_below_the_kiai_only_moves_the_meeple():
    desk = three("P3-06").line(0, "P1-02").start().play("fight", "attack")
    assert desk.line_of(0) == ["P1-02", "P3-06"]
    assert desk.position.seat == 1
    assert desk.r["barricades"] == 5


def test_defend_needs_a_symbol_that_is_still_free():
    desk = three("P3-06").start().play("fight")
    assert desk.legal() == {"attack", "defend"}
    desk.play("defend")
    assert desk.left_of(0) == {"P3-06"}
    assert desk.r["total"][0] == 0
    taken = three("P3-06").left(0, "P1-07").start().play("fight")
    assert taken.line_of(0) == ["P3-06"]  # no choice: it attacks by itself
    bare = three("P3-13").start().play("fight")
    assert bare.line_of(0) == ["P3-13"]


def test_beyond_the_kiai_a_barricade_goes_and_the_next_action_is_to_pass():
    desk = three("P3-13", "P1-02").line(0, "P4-03", "P4-06").start().play("fight")
    assert desk.r["total"][0] == 11
    assert desk.r["barricades"] == 4
    desk.passed(1).start(0)  # the wound of the last card is suffered, then passing is the only choice
    assert desk.wounds(0) == 1
    assert desk.r["passed"] == 0b011
    assert desk.position.seat == 2


def test_without_barricades_a_farmstead_goes():
    desk = three("P3-13").village(barricades=0).line(0, "P4-03", "P4-06").start().play("fight")
    assert desk.r["barricades"] == 0
    assert desk.farmsteads() == 5


def test_on_the_kiai_the_effect_is_optional_and_the_first_card_goes():
    for answer in ("kiai", "none"):
        desk = Desk("Kanbei", "Kikuchiyo").raiders("P3-13", "P1-13", "P2-13").intruders("P1-01", "P1-02", "P1-03")
        desk.line(0, "P4-03", "P2-02").start().play("fight")
        assert desk.phase == "kiai"
        assert desk.legal() == {"kiai", "none"}
        desk.play(answer)
        assert desk.line_of(0) == ["P2-02", "P3-13"]
        assert desk.stack("intruders") == (["P1-03"] if answer == "kiai" else ["P1-01", "P1-02", "P1-03"])
        assert desk.discarded() == ({"P4-03", "P1-01", "P1-02"} if answer == "kiai" else {"P4-03"})


def test_support_lends_the_token_for_one_turn_and_hides_a_raider():
    desk = three("P3-13", "P4-03", "P3-06", "P1-02").start()
    assert desk.legal() == {"fight", "support", "pass"}
    desk.play("support", "Kyuzo")
    assert desk.stack("intruders") == ["P3-13"]
    assert desk.token_at("Gorobei") == "Kyuzo"
    desk.line(2, "P4-05").play("pass")  # Kikuchiyo; Kyuzo begins and may ignore the wound of an even card
    assert desk.position.seat == 2
    assert desk.phase == "penalty"
    desk.play("ignore", "fight")
    assert desk.wounds(2) == 0
    desk.play("discard")  # both talents
    assert desk.token_at("Gorobei") is None
    assert desk.discarded() == {"P4-03"}


def test_a_token_that_is_away_cannot_be_lent_again():
    desk = three("P3-13").lend("Gorobei", 2).start()
    assert desk.legal() == {"fight", "pass"}


def test_support_needs_somebody_else_in_the_round():
    assert three("P3-13").passed(1, 2).start().legal() == {"fight", "pass"}
    assert three("P3-13").passed(1).start().play("support").token_at("Gorobei") == "Kyuzo"  # the only choice


def test_passed_samurai_are_skipped_and_the_last_goes_on():
    desk = three("P3-13", "P1-02", "P1-07").passed(1).start().play("fight")
    assert desk.position.seat == 2
    desk.play("pass")
    assert desk.position.seat == 0
    assert desk.phase == "action"


def test_all_passed_the_rest_goes_on_top_of_the_intruders():
    desk = three("P3-13").intruders("P1-01").passed(1, 2)
    for seat in range(3):  # nothing missing but one hat, so that a Kiai can stop the end of the round
        desk.left(seat, ("P1-09", "P2-09", "P3-09")[seat], ("P1-05", "P2-05", "P3-04")[seat])
    desk.board(1, 3).start().play("pass")
    assert desk.result == "samurai_died"  # Kikuchiyo had no hat; that comes before the intruders
    assert desk.stack("intruders") == ["P3-13", "P1-13", "P2-13", "P1-01"]


# ---------------------------------------------------------------- penalties


def suffering(
    card: str, *raiders: str, difficulty: str = "normal", partners: tuple[str, ...] = ("Kyuzo", "Daisuke")
) -> Desk:
    """Kikuchiyo's turn begins with this card last in the line."""
    desk = Desk("Kikuchiyo", *partners, difficulty=difficulty)
    return desk.raiders(*(raiders or ("P1-07", "P2-07", "P3-06", "P4-06"))).line(0, "P1-02", card)


def test_fire():
    assert suffering("P3-01").start().r["barricades"] == 4
    assert suffering("P3-01").village(barricades=0).start().farmsteads() == 5


def test_wound():
    assert suffering("P3-13").start().wounds(0) == 1


def test_ninja():
    desk = suffering("P2-03").start()
    assert desk.stack("intruders") == ["P1-07"]
    assert desk.r["known"][CARD["P1-07"]] != PLACE_KNOWN


def test_no_defend_holds_for_the_turn_only():
    desk = suffering("P2-04").start().play("fight")
    assert desk.line_of(0)[-1] == "P1-07"  # a doll that had to be attacked
    assert desk.phase == "second_fight"
    desk.play("fight")
    assert desk.line_of(0)[-1] == "P2-07"
    assert desk.r["no_defend"] == 0
    assert desk.position.seat == 1


def test_no_support():
    desk = suffering("P2-11").start()
    assert desk.legal() == {"fight", "pass"}


def test_arrows_make_a_neighbour_draw_without_talents():
    desk = suffering("P3-03").line(1, "P1-03").start()  # Kyuzo could have discarded another 1
    assert desk.line_of(1) == ["P1-03", "P1-07"]
    assert desk.line_of(2) == []
    assert suffering("P4-02").start().line_of(2) == ["P1-07"]
    gone = suffering("P3-03").passed(1).start()
    assert gone.wounds(0) == 1
    assert gone.stack("raiders")[0] == "P1-07"
    alone = Desk("Kikuchiyo").raiders("P1-07", "P2-07").line(0, "P3-03").start()
    assert alone.wounds(0) == 1


def test_an_arrow_can_reach_a_kiai_and_go_beyond_it():
    desk = suffering("P3-03", "P1-07", "P2-07").line(1, "P4-03", "P4-06").start()
    assert (desk.phase, desk.position.seat) == ("kiai", 1)
    desk.play("none")
    assert desk.line_of(1) == ["P4-06", "P1-07"]
    assert (desk.phase, desk.position.seat) == ("action", 0)
    beyond = suffering("P3-03", "P2-07", "P1-07").line(1, "P4-03", "P4-06").start()
    assert beyond.r["barricades"] == 4
    assert beyond.r["total"][1] == 10


def test_bosses_must_pass():
    desk = suffering("B6-02").start()
    assert desk.r["passed"] == 1
    assert desk.position.seat == 1


def test_bosses_recycle():
    desk = suffering("B6-04").discards("P4-09").start()
    assert desk.phase == "penalty_order"
    assert desk.legal() == {"first.no_defend", "first.recycle"}
    desk.play("first.recycle")
    assert sorted(desk.stack("raiders")) == sorted(["P1-07", "P2-07", "P3-06", "P4-06", "P4-09"])
    assert desk.wounds(0) == 0
    assert desk.r["no_defend"] == 1
    empty = suffering("B6-04").start().play("first.no_defend")
    assert empty.wounds(0) == 1


def test_bosses_no_talent():
    desk = suffering("B6-05").start().play("first.no_talent")
    assert desk.wounds(0) == 1
    desk.play("fight", "defend")
    assert desk.position.seat == 1  # no second fight
    lent = suffering("B6-05").lend("Gorobei", 0).start()
    lent.play("first.no_talent", "suffer")
    assert lent.phase == "action"
    assert lent.wounds(0) == 1
    other = suffering("B6-05").lend("Gorobei", 0).start().play("first.wound")
    assert other.phase == "penalty"
    assert other.play("ignore").phase == "penalty"


def test_bosses_discard_a_defender():
    desk = suffering("B6-07").left(0, "P1-01", "P3-04").start()
    assert desk.phase == "defender"
    assert desk.legal() == {"left.hat", "left.doll"}
    desk.play("left.hat")
    assert desk.left_of(0) == {"P3-04"}
    assert "P1-01" in desk.discarded()
    assert suffering("B6-07").start().wounds(0) == 1


def test_two_equal_icons_apply_twice_and_end_with_the_round():
    assert suffering("B6-03").start().r["barricades"] == 3
    assert suffering("B6-01").start().stack("intruders") == ["P2-07", "P1-07"]
    desk = suffering("B6-01", "P1-07").passed(1, 2)
    desk.r["left"][:] = 0
    assert desk.start().r["round"] == 2
    assert desk.wounds(0) == 0


def test_both_icons_are_those_of_the_card_that_was_last():
    desk = Desk("Kikuchiyo", "Kyuzo").raiders("P1-07", "P2-07").line(0, "P4-03", "P3-02", "B6-06").board(0, 1)
    desk.start().play("first.wound")  # the board turns onto its Kiai of 13: the first card goes
    assert desk.phase == "kiai"
    desk.play("kiai", "none")  # there is no other line: the boss goes
    assert desk.line_of(0) == ["P3-02"]
    assert desk.r["no_support"] == 1


def test_passed_samurai_suffer_nothing():
    desk = suffering("P3-13").passed(0).start(1)
    desk.play("pass")
    assert desk.position.seat == 2
    assert desk.wounds(0) == 0


# ---------------------------------------------------------------- wounds


def test_four_wounds():
    desk = suffering("P3-13")
    for wounds in (1, 2, 3):
        assert desk.start().wounds(0) == wounds
        assert desk.result == "running"
    assert desk.start().result == "samurai_died"
    assert desk.position.over
    assert desk.position.returns().tolist() == [0.0] * 3
    assert not desk.position.legal_mask().any()


def test_a_turned_board_need_not_pass_and_can_reach_its_kiai():
    desk = Desk("Kikuchiyo", "Kyuzo").raiders("P1-07", "P2-07").line(0, "P4-03", "P4-06", "P3-13").board(0, 1).start()
    assert desk.r["animal"][0] == 1
    assert desk.phase == "action"
    assert "fight" in desk.legal()
    exact = Desk("Kikuchiyo", "Kyuzo").raiders("P1-07", "P2-07").line(0, "P4-03", "P2-02", "P4-06", "P3-13").board(0, 1)
    assert exact.start().phase == "kiai"
    boss = suffering("B6-02").board(0, 2).start()
    assert boss.r["passed"] == 1  # the icon stays


# ---------------------------------------------------------------- talents


def passing(first: str, card: str, *partners: str) -> Desk:
    return Desk(first, *(partners or ("Gorobei", "Kanbei"))).raiders(card, "P1-13", "P2-13").start().play("fight")


def test_heihachi_and_daisuke_pass_cards_on():
    desk = passing("Heihachi", "P4-06")
    assert desk.legal() == {"attack", "defend", "Gorobei", "Kanbei"}
    desk.play("Kanbei")
    assert desk.position.seat == 2
    assert desk.legal() == {"attack", "defend"}
    desk.play("defend")
    assert desk.left_of(2) == {"P4-06"}
    assert desk.position.seat == 1
    assert passing("Heihachi", "P3-06").legal() == {"attack", "defend"}
    assert passing("Daisuke", "P3-06").legal() == {"attack", "defend", "Gorobei", "Kanbei"}
    assert passing("Daisuke", "P4-06").legal() == {"attack", "defend"}


def test_a_card_goes_to_the_next_seat_in_the_round_or_nowhere():
    desk = Desk("Heihachi", "Gorobei", "Kanbei", "Kyuzo").raiders("P4-06", "P1-13", "P2-13").passed(1).start()
    assert desk.play("fight").legal() == {"attack", "defend", "Kyuzo"}


def test_passed_on_by_talents_that_add_up_but_never_back():
    desk = Desk("Gorobei", "Heihachi", "Kanbei").raiders("P4-06", "P1-13", "P2-13").lend("Heihachi", 0).start()
    desk.play("fight", "Heihachi")
    assert desk.legal() == {"attack", "defend", "Kanbei"}  # out of turn, on to the other neighbour, not back
    desk.play("Kanbei", "attack")
    assert desk.line_of(2) == ["P4-06"]


def test_a_passed_on_card_may_use_the_receivers_talent():
    desk = passing("Heihachi", "P2-07", "Kyuzo", "Kanbei")
    desk.line(1, "P2-02").play("Kyuzo")
    assert desk.legal() == {"attack", "defend", "discard"}
    desk.play("discard")
    assert desk.discarded() == {"P2-07"}
    under = passing("Heihachi", "P2-07", "Katsushiro", "Kanbei").play("Katsushiro")
    assert under.legal() == {"attack", "defend", "replace"}


def test_a_passed_on_card_gives_no_second_fight():
    desk = passing("Heihachi", "P2-07", "Kikuchiyo", "Kanbei").play("Kikuchiyo", "attack")
    assert (desk.phase, desk.position.seat) == ("action", 1)


@pytest.mark.parametrize(
    ("who", "card", "ignorable"),
    [("Gorobei", "P4-05", 1), ("Gorobei", "P3-13", 0), ("Kanbei", "P4-05", 0), ("Kanbei", "P3-13", 1)],
)
def test_gorobei_and_kanbei_ignore_penalties(who, card, ignorable):
    desk = Desk(who, "Kyuzo").raiders("P1-07", "P2-07").line(0, card).start()
    if not ignorable:
        assert desk.wounds(0) == 1
        assert desk.phase == "action"
        return
    assert desk.phase == "penalty"
    assert desk.legal() == {"suffer", "ignore"}
    assert desk.play("ignore").wounds(0) == 0
    again = Desk(who, "Kyuzo").raiders("P1-07", "P2-07").line(0, card).start()
    assert again.play("suffer").wounds(0) == 1


def test_kikuchiyo_fights_twice_even_past_the_kiai():
    desk = Desk("Kikuchiyo", "Kyuzo").raiders("P4-13", "P3-13", "P2-13", "P1-13").line(0, "P4-03", "P3-06").start()
    desk.play("fight")
    assert desk.phase == "second_fight"
    assert desk.r["barricades"] == 3
    desk.play("fight")
    assert desk.r["barricades"] == 2
    assert desk.position.seat == 1


def test_kyuzo_discards_what_he_has_already():
    desk = Desk("Kyuzo", "Kanbei").raiders("P2-07", "P1-13", "P2-13").line(0, "P2-02", "P4-03").start().play("fight")
    assert desk.legal() == {"attack", "defend", "discard"}
    assert desk.play("discard").line_of(0) == ["P2-02", "P4-03"]
    other = Desk("Kyuzo", "Kanbei").raiders("P3-06", "P1-13", "P2-13").line(0, "P2-02", "P4-03").start().play("fight")
    assert other.legal() == {"attack", "defend"}


def test_katsushiro_puts_a_card_under_and_keeps_the_second():
    desk = Desk("Katsushiro", "Heihachi").raiders("P4-13", "P2-07", "P3-06").lend("Heihachi", 0).start().play("fight")
    assert desk.legal() == {"attack", "replace", "Heihachi"}
    desk.play("replace")
    assert desk.legal() == {"attack", "defend"}  # neither passed on nor replaced
    assert desk.stack("raiders") == ["P3-06", "P4-13"]
    assert desk.r["known"][CARD["P4-13"]] == PLACE_KNOWN
    last = Desk("Katsushiro", "Heihachi").raiders("P4-06").start().play("fight")
    assert last.legal() == {"attack", "defend"}  # nothing to draw instead


# ---------------------------------------------------------------- Kiai

KIAI_LINES = {8: ("P4-03", "P3-02"), 9: ("P4-03", "P4-06"), 10: ("P4-03", "P4-06", "P1-02")}
KIAI_LINES |= {11: (*KIAI_LINES[10], "P1-07"), 12: (*KIAI_LINES[10], "P2-02"), 13: (*KIAI_LINES[10], "P2-02", "P1-07")}


def kiai(
    who: str,
    side: int,
    *partners: str,
    difficulty: str = "normal",
    raiders: tuple[str, ...] = ("P1-12", "P2-12", "P3-12"),
) -> Desk:
    """One samurai is about to reach the Kiai with the 1 that lies on top."""
    value = int(cards.KIAI[SAMURAI.index(who), side])
    desk = Desk(who, *(partners or ("Kanbei", "Gorobei")), difficulty=difficulty)
    return desk.raiders("P1-13", *raiders).line(0, *KIAI_LINES[value]).board(0, 2 * side)


def reach(desk: Desk) -> Desk:
    """Draw that 1 and attack with it."""
    desk.start().play("fight")
    return desk.play("attack") if desk.phase == "card" else desk


def test_heihachi_human_and_animal():
    desk = reach(kiai("Heihachi", 0).village(barricades=2)).play("kiai")
    assert desk.r["barricades"] == 3
    full = reach(kiai("Heihachi", 0))
    assert full.phase == "action"
    assert full.line_of(0) == ["P3-02", "P1-13"]
    animal = reach(kiai("Heihachi", 1).village(barricades=2).board(1, 1).board(2, 3).passed(2)).play("kiai")
    assert animal.phase == "heal"
    assert animal.legal() == {"Kanbei", "Gorobei", "none"}
    assert animal.play("Gorobei").wounds(2) == 2
    assert animal.r["barricades"] == 3
    declined = reach(kiai("Heihachi", 1).board(1, 1)).play("kiai", "none")
    assert declined.wounds(1) == 1


def test_daisuke_moves_a_card():
    desk = reach(kiai("Daisuke", 0).line(1, "P2-07", "P4-05")).play("kiai")
    assert desk.phase == "giver"
    assert desk.legal() == {"Daisuke", "Kanbei"}
    desk.play("Kanbei")
    assert desk.phase == "receiver"
    assert desk.legal() == {"Daisuke", "Gorobei"}
    desk.play("Gorobei")
    assert (desk.phase, desk.position.seat) == ("placing", 2)
    assert desk.legal() == {"attack", "defend"}
    desk.play("defend")
    assert desk.left_of(2) == {"P4-05"}
    assert desk.line_of(1) == ["P2-07"]
    assert desk.line_of(0) == ["P3-02", "P1-13"]


def test_daisuke_barricade_then_giver_then_receiver():
    desk = Desk("Daisuke", "Kanbei", "Gorobei").raiders("P1-13", "P1-12", "P2-12", "P3-12", "P2-03")
    desk.line(0, "P4-03", "P3-02").line(1, "P4-06", "P4-12", "P1-04", "P2-04").line(2, "P4-01", "P3-01")
    desk.intruders("P1-01").start()
    desk.play("fight", "attack", "kiai", "Kanbei", "Gorobei", "attack")
    # 11 - 2 = 9 and 7 + 2 = 9: both reach their Kiai, the giver first
    assert (desk.phase, desk.position.seat) == ("kiai", 1)
    desk.play("none")
    assert (desk.phase, desk.position.seat) == ("kiai", 2)
    desk.play("kiai")
    assert desk.line_of(1) == ["P4-12", "P1-04"]
    assert desk.line_of(2) == ["P3-01", "P2-04"]


def test_daisuke_animal_twice_and_not_to_somebody_passed():
    desk = reach(kiai("Daisuke", 1).line(1, "P2-08", "P4-05").line(2, "P1-03").passed(2)).play("kiai")
    assert desk.legal() == {"Daisuke", "Kanbei"}
    desk.play("Kanbei")  # the only receiver is Daisuke himself
    desk.play("attack" if "attack" in desk.legal() else "defend")
    assert desk.phase == "giver"
    assert "none" in desk.legal()
    desk.play("none")
    assert desk.line_of(1) == ["P2-08"]


def test_daisuke_moving_to_himself_looks_again_after_the_discard():
    desk = Desk("Daisuke", "Kanbei").raiders("P1-13", "P1-12", "P2-12").line(0, "P4-03", "P3-02").line(1, "P4-13")
    desk.start().play("fight", "attack", "kiai", "Kanbei")
    # 8 + 4 = 12: beyond, a barricade goes; inside his own Kiai no other begins; 12 - 4 = 8: again
    assert desk.r["barricades"] == 3
    assert desk.phase == "kiai"
    assert desk.line_of(0) == ["P3-02", "P1-13", "P4-13"]
    desk.play("none")
    assert desk.line_of(0) == ["P1-13", "P4-13"]


def test_gorobei_discards_raiders():
    desk = reach(kiai("Gorobei", 0, "Kanbei")).play("kiai")
    assert desk.stack("raiders") == ["P3-12"]
    assert {"P1-12", "P2-12"} <= desk.discarded()
    animal = reach(kiai("Gorobei", 1, "Kanbei", raiders=("P1-12", "P2-12", "P3-12", "P4-12"))).play("kiai")
    assert animal.stack("raiders") == ["P4-12"]


def test_gorobei_can_end_the_round():
    desk = kiai("Gorobei", 0, "Kanbei", raiders=("P1-12", "P2-12"))
    desk.r["left"][:] = 0
    assert reach(desk).play("kiai").r["round"] == 2
    empty = kiai("Gorobei", 0, "Kanbei", raiders=())
    empty.r["left"][:] = 0
    assert reach(empty).r["round"] == 2  # nothing to discard, not offered


def test_kanbei_discards_intruders():
    desk = reach(kiai("Kanbei", 0, "Kyuzo").intruders("P1-01", "P2-01", "P3-01")).play("kiai")
    assert desk.stack("intruders") == ["P3-01"]
    animal = reach(kiai("Kanbei", 1, "Kyuzo").intruders("P1-01", "P2-01")).play("kiai")
    assert animal.stack("intruders") == []
    assert reach(kiai("Kanbei", 0, "Kyuzo")).phase == "action"


def test_kikuchiyo_removes_last_cards():
    desk = reach(kiai("Kikuchiyo", 0).line(1, "P2-07", "P4-05")).play("kiai")
    assert desk.phase == "removal"
    assert desk.legal() == {"Kikuchiyo", "Kanbei"}
    desk.play("Kanbei")
    assert desk.line_of(1) == ["P2-07"]
    assert "P4-05" in desk.discarded()
    twice = reach(kiai("Kikuchiyo", 1).line(1, "P2-08", "P4-05").board(1, 0)).play("kiai", "Kanbei")
    assert twice.legal() == {"Kikuchiyo", "Kanbei", "none"}
    twice.play("Kanbei")
    assert twice.line_of(1) == []
    assert twice.phase == "second_fight"


def test_a_kiai_inside_a_kiai():
    desk = (
        Desk("Kikuchiyo", "Kanbei", "Gorobei").raiders("P1-13", "P1-12", "P2-12", "P3-12").intruders("P2-01", "P2-03")
    )
    desk.line(0, *KIAI_LINES[10]).line(1, "P4-01", "P4-02", "P1-04", "P3-13").start().play("fight", "kiai", "Kanbei")
    assert (desk.phase, desk.position.seat) == ("kiai", 1)
    assert desk.r["nested"] == 2
    desk.play("kiai")
    assert desk.stack("intruders") == []
    assert desk.line_of(1) == ["P4-02", "P1-04"]
    assert (desk.phase, desk.position.seat) == ("second_fight", 0)


def test_kyuzo_gives_tokens():
    desk = reach(kiai("Kyuzo", 0)).play("kiai")
    assert desk.legal() == {"token.Kyuzo", "token.Kanbei", "token.Gorobei"}
    desk.play("token.Kanbei")
    assert desk.phase == "token_to"
    assert desk.legal() == {"Kyuzo", "Gorobei"}
    desk.play("Kyuzo")
    assert desk.token_at("Kanbei") is None  # in his own turn it works at once and goes home at its end
    other = reach(kiai("Kyuzo", 0)).play("kiai", "token.Kyuzo", "Gorobei")
    assert other.token_at("Kyuzo") == "Gorobei"
    animal = reach(kiai("Kyuzo", 1).village(barricades=2)).play("kiai")
    assert "none" in animal.legal()
    assert animal.r["barricades"] == 3
    assert animal.play("none").token_at("Kyuzo") is None
    lent = reach(kiai("Kyuzo", 0).lend("Kanbei", 2).passed(1)).play("kiai")
    assert lent.legal() == {"token.Kyuzo", "token.Gorobei"}  # neither lent ones nor those of passed samurai


def test_kyuzo_alone_has_nobody_to_give_to():
    desk = Desk("Kyuzo").raiders("P1-13", "P1-12", "P2-12").line(0, *KIAI_LINES[9]).start().play("fight")
    assert desk.phase == "action"
    assert desk.line_of(0) == ["P4-06", "P1-13"]


def test_katsushiro_orders_the_raiders():
    desk = reach(kiai("Katsushiro", 0)).play("kiai")
    assert desk.phase == "top"
    assert desk.legal() == {"top1", "top2"}
    desk.play("top2")
    assert desk.stack("raiders") == ["P2-12", "P1-12", "P3-12"]
    assert [int(desk.r["known"][CARD[c]]) for c in desk.stack("raiders")] == [PLACE_KNOWN, PLACE_KNOWN, 0]
    animal = reach(kiai("Katsushiro", 1)).play("kiai")
    assert animal.legal() == {"top1", "top2", "top3"}
    animal.play("top3", "top2")
    assert animal.stack("raiders") == ["P3-12", "P2-12", "P1-12"]


def test_kiai_of_a_passed_samurai_does_not_come():
    desk = Desk("Kikuchiyo", "Kanbei").raiders("P1-07", "P2-07").line(0, "P3-13").line(1, "P4-03", "P4-06", "P4-05")
    desk.board(1, 1).passed(1).village(barricades=0, farmsteads="DD").start()
    assert desk.phase == "action"


# ---------------------------------------------------------------- the village's backs


def burning(farmsteads: str, barricades: int = 0, difficulty: str = "hard") -> Desk:
    """Fire without a barricade: a farmstead goes."""
    return suffering("P3-01", difficulty=difficulty).village(barricades, farmsteads).start()


def test_backs_count_only_at_the_hard_levels():
    assert burning("AA", difficulty="normal").families() == 3
    assert burning("AA").families() == 2
    assert burning("AA", difficulty="heroic").families() == 2


def test_every_back():
    assert burning("DDD").r["wounded"][:3].sum() == 1
    assert burning("CC").result == "farmsteads_lost"  # no barricade: the other one goes as well
    chain = burning("BBB")
    assert chain.result == "farmsteads_lost"
    assert chain.farmsteads() == 0


def test_back_c_takes_a_barricade_if_one_is_left():
    desk = Desk("Kikuchiyo", "Kyuzo", "Daisuke", difficulty="hard").raiders("P1-13", "P2-13")
    desk.village(2, "CCC").passed(1, 2)
    for seat in range(3):
        desk.left(seat, ("P1-01", "P2-01", "P3-01")[seat], ("P1-05", "P2-05", "P3-04")[seat])
    desk.left(1, "P1-09").left(2, "P2-09").start().play("pass")  # one farm is missing; no flames among the raiders
    assert desk.r["round"] == 2
    assert desk.farmsteads() == 2
    assert desk.r["barricades"] == 2


def test_the_last_family_is_lost_at_once():
    desk = suffering("P3-01", difficulty="hard").village(0, "AA", ("heal",)).start()
    assert desk.result == "families_lost"
    assert desk.position.over


def test_a_random_wound_can_kill_and_hit_a_passed_samurai():
    desk = suffering("P3-01", difficulty="hard").village(0, "DD").passed(1, 2)
    for seat in range(3):
        desk.board(seat, 3)
    assert desk.start().result == "samurai_died"


# ---------------------------------------------------------------- the end of a round


def last_card(*samurai: str, card: str = "P1-13", difficulty: str = "normal") -> Desk:
    """One raider is left; whoever draws it ends the round."""
    return Desk(*samurai, difficulty=difficulty).raiders(card)


def test_the_last_raider_ends_the_round_after_its_own_effects():
    desk = last_card("Kanbei", "Kikuchiyo").line(0, "P4-03", "P4-06").intruders("P1-01", "P1-05", "P1-09")
    desk.left(0, "P2-01", "P2-05", "P2-09").left(1, "P3-01", "P3-05", "P3-09")
    desk.start().play("fight")
    assert desk.phase == "kiai"
    desk.play("kiai")
    assert desk.r["round"] == 2
    assert desk.r["active"] == 1


def test_no_second_fight_after_the_last_raider():
    desk = last_card("Kikuchiyo", "Kanbei").left(0, "P2-01", "P2-05", "P2-09").left(1, "P3-01", "P3-05", "P3-09")
    assert desk.start().play("fight").r["round"] == 2


def test_missing_symbols():
    desk = (
        last_card("Kanbei", "Kikuchiyo", card="P1-06")
        .left(1, "P3-01", "P3-05", "P3-09")
        .start()
        .play("fight", "attack")
    )
    assert desk.r["round"] == 2
    assert desk.wounds(0) in (0, 1)
    assert desk.farmsteads() == 5
    assert desk.families() == 2
    heroic = last_card("Kanbei", "Kikuchiyo", card="P1-06", difficulty="heroic").village(farmsteads="CCCC")
    heroic.left(1, "P3-01", "P3-05", "P3-09").start().play("fight", "attack")
    assert heroic.wounds(0) == 1
    assert heroic.families() == 2


def test_family_bonuses():
    desk = last_card("Kanbei", "Kikuchiyo").left(0, "P2-01", "P2-05", "P2-09").left(1, "P3-01", "P3-05", "P3-09")
    desk.village(barricades=2).board(1, 3).intruders("P1-05").start().play("fight")
    assert desk.r["barricades"] == 3
    assert desk.wounds(1) == 2
    heroic = last_card("Kanbei", "Kikuchiyo", difficulty="heroic").left(0, "P2-01", "P2-05", "P2-09")
    heroic.left(1, "P3-01", "P3-05", "P3-09").village(barricades=2).board(1, 3).intruders("P1-05").start().play("fight")
    assert heroic.r["barricades"] == 1
    assert heroic.wounds(1) == 3


def test_intruders_with_flames():
    desk = last_card("Kanbei", "Kikuchiyo").left(0, "P2-01", "P2-05", "P2-09").left(1, "P3-01", "P3-05", "P3-09")
    desk.village(barricades=1, families=("heal",)).intruders("P1-05", "P1-08", "P1-06", "P1-09").start().play("fight")
    assert desk.r["barricades"] == 0
    assert desk.farmsteads() == 4


def test_wounds_and_sides_stay_cards_are_collected():
    desk = last_card("Kanbei", "Kikuchiyo").left(0, "P2-01", "P2-05", "P2-09").left(1, "P3-01", "P3-05", "P3-09")
    desk.line(0, "P4-03").discards("P4-06").board(0, 2).board(1, 3).village(families=("barricade",)).lend("Kanbei", 1)
    desk.start().play("fight")
    assert [desk.wounds(0), desk.wounds(1)] == [2, 3]
    assert not desk.r["total"].any()
    assert (desk.r["left"] == -1).all()
    assert desk.r["raiders_left"] == 9 + 2
    assert desk.token_at("Kanbei") == "Kikuchiyo"
    lieutenants = [card for card in desk.stack("raiders") if card.startswith("L")]
    assert len(lieutenants) == 2
    assert all(desk.r["known"][CARD[card]] == UNSEEN for card in lieutenants)


def test_a_wound_at_the_end_of_a_round_can_reach_a_kiai():
    desk = last_card("Kanbei", "Kikuchiyo").line(1, "P4-03", "P4-06", "P3-06", "P2-07").board(1, 1)
    desk.left(0, "P2-01", "P2-05", "P2-09").left(1, "P3-05", "P3-09").start().play("fight")
    assert (desk.phase, desk.position.seat, desk.stage) == ("kiai", 1, "hats")
    out = last_card("Kanbei", "Kikuchiyo").line(1, "P4-03", "P4-06", "P3-06", "P2-07").board(1, 1).passed(1)
    out.left(0, "P2-01", "P2-05", "P2-09").left(1, "P3-05", "P3-09").start().play("fight")
    assert out.r["round"] == 2


def test_daisuke_at_the_end_of_a_round_can_still_defend():
    desk = last_card("Kanbei", "Daisuke", card="P1-11").left(0, "P2-01", "P2-05", "P2-09").left(1, "P3-05")
    desk.line(1, "P4-03", "P4-06", "P3-04").board(1, 1).start().play("fight")
    assert desk.phase == "kiai"
    assert desk.stage == "hats"
    desk.play("kiai", "Kanbei", "defend", "none")
    assert desk.r["round"] == 2
    assert desk.farmsteads() == 6


def test_victory_score_and_grade():
    desk = a_round_before_its_end(3, "hard", 3)
    desk.play("pass")
    assert desk.result == "won"
    assert desk.position.over
    assert desk.position.returns().tolist() == [1.0, 1.0, 1.0]
    reported = GAME.describe_result(desk.position.state)
    assert reported == {"result": "won", "round": 3, "score": 10, "grade": "10++"}
    assert "\nVictory: 10 of 10 points at hard, score 10++\n" in GAME.text(desk.r)
    wounded = a_round_before_its_end(3, "hard", 3)
    wounded.board(0, 3).board(1, 1).village(farmsteads="DD", families=("intruder",)).play("pass")
    assert GAME.describe_result(wounded.position.state)["grade"] == "3++"
    lost = suffering("P3-13").board(0, 3).start()
    assert GAME.describe_result(lost.position.state) == {"result": "samurai_died", "round": 1, "score": 0, "grade": ""}


# ---------------------------------------------------------------- two players, solo


def test_open_tokens_serve_for_the_round_and_once_a_game():
    desk = (
        Desk("Kikuchiyo", "Kyuzo")
        .raiders("P2-07", "P3-06", "P1-13", "P2-13")
        .line(0, "P4-05")
        .open("Gorobei", "Heihachi")
    )
    desk.start()
    assert desk.phase == "open_token"
    assert desk.legal() == {"token.Gorobei", "token.Heihachi", "none"}
    desk.play("token.Gorobei")
    assert desk.phase == "open_token"
    assert desk.legal() == {"token.Heihachi", "none"}
    desk.play("token.Heihachi")
    assert desk.phase == "penalty"  # before step A, so it helps already
    desk.play("ignore", "fight")
    assert desk.legal() == {"attack", "defend", "Kyuzo"}
    desk.play("attack", "none", "pass")
    assert desk.position.seat == 0
    assert desk.r["open_tokens"] == 0
    assert desk.r["granted"][0] == sum(1 << SAMURAI.index(name) for name in ("Gorobei", "Heihachi"))


def test_open_tokens_go_with_the_round():
    desk = last_card("Kanbei", "Kikuchiyo").left(0, "P2-01", "P2-05", "P2-09").left(1, "P3-01", "P3-05", "P3-09")
    desk.open("Kyuzo", "Gorobei").start().play("token.Kyuzo", "none", "fight")
    assert desk.r["round"] == 2
    assert not desk.r["granted"].any()
    assert desk.phase == "open_token"
    assert desk.legal() == {"token.Gorobei", "none"}


def test_two_player_rules_for_more_players():
    assert bin(int(Position(GAME.variant(4, two_player_rules="on"), 0).state["open_tokens"])).count("1") == 3
    with pytest.raises(ValueError, match="absent samurai"):
        GAME.variant(7, two_player_rules="on")


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("players", "options", "message"),
    [
        (8, {}, "is for 1, 2, 3, 4, 5, 6, 7 players"),
        (0, {}, "is for 1, 2"),
        (2, {"samurai": ("Kyuzo",)}, "names 1 samurai, there are 2 players"),
        (2, {"samurai": ("Kyuzo", "Kyuzo")}, "Kyuzo twice"),
        (2, {"samurai": ("Kyuzo", "Godzilla")}, "'Godzilla'; the samurai are Heihachi"),
        (2, {"samurai": "Kyuzo"}, "'random' or a sequence"),
        (2, {"samurai": 5}, "'random' or a sequence"),
        (2, {"difficulty": "silly"}, "difficulty of Samurai Spirit must be one of"),
        (2, {"first": 2}, "a seat, 0 to 1"),
        (2, {"first": True}, "a seat, 0 to 1"),
        (2, {"colour": "red"}, "no option 'colour'"),
    ],
)
def test_impossible_variants(players, options, message):
    with pytest.raises(ValueError, match=message):
        GAME.variant(players, **options)


def test_spec_round_trip():
    for options in ({}, {"samurai": ["Kyuzo", "Heihachi", "Daisuke"], "first": 2}, {"two_player_rules": "on"}):
        variant = GAME.variant(3, difficulty="heroic", **options)
        assert parse_variant(variant.spec) == variant
    with pytest.raises(ValueError, match="'Nobody'"):
        parse_variant("samurai_spirit players=2 samurai=Nobody,Kyuzo")
    with pytest.raises(ValueError, match="number of a seat"):
        parse_variant("samurai_spirit players=2 first=x")


def test_saved_games_belong_to_their_variant():
    position = Position(GAME.variant(3, samurai=("Kyuzo", "Kanbei", "Heihachi")), 4)
    assert Position.restore(position.save()).hash() == position.hash()
    with pytest.raises(ValueError, match="chosen"):
        GAME.variant(3).check(position.state)
    with pytest.raises(ValueError, match="players"):
        GAME.variant(4).check(Position(GAME.variant(3), 4).state)


def test_illegal_actions_change_nothing():
    position = Position(GAME.variant(3), 1)
    before = position.hash()
    for action in set(range(-1, 50)) - set(position.legal_actions()):
        with pytest.raises(IllegalActionError):
            position.step(action)
    assert position.hash() == before


# ---------------------------------------------------------------- properties

VARIANTS = [GAME.variant(n, difficulty=level) for n in range(1, 8) for level in LEVELS]


def some_positions(variant, seed: int, games: int = 3, random_share: float = 0.3):
    """Every position of a few games that are played half sensibly."""
    rng = np.random.default_rng(seed)
    scores, states = np.empty(variant.num_actions), None
    for game in range(games):
        position = Position(variant, seed * 1000 + game)
        while not position.over:
            yield position
            batch_kernels(GAME).write_policy(position.states, 0, scores)
            legal = position.legal_actions()
            states = rng.choice(legal) if rng.random() < random_share else max(legal, key=lambda a: scores[a])
            position.step(int(states))
        yield position


@pytest.mark.parametrize("variant", VARIANTS[::3], ids=lambda v: f"{v.num_players}-{v.options['difficulty']}")
def test_heuristics_ignore_hidden_information_and_change_nothing(variant):
    rng, c = np.array([5], np.uint64), GAME.kernels
    scores, again = np.empty(variant.num_actions), np.empty(variant.num_actions)
    chance, other = np.empty(variant.num_players), np.empty(variant.num_players)
    for position in some_positions(variant, 17, games=1):
        if position.over:
            break
        before = position.hash()
        c.heuristic_policy(position.states[0], scores)
        c.heuristic_value(position.states[0], chance)
        assert position.hash() == before
        assert (scores > LOWEST).nonzero()[0].tolist() == sorted(position.legal_actions())
        assert 0.0 < chance[0] < 1.0
        assert (chance == chance[0]).all()
        dealt = position.states.copy()
        c.determinize(dealt[0], 0, rng)
        c.heuristic_policy(dealt[0], again)
        c.heuristic_value(dealt[0], other)
        assert again.tolist() == scores.tolist()
        assert other.tolist() == chance.tolist()


@pytest.mark.parametrize(
    ("who", "card", "order"),
    [
        ("Kanbei", "P1-01", ()),
        ("Gorobei", "P4-05", ()),
        ("Kanbei", "P3-03", ()),
        ("Gorobei", "P4-02", ()),
        ("Gorobei", "B6-04", ("first.recycle",)),
        ("Gorobei", "B6-07", ()),
    ],
    ids=["wound-1", "wound-4", "left neighbour", "right neighbour", "recycle", "discard defender"],
)
def test_the_heuristic_policy_ignores_what_would_kill(who, card, order):
    """Both neighbours have passed, no card is discarded or on the left: what cannot be applied wounds, too."""
    desk = Desk(who, "Kyuzo", "Kikuchiyo").raiders("P1-02", "P1-07").passed(1, 2).line(0, card).board(0, wounds=3)
    desk.start().play(*order)
    scores = np.empty(len(desk.names))
    GAME.kernels.heuristic_policy(desk.r, scores)
    assert desk.legal() == {"suffer", "ignore"}
    assert scores[desk.id("ignore")] > scores[desk.id("suffer")] + 5
    assert desk.play("suffer").result == "samurai_died"


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda v: f"{v.num_players}-{v.options['difficulty']}")
def test_no_observation_depends_on_what_is_hidden(variant):
    rng = np.array([99], np.uint64)
    for position in some_positions(variant, 1):
        variant.check(position.state)
        for seat in {0, position.seat}:
            other = position.determinized(seat, rng)
            for encoding in GAME.encodings:
                assert np.array_equal(other.observe(seat, encoding), position.observe(seat, encoding))
            assert np.array_equal(other.legal_mask(), position.legal_mask())
            variant.check(other.state)
            r = other.state
            cards_of_stacks = [*r["raiders"][: r["raiders_left"]], *r["intruders"][: r["intruders_left"]]]
            assert len(set(cards_of_stacks)) == len(cards_of_stacks)


def test_determinize_reaches_everything_possible_and_nothing_else():
    """A small stack after a recycle: an intruder from before it cannot be the recycled card."""
    desk = Desk("Kikuchiyo", "Kyuzo").raiders("P1-07", "P2-07", "P3-06").intruders("P4-13").discards("P1-05")
    desk.r["round"] = 3
    desk.r["where"][59:] = DISCARD_PILE  # so that no boss can be anywhere
    desk.line(0, "B6-04").r["where"][52:59] = BOX
    desk.start().play("first.recycle")
    intruder, raiders = {}, {}
    rng = np.array([5], np.uint64)
    for _ in range(4000):
        other = desk.position.determinized(0, rng).state
        intruder[CARD_NAMES[other["intruders"][0]]] = intruder.get(CARD_NAMES[other["intruders"][0]], 0) + 1
        top = CARD_NAMES[other["raiders"][other["raiders_left"] - 1]]
        raiders[top] = raiders.get(top, 0) + 1
    assert set(intruder) == {"P1-07", "P2-07", "P3-06", "P4-13"}  # not P1-05
    assert all(850 < count < 1150 for count in intruder.values())
    assert set(raiders) == set(intruder) | {"P1-05"}
    assert 850 < raiders["P1-05"] < 1150


def test_determinize_keeps_what_has_been_seen():
    desk = (
        Desk("Katsushiro", "Kanbei")
        .raiders("P4-13", "P2-07", "P3-06", "P1-07")
        .start()
        .play("fight", "replace", "attack")
    )
    rng = np.array([7], np.uint64)
    for _ in range(50):
        other = desk.position.determinized(1, rng).state
        assert CARD_NAMES[other["raiders"][0]] == "P4-13"


def test_unseen_plunderers_may_be_in_the_box():
    position, rng = Position(GAME.variant(2), 5), np.array([3], np.uint64)
    others = [set(np.flatnonzero(position.determinized(0, rng).state["where"] == RAIDERS)) for _ in range(200)]
    assert all(len(other) == 14 for other in others)
    assert set().union(*others) == set(range(52))
    assert all(sum(cards.SYMBOL[card] == cards.DOLL for card in other) >= 2 for other in others)


def test_the_observation_turns_with_the_observer():
    position = Position(GAME.variant(4), 8)
    encoding = position.variant.encoding("flat")
    for seat in range(4):
        seen = position.observe(seat)
        assert encoding.view(seen, "samurai").argmax(1).tolist() == [
            int(position.state["who"][(seat + i) % 4]) for i in range(4)
        ]
        assert encoding.view(seen, "decides").argmax() == (position.seat - seat) % 4


@pytest.mark.parametrize("n", [1, 2, 5, 7])
def test_observations_stay_in_their_limits(n):
    variant = GAME.variant(n, difficulty="hard")
    limits = {name: variant.encoding(name).limits() for name in GAME.encodings}
    for position in some_positions(variant, 4, 4, 0.6):
        for name, (low, high) in limits.items():
            seen = position.observe(position.seat, name)
            assert (low <= seen).all()
            assert (seen <= high).all()


def test_tokens_show_every_card():
    variant = GAME.variant(3)
    encoding = variant.encoding("tokens")
    for position in some_positions(variant, 6, 2):
        seen = position.observe(1, "tokens")
        zones = encoding.view(seen, "zone")[:66]
        assert (zones.sum(1) == 1).all()
        assert encoding.view(seen, "card_value")[:66, 0].tolist() == cards.VALUE.tolist()
        r = position.state
        held = encoding.view(seen, "zone")[:66, 8].astype(bool)
        owners = encoding.view(seen, "owner")[:66].argmax(1)
        for card in np.flatnonzero(held):
            assert r["where"][card] == 12 + (1 + owners[card]) % 3


def test_moves_as_text_round_trip():
    for position in some_positions(GAME.variant(5), 2, 3, 0.5):
        for action in position.legal_actions():
            text = GAME.format_move(position.state, [action])
            assert GAME.parse_move(position.state, text) == [action]
    with pytest.raises(ValueError, match="no action and no samurai"):
        GAME.parse_move(Position(GAME.variant(2), 0).state, "dance")


def test_half_made_moves():
    desk = three("P3-13").start().play("support")
    assert desk.position.mid_move
    assert desk.phase == "support_to"
    assert not desk.play("Kyuzo").position.mid_move
    kyuzo = reach(kiai("Kyuzo", 0))
    assert not kyuzo.position.mid_move
    assert kyuzo.play("kiai").position.mid_move


def test_same_seed_same_game_and_a_used_record_is_as_good_as_new():
    variant = GAME.variant(4, difficulty="easy")
    a, b = Position(variant, 11), Position(variant, 12)
    for _ in range(40):
        if not b.over:
            b.step(b.legal_actions()[0])
    b.reset(11)
    assert a.hash() == b.hash()
    assert Position(variant, int(next_seed(11))).hash() != a.hash()


def test_random_play_never_wins_but_alone():
    """Shares of victories that an independent implementation found as well."""
    for n, level, low, high in (
        (1, "easy", 0.28, 0.36),
        (1, "normal", 0.06, 0.12),
        (3, "easy", 0.0, 0.002),
        (6, "normal", 0.0, 0.0),
    ):
        variant = GAME.variant(n, difficulty=level)
        won = 0
        for seed in range(600):
            position = Position(variant, seed)
            rng = np.array([seed], np.uint64)
            while not position.over:
                mask = position.legal_actions()
                rng[0] = next_seed(rng[0])
                position.step(mask[int(rng[0]) % len(mask)])
            won += position.returns()[0] == 1.0
        assert low <= won / 600 <= high, (n, level, won)


def test_a_game_is_cut_off_and_counts_as_lost():
    position = Position(GAME.variant(2), 0)
    position.states["steps"] = MAX_STEPS[2] - 1
    position.step(position.legal_actions()[0])
    assert position.over
    assert RESULTS[position.state["result"]] == "truncated"
    assert not position.returns().any()
    assert position.variant.max_steps == MAX_STEPS[2]


def test_action_table_and_names():
    for n in range(1, 8):
        assert len(names(n)) == PLAYER0 + n == GAME.variant(n).num_actions <= 64
        assert len(set(names(n))) == len(names(n))
    covered = [i for first, last, *_ in GROUPS for i in range(first, last + 1)]
    assert covered == list(range(PLAYER0 + MOST))
    assert len(PHASES) == len(set(PHASES))
    assert find_game("samurai_spirit") is GAME


# ---------------------------------------------------------------- text


def test_every_samurai_and_penalty_is_explained():
    assert tuple(TALENTS) == SAMURAI
    assert tuple(PENALTIES) == cards.ICONS


def test_the_text_explains_what_is_in_play():
    desk = Desk("Kyuzo", "Daisuke").line(0, "P3-01").board(1, 2).open("Gorobei", "Katsushiro")
    shown = GAME.text(desk.r)
    assert "Kyuzo        may discard a card whose value is in the own line\n" in shown
    assert f"Kiai {cards.KIAI[cards.KYUZO, 0]}: {TALENTS['Kyuzo'][1]}\n" in shown
    assert f"Kiai {cards.KIAI[cards.DAISUKE, 1]}: {TALENTS['Daisuke'][2]}\n" in shown
    tokens = [name for name in SAMURAI if f"{name:12} token: {TALENTS[name][0]}\n" in shown]
    assert tokens == ["Gorobei", "Katsushiro"]
    explained = [icon for icon, meaning in PENALTIES.items() if f"{icon:12} {meaning}\n" in shown]
    assert explained == [cards.ICONS[icon] for icon in cards.CARD_ICONS[CARD["P3-01"]] if icon >= 0] == ["fire"]


# ---------------------------------------------------------------- pictures


def visible(state, number):
    """Whether a card lies where the picture shows it: in hand, on a left side, or among the last of a line."""
    where = int(state["where"][number])
    if where < LINE0:
        return where == IN_HAND or where >= LEFT0
    line, card = [], int(state["last"][where - LINE0])
    while card >= 0:
        line.append(card)
        card = int(state["beneath"][card])
    return number in line[:MOST_SHOWN]


@pytest.mark.parametrize("n", [1, 3, 7])
def test_a_picture_tells_the_last_move_and_marks_its_card(n):
    rng = np.random.default_rng(n)
    reported, rings = set(), {True: 0, False: 0}
    for seed in range(10):
        position, last = Position(GAME.variant(n, difficulty="easy"), seed), []
        while not position.over:
            action = int(rng.choice(position.legal_actions()))
            last = [*last, action] if position.mid_move else [action]
            seat = position.seat
            position.step(action)
            state = position.state
            picture = GAME.scene(state, None, last)
            mover = SAMURAI[state["who"][seat]]
            line = next(shape.text for shape in picture.shapes if isinstance(shape, Text) and shape.text[:5] == "Last:")
            assert line.startswith(f"Last: {mover}: ")
            reported.add(line.split(": ")[2].split()[0])
            # One ring more than the legend's: around the card that was in hand, as long as it can be seen.
            ringed = sum(getattr(shape, "edge", "") == MARK for shape in picture.shapes) == 2
            assert ringed == (state["moved"] >= 0 and visible(state, state["moved"]))
            rings[ringed] += 1
            assert all(0 <= x <= picture.width and 0 <= y <= picture.height for x, y in corners(picture))
    assert min(rings.values()) > 20
    assert reported >= {"fight", "pass", "attack", "defend"}
    assert not [s for s in GAME.scene(state).shapes if isinstance(s, Text) and s.text.startswith("Last")]


def corners(picture):
    for shape in picture.shapes:
        if isinstance(shape, Polygon):
            yield from shape.points
        elif isinstance(shape, Text):
            yield shape.x, shape.y
