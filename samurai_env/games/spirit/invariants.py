"""Consistency checks between the fields of a state, which find forged states."""

from collections.abc import Iterator

import numpy as np

from samurai_env.games.spirit.rules.cards import (
    ANIMAL,
    CARD_ICONS,
    CARDS,
    DAISUKE,
    DEPTH,
    DISCARD_DEFENDER,
    DOLL,
    EXTRA_BARRICADES,
    EXTRA_OFFICERS,
    FARMSTEADS,
    FIRST,
    HEIHACHI,
    KATSUSHIRO,
    KIKUCHIYO,
    KYUZO,
    MOST,
    MUST_PASS,
    NO_DEFEND,
    NO_SUPPORT,
    NO_TALENT,
    NOTHING,
    PLUNDERERS_EACH,
    SAMURAI,
    SYMBOL,
    SYMBOLS,
    VALUE,
)
from samurai_env.games.spirit.rules.questions import check_all
from samurai_env.games.spirit.rules.setup import ALWAYS, FEW, TWO_DOLLS
from samurai_env.games.spirit.state import (
    ACTION,
    BOX,
    CARD,
    CHOICE,
    DEFENDER,
    DOLLS_ASKED,
    DRAWN,
    FIRST_USE,
    FOUGHT,
    GIVER,
    GIVER_LOOKS,
    HATS,
    HEAL,
    HEALING,
    ICON_BY_ICON,
    IN_HAND,
    INTRUDER_STACK,
    INTRUDERS,
    LEFT0,
    LENDING,
    LINE0,
    MOVING,
    OFFER,
    OFFERED,
    OPEN_TOKEN,
    ORDERING,
    PENALTY,
    PENALTY_ORDER,
    PLACE_KNOWN,
    PLACING,
    RAIDERS,
    RECEIVER,
    RECEIVER_LOOKS,
    REMOVAL,
    RUNNING,
    SECOND_FIGHT,
    SECOND_USE,
    SUPPORT_TO,
    TOKEN,
    TOKEN_TO,
    TOKENS,
    TOP,
    UNSEEN,
)

# The stage of the turn in which a phase outside of a Kiai is asked.
STAGE_OF = {OPEN_TOKEN: TOKENS, ACTION: CHOICE, SUPPORT_TO: CHOICE, CARD: DRAWN, SECOND_FIGHT: FOUGHT}
STAGE_OF |= dict.fromkeys((PENALTY_ORDER, PENALTY, DEFENDER), ICON_BY_ICON)
KIAI_IN = (ICON_BY_ICON, FOUGHT, *range(HATS, INTRUDERS + 1))  # stages in which a Kiai may begin
# The stages of the innermost Kiai in which a phase is asked, and whose Kiai it is.
KIAI_STAGE_OF: dict[int, tuple[int, ...]] = {OFFER: (OFFERED,), HEAL: (HEALING,), PLACING: (MOVING,), TOP: (ORDERING,)}
KIAI_STAGE_OF |= dict.fromkeys((GIVER, RECEIVER, REMOVAL), (FIRST_USE, SECOND_USE))
KIAI_STAGE_OF |= dict.fromkeys((TOKEN, TOKEN_TO), (LENDING,))
KIAI_BY = {HEAL: HEIHACHI, REMOVAL: KIKUCHIYO, TOP: KATSUSHIRO}
KIAI_BY |= dict.fromkeys((GIVER, RECEIVER, PLACING), DAISUKE) | dict.fromkeys((TOKEN, TOKEN_TO), KYUZO)
PENALTY_FLAGS = {NO_DEFEND: "no_defend", NO_SUPPORT: "no_support", NO_TALENT: "no_talent", MUST_PASS: "must_pass"}

NUMBERS = np.arange(CARDS)


