"""The one error a user may read, and the end of work whose result nobody waits for.

Everything else is a bug and keeps its traceback.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class TapevizError(Exception):
    """Something the user can mend; ``str(error)`` is one line that says what to do.

    The command line prints it and ends with :attr:`exit_status`.
    """

    exit_status = 3


_NO_FILE = "there is no such file"
_NO_PERMISSION = "no permission to read it"
_READING = {
    errno.ENOENT: _NO_FILE,
    errno.ENOTDIR: _NO_FILE,
    errno.EISDIR: "that is a folder; choose a file in it",
    errno.EACCES: _NO_PERMISSION,
    errno.EPERM: _NO_PERMISSION,
    errno.EIO: "the disk reports a fault",
    errno.ENAMETOOLONG: "the file name is too long",
    errno.ELOOP: "its links lead round in a circle",
}


def reading_words(error: OSError) -> str:
    """Say what keeps a file from being read."""
    return _READING.get(error.errno or 0, error.strerror or str(error))


class Superseded(Exception):
    """Nobody waits for the result of long work any more; raised where that asks (:func:`go_on`)."""


_is_superseded: ContextVar[Callable[[], bool]] = ContextVar("is_superseded", default=lambda: False)


@contextmanager
def unless(is_superseded: Callable[[], bool]) -> Iterator[None]:
    """Let :func:`go_on`, called inside of this on the same thread, ask ``is_superseded``."""
    token = _is_superseded.set(is_superseded)
    try:
        yield
    finally:
        _is_superseded.reset(token)


def go_on() -> None:
    """Raise :class:`Superseded` if nobody waits for the result any more."""
    if _is_superseded.get()():
        raise Superseded
