"""Features of a position of Samurai Spirit, from public information, and their weighted sum: the value of a position.

The features predict the village at the end of the round: each samurai still in the round draws an equal share of the
raiders that are left, and finds a symbol among them as often as it occurs among the unseen cards. They are the
barricades, farmsteads, families and lives then left, the log probability that none of them runs out, the room in the
combat lines, the penalties on them and the tokens. `fit` finds the weights of each round.
"""

import json

import numpy as np

from samurai_env.core.jit import called_on_gpu, jit, scratch
from samurai_env.games.elementary import exp, log, power
from samurai_env.games.spirit.observation import hidden_state
from samurai_env.games.spirit.rules.cards import (
    CARD_ICONS,
    CARDS,
    DATA,
    DOLL,
    FARM,
    FIRE,
    FLAMES,
    GOROBEI,
    HAT,
    ICONS,
    KANBEI,
    KYUZO,
    LEFT_DRAWS,
    NINJA,
    NOTHING,
    RIGHT_DRAWS,
    SAMURAI,
    SYMBOL,
    SYMBOLS,
    VALUE,
    WOUND,
)
from samurai_env.games.spirit.rules.table import (
    beyond_kiai,
    in_round,
    kiai_of,
    left_neighbour,
    right_neighbour,
    value_in_line,
)
from samurai_env.games.spirit.rules.village import total_of

LIVES = 4  # the fourth wound kills
NAMES = (
    "barricades",
    "farmsteads",
    "farmsteads_last",  # log probability that one is left
    "families",
    "families_last",
    "survival",  # log probability that nobody dies
    *(f"wounds_{k}" for k in range(1, LIVES)),
    "strain",  # value of raiders beyond the room in the lines
    "slack",
    "hit",  # probability that the next raider makes the Kiai exactly
    "risk",  # probability that it must exceed it
    "covered",  # probability that Kyuzo's talent can discard it
    "tokens",
    "raiders",
    *(f"icon_{icon}" for icon in ICONS[NINJA:]),
    *(f"kiai_{name}" for name in SAMURAI),  # always 0 here; `policy` adds the weight for a Kiai reached
)
FEATURES = len(NAMES)
(
    BARRICADES,
    FARMSTEADS,
    FARMSTEADS_LAST,
    FAMILIES,
    FAMILIES_LAST,
    SURVIVAL,
    WOUNDS_1,
    _,
    _,
    STRAIN,
    SLACK,
    HIT,
    RISK,
    COVERED,
    TOKENS,
    RAIDERS_LEFT,
    ICON,
) = range(17)
KIAI_VALUE = NAMES.index("kiai_" + SAMURAI[0])
VALUES = int(VALUE.max())
# Entries of the statistics of unseen cards, after those of the symbols.
SYMBOL_COUNT = MEAN_VALUE = len(SYMBOLS)
FLAMING = MEAN_VALUE + 1
OF_VALUE = FLAMING + 1  # share of the cards of value 0, 1, ...
UNSEEN = OF_VALUE + VALUES + 1

_WEIGHTS = json.loads((DATA / "heuristic_policy.json").read_text(encoding="utf-8"))["weights"]
WEIGHTS = np.array(list(zip(*_WEIGHTS.values(), strict=True)))  # [round - 1, feature]


@jit
def write_unseen(state, unseen):
    """Write statistics of the unseen cards (float64 (UNSEEN,)): by symbol, mean value, flames, by value."""
    unseen[:] = 0.0
    count = 0
    for card in range(CARDS):
        if hidden_state(state, card) > 0:
            count += 1
            if SYMBOL[card] != NOTHING:
                unseen[SYMBOL[card]] += 1.0
            unseen[MEAN_VALUE] += VALUE[card]
            unseen[FLAMING] += FLAMES[card]
            unseen[OF_VALUE + VALUE[card]] += 1.0
    for i in range(UNSEEN):
        unseen[i] /= max(count, 1)


@jit
def next_turn_talents(state, seat):
    """Bit set of the talents of a seat in its next turn."""
    return (1 << state.who[seat]) | state.granted[seat] | state.borrowed[seat]


@jit
def log_not_all(mean, stock):
    """Log probability that fewer than `stock` are lost if `mean` are lost on average (Poisson)."""
    term, total = exp(-mean), 0.0
    for k in range(stock):
        total += term
        term *= mean / (k + 1)
    return log(max(total, 1e-3))


