"""The card game's side of `tests.agreement.match`: the reference dealt like the core, and every field compared."""

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from functools import cache

import numpy as np

from samurai_env.games.card.actions import CELL0
from samurai_env.games.card.observation import WINDOW
from samurai_env.games.card.rules.cards import KIND_CODES, VILLAGE_CODES
from samurai_env.games.card.rules.topology import SIDES, VILLAGES
from samurai_env.games.card.state import PHASES
from samurai_env.position import Position
from tests.agreement.match import Match as Base
from tests.agreement.state_bytes import StateBytes
from tests.reference import card as reference

Cell = tuple[int, int]
KIND = {code: i for i, code in enumerate(KIND_CODES)}
CHESSBOARD = np.indices((WINDOW, WINDOW)).sum(0) % 2
STEPS = {"N": (0, -1), "E": (1, 0), "S": (0, 1), "W": (-1, 0)}
# What the state holds beyond the reference.
OWN_AFFAIRS = ("seed", "rng", "steps", "copies", "village_copies")
# What a seat has, in the order of `Match.row_of`.
OF_SEATS = ("hand", "kinds", "unseen", "stack", "drawn")
BY_PLAYER = ("unseen", "hand_size", "stack_size", "stones", "first", "to_move")


def counts(cards: Iterable[str] | Mapping[str, int], codes: Iterable[str]) -> list[int]:
    """How often each code comes up."""
    found = cards if isinstance(cards, dict) else Counter(cards)
    return [found.get(code, 0) for code in codes]


@cache
def strengths(code: str) -> tuple[int, ...]:
    """What a card adds to its owner's influence, by shape."""
    return tuple(int(code[1]) * (code[0] in (shape, "S")) for shape in "HBR")


@cache
def bit_of(name: str) -> int:
    """The bit of an open cell, by its name."""
    return 1 << CELL0 + 4 * int(name[1:-1]) + SIDES.index(name[-1])


@cache
def around(cell: Cell) -> dict[str, Cell]:
    """The places on the four sides of a place."""
    return {side: (cell[0] + dx, cell[1] + dy) for side, (dx, dy) in STEPS.items()}


def with_later_ones(rows: list) -> np.ndarray:
    """The rows of villages that lie, and zeros for those that may come."""
    values = np.array(rows, np.int16)
    found = np.zeros((VILLAGES, *values.shape[1:]), np.int16)
    found[: len(rows)] = values
    return found


def alike(ours: list[float], theirs: list[float]) -> bool:
    """Whether numbers are the same but for rounding."""
    return max(abs(one - other) for one, other in zip(ours, theirs, strict=True)) <= 1e-6


class Reference(reference.CardGame):
    """The reference, which looks for the open cells once after each change of the board."""

    looked_at = 0  # places filled when the open cells were last looked for; the board only grows

    def open_cells(self) -> dict[str, Cell]:
        if self.looked_at != len(self.board):
            self.cells, self.looked_at = super().open_cells(), len(self.board)
        return self.cells


class Style:
    """How one seat plays in one game: where it likes to lay its cards."""

    def __init__(self, rng: random.Random) -> None:
        self.place = rng.choice(("anywhere", "close", "far", "many villages", "no village"))


