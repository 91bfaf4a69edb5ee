"""Memory that is freed and soon asked for again."""

import ctypes
import sys

M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4  # mallopt(3)


def keep_freed_memory() -> None:
    """Let glibc keep what is freed; other C libraries do as they like.

    By default it gives large blocks back to the kernel, which hands them out again page by page, each filled with
    zeros. A network in training frees the same tens of megabytes in every step and asks for them again.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        mallopt(M_TRIM_THRESHOLD, 2**31 - 1)
        mallopt(M_MMAP_MAX, 0)
