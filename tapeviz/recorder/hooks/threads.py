"""Threads that the snippet starts in; their ops are seen like those of the main one."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from typing import Any

from .. import private
from ..installed import Installed
from ..recording import RecordingContext

_START = "_set_ident"
"""The method that ``threading.Thread`` calls first on a new thread (Python 3.10-3.13).
It has returned when the snippet's function runs, and so leaves no frame above that."""


def install(
    recording: RecordingContext, installed: Installed, callback: Callable[..., Any]
) -> None:
    """TensorFlow calls back on the thread that asked for it alone: ask on each."""
    numbers = itertools.count(1)

    def wrap(start: Callable[..., Any]) -> Callable[..., Any]:
        def starting(self: threading.Thread) -> None:
            start(self)
            if isinstance(self, threading._DummyThread):  # stands for one that others started
                return
            with recording.shielded("a thread"):
                recording.local.state = (0, False, next(numbers))
                private.add_op_callback(callback)

        return starting

    if hasattr(threading.Thread, _START):
        installed.replace(threading.Thread, _START, wrap)
