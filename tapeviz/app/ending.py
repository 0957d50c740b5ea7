"""A window in, its orderly end out: runs, processes and threads first, then the widgets."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
from typing import TYPE_CHECKING, NoReturn

from PySide6.QtCore import QCoreApplication, QObject, QSocketNotifier
from PySide6.QtWidgets import QWidget
from shiboken6 import delete, isValid

if TYPE_CHECKING:
    from .window import Window

PATIENCE = 1.5
"""Seconds that work in the background may still take; it can be asked to stop, but not forced."""
_SIGNALS = ("SIGTERM", "SIGINT", "SIGHUP")


def end_window(window: Window) -> bool:
    """Ends every process and thread behind the window; False when a thread is still at work."""
    window.hide()
    document = window.document
    document.runs.forget()
    document.mending.forget()
    document.comparing.leave()
    document.runs.pipeline.close()
    is_quiet = document.background.close(PATIENCE)
    return is_quiet and _have_ended(PATIENCE)


def _have_ended(patience: float) -> bool:
    """Waits for what else of ours still runs, as the last words of a recording."""
    until = time.monotonic() + patience
    ours = [thread for thread in threading.enumerate() if thread.name.startswith("tapeviz")]
    for thread in ours:
        thread.join(max(until - time.monotonic(), 0.0))
    return not any(thread.is_alive() for thread in ours)


def leave(window: Window, status: int) -> int:
    """Takes the window down, widgets before the application; gives ``status``.

    A thread that still works would wake up in the midst of the interpreter's end and touch objects
    of Qt that are gone: then the process ends at once. All that is to be kept was written before.
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
    """Closes the window, text kept and processes ended, when the system asks for it.

    Python runs its handlers between two of its own instructions, of which there are none while
    Qt waits: a byte on a socket wakes it.
    """

    def __init__(self, window: QWidget) -> None:
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
        self._window.close()
        QCoreApplication.exit(0)  # also out of a dialog that waits for an answer

    def release(self) -> None:
        """From now on a signal ends the process as it does any other."""
        signal.set_wakeup_fd(-1)
        self._notifier.setEnabled(False)
        for name in _SIGNALS:
            number = getattr(signal, name, None)
            if number is not None:
                signal.signal(number, signal.SIG_DFL)
        self._near.close()
        self._far.close()
