"""Positions of the board game laid out by hand, and played and read by names."""

from collections import Counter

import numpy as np

from samurai_env.core.game import find_game
from samurai_env.games.board.actions import LAND0, SEA0
from samurai_env.games.board.rules.tiles import KIND_CODES, PLAIN, STRENGTH, TILES
from samurai_env.games.board.rules.topology import LAND, LANDS, SEA, SEAS, SETTLEMENT, SETTLEMENTS, Hex
from samurai_env.games.board.state import PHASES, TILE
from samurai_env.position import Position

KINDS = len(KIND_CODES)
FIGURES = "HBR"


class Table:
    """A position of the board game.

    Attributes:
        position: the position; `state` is its state.
    """

    def __init__(self, position: Position) -> None:
        self.position = position
        self.n = position.variant.num_players
        self.names = position.variant.action_names
        self.towns = [h.label for h in SETTLEMENT[: SETTLEMENTS[self.n]]]

    @property
    def state(self) -> np.void:
        return self.position.state

    def act(self, *actions: str) -> None:
        """Carry out actions, by name."""
        for action in actions:
            self.position.step(self.names.index(action))

    def legal(self) -> set[str]:
        return {self.names[action] for action in self.position.legal_actions()}

    @property
    def phase(self) -> str:
        return PHASES[self.state["phase"]]

    def hand(self, seat: int) -> Counter[str]:
        counts = zip(KIND_CODES, self.state["hand"][seat].tolist(), strict=True)
        return Counter({code: count for code, count in counts if count})

    def supply(self, seat: int) -> list[str]:
        return [KIND_CODES[kind] for kind in self.state["supply"][seat, self.state["drawn"][seat] :]]

    def figures(self, town: str) -> set[str]:
        bit = self.towns.index(town)
        return {f for f, word in zip(FIGURES, self.state["figures"], strict=True) if int(word) >> bit & 1}

    def all_figures(self) -> dict[str, set[str]]:
        return {town: self.figures(town) for town in self.towns}

    def captured(self) -> list[dict[str, int]]:
        """By seat: the figures taken, kinds of which there are none left out."""
        return [{f: int(c) for f, c in zip(FIGURES, row, strict=True) if c} for row in self.state["captured"]]

    def aside(self) -> dict[str, int]:
        return {f: int(c) for f, c in zip(FIGURES, self.state["aside"], strict=True) if c}

    def pool(self) -> dict[str, int]:
        return {f: int(c) for f, c in zip(FIGURES, self.state["pool"], strict=True) if c}

    def tiles(self) -> dict[str, tuple[int, str]]:
        """Who lies where: hex -> (seat, kind)."""
        lands = self.names[LAND0 : LAND0 + LANDS[self.n]]
        seas = self.names[SEA0[self.n] : SEA0[self.n] + SEAS[self.n]]
        codes = [*self.state["land_tile"].tolist(), *self.state["sea_tile"].tolist()]
        placed = zip((*lands, *seas), codes, strict=True)
        return {h: ((code - 1) // KINDS, KIND_CODES[(code - 1) % KINDS]) for h, code in placed if code}

    def influence(self, town: str, figure: str) -> list[int]:
        return self.state["influence"][:, self.towns.index(town), FIGURES.index(figure)].tolist()

    def land(self) -> set[str]:
        """All open land hexes in play."""
        return set(self.names[LAND0 : LAND0 + LANDS[self.n]])

    def sea(self) -> set[str]:
        return set(self.names[SEA0[self.n] : SEA0[self.n] + SEAS[self.n]])

    @property
    def winners(self) -> list[int]:
        return [seat for seat in range(self.n) if int(self.state["winners"]) >> seat & 1]


def new_table(players: int = 2, seed: int = 0, **options: str) -> Table:
    """A game just begun."""
    return Table(Position(find_game("samurai").variant(players, **options), seed))


def laid_out(
    edition: str,
    hands: list[str],
    tiles: dict[str, tuple[int, str]] | None = None,
    figures: dict[str, str] | None = None,
    supplies: list[str] | None = None,
    seat: int = 0,
    aside: str = "",
) -> Table:
    """A position at the start of a turn.

    Args:
        edition: the rules.
        hands: by seat, such as "S2 RO".
        tiles: hex -> (seat, kind) of the tiles on the board.
        figures: settlement -> figures, for a change of a random set-up; with {"only": ""} of an empty board.
        supplies: by seat, in the order in which they are drawn (default: none left).
        seat: the seat to move.
        aside: figures set aside, such as "HHB".
    """
    table = new_table(len(hands), 1, edition=edition, first_hand="random", figure_setup="random")
    state = table.state
    for player, hand in enumerate(hands):
        held, row = hand.split(), (supplies or [""] * len(hands))[player].split()
        put_tiles(state, player, held, row)
    figures = dict(figures or {})
    if "only" in figures:
        del figures["only"]
        state["figures"] = 0
    for town, there in figures.items():
        bit = np.uint64(1 << table.towns.index(town))
        for i, figure in enumerate(FIGURES):
            state["figures"][i] = state["figures"][i] | bit if figure in there else state["figures"][i] & ~bit
    for place, (owner, code) in (tiles or {}).items():
        put_tile(table, place, owner, code)
    for figure in aside:
        state["aside"][FIGURES.index(figure)] += 1
    state["seat"], state["phase"] = seat, TILE
    return table


def put_tiles(state: np.void, seat: int, hand: list[str], supply: list[str]) -> None:
    """Give a seat these tiles."""
    counts = {name: [codes.count(code) for code in KIND_CODES] for name, codes in (("hand", hand), ("row", supply))}
    state["hand"][seat] = counts["hand"]
    state["unseen"][seat] = np.add(counts["hand"], counts["row"])
    state["kinds"][seat] = sum(1 << KIND_CODES.index(code) for code in set(hand))
    state["hand_size"][seat], state["supply_size"][seat] = len(hand), len(supply)
    state["drawn"][seat] = TILES - len(supply)
    state["supply"][seat, TILES - len(supply) :] = [KIND_CODES.index(code) for code in supply]


def put_tile(table: Table, place: str, owner: int, code: str) -> None:
    """Lay a tile on an empty hex, with all that follows from it (nothing is captured)."""
    state, kind = table.state, KIND_CODES.index(code)
    found = next(
        (kind_of, i, h) for kind_of, hexes in (("land", LAND), ("sea", SEA)) for i, h in numbered(hexes, place)
    )
    terrain, index, hex_ = found
    state[f"{terrain}_tile"][index] = 1 + KINDS * owner + kind
    if terrain == "land":
        state["land_strength"][index] = STRENGTH[kind]
        state["land_free"] &= ~np.uint64(1 << index)
        if int(PLAIN) >> kind & 1 and code != "TX":
            state["movable"][owner] |= np.uint64(1 << index)
    else:
        state["sea_free"][index // 64] &= ~np.uint64(1 << index % 64)
    for town, settlement in enumerate(SETTLEMENT[: len(table.towns)]):
        if (settlement.col, settlement.row) in hex_.neighbours():
            state["influence"][owner, town] += STRENGTH[kind]


def numbered(hexes: list[Hex], label: str) -> list[tuple[int, Hex]]:
    """The hex with this label and its number, if it is among these."""
    return [(i, h) for i, h in enumerate(hexes) if h.label == label]
