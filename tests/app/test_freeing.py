"""The tables of a large trace outlive it, and are freed in pieces."""

from __future__ import annotations

import weakref

import pytest
from pytestqt.qtbot import QtBot

from tapeviz.app.processes import freeing
from tapeviz.app.window import Window
from tapeviz.trace.model import EMPTY_TRACE, Trace


class Entry:
    within = None


def test_the_tables_of_a_large_trace_outlive_it_for_a_moment(
    qtbot: QtBot, window: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(freeing, "_LEFT_FIRST", 0.1)
    freeing.Freeing(window.document)
    entries = [Entry() for _ in range(freeing.PIECE + 1)]
    first, last = weakref.ref(entries[0]), weakref.ref(entries[-1])
    trace = Trace("", ops=dict(enumerate(entries)), leaves=(entries[0],))  # type: ignore[arg-type]
    entries.clear()
    gone = weakref.ref(trace)
    window.document.trace = trace
    window.document.trace_changed.emit()
    window.document.trace = EMPTY_TRACE
    del trace
    assert gone() is None
    assert last() is not None
    qtbot.waitUntil(lambda: last() is None and first() is None)


def test_what_others_hold_stays_whole() -> None:
    table = dict.fromkeys(range(freeing.PIECE + 1), Entry)
    freeing.free([table, (1, 2)])
    assert len(table) == freeing.PIECE + 1
