"""Mini-Samurai: a whole game in one file, to be read beside docs/background/design.md and copied from.

Land a lies in the middle; around it lie, by turns, lands b, c, d and settlements with a helmet, a buddha and rice. Each
player has four tiles, shuffled: helmet 2, buddha 2, rice 2 and samurai 1 (counts for every figure); the first two are
the hand. In turn each lays a tile of the hand on a free land and draws the next. The figure of a surrounded settlement
goes to the sole highest influence around it, else to nobody. When the lands are full, the most figures win.
"""

import numpy as np

from samurai_env.core import bits, payoffs
from samurai_env.core import rng as random
from samurai_env.core.encoding import Block, Encoding
from samurai_env.core.game import Game, Kernels, Option
from samurai_env.core.jit import jit
from samurai_env.core.layout import Field
from samurai_env.display.scene import Polygon, Scene, Text

FIGURES = ("helmet", "buddha", "rice")
ACTIONS = ("H", "B", "R", "S", "a", "b", "c", "d")  # small decisions: a kind of tile, then a land
KINDS, LANDS, HAND = 4, 4, 2
STRENGTH = np.array([[2, 0, 0], [0, 2, 0], [0, 0, 2], [1, 1, 1]])  # by kind, figure
AROUND = np.array([[0, 1, 2], [0, 2, 3], [0, 3, 1]])  # by figure: the lands around it


# --- The state: all that a game is at one moment, flat and of fixed size. Compiled code reads n off its shapes. ---
def fields(n: int) -> list[Field]:
    return [
        Field("lands", "i1", (LANDS,), (0, KINDS * n), "by land: 0 free, else 1 + KINDS * seat + kind of the tile"),
        Field("tiles", "i1", (n, KINDS), (0, KINDS - 1), "by seat: kinds: those laid, then the hand, then the supply"),
        Field("laid", "i1", (n,), (0, KINDS - HAND), "by seat: tiles laid"),
        Field("open_hands", "u1", (), (0, 1), "option: index of its value"),
    ]


# --- The rules: compiled functions that change one state in place. ---
@jit
def reset(state, seed):
    state.seed = state.rng[0] = seed
    state.steps = state.seat = state.over = 0
    state.lands[:], state.laid[:] = 0, 0
    for row in state.tiles:
        row[:] = np.arange(KINDS)
        random.shuffle(state.rng, row)


@jit
def left(state, seat):
    """The tiles that a seat has not laid, the hand first: a view of the state."""
    return state.tiles[seat, state.laid[seat] :]


@jit
def mid_move(state):
    """Whether a tile has been chosen; it is then the first of the hand."""
    return state.steps % 2 == 1


@jit
def legal(state, words):
    words[0] = 0
    if mid_move(state):
        for land in range(LANDS):
            if state.lands[land] == 0:
                words[0] |= bits.bit(KINDS + land)
    elif not state.over:
        for kind in left(state, state.seat)[:HAND]:
            words[0] |= bits.bit(kind)


@jit
def step(state, action):
    seat, hand = state.seat, left(state, state.seat)
    state.steps += 1
    if action < KINDS:
        hand[0], hand[1] = action, hand[0] + hand[1] - action
        return
    state.lands[action - KINDS] = 1 + KINDS * seat + hand[0]
    state.laid[seat] += 1
    state.over = state.steps == 2 * LANDS
    state.seat = seat if state.over else (seat + 1) % state.laid.shape[0]


