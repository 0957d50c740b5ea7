"""Try fixes for what a diagnosis finds wrong, in the background."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from PySide6.QtCore import QObject, Signal

from ..analysis.findings import Finding
from ..analysis.model import CallDiagnosis, Diagnosis
from ..trace.model import Trace
from .background import Background
from .runs import Runs


class FixTrials(QObject):
    """Runs the edits that may mend the findings of one document's diagnosis.

    ``is_on``: whether fixes are tried after a run.
    """

    fixed = Signal(object, object)
    """The diagnosis that was given, and the same with the fixes that work."""
    progressed = Signal()

    def __init__(self, runs: Runs, background: Background, parent: QObject) -> None:
        super().__init__(parent)
        self.is_on = True
        self.tried = (0, 0)
        """How many fixes were tried, and how many are known to be tried."""
        self._runs = runs
        self._background = background
        self._number = 0

    def forget(self) -> None:
        """Stop trying fixes, and forget how many were tried."""
        self._number += 1
        self.tried = (0, 0)
        self._background.drop("fixes")

    def begin(self, trace: Trace, diagnosis: Diagnosis) -> None:
        """Run the edits that may mend what is wrong, if fixes are to be tried; emit ``fixed`` when
        all were tried."""
        is_troubled = diagnosis.error or any(call.is_troubled for call in diagnosis.calls)
        if not self.is_on or not is_troubled:
            return
        number = self._number

        def should_stop() -> bool:
            return number != self._number

        def work() -> Diagnosis:
            tried = self._runs.pipeline.try_fixes(trace, diagnosis, self._note, should_stop)
            tried.compare_findings()
            return tried

        self._background.submit("fixes", work, partial(self.fixed.emit, diagnosis))

    def _note(self, done: int, known: int) -> None:
        self.tried = (done, known)
        self.progressed.emit()


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

    def with_fixes(call: CallDiagnosis) -> CallDiagnosis:
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
    return replace(diagnosis, calls=tuple(map(with_fixes, diagnosis.calls)), errors=errors)


def _trouble(finding: Finding) -> tuple[object, ...]:
    cause = finding.cause
    return finding.status, (cause.kind, cause.line) if cause is not None else None
