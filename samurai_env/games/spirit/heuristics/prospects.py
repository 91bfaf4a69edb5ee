"""What the village may look forward to, from what everybody sees: the features of a position, and their weighted sum.

The village is reckoned as it will stand when the round ends if things go on as they do now: each samurai in the round
draws an equal part of the raiders that are left, and finds a symbol among them as often as it is still among the cards
nobody has seen. What is then left of barricades, farmsteads, families and lives, and how sure it is that none of them
runs out, are the features; beside them stand the room in the combat lines, the penalties on them and the tokens. The
weights of each round are found by `fit`.
"""

import json

import numpy as np

from samurai_env.core.jit import jit
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
    "farmsteads_last",  # log chance that not all farmsteads go
    "families",
    "families_last",
    "survival",  # log chance that nobody dies
    *(f"wounds_{k}" for k in range(1, LIVES)),
    "strain",  # raiders' value that the lines cannot take
    "slack",
    "hit",  # chance that the next raider is exactly what is missing to the Kiai
    "risk",  # chance that it must go beyond
    "covered",  # chance that Kyuzo's talent can discard it
    "tokens",
    "raiders",
    *(f"icon_{icon}" for icon in ICONS[NINJA:]),
    *(f"kiai_{name}" for name in SAMURAI),  # no feature: what `advice` reckons for a Kiai reached
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
KIAI_WORTH = NAMES.index("kiai_" + SAMURAI[0])
VALUES = int(VALUE.max())
# Places in an outlook, after the symbols.
MEAN_VALUE = len(SYMBOLS)
FLAMING = MEAN_VALUE + 1
OF_VALUE = FLAMING + 1  # share of the cards of value 0, 1, ...
OUTLOOK = OF_VALUE + VALUES + 1

WEIGHTS = np.array(
    list(zip(*json.loads((DATA / "outlook.json").read_text(encoding="utf-8"))["weights"].values(), strict=True))
)  # [round - 1, feature]


@jit
def look_out(state, outlook):
    """Write the share of each symbol, the mean value and the share of flames among the cards nobody sees (OUTLOOK)."""
    outlook[:] = 0.0
    count = 0
    for card in range(CARDS):
        if hidden_state(state, card) > 0:
            count += 1
            if SYMBOL[card] != NOTHING:
                outlook[SYMBOL[card]] += 1.0
            outlook[MEAN_VALUE] += VALUE[card]
            outlook[FLAMING] += FLAMES[card]
            outlook[OF_VALUE + VALUE[card]] += 1.0
    outlook /= max(count, 1)


@jit
def talents_to_come(state, seat):
    """Bit set of the talents that a seat will have in its next turn."""
    return (1 << state.who[seat]) | state.granted[seat] | state.borrowed[seat]


@jit
def log_not_all(mean, stock):
    """Log of the chance that fewer than `stock` are lost if `mean` are lost on average (Poisson)."""
    term, total = np.exp(-mean), 0.0
    for k in range(stock):
        total += term
        term *= mean / (k + 1)
    return np.log(max(total, 1e-3))


@jit
def features(state, outlook, out):
    """Write the features (float64, by NAMES) of a position, as if the turn of the active samurai were over.

    Args:
        state: record of a game that is not over.
        outlook: of `look_out`.
        out: what is written.
    """
    out[:] = 0.0
    fighters = 0
    for seat in range(state.players):
        fighters += fights_on(state, seat)
    raiders, intruders = state.raiders_left, state.intruders_left
    if fighters == 0:
        raiders, intruders = 0, intruders + raiders
    fires = outlook[FLAMING] * intruders  # that a barricade must stop
    lacks = np.zeros(len(SYMBOLS))  # by symbol: samurai who will lack it
    order, seat = 0, state.active
    for _ in range(state.players):
        seat = left_neighbour(state, seat)
        draws, wound, lacks_hat = 0, False, lacks[HAT]
        if fights_on(state, seat):
            draws = max(0, raiders - order + fighters - 1) // fighters
            order += 1
        found = find_symbols(state, seat, draws, outlook, lacks)
        if draws > 0:
            read_line(state, seat, draws - found, outlook, out)
            fire, wound = read_penalty(state, seat, outlook, out)
            fires += fire
        harm(state, seat, lacks[HAT] - lacks_hat, wound, out)
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
    """Whether a samurai has not passed and need not."""
    return in_round(state, seat) and not beyond_kiai(state, seat)


