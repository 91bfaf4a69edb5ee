"""Positions set up by hand on the page, and positions as text."""

import secrets
from typing import Any

from experiments.web.requests import Refused
from samurai_env import Position, Variant, parse_variant
from samurai_env.core.checks import checked_seed
from samurai_env.core.texts import one_line
from samurai_env.editors import draft, editor_of, set_up, start, values_of

MOST_VALUES = 2000  # of a position


def asked_variant(body: dict[str, Any]) -> Variant:
    """The variant of a request.

    Raises:
        Refused: there is none, or no such variant.
    """
    try:
        return parse_variant(body.get("variant"))  # type: ignore[arg-type]
    except (TypeError, ValueError) as error:
        raise Refused(400, one_line(error)) from None


def asked_position(body: dict[str, Any]) -> Position:
    """The position of a request: `position`, as text, or `variant` and `values`.

    Raises:
        Refused: it is malformed, or no game reaches it.
    """
    try:
        if "position" not in body:
            return set_up(asked_variant(body), _values(body), secrets.randbits(63))
        position = Position.from_text(body["position"])
        checked_seed(position.seed)  # records have seeds of 63 bits, states of 64
    except (TypeError, ValueError) as error:
        raise Refused(400, one_line(error)) from None
    if position.mid_move:
        raise Refused(400, "the position is in the middle of a move; a table begins before one")
    return position


def _values(body: dict[str, Any]) -> dict[str, str]:
    values = body.get("values")
    if not isinstance(values, dict) or len(values) > MOST_VALUES:
        raise Refused(400, f"values are at most {MOST_VALUES:,} texts by name")
    return values


def edited(body: dict[str, Any]) -> dict[str, Any]:
    """The view of a position that is being set up.

    Args:
        body: `position`, as text, to begin from a position; or `variant`, and `values` unless it is the first time.

    Raises:
        Refused: it is malformed, or the game's positions cannot be set up.
    """
    from samurai_env.display import svg

    try:
        if "position" in body:
            position = Position.from_text(body["position"])
            variant, values = position.variant, values_of(position)
        else:
            variant = asked_variant(body)
            values = _values(body) if "values" in body else start(variant)
        found = draft(variant, values)
    except (TypeError, ValueError) as error:
        raise Refused(400, one_line(error)) from None
    state = found.position.state
    scene = variant.game.scene(state)
    entries = editor_of(variant).entries(state)
    return {
        "title": variant.game.title,
        "variant": variant.spec,
        "players": variant.num_players,
        "values": values,
        "entries": [vars(entry) for entry in entries],
        "problem": found.problem,
        "moments": editor_of(variant).moments,
        "caption": scene.caption,
        "svg": svg(scene),
        "panels": {name: vars(panel) for name, panel in scene.panels.items()},
        "clickable": sorted({entry.target for entry in entries if entry.target}),
        "legal": [],
    }
