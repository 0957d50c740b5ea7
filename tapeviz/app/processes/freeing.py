"""Free large traces in pieces, on a thread of its own.

Python frees a table with all that it holds in one go, and no other thread runs meanwhile: after
200,000 ops the window did not answer for a tenth of a second when the next run replaced the trace.
"""

from __future__ import annotations

import threading
import time
from queue import SimpleQueue
from typing import Any
from weakref import finalize

from PySide6.QtCore import QObject

from ...document import Document
from ...trace.model import Trace

PIECE = 20_000
"""Entries of a table that are freed in one go: some milliseconds' work."""
_PAUSE = 0.005
"""Seconds between two pieces."""
_LEFT_FIRST = 1.0
"""Seconds in which what was made from the trace goes, too: it shares its tables."""

TableList = list[Any]


class Freeing(QObject):
    """Keeps the large tables of each trace that a document shows until the trace is gone."""

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self._document = document
        self._left: SimpleQueue[tuple[float, TableList]] = SimpleQueue()
        document.trace_changed.connect(self._note_trace)
        threading.Thread(
            target=_free_all, args=(self._left,), name="tapeviz-freeing", daemon=True
        ).start()

    def _note_trace(self) -> None:
        trace = self._document.trace
        tables = large_tables(trace)
        if tables:
            finalize(trace, lambda: self._left.put((time.monotonic(), tables))).atexit = False


def large_tables(trace: Trace) -> TableList:
    """The tables of a trace with more entries than are freed in one go."""
    found = (getattr(trace, name) for name in Trace.__dataclass_fields__)
    return [table for table in found if isinstance(table, (dict, tuple)) and len(table) > PIECE]


def _free_all(left: SimpleQueue[tuple[float, TableList]]) -> None:
    while True:
        since, tables = left.get()
        # Of a run under way traces are left faster than once in this time.
        time.sleep(max(since + _LEFT_FIRST - time.monotonic(), 0.0))
        free(tables)


def free(tables: TableList) -> None:
    """Empty a list of tables; their entries are freed in pieces if nobody else has the tables."""
    while tables:
        table = tables.pop()
        entries = list(table.values() if isinstance(table, dict) else table)
        del table
        while entries:
            del entries[-PIECE:]
            time.sleep(_PAUSE)
