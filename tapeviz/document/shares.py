"""Ask what each of several targets gave to a gradient."""

from __future__ import annotations

from functools import partial
from typing import Any

from PySide6.QtCore import QObject, Signal

from ..analysis.model import CallDiagnosis
from ..recording.shares import ShareTable, has_shares, share_table
from ..trace.ids import CallId
from ..trace.model import Trace
from .background import Background
from .runs import Runs


class Shares(QObject):
    """The shares of the targets in the gradients of one document's run.

    ``tables``: the shares that are known, by gradient call.
    """

    computed = Signal()

    def __init__(self, runs: Runs, background: Background, parent: QObject) -> None:
        super().__init__(parent)
        self.tables: dict[CallId, ShareTable] = {}
        self._runs = runs
        self._background = background

    def forget(self) -> None:
        """Forget the shares of the run, and drop what is being computed."""
        self.tables = {}
        self._background.drop("shares")

    def are_there(self, trace: Trace, call: CallDiagnosis | None) -> bool:
        """Whether the gradients are sums over targets, and the run can still be asked for them."""
        if call is None or self._runs.recording is None or self._runs.is_running:
            return False
        return has_shares(trace, call.call)

    def ask(self, call: CallDiagnosis) -> None:
        """Compute what each target gave to each source; emit ``computed`` when it is done."""
        recording: Any = self._runs.recording
        if call.call.id not in self.tables and recording is not None:
            work = partial(share_table, recording, call.call)
            self._background.submit("shares", work, self._keep)

    def _keep(self, table: ShareTable) -> None:
        self.tables[table.call] = table
        self.computed.emit()
