"""Who destroys what only Python holds, and when: the window's thread, between two events."""

from __future__ import annotations

import gc
import threading
import weakref

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from tapeviz.app.processes.garbage import EVERY, MANY, RUNS, GarbageCollector
from tapeviz.app.window import Window
from tapeviz.trace.model import Trace


class Witness(QObject):
    """An object of Qt that holds itself, so that only the collector can end it."""

    ended_on: list[threading.Thread] = []  # noqa: RUF012

    def __init__(self) -> None:
        super().__init__()
        self.itself = self

    def __del__(self) -> None:
        self.ended_on.append(threading.current_thread())


def allocate_much() -> None:
    kept = [[] for _ in range(200_000)]  # far above the threshold of the youngest generation
    assert kept


def test_garbage_is_collected_on_the_windows_thread_alone(qtbot: QtBot) -> None:
    owner = QObject()
    GarbageCollector(owner)
    gc.collect()
    Witness.ended_on.clear()
    Witness()
    busy = threading.Thread(target=allocate_much)
    busy.start()
    busy.join()
    allocate_much()
    assert Witness.ended_on == []
    kept = [[] for _ in range(10_000)]
    qtbot.waitUntil(lambda: bool(Witness.ended_on))
    assert Witness.ended_on == [threading.main_thread()]
    assert kept


def test_frozen_garbage_is_collected_when_nobody_is_at_work(qtbot: QtBot, window: Window) -> None:
    document = window.document
    collector = GarbageCollector(window)
    collector.watch(document)
    Witness()
    gc.freeze()
    Witness.ended_on.clear()
    for _ in range(RUNS):
        document.run_ended.emit()
    for text in ("a = 1", "a = 2"):
        document.open_source(text)
        collector._rest.timeout.emit()
        assert Witness.ended_on == []
    collector._rest.timeout.emit()
    assert Witness.ended_on == [threading.main_thread()]


def test_a_graph_in_the_making_is_frozen_and_not_walked(qtbot: QtBot, window: Window) -> None:
    collector = GarbageCollector(window)
    collector._timer.stop()
    gc.collect()
    Witness.ended_on.clear()
    Witness()
    kept = [[] for _ in range(MANY + 1_000)]
    frozen = gc.get_freeze_count()
    collector.collect()
    assert gc.get_freeze_count() > frozen + MANY
    qtbot.wait(2 * EVERY)
    assert Witness.ended_on == []
    assert kept
    gc.unfreeze()
    gc.collect()
    assert Witness.ended_on == [threading.main_thread()]


def traces_with_calls() -> list[Trace]:
    gc.unfreeze()
    gc.collect()
    return [known for known in gc.get_objects() if isinstance(known, Trace) and known.calls]


@pytest.fixture
def earlier() -> set[int]:
    """The ids of the traces that tests before this one left."""
    return set(map(id, traces_with_calls()))


def test_the_traces_of_a_run_go_when_another_text_is_opened(
    qtbot: QtBot, earlier: set[int], ran: Window
) -> None:
    held = [weakref.ref(trace) for trace in traces_with_calls() if id(trace) not in earlier]
    assert ran.document.trace in [trace() for trace in held]

    def are_gone() -> bool:
        gc.unfreeze()
        gc.collect()
        return not any(trace() for trace in held)

    ran.document.open_source("print(1)\n")
    qtbot.waitUntil(lambda: not ran.document.background.busy)
    qtbot.waitUntil(are_gone)  # each look goes through all that earlier tests left: threads wait
