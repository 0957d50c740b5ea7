"""Let Python's recursion limit count the frames of the snippet alone."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from operator import index
from sys import getrecursionlimit
from threading import RLock, Thread

PROBE = compile(
    """
def deeper(depth):
    try:
        return deeper(depth + 1)
    except RecursionError:
        return depth
reached = deeper(1)
""",
    "<probe>",
    "exec",
)
FIRST_OF_THREAD = Thread._bootstrap.__code__  # type: ignore[attr-defined]
_HOOK = 1
"""A function that is given arguments calls a hook first, which needs one frame more."""


class _Limit:
    """The limit that the snippet knows, and the frames which a plain run does not have.

    ``below``: those that called the snippet; ``between``: those that its functions call each other
    through. Inside of these TensorFlow's functions reach the limit, which call no hook.
    """

    def __init__(self) -> None:
        self.of_snippet = getrecursionlimit()
        self._below = self._between = 0
        self._set_real = sys.setrecursionlimit
        self._lock = RLock()

    def change(self, limit: int, below: int) -> None:
        """Raises ``RecursionError`` if the stack is deeper than this limit already."""
        self._set_real(limit + below + max(_HOOK, self._between))
        self.of_snippet, self._below = limit, below

    def add_between(self, frames: int) -> None:
        with self._lock:
            self._between += frames
            with suppress(RecursionError):  # the next change sets it again
                self.change(self.of_snippet, self._below)


_limit = _Limit()


@contextmanager
def as_of_script(reached: int) -> Iterator[None]:
    """Allow as many nested calls before RecursionError as a script has, whose module is at depth 1.

    ``reached``: the depth of a module that is run here, under the limit of now. The limit is that
    of all threads: new ones begin below as many frames (``Thread._bootstrap``, Python 3.10-3.13).
    """
    setting, getting = sys.setrecursionlimit, sys.getrecursionlimit
    bootstrap = Thread._bootstrap  # type: ignore[attr-defined]
    limit = getting()
    below = limit - 1 - reached

    def setrecursionlimit(limit: int, /) -> None:
        if (number := index(limit)) < 1:
            raise ValueError("recursion limit must be greater or equal than 1")
        _limit.change(number, below)

    def getrecursionlimit() -> int:
        return _limit.of_snippet

    def bootstrap_deeper(self: Thread) -> None:
        call_below(below - 3, lambda: bootstrap(self))  # this, call_below and the lambda are three

    setrecursionlimit(limit)
    Thread._bootstrap = bootstrap_deeper  # type: ignore[attr-defined]
    sys.setrecursionlimit, sys.getrecursionlimit = setrecursionlimit, getrecursionlimit
    try:
        yield
    finally:
        sys.setrecursionlimit, sys.getrecursionlimit = setting, getting
        Thread._bootstrap = bootstrap  # type: ignore[attr-defined]
        _limit.change(limit, below=0)


def call_below(frames: int, run: Callable[[], None]) -> None:
    """``run()``, called by this function through as many others that do nothing else."""
    for _ in range(frames):
        run = _called_by_another(run)
    run()


def _called_by_another(run: Callable[[], None]) -> Callable[[], None]:
    return lambda: run()


class UncountedFrame:
    """A block in which a function of ours runs one of the snippet's: its frame is not counted."""

    def __enter__(self) -> None:
        _limit.add_between(1)

    def __exit__(self, *_: object) -> None:
        _limit.add_between(-1)
