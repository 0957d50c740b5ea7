"""The operations on a kernel's process, whoever started it."""

from __future__ import annotations

from typing import Protocol

from .model import Exit


class KernelProcess(Protocol):
    """Implemented by a forked kernel and by one that ``jupyter_client`` launched."""

    pid: int | None

    @property
    def checks_every(self) -> float | None:
        """How often :meth:`poll` must be asked, in seconds; None when its end is announced."""

    def poll(self) -> Exit | None:
        """How it ended, or None while it lives."""

    def interrupt(self) -> None:
        """Interrupt as Ctrl+C does."""

    def terminate(self) -> None:
        """Ask it to end."""

    def kill(self) -> None:
        """End it."""
