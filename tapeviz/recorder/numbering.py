"""Give names that TensorFlow numbers the numbers that they have without the recorder's own ops.

One counter (``ops.uid``) gives ids to tensors and numbers to functions, branches, variables and
custom gradients, and messages show these: ``__inference_f_30``. What the recorder reads takes ids,
too.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from sys import _getframe
from threading import Lock

from . import private
from .installed import Installed

_taken = 0


@contextlib.contextmanager
def own_ops() -> Iterator[None]:
    """Ids that are taken inside do not count for the names of functions. No op callback is called
    for the ops inside, not even one that the snippet added."""
    global _taken
    before, thread = private.next_id(), private.thread_data()
    callbacks, thread.op_callbacks = thread.op_callbacks, []
    try:
        yield
    finally:
        thread.op_callbacks = callbacks
        _taken += private.next_id() - before + 1


def took(count: int) -> None:
    """Count tensors that a plain run does not make."""
    global _taken
    _taken += count


def install(installed: Installed) -> None:
    """Number names as if no op of ours had run."""
    installed.replace(private.framework_ops, private.NEXT_NUMBER, _renumbered)


def _renumbered(_: Callable[[], int]) -> Callable[[], int]:
    home = vars(private.framework_ops)
    # What the original calls, so that the stack is as deep as in a plain run.
    next_number: Callable[[], int] = private.pywrap.TFE_Py_UID
    lock, last = Lock(), 0

    def uid() -> int:
        nonlocal last
        number = next_number()
        if _getframe(1).f_globals is home:
            return number  # an id of a tensor must be no other tensor's; the rest is for names
        with lock:
            # Among the ids counted as taken may be those of another thread: TensorFlow refuses
            # two functions of one name, so no number comes twice.
            last = max(number - _taken, last + 1)
            return last

    return uid
