"""The card game's side of `tests.agreement.match`: the reference dealt like the core, and every field compared."""

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy

import numpy as np

from samurai_env.core.layout import HEADER
from samurai_env.games.card.actions import CELL0
from samurai_env.games.card.observation import WINDOW
from samurai_env.games.card.rules.cards import KIND_CODES, VILLAGE_CODES
from samurai_env.games.card.rules.topology import SIDES, VILLAGES
from samurai_env.games.card.state import PHASES, fields
from samurai_env.position import Position
from tests.agreement.match import Match as Base
from tests.reference import card as reference

Cell = tuple[int, int]
KIND = {code: i for i, code in enumerate(KIND_CODES)}
STEPS = {"N": (0, -1), "E": (1, 0), "S": (0, 1), "W": (-1, 0)}
# What the state holds beyond the reference: the names of the rest are compared one by one.
OWN_AFFAIRS = {"seed", "rng", "steps", "copies", "village_copies"}


def counts(cards: Iterable[str] | Mapping[str, int], codes: Iterable[str]) -> list[int]:
    """How often each code comes up."""
    found = Counter(cards)
    return [found[code] for code in codes]


def strengths(code: str) -> list[int]:
    """What a card adds to its owner's influence, by shape."""
    return [int(code[1]) * (code[0] in (shape, "S")) for shape in "HBR"]


