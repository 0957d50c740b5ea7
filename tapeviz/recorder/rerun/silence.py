"""Let nothing be printed while functions run again: what they print was printed in the run.

TensorFlow prints from C++, too: where ops are placed (``set_log_device_placement``), what XLA
compiles, what a kernel warns of. So descriptors 1 and 2 lead nowhere for that time.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from ctypes import CDLL, c_size_t, c_void_p
from os import O_WRONLY, close, devnull, dup, dup2, fstat, pipe, read, write
from os import open as open_file

_MOST_BUFFERED = 1 << 16
"""Bytes that a pipe takes before a writer waits; C's buffer holds a few thousand."""


@contextmanager
def silence() -> Iterator[None]:
    """Drop what this process writes to descriptors 1 and 2; closed ones stay closed.

    What C's ``printf()`` has in its buffer stays there: it comes out when the process ends.
    Raises OSError if no descriptor is left.
    """
    closed = [number for number in (1, 2) if not _is_open(number)]
    nowhere = open_file(devnull, O_WRONLY)
    for number in closed:
        dup2(nowhere, number)  # else a copy made here would get this number
    kept = {number: dup(number) for number in (1, 2) if number not in closed}
    waiting = _buffered() if 1 in kept else b""
    for number in kept:
        dup2(nowhere, number)
    try:
        yield
    finally:
        _flush()
        for number, place in kept.items():
            dup2(place, number)
            close(place)
        for number in {nowhere, *closed}:
            close(number)
        _print_later(waiting)


def _is_open(descriptor: int) -> bool:
    with suppress(OSError):
        fstat(descriptor)
        return True
    return False


def _buffered() -> bytes:
    """Take out what C's standard output holds back; descriptor 1 then leads elsewhere."""
    reading, writing = pipe()
    dup2(writing, 1)
    _flush()
    write(writing, b"\0")  # else an empty pipe is waited for
    close(writing)
    text = read(reading, _MOST_BUFFERED)
    close(reading)
    return text[:-1]


def _c_library() -> CDLL | None:
    return None if sys.platform == "win32" else CDLL(None)


def _flush() -> None:
    library = _c_library()
    if library is not None:
        library.fflush(None)


def _print_later(text: bytes) -> None:
    """Put ``text`` into the buffer of C's standard output."""
    library = _c_library()
    if library is not None and text:
        name = "stdout" if hasattr(library, "stdout") else "__stdoutp"
        stream = c_void_p.in_dll(library, name)
        library.fwrite(text, c_size_t(1), c_size_t(len(text)), stream)
