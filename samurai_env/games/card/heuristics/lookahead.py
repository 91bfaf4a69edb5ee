"""The heuristic policy with look-ahead: the gain of a card, less the opponents' replies, plus the seat's next card.

`policy` takes the cell that gains most and is blind to what it leaves to the next seat. Here each card is played, each
opponent in turn takes the best cell left with the best card it may hold, and the seat takes the best cell left for its
hand. All gains are those of `policy`. It takes some forty times as long, too long for a rollout. Networks read it with
its parts: the *action features*.
"""

import json

import numpy as np

from samurai_env.core.bits import EMPTY, bit, lowest, popcount
from samurai_env.core.jit import jit
from samurai_env.games.card.actions import CELL0
from samurai_env.games.card.heuristics.policy import (
    LOWEST,
    PARAMETERS,
    PRICE,
    PRICE_OF,
    Parameters,
    control_table,
    free_sides,
    importances_of,
    influence_lead,
    known_symbols,
    write_choice_logits,
    write_gains,
)
from samurai_env.games.card.heuristics.value import heuristic_value
from samurai_env.games.card.rules.card_lists import DATA
from samurai_env.games.card.rules.cards import KINDS, STRENGTH
from samurai_env.games.card.rules.kernels import cell_x as x_of
from samurai_env.games.card.rules.kernels import cell_y as y_of
from samurai_env.games.card.rules.kernels import lay_village
from samurai_env.games.card.rules.scoring import influences, score, surrounded
from samurai_env.games.card.rules.topology import CELLS, STEP_X, STEP_Y, VILLAGES, opposite
from samurai_env.games.card.state import CARD, CELL

# Weights: a copy of those of `policy`, which stays when they are fitted again, since networks have learned from it;
# then how much the opponents' replies count against a card, and the seat's next card for it.
REPLIES, NEXT = range(PARAMETERS, PARAMETERS + 2)
# Columns of the action features; for a kind of card those of its best cell. Gains are less the price of the card.
COLUMNS = (
    "look-ahead: gain, less the replies, plus the next card's gain, both weighted",
    "gain of the card",
    "mean gain of the opponents' replies, in turn on different cells",
    "gain of the next seat's second best cell",
    "gain of the seat's own next card",
    "gain of its second best cell",
    "gain of the next seat's best card on this cell",
    "gain of the best other card of the hand on this cell",
    "price of the card",
    "strength of the card",
    "new villages that it brings",
    "sides of the cell that stay without a village",
    "symbols that the card completes on villages beside the cell: won less lost",
    *(f"symbols on villages beside the cell with {free} free sides" for free in (1, 2, 3)),
    *(f"sum of the leads in influence on them, with {free} free sides" for free in (1, 2, 3)),
    "heuristic value after the card",
    "free cells after the card",
    "cards that the seat has left to play",
    "1 where a cell is chosen",
)
LOOKAHEAD, GAIN, REPLY, SECOND_REPLY, NEXT_GAIN, SECOND_NEXT, OPPONENT_HERE, OTHER_HERE = range(8)
CARD_PRICE, CARD_STRENGTH, NEW_VILLAGES, BARE_SIDES, SYMBOLS_WON, SYMBOLS, LEADS = (*range(8, 14), 16)
EXPECTED, FREE_CELLS, CARDS_LEFT, IS_CELL = range(19, 23)
WEIGHTS = np.array(json.loads((DATA / "lookahead.json").read_text(encoding="utf-8"))["weights"], np.float64)
CONTROL = control_table(WEIGHTS)


