"""Stop a snippet with stronger and stronger means."""

from __future__ import annotations

import time
from collections.abc import Callable

from .process import KernelProcess

STEP = 1.0  # seconds between an interrupt, a termination and the kill


class Stopping:
    """Interrupt, then terminate, then kill, each :data:`STEP` seconds after the last."""

    def __init__(self, begins: float, timeout: float | None) -> None:
        self.timeout = timeout
        self._next = begins
        self._means: list[Callable[[KernelProcess], None]] = [
            lambda process: process.interrupt(),
            lambda process: process.terminate(),
            lambda process: process.kill(),
        ]

    @classmethod
    def now(cls) -> Stopping:
        """Begin at once: the user asked for it."""
        return cls(time.monotonic(), None)

    @classmethod
    def after(cls, timeout: float) -> Stopping:
        """Begin after ``timeout`` seconds, the limit of the run."""
        return cls(time.monotonic() + timeout, timeout)

    @property
    def has_begun(self) -> bool:
        return len(self._means) < 3

    def pause(self) -> float | None:
        """Seconds until the next means is due; None if all were used."""
        return max(0.0, self._next - time.monotonic()) if self._means else None

    def press(self, process: KernelProcess) -> None:
        """Use the next means if it is due."""
        if self._means and time.monotonic() >= self._next:
            self._means.pop(0)(process)
            self._next = time.monotonic() + STEP
