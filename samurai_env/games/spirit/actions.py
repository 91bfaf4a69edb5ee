"""Action ids and their names.

One id space serves all decisions; what an id means is told by the phase (see `state.PHASES`). Players are
counted from the one who decides, clockwise, as in the observations, so `player1` is the left neighbour:

    0 .. 10          words: fight, support, pass, attack, ..., `none` (leave it at that)
    TOKEN0 ..        a support token, by its samurai
    SYMBOL0 ..       an own card on the left, by its symbol
    TOP0 ..          an opened raider, from the top
    ICON0 ..         the penalty icon to suffer first
    PLAYER0 ..       a player: as many as play, so these stand last and the others keep their ids
"""

from functools import cache

import numpy as np

from samurai_env.games.spirit.rules.cards import CARD_ICONS, ICONS, MOST, SAMURAI, SYMBOLS

WORDS = ("fight", "support", "pass", "attack", "defend", "discard", "replace", "suffer", "ignore", "kiai", "none")
FIGHT, SUPPORT, PASS, ATTACK, DEFEND, DISCARD, REPLACE, SUFFER, IGNORE, KIAI, NONE = range(len(WORDS))
TOKEN0 = len(WORDS)
SYMBOL0 = TOKEN0 + len(SAMURAI)
TOP0 = SYMBOL0 + len(SYMBOLS)
TOPS = 3  # Katsushiro opens three cards at most
ICON0 = TOP0 + TOPS
# Icons that share a card with another icon.
PAIRED = tuple(sorted({int(icon) for a, b in CARD_ICONS if b >= 0 and a != b for icon in (a, b)}))
ICON_ID = np.array([ICON0 + PAIRED.index(icon) if icon in PAIRED else -1 for icon in range(len(ICONS))], np.int64)
PLAYER0 = ICON0 + len(PAIRED)

_FIXED = (
    *WORDS,
    *(f"token.{name}" for name in SAMURAI),
    *(f"left.{symbol}" for symbol in SYMBOLS),
    *(f"top{i + 1}" for i in range(TOPS)),
    *(f"first.{ICONS[icon]}" for icon in PAIRED),
)


@cache
def names(num_players: int) -> tuple[str, ...]:
    """The name of every action id: `fight`, `token.Kyuzo`, `left.hat`, `top2`, `first.wound`, `player1`."""
    return (*_FIXED, *(f"player{i}" for i in range(num_players)))


# What the ids mean, for the action table of the docs: (first id, last id with all samurai, name, meaning).
GROUPS = [
    (FIGHT, FIGHT, "fight", "fight; or, with Kikuchiyo's talent, fight again"),
    (SUPPORT, SUPPORT, "support", "lend the own support token"),
    (PASS, PASS, "pass", "be out of the round"),
    (ATTACK, ATTACK, "attack", "put the card on the right, into the combat line"),
    (DEFEND, DEFEND, "defend", "put the card on the left"),
    (DISCARD, DISCARD, "discard", "Kyuzo's talent: discard the card"),
    (REPLACE, REPLACE, "replace", "Katsushiro's talent: put the card under the raiders, draw another"),
    (SUFFER, SUFFER, "suffer", "let a penalty happen that Gorobei or Kanbei may ignore"),
    (IGNORE, IGNORE, "ignore", "ignore that penalty"),
    (KIAI, KIAI, "kiai", "use the effect of the Kiai"),
    (NONE, NONE, "none", "no: no token, no second fight, no Kiai effect, no (second) use of it"),
    (TOKEN0, SYMBOL0 - 1, "token.SAMURAI", "an open token to use; the token that Kyuzo's Kiai lends"),
    (SYMBOL0, TOP0 - 1, "left.SYMBOL", "the card on the left that the penalty discard_defender discards"),
    (TOP0, ICON0 - 1, "topN", "Katsushiro's Kiai: which of the opened cards not yet put back lies next, from the top"),
    (ICON0, PLAYER0 - 1, "first.ICON", "which of the two icons of a boss is suffered first"),
    (PLAYER0, PLAYER0 + MOST - 1, "playerN", "whom to support, pass the card on to, heal, take from, give to"),
]
