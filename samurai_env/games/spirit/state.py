"""The state of one game: every field, its meaning and its range.

All of a game is in this one flat struct (about 800 bytes). The arrays by seat have seven places whatever the number
of players, so that the rules are compiled once for all tables; `players` tells how many places are in use. Cards are
numbers into the tables of `cards`, -1 is no card; samurai, symbols and icons likewise.

What the players still have to go through is not a stack of calls but numbers of the state: `stage` is the place in
the turn or in the end of the round, and over it lie the Kiai that interrupt it, innermost last (`nested`, `kiai_*`).
"""

import numpy as np

from samurai_env.core.layout import Field, state_dtype
from samurai_env.games.spirit.actions import PLAYER0
from samurai_env.games.spirit.rules.cards import (
    BACKS,
    CARDS,
    FAMILIES,
    FARMSTEADS,
    ICONS,
    LEVELS,
    MOST,
    SAMURAI,
    SYMBOLS,
)

TWO_PLAYER_RULES = ("auto", "on")
RANDOM = -1  # as a chosen samurai

# What the seat to move decides now.
PHASES = (
    "open_token",  # two-player rules: an open support token to use, or none
    "penalty_order",  # which of two icons comes first
    "penalty",  # Gorobei, Kanbei: suffer or ignore an icon
    "defender",  # which card on the left a penalty discards
    "action",  # fight, support, pass
    "support_to",  # who gets the support token
    "card",  # the card that has been drawn or passed on: attack, defend, or a talent
    "second_fight",  # Kikuchiyo: fight again
    "kiai",  # whether to use the effect of the Kiai
    "heal",  # Kiai of Heihachi: who loses a wound token
    "giver",  # Kiai of Daisuke: whose last card
    "receiver",  # goes to whom
    "placing",  # and where that one puts it
    "removal",  # Kiai of Kikuchiyo: whose last card is discarded
    "token",  # Kiai of Kyuzo: which support token
    "token_to",  # goes to whom
    "top",  # Kiai of Katsushiro: which opened card lies next
)
(
    OPEN_TOKEN,
    PENALTY_ORDER,
    PENALTY,
    DEFENDER,
    ACTION,
    SUPPORT_TO,
    CARD,
    SECOND_FIGHT,
    OFFER,
    HEAL,
    GIVER,
    RECEIVER,
    PLACING,
    REMOVAL,
    TOKEN,
    TOKEN_TO,
    TOP,
) = range(len(PHASES))

# Where the turn of the active samurai stands, then where the end of a round stands.
STAGES = (
    "tokens",  # two-player rules, before step A
    "penalties",  # step A begins
    "icons",  # step A, icon by icon
    "choice",  # step B
    "drawn",  # a card has been drawn or passed on and lies nowhere yet
    "fought",  # that card is put away
    "turn_over",
    "hats",  # from here on: the end of a round, asked samurai by samurai (`asked`)
    "farms",
    "dolls",
    "intruders",
    "next_round",
)
TOKENS, PENALTIES, ICON_BY_ICON, CHOICE, DRAWN, FOUGHT, TURN_OVER, HATS, FARMS, DOLLS_ASKED, INTRUDERS, NEXT_ROUND = (
    range(len(STAGES))
)

# Where a Kiai stands.
KIAI_STAGES = (
    "offered",
    "first_use",
    "second_use",  # Daisuke and Kikuchiyo, animal side
    "healing",
    "moving",  # Daisuke: the card is between two samurai
    "giver_looks",  # Daisuke: whether the giver's total is now the Kiai
    "receiver_looks",
    "ordering",  # Katsushiro: `kiai_a` opened cards are back in order
    "lending",
    "over",  # the first card of the line goes, and the total is looked at again
)
OFFERED, FIRST_USE, SECOND_USE, HEALING, MOVING, GIVER_LOOKS, RECEIVER_LOOKS, ORDERING, LENDING, KIAI_OVER = range(
    len(KIAI_STAGES)
)

# Where a card is. A samurai's left side and line are LEFT0 + seat and LINE0 + seat.
BOX, RAIDERS, INTRUDER_STACK, DISCARD_PILE, IN_HAND, LEFT0 = range(6)
LINE0 = LEFT0 + MOST

# What is known of a card that nobody sees (`known`): see `determinize`.
UNSEEN, PLACE_KNOWN = -1, 20000

# How a game ended.
RESULTS = ("running", "won", "samurai_died", "farmsteads_lost", "families_lost", "truncated")
RUNNING, WON, DIED, NO_FARMSTEAD, NO_FAMILY, TRUNCATED = range(len(RESULTS))


