"""Choose the interpreter for snippets among those of this machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from ...document import Document
from ...errors import TapevizError
from ...kernel import (
    Confinement,
    KernelChoice,
    PoolStatus,
    check_interpreter,
    choose_interpreter,
    find_kernels,
    own_interpreter,
)
from ...trace.model import EMPTY_TRACE
from ..status_bar import StatusBar
from ..top_bar import TopBar
from .pools import remember_choice

if TYPE_CHECKING:
    from .pools import Pools

WORDS = {
    "cold": "",
    "starting": "starting Python",
    "ready": "kernel ready",
    "failed": "no kernel",
    "closed": "",
}


MEMORIES = (1.0, 2.0, 4.0, 8.0, 16.0)
"""GB that the menu offers."""


def limit_words(limits: Confinement) -> str:
    """The limits for snippets in words; empty if nothing is limited."""
    words = ["No network"] if limits.no_network else []
    return " · ".join(words + ([f"{limits.memory:g} GB"] if limits.memory else []))


class Kernels(QObject):
    """Chooses interpreter and limits, and shows them in the top bar and the status bar.

    ``parent``: the parent of dialogs; ``reported``: emitted with the pool's status from any thread.
    """

    reported = Signal(object)

    def __init__(
        self,
        document: Document,
        pools: Pools | None,
        top_bar: TopBar,
        status_bar: StatusBar,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._document = document
        self._pools = pools
        self._top_bar = top_bar
        self._status_bar = status_bar
        self._parent = parent
        self._found: tuple[KernelChoice, ...] = ()
        self.reported.connect(self._show)

    def choices(self) -> tuple[KernelChoice, ...]:
        """Our own interpreter, Jupyter's kernels, and the one in use."""
        if not self._found:
            try:
                self._found = find_kernels()
            except (OSError, TapevizError) as error:
                self._document.complain(str(error))
                self._found = (own_interpreter(),)
        now = self._pools.choice if self._pools else None
        picked = () if now is None or any(map(self.is_chosen, self._found)) else (now,)
        return (*self._found, *picked)

    def is_chosen(self, choice: KernelChoice) -> bool:
        now = self._pools.choice if self._pools else None
        return now is not None and (now.python, now.spec) == (choice.python, choice.spec)

    def ask(self) -> None:
        name, _ = QFileDialog.getOpenFileName(self._parent, "A Python with TensorFlow", "/")
        if name:
            self._document.background.submit("check", lambda: _checked(Path(name)), self.choose)

    def choose(self, choice: KernelChoice) -> None:
        if self._pools is None or self.is_chosen(choice):
            return
        self._change(choice, self.limits, choice.title)
        remember_choice(choice)

    def _change(self, choice: KernelChoice, limits: Confinement, words: str) -> None:
        """Use an interpreter and limits for further runs, and say so if there was a run. A run that
        waits for a process is stopped: there may never be one."""
        if self._pools is None:
            return
        if self._pools.pool.status.state != "ready":
            self._document.stop()
        self._pools.choose(choice, limits)
        if self._document.is_running or self._document.trace is not EMPTY_TRACE:
            self._document.say(f"From the next run on: {words}")

    @property
    def limits(self) -> Confinement:
        """The limits for snippets, kept until the window is closed."""
        return self._pools.confinement if self._pools is not None else Confinement()

    def limit(self, limits: Confinement) -> None:
        """Set the limits for further runs."""
        if self._pools is None or limits == self.limits:
            return
        words = limit_words(limits) or "no limits"
        self._change(self._pools.choice, limits, words[0].lower() + words[1:])
        self.show_limits()

    def show_limits(self) -> None:
        """Show the limits beside the Run button."""
        button = self._top_bar.limits_button
        button.setText(limit_words(self.limits) or "Limits")

    def _show(self, status: PoolStatus) -> None:
        self._status_bar.show_kernel(WORDS.get(status.state, status.state))
        if status.detail:
            self._document.complain(status.detail)
        versions = status.versions
        if versions is not None:
            python = ".".join(versions.python.split(".")[:2])
            tensorflow = ".".join(versions.tensorflow.split(".")[:2])
            self._top_bar.kernel_button.setText(f"Python {python} · TF {tensorflow}")


def _checked(path: Path) -> KernelChoice:
    check_interpreter(path)
    return choose_interpreter(str(path))
