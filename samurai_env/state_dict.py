"""A position as plain data for JSON: what one seat may know of it, and the JSON Schema of that."""

from typing import TYPE_CHECKING, Any

from samurai_env.core.checks import checked_seat
from samurai_env.core.game import Variant

if TYPE_CHECKING:
    from samurai_env.position import Position


def to_dict(position: "Position", seat: int, encoding: str | None = None) -> dict[str, Any]:
    """Write what a seat may know as dictionaries, lists, strings and integers.

    It is made of the seat's observation and, when the seat decides, its legal actions. So it is the same for every
    position that the seat cannot tell from this one, such as `position.determinized(seat, rng)`.

    Args:
        position: the position.
        seat: whose knowledge.
        encoding: the encoding whose blocks are written; default: the game's first.

    Returns:
        By name: `variant` (its spec), `seat`, `to_move` (the seat that decides, None once over), `steps` (decisions so
        far), `over`, `returns` (by seat, None while the game runs), `legal` (names of the seat's legal actions, empty
        when another decides) and `observation` (nested lists of integers by block, the seat's own part first).

    Raises:
        ValueError: no such seat or encoding.
    """
    variant = position.variant
    seat = checked_seat(seat, variant.num_players)
    layout = variant.encoding(encoding)
    seen = position.observe(seat, encoding)
    decides = not position.over and position.seat == seat
    return {
        "variant": variant.spec,
        "seat": seat,
        "to_move": None if position.over else position.seat,
        "steps": position.steps,
        "over": position.over,
        "returns": position.returns().tolist() if position.over else None,
        "legal": [variant.action_names[action] for action in position.legal_actions()] if decides else [],
        "observation": {block.name: layout.view(seen, block.name).tolist() for block in layout.blocks},
    }


def json_schema(variant: Variant, encoding: str | None = None) -> dict[str, Any]:
    """Make the JSON Schema (2020-12) that `to_dict` keeps to; blocks are described as in the encoding.

    Raises:
        ValueError: no such encoding.
    """
    layout = variant.encoding(encoding)
    seats = variant.num_players
    others = tuple(size for axis, size in enumerate(layout.shape) if axis != layout.axis)

    def block_schema(shape: tuple[int, ...], limits: tuple[int, int]) -> dict[str, Any]:
        if not shape:
            return {"type": "integer", "minimum": limits[0], "maximum": limits[1]}
        return {
            "type": "array",
            "minItems": shape[0],
            "maxItems": shape[0],
            "items": block_schema(shape[1:], limits),
        }

    blocks = {
        block.name: {"description": block.meaning, **block_schema((*others, *block.shape), block.limits)}
        for block in layout.blocks
    }
    properties: dict[str, Any] = {
        "variant": {"const": variant.spec},
        "seat": {"type": "integer", "minimum": 0, "maximum": seats - 1},
        "to_move": {"type": ["integer", "null"], "minimum": 0, "maximum": seats - 1},
        "steps": {"type": "integer", "minimum": 0, "maximum": variant.max_steps},
        "over": {"type": "boolean"},
        "returns": {
            "type": ["array", "null"],
            "minItems": seats,
            "maxItems": seats,
            "items": {"type": "number", "minimum": -1, "maximum": 1},
        },
        "legal": {"type": "array", "uniqueItems": True, "items": {"enum": list(variant.action_names)}},
        "observation": _object(blocks),
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"{variant.game.title}, what one seat may know",
        **_object(properties),
    }


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
