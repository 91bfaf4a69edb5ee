"""The position as text for a terminal."""

from pathlib import Path

import numpy as np

from samurai_env.core.checks import check_viewer
from samurai_env.games.spirit.display import player_view
from samurai_env.games.spirit.display.card_texts import PENALTIES, TALENTS
from samurai_env.games.spirit.rules.cards import ANIMAL, HUMAN, SYMBOLS

LEGEND = (
    "Cards    3D(wound)* is value 3, doll, penalty wound, flames",
    "         H hat   F farm   D doll   - no symbol",
    "Left     at a round's end: no hat, a wound; no farm, a farmstead goes;",
    "         no doll, a family goes",
    "Line     fought, first card first; its sum exactly on the Kiai has the effect,",
    "         beyond it a barricade goes, and the samurai must pass",
    "Backs    A a family   B another farmstead   C a barricade   D a wound",
)


def text(state: np.void, viewer: int | None = None) -> str:
    """The position as lines of text.

    Args:
        state: one element of an array of states.
        viewer: the seat that looks; all see the same.

    Raises:
        ValueError: no such seat.
    """
    check_viewer(viewer, int(state["players"]))
    lines = [f"Samurai Spirit, {player_view.title(state)}, decision {int(state['steps'])}", ""]
    lines += [f"{name:12} {value}" for name, value in player_view.village(state)]
    if opened := player_view.opened(state):
        lines.append(f"{'Open raiders':12} " + "  ".join(f"{place}. {card.word}" for place, card in opened))
    lines.append("")
    for samurai in player_view.samurai(state):
        lines += _samurai(samurai)
    if card := player_view.in_hand(state):
        lines += ["", f"In hand      {card.word}"]
    lines += ["", player_view.decision(state), "", *_talents(state), *_penalties(state), "", *LEGEND]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _samurai(one: player_view.Samurai) -> list[str]:
    """Two lines: the samurai, and the cards."""
    marks = [
        "animal" if one.animal else "human",
        "wounded" if one.wounded else "",
        "beyond the Kiai" if one.total > one.kiai else "",
        "passed" if one.passed else "",
        "token lent" if not one.token_home else "",
        f"helped by {', '.join(one.tokens)}" if one.tokens else "",
    ]
    pointer = ">" if one.decides else "*" if one.active else " "
    left = "  ".join(f"{s} {card.word if card else '.'}" for s, card in zip(SYMBOLS, one.left, strict=True))
    line = " ".join(card.word for card in one.line) or "."
    return [
        f"{pointer} {one.seat} {one.name:10} {one.total:2} of {one.kiai:2}   {', '.join(filter(None, marks))}",
        f"      left  {left}   line  {line}",
    ]


def _talents(state: np.void) -> list[str]:
    """List the talents of the samurai in play and of the open tokens."""
    lines = []
    for one in player_view.samurai(state):
        talent, *kiai = TALENTS[one.name]
        lines += [f"{one.name:12} may {talent}", f"{'':12} Kiai {one.kiai}: {kiai[ANIMAL if one.animal else HUMAN]}"]
    return lines + [f"{name:12} token: {TALENTS[name][0]}" for name in player_view.open_tokens(state)]


def _penalties(state: np.void) -> list[str]:
    """Explain the penalties on cards of the lines, in the hand and open among the raiders."""
    cards = [card for one in player_view.samurai(state) for card in one.line] + [
        card for _, card in player_view.opened(state)
    ]
    if drawn := player_view.in_hand(state):
        cards.append(drawn)
    icons = {icon for card in cards for icon in card.icons}
    return [f"{icon:12} {meaning}" for icon, meaning in PENALTIES.items() if icon in icons]


def rules_summary() -> str:
    """The rules on one page, with the notation of moves."""
    return Path(__file__).with_name("rules.md").read_text("utf-8")
