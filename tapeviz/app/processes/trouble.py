"""Turn an uncaught exception into a traceback in the log and a line in the window."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import TracebackType

from ...bugs import log


def note(where: str, error: BaseException) -> None:
    log.error("%s", where, exc_info=error)


def catch_all(tell: Callable[[str], None]) -> None:
    """Log exceptions that escape from slots, and call ``tell`` with a line about each."""

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, error, trace)
            return
        log.error("uncaught", exc_info=(kind, error, trace))
        try:
            tell(f"Something went wrong in tapeviz: {kind.__name__}: {error}")
        except RuntimeError:
            sys.__excepthook__(kind, error, trace)  # the window is gone

    sys.excepthook = hook