@jit
def try_card(state, seat, kind, cell, near, due):
    """Lay a card and the village cards that it brings, and score; `undo` takes it back.

    Nobody knows a village card below the top one, so a second one is blank.

    Args:
        state: a game.
        seat: whose card it is.
        kind: of the card.
        cell: a free cell.
        near: the villages beside it, from `villages_beside`.
        due: bit set of the sides on which it brings new villages.
    """
    x, y, first = x_of(state, cell), y_of(state, cell), state.villages
    state.free[(CELL0 + cell) >> 6] &= ~bit((CELL0 + cell) & 63)
    for side in range(4):
        if near[side] >= 0:
            state.side[near[side], opposite(side)] = 1 + KINDS * seat + kind
            if surrounded(state, near[side]):
                score(state, near[side])
    for side in range(4):
        if due >> side & 1 and state.villages < VILLAGES:
            if state.villages > first:
                state.village_stack[state.villages] = 0
            lay_village(state, x + STEP_X[side], y + STEP_Y[side])


@jit
def undo(state, near, before):
    """Undo `try_card`; `before` is from `undo_info`."""
    villages, free, stones, stack = before
    for village in range(villages, state.villages):
        state.village_x[village] = 0
        state.village_y[village] = 0
        state.side[village] = 0
    for side in range(4):
        if near[side] >= 0:
            state.side[near[side], opposite(side)] = 0
    state.villages = villages
    state.free[:] = free
    state.stones[:] = stones
    state.village_stack[:] = stack


@jit
def undo_info(state):
    """Copy what `try_card` changes: villages laid, free cells, stones, village cards."""
    return state.villages, state.free.copy(), state.stones.copy(), state.village_stack.copy()


@jit
def best_gains(state, seat, cards, known, parameters, buffers, best):
    """Write the best gain of some kinds of card on each free cell.

    Args:
        state: a game.
        seat: whose cards they are.
        cards: int8, shape (KINDS,): above 0 for the kinds.
        known: what is known of the village cards, from `policy.known_symbols`.
        parameters: of the policy.
        buffers: two scratch arrays of `policy.write_gains`.
        best: float64, shape (CELLS,), out; only free cells are written.
    """
    importances, (around, gains) = importances_of(state, seat, parameters.weights), buffers
    for i in range(3):
        free = state.free[i]
        while free != EMPTY:
            cell = 64 * i + np.int64(lowest(free)) - CELL0
            free &= free - np.uint64(1)
            write_gains(state, seat, cards, cell, known, importances, parameters, around, gains)
            best[cell] = LOWEST
            for kind in range(KINDS):
                if cards[kind] > 0:
                    best[cell] = max(best[cell], gains[kind] - parameters.weights[PRICE + PRICE_OF[kind]])


@jit
def take_best(state, best):
    """Take the free cell of highest `best`; return the highest and the second highest, 0 if there is none."""
    first, second, where = LOWEST, LOWEST, -1
    for i in range(3):
        free = state.free[i]
        while free != EMPTY:
            cell = 64 * i + np.int64(lowest(free)) - CELL0
            free &= free - np.uint64(1)
            if best[cell] > first:
                first, second, where = best[cell], first, cell
            elif best[cell] > second:
                second = best[cell]
    if where < 0:
        return 0.0, 0.0
    state.free[(CELL0 + where) >> 6] &= ~bit((CELL0 + where) & 63)
    return first, max(second, -1.0)


@jit
def write_replies(state, seat, kind, known, parameters, buffers, best, row):
    """Write the gains of the opponents' replies to a card just tried, and of the seat's next card."""
    n = state.hand.shape[0]
    for player in range(1, n):
        other = (seat + player) % n
        best_gains(state, other, state.unseen[other], known, parameters, buffers, best)
        first, second = take_best(state, best)
        row[REPLY] += first / (n - 1)
        if player == 1:
            row[SECOND_REPLY] = second
    state.hand[seat, kind] -= 1
    best_gains(state, seat, state.hand[seat], known, parameters, buffers, best)
    state.hand[seat, kind] += 1
    row[NEXT_GAIN], row[SECOND_NEXT] = take_best(state, best)


