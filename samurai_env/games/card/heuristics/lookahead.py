"""The heuristic with one move of look-ahead: what a card gains, less what the others gain then, and the own next one.

`policy` takes the cell that gains most and is blind to what it leaves to the next seat. Here each card is laid for
trial, the others take the best cells that remain, each by the best card that it may hold, and then the seat takes the
best one left for its hand. All gains are `policy`'s. It takes some forty times as long, too long for a roll-out;
networks read it, and with it what it is made of: the *action_features* of each action.
"""

import json

import numpy as np

from samurai_env.core.bits import bit, lowest, popcount
from samurai_env.core.jit import jit
from samurai_env.games.card.actions import CELL0
from samurai_env.games.card.heuristics.policy import (
    NEVER,
    PARAMETERS,
    PRICE,
    PRICE_OF,
    Judgement,
    free_sides,
    known_symbols,
    lead_of,
    prospects_of,
    score_choice,
    worths_of,
    write_gains,
)
from samurai_env.games.card.heuristics.value import heuristic_value
from samurai_env.games.card.rules.card_lists import DATA
from samurai_env.games.card.rules.cards import KINDS, STRENGTH
from samurai_env.games.card.rules.kernels import NONE, lay_village
from samurai_env.games.card.rules.kernels import cell_x as x_of
from samurai_env.games.card.rules.kernels import cell_y as y_of
from samurai_env.games.card.rules.scoring import influences, score, surrounded
from samurai_env.games.card.rules.topology import CELLS, STEP_X, STEP_Y, VILLAGES, opposite
from samurai_env.games.card.state import CARD, CELL

# Parameters: those of `policy`, a copy that stays when they are fitted again, since networks have learned by it; then
# how much what the others gain counts against a card, and how much what the own next card gains counts for it.
REPLIES, NEXT = range(PARAMETERS, PARAMETERS + 2)
# What networks read of each action; for a kind of card, of its best cell. Gains are less the price of the card.
COLUMNS = (
    "counsel: the gain of the card, less what the others gain then, with what the own next card gains",
    "gain of the card",
    "mean of what each other's best card gains then, one after the other on different cells",
    "what the next seat's card would gain on its second best cell",
    "what the own next card gains then",
    "what it would gain on its second best cell",
    "what the next seat's best card would gain on the cell itself",
    "what the best other card of the hand would gain on the cell itself",
    "price of the card",
    "strength of the card",
    "new villages that it brings",
    "sides of the cell without a village, also then",
    "symbols on villages beside the cell that the card completes: won less lost",
    *(f"symbols on villages beside the cell with {free} free sides" for free in (1, 2, 3)),
    *(f"sum of the leads in influence there, with {free} free sides" for free in (1, 2, 3)),
    "return to expect once the card lies, by the evaluation",
    "free cells once the card lies",
    "own cards not yet laid",
    "1 where a cell is chosen",
)
COUNSEL, GAIN, REPLY, SECOND_REPLY, NEXT_GAIN, SECOND_NEXT, RIVAL_HERE, OTHER_HERE = range(8)
COST, FORCE, BRINGS, BARE, WON, SYMBOLS, LEADS = (*range(8, 14), 16)
EXPECTED, FREE_CELLS, CARDS_LEFT, IS_CELL = range(19, 23)
WEIGHTS = np.array(json.loads((DATA / "counsel.json").read_text(encoding="utf-8"))["weights"], np.float64)
PROSPECTS = prospects_of(WEIGHTS)


@jit
def lay_for_trial(state, seat, kind, cell, near, due):
    """Lay a card and the village cards that it brings, and score, so that `take_back` can undo it.

    Nobody knows a village card below the top one, so a second one lies blank.

    Args:
        state: record of a game.
        seat: whose card it is.
        kind: of the card.
        cell: a free cell.
        near: the villages beside it, see `rules.villages_beside`.
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
def take_back(state, near, before):
    """Undo `lay_for_trial`; `before` is what `changing` gave."""
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
def changing(state):
    """What a trial changes, to be put back: villages laid, free cells, stones, village cards."""
    return state.villages, state.free.copy(), state.stones.copy(), state.village_stack.copy()


@jit
def best_gains(state, seat, cards, known, judgement, room, best):
    """Write what the best of some kinds of card gains on each free cell.

    Args:
        state: record of a game.
        seat: whose cards they are.
        cards: int8, shape (KINDS,): above 0 for the kinds.
        known: what is known of village cards, see `policy.known_symbols`.
        judgement: what gains are reckoned with.
        room: scratch for `policy.write_gains`.
        best: float64, shape (CELLS,), out; entries of cells that are not free stay as they are.
    """
    worths, (around, gains) = worths_of(state, seat, judgement.weights), room
    for i in range(3):
        free = state.free[i]
        while free != NONE:
            cell = 64 * i + np.int64(lowest(free)) - CELL0
            free &= free - np.uint64(1)
            write_gains(state, seat, cards, cell, known, worths, judgement, around, gains)
            best[cell] = NEVER
            for kind in range(KINDS):
                if cards[kind] > 0:
                    best[cell] = max(best[cell], gains[kind] - judgement.weights[PRICE + PRICE_OF[kind]])


@jit
def take_best(state, best):
    """The highest of `best` on a free cell, which then is free no longer, and the second highest; 0 for none."""
    first, second, where = NEVER, NEVER, -1
    for i in range(3):
        free = state.free[i]
        while free != NONE:
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
def look_ahead(state, seat, kind, known, judgement, room, best, look):
    """Write what the others' next cards and the own one after them gain once a card has been laid for trial."""
    n = state.hand.shape[0]
    for player in range(1, n):
        other = (seat + player) % n
        best_gains(state, other, state.unseen[other], known, judgement, room, best)
        first, second = take_best(state, best)
        look[REPLY] += first / (n - 1)
        if player == 1:
            look[SECOND_REPLY] = second
    state.hand[seat, kind] -= 1
    best_gains(state, seat, state.hand[seat], known, judgement, room, best)
    state.hand[seat, kind] += 1
    look[NEXT_GAIN], look[SECOND_NEXT] = take_best(state, best)


