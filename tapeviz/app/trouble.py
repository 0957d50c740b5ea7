"""An exception nobody caught in, a line in the log and one in the window out."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from logging.handlers import RotatingFileHandler
from pathlib import Path
from types import TracebackType

_log = logging.getLogger("tapeviz")


def start_log(folder: Path) -> Path | None:
    """Where bugs are written down; None when there is no place for it."""
    file = folder / "tapeviz.log"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handler = RotatingFileHandler(file, maxBytes=500_000, backupCount=1, encoding="utf-8")
    except OSError:
        return None
    handler.setFormatter(logging.Formatter("%(asctime)s %(name)s %(levelname)s %(message)s"))
    _log.addHandler(handler)
    _log.setLevel(logging.INFO)
    return file


def note(where: str, error: BaseException) -> None:
    _log.error("%s", where, exc_info=error)


def catch_all(tell: Callable[[str], None]) -> None:
    """Sends what escapes from a slot to the log, and one line of it to ``tell``."""

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, error, trace)
            return
        _log.error("uncaught", exc_info=(kind, error, trace))
        try:
            tell(f"Something went wrong in tapeviz: {kind.__name__}: {error}")
        except RuntimeError:
            sys.__excepthook__(kind, error, trace)  # the window is gone

    sys.excepthook = hook
