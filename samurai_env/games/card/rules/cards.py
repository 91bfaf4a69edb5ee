"""The kinds of influence card and of village card. How many there are of each is data: see `card_lists`."""

import numpy as np

SHAPES = ("helmet", "buddha", "rice")  # the shapes of stone, in the order of every table
SHAPE_LETTERS = "HBR"

# --- Influence cards: a shape with 2 to 4, or a samurai, which counts for every shape, with 1 to 3 ---

KIND_NAMES = tuple((name, value) for name in SHAPES for value in (2, 3, 4)) + tuple(
    ("samurai", value) for value in (1, 2, 3)
)
KIND_CODES = tuple(f"{name[0].upper()}{value}" for name, value in KIND_NAMES)  # H2 ... S3
KINDS = len(KIND_NAMES)
STRENGTH = np.array([[value * (name in (shape, "samurai")) for shape in SHAPES] for name, value in KIND_NAMES], np.int8)
CARDS = 15  # a player's influence cards
REMOVED_OF_FOUR = (KIND_CODES.index("S1"), KIND_CODES.index("S2"))  # with four players each removes one of these
CARDS_EACH = (0, 0, CARDS, CARDS, CARDS - len(REMOVED_OF_FOUR))  # by number of players
HAND = 5

# --- Village cards: a set of shapes, kept as bits (1 helmet, 2 buddha, 4 rice) ---

VILLAGE_KINDS = tuple(range(1, 8))
VILLAGE_CODES = tuple("".join(c for i, c in enumerate(SHAPE_LETTERS) if v >> i & 1) for v in VILLAGE_KINDS)
VILLAGES_BY_SYMBOLS = {1: 15, 2: 27, 3: 2}  # village cards by number of symbols

STONES_EACH = np.array([0, 0, 10, 16, 16], np.int64)  # stones of each shape, by number of players