@jit
def find_symbols(state, seat, draws, outlook, lacks):
    """Add the chances that so many raiders leave a samurai without a symbol; how many raiders go to the left."""
    found = 0.0
    for symbol in range(len(SYMBOLS)):
        if state.left[seat, symbol] == NOTHING:
            missed = (1.0 - outlook[symbol]) ** draws
            lacks[symbol] += missed
            found += 1.0 - missed
    return found


@jit
def read_line(state, seat, rest, outlook, out):
    """Add the features of a combat line into which so many more raiders have to go."""
    room = kiai_of(state, seat) - state.total[seat]
    over = outlook[MEAN_VALUE] * rest - room
    out[STRAIN if over > 0.0 else SLACK] += abs(over)
    out[TOKENS] += (state.away >> state.who[seat]) & 1 == 0
    kyuzo = (talents_to_come(state, seat) >> KYUZO) & 1
    beyond, right = 0.0, 1.0
    for value in range(1, VALUES + 1):
        share = outlook[OF_VALUE + value]
        if value == room:
            out[HIT] += share
        elif value > room:
            beyond += share
        if kyuzo and value_in_line(state, seat, value):
            out[COVERED] += share
    for symbol in range(len(SYMBOLS)):
        if state.left[seat, symbol] == NOTHING:
            right -= outlook[symbol]
    out[RISK] += beyond * right


@jit
def read_penalty(state, seat, outlook, out):
    """Add the features of the penalty that a samurai's next step A brings: the fires, and whether a wound."""
    fires, wound, card = 0.0, False, state.last[seat]
    if card == NOTHING or (talents_to_come(state, seat) >> (KANBEI if VALUE[card] & 1 else GOROBEI)) & 1:
        return fires, wound
    for k in range(2):
        icon = CARD_ICONS[card, k]
        if icon == FIRE:
            fires += 1.0
        elif icon == WOUND or unapplied(state, seat, icon):
            wound = True
        elif icon != NOTHING:
            out[ICON + icon - NINJA] += 1.0
            fires += outlook[FLAMING] * (icon == NINJA)
    return fires, wound


@jit
def unapplied(state, seat, icon):
    """Whether an arrow points to nobody, which is a wound."""
    if icon == LEFT_DRAWS:
        neighbour = left_neighbour(state, seat)
    elif icon == RIGHT_DRAWS:
        neighbour = right_neighbour(state, seat)
    else:
        return False
    return neighbour == seat or not in_round(state, neighbour)


@jit
def harm(state, seat, chance, wound, out):
    """Add a samurai's wounds to the features: those so far, one more if `wound`, and one more with a chance."""
    wounds = 2 * state.animal[seat] + state.wounded[seat] + wound
    for more in range(2):
        if wounds + more >= LIVES:
            out[SURVIVAL] += np.log(max(1.0 - chance, 1e-3)) if more else np.log(1e-3)
            return
        if wounds + more > 0:
            out[WOUNDS_1 + wounds + more - 1] += chance if more else 1.0 - chance


@jit
def prospect(state, outlook, found, weights):
    """The weighted features of a position: higher is better, differences are much like log odds of victory.

    Args:
        state: record of a game that is not over.
        outlook: of `look_out`.
        found: float64 (FEATURES,), scratch.
        weights: float64 (ROUNDS, FEATURES).
    """
    features(state, outlook, found)
    total, row = 0.0, weights[state.round - 1]
    for i in range(FEATURES):
        total += row[i] * found[i]
    return total
