"""One table: who sits where, the decisions so far, and who may see what."""

import gzip
import json
import secrets
import time
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field

import numpy as np

from samurai_env import Position, Variant, parse_variant
from samurai_env.display import svg
from samurai_env.display.scene import Scene
from samurai_env.game_record import GameRecord, move_ranges

PERSON = "person"
LOOKS = 16  # determinizations that decide whether a decision has uncovered something


class TableError(ValueError):
    """A request that a table refuses; the text says why, in a line."""


@dataclass
class Table:
    """A game in progress, or a record that is looked at.

    Attributes:
        name: of the table, a random word that is never shown to a seat.
        variant: the game with its options.
        seed: of the deal; gives everything away.
        players: by seat: `PERSON`, the spec of an agent, or "" for a record that nobody plays on.
        tokens: by seat, what opens the seat's view; "" for seats that are not a person's.
        watch: token of the view that sees everything; "" while a person plays.
        actions: the decisions so far.
        created: seconds since 1970.
        start: the position from which the game goes on, as text; "" if it begins as `seed` deals.
        tags: of a record.
        salts: by seat, the salt of its agent's keys; () for the number of the seat.
        error: which agent cannot go on; "" if all is well.
        reason: why, which may name what is hidden; for those that see everything.
        visited: when somebody last asked for it, or the server opened it; seconds since 1970.
        version: grows with every change; clients wait for the next. It starts with the time, so that a server that was
            started again is not behind.
    """

    name: str
    variant: Variant
    seed: int
    players: tuple[str, ...]
    tokens: tuple[str, ...]
    watch: str
    actions: list[int] = field(default_factory=list)
    created: float = field(default_factory=time.time)
    start: str = ""
    tags: dict[str, str] = field(default_factory=dict)
    salts: tuple[int, ...] = ()
    error: str = ""
    reason: str = ""
    visited: float = field(default_factory=time.time)
    version: int = field(default_factory=lambda: int(1000 * time.time()))

    def __post_init__(self) -> None:
        """Play the decisions.

        Raises:
            IllegalActionError: one of them is not legal.
            ValueError: players, tokens or salts of another number of seats.
        """
        seats = self.variant.num_players
        if not len(self.players) == len(self.tokens) == seats or len(self.salts) not in (0, seats):
            raise ValueError(f"a table of {self.variant.spec} has {seats} players, tokens and salts")
        self.positions = [Position.from_text(self.start) if self.start else Position(self.variant, self.seed)]
        actions, self.actions = self.actions, []
        for action in actions:
            self._add(action)

    @classmethod
    def new(
        cls,
        variant: Variant,
        players: Sequence[str],
        seed: int | None = None,
        start: str = "",
        salts: tuple[int, ...] = (),
    ) -> "Table":
        """A table with fresh tokens, and a fresh deal unless a seed or a position to start from is given."""
        seed = secrets.randbits(63) if seed is None else seed
        people = [player == PERSON for player in players]
        tokens = tuple(secrets.token_urlsafe(24) if person else "" for person in people)
        watch = "" if any(people) else secrets.token_urlsafe(24)
        return cls(secrets.token_urlsafe(12), variant, seed, tuple(players), tokens, watch, start=start, salts=salts)

    @classmethod
    def of_record(cls, record: GameRecord) -> "Table":
        """A table on which a record is looked at."""
        nobody = ("",) * record.variant.num_players
        watch, name = secrets.token_urlsafe(24), secrets.token_urlsafe(12)
        start = record.start.to_text() if record.start else ""
        actions = list(record.actions)
        return cls(name, record.variant, record.seed, nobody, nobody, watch, actions, start=start, tags=record.tags)

    def snapshot(self) -> "Table":
        """The table as it is now, for another thread to look at."""
        table = copy(self)
        table.actions, table.positions = list(self.actions), list(self.positions)
        return table

    def head(self) -> str:
        """All but the decisions, as JSON."""
        return json.dumps(
            {
                "variant": self.variant.spec,
                "seed": self.seed,
                "players": self.players,
                "tokens": self.tokens,
                "watch": self.watch,
                "start": self.start,
                "tags": self.tags,
                "salts": self.salts,
            }
        )

    @classmethod
    def restore(cls, name: str, created: float, head: str, actions: list[int]) -> "Table":
        """The table that was stored."""
        saved = json.loads(head)
        return cls(
            name,
            parse_variant(saved["variant"]),
            saved["seed"],
            tuple(saved["players"]),
            tuple(saved["tokens"]),
            saved["watch"],
            list(actions),
            created,
            saved.get("start", ""),
            saved["tags"],
            tuple(saved.get("salts", ())),
        )

    # --- The game ---

    @property
    def position(self) -> Position:
        """The last position; not to be changed."""
        return self.positions[-1]

    @property
    def has_people(self) -> bool:
        """Whether somebody plays here in person."""
        return PERSON in self.players

    @property
    def salt(self) -> int:
        """The salt of the keys of the seat to move."""
        return self.salts[self.position.seat] if self.salts else self.position.seat

    @property
    def to_move(self) -> str:
        """Who is to move, as in `players`; "" once over."""
        return "" if self.position.over else self.players[self.position.seat]

    def _add(self, action: int) -> None:
        position = self.position.clone()
        position.step(action)
        self.positions.append(position)
        self.actions.append(int(action))
        self.version += 1

    def play(self, seat: int, action: int, count: int) -> None:
        """Carry out a decision of a seat.

        Args:
            seat: who decides.
            action: what.
            count: decisions that the seat has seen, so that no click is meant for another position.

        Raises:
            TableError: it is not this seat's decision, or the game has moved on.
            IllegalActionError: not legal.
        """
        if self.position.over:
            raise TableError("the game is over")
        if self.position.seat != seat:
            raise TableError(f"seat {self.position.seat} is to move, not seat {seat}")
        if count != len(self.actions):
            raise TableError("the game has moved on since")
        self._add(action)

    def forget_last(self) -> None:
        """Undo the last decision, which could not be written down."""
        del self.actions[-1], self.positions[-1]
        self.version += 1

    def taken_back(self, seat: int) -> int:
        """How many decisions remain after the half-made move of a seat is taken back.

        Raises:
            TableError: there is nothing that this seat may take back.
        """
        start = self.move_start(len(self.actions))
        if self.position.over or not self.position.mid_move or self.position.seat != seat or start == len(self.actions):
            raise TableError("there is no half-made move to take back")
        if self.positions[start].seat != seat or self._uncovered(seat, start):
            raise TableError("the move has uncovered something and cannot be taken back")
        return start

    def take_back(self, seat: int) -> int:
        """Undo the half-made move of a seat; errors as `taken_back`, whose number it returns."""
        start = self.taken_back(seat)
        del self.actions[start:], self.positions[start + 1 :]
        self.version += 1
        return start

    def _uncovered(self, seat: int, start: int) -> bool:
        """Whether what the seat sees now does not follow from what it saw before and what it did."""
        before, now = self.positions[start], self.position.observe(seat)
        rng = np.array([len(self.actions)], np.uint64)
        for _ in range(LOOKS):
            other = before.determinized(seat, rng)
            for action in self.actions[start:]:
                if not other.legal_mask()[action]:
                    return True
                other.step(action)
            if not np.array_equal(other.observe(seat), now):
                return True
        return False

    # --- Moves ---

    def move_start(self, ply: int) -> int:
        """The number of decisions before the move that the decision before `ply` belongs to."""
        start = max(0, ply - 1)
        while start > 0 and self.positions[start].mid_move:
            start -= 1
        return start

    def moves(self, viewer: int | None) -> list[dict[str, object]]:
        """Each whole move as a seat may know it: `seat`, `text`, `words`, and `ply`, the decisions after it.

        A half-made move of another seat is left out; a secret one has no text and no words until the game is over.
        """
        found, game = [], self.variant.game
        for move in move_ranges([position.mid_move for position in self.positions[1 : len(self.actions) + 1]]):
            before = self.positions[move.start]
            own = viewer is None or viewer == before.seat or self.position.over
            if own or not self.positions[move.stop].mid_move:
                actions, text, words = self.actions[move.start : move.stop], "", ""
                if own or not game.secret(before.state):
                    text, words = game.format_move(before.state, actions), game.move_words(before.state, actions)
                found.append({"seat": before.seat, "text": text, "words": words, "ply": move.stop})
        return found

    def record(self) -> GameRecord:
        """The game record; shows everything."""
        tags = self.tags or {f"player{seat}": player for seat, player in enumerate(self.players) if player}
        start = self.positions[0] if self.start else None
        return GameRecord.from_actions(self.variant, self.seed, self.actions, tags, start)