class Match(Base):
    """One card game on both sides."""

    def __init__(self, position: Position, rng: random.Random) -> None:
        super().__init__(position, rng)
        self.n = position.variant.num_players
        state = position.state
        orders = []
        for seat in range(self.n):
            hand = [code for code, count in zip(KIND_CODES, state["hand"][seat], strict=True) for _ in range(count)]
            orders.append(hand + [KIND_CODES[kind] for kind in state["stack"][seat] if kind >= 0])
        villages = [VILLAGE_CODES[kind - 1] for kind in state["village_stack"]]
        self.game = Reference(self.n, orders, villages, int(state["first_seat"]))
        self.villages = villages
        self.expected = StateBytes(position.states)
        self.encodings = {name: position.variant.encoding(name) for name in ("flat", "tokens", "planes")}
        self.slices = {name: encoding.slices() for name, encoding in self.encodings.items()}
        self.styles = [Style(rng) for _ in range(self.n)]
        if rng.random() < 0.3:  # all of one mind: the board closes, or spreads far
            self.styles = [self.styles[0]] * self.n
        self.size = len(self.game.stacks[0]) + reference.HAND_SIZE  # cards of a player
        self.rows: list[tuple[bytes, ...]] = [()] * self.n
        self.expected.fields["village_stack"] = bytes([VILLAGE_CODES.index(code) + 1 for code in villages])
        self.expected.set_number("first_seat", self.game.first)
        self.expected.set_number("first_drawn", position.variant.options["first"] == "random")
        self.expect_hands(range(self.n))
        self.expect_board()

    # ------------------------------------------------------------ playing

    def legal(self) -> set[str]:
        return self.game.legal()

    def choose(self, legal: list[str]) -> str:
        style = self.styles[self.game.seat].place
        if self.game.phase != "cell" or style == "anywhere" or self.rng.random() < 0.1:
            return self.rng.choice(legal)
        cells = self.game.open_cells()
        few = legal if style == "no village" else self.rng.sample(legal, min(len(legal), 8))
        if style in ("close", "far"):
            worth = {name: abs(cells[name][0]) + abs(cells[name][1]) for name in few}
        else:
            worth = {name: self.villages_due(cells[name]) for name in few}
        best = max if style in ("far", "many villages") else min
        return best(few, key=worth.__getitem__)

    def villages_due(self, cell: Cell) -> int:
        """How many villages a card of the mover on a cell would bring."""
        board, (x, y) = self.game.board, cell
        due = 0
        for dx, dy in STEPS.values():
            if (x + dx, y + dy) not in board:
                for sign in (-1, 1):  # a village at a right angle, with a rival's card on the side of the free place
                    village = board.get((x + sign * dy, y + sign * dx))
                    card = board.get((x + sign * dy + dx, y + sign * dx + dy))
                    if village and card and card[1] != self.game.seat:
                        due += 1
                        break
        return due

    def apply(self, action: str) -> None:
        game, events = self.game, self.events
        before, villages, seat = game.phase, len(game.village_cells), game.seat
        stones = sum(s.total() for s in game.stones)
        cards = len(game.board)
        game.apply(action)
        if before != "card":
            self.expect_hands([seat])
        if len(game.board) != cards:
            self.expect_board()
        events[f"phase {before}"] += 1
        events["stones taken"] += sum(s.total() for s in game.stones) - stones
        if before == "village" and len(game.village_cells) == villages + 1:
            events["choice with one card left"] += 1
        if game.phase == "card" or game.over:
            self.count_turn(seat)

    def count_turn(self, seat: int) -> None:
        """Count what a turn's end can bring."""
        game, events = self.game, self.events
        events["turn"] += 1
        events["board width"] = max(events["board width"], *(abs(c) for cell in game.village_cells for c in cell))
        taken = [sum(stones[shape] for stones in game.stones) for shape in "HBR"]
        events["substitute stones"] += max(taken) > (10 if self.n == 2 else 16)
        if game.over:
            events["closed"] += not game.open_cells()
            events["closed in mid-round"] += not game.open_cells() and seat < self.n - 1
            events["stones used up"] += min(game.stones_left.values()) <= 0
            events["village stack used up"] += not game.village_stack
            events["cards used up"] += not any(game.hands)
            won = len(game.winners())
            events["all share" if won == self.n else "some share" if won > 1 else "sole win"] += 1

    def perft(self, depth: int) -> int:
        def count(game: reference.CardGame, depth: int) -> int:
            total = 0
            for action in game.legal():
                after = deepcopy(game)
                after.apply(action)
                total += 1 if depth == 1 or after.over else count(after, depth - 1)
            return total

        return count(self.game, depth)

    # ------------------------------------------------------------ comparing

    def row_of(self, seat: int) -> tuple[bytes, ...]:
        """What a seat has, in the core's form: the fields of `OF_SEATS`."""
        stack = [KIND[code] for code in self.game.stacks[seat]]
        hand = counts(self.game.hands[seat], KIND_CODES)
        unseen = [held + stack.count(kind) for kind, held in enumerate(hand)]
        kinds = sum(1 << kind for kind, held in enumerate(hand) if held)
        drawn = self.size - len(stack)
        left = b"\xff" * drawn + bytes(stack)  # -1 for each card that has been drawn
        return bytes(hand), kinds.to_bytes(4, "little"), bytes(unseen), left, bytes([drawn])

    def expect_hands(self, seats: Iterable[int]) -> None:
        """Hands and stacks, after those of some seats may have changed."""
        for seat in seats:
            self.rows[seat] = self.row_of(seat)
        for name, values in zip(OF_SEATS, zip(*self.rows, strict=True), strict=True):
            self.expected.fields[name] = b"".join(values)

    def expect_board(self) -> None:
        """What follows from the cards on the table."""
        game, cells, side = self.game, self.game.village_cells, bytearray(4 * VILLAGES)
        for i, cell in enumerate(cells):
            for j, place in enumerate(around(cell).values()):
                there = game.board.get(place)
                if there:
                    side[4 * i + j] = 1 + len(KIND_CODES) * there[1] + KIND[there[2]]
        later = [0] * (VILLAGES - len(cells))
        free = sum(map(bit_of, game.open_cells()))
        self.expected.set_number("villages", len(cells))
        self.expected.set_array("village_x", [x for x, _ in cells] + later)
        self.expected.set_array("village_y", [y for _, y in cells] + later)
        self.expected.fields |= {"side": bytes(side), "free": free.to_bytes(24, "little")}

    def expect_decision(self) -> None:
        """Who decides what, and the stones."""
        game, expect = self.game, self.expected.set_number
        expect("seat", game.seat)
        expect("over", game.over)
        expect("phase", 0 if game.over else PHASES.index(game.phase))
        expect("card", -1 if game.chosen is None else KIND[game.chosen])
        expect("winners", sum(1 << seat for seat in game.winners()))
        for name, value in self.choice().items():
            expect(name, value)
        self.expected.fields["stones"] = bytes([stones[shape] for stones in game.stones for shape in "HBR"])

    def choice(self) -> dict[str, int]:
        """The card just laid, while places wait beside it."""
        game = self.game
        if game.phase != "village" or game.over:
            return {"laid": -1, "waiting": 0}
        laid = int(self.position.state["laid"])
        village, side = divmod(laid, 4)
        card = around(game.village_cells[village])[SIDES[side]]
        assert card in game.board, "the card just laid does not lie there"
        waiting = [place in game.candidates for place in around(card).values()]
        return {"laid": laid, "waiting": sum(1 << i for i, w in enumerate(waiting) if w)}

    def differences(self) -> Iterator[str]:
        game = self.game
        self.expect_decision()
        self.expected.leave_open(OWN_AFFAIRS)
        yield from self.expected.differences()
        rest = self.villages[len(game.village_cells) :]
        if rest != game.village_stack:
            yield f"the village stack is {rest}, the reference has {game.village_stack}"
        mid_move = not game.over and game.phase != "card"
        if self.position.mid_move != mid_move:
            yield f"mid_move is {self.position.mid_move}"
        supply = 3 * (10 if self.n == 2 else 16)
        potential = [stones.total() / supply for stones in game.stones]
        if not alike(self.position.potential().tolist(), potential):
            yield f"potential is {self.position.potential()}, the reference has {potential}"
        if not alike(self.position.returns().tolist(), game.returns()):
            yield f"returns are {self.position.returns()}, the reference has {game.returns()}"

    # ------------------------------------------------------------ views

    def view_differences(self, seat: int) -> Iterator[str]:
        view = self.game.view(seat)
        everywhere, table = self.blocks(view), {"waiting": self.waiting(view)}
        villages = self.village_blocks(view)
        flat = self.position.observe(seat, "flat")
        yield from self.compare("flat", flat, villages | everywhere | table)
        tokens = self.position.observe(seat, "tokens")
        yield from self.compare("tokens", tokens, self.token_blocks(villages, everywhere | table))
        planes = self.position.observe(seat, "planes")
        spread = {name: np.ravel(value)[:, None, None] for name, value in everywhere.items()}
        yield from self.compare("planes", planes, self.plane_blocks(view, villages) | spread)

    def compare(self, encoding: str, observation: np.ndarray, expected: dict[str, object]) -> Iterator[str]:
        layout, slices = self.encodings[encoding], self.slices[encoding]
        if slices.keys() != expected.keys():
            yield f"{encoding} has the blocks {set(slices) ^ set(expected)} more or less"
        found = np.moveaxis(observation, layout.axis, 0)
        wanted = np.empty(found.shape, np.int16)
        for name, place in slices.items():
            block = wanted[place]
            value = np.asarray(expected[name])
            block[...] = value if value.ndim == block.ndim else value.reshape(block.shape)
        if np.array_equal(found, wanted):
            return
        for name, place in slices.items():
            if not np.array_equal(found[place], wanted[place]):
                yield f"{encoding} block {name} is {found[place].tolist()}, may be known {wanted[place].tolist()}"

    def village_blocks(self, view: dict) -> dict[str, np.ndarray]:
        """The blocks on villages."""
        n, board = self.n, view["board"]
        cells = view["village_cells"]
        lying = range(len(cells))
        symbols = [counts(board[cell][1], "HBR") for cell in cells]
        scored = [all(side in board for side in around(cell).values()) for cell in cells]
        influence = [[[0] * n for _ in "HBR"] for _ in lying]
        free = [[0] * 4 for _ in lying]
        owner = [[[0] * n for _ in SIDES] for _ in lying]
        strength = [[(0, 0, 0)] * 4 for _ in lying]
        named: set[Cell] = set()
        for i, cell in enumerate(cells):
            sides = around(cell).values()
            for j, side in enumerate(sides):
                if side in board:
                    _, player, code = board[side]
                    owner[i][j][player] = 1
                    strength[i][j] = strengths(code)
                    for sums, more in zip(influence[i], strengths(code), strict=True):
                        sums[player] += more
                elif side not in named:
                    free[i][j] = 1
                named.add(side)
        blocks = {"laid": [1] * len(cells), "place": cells, "symbols": symbols, "scored": scored}
        blocks |= {"influence": influence, "free": free, "owner": owner, "strength": strength}
        return {name: with_later_ones(value) for name, value in blocks.items()}

    def blocks(self, view: dict) -> dict[str, object]:
        """The blocks of hand, players and table."""
        over = self.game.over
        visible = [card for card in (view["village_top"], view["village_next"]) if card]
        left = view["villages_unseen"] + Counter(visible)
        return {
            "hand": counts(view["hand"], KIND_CODES),
            "unseen": [
                counts(unseen + (view["hand"] if player == 0 else Counter()), KIND_CODES)
                for player, unseen in enumerate(view["unseen"])
            ],
            "hand_size": view["hand_sizes"],
            "stack_size": view["stack_sizes"],
            "stones": [counts(stones, "HBR") for stones in view["stones"]],
            "first": [player == view["first_seat"] for player in range(self.n)],
            "to_move": [player == view["mover"] and not over for player in range(self.n)],
            "supply": [max(0, view["stones_left"][shape]) for shape in "HBR"],
            "top": counts(view["village_top"] or "", "HBR"),
            "next": counts(view["village_next"] or "", "HBR"),
            "village_stack": counts(left, VILLAGE_CODES),
            "phase": [phase == view["phase"] and not over for phase in PHASES],
            "last_round": self.end_called(view),
            "chosen": counts([view["chosen"]] if view["chosen"] else [], KIND_CODES),
        }

    def end_called(self, view: dict) -> bool:
        """Whether the end has been called; the core sees it at once, the reference at the end of the turn."""
        used_up = min(view["stones_left"].values()) <= 0 or view["villages_left"] == 0
        if view["end_called"] and not (used_up or not any(view["hand_sizes"])):
            raise AssertionError("the reference has called the end for another reason")
        return used_up or not any(view["hand_sizes"])

    def waiting(self, view: dict) -> list[Cell]:
        choosing = view["phase"] == "village" and not self.game.over
        return sorted(view["candidates"], key=lambda c: (c[1], c[0])) if choosing else [(0, 0), (0, 0)]

    def token_blocks(self, villages: dict, rest: dict) -> dict[str, np.ndarray]:
        """The rows of `tokens`."""
        n, rows = self.n, VILLAGES + self.n + 1
        blocks = {}
        for name, value in villages.items():
            value = value.reshape(VILLAGES, -1)
            blocks[name] = np.vstack([value, np.zeros((n + 1, value.shape[1]), np.int16)]).T
        for name, value in rest.items():
            one = np.asarray(value).ravel()
            by_player = name in BY_PLAYER
            grid = np.zeros((rows, one.size // n if by_player else one.size), np.int16)
            if by_player:
                grid[VILLAGES:-1] = one.reshape(n, -1)
            else:
                grid[VILLAGES if name == "hand" else -1] = one
            blocks[name] = grid.T
        kinds = np.zeros((rows, 3), int)
        kinds[: int(villages["laid"].sum()), 0] = 1
        kinds[VILLAGES:-1, 1] = 1
        kinds[-1, 2] = 1
        return blocks | {"row_type": kinds.T}

    def plane_blocks(self, view: dict, villages: dict) -> dict[str, np.ndarray]:
        """The planes of the window."""
        n, board = self.n, view["board"]
        xs, ys = zip(*view["village_cells"], strict=True)
        left = (min(xs) + max(xs)) // 2 - WINDOW // 2
        top = (min(ys) + max(ys)) // 2 - WINDOW // 2
        sizes = {"village_place": 1, "laid": 1, "symbols": 3, "scored": 1, "influence": 3 * n, "owner": n}
        sizes |= {"strength": 3, "free": 1, "name_village": 1, "name_side": 1, "waiting": 2}
        said: dict[str, list[tuple[int, int, Sequence[int]]]] = {name: [] for name in sizes}

        def put(name: str, cell: Cell, values: Sequence[int]) -> None:
            x, y = cell[0] - left, cell[1] - top
            if 0 <= x < WINDOW and 0 <= y < WINDOW:
                said[name].append((y, x, values))

        of_villages = {
            name: villages[name].reshape(VILLAGES, -1).tolist() for name in ("symbols", "scored", "influence")
        }
        for i, cell in enumerate(view["village_cells"]):
            put("laid", cell, [1])
            for name, values in of_villages.items():
                put(name, cell, values[i])
        for cell, what in board.items():
            if what[0] != "village":
                put("owner", cell, [player == what[1] for player in range(n)])
                put("strength", cell, strengths(what[2]))
        for name, cell in self.game.open_cells().items():
            put("free", cell, [1])
            put("name_village", cell, [int(name[1:-1])])
            put("name_side", cell, [SIDES.index(name[-1])])
        if view["phase"] == "village" and not self.game.over:
            for i, cell in enumerate(self.waiting(view)):
                put("waiting", cell, [i == 0, i == 1])
        blocks = {name: np.zeros((size, WINDOW, WINDOW), np.int16) for name, size in sizes.items()}
        for name, cells in said.items():
            if cells:
                ys, xs, values = zip(*cells, strict=True)
                blocks[name][:, ys, xs] = np.array(values).T
        blocks["village_place"][0] = (left + top) % 2 == CHESSBOARD
        return blocks
