"""The state of one game: every field, its meaning and its range.

All of a game is in this one flat struct (about 500 bytes). Its shapes follow the number of players, so
compiled code reads the number of players off them and is compiled once for each. The grid has no limit and
the state no grid: a village is laid where its coordinates say, and holds what lies on its four sides. An
influence card between several villages stands on a side of each of them. `shape` is 0 helmet, 1 buddha, 2 rice;
cells and sides are those of `topology`, kinds those of `cards`.
"""

from samurai_env.core.layout import Field
from samurai_env.games.card.rules.cards import CARDS, CARDS_EACH, KINDS, VILLAGE_KINDS, VILLAGES_BY_SYMBOLS
from samurai_env.games.card.rules.topology import CELLS, REACH, VILLAGES
from samurai_env.games.first_seat import first_fields

# What the seat to move decides now.
PHASES = (
    "card",  # the kind of the card to lay
    "cell",  # where it goes
    "village",  # which of two places gets the top village card
)
CARD, CELL, VILLAGE = range(len(PHASES))


def fields(num_players: int) -> list[Field]:
    """The fields of a state with `num_players` players, in storage order."""
    n, cards = num_players, CARDS_EACH[num_players]
    return [
        *first_fields(n),
        Field("free", "u8", (3,), (0, 2**64 - 1), "bit set of action ids: the free cells beside a village"),
        Field("kinds", "u4", (n,), (0, 2**KINDS - 1), "by seat: bit set of the kinds of card in the hand"),
        Field("laid", "i2", (), (-1, CELLS - 1), "cell of the card just laid while village cards wait, -1 none"),
        Field("villages", "i1", (), (1, VILLAGES), "villages laid"),
        Field("village_x", "i1", (VILLAGES,), (-REACH, REACH), "by village, in order of laying: east of the first"),
        Field("village_y", "i1", (VILLAGES,), (-REACH, REACH), "by village, in order of laying: south of the first"),
        Field("side", "i1", (VILLAGES, 4), (0, n * KINDS), "by village, side: 0 free, else 1 + KINDS * seat + kind"),
        Field(
            "village_stack",
            "i1",
            (VILLAGES,),
            (1, len(VILLAGE_KINDS)),
            "village cards (bit sets of shapes), those laid first, then the stack from its top on",
        ),
        Field("hand", "i1", (n, KINDS), (0, CARDS), "cards in the hand, by kind; a card is in it until it is laid"),
        Field("unseen", "i1", (n, KINDS), (0, CARDS), "cards in hand and stack together, by kind (public)"),
        Field("stack", "i1", (n, cards), (-1, KINDS - 1), "kinds in the order they are drawn; -1 once drawn"),
        Field("drawn", "i1", (n,), (0, cards), "cards drawn from the stack"),
        Field("stones", "i1", (n, 3), (0, VILLAGES), "stones taken by a seat, by shape"),
        Field("phase", "i1", (), (0, len(PHASES) - 1), "index into PHASES: what is decided now"),
        Field("card", "i1", (), (-1, KINDS - 1), "kind chosen and not yet laid, -1 none (known to its owner alone)"),
        Field("waiting", "u1", (), (0, 15), "bit set of the sides of `laid` where a village card is due"),
        Field("winners", "u1", (), (0, 2**n - 1), "bit set of the winning seats, once over"),
        Field("copies", "i1", (KINDS,), (0, CARDS), "setting: a player's cards in play, by kind"),
        Field(
            "village_copies",
            "i1",
            (len(VILLAGE_KINDS),),
            (0, max(VILLAGES_BY_SYMBOLS.values())),
            "setting: village cards, by kind (entry 0 is kind 1)",
        ),
    ]
