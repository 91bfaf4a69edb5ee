"""Players that nobody would be, one-sided on purpose: they lead where random and sensible play do not.

Each is a list of wishes: the first that some legal action fulfils is followed. A wish gets the match (the position on
both sides, see `tests.agreement.match`) and the name of an action.
"""

import random
from collections.abc import Callable

from tests.agreement.match import Chooser, Match

Wish = Callable[[Match, str], bool]
NOISE = 0.1  # the share of decisions that are made at random all the same


def among(*names: str) -> Wish:
    """One of these actions."""
    return lambda match, action: action in names


def begins(*starts: str) -> Wish:
    """An action whose name begins so."""
    return lambda match, action: action.startswith(starts)


def not_begins(*starts: str) -> Wish:
    """An action whose name does not begin so."""
    return lambda match, action: not action.startswith(starts)


# ---------------------------------------------------------------- the board game


def fills(match: Match, action: str) -> bool:
    """A hex that is the last empty one beside a settlement."""
    return any(match.empty[town] == 1 for town in match.t.beside.get(action, ()))


def fills_nothing(match: Match, action: str) -> bool:
    """A hex that surrounds no settlement."""
    return action in match.t.beside and not fills(match, action)


def beside_figure(figure: str) -> Wish:
    """A hex beside such a figure."""
    return lambda match, action: any(figure in match.game.figures[town] for town in match.t.beside.get(action, ()))


BOARD: dict[str, list[Wish]] = {
    "hoards tiles": [among("end"), begins("FX", "TX"), among("idle")],
    "hoards quick tiles": [among("end"), not_begins("SH", "RO", "FX")],
    "spends all": [begins("SH", "RO", "FX"), not_begins("end")],
    "always exchanges": [begins("FX"), begins("TX"), not_begins("end", "idle")],
    "idles": [among("FX"), among("idle"), not_begins("end")],
    "avoids captures": [fills_nothing, begins("SH", "FX"), among("end")],
    "captures": [fills, not_begins("SH", "FX", "end")],
    "rushes helmets": [beside_figure("H"), begins("H"), begins("S"), not_begins("end")],
    "rushes buddhas": [beside_figure("B"), begins("B"), begins("S"), not_begins("end")],
    "rushes rice": [beside_figure("R"), begins("R"), begins("S"), not_begins("end")],
}


# ---------------------------------------------------------------- the card game


def due(least: int, most: int) -> Wish:
    """A cell whose card brings so many villages."""

    def wish(match: Match, action: str) -> bool:
        cells = match.game.open_cells()
        return action in cells and least <= match.villages_due(cells[action]) <= most

    return wish


def far(match: Match, action: str) -> bool:
    """A cell on the edge of the table, in one direction."""
    cells = match.game.open_cells()
    return action in cells and cells[action][0] == max(x for x, _ in cells.values())


CARD: dict[str, list[Wish]] = {
    "saves samurai": [not_begins("S")],
    "saves the rest": [begins("S")],
    "rushes helmets": [begins("H")],
    "rushes buddhas": [begins("B")],
    "rushes rice": [begins("R")],
    "builds": [due(2, 4), due(1, 1)],
    "avoids villages": [due(0, 0)],
    "goes east": [far],
}


# ---------------------------------------------------------------- Samurai Spirit

SPIRIT: dict[str, list[Wish]] = {
    "fights": [among("fight"), among("attack")],
    "defends": [among("fight"), among("defend")],
    "passes": [among("pass")],
    "supports": [among("support"), begins("player"), begins("token"), among("kiai")],
    "passes cards on": [among("fight"), begins("player"), among("defend")],
    "replaces and discards": [among("fight"), among("replace", "discard"), among("defend")],
    "says no": [among("none"), among("ignore"), among("pass")],
    "says yes": [among("kiai"), begins("token", "player", "top"), among("fight")],
    "suffers": [among("suffer"), among("fight"), among("attack")],
    "sensible": [],
}

ODD = {"samurai": BOARD, "samurai_card": CARD, "samurai_spirit": SPIRIT}


def odd_table(game: str, seed: int) -> Chooser:
    """Who decides in the game of `seed`: an odd player at every seat, or the match's own choice there."""
    rng = random.Random(f"odd {seed}")
    kinds = list(ODD[game].values())
    seats = [rng.choice(kinds) if rng.random() < 0.8 else [] for _ in range(7)]
    if rng.random() < 0.3:  # all of one mind
        seats = [rng.choice(kinds)] * 7

    def choose(match: Match, legal: list[str]) -> str:
        wishes = seats[match.position.seat]
        if not wishes:
            return match.choose(legal)
        if rng.random() < NOISE:
            return rng.choice(legal)
        for wish in wishes:
            if wanted := [action for action in legal if wish(match, action)]:
                return rng.choice(wanted)
        return rng.choice(legal)

    return choose