@jit
def write_features(state, unseen, out):
    """Write the features of a position (float64 (FEATURES,), see NAMES), as if the active samurai's turn were over.

    Args:
        state: a game that is not over.
        unseen: from `write_unseen`.
        out: float64 (FEATURES,).
    """
    out[:] = 0.0
    fighters = 0
    for seat in range(state.players):
        fighters += fights_on(state, seat)
    raiders, intruders = state.raiders_left, state.intruders_left
    if fighters == 0:
        raiders, intruders = 0, intruders + raiders
    fires = unseen[FLAMING] * intruders  # each takes a barricade
    lacks = scratch(SYMBOL_COUNT, np.float64)  # by symbol: expected number of samurai without it
    lacks[:] = 0.0
    order, seat = 0, state.active
    for _ in range(state.players):
        seat = left_neighbour(state, seat)
        draws, wound, lacks_hat = 0, False, lacks[HAT]
        if fights_on(state, seat):
            draws = max(0, raiders - order + fighters - 1) // fighters
            order += 1
        defended = find_symbols(state, seat, draws, unseen, lacks)
        if draws > 0:
            write_line(state, seat, draws - defended, unseen, out)
            fire, wound = write_penalty(state, seat, unseen, out)
            fires += fire
        write_wounds(state, seat, lacks[HAT] - lacks_hat, wound, out)
    left = state.barricades - fires
    farmsteads, families = total_of(state.farmsteads), total_of(state.families)
    burnt = lacks[FARM] + max(0.0, -left)
    out[BARRICADES] = max(0.0, left)
    out[FARMSTEADS] = max(0.0, farmsteads - burnt)
    out[FARMSTEADS_LAST] = log_not_all(burnt, farmsteads)
    out[FAMILIES] = max(0.0, families - lacks[DOLL])
    out[FAMILIES_LAST] = log_not_all(lacks[DOLL], families)
    out[RAIDERS_LEFT] = raiders


@jit
def fights_on(state, seat):
    """Whether a samurai has not passed and can draw on."""
    return in_round(state, seat) and not beyond_kiai(state, seat)


@jit
def find_symbols(state, seat, draws, unseen, lacks):
    """Add the probabilities that a samurai still lacks a symbol after so many draws; return the raiders defended."""
    defended = 0.0
    for symbol in range(len(SYMBOLS)):
        if state.left[seat, symbol] == NOTHING:
            missed = power(1.0 - unseen[symbol], draws)
            lacks[symbol] += missed
            defended += 1.0 - missed
    return defended


@jit
def write_line(state, seat, rest, unseen, out):
    """Add the features of a combat line that `rest` more raiders join."""
    room = kiai_of(state, seat) - state.total[seat]
    over = unseen[MEAN_VALUE] * rest - room
    out[STRAIN if over > 0.0 else SLACK] += abs(over)
    out[TOKENS] += (state.away >> state.who[seat]) & 1 == 0
    kyuzo = (next_turn_talents(state, seat) >> KYUZO) & 1
    beyond, right = 0.0, 1.0
    for value in range(1, VALUES + 1):
        share = unseen[OF_VALUE + value]
        if value == room:
            out[HIT] += share
        elif value > room:
            beyond += share
        if kyuzo and value_in_line(state, seat, value):
            out[COVERED] += share
    for symbol in range(len(SYMBOLS)):
        if state.left[seat, symbol] == NOTHING:
            right -= unseen[symbol]
    out[RISK] += beyond * right


@jit
def write_penalty(state, seat, unseen, out):
    """Add the features of the penalties of a samurai's next step A; return its fires, and whether it wounds."""
    fires, wound, card = 0.0, False, state.last[seat]
    if card == NOTHING or (next_turn_talents(state, seat) >> (KANBEI if VALUE[card] & 1 else GOROBEI)) & 1:
        return fires, wound
    for k in range(2):
        icon = CARD_ICONS[card, k]
        if icon == FIRE:
            fires += 1.0
        elif icon == WOUND or points_to_nobody(state, seat, icon):
            wound = True
        elif icon != NOTHING:
            out[ICON + icon - NINJA] += 1.0
            fires += unseen[FLAMING] * (icon == NINJA)
    return fires, wound


@jit
def points_to_nobody(state, seat, icon):
    """Whether an arrow points to nobody, which wounds instead."""
    if icon == LEFT_DRAWS:
        neighbour = left_neighbour(state, seat)
    elif icon == RIGHT_DRAWS:
        neighbour = right_neighbour(state, seat)
    else:
        return False
    return neighbour == seat or not in_round(state, neighbour)


@jit
def write_wounds(state, seat, chance, wound, out):
    """Add the features of a samurai's wounds: those so far, one more if `wound`, one more with probability `chance`."""
    wounds = 2 * state.animal[seat] + state.wounded[seat] + wound
    for more in range(2):
        if wounds + more >= LIVES:
            out[SURVIVAL] += log(max(1.0 - chance, 1e-3) if more else 1e-3)
            return
        if wounds + more > 0:
            out[WOUNDS_1 + wounds + more - 1] += chance if more else 1.0 - chance


@jit
def linear_value(state, unseen, features, weights):
    """Return the weighted sum of the features: higher is better, differences are close to log odds of victory.

    Args:
        state: a game that is not over.
        unseen: from `write_unseen`.
        features: float64 (FEATURES,), scratch.
        weights: float64 (ROUNDS, FEATURES).
    """
    called_on_gpu()
    write_features(state, unseen, features)
    total, row = 0.0, weights[state.round - 1]
    for i in range(FEATURES):
        total += row[i] * features[i]
    return total
