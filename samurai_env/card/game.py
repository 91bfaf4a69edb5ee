"""The card game as a `Game`: what everything above the rules knows of it."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from samurai_env.card import (
    actions,
    advice,
    counsel,
    evaluation,
    hidden,
    lists,
    notation,
    observation,
    rules,
    scene,
    state,
    text,
)
from samurai_env.card.cards import CARDS_EACH, STONES_EACH
from samurai_env.card.contradictions import contradictions
from samurai_env.card.topology import VILLAGES
from samurai_env.core.compile import jit
from samurai_env.core.game import Compiled, Game

OPTIONS = {
    "cards": lists.CardsOption((lists.DEFAULT,), lists.DEFAULT, "the card list, or the name of one read by load_cards")
}


def max_steps(num_players: int) -> int:
    """Bound of the decisions: two a card, and a choice of place for every two villages after the first."""
    return 2 * num_players * CARDS_EACH[num_players] + VILLAGES // 2


def settings(num_players: int, options: Mapping[str, Any]) -> Mapping[str, np.ndarray]:
    """The card list, as it goes into the record."""
    return lists.card_list(options["cards"]).settings(num_players)


def forbid(num_players: int, options: Mapping[str, Any]) -> str | None:
    """Every list can be played by any number of players."""
    return None


@jit
def progress(record, out):
    """Write what each seat's stones are as a part of the supply."""
    for seat in range(record.hand.shape[0]):
        taken = record.stones[seat, 0] + record.stones[seat, 1] + record.stones[seat, 2]
        out[seat] = taken / (3.0 * STONES_EACH[record.hand.shape[0]])


@jit
def mid_move(record):
    """Whether a card has been chosen and not yet laid, or its new villages not yet."""
    return record.phase != state.CARD and not record.over


GAME = Game(
    name="samurai_card",
    title="Samurai: The Card Game",
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
        outlook=counsel.outlook,
    ),
    format_move=notation.format_move,
    parse_move=notation.parse_move,
    forbid=forbid,
    scene=scene.scene,
    text=text.text,
    progress_meaning="the stones that the seat has taken, as a part of the supply at the start",
    settings=settings,
    contradictions=contradictions,
    outlook=counsel.COLUMNS,
)
