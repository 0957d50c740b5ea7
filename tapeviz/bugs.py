"""Report a fault of tapeviz's own: a traceback in the log, and a line for the user."""

from __future__ import annotations

import errno
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from logging.handlers import RotatingFileHandler
from pathlib import Path

from .errors import TapevizError

log = logging.getLogger("tapeviz")
log.addHandler(logging.NullHandler())  # else warnings go to standard error, with tracebacks

_NO_ROOM = frozenset({errno.ENOSPC, errno.EIO})


def start_log(folder: Path) -> Path | None:
    """The path of the log that bugs are written to; None where no folder takes one."""
    file = folder / "tapeviz.log"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handler = RotatingFileHandler(file, maxBytes=500_000, backupCount=1, encoding="utf-8")
    except OSError:
        return None
    handler.setFormatter(logging.Formatter("%(asctime)s %(name)s %(levelname)s %(message)s"))
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    return file


@contextmanager
def reported_in_a_line() -> Iterator[None]:
    """Turn an unexpected exception into a :class:`TapevizError` that names the log with its
    traceback."""
    try:
        yield
    except (TapevizError, BrokenPipeError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno in _NO_ROOM:
            from .files.whole import words_for

            raise TapevizError(f"cannot write: {words_for(error)}") from error
        from platformdirs import user_state_path

        file = start_log(user_state_path("tapeviz", appauthor=False))
        log.error("a bug", exc_info=error)
        where = f"; its traceback is in {file}" if file else ""
        words = f"this is a bug of tapeviz: {type(error).__name__}: {error}{where}"
        raise TapevizError(" ".join(words.split())) from error