@jit
def look_around_cell(state, seat, kind, near, due, look):
    """Write what lies around a cell for a card that may be laid there."""
    for side in range(4):
        look[BRINGS] += due >> side & 1
        if near[side] < 0:
            look[BARE] += 1 - (due >> side & 1)
            continue
        sides = state.side[near[side]]
        free = free_sides(sides)
        for shape in range(3):
            if free < 4 and state.village_stack[near[side]] >> shape & 1:
                lead = lead_of(seat, influences(sides, shape), state.hand.shape[0]) + STRENGTH[kind, shape]
                look[SYMBOLS + free - 1] += 1
                look[LEADS + free - 1] += lead
                if free == 1:
                    look[WON] += np.sign(lead)


@jit
def write_looks(state, looks, judgement):
    """`action_features` with a given judgement."""
    seat, n = state.seat, state.hand.shape[0]
    weights, worths = judgement.weights, worths_of(state, seat, judgement.weights)
    looks[:] = 0.0
    looks[:, COUNSEL] = NEVER
    if state.phase != CARD and state.phase != CELL:
        score_choice(state, looks[:, COUNSEL], worths, judgement)
        return
    cards = state.hand[seat].copy()
    if state.phase == CELL:
        cards[:] = 0
        cards[state.card] = 1
    room, best = (np.empty((4, 4), np.int8), np.empty(KINDS)), np.empty(CELLS)
    rivals, own, look = np.empty(CELLS), np.empty(KINDS), np.empty(looks.shape[1], looks.dtype)
    before, known, returns = changing(state), known_symbols(state), np.empty(n)
    cards_left = state.unseen[seat].sum()
    turned_up = known[1], known[1]  # which card lies on top once a village has been laid nobody knows
    best_gains(state, (seat + 1) % n, state.unseen[(seat + 1) % n], known, judgement, room, rivals)
    for i in range(3):
        free = before[1][i]
        while free != NONE:
            cell = 64 * i + np.int64(lowest(free)) - CELL0
            free &= free - np.uint64(1)
            near, due = write_gains(state, seat, state.hand[seat], cell, known, worths, judgement, room[0], own)
            for kind in range(KINDS):
                if cards[kind] == 0:
                    continue
                look[:] = 0.0
                look[COST] = weights[PRICE + PRICE_OF[kind]]
                look[GAIN] = own[kind] - look[COST]
                look[RIVAL_HERE] = max(rivals[cell], -1.0)
                look[OTHER_HERE] = best_other(state.hand[seat], kind, own, weights)
                look[FORCE] = STRENGTH[kind].max()
                look[CARDS_LEFT], look[IS_CELL] = cards_left, state.phase == CELL
                look_around_cell(state, seat, kind, near, due, look)
                lay_for_trial(state, seat, kind, cell, near, due)
                then = turned_up if state.villages > before[0] else known
                for word in range(3):
                    look[FREE_CELLS] += popcount(state.free[word])
                heuristic_value(state, returns)
                look[EXPECTED] = returns[seat]
                look_ahead(state, seat, kind, then, judgement, room, best, look)
                take_back(state, near, before)
                look[COUNSEL] = look[GAIN] - weights[REPLIES] * look[REPLY] + weights[NEXT] * look[NEXT_GAIN]
                action = CELL0 + cell if state.phase == CELL else kind
                if look[COUNSEL] > looks[action, COUNSEL]:
                    looks[action] = look


@jit
def best_other(hand, kind, gains, weights):
    """What the best card of the hand but one of this kind gains; 0 if there is none."""
    best, left = NEVER, 0
    for other in range(KINDS):
        count = hand[other] - (other == kind)
        left += count
        if count > 0:
            best = max(best, gains[other] - weights[PRICE + PRICE_OF[other]])
    return best if left else 0.0


@jit
def action_features(state, looks):
    """Write `COLUMNS` for every legal action of the seat to move (float32, (actions, columns)).

    The others have 0, but a counsel of NEVER.

    `state` is changed on the way and is as before afterwards.
    """
    write_looks(state, looks, Judgement(WEIGHTS, PROSPECTS))
