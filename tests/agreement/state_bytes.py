"""The bytes that a state has to have: put together field by field from a reference, and compared at once."""

from collections.abc import Iterable, Iterator
from functools import cache

import numpy as np


@cache
def layout(dtype: np.dtype) -> dict[str, tuple[slice, int, bool]]:
    """Where each field is, the size of its numbers, and whether they have a sign; in the order of the state."""
    found = {}
    for name in dtype.names:
        field, start = dtype.fields[name][:2]
        found[name] = slice(start, start + field.itemsize), field.base.itemsize, field.base.kind == "i"
    return found


class StateBytes:
    """What a reference says of every field of a state.

    The comparison is one of bytes, whole state with whole state. So a decision costs what it has changed, and nothing
    is compared less often.

    Attributes:
        fields: the bytes that each field has to have, by name, in the order of the state.
    """

    def __init__(self, states: np.ndarray) -> None:
        """Begin with nothing said of any field.

        Args:
            states: array (1,) of the state; it is read whenever something is compared.
        """
        self._states, self._layout = states, layout(states.dtype)
        self.fields = dict.fromkeys(self._layout, b"")
        if "padding" in self.fields:
            self.fields["padding"] = bytes(states["padding"].nbytes)

    def set_number(self, name: str, value: int) -> None:
        """Say what a field of one number holds; OverflowError if it cannot."""
        _, size, signed = self._layout[name]
        self.fields[name] = value.to_bytes(size, "little", signed=signed)

    def set_array(self, name: str, values: object) -> None:
        """Say what a field of many numbers holds; OverflowError if it cannot."""
        self.fields[name] = np.array(values, self._states.dtype[name].base).tobytes()

    def leave_open(self, names: Iterable[str]) -> None:
        """Say of fields that they may hold what they hold now."""
        raw = self._states.tobytes()
        for name in names:
            self.fields[name] = raw[self._layout[name][0]]

    def held(self, name: str) -> bytes:
        """The bytes of a field of the state."""
        return self._states.tobytes()[self._layout[name][0]]

    def differences(self) -> Iterator[str]:
        """What differs between the state and the reference, a line for each field."""
        raw = self._states.tobytes()
        if b"".join(self.fields.values()) == raw:
            return
        for name, wanted in self.fields.items():
            place = self._layout[name][0]
            if wanted != raw[place]:
                field = self._states[0][name]
                known = len(wanted) == place.stop - place.start
                value = np.frombuffer(wanted, field.dtype).reshape(field.shape) if known else "no idea"
                yield f"field {name} is {field}, the reference has {value}"
