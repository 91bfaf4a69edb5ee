"""The board game as a `Game`: what everything above the rules knows of it."""

from collections.abc import Mapping
from typing import Any

from samurai_env.board import actions, advice, evaluation, hidden, notation, observation, rules, scene, state, text
from samurai_env.board.contradictions import contradictions
from samurai_env.board.tiles import HAND, TILES
from samurai_env.board.topology import FIGURES_EACH
from samurai_env.core.compile import jit
from samurai_env.core.game import Compiled, Game, Option

OPTIONS = {
    "edition": Option(state.EDITIONS, "2016", "the rulebook: when figures are captured, what the compulsory tile is"),
    "first_hand": Option(state.FIRST_HANDS, "choose", "each player picks the first five tiles, or they are drawn"),
    "figure_setup": Option(state.FIGURE_SETUPS, "alternate", "cities before villages, any order, or drawn"),
    "hide_captures": Option((False, True), False, "others' captures are hidden until the end (3 or 4 players)"),
}


def max_steps(num_players: int) -> int:
    """Bound of the decisions: first hand, figures, two a tile (three for the exchanges), an end a turn."""
    figures = 3 * (int(FIGURES_EACH[num_players]) - 1)
    return num_players * (HAND + 2 * TILES + 2 + TILES) + figures


def forbid(num_players: int, options: Mapping[str, Any]) -> str | None:
    """Captured figures lie open with two players."""
    if num_players == 2 and options["hide_captures"]:
        return "hide_captures is for 3 or 4 players: with 2 the captured figures lie open"
    return None


@jit
def progress(record, out):
    """Write the share of all figures that each seat has captured."""
    for seat in range(record.hand.shape[0]):
        taken = record.captured[seat, 0] + record.captured[seat, 1] + record.captured[seat, 2]
        out[seat] = taken / (3.0 * FIGURES_EACH[record.hand.shape[0]])


@jit
def mid_move(record):
    """Whether a tile has been chosen and not yet placed."""
    return record.tile >= 0 and not record.over


GAME = Game(
    name="samurai",
    title="Samurai",
    players=(2, 3, 4),
    cooperative=False,
    options=OPTIONS,
    fields=state.fields,
    action_names=actions.names,
    max_steps=max_steps,
    encodings=observation.ENCODINGS,
    compiled=Compiled(
        reset=rules.reset,
        legal=rules.legal,
        step=rules.step,
        returns=rules.returns,
        progress=progress,
        redetermine=hidden.redetermine,
        mid_move=mid_move,
        observe=observation.OBSERVE,
        advise=advice.advise,
        evaluate=evaluation.evaluate,
    ),
    format_move=notation.format_move,
    parse_move=notation.parse_move,
    forbid=forbid,
    scene=scene.scene,
    text=text.text,
    secret=lambda record: record["phase"] == state.FIRST_HAND,
    progress_meaning="the share of all figures in play that the seat has captured",
    contradictions=contradictions,
)