def broken_invariants(states: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Names of fields, and where states (shape (count,)) say otherwise there than in others."""
    where, seats = states["where"][:, None], np.arange(MOST)[:, None]
    who = states["who"]
    yield "who", (who < 0) != (seats[:, 0] >= states["players"][:, None])
    sits = who[:, None] == np.arange(len(SAMURAI))[:, None]
    yield "seat_of", states["seat_of"] != np.where(sits.any(2), sits.argmax(2), -1)

    for name, place in (("raiders", RAIDERS), ("intruders", INTRUDER_STACK)):
        used = states[f"{name}_left"][:, None] > NUMBERS
        times = (used[..., None] & (states[name][..., None] == NUMBERS)).sum(1)
        yield name, times != (states["where"] == place)
    yield "card", (states["card"][:, None] == NUMBERS) != (states["where"] == IN_HAND)
    for symbol in range(len(SYMBOLS)):
        lies = (where == LEFT0 + seats) & (symbol == SYMBOL)
        yield "left", (states["left"][:, :, symbol, None] == NUMBERS) != lies

    line = where == LINE0 + seats
    yield "total", states["total"] != (line * VALUE.astype(np.int64)).sum(2)
    # From the last card of a line each lies on the one before: all but the last have one card on them.
    beneath = (states["beneath"][:, :, None] == NUMBERS) & (states["where"][:, :, None] >= LINE0)
    yield "last", (states["last"] < 0) == line.any(2)
    last = (states["last"][..., None] == NUMBERS).sum(1)
    yield "beneath", beneath.sum(1) + last != line.any(1)
    yield "beneath", beneath.any(1) & (np.take_along_axis(states["where"], beneath.argmax(1), 1) != states["where"])

    yield "choices", (states["choices"] > 0) == states["over"]
    yield "result", (states["result"] != RUNNING) != states["over"]
    yield from _hidden(states)
    yield from _village(states)
    yield from _tokens(states)
    yield from _turn(states)
    yield from _kiai(states)
    asks, lines = np.ones((2, len(states)), np.bool_)
    check_all(states.copy(), asks, lines)
    yield "beneath", ~lines
    yield "choices", ~asks


def _hidden(states: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """As many cards of each kind are in the game as the level says, and each lies where what is known allows."""
    where, known, turn = states["where"], states["known"], states["round"].astype(np.int64)[:, None]
    box, level, players = where == BOX, states["difficulty"], states["players"].astype(np.int64)
    for i in range(3):
        joined = PLUNDERERS_EACH[level] * players if i == 0 else players + EXTRA_OFFICERS[level]
        in_game = (~box)[:, FIRST[i] : FIRST[i + 1]].sum(1)
        yield "where", in_game != joined * (turn[:, 0] > i)
    open_tokens = (players <= FEW) | (states["two_player_rules"] == ALWAYS)
    dolls = (~box & (SYMBOL == DOLL) & (FIRST[1] > NUMBERS)).sum(1)
    yield "where", open_tokens & (turn[:, 0] == 1) & (dolls < TWO_DOLLS)

    in_stack, placed = (where == RAIDERS) | (where == INTRUDER_STACK), known == PLACE_KNOWN
    yield "known", box & (known != UNSEEN)
    yield "known", ~box & (known == UNSEEN) & (~in_stack | (FIRST[turn - 1] > NUMBERS))
    yield "known", placed & ~in_stack
    yield "known", ~placed & (known > states["recycles"][:, None])
    arrived, used = states["arrived"], states["intruders_left"][:, None] > NUMBERS
    yield "arrived", used & (arrived > states["recycles"][:, None])
    yield "arrived", used[:, 1:] & (arrived[:, 1:] < arrived[:, :-1])
    of_place = np.take_along_axis(known, states["intruders"].astype(np.int64), 1)
    yield "arrived", used & (of_place != PLACE_KNOWN) & (of_place > arrived)


def _village(states: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """The village stands while the game runs, and nobody is where nobody sits."""
    players, running = states["players"].astype(np.int64), states["over"] == 0
    nobody = np.arange(MOST) >= players[:, None]
    for name in ("animal", "wounded", "borrowed", "granted", "total"):
        yield name, nobody & (states[name] != 0)
    yield "left", nobody & (states["left"] != NOTHING).any(2)
    yield "barricades", states["barricades"] > states["most_barricades"]
    yield "most_barricades", states["most_barricades"] != players + EXTRA_BARRICADES[states["difficulty"]]
    yield "farmsteads", states["farmsteads"] > FARMSTEADS
    yield "farmsteads", running & (states["farmsteads"].sum(1) == 0)
    yield "families", running & (states["families"].sum(1) == 0)


def _tokens(states: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Each support token is in one place; those of absent samurai are open under the two-player rules."""
    bits = np.arange(len(SAMURAI))
    present = states["seat_of"] >= 0
    lent, granted = (
        (states[name][:, :, None] >> bits & 1).astype(np.int64) for name in ("borrowed", "granted")
    )  # [record, seat, samurai]
    away, still_open = (states[name][:, None] >> bits & 1 for name in ("away", "open_tokens"))
    yield "borrowed", lent.sum(1) != away
    yield "borrowed", ~present & (away > 0)
    yield "borrowed", (lent > 0) & (states["who"][:, :, None] == bits)
    rules = (states["players"] <= FEW) | (states["two_player_rules"] == ALWAYS)
    yield "granted", granted.sum(1) + still_open > (rules[:, None] & ~present)


def _turn(states: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """What is decided fits the stage of the turn, and what the turn has been through."""
    running, phase, stage, nested = (states["over"] == 0), states["phase"], states["stage"], states["nested"]
    usual = np.array([STAGE_OF.get(number, NOTHING) for number in range(TOP + 1)])[phase]
    yield "phase", running & ((phase >= OFFER) != (nested > 0))
    yield "stage", running & np.where(nested > 0, ~np.isin(stage, KIAI_IN), stage != usual)
    yield "card", running & ((states["card"] >= 0) != np.isin(phase, (CARD, PLACING)))
    yield "moved", running & (states["card"] >= 0) & (states["moved"] != states["card"])
    yield "raiders_left", running & (nested == 0) & (phase != CARD) & (states["raiders_left"] == 0)
    passed, holder = states["passed"], states["holder"]
    yield "passed", running & (passed >> states["active"] & 1 > 0)
    yield "holder", running & (states["card"] >= 0) & (passed >> holder & 1 > 0)
    had = running & (phase == CARD)
    yield "had", running & (phase != CARD) & (states["had"] != 0)
    yield "had", had & ((states["had"] >> holder & 1 == 0) | (states["had"] & passed > 0))
    yield "kept", running & (phase != CARD) & (states["kept"] != 0)
    yield "fights", running & (stage < HATS) & ((states["fights"] > 0) != (stage >= DRAWN))
    asking = (stage >= HATS) & (stage <= DOLLS_ASKED)
    yield "asked", running & ((states["asked"] > 0) != asking)
    same = states["seat"] == states["mover"]
    yield "half_made", states["half_made"] != (running & same & ((phase > OFFER) | (phase == SUPPORT_TO)))

    card, icons, icon = states["penalty_card"], states["icons"], states["icon"]
    printed = np.where(card[:, None] >= 0, CARD_ICONS[card], NOTHING)
    yield "icons", (np.sort(icons, 1) != np.sort(printed, 1)).any(1) | (icons[:, 0] < 0) & (icons[:, 1] >= 0)
    yield "penalty_card", running & (stage == ICON_BY_ICON) & (card < 0)
    yield "icon", icon > (icons >= 0).sum(1)
    before = np.take_along_axis(icons, np.maximum(icon[:, None].astype(np.int64) - 1, 0), 1)[:, 0]
    yield "icon", running & (phase == DEFENDER) & ((icon == 0) | (before != DISCARD_DEFENDER))
    for number, name in PENALTY_FLAGS.items():
        yield name, (states[name] > 0) & ~(icons == number).any(1)


def _kiai(states: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """The Kiai that are going on: who, how far, and what has been chosen in them."""
    phase, nested, passed = states["phase"], states["nested"].astype(np.int64), states["passed"]
    players, running = states["players"][:, None], states["over"] == 0
    number = np.arange(MOST)
    begun, outer = running[:, None] & (number < nested[:, None]), running[:, None] & (number < nested[:, None] - 1)
    seat, stage, uses = states["kiai_seat"].astype(np.int64), states["kiai_stage"], states["kiai_uses"]
    who = np.take_along_axis(states["who"], seat, 1)
    twice = (seat[:, :, None] == seat[:, None, :]) & (number[:, None] > number) & begun[:, :, None]
    yield "kiai_seat", twice.any(2) | begun & (passed[:, None] >> seat & 1 > 0)
    yield "kiai_side", begun & (states["kiai_side"] > np.take_along_axis(states["animal"], seat, 1))
    looks = (stage == GIVER_LOOKS) | (stage == RECEIVER_LOOKS)
    again = (stage == SECOND_USE) & ((who == DAISUKE) | (who == KIKUCHIYO))
    yield "kiai_stage", outer & ~(again | looks & (who == DAISUKE))
    yield "kiai_uses", begun & ((uses > 0) != (again | looks | (stage == MOVING)))
    chosen = (who == DAISUKE) & (looks | (stage == MOVING))
    for name in ("kiai_a", "kiai_b"):
        yield name, begun & chosen & (states[name] >= players)

    rows, last = np.arange(len(states)), np.maximum(nested - 1, 0)
    inside, stage, who = running & (nested > 0), stage[rows, last], who[rows, last]
    side, a, b = (states[f"kiai_{name}"][rows, last] for name in ("side", "a", "b"))
    fits = np.zeros(len(states), np.bool_)
    for number_, stages in KIAI_STAGE_OF.items():
        fits |= (phase == number_) & np.isin(stage, stages) & (who == KIAI_BY.get(number_, who))
    yield "kiai_stage", inside & ~fits
    yield "kiai_side", inside & (phase == HEAL) & (side != ANIMAL)
    placing = inside & (phase == PLACING)
    yield "kiai_b", placing & ((b != states["holder"]) | (a == b))
    opened = np.minimum(np.array(DEPTH)[side], states["raiders_left"])
    ordering = inside & (phase == TOP)
    yield "kiai_b", ordering & (b != opened)
    seen = np.take_along_axis(states["known"], states["raiders"].astype(np.int64), 1) == PLACE_KNOWN
    top = NUMBERS - states["raiders_left"][:, None]
    yield "known", ordering[:, None] & (top < 0) & (top >= -opened[:, None]) & ~seen
