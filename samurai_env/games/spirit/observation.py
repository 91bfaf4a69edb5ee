"""Observations, int8: the encodings `flat` and `tokens`.

Everybody sees the same; an observation is turned so that player 0 is the observer, player 1 the left neighbour, and so
on. It is a function of what may be known; the tests hold it against determinization. The functions that write get `at`,
the offsets of the encoding's blocks, and expect zeros where they write nothing.
"""

from functools import cache

import numpy as np

from samurai_env.core.bits import EMPTY, store
from samurai_env.core.encoding import Block, Encoding, block_offsets
from samurai_env.core.jit import inlined, jit
from samurai_env.games.spirit.rules.cards import (
    BACKS,
    CARD_ICONS,
    CARDS,
    FAMILIES,
    FARMSTEADS,
    FIRST,
    FLAMES,
    ICONS,
    LEVELS,
    MOST,
    NOTHING,
    ROUNDS,
    SAMURAI,
    SYMBOL,
    SYMBOLS,
    VALUE,
)
from samurai_env.games.spirit.rules.table import kiai_of
from samurai_env.games.spirit.state import (
    BOX,
    DISCARD_PILE,
    GIVER,
    HATS,
    IN_HAND,
    INTRUDER_STACK,
    LEFT0,
    LINE0,
    PHASES,
    PLACE_KNOWN,
    RAIDERS,
    REMOVAL,
    STAGES,
    TOKEN_TO,
    UNSEEN,
)

LINE = 12  # cards of a combat line in `flat`
LOOK = 3  # raiders from the top, if they lie open
HIGHEST = 127  # larger totals are written so


def _face(name: str, shape: tuple[int, ...], of: str) -> list[Block]:
    """The print on a card; all zero for no card."""
    return [
        Block(f"{name}_value", (*shape, 1), (0, 6), f"{of}: value"),
        Block(f"{name}_symbol", (*shape, len(SYMBOLS)), (0, 1), f"{of}: one-hot symbol: {', '.join(SYMBOLS)}"),
        Block(f"{name}_icons", (*shape, len(ICONS)), (0, 2), f"{of}: penalty icons, by kind: {', '.join(ICONS)}"),
        Block(f"{name}_flames", (*shape, 1), (0, 1), f"{of}: flames"),
    ]


FACE = 2 + len(SYMBOLS) + len(ICONS)  # entries of a card's face


def _faces() -> np.ndarray:
    """The print on each card as a row, after a row of zeros for no card (card number -1)."""
    rows = np.zeros((CARDS + 1, FACE), np.int8)
    for card in range(CARDS):
        row = rows[card + 1]
        row[0], row[-1] = VALUE[card], FLAMES[card]
        if SYMBOL[card] != NOTHING:
            row[1 + SYMBOL[card]] = 1
        for icon in CARD_ICONS[card]:
            if icon != NOTHING:
                row[1 + len(SYMBOLS) + icon] += 1
    return rows


FACES = _faces()
FIRST_ICON = 1 + len(SYMBOLS)  # in a face


@inlined
def write_face(card, out, i):
    """Write what is printed on a card, or zeros for none, at `out[i:]`."""
    for k in range(FACE):
        out[i + k] = FACES[card + 1, k]


# --- Players ---


def _player_blocks(players: tuple[int, ...]) -> list[Block]:
    """The blocks of a player; `players` is the leading axis, if any."""
    by = "by player; " if players else ""

    def number(name: str, limits: tuple[int, int], meaning: str) -> Block:
        return Block(name, players or (1,), limits, by + meaning)

    return [
        Block("samurai", (*players, MOST), (0, 1), by + "one-hot: " + ", ".join(SAMURAI)),
        number("animal", (0, 1), "the board shows the animal side"),
        number("wounded", (0, 1), "a wound token lies on the board"),
        number("passed", (0, 1), "out of the round"),
        number("active", (0, 1), "has the turn"),
        number("decides", (0, 1), "decides now"),
        number("in_kiai", (0, 1), "is in a Kiai that is not over"),
        number("total", (0, HIGHEST), "sum of the combat line"),
        number("kiai", (0, 13), "Kiai value of the side that is up"),
        Block(
            "line", (*players, LINE), (0, 6), by + f"values of the combat line from the first card, the first {LINE}"
        ),
        Block("penalty", (*players, len(ICONS)), (0, 2), by + "icons of the last card of the line, by kind"),
        Block("left", (*players, len(SYMBOLS)), (0, 6), by + "value of the card on the left, by symbol; 0 none"),
        number("token_home", (0, 1), "the own support token is not lent"),
        Block("borrowed", (*players, MOST), (0, 1), by + "support tokens on loan there, by samurai"),
        Block("granted", (*players, MOST), (0, 1), by + "open tokens used for this round, by samurai"),
    ]


