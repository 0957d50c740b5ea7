"""How long tests wait for another thread or process."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE = 90
"""Seconds, reached only if what a test waits for never comes: on a busy machine a process that
starts in half a second takes ten."""


def wait_until(is_so: Callable[[], object]) -> None:
    until = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < until, "it did not become so"
        time.sleep(0.01)
