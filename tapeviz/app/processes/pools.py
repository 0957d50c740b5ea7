"""Keep processes ready that run snippets in the chosen interpreter.

This module imports little, so that the first process loads TensorFlow before the window is made.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable
from pathlib import Path

from ...errors import TapevizError
from ...files.whole import write_whole
from ...kernel import (
    Confinement,
    KernelChoice,
    KernelPool,
    PoolStatus,
    choose_interpreter,
    choose_kernel,
    own_interpreter,
)
from ..storage.places import config_folder

_CHOICE = "interpreter.json"


def _ignore(status: PoolStatus) -> None:
    """Do nothing: no window listens yet."""


class Pools:
    """The pool of the chosen interpreter and limits.

    After another choice the former pool stays until the next run begins: the present run goes on
    there, and its values and the inside of its functions are asked for there.
    """

    def __init__(self, choice: KernelChoice, confinement: Confinement | None = None) -> None:
        self.choice = choice
        self.confinement = confinement or Confinement()
        self._report: Callable[[PoolStatus], None] = _ignore
        self._former: list[KernelPool] = []
        self._closing: list[threading.Thread] = []
        self.pool = self._make()
        self.pool.warm()

    def _make(self) -> KernelPool:
        def tell(status: PoolStatus) -> None:
            if pool is self.pool:
                self._notify(status)

        pool = KernelPool(self.choice, confinement=self.confinement, on_status=tell)
        return pool

    def report_to(self, report: Callable[[PoolStatus], None]) -> None:
        """Call ``report`` with the pool's status, now and at each change, on any thread."""
        self._report = report
        report(self.pool.status)

    def _notify(self, status: PoolStatus) -> None:
        with contextlib.suppress(RuntimeError):  # the window is gone
            self._report(status)

    def choose(self, choice: KernelChoice, confinement: Confinement | None = None) -> None:
        """Choose another interpreter, or other limits, for further runs."""
        former, self.choice = self.pool, choice
        self.confinement = confinement or self.confinement
        self.pool = self._make()
        self.pool.warm()
        if former.is_in_use:
            former.rest()
            self._former.append(former)
        else:
            self._close_later(former)

    def close_former(self) -> None:
        """Close the pools of earlier choices in the background: nobody asks their runs any more."""
        former, self._former = self._former, []
        for pool in former:
            self._close_later(pool)

    def _close_later(self, pool: KernelPool) -> None:
        closing = threading.Thread(target=pool.close, name="tapeviz-close", daemon=True)
        self._closing.append(closing)
        closing.start()

    def close(self) -> None:
        """End every process, and wait for that."""
        self._report = _ignore
        self.close_former()
        self.pool.close()
        for closing in self._closing:
            closing.join()


def remember_choice(choice: KernelChoice) -> None:
    """Keep the interpreter for the next start, in a file of its own: the settings need Qt."""
    kept = {"python": str(choice.python or ""), "kernel": choice.spec or ""}
    file = config_folder() / _CHOICE
    with contextlib.suppress(OSError, TapevizError):
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, json.dumps(kept).encode())


def remembered_choice() -> KernelChoice:
    """The interpreter chosen at an earlier start, if it is still there."""
    try:
        kept = json.loads((config_folder() / _CHOICE).read_text(encoding="utf-8"))
        python, kernel = str(kept["python"]), str(kept["kernel"])
    except (OSError, ValueError, KeyError, TypeError):
        return own_interpreter()
    with contextlib.suppress(TapevizError):
        if kernel:
            return choose_kernel(kernel)
        if python and Path(python).exists():
            return choose_interpreter(python)
    return own_interpreter()
