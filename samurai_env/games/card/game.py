"""The card game as a `Game`: what everything above the rules knows of it."""

from collections.abc import Mapping
from typing import Any

from samurai_env.core.game import Game, Kernels
from samurai_env.core.jit import jit
from samurai_env.games.card import actions, notation, observation
from samurai_env.games.card.determinize import determinize, determinize_by_odds
from samurai_env.games.card.display import move_words, scene, text
from samurai_env.games.card.graph import graph
from samurai_env.games.card.heuristics import lookahead, policy, value, value_features
from samurai_env.games.card.invariants import broken_invariants
from samurai_env.games.card.rules import card_lists
from samurai_env.games.card.rules.cards import CARDS_EACH, STONES_EACH
from samurai_env.games.card.rules.kernels import legal, reset, returns, step
from samurai_env.games.card.rules.topology import VILLAGES
from samurai_env.games.card.state import CARD, fields
from samurai_env.games.first_seat import RANDOM_SEAT, FirstSeat, first_settings

OPTIONS = {
    "cards": card_lists.CardsOption(
        (card_lists.DEFAULT,), card_lists.DEFAULT, "the card list, or the name of one read by load_cards"
    ),
    "first": FirstSeat((0, RANDOM_SEAT), 0, "the seat that begins; random: drawn by the seed", omit_default=True),
}


def max_steps(num_players: int) -> int:
    """Bound of the decisions: two a card, and a choice of place for every two villages after the first."""
    return 2 * num_players * CARDS_EACH[num_players] + VILLAGES // 2


def settings(num_players: int, options: Mapping[str, Any]) -> Mapping[str, Any]:
    """The card list, as it goes into the state, and the fields of the option `first`."""
    return {**card_lists.card_list(options["cards"]).settings(num_players), **first_settings(options["first"])}


def forbid(num_players: int, options: Mapping[str, Any]) -> str | None:
    """Every list can be played by any number of players."""
    return None


@jit
def potential(state, out):
    """Write what each seat's stones are as a part of the supply."""
    for seat in range(state.hand.shape[0]):
        taken = state.stones[seat, 0] + state.stones[seat, 1] + state.stones[seat, 2]
        out[seat] = taken / (3.0 * STONES_EACH[state.hand.shape[0]])


@jit
def mid_move(state):
    """Whether a card has been chosen and not yet laid, or its new villages not yet."""
    return state.phase != CARD and not state.over


GAME = Game(
    name="samurai_card",
    title="Samurai: The Card Game",
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
        action_features=lookahead.action_features,
    ),
    format_move=notation.format_move,
    move_words=move_words.move_words,
    parse_move=notation.parse_move,
    forbid=forbid,
    scene=scene.scene,
    text=text.text,
    rules_summary=text.rules_summary,
    settings=settings,
    broken_invariants=broken_invariants,
    action_features=lookahead.COLUMNS,
    value_columns=value_features.COLUMNS,
    graph=graph,
)
