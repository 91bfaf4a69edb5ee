"""Columns that the value features of the competitive games have in common: who stands how, and can expect what.

A row is a seat's (float32). *Pieces* are figures or stones, of three kinds; those still in play are *open*, in classes
by how soon they are taken.
"""

import numpy as np

from samurai_env.core.jit import inlined

# By kind: pieces taken, the lead in them over the best of the others, that one's lead over the next; the same of the
# pieces expected at the end; the sign of that lead.
TAKEN, LEAD, NEXT = 0, 3, 6
EXPECTED, EXPECTED_LEAD, AHEAD = 9, 12, 18
# In how many kinds a lead is expected; pieces taken and expected.
LEADS, ALL_TAKEN, ALL_EXPECTED = 21, 22, 23
# By class of open pieces: the expected share, those with the sole lead in influence by kind, those with a shared lead.
OPEN, CLASS_COLUMNS, CLASSES = 24, 5, 4
# Turns until the seat is to move, one of four columns.
TURN = OPEN + CLASS_COLUMNS * CLASSES
# Of a hand, after the kinds of tile or card: all that are left; by kind of piece the strength left, in hand, and of the
# strongest in hand.
HAND_COLUMNS = 10


def by_kind(*names: str) -> tuple[str, ...]:
    """Names of columns that there are for each kind of piece."""
    return tuple(f"{name}, kind {kind}" for name in names for kind in range(3))


def hand_columns(kinds: tuple[str, ...]) -> tuple[str, ...]:
    """Names of the columns of `write_hand`, by the names of the kinds of tile or card."""
    strengths = by_kind("strength left", "strength in hand", "strongest in hand")
    return (*(f"{kind} in hand" for kind in kinds), "left", *strengths)


def _open_columns(soon: int) -> tuple[str, ...]:
    shared = f"open in class {soon}, expected", f"open in class {soon}, shared lead"
    return (shared[0], *by_kind(f"open in class {soon}, sole lead"), shared[1])


COLUMNS = (
    *by_kind("taken", "lead", "next lead", "expected", "expected lead", "next expected lead", "ahead"),
    *("kinds ahead in", "all taken", "all expected"),
    *(name for soon in range(CLASSES) for name in _open_columns(soon)),
    *(f"to move in {turns}" for turns in range(4)),
)


@inlined
def write_open(influences, weights, kind, soon, rate, out):
    """Add an open piece of a kind to all rows.

    Args:
        influences: int64 (n,), of each seat on the piece.
        weights: float32 (at least largest influence + 1,), by influence less than the strongest: a seat's weight in
            the share of the piece.
        kind: of the piece.
        soon: its class.
        rate: the share of such pieces that a seat takes in the end.
        out: float32 (n, columns), the rows.
    """
    best, leaders, total, column = np.int64(0), 0, np.float32(0.0), OPEN + CLASS_COLUMNS * soon
    for seat in range(out.shape[0]):
        if influences[seat] > best:
            best, leaders = influences[seat], 1
        elif influences[seat] == best:
            leaders += 1
    for seat in range(out.shape[0]):
        total += weights[best - influences[seat]]
    for seat in range(out.shape[0]):
        share = rate * weights[best - influences[seat]] / total
        out[seat, EXPECTED + kind] += share
        out[seat, column] += share
        if influences[seat] == best and best > 0:
            out[seat, column + (1 + kind if leaders == 1 else 4)] += np.float32(1.0)


@inlined
def write_leads(seat, kind, first, lead, out):
    """Write the seat's lead over the best of the others in column `first` + kind, and that one's over the next."""
    best, second = np.float32(0.0), np.float32(0.0)
    for other in range(out.shape[0]):
        if other != seat:
            value = out[other, first + kind]
            if value > best:
                best, second = value, best
            else:
                second = max(second, value)
    out[seat, lead + kind] = out[seat, first + kind] - best
    out[seat, lead + 3 + kind] = best - second


@inlined
def write_standings(mover, out):
    """Write the columns that follow from `TAKEN` and `EXPECTED`, and the turns until each seat is to move."""
    for seat in range(out.shape[0]):
        row = out[seat]
        for kind in range(3):
            write_leads(seat, kind, TAKEN, LEAD, out)
            write_leads(seat, kind, EXPECTED, EXPECTED_LEAD, out)
            row[AHEAD + kind] = np.sign(row[EXPECTED_LEAD + kind])
            row[LEADS] += np.float32(row[EXPECTED_LEAD + kind] > np.float32(0.0))
            row[ALL_TAKEN] += row[TAKEN + kind]
            row[ALL_EXPECTED] += row[EXPECTED + kind]
        row[TURN + (seat - mover) % out.shape[0]] = np.float32(1.0)


@inlined
def write_hand(hand, unseen, strength, strongest, first, row):
    """Write a seat's hand and what it has left, from column `first` on.

    Args:
        hand: int8 (kinds,), by kind of tile or card, how many are in the hand.
        unseen: int8 (kinds,), the same of hand and supply together.
        strength: int8 (kinds, 3), by kind of piece.
        strongest: the same, 0 for those that do not count as the strongest.
        first: the column of the first kind of kinds + `HAND_COLUMNS`.
        row: float32 (columns,), out.
    """
    left = first + hand.shape[0]
    for kind in range(hand.shape[0]):
        held, there = np.float32(hand[kind]), np.float32(unseen[kind])
        row[first + kind] = held
        row[left] += there * np.float32(0.2)
        for piece in range(3):
            row[left + 1 + piece] += there * np.float32(strength[kind, piece]) * np.float32(0.25)
            row[left + 4 + piece] += held * np.float32(strength[kind, piece]) * np.float32(0.25)
            if held > np.float32(0.0):
                row[left + 7 + piece] = max(row[left + 7 + piece], np.float32(strongest[kind, piece]) * np.float32(0.5))
