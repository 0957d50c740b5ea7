"""Limit the time that a snippet waits for its messages to be sent.

After each message it waits until that has left Python, so that a crash right after loses nothing,
unless the waiting would slow a snippet that publishes much.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

FREE = 0.1  # seconds
SHARE = 0.05  # of the time since the beginning


class WaitingAllowance:
    """Allows :data:`FREE` seconds of waiting, plus a :data:`SHARE` of the time since it was
    made."""

    def __init__(self) -> None:
        self._begun = perf_counter()
        self._waited = 0.0

    def is_left(self) -> bool:
        """Whether another wait is allowed."""
        return self._waited < FREE + SHARE * (perf_counter() - self._begun)

    def spend(self, wait: Callable[[], None]) -> None:
        """Call ``wait()`` and count its time."""
        begun = perf_counter()
        wait()
        self._waited += perf_counter() - begun