def fields(num_players: int) -> list[Field]:
    """The fields of a state with `num_players` samurai, in storage order."""
    n = num_players
    card, seat, everybody = (-1, CARDS - 1), (0, n - 1), 2**n - 1
    lent = 2 ** len(SAMURAI) - 1
    return [
        Field("choices", "u8", (), (0, 2 ** (PLAYER0 + n) - 1), "bit set of the legal actions; 0 once over"),
        Field("known", "i2", (CARDS,), (UNSEEN, PLACE_KNOWN), "by card: what is known of it while nobody sees it"),
        Field(
            "arrived", "i2", (CARDS,), (0, PLACE_KNOWN), "by place in `intruders`: recycles before the card came there"
        ),
        Field("recycles", "i2", (), (0, PLACE_KNOWN), "how often the raiders have been shuffled in this round"),
        Field("where", "i1", (CARDS,), (0, LINE0 + MOST - 1), "by card: box, raiders, intruders, discard pile, ..."),
        Field("raiders", "i1", (CARDS,), (0, CARDS - 1), "the raider stack, top card last, `raiders_left` of them"),
        Field("intruders", "i1", (CARDS,), (0, CARDS - 1), "the intruder stack, top card last"),
        Field("beneath", "i1", (CARDS,), card, "by card in a combat line: the card laid before it"),
        Field("raiders_left", "i1", (), (0, CARDS), "cards in the raider stack"),
        Field("intruders_left", "i1", (), (0, CARDS), "cards in the intruder stack"),
        Field("players", "i1", (), (n, n), "number of samurai"),
        Field("chosen", "i1", (MOST,), (RANDOM, len(SAMURAI) - 1), "by seat: the samurai asked for, -1 random"),
        Field("who", "i1", (MOST,), (-1, len(SAMURAI) - 1), "by seat: the samurai that sits there, -1 nobody"),
        Field("seat_of", "i1", (MOST,), (-1, n - 1), "by samurai: the seat, -1 absent"),
        Field("total", "u1", (MOST,), (0, 255), "by seat: sum of the values in the combat line"),
        Field("last", "i1", (MOST,), card, "by seat: last card of the combat line"),
        Field("left", "i1", (MOST, len(SYMBOLS)), card, "by seat, symbol: the card on the left"),
        Field("animal", "u1", (MOST,), (0, 1), "by seat: the board shows the animal side"),
        Field("wounded", "u1", (MOST,), (0, 1), "by seat: a wound token lies on the board"),
        Field("passed", "u1", (), (0, everybody), "bit set of the seats that have passed"),
        Field("away", "u1", (), (0, lent), "bit set of the samurai whose support token is lent"),
        Field("borrowed", "u1", (MOST,), (0, lent), "by seat: bit set of the tokens that lie there on loan"),
        Field("granted", "u1", (MOST,), (0, lent), "by seat: bit set of the open tokens used for this round"),
        Field("open_tokens", "u1", (), (0, lent), "bit set of the open tokens not yet used (two-player rules)"),
        Field("barricades", "i1", (), (0, MOST + 3), "barricades standing"),
        Field("most_barricades", "i1", (), (0, MOST + 3), "barricades at the start"),
        Field("farmsteads", "i1", (len(BACKS),), (0, int(FARMSTEADS.max())), "farmsteads left, by back"),
        Field("families", "i1", (len(FAMILIES),), (0, 1), "families left, by bonus"),
        Field("round", "i1", (), (1, 3), "round"),
        Field("active", "i1", (), seat, "whose turn it is (end of a round: was last)"),
        Field("stage", "i1", (), (0, len(STAGES) - 1), "index into STAGES"),
        Field("phase", "i1", (), (0, len(PHASES) - 1), "index into PHASES: what is decided now"),
        Field("icons", "i1", (2,), (-1, len(ICONS) - 1), "the penalty icons of this turn's step A, in order"),
        Field("icon", "i1", (), (0, 2), "icons of them dealt with"),
        Field("penalty_card", "i1", (), card, "the card they are on, -1 none"),
        Field("no_defend", "u1", (), (0, 1), "this turn the active samurai may not defend"),
        Field("no_support", "u1", (), (0, 1), "... may not lend the token"),
        Field("no_talent", "u1", (), (0, 1), "... has no talents"),
        Field("must_pass", "u1", (), (0, 1), "... must pass"),
        Field("card", "i1", (), card, "the card in hand: drawn, passed on or moved and not yet put away"),
        Field("holder", "i1", (), seat, "who has it"),
        Field("had", "u1", (), (0, everybody), "bit set of the seats that have had it in this fight"),
        Field("kept", "u1", (), (0, 1), "it is Katsushiro's second card: attack or defend"),
        Field("fights", "i1", (), (0, 2), "fights of this turn"),
        Field("asked", "i1", (), (0, n), "end of a round: the next seat to be asked"),
        Field("nested", "i1", (), (0, n), "Kiai begun and not yet over, one inside the other"),
        Field("kiai_seat", "i1", (MOST,), seat, "by Kiai: whose"),
        Field("kiai_side", "i1", (MOST,), (0, 1), "... human or animal when it began"),
        Field("kiai_stage", "i1", (MOST,), (0, len(KIAI_STAGES) - 1), "... index into KIAI_STAGES"),
        Field("kiai_uses", "i1", (MOST,), (0, 2), "... uses made of the effect"),
        Field("kiai_a", "i1", (MOST,), (0, MOST - 1), "... giver, token, or number of cards put in order"),
        Field("kiai_b", "i1", (MOST,), (0, MOST - 1), "... receiver, or number of cards opened"),
        Field("mover", "i1", (), seat, "who made the last decision (for pictures)"),
        Field("moved", "i1", (), card, "the card in hand then, or since, -1 none (for pictures)"),
        Field("result", "i1", (), (0, len(RESULTS) - 1), "index into RESULTS"),
        Field("half_made", "u1", (), (0, 1), "the seat to move is in the middle of what it has begun"),
        Field("difficulty", "u1", (), (0, len(LEVELS) - 1), "option: index into LEVELS"),
        Field("two_player_rules", "u1", (), (0, len(TWO_PLAYER_RULES) - 1), "option: index into TWO_PLAYER_RULES"),
        Field("first_seat", "u1", (), seat, "the seat that begins (option `first`)"),
        Field("first_drawn", "u1", (), (0, 1), "setting: that seat is drawn by the seed"),
    ]


def dtype(num_players: int) -> np.dtype:
    """NumPy structured dtype of the state: the same for every number of players."""
    return state_dtype(fields(num_players))