def known_plies(table: Table, viewer: int | None) -> int:
    """How many decisions a viewer may know of: not what another seat has chosen and may still take back."""
    if viewer is None or table.position.seat == viewer:
        return len(table.actions)
    try:
        return table.taken_back(table.position.seat)
    except TableError:
        return len(table.actions)


def shown_ply(table: Table, viewer: int | None, ply: int | None) -> int:
    """After how many decisions a viewer looks; a seat sees the last position alone until the game is over."""
    last = known_plies(table, viewer)
    if ply is None or (viewer is not None and not table.position.over):
        return last
    return max(0, min(ply, last))


def seen(table: Table, viewer: int | None, ply: int | None = None) -> Scene:
    """The picture of a position; arguments as for `view`."""
    ply = shown_ply(table, viewer, ply)
    start = table.move_start(ply) if ply else 0
    seat = None if table.position.over else viewer
    return table.variant.game.scene(table.positions[ply].state, seat, table.actions[start:ply])


def entries(variant: Variant, scene: Scene, actions: Sequence[int]) -> list[dict[str, object]]:
    """Actions as the page shows them: `id`, `name`, `label` and `targets`, the places of the picture that choose it."""
    names, on_target = variant.action_names, dict[int, list[str]]()
    for name, target in scene.targets.items():
        for action in target.actions:
            on_target.setdefault(action, []).append(name)
    return [
        {"id": a, "name": names[a], "label": scene.labels.get(a, names[a]), "targets": on_target.get(a, [])}
        for a in actions
    ]


