"""The state of one game: every field, its meaning and its range.

All of a game is in this one flat struct (about 500 bytes with 2 players). Its shapes follow the number
of players, so compiled code reads the number of players, hexes and settlements off the shapes and is
compiled once for each number of players. Settlement, land and sea numbers are those of `topology`;
a set of them is kept as the bits of a `uint64`. `figure` is 0 helmet, 1 buddha, 2 rice.
"""

from samurai_env.core.layout import Field
from samurai_env.games.board.rules.tiles import HAND, KINDS, TILES
from samurai_env.games.board.rules.topology import LANDS, SEAS, SETTLEMENTS
from samurai_env.games.first_seat import first_fields

EDITIONS = ("1998", "2016")
FIRST_HANDS = ("choose", "random")
FIGURE_SETUPS = ("alternate", "free", "random")
ENDINGS = ("turn", "at_once")
TOKEN_EXCHANGES = ("plain", "any")

# What the seat to move decides now.
PHASES = (
    "first_hand",  # a kind of tile for the first hand
    "setup",  # a figure and the settlement it is put on
    "tile",  # a kind of tile to play, or the end of the turn
    "land",  # where a land tile goes
    "sea",  # where a ship goes
    "token_from",  # the own tile that the token exchange replaces
    "token_to",  # where that tile goes
    "figure_first",  # the first figure to exchange, or an idle exchange
    "figure_second",  # the figure it changes places with
)
FIRST_HAND, SETUP, TILE, LAND, SEA, TOKEN_FROM, TOKEN_TO, FIGURE_FIRST, FIGURE_SECOND = range(len(PHASES))


def fields(num_players: int) -> list[Field]:
    """The fields of a state with `num_players` players, in storage order."""
    n = num_players
    lands, seas, settlements = int(LANDS[n]), int(SEAS[n]), int(SETTLEMENTS[n])
    spots = 3 * (settlements - 1)
    return [
        *first_fields(n),
        Field("land_free", "u8", (), (0, 2**lands - 1), "bit set of the empty open land hexes"),
        Field("sea_free", "u8", (2,), (0, 2**64 - 1), "bit set of the empty sea hexes"),
        Field("figures", "u8", (3,), (0, 2**settlements - 1), "by figure: bit set of the settlements that hold one"),
        Field(
            "movable", "u8", (n,), (0, 2**lands - 1), "by seat: land hexes with an own tile a token exchange may move"
        ),
        Field("surrounded", "u8", (), (0, 2**settlements - 1), "settlements surrounded and not yet captured"),
        Field("kinds", "u4", (n,), (0, 2**KINDS - 1), "by seat: bit set of the kinds of tile in the hand"),
        # Observations read these two by 32 entries, beyond their ends: fields of at least 31 bytes have to follow.
        Field("land_tile", "i1", (lands,), (0, n * KINDS), "0 empty, else 1 + KINDS * seat + kind"),
        Field("sea_tile", "i1", (seas,), (0, n * KINDS), "0 empty, else 1 + KINDS * seat + kind"),
        Field(
            "influence", "i1", (n, settlements, 3), (0, 60), "strength of a seat's tiles beside a settlement, by figure"
        ),
        Field("land_strength", "i1", (lands, 3), (0, 4), "strength of the tile on a land hex, by figure"),
        Field("hand", "i1", (n, KINDS), (0, 2), "tiles in the hand, by kind"),
        Field("unseen", "i1", (n, KINDS), (0, 2), "tiles in hand and supply together, by kind (public)"),
        Field("hand_size", "i1", (n,), (0, HAND), "tiles in the hand"),
        Field("supply_size", "i1", (n,), (0, TILES), "tiles in the supply"),
        Field(
            "supply",
            "i1",
            (n, TILES),
            (0, KINDS - 1),
            "kinds as they are drawn, from `drawn` on; not shuffled before the hand is chosen",
        ),
        Field("drawn", "i1", (n,), (0, TILES), "tiles of the supply row that are used up"),
        Field("captured", "i1", (n, 3), (0, 13), "figures taken by a seat"),
        Field("aside", "i1", (3,), (0, 13), "figures set aside (tied)"),
        Field("pool", "i1", (3,), (0, 13), "figures still to be placed in the set-up"),
        Field("phase", "i1", (), (0, len(PHASES) - 1), "index into PHASES: what is decided now"),
        Field("tile", "i1", (), (-1, KINDS - 1), "kind chosen and not yet placed, -1 none"),
        Field("from_land", "i1", (), (-1, lands - 1), "land hex whose tile is being moved, -1 none"),
        Field(
            "from_spot",
            "i1",
            (),
            (-1, spots - 1),
            "first figure of an exchange: figure * (settlements - 1) + settlement - 1",
        ),
        Field("plain_played", "u1", (), (0, 1), "the turn's one plain tile has been played"),
        Field("may_end", "u1", (), (0, 1), "the turn's compulsory tile has been played"),
        Field("winners", "u1", (), (0, 2**n - 1), "bit set of the winning seats, once over"),
        Field("edition", "u1", (), (0, len(EDITIONS) - 1), "option: index into EDITIONS"),
        Field("first_hand", "u1", (), (0, len(FIRST_HANDS) - 1), "option: index into FIRST_HANDS"),
        Field("figure_setup", "u1", (), (0, len(FIGURE_SETUPS) - 1), "option: index into FIGURE_SETUPS"),
        Field("hide_captures", "u1", (), (0, 1), "option: observations hide the others' captures until the end"),
        Field("ending", "u1", (), (0, len(ENDINGS) - 1), "option: index into ENDINGS"),
        Field("token_exchange", "u1", (), (0, len(TOKEN_EXCHANGES) - 1), "option: index into TOKEN_EXCHANGES"),
    ]
