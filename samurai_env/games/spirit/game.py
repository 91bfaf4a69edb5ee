"""Samurai Spirit as a `Game`: what everything above the rules knows of it."""

import numpy as np

from samurai_env.core.game import Game, Kernels
from samurai_env.core.jit import jit
from samurai_env.games.spirit import actions, notation, observation
from samurai_env.games.spirit.determinize import determinize
from samurai_env.games.spirit.display import move_words, scene, text
from samurai_env.games.spirit.heuristics import policy, value, value_features
from samurai_env.games.spirit.invariants import broken_invariants
from samurai_env.games.spirit.rules import options
from samurai_env.games.spirit.rules.cards import FAMILIES, FARMSTEADS, GRADES, MOST, ROUNDS
from samurai_env.games.spirit.rules.kernels import MAX_STEPS, cut_off, legal, mid_move, reset, returns, step
from samurai_env.games.spirit.rules.village import score, total_of
from samurai_env.games.spirit.state import RESULTS, WON, fields

ALL_FARMSTEADS = int(FARMSTEADS.sum())
LIVES = 3  # wounds that a samurai survives


def max_steps(num_players: int) -> int:
    """Decisions after which a game is cut off."""
    return int(MAX_STEPS[num_players])


@jit
def potential(state, out):
    """Write half the share of the rounds survived and half the share of the village that stands, for all seats."""
    rounds = state.round - 1 + (state.result == WON)
    lives = LIVES * state.players
    for seat in range(state.players):
        lives -= 2 * state.animal[seat] + state.wounded[seat]
    village = (
        total_of(state.farmsteads) / ALL_FARMSTEADS
        + total_of(state.families) / len(FAMILIES)
        + state.barricades / state.most_barricades
        + lives / (LIVES * state.players)
    )
    for seat in range(state.players):
        out[seat] = 0.5 * rounds / ROUNDS + 0.5 * village / 4.0


RESULT_NAMES = np.array(RESULTS, object)


def describe_results(states: np.ndarray) -> dict[str, np.ndarray]:
    """Describe how games ended, with the score and the grade of the level (`7++`; empty if lost)."""
    points, grades = np.zeros(len(states), np.int64), np.full(len(states), "", object)
    for i in np.flatnonzero(states["result"] == WON):
        points[i] = score(states[i])
        grades[i] = f"{points[i]}{GRADES[int(states[i]['difficulty'])]}"
    results = RESULT_NAMES[states["result"]]
    return {"result": results, "round": states["round"].astype(np.int64), "score": points, "grade": grades}


GAME = Game(
    name="samurai_spirit",
    title="Samurai Spirit",
    players=tuple(range(1, MOST + 1)),
    cooperative=True,
    options=options.OPTIONS,
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
        mid_move=mid_move,
        observe=observation.OBSERVE,
        heuristic_policy=policy.heuristic_policy,
        heuristic_value=value.heuristic_value,
        value_features=value_features.value_features,
        cut_off=cut_off,
    ),
    format_move=notation.format_move,
    move_words=move_words.move_words,
    parse_move=notation.parse_move,
    forbid=options.forbid,
    scene=scene.scene,
    text=text.text,
    rules_summary=text.rules_summary,
    settings=options.settings,
    value_columns=value_features.COLUMNS,
    describe_results=describe_results,
    broken_invariants=broken_invariants,
)
