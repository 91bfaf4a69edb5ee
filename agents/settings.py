"""Settings as dataclasses: each numeric field has its range beside it, and one check holds them all."""

import math
from dataclasses import dataclass, fields
from typing import Annotated, Any, get_args, get_origin, get_type_hints

LARGEST = 2**31 - 1  # whole numbers are at most


@dataclass(frozen=True)
class Range:
    """Values that a number may have: from `low` to `high`, without `low` itself if `above`."""

    low: float = -math.inf
    high: float = math.inf
    above: bool = False

    def __contains__(self, value: float) -> bool:
        return (self.low < value if self.above else self.low <= value) and value <= self.high

    def __str__(self) -> str:
        if self.high == math.inf:
            return f"above {self.low:g}" if self.above else f"at least {self.low:g}"
        return f"above {self.low:g}, at most {self.high:,g}" if self.above else f"from {self.low:g} to {self.high:.10g}"


Count = Annotated[int, Range(1, LARGEST)]
Share = Annotated[float, Range(0, 1)]


def field_types(settings: Any) -> dict[str, tuple[type, Range | None]]:
    """Type and range of each field of a dataclass of settings."""
    hints = get_type_hints(settings, include_extras=True)
    found: dict[str, tuple[type, Range | None]] = {}
    for field in fields(settings):
        hint = hints[field.name]
        extras = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
        kind = get_args(hint)[0] if extras else hint
        found[field.name] = kind, next((extra for extra in extras if isinstance(extra, Range)), None)
    return found


def check_ranges(settings: Any, owner: str) -> None:
    """Check the range of each field.

    Args:
        settings: an instance of a dataclass.
        owner: what has these settings, for errors.

    Raises:
        ValueError: names the setting, its value and its range.
    """
    for name, (_, allowed) in field_types(type(settings)).items():
        value = getattr(settings, name)
        if allowed is not None and value not in allowed:
            raise ValueError(f"{name} of {owner} must be {allowed}, not {number_text(value)}")


def number_text(value: float) -> str:
    """A number for an error text, however large it is."""
    if isinstance(value, int) and abs(value) >= 10**30:
        return "a number of more than 30 digits"
    return f"{value:.12g}"
