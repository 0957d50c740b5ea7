"""Names that TensorFlow numbers in; the numbers that they have without the recorder's own ops, out.

One counter (``ops.uid``) gives ids to tensors and numbers to functions and branches, and error
messages show these: ``__inference_f_30``. What the recorder reads takes ids, too.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from . import private
from .installed import Installed

_taken = 0


@contextlib.contextmanager
def own_ops() -> Iterator[None]:
    """Ids that are taken inside do not count for the names of functions."""
    global _taken
    before = private.next_id()
    try:
        yield
    finally:
        _taken += private.next_id() - before + 1


def took(count: int) -> None:
    """So many tensors were made that a plain run does not make."""
    global _taken
    _taken += count


def install(installed: Installed) -> None:
    """Number functions and branches as if no op of ours had run."""
    for module, name in private.NUMBERED_NAMES:
        installed.replace(module, name, _renumbered)


def _renumbered(name: Callable[..., str]) -> Callable[..., str]:
    def numbered(*args: Any, **named: Any) -> str:
        head, line, number = name(*args, **named).rpartition("_")
        return f"{head}{line}{int(number) - _taken}" if number.isdecimal() else head + line + number

    return numbered
