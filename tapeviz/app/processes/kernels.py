"""The interpreters of this machine in, the one that runs snippets out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog

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
from .pools import remember_choice

if TYPE_CHECKING:
    from ..window import Window
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
    """``reported``: the pool's status, sent over to the window's thread."""

    reported = Signal(object)

    def __init__(self, window: Window, pools: Pools | None) -> None:
        super().__init__(window)
        self._window = window
        self._pools = pools
        self._found: tuple[KernelChoice, ...] = ()
        self.reported.connect(self._show)

    def choices(self) -> tuple[KernelChoice, ...]:
        """Our own interpreter, Jupyter's kernels, and those that the user picked before."""
        if not self._found:
            try:
                self._found = find_kernels()
            except (OSError, TapevizError) as error:
                self._window.document.complain(str(error))
                self._found = (own_interpreter(),)
        now = self._pools.choice if self._pools else None
        picked = () if now is None or any(map(self.is_chosen, self._found)) else (now,)
        return (*self._found, *picked)

    def is_chosen(self, choice: KernelChoice) -> bool:
        now = self._pools.choice if self._pools else None
        return now is not None and (now.python, now.spec) == (choice.python, choice.spec)

    def ask(self) -> None:
        name, _ = QFileDialog.getOpenFileName(self._window, "A Python with TensorFlow", "/")
        if name:
            self._window.document.background.submit(
                "check", lambda: _checked(Path(name)), self.choose
            )

    def choose(self, choice: KernelChoice) -> None:
        if self._pools is None or self.is_chosen(choice):
            return
        self._window.document.stop()
        self._pools.choose(choice)
        remember_choice(choice)

    @property
    def limits(self) -> Confinement:
        """Limit snippets until the window is closed."""
        return self._pools.confinement if self._pools is not None else Confinement()

    def limit(self, limits: Confinement) -> None:
        """Runs have these limits from now on; one that is under way ends."""
        if self._pools is None or limits == self.limits:
            return
        self._window.document.stop()
        self._pools.choose(self._pools.choice, limits)
        self.show_limits()

    def show_limits(self) -> None:
        """Say beside Run what is limited."""
        button = self._window.top_bar.limits_button
        button.setText(limit_words(self.limits) or "Limits")

    def _show(self, status: PoolStatus) -> None:
        self._window.status.show_kernel(WORDS.get(status.state, status.state))
        if status.detail:
            self._window.document.complain(status.detail)
        versions = status.versions
        if versions is not None:
            python = ".".join(versions.python.split(".")[:2])
            tensorflow = ".".join(versions.tensorflow.split(".")[:2])
            self._window.top_bar.kernel_button.setText(f"Python {python} · TF {tensorflow}")


def _checked(path: Path) -> KernelChoice:
    check_interpreter(path)
    return choose_interpreter(str(path))
