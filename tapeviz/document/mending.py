"""Add to a diagnosis the fixes that were tried, and the shares of several targets."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from PySide6.QtCore import QObject, Signal

from ..analysis.findings import Finding
from ..analysis.model import CallDiagnosis, Diagnosis
from ..recording.shares import ShareTable
from ..trace.ids import CallId
from ..trace.model import Trace
from .background import Background
from .pipeline import Stages
from .runs import Runs


class Mending(QObject):
    """Adds to a diagnosis what needs the snippet or its backward pass to run again."""

    mended = Signal(object, object)
    """The diagnosis that was given, and the same with fixes."""
    shared = Signal()
    progressed = Signal()

    def __init__(self, runs: Runs, stages: Stages, background: Background, parent: QObject) -> None:
        super().__init__(parent)
        self.tries_fixes = True
        self.tried = (0, 0)
        """How many fixes were tried, and how many are known to be tried."""
        self.shares: dict[CallId, ShareTable] = {}
        self._runs = runs
        self._stages = stages
        self._background = background
        self._number = 0

    def forget(self) -> None:
        """Drop what is known of the run, and stop what is still being tried."""
        self._number += 1
        self.tried = (0, 0)
        self.shares = {}
        self._background.drop("fixes", "shares")

    def try_fixes(self, trace: Trace, diagnosis: Diagnosis) -> None:
        """Run the edits that may mend what is wrong; emit ``mended`` if one works."""
        is_troubled = diagnosis.error or any(call.is_troubled for call in diagnosis.calls)
        if not self.tries_fixes or not is_troubled:
            return
        number = self._number

        def work() -> Diagnosis:
            should_stop = lambda: number != self._number  # noqa: E731
            tried = self._runs.pipeline.try_fixes(trace, diagnosis, self._note, should_stop)
            tried.compare_findings()
            return tried

        self._background.submit("fixes", work, partial(self.mended.emit, diagnosis))

    def _note(self, done: int, known: int) -> None:
        self.tried = (done, known)
        self.progressed.emit()

    def has_shares(self, trace: Trace, call: CallDiagnosis | None) -> bool:
        """Whether the gradients are sums over targets, and the run can still be asked for them."""
        if call is None or self._runs.recording is None or self._runs.is_running:
            return False
        return self._stages.has_shares(trace, call.call)

    def ask_shares(self, call: CallDiagnosis) -> None:
        """Compute what each target gives to each source; emit ``shared`` when it is done."""
        if call.call.id not in self.shares:
            work = partial(self._stages.share, self._runs.recording, call.call)
            self._background.submit("shares", work, self._keep_shares)

    def _keep_shares(self, table: ShareTable) -> None:
        self.shares[table.call] = table
        self.shared.emit()


def with_fixes_of(tried: Diagnosis, diagnosis: Diagnosis) -> Diagnosis:
    """A diagnosis of the same run with the fixes that were tried for the same findings."""
    known = {
        (call.call.id, place): finding
        for call in tried.calls
        for place, finding in enumerate(call.findings)
        if finding.fixes or finding.not_tried
    }
    if not known and not (tried.error and tried.error.fixes):
        return diagnosis

    def mended(call: CallDiagnosis) -> CallDiagnosis:
        findings = []
        for place, finding in enumerate(call.findings):
            other = known.get((call.call.id, place))
            if other is not None and _trouble(other) == _trouble(finding):
                finding = replace(finding, fixes=other.fixes, not_tried=other.not_tried)
            findings.append(finding)
        return replace(call, findings=tuple(findings))

    of_errors = {(error.type, error.message, error.line): error.fixes for error in tried.errors}
    errors = tuple(
        replace(error, fixes=of_errors.get((error.type, error.message, error.line), error.fixes))
        for error in diagnosis.errors
    )
    return replace(diagnosis, calls=tuple(map(mended, diagnosis.calls)), errors=errors)


def _trouble(finding: Finding) -> tuple[object, ...]:
    cause = finding.cause
    return finding.status, (cause.kind, cause.line) if cause is not None else None