@jit
def write_surroundings(state, seat, kind, near, due, row):
    """Write the features of the villages around a cell."""
    for side in range(4):
        row[NEW_VILLAGES] += due >> side & 1
        if near[side] < 0:
            row[BARE_SIDES] += 1 - (due >> side & 1)
            continue
        sides = state.side[near[side]]
        free = free_sides(sides)
        for shape in range(3):
            if free < 4 and state.village_stack[near[side]] >> shape & 1:
                lead = influence_lead(seat, influences(sides, shape), state.hand.shape[0]) + STRENGTH[kind, shape]
                row[SYMBOLS + free - 1] += 1
                row[LEADS + free - 1] += lead
                if free == 1:
                    row[SYMBOLS_WON] += np.sign(lead)


@jit
def write_features(state, features, parameters):
    """Write `action_features` with other parameters."""
    seat, n = state.seat, state.hand.shape[0]
    weights, importances = parameters.weights, importances_of(state, seat, parameters.weights)
    features[:] = 0.0
    features[:, LOOKAHEAD] = LOWEST
    if state.phase != CARD and state.phase != CELL:
        write_choice_logits(state, features[:, LOOKAHEAD], importances, parameters)
        return
    cards = state.hand[seat].copy()
    if state.phase == CELL:
        cards[:] = 0
        cards[state.card] = 1
    buffers, best = (np.empty((4, 4), np.int8), np.empty(KINDS)), np.empty(CELLS)
    opponent_best, own, row = np.empty(CELLS), np.empty(KINDS), np.empty(features.shape[1], features.dtype)
    before, known, returns = undo_info(state), known_symbols(state), np.empty(n)
    cards_left = state.unseen[seat].sum()
    unknown_top = known[1], known[1]  # after a village is laid, nobody knows the top card
    best_gains(state, (seat + 1) % n, state.unseen[(seat + 1) % n], known, parameters, buffers, opponent_best)
    for i in range(3):
        free = before[1][i]
        while free != EMPTY:
            cell = 64 * i + np.int64(lowest(free)) - CELL0
            free &= free - np.uint64(1)
            near, due = write_gains(
                state, seat, state.hand[seat], cell, known, importances, parameters, buffers[0], own
            )
            for kind in range(KINDS):
                if cards[kind] == 0:
                    continue
                row[:] = 0.0
                row[CARD_PRICE] = weights[PRICE + PRICE_OF[kind]]
                row[GAIN] = own[kind] - row[CARD_PRICE]
                row[OPPONENT_HERE] = max(opponent_best[cell], -1.0)
                row[OTHER_HERE] = best_other_gain(state.hand[seat], kind, own, weights)
                row[CARD_STRENGTH] = STRENGTH[kind].max()
                row[CARDS_LEFT], row[IS_CELL] = cards_left, state.phase == CELL
                write_surroundings(state, seat, kind, near, due, row)
                try_card(state, seat, kind, cell, near, due)
                known_after = unknown_top if state.villages > before[0] else known
                for word in range(3):
                    row[FREE_CELLS] += popcount(state.free[word])
                heuristic_value(state, returns)
                row[EXPECTED] = returns[seat]
                write_replies(state, seat, kind, known_after, parameters, buffers, best, row)
                undo(state, near, before)
                row[LOOKAHEAD] = row[GAIN] - weights[REPLIES] * row[REPLY] + weights[NEXT] * row[NEXT_GAIN]
                action = CELL0 + cell if state.phase == CELL else kind
                if row[LOOKAHEAD] > features[action, LOOKAHEAD]:
                    features[action] = row


@jit
def best_other_gain(hand, kind, gains, weights):
    """Best gain of a card of the hand other than one of this kind; 0 if there is none."""
    best, left = LOWEST, 0
    for other in range(KINDS):
        count = hand[other] - (other == kind)
        left += count
        if count > 0:
            best = max(best, gains[other] - weights[PRICE + PRICE_OF[other]])
    return best if left else 0.0


@jit
def action_features(state, features):
    """Write `COLUMNS` for each legal action of the seat to move (float32 (actions, columns)).

    Illegal actions get 0, and `LOWEST` in column 0. `state` changes on the way and is restored.
    """
    write_features(state, features, Parameters(WEIGHTS, CONTROL))