BYTE, LAST_BYTE = np.uint64(8), np.uint64(56)
TOKENS_OF = np.array([sum((tokens >> i & 1) << 8 * i for i in range(MOST)) for tokens in range(2**MOST)], np.uint64)
ICONS_OF = np.stack(  # of a card's face: icons 0 to 7, and the last four
    [
        FACES[:, FIRST_ICON : FIRST_ICON + 8].copy().view("<u8")[:, 0],
        FACES[:, FIRST_ICON + len(ICONS) - 4 : FIRST_ICON + len(ICONS)].copy().view("<u4")[:, 0].astype(np.uint64),
    ],
    1,
)


@inlined
def line_values(state, seat):
    """The values of the first 16 cards of a combat line, a byte a card in two words, the first card lowest."""
    first, then, card = EMPTY, EMPTY, state.last[seat]
    while card != NOTHING:  # from the last card on; what is shifted out lies beyond the first 16
        then = then << BYTE | first >> LAST_BYTE
        first = first << BYTE | np.uint64(VALUE[card])
        card = state.beneath[card]
    return first, then


@inlined
def write_tokens(tokens, out, start):
    """Write a bit set of support tokens, seven entries, by two stores that overlap."""
    word = TOKENS_OF[tokens]
    store(word, 4, out, start)
    store(word >> np.uint64(24), 4, out, start + MOST - 4)


@inlined
def write_player(state, observer, player, out, at, row):
    """Write the player blocks of one player as their row `row`."""
    seat = (observer + player) % state.players
    samurai = state.who[seat]
    out[at.samurai + MOST * row + samurai] = 1
    out[at.animal + row] = state.animal[seat]
    out[at.wounded + row] = state.wounded[seat]
    out[at.passed + row] = (state.passed >> seat) & 1
    out[at.active + row] = seat == state.active and not state.over
    out[at.decides + row] = seat == state.seat and not state.over
    for k in range(state.nested):
        if state.kiai_seat[k] == seat:
            out[at.in_kiai + row] = 1
    out[at.total + row] = min(state.total[seat], HIGHEST)
    out[at.kiai + row] = kiai_of(state, seat)
    first, then = line_values(state, seat)
    store(first, 8, out, at.line + LINE * row)
    store(then, 4, out, at.line + LINE * row + 8)
    store(ICONS_OF[state.last[seat] + 1, 0], 8, out, at.penalty + len(ICONS) * row)
    store(ICONS_OF[state.last[seat] + 1, 1], 4, out, at.penalty + len(ICONS) * (row + 1) - 4)
    for symbol in range(len(SYMBOLS)):
        out[at.left + len(SYMBOLS) * row + symbol] = FACES[state.left[seat, symbol] + 1, 0]
    out[at.token_home + row] = (state.away >> samurai) & 1 == 0
    write_tokens(state.borrowed[seat], out, at.borrowed + MOST * row)
    write_tokens(state.granted[seat], out, at.granted + MOST * row)


# --- The table ---


