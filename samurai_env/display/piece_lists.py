"""Pieces of a hand, a stack or a supply as lists, for pictures and for text."""

from collections.abc import Sequence

import numpy as np


def kinds_of(counts: np.ndarray) -> tuple[int, ...]:
    """The kind of each piece, ascending, from the number of pieces of each kind, integers (kinds,)."""
    return tuple(kind for kind, count in enumerate(counts.tolist()) for _ in range(count))


def counted(kinds: Sequence[int], codes: Sequence[str]) -> str:
    """Pieces as a list by kind, such as `H4 2xS1`; empty if there is none.

    Args:
        kinds: the kind of each piece.
        codes: the code of each kind.
    """
    counts = [(code, kinds.count(kind)) for kind, code in enumerate(codes) if kind in kinds]
    return " ".join(code if count == 1 else f"{count}x{code}" for code, count in counts)
