"""Let nothing be printed while functions run again: what they print was printed in the run.

TensorFlow prints from C++, too: where ops are placed (``set_log_device_placement``), what XLA
compiles, what a kernel warns of. So descriptors 1 and 2 lead nowhere for that time.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from ctypes import CDLL, c_size_t, c_void_p
from os import O_WRONLY, close, devnull, dup, dup2, fstat
from os import open as open_file
from tempfile import TemporaryFile


@contextmanager
def silence() -> Iterator[None]:
    """Drop what this process writes to descriptors 1 and 2, on all its threads; closed ones stay
    closed.

    What C's ``printf()`` has in its buffer stays there: it comes out when the process ends.
    Raises OSError, and leaves the descriptors as they are, if no further one can be had or no file
    be made.
    """
    waiting = b""
    try:
        with ExitStack() as undone:  # the last first
            closed = [number for number in (1, 2) if not _is_open(number)]
            nowhere = open_file(devnull, O_WRONLY)
            undone.callback(close, nowhere)
            for number in closed:
                if number != nowhere:  # else a copy made here would get this number
                    dup2(nowhere, number)
                    undone.callback(close, number)
            kept = [number for number in (1, 2) if number not in closed]
            for number in kept:
                place = dup(number)
                undone.callback(close, place)
                undone.callback(dup2, place, number)
            if 1 in kept:
                waiting = _buffered()
            for number in kept:
                dup2(nowhere, number)
            undone.callback(_flush)
            yield
    finally:
        _print_later(waiting)


def _is_open(descriptor: int) -> bool:
    with suppress(OSError):
        fstat(descriptor)
        return True
    return False


def _buffered() -> bytes:
    """Take out what C's standard output holds back; descriptor 1 then leads elsewhere."""
    with TemporaryFile() as file:
        dup2(file.fileno(), 1)
        _flush()
        file.seek(0)
        return file.read()


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