def view(table: Table, viewer: int | None, ply: int | None = None) -> dict[str, object]:
    """The view that a browser shows: all that leaves the server of a game is made here, from what the viewer may know.

    Args:
        table: the table.
        viewer: the seat that looks; None sees everything.
        ply: after how many decisions; the last position if None. A seat sees the last one alone until the end.
    """
    variant, ply = table.variant, shown_ply(table, viewer, ply)
    position = table.positions[ply].clone()  # which other threads do not touch
    scene = seen(table, viewer, ply)
    may_choose = not position.over and viewer in (None, position.seat)
    legal = entries(variant, scene, position.legal_actions() if may_choose else ())
    try:
        can_take_back = viewer is not None and table.taken_back(viewer) >= 0
    except TableError:
        can_take_back = False
    return {
        "title": variant.game.title,
        "cooperative": variant.game.cooperative,
        "editable": viewer is None or table.position.over,
        "variant": variant.spec,
        "players": table.players,
        "viewer": viewer,
        "ply": ply,
        "count": known_plies(table, viewer),
        "version": table.version,
        "caption": scene.caption,
        "seat": position.seat,
        "over": table.position.over,
        "at_end": position.over,
        "returns": [float(value) for value in position.returns()] if position.over else None,
        "mine": viewer is not None and not table.position.over and position.seat == viewer,
        "can_take_back": can_take_back,
        "legal": legal,
        "clickable": sorted({name for name, target in scene.targets.items() if target.actions}),
        "moves": table.moves(viewer),
        "svg": svg(scene),
        "panels": {name: vars(panel) for name, panel in scene.panels.items()},
        "error": table.error if viewer is not None and not table.position.over else table.error + table.reason,
        "tags": table.tags if viewer is None or table.position.over else {},
    }


def packed_view(table: Table, viewer: int | None, ply: int | None = None) -> bytes:
    """`view` as JSON, gzipped."""
    text = json.dumps(view(table, viewer, ply), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return gzip.compress(text.encode(), 4, mtime=0)
