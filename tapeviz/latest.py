"""Remember what was worked out for the trace that was asked about last."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from threading import Lock
from typing import TypeVar
from weakref import ReferenceType, ref

Asked = TypeVar("Asked")
Made = TypeVar("Made")


def for_latest(make: Callable[[Asked], Made]) -> Callable[[Asked], Made]:
    """Decorate ``make`` so that it works once for an object (a trace) as long as no other is asked
    about. The object is not held; two threads that ask at once wait for one answer."""
    latest: list[tuple[ReferenceType[Asked], Made]] = []
    alone = Lock()

    @wraps(make)
    def give(asked: Asked) -> Made:
        with alone:
            for known, made in latest:
                if known() is asked:
                    return made
            found = make(asked)
            latest[:] = [(ref(asked), found)]
            return found

    return give
