"""How the C library keeps the memory that the window no longer needs."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable

LARGE = 1 << 20
"""Bytes from which a block goes back to the system as soon as it is free."""
_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8
"""Parameters of ``mallopt`` in glibc's malloc.h."""
_ARENAS = 2


def return_large_blocks() -> bool:
    """Let glibc give large blocks back when they are freed; False where there is no glibc.

    By default it raises the size from which it does so, up to 32 MiB, and each thread has a heap of
    its own. The tables of a trace under way, made anew for each of its pictures, then stay with the
    process: a quarter of the window's memory after 128,000 ops.
    """
    mallopt = _of_glibc("mallopt")
    if mallopt is None:
        return False
    return bool(mallopt(_M_MMAP_THRESHOLD, LARGE)) and bool(mallopt(_M_ARENA_MAX, _ARENAS))


def return_free_memory() -> bool:
    """Let glibc give back what is free inside of its heaps; False where there is no glibc.

    After a large trace was diagnosed and drawn that is a tenth of the window's memory, found in
    some milliseconds.
    """
    trim = _of_glibc("malloc_trim")
    return trim is not None and bool(trim(0))


def _of_glibc(name: str) -> Callable[..., int] | None:
    if not sys.platform.startswith("linux"):
        return None
    try:
        found: Callable[..., int] = getattr(ctypes.CDLL(None), name)
    except (OSError, AttributeError):
        return None
    return found
