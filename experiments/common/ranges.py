"""Ranges of a program's settings, which stand beside them: `deals: Annotated[int, Range(1, 100)] = 10`."""

from typing import Annotated, Any

from agents.settings import Range, field_types, number_text
from agents.settings import Share as Share
from samurai_env.files.json_reader import LARGEST

Count = Annotated[int, Range(1, 10**7)]
Processes = Annotated[int, Range(1, 1024)]
Seed = Annotated[int, Range(0, 2**62 - 1)]
Weight = Annotated[float, Range(0, 1e6)]
Width = Annotated[int, Range(0, 2**16)]  # of layers of a network, 0 for none
Widths = Annotated[tuple[int, ...], Range(1, 2**16)]


def flag(name: str) -> str:
    """The command-line flag of a field."""
    return "--" + name.replace("_", "-")


def check_ranges(config: Any) -> None:
    """Check the range of each setting of a program; None is in every range, a tuple if all its values are.

    Args:
        config: an instance of a dataclass.

    Raises:
        ValueError: names the flag, the value and the range.
    """
    for name, (_, allowed) in field_types(type(config)).items():
        value = getattr(config, name)
        for each in value if isinstance(value, tuple) else (value,):
            if allowed is not None and each is not None and each not in allowed:
                raise ValueError(f"{flag(name)} must be {allowed}, not {number_text(each)}")


def check_fits(name: str, count: int, bytes_each: int, instead: str = "") -> None:
    """Refuse more deals, games or positions than a file of results may hold, before they are played.

    Args:
        name: of the setting that says how many.
        count: how many.
        bytes_each: that each needs in the file, at most.
        instead: what to do instead, for the error.

    Raises:
        ValueError: names the flag and how many the file may hold.
    """
    if count > (most := LARGEST // bytes_each):
        hint = f"; {instead}" if instead else ""
        raise ValueError(f"{flag(name)} may be {most:,} here, not {count:,}: more do not fit into one file{hint}")
