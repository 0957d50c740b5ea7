"""Hide the kernel's threads from the snippet, for the length of a ``with``."""

from __future__ import annotations

import contextlib
import functools
import itertools
import sys
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any

OURS = "tapeviz-"
"""The prefix of our own threads' names."""


@contextlib.contextmanager
def threads_of_a_script() -> Iterator[None]:
    """Let ``threading`` list and count only the snippet's threads, ``sys._current_frames`` too, and
    number new ones from 1."""
    everything, count = threading.enumerate, threading.active_count
    frames_of_all = sys._current_frames
    kernels = {thread for thread in everything() if thread is not threading.current_thread()}

    @functools.wraps(everything)
    def enumerate() -> list[threading.Thread]:
        return [
            thread
            for thread in everything()
            if thread not in kernels and not thread.name.startswith(OURS)
        ]

    @functools.wraps(count)
    def active_count() -> int:
        return len(enumerate())

    @functools.wraps(frames_of_all)
    def current_frames() -> dict[int, FrameType]:
        hidden = {thread.ident for thread in everything()} - {
            thread.ident for thread in enumerate()
        }
        frames = {ident: frame for ident, frame in frames_of_all().items() if ident not in hidden}
        caller = sys._getframe().f_back
        return frames if caller is None else {**frames, threading.get_ident(): caller}

    _count_from_one()
    threading.enumerate, threading.active_count = enumerate, active_count
    sys._current_frames = current_frames
    try:
        yield
    finally:
        threading.enumerate, threading.active_count = everything, count
        sys._current_frames = frames_of_all


def _count_from_one() -> None:
    """Let the next names be ``Thread-1`` and ``ThreadPoolExecutor-0``, as in a fresh process."""
    module: Any = threading
    if hasattr(module, "_counter"):  # Python 3.10-3.13
        module._counter = itertools.count(1).__next__
    pools: Any = sys.modules.get("concurrent.futures.thread")
    if pools is not None and hasattr(pools.ThreadPoolExecutor, "_counter"):
        pools.ThreadPoolExecutor._counter = itertools.count().__next__
