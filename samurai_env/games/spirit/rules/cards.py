"""The printed facts as tables: raider cards, samurai boards, tokens, levels; from `data/spirit.json`."""

import json
from pathlib import Path

import numpy as np

DATA = Path(__file__).resolve().parents[1] / "data"
_FACTS = json.loads((DATA / "spirit.json").read_text(encoding="utf-8"))

# --- Raider cards: plunderers (value 1 to 4), lieutenants (5), bosses (6), in this order ---

CARD_NAMES = tuple(card["id"] for card in _FACTS["cards"])
CARDS = len(CARD_NAMES)
SYMBOLS = ("hat", "farm", "doll")  # in the order in which the end of a round asks for them
HAT, FARM, DOLL = range(3)
ICONS = tuple(code for code in _FACTS["penalty_codes"] if not code.startswith("_"))
FIRE, WOUND, NINJA, NO_DEFEND, NO_SUPPORT, LEFT_DRAWS, RIGHT_DRAWS, MUST_PASS, RECYCLE, NO_TALENT, DISCARD_DEFENDER = (
    range(len(ICONS))
)
NOTHING = -1  # no symbol, no icon, no card

VALUE = np.array([card["value"] for card in _FACTS["cards"]], np.int8)
SYMBOL = np.array([SYMBOLS.index(c["defence"]) if c["defence"] else NOTHING for c in _FACTS["cards"]], np.int8)
CARD_ICONS = np.array(
    [([ICONS.index(icon) for icon in card["penalties"]] + [NOTHING, NOTHING])[:2] for card in _FACTS["cards"]], np.int8
)
FLAMES = np.array([card["flames"] for card in _FACTS["cards"]], np.int8)

# What joins the raiders in round 1, 2 and 3: cards FIRST[round - 1] to FIRST[round] - 1.
FIRST = np.array([0, *(int(np.sum(top >= VALUE)) for top in (4, 5, 6))], np.int64)

# --- Samurai ---

SAMURAI = tuple(board["name"] for board in _FACTS["samurai"])
HEIHACHI, DAISUKE, GOROBEI, KANBEI, KIKUCHIYO, KYUZO, KATSUSHIRO = range(len(SAMURAI))
MOST = len(SAMURAI)  # as many can play
HUMAN, ANIMAL = range(2)
KIAI = np.array([[b["kiai_human"], b["kiai_animal"]] for b in _FACTS["samurai"]], np.int16)  # [samurai, side]
DEPTH = (2, 3)  # how many cards Gorobei, Kanbei and Katsushiro turn, by side

# --- Village ---

_BACKS = _FACTS["farmstead_tokens"]["distribution"]
BACKS = tuple(_BACKS)  # of the farmstead tokens
BACK_FAMILY, BACK_FARM, BACK_BARRICADE, BACK_WOUND = range(len(BACKS))
FARMSTEADS = np.array(list(_BACKS.values()), np.int8)
FAMILIES = ("heal", "barricade", "intruder")  # by bonus, as the data file lists them
BONUS_HEAL, BONUS_BARRICADE, BONUS_INTRUDER = range(len(FAMILIES))

# --- Levels ---


def _beside_players(key: str) -> np.ndarray:
    """Read the number that a level adds to the number of players ("players+3", "players", "players-1")."""
    return np.array([int(level[key].removeprefix("players") or 0) for level in _FACTS["difficulty"]], np.int8)


LEVELS = tuple(level["level"] for level in _FACTS["difficulty"])
GRADES = tuple(level["score_suffix"] for level in _FACTS["difficulty"])
EXTRA_BARRICADES = _beside_players("barricades")
FARM_PENALTIES = np.array([level["farm_penalties"] for level in _FACTS["difficulty"]], np.bool_)
FAMILY_BONUSES = np.array([level["family_bonus"] for level in _FACTS["difficulty"]], np.bool_)
PLUNDERERS_EACH = np.array([level["plunderers_per_player"] for level in _FACTS["difficulty"]], np.int8)
EXTRA_OFFICERS = _beside_players("lieutenants")
ROUNDS = 3
