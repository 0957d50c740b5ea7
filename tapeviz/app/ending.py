"""End a window in order: first runs, processes and threads, then the widgets."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
from typing import TYPE_CHECKING, NoReturn

from PySide6.QtCore import QCoreApplication, QObject, QSocketNotifier
from shiboken6 import delete, isValid

if TYPE_CHECKING:
    from .window import Window

PATIENCE = 1.5
"""Seconds to wait for background work, which cannot be forced to stop."""
_SIGNALS = ("SIGTERM", "SIGINT", "SIGHUP")


def end_window(window: Window) -> bool:
    """End every process and thread of the window; returns False if a thread is still running."""
    window.hide()
    document = window.document
    document.runs.forget()
    document.fix_trials.forget()
    document.shares.forget()
    document.comparing.leave()
    document.runs.pipeline.close()
    is_quiet = document.background.close(PATIENCE)
    return is_quiet and _have_ended(PATIENCE)


def _have_ended(patience: float) -> bool:
    """Wait for our other threads; returns whether all have ended."""
    until = time.monotonic() + patience
    ours = [thread for thread in threading.enumerate() if thread.name.startswith("tapeviz")]
    for thread in ours:
        thread.join(max(until - time.monotonic(), 0.0))
    return not any(thread.is_alive() for thread in ours)


def leave(window: Window, status: int) -> int:
    """Delete the window before the application; returns ``status``.

    If a thread is still running, the process ends here: the thread could use deleted Qt objects
    while the interpreter shuts down. Everything to be kept has been written before.
    """
    is_quiet = end_window(window)
    sys.excepthook = sys.__excepthook__
    if not is_quiet:
        end_process(status)
    if isValid(window):
        delete(window)
    return status


def end_process(status: int) -> NoReturn:
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


class SignalCloser(QObject):
    """Closes the window in order on SIGTERM, SIGINT and SIGHUP.

    Python runs signal handlers between two bytecode instructions, of which there are none while Qt
    waits; a byte on a socket wakes it.
    """

    def __init__(self, window: Window) -> None:
        super().__init__(window)
        self._window = window
        self._near, self._far = socket.socketpair()
        for end in (self._near, self._far):
            end.setblocking(False)
        self._notifier = QSocketNotifier(self._near.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._wake)
        signal.set_wakeup_fd(self._far.fileno(), warn_on_full_buffer=False)
        for name in _SIGNALS:
            number = getattr(signal, name, None)  # Windows has no SIGHUP
            if number is not None:
                signal.signal(number, self._close)

    def _wake(self) -> None:
        self._near.recv(64)

    def _close(self, number: int, frame: object) -> None:
        self._window.close_unasked()
        QCoreApplication.exit(0)  # also out of a dialog that waits for an answer

    def release(self) -> None:
        """Restore the default handling of the signals."""
        signal.set_wakeup_fd(-1)
        self._notifier.setEnabled(False)
        for name in _SIGNALS:
            number = getattr(signal, name, None)
            if number is not None:
                signal.signal(number, signal.SIG_DFL)
        self._near.close()
        self._far.close()