def _table_blocks(n: int) -> list[Block]:
    return [
        Block("open_tokens", (MOST,), (0, 1), "open support tokens not yet used, by samurai (two-player rules)"),
        Block("barricades", (1,), (0, MOST + 3), "barricades standing"),
        Block("most_barricades", (1,), (0, MOST + 3), "barricades at the start"),
        Block("farmsteads", (len(BACKS),), (0, int(FARMSTEADS.max())), "farmsteads left, by back: " + ", ".join(BACKS)),
        Block("families", (len(FAMILIES),), (0, 1), "families left, by bonus: " + ", ".join(FAMILIES)),
        Block("round", (ROUNDS,), (0, 1), "one-hot: 1, 2, 3"),
        Block("level", (len(LEVELS),), (0, 1), "one-hot: " + ", ".join(LEVELS)),
        Block("raiders_left", (1,), (0, CARDS), "cards in the raider stack"),
        Block("intruders_left", (1,), (0, CARDS), "cards in the intruder stack"),
        Block("phase", (len(PHASES),), (0, 1), "one-hot: what is decided now, none once over: " + ", ".join(PHASES)),
        Block("stage", (len(STAGES),), (0, 1), "one-hot: where turn or end of round stand: " + ", ".join(STAGES)),
        Block("asked", (n,), (0, 1), "by player: has been asked in this step of the end of a round"),
        Block(
            "forbidden", (4,), (0, 1), "for the active samurai's turn: defending, supporting, talents, all but passing"
        ),
        Block("next_icon", (len(ICONS),), (0, 1), "one-hot: the penalty icon to be dealt with next, by kind"),
        Block("later_icon", (len(ICONS),), (0, 1), "one-hot: the one after it, by kind"),
        *_face("hand", (), "card in hand"),
        Block("holder", (n,), (0, 1), "by player: has the card in hand"),
        Block("had", (n,), (0, 1), "by player: has had it in this fight"),
        Block("kept", (1,), (0, 1), "it is Katsushiro's second card"),
        Block("fights", (1,), (0, 2), "fights of this turn"),
        Block("kiai_uses", (1,), (0, 2), "uses made of the effect of the innermost Kiai"),
        Block("giver", (n,), (0, 1), "one-hot by player: Daisuke takes this one's last card"),
        Block("token", (MOST,), (0, 1), "one-hot by samurai: the token that Kyuzo gives"),
        Block("kiai_order", (1,), (0, LOOK), "opened cards that Katsushiro has put in order"),
        *_face("top", (LOOK,), "by place from the top of the raiders, if that card lies open"),
    ]


@inlined
def write_table(state, observer, out, at):
    """Write the table blocks."""
    n = state.players
    write_tokens(state.open_tokens, out, at.open_tokens)
    out[at.barricades] = state.barricades
    out[at.most_barricades] = state.most_barricades
    for back in range(len(BACKS)):
        out[at.farmsteads + back] = state.farmsteads[back]
    for family in range(len(FAMILIES)):
        out[at.families + family] = state.families[family]
    out[at.round + state.round - 1] = 1
    out[at.level + state.difficulty] = 1
    out[at.raiders_left] = state.raiders_left
    out[at.intruders_left] = state.intruders_left
    out[at.phase + state.phase] = not state.over
    out[at.stage + state.stage] = 1
    if state.stage >= HATS:
        for seat in range(state.asked):
            out[at.asked + (seat - observer + n) % n] = 1
    out[at.forbidden] = state.no_defend
    out[at.forbidden + 1] = state.no_support
    out[at.forbidden + 2] = state.no_talent
    out[at.forbidden + 3] = state.must_pass
    for k in range(2):  # next_icon and later_icon
        if state.icon + k < 2 and state.icons[state.icon + k] != NOTHING:
            out[at.next_icon + k * len(ICONS) + state.icons[state.icon + k]] = 1
    write_face(state.card, out, at.hand_value)
    if state.card != NOTHING:
        out[at.holder + (state.holder - observer + n) % n] = 1
        for seat in range(n):
            out[at.had + (seat - observer + n) % n] = (state.had >> seat) & 1
    out[at.kept] = state.kept
    out[at.fights] = state.fights
    write_kiai(state, observer, out, at)
    write_top(state, out, at)


