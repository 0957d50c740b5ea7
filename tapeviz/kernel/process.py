"""The operations on the process of a kernel."""

from __future__ import annotations

from typing import Protocol

from .model import Exit


class KernelProcess(Protocol):
    """Implemented by `ForkedKernel` and `LaunchedKernel`."""

    pid: int | None

    @property
    def checks_every(self) -> float | None:
        """Seconds between calls of :meth:`poll`; None if the end of the process is reported."""

    def poll(self) -> Exit | None:
        """The way in which the process ended, or None while it lives."""

    def is_sure_to_live(self) -> bool:
        """Whether it lives, and will not end with a process that has been killed already."""

    def interrupt(self) -> None:
        """Interrupt as Ctrl+C does."""

    def terminate(self) -> None:
        """Ask the process to end (SIGTERM)."""

    def kill(self) -> None:
        """End the process (SIGKILL)."""