@jit
def captured(state):
    """Figures captured so far, by seat (int64)."""
    n = state.laid.shape[0]
    figures = np.zeros(n, np.int64)
    for figure in range(len(FIGURES)):
        influence = np.zeros(n, np.int64)
        for land in AROUND[figure]:
            tile = state.lands[land] - 1
            if tile < 0:
                break
            influence[tile // KINDS] += STRENGTH[tile % KINDS, figure]
        else:
            highest = payoffs.most(influence, (1 << n) - 1)
            for seat in range(n):
                figures[seat] += highest == 1 << seat
    return figures


@jit
def returns(state, out):
    n = state.laid.shape[0]
    payoffs.pay(payoffs.most(captured(state), (1 << n) - 1) if state.over else 0, n, out)


@jit
def potential(state, out):
    out[:] = captured(state) / len(FIGURES)


@jit
def determinize(state, seat, rng):
    """Sample all that a seat cannot know."""
    state.seed = state.rng[0] = random.draw(rng) & random.SEED_BITS
    for other in range(state.laid.shape[0]):
        row = left(state, other)[(HAND if other == seat else 0) :]
        if not state.open_hands:
            row.sort()  # what comes out must not depend on what was hidden
            random.shuffle(rng, row)


@jit
def heuristic_policy(state, scores):
    """The built-in player: samurai and the middle land first."""
    scores[:] = (0.2, 0.2, 0.2, 0.4, 0.2, 0.0, 0.0, 0.0)


# --- What a seat sees, as int8. Player 0 is the observer, player 1 the next seat, and so on. ---
def encoding(n: int) -> Encoding:
    blocks = (
        Block("lands", (LANDS, n, KINDS), (0, 1), "by land: one-hot: player, kind of the tile there"),
        Block("tiles", (n, KINDS, KINDS), (0, 1), "by player, place (hand, then supply): one-hot: kind, where known"),
    )
    return Encoding((sum(block.size for block in blocks),), 0, blocks, "one number an entry")


@jit
def observe(state, seat, out):
    out[:] = 0
    n = state.laid.shape[0]
    for land in range(LANDS):
        if state.lands[land] > 0:
            out[KINDS * n * land + (state.lands[land] - 1 + KINDS * (n - seat)) % (KINDS * n)] = 1
    for player in range(n):
        other = (seat + player) % n
        known = KINDS if state.open_hands else HAND if player == 0 else 0
        for place, kind in enumerate(left(state, other)[:known]):
            out[LANDS * n * KINDS + KINDS * (KINDS * player + place) + kind] = 1


# --- Moves and positions as text, the picture as a list of shapes. ---
def parse_move(before: np.void, text: str) -> list[int]:
    if unknown := set(text.split()) - set(ACTIONS):
        raise ValueError(f"{unknown} in move {text!r}: a move is a tile (H, B, R, S) and a land (a, b, c, d)")
    return [ACTIONS.index(word) for word in text.split()]


def text(state: np.void, viewer: int | None = None) -> str:
    lands = [f"{(tile - 1) // KINDS}{ACTIONS[(tile - 1) % KINDS]}" if tile else "." for tile in state["lands"]]
    rows = ["{7:8}{1:^8}", "{6:^8}{7:8}{4:^8}", "{7:8}{0:^8}", "{3:^8}{7:8}{2:^8}", "{7:8}{5:^8}"]
    lines = [row.format(*lands, *FIGURES, "").rstrip() for row in rows]
    for seat, figures in enumerate(captured(state)):
        hand = " ".join(ACTIONS[kind] for kind in left(state, seat)[:HAND])
        shown = hand if viewer in (None, seat) or state["open_hands"] else "hidden"
        lines.append(f"seat {seat}: hand {shown}, figures {figures}")
    return "\n".join([*lines, ""])


def scene(state: np.void, viewer: int | None = None, last: object = ()) -> Scene:
    picture = Scene(300, 340)
    *words, players = text(state, viewer).split(None, 7)
    for word, x, y in zip(words, (150, 80, 220, 150, 80, 220, 150), (45, 85, 85, 125, 165, 165, 205)):
        corners = ((x - 45, y), (x - 22, y - 38), (x + 22, y - 38), (x + 45, y), (x + 22, y + 38), (x - 22, y + 38))
        picture.add(Polygon(corners, "#d0e8c0", "#404040"), Text(x, y, word, 16))
    picture.add(*(Text(150, 270 + 20 * i, line, 14) for i, line in enumerate(players.splitlines())))
    return picture


GAME = Game(
    name="mini",
    title="Mini-Samurai",
    players=(2, 3),
    cooperative=False,
    options={"open_hands": Option((False, True), False, "hands and supplies lie open: nothing is hidden")},
    fields=fields,
    action_names=lambda n: ACTIONS,
    max_steps=lambda n: 2 * LANDS,
    encodings={"flat": encoding},
    kernels=Kernels(reset, legal, step, returns, potential, determinize, mid_move, {"flat": observe}, heuristic_policy),
    format_move=lambda before, actions: " ".join(ACTIONS[action] for action in actions),
    parse_move=parse_move,
    forbid=lambda n, options: None,
    scene=scene,
    text=text,
    describe_results=lambda states: {"set_aside": np.array([len(FIGURES) - captured(r).sum() for r in states])},
)