@inlined
def write_kiai(state, observer, out, at):
    """Write the table blocks about the innermost Kiai."""
    n, inner = state.players, state.nested - 1
    if inner >= 0 and not state.over:
        out[at.kiai_uses] = state.kiai_uses[inner]
        if GIVER < state.phase < REMOVAL:
            out[at.giver + (state.kiai_a[inner] - observer + n) % n] = 1
        elif state.phase == TOKEN_TO:
            out[at.token + state.kiai_a[inner]] = 1
        elif state.phase > TOKEN_TO:
            out[at.kiai_order] = state.kiai_a[inner]


@inlined
def write_top(state, out, at):
    """Write the faces of the opened raiders on top of their stack."""
    for k in range(min(LOOK, state.raiders_left)):
        card = state.raiders[state.raiders_left - 1 - k]
        if state.known[card] == PLACE_KNOWN:
            out[at.top_value + k] = FACES[card + 1, 0]
            out[at.top_flames + k] = FACES[card + 1, FACE - 1]
            for symbol in range(len(SYMBOLS)):
                out[at.top_symbol + k * len(SYMBOLS) + symbol] = FACES[card + 1, 1 + symbol]
            for icon in range(len(ICONS)):
                out[at.top_icons + k * len(ICONS) + icon] = FACES[card + 1, FIRST_ICON + icon]


# --- flat ---


@cache
def flat(num_players: int) -> Encoding:
    """A vector (the default). Of the cards deep in a combat line it has the values only."""
    blocks = (
        *_player_blocks((num_players,)),
        *_table_blocks(num_players),
        Block("hidden", (CARDS,), (0, 2), "by card: 2 lies in raiders or intruders, 1 not yet seen, so it may, 0 not"),
        Block("discarded", (CARDS,), (0, 1), "by card: on the discard pile"),
        Block(
            "open_raider", (CARDS,), (0, CARDS), "by card: 1 + cards on top of it, if its place in the raiders is known"
        ),
        Block("open_intruder", (CARDS,), (0, CARDS), "by card: the same in the intruder stack"),
    )
    return Encoding((sum(b.size for b in blocks),), 0, blocks, "one number an entry")


FLAT = block_offsets(flat, range(1, MOST + 1))


@inlined
def hidden_in_stacks(zone, known):
    """Compute `hidden_state` of a card that is not in the box, from the fields `where` and `known`."""
    stacked = (zone == RAIDERS) | (zone == INTRUDER_STACK)
    return stacked * ((known != PLACE_KNOWN) + ((known != PLACE_KNOWN) & (known != UNSEEN)))


@jit
def hidden_state(state, card):
    """0 if it is known where a card is, 1 if it has not been seen, 2 if it is known to be in one of the stacks."""
    if state.where[card] == BOX:
        return 1 if FIRST[state.round - 1] <= card < FIRST[state.round] else 0
    return hidden_in_stacks(state.where[card], state.known[card])


@inlined
def observe_flat(state, seat, out):
    """Write the `flat` encoding of what `seat` sees into `out` (int8, its size)."""
    n = state.players
    at = FLAT[n]
    out[:] = 0
    for player in range(n):
        write_player(state, seat, player, out, at, player)
    write_table(state, seat, out, at)
    hidden, discarded = out[at.hidden : at.hidden + CARDS], out[at.discarded : at.discarded + CARDS]
    for card in range(CARDS):  # short kernels without branches: the compiler makes vectors of them
        hidden[card] = hidden_in_stacks(state.where[card], state.known[card])
    for card in range(FIRST[state.round - 1], FIRST[state.round]):
        hidden[card] |= state.where[card] == BOX
    for card in range(CARDS):
        discarded[card] = state.where[card] == DISCARD_PILE
    open_cards = 0
    for card in range(CARDS):
        open_cards += (state.where[card] <= INTRUDER_STACK) & (state.known[card] == PLACE_KNOWN)
    if open_cards > 0:
        write_open_cards(state, out, at)


