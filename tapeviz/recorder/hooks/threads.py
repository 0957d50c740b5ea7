"""Threads that the snippet starts in; their ops are seen like those of the main one."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from typing import Any

from .. import private
from ..installed import Installed
from ..recording import RecordingContext

_START = "_bootstrap_inner"  # threading.Thread, Python 3.10-3.13: the first thing a thread runs


def install(
    recording: RecordingContext, installed: Installed, callback: Callable[..., Any]
) -> None:
    """TensorFlow calls back on the thread that asked for it alone: ask on each."""
    numbers = itertools.count(1)

    def wrap(start: Callable[..., Any]) -> Callable[..., Any]:
        def starting(self: threading.Thread) -> None:
            with recording.shielded("a thread"):
                recording.local.state = (0, False, next(numbers))
                private.add_op_callback(callback)
            start(self)

        return starting

    if hasattr(threading.Thread, _START):
        installed.replace(threading.Thread, _START, wrap)