def around(cell: Cell) -> dict[str, Cell]:
    """The places on the four sides of a place."""
    return {side: (cell[0] + dx, cell[1] + dy) for side, (dx, dy) in STEPS.items()}


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
        # Views of the state's fields: they follow the position.
        self.fields = {f.name: position.states[f.name] for f in (*HEADER, *fields(self.n))}
        self.order = [VILLAGE_CODES.index(code) + 1 for code in villages]
        self.encodings = {name: position.variant.encoding(name) for name in ("flat", "tokens", "planes")}
        self.styles = [Style(rng) for _ in range(self.n)]
        if rng.random() < 0.3:  # all of one mind: the board closes, or spreads far
            self.styles = [self.styles[0]] * self.n

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
        stones = [Counter(s) for s in game.stones]
        game.apply(action)
        events[f"phase {before}"] += 1
        events["stones taken"] += sum((now - old).total() for now, old in zip(game.stones, stones, strict=True))
        if before == "village" and len(game.village_cells) == villages + 1:
            events["choice with one card left"] += 1
        if game.phase == "card" or game.over:
            self.count_turn(seat)

    def count_turn(self, seat: int) -> None:
        """Count what a turn's end can bring."""
        game, events = self.game, self.events
        events["turn"] += 1
        events["board width"] = max(events["board width"], *(abs(c) for cell in game.village_cells for c in cell))
        taken = sum(game.stones, Counter())
        events["substitute stones"] += any(taken[shape] > (10 if self.n == 2 else 16) for shape in "HBR")
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

    def expected(self) -> dict[str, object]:
        """Every field of the state that the reference has an idea of."""
        game = self.game
        cells = game.village_cells
        side = [[0] * 4 for _ in range(VILLAGES)]
        for (x, y), row in zip(cells, side, strict=False):
            for j, (dx, dy) in enumerate(STEPS.values()):
                there = game.board.get((x + dx, y + dy))
                if there:
                    row[j] = 1 + len(KIND_CODES) * there[1] + KIND[there[2]]
        later = [0] * (VILLAGES - len(cells))
        free = sum(1 << CELL0 + 4 * int(name[1:-1]) + SIDES.index(name[-1]) for name in game.open_cells())
        hands = [counts(hand, KIND_CODES) for hand in game.hands]
        size = len(self.position.state["stack"][0])
        stacks = [[-1] * (size - len(stack)) + [KIND[code] for code in stack] for stack in game.stacks]
        return {
            "seat": game.seat,
            "over": game.over,
            "phase": 0 if game.over else PHASES.index(game.phase),
            "card": -1 if game.chosen is None else KIND[game.chosen],
            "villages": len(cells),
            "village_x": [x for x, _ in cells] + later,
            "village_y": [y for _, y in cells] + later,
            "village_stack": self.order,
            "side": side,
            "free": [free >> shift & (1 << 64) - 1 for shift in (0, 64, 128)],
            "hand": hands,
            "kinds": [sum(1 << kind for kind, count in enumerate(hand) if count) for hand in hands],
            "unseen": [counts(h + Counter(s), KIND_CODES) for h, s in zip(game.hands, game.stacks, strict=True)],
            "stack": stacks,
            "drawn": [size - len(stack) for stack in game.stacks],
            "stones": [[stones[shape] for shape in "HBR"] for stones in game.stones],
            "winners": sum(1 << seat for seat in game.winners()),
            "first_seat": game.first,
            "first_drawn": self.position.variant.options["first"] == "random",
            **self.choice(),
        }

    def choice(self) -> dict[str, int]:
        """The card just laid, while places wait beside it."""
        game, state = self.game, self.position.state
        if game.phase != "village" or game.over:
            return {"laid": -1, "waiting": 0}
        village, side = divmod(int(state["laid"]), 4)
        card = around(game.village_cells[village])[SIDES[side]]
        assert card in game.board, "the card just laid does not lie there"
        waiting = [place in game.candidates for place in around(card).values()]
        return {"laid": int(state["laid"]), "waiting": sum(1 << i for i, w in enumerate(waiting) if w)}

    def differences(self) -> Iterator[str]:
        game, state = self.game, self.position.state
        expected = self.expected()
        for name, value in expected.items():
            if self.fields[name].tolist()[0] != value:
                yield f"field {name} is {state[name]}, the reference has {value}"
        if missing := set(self.fields) - set(expected) - OWN_AFFAIRS:
            yield f"nobody compares the fields {missing}"
        rest = [VILLAGE_CODES[kind - 1] for kind in state["village_stack"][state["villages"] :]]
        if rest != list(game.village_stack):
            yield f"the village stack is {rest}, the reference has {game.village_stack}"
        mid_move = not game.over and game.phase != "card"
        if self.position.mid_move != mid_move:
            yield f"mid_move is {self.position.mid_move}"
        supply = 3 * (10 if self.n == 2 else 16)
        potential = [stones.total() / supply for stones in game.stones]
        if max(abs(ours - theirs) for ours, theirs in zip(self.position.potential(), potential, strict=True)) > 1e-6:
            yield f"potential is {self.position.potential()}, the reference has {potential}"
        if max(abs(ours - theirs) for ours, theirs in zip(self.position.returns(), game.returns(), strict=True)) > 1e-6:
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
        spread = {
            name: np.broadcast_to(np.asarray(value).ravel()[:, None, None], (np.size(value), WINDOW, WINDOW))
            for name, value in everywhere.items()
        }
        yield from self.compare("planes", planes, self.plane_blocks(view) | spread)

    def compare(self, encoding: str, observation: np.ndarray, expected: dict[str, object]) -> Iterator[str]:
        layout = self.encodings[encoding]
        slices = layout.slices()
        if set(slices) != set(expected):
            yield f"{encoding} has the blocks {set(slices) ^ set(expected)} more or less"
        entries = np.concatenate([np.ravel(expected[block.name]) for block in layout.blocks])
        if np.array_equal(np.moveaxis(observation, layout.axis, 0).ravel(), entries):
            return
        for block in layout.blocks:
            found = np.moveaxis(observation, layout.axis, 0)[slices[block.name]]
            wanted = np.asarray(expected[block.name]).reshape(found.shape)
            if not np.array_equal(found, wanted):
                yield f"{encoding} block {block.name} is {found.tolist()}, may be known {wanted.tolist()}"

    def village_blocks(self, view: dict) -> dict[str, np.ndarray]:
        """The blocks on villages."""
        n, board = self.n, view["board"]
        blocks = {
            "laid": np.zeros((VILLAGES,), int),
            "place": np.zeros((VILLAGES, 2), int),
            "symbols": np.zeros((VILLAGES, 3), int),
            "scored": np.zeros((VILLAGES,), int),
            "influence": np.zeros((VILLAGES, 3, n), int),
            "free": np.zeros((VILLAGES, 4), int),
            "owner": np.zeros((VILLAGES, 4, n), int),
            "strength": np.zeros((VILLAGES, 4, 3), int),
        }
        named: set[Cell] = set()
        for i, cell in enumerate(view["village_cells"]):
            blocks["laid"][i] = 1
            blocks["place"][i] = cell
            blocks["symbols"][i] = counts(board[cell][1], "HBR")
            blocks["scored"][i] = all(place in board for place in around(cell).values())
            for j, place in enumerate(around(cell).values()):
                if place in board:
                    _, player, code = board[place]
                    blocks["owner"][i, j, player] = 1
                    blocks["strength"][i, j] = strengths(code)
                    blocks["influence"][i, :, player] += strengths(code)
                elif place not in named:
                    blocks["free"][i, j] = 1
                named.add(place)
        return blocks

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
            "phase": [phase == ("card" if over else view["phase"]) for phase in PHASES],
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
            blocks[name] = np.vstack([value, np.zeros((n + 1, value.shape[1]), int)]).T
        for name, value in rest.items():
            one = np.asarray(value).ravel()
            by_player = name in ("unseen", "hand_size", "stack_size", "stones", "first", "to_move")
            grid = np.zeros((rows, one.size // n if by_player else one.size), int)
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

    def plane_blocks(self, view: dict) -> dict[str, np.ndarray]:
        """The planes of the window."""
        n, board = self.n, view["board"]
        xs, ys = zip(*view["village_cells"], strict=True)
        left = (min(xs) + max(xs)) // 2 - WINDOW // 2
        top = (min(ys) + max(ys)) // 2 - WINDOW // 2
        sizes = {"village_place": 1, "laid": 1, "symbols": 3, "scored": 1, "influence": 3 * n, "owner": n}
        sizes |= {"strength": 3, "free": 1, "name_village": 1, "name_side": 1, "waiting": 2}
        blocks = {name: np.zeros((size, WINDOW, WINDOW), int) for name, size in sizes.items()}

        def put(name: str, cell: Cell, values: list[int]) -> None:
            if 0 <= cell[0] - left < WINDOW and 0 <= cell[1] - top < WINDOW:
                blocks[name][:, cell[1] - top, cell[0] - left] = values

        y, x = np.indices((WINDOW, WINDOW))
        blocks["village_place"][0] = (x + left + y + top) % 2 == 0
        for cell, what in board.items():
            if what[0] == "village":
                put("laid", cell, [1])
                put("symbols", cell, counts(what[1], "HBR"))
                cards = [board[place] for place in around(cell).values() if place in board]
                put("scored", cell, [len(cards) == 4])
                sums = np.zeros((3, n), int)
                for _, player, code in cards:
                    sums[:, player] += strengths(code)
                put("influence", cell, sums.ravel().tolist())
            else:
                put("owner", cell, [player == what[1] for player in range(n)])
                put("strength", cell, strengths(what[2]))
        for name, cell in self.game.open_cells().items():
            put("free", cell, [1])
            put("name_village", cell, [int(name[1:-1])])
            put("name_side", cell, [SIDES.index(name[-1])])
        if view["phase"] == "village" and not self.game.over:
            for i, cell in enumerate(self.waiting(view)):
                put("waiting", cell, [i == 0, i == 1])
        return blocks
