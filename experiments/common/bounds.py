"""Bounds of settings, which stand beside them: `deals: Annotated[int, Between(1, 100)] = 10`."""

from typing import Annotated, Any, NamedTuple, get_type_hints


class Between(NamedTuple):
    """From `low` to `high`, both included; of a tuple, each of its values."""

    low: float
    high: float


Count = Annotated[int, Between(1, 10**7)]
Processes = Annotated[int, Between(1, 1024)]
Seed = Annotated[int, Between(0, 2**62 - 1)]
Share = Annotated[float, Between(0.0, 1.0)]
Weight = Annotated[float, Between(0.0, 1e6)]
Width = Annotated[int, Between(0, 2**16)]  # of layers of a network, 0 for none


def check_bounds(config: Any) -> None:
    """Refuse settings (a dataclass) that lie outside their bounds; None lies within all.

    Raises:
        ValueError: names the option.
    """
    for name, hint in get_type_hints(type(config), include_extras=True).items():
        value = getattr(config, name)
        for bounds in getattr(hint, "__metadata__", ()):
            if isinstance(bounds, Between) and value is not None:
                for each in value if isinstance(value, tuple) else (value,):
                    _check(f"--{name.replace('_', '-')}", each, bounds)


def _check(option: str, value: float, bounds: Between) -> None:
    if not value >= bounds.low:
        raise ValueError(f"{option} is at least {bounds.low:,}, not {_short(value)}")
    if not value <= bounds.high:
        raise ValueError(f"{option} is at most {bounds.high:,}, not {_short(value)}")


def _short(value: float) -> str:
    text = str(value)
    return text if len(text) <= 30 else f"{text[:12]}... ({len(text)} digits)"
