"""How long a snippet was made to wait in; whether it may wait once more out.

What is published is waited for until it has left Python, so that a crash right after it loses
nothing; as long as the waiting does not slow a snippet that publishes a great deal.
"""

from __future__ import annotations

import time
from collections.abc import Callable

FREE = 0.1  # seconds
SHARE = 0.05  # of the time since the beginning


class WaitingAllowance:
    """Allows waiting for :data:`FREE` seconds and then for a :data:`SHARE` of the time."""

    def __init__(self) -> None:
        self._begun = time.perf_counter()
        self._waited = 0.0

    def is_left(self) -> bool:
        """Whether one more wait is fair."""
        return self._waited < FREE + SHARE * (time.perf_counter() - self._begun)

    def spend(self, wait: Callable[[], None]) -> None:
        """Do ``wait()`` and count its time."""
        begun = time.perf_counter()
        wait()
        self._waited += time.perf_counter() - begun
