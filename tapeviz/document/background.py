"""Run slow functions beside the window's thread; only the newest of a kind counts, or each."""

from __future__ import annotations

import threading
import time
from _thread import start_new_thread
from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal, Slot

from ..errors import TapevizError, go_on, unless
from ..priority import after_the_window

_PAUSES = 3
"""The pause before the next optional work of a kind, as a multiple of what the last took."""
_IN_TURN = frozenset(("diagnose", "arrange", "walk", "grow"))
"""Kinds that only compute in Python: two at a time would each take twice as long, and more. Each
waits for those that began before it, unless nobody waits for these any more."""
_COMPUTE = _IN_TURN | {"compose", "shares", "inside", "open", "export", "repair", "look"}
"""Kinds that start no process and no thread: the window's thread goes before them."""


@dataclass(frozen=True, slots=True)
class _Task:
    kind: str
    number: int
    work: Callable[[], Any]
    done: Callable[[Any], None]


class Background(QObject):
    """Runs a task of each kind at a time, on daemon threads.

    A task submitted while another of its kind runs waits, and replaces one that waits already; the
    result of the running one is dropped then, and it ends at its next
    :func:`~tapeviz.errors.go_on`. A queued task waits as well, and replaces none. ``done`` is
    called on the thread of this object.
    """

    failed = Signal(str, object)
    busy_changed = Signal()
    _answered = Signal(object, object, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._numbers: dict[str, int] = {}
        self._running: dict[str, _Task] = {}
        self._waiting: dict[str, list[_Task]] = {}
        self.counts: dict[str, tuple[int, int]] = {}
        """Kind → (done, in all), for tasks that report it."""
        self._took: dict[str, tuple[float, float]] = {}
        """When the last task of a kind ended, and the seconds that it took."""
        self._at_work: list[_Task] = []
        """The tasks that began and whose threads still run, in that order."""
        self._ended = threading.Condition()
        self._is_closed = False
        self._answered.connect(self._take_answer, Qt.ConnectionType.QueuedConnection)

    @property
    def busy(self) -> frozenset[str]:
        """The kinds whose result is still awaited."""
        current = {kind for kind, task in self._running.items() if self._is_current(task)}
        return frozenset(current | self._waiting.keys())

    def pause_before(self, kind: str) -> float:
        """Seconds to wait before optional work of a kind begins, so that it gets a quarter of the
        time at most; 0 or less: none."""
        ended, seconds = self._took.get(kind, (0.0, 0.0))
        return ended + _PAUSES * seconds - time.monotonic()

    def forget_times(self) -> None:
        """Let all work be due at once: another run begins, and may be faster than the last."""
        self._took.clear()

    def submit(self, kind: str, work: Callable[[], Any], done: Callable[[Any], None]) -> None:
        """Run a task in the place of all others of its kind."""
        number = self._supersede(kind)
        self._waiting.pop(kind, None)
        self._run_next(_Task(kind, number, work, done))

    def queue(self, kind: str, work: Callable[[], Any], done: Callable[[Any], None]) -> None:
        """Run a task after the others of its kind."""
        self._run_next(_Task(kind, self._numbers.setdefault(kind, 0), work, done))

    def _run_next(self, task: _Task) -> None:
        if self._is_closed:
            return
        if task.kind in self._running:
            self._waiting.setdefault(task.kind, []).append(task)
        else:
            self._start(task)
        self.busy_changed.emit()

    def report(self, kind: str, done: int, known: int) -> bool:
        """Report progress, called by a task on its thread; returns whether its result is still
        wanted."""
        self.counts[kind] = (done, known)
        with suppress(RuntimeError):  # the window was closed meanwhile
            self.busy_changed.emit()
        task = self._running.get(kind)
        return task is not None and self._is_current(task)

    def drop(self, *kinds: str) -> None:
        """Drop the tasks of these kinds: their results are not delivered."""
        was_busy = not self.busy.isdisjoint(kinds)
        for kind in kinds:
            self._supersede(kind)
            self._waiting.pop(kind, None)
        if was_busy:
            self.busy_changed.emit()

    def _supersede(self, kind: str) -> int:
        """Let the task of a kind be an old one; returns the number of the next."""
        with self._ended:
            number = self._numbers[kind] = self._numbers.get(kind, 0) + 1
            self._ended.notify_all()
        return number

    def _start(self, task: _Task) -> None:
        self._running[task.kind] = task
        with self._ended:
            self._at_work.append(task)
        # ``Thread.start`` waits until the thread runs: beside two that compute for 0.2 s.
        start_new_thread(self._work, (task,))

    def close(self, patience: float) -> bool:
        """Drop all tasks, and wait for the threads at most ``patience`` seconds; returns False if
        one still runs, which must not outlive the objects of Qt."""
        self._is_closed = True
        self._waiting.clear()
        for kind in self._running:
            self._supersede(kind)
        with self._ended:
            return self._ended.wait_for(lambda: not self._at_work, patience)

    def _work(self, task: _Task) -> None:
        answer: Any = None
        error: BaseException | None = None
        self._await_turn(task)
        began = time.monotonic()
        try:
            is_patient = task.kind in _COMPUTE
            with (
                unless(lambda: not self._is_current(task)),
                after_the_window() if is_patient else nullcontext(),
            ):
                go_on()
                answer = task.work()
        except BaseException as caught:  # a bug must reach the log, whatever it is
            error = caught
        now = time.monotonic()
        self._took[task.kind] = (now, now - began)
        if not self._is_current(task):
            answer = error = None  # freed here, and not on the window's thread
        with suppress(RuntimeError):  # the window was closed meanwhile, and this object with it
            self._answered.emit(task, answer, error)
        # The traceback has this frame: they would keep each other, and all that the work had made.
        answer = error = None
        with self._ended:
            self._at_work.remove(task)
            self._ended.notify_all()

    def _await_turn(self, task: _Task) -> None:
        """Wait for the tasks of ``_IN_TURN`` that began before this one."""

        def may_begin() -> bool:
            if task.kind not in _IN_TURN or not self._is_current(task):
                return True
            earlier = self._at_work[: self._at_work.index(task)]
            return not any(other.kind in _IN_TURN and self._is_current(other) for other in earlier)

        with self._ended:
            self._ended.wait_for(may_begin)

    @Slot(object, object, object)
    def _take_answer(self, task: _Task, answer: Any, error: BaseException | None) -> None:
        self._running.pop(task.kind, None)
        self.counts.pop(task.kind, None)
        waiting = self._waiting.pop(task.kind, [])
        if waiting:
            self._start(waiting.pop(0))
        if waiting:
            self._waiting[task.kind] = waiting
        self.busy_changed.emit()
        if not self._is_current(task):
            return
        if error is not None:
            self.failed.emit(task.kind, error)
        else:
            task.done(answer)

    def _is_current(self, task: _Task) -> bool:
        return self._numbers.get(task.kind) == task.number


def are_same(inputs: tuple[object, ...], other: tuple[object, ...]) -> bool:
    """Whether two tuples hold the same objects."""
    return len(inputs) == len(other) and all(a is b for a, b in zip(inputs, other, strict=True))


def failure_words(kind: str, error: BaseException) -> str:
    """The line for a task that failed, by a TapevizError or a bug."""
    if isinstance(error, TapevizError):
        return str(error)
    return f"Something went wrong in tapeviz ({kind}): {type(error).__name__}: {error}"
