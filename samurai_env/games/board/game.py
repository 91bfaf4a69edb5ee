"""The board game as a `Game`: what everything above the rules knows of it."""

from collections.abc import Mapping
from typing import Any

from samurai_env.core.game import Game, Kernels, Option
from samurai_env.core.jit import jit
from samurai_env.games.board import actions, notation, observation
from samurai_env.games.board.determinize import determinize, determinize_by_odds
from samurai_env.games.board.display import move_words, scene, text
from samurai_env.games.board.graph import graph
from samurai_env.games.board.heuristics import policy, value, value_features
from samurai_env.games.board.invariants import broken_invariants
from samurai_env.games.board.rules.kernels import legal, reset, returns, step
from samurai_env.games.board.rules.tiles import HAND, TILES
from samurai_env.games.board.rules.topology import FIGURES_EACH
from samurai_env.games.board.state import (
    EDITIONS,
    ENDINGS,
    FIGURE_SETUPS,
    FIRST_HAND,
    FIRST_HANDS,
    TOKEN_EXCHANGES,
    fields,
)
from samurai_env.games.first_seat import RANDOM_SEAT, FirstSeat, first_settings

OPTIONS = {
    "edition": Option(EDITIONS, "2016", "the rulebook: when figures are captured, what the compulsory tile is"),
    "first_hand": Option(FIRST_HANDS, "choose", "each player picks the first five tiles, or they are drawn"),
    "figure_setup": Option(FIGURE_SETUPS, "alternate", "cities before villages, any order, or drawn"),
    "hide_captures": Option((False, True), False, "others' captures are hidden until the end (3 or 4 players)"),
    "first": FirstSeat((0, RANDOM_SEAT), 0, "the seat that begins; random: drawn by the seed", omit_default=True),
    "ending": Option(
        ENDINGS, "turn", "the last turn is played out, or the game ends at once (1998)", omit_default=True
    ),
    "token_exchange": Option(
        TOKEN_EXCHANGES, "plain", "what it moves: own plain tiles, or any own tile on land", omit_default=True
    ),
}
PRESETS = {"beginner": {"first_hand": "random", "figure_setup": "random"}}


def max_steps(num_players: int) -> int:
    """Bound of the decisions: first hand, figures, two a tile (three for the exchanges), an end a turn."""
    figures = 3 * (int(FIGURES_EACH[num_players]) - 1)
    return num_players * (HAND + 2 * TILES + 2 + TILES) + figures


def forbid(num_players: int, options: Mapping[str, Any]) -> str | None:
    """Captured figures lie open with two players; only captures in mid-turn can end a game there."""
    if num_players == 2 and options["hide_captures"]:
        return "hide_captures is for 3 or 4 players: with 2 the captured figures lie open"
    if options["ending"] == "at_once" and options["edition"] != "1998":
        return "ending=at_once is for edition=1998: in 2016 figures are captured at the end of the turn"
    return None


def settings(num_players: int, options: Mapping[str, Any]) -> Mapping[str, int]:
    """The fields of the option `first`."""
    return first_settings(options["first"])


@jit
def potential(state, out):
    """Write the share of all figures that each seat has captured."""
    for seat in range(state.hand.shape[0]):
        taken = state.captured[seat, 0] + state.captured[seat, 1] + state.captured[seat, 2]
        out[seat] = taken / (3.0 * FIGURES_EACH[state.hand.shape[0]])


@jit
def mid_move(state):
    """Whether a tile has been chosen and not yet placed."""
    return state.tile >= 0 and not state.over


GAME = Game(
    name="samurai",
    title="Samurai",
    players=(2, 3, 4),
    cooperative=False,
    options=OPTIONS,
    fields=fields,
    action_names=actions.names,
    max_steps=max_steps,
    encodings=observation.ENCODINGS,
    kernels=Kernels(
        reset=reset,
        legal=legal,
        step=step,
        returns=returns,
        potential=potential,
        determinize=determinize,
        determinize_by_odds=determinize_by_odds,
        mid_move=mid_move,
        observe=observation.OBSERVE,
        heuristic_policy=policy.heuristic_policy,
        heuristic_value=value.heuristic_value,
        value_features=value_features.value_features,
        tuned_policy=policy.tuned_policy,
    ),
    format_move=notation.format_move,
    move_words=move_words.move_words,
    parse_move=notation.parse_move,
    forbid=forbid,
    graph=graph,
    scene=scene.scene,
    text=text.text,
    rules_summary=text.rules_summary,
    secret=lambda state: state["phase"] == FIRST_HAND,
    settings=settings,
    value_columns=value_features.COLUMNS,
    broken_invariants=broken_invariants,
    presets=PRESETS,
)