@inlined
def write_open_cards(state, out, at):
    """Write the places of open cards in the raiders and in the intruders."""
    for k in range(state.raiders_left):
        card = state.raiders[k]
        if state.known[card] == PLACE_KNOWN:
            out[at.open_raider + card] = state.raiders_left - k
    for k in range(state.intruders_left):
        card = state.intruders[k]
        if state.known[card] == PLACE_KNOWN:
            out[at.open_intruder + card] = state.intruders_left - k


# --- tokens: one row a card, then one a player, then one for the table ---

ZONES = (  # the first three are the numbers of `hidden_state`
    "out of the game",
    "not yet seen",
    "in one of the stacks",
    "open raider",
    "open intruder",
    "discarded",
    "in hand",
    "on the left",
    "in a combat line",
)
OPEN_RAIDER, OPEN_INTRUDER, GONE, HELD, ON_LEFT, IN_LINE = range(3, len(ZONES))


@cache
def tokens(num_players: int) -> Encoding:
    """One row a card, a player and the table, for attention and set networks; nothing is left out."""
    n = num_players
    blocks = (
        Block("row_type", (3,), (0, 1), "one-hot: card, player, table"),
        *_face("card", (), "card"),
        Block("zone", (len(ZONES),), (0, 1), "card: one-hot: " + ", ".join(ZONES)),
        Block("owner", (n,), (0, 1), "card: one-hot by player: who has it in hand, on the left or in the line"),
        Block("depth", (1,), (0, CARDS), "card in a line or open in a stack: 1 + cards that lie on it"),
        *_player_blocks(()),
        *_table_blocks(n),
    )
    rows = CARDS + n + 1
    return Encoding((rows, sum(b.size for b in blocks)), 1, blocks, "rows: the 66 cards, the players, the table")


TOKENS = block_offsets(tokens, range(1, MOST + 1))


@jit
def write_card(state, observer, card, out, at):
    """Write the card blocks of one card into its row, except for the depth."""
    n, zone, known = state.players, state.where[card], state.known[card]
    write_face(card, out, at.card_value)
    owner = NOTHING
    if zone == BOX or ((zone == RAIDERS or zone == INTRUDER_STACK) and known != PLACE_KNOWN):
        out[at.zone + hidden_state(state, card)] = 1
    elif zone == RAIDERS:
        out[at.zone + OPEN_RAIDER] = 1
    elif zone == INTRUDER_STACK:
        out[at.zone + OPEN_INTRUDER] = 1
    elif zone == DISCARD_PILE:
        out[at.zone + GONE] = 1
    elif zone == IN_HAND:
        out[at.zone + HELD] = 1
        owner = state.holder
    elif zone < LINE0:
        out[at.zone + ON_LEFT] = 1
        owner = zone - LEFT0
    else:
        out[at.zone + IN_LINE] = 1
        owner = zone - LINE0
    if owner != NOTHING:
        out[at.owner + (owner - observer + n) % n] = 1


@jit
def observe_tokens(state, seat, out):
    """Write the `tokens` encoding of what `seat` sees into `out` (int8, rows x columns)."""
    n = state.players
    at = TOKENS[n]
    out[:] = 0
    for card in range(CARDS):
        out[card, at.row_type] = 1
        write_card(state, seat, card, out[card], at)
    for k in range(state.raiders_left):
        if state.known[state.raiders[k]] == PLACE_KNOWN:
            out[state.raiders[k], at.depth] = state.raiders_left - k
    for k in range(state.intruders_left):
        if state.known[state.intruders[k]] == PLACE_KNOWN:
            out[state.intruders[k], at.depth] = state.intruders_left - k
    for player in range(n):
        card, on_top = state.last[player], 1
        while card != NOTHING:
            out[card, at.depth] = on_top
            on_top += 1
            card = state.beneath[card]
        row = out[CARDS + player]
        row[at.row_type + 1] = 1
        write_player(state, seat, player, row, at, 0)
    table = out[CARDS + n]
    table[at.row_type + 2] = 1
    write_table(state, seat, table, at)


ENCODINGS = {"flat": flat, "tokens": tokens}
OBSERVE = {"flat": observe_flat, "tokens": observe_tokens}
