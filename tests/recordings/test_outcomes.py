"""The diagnosis of each recorded example says what the example's own text says."""

from __future__ import annotations

import numpy as np

from tapeviz.analysis.findings import Finding
from tapeviz.trace.model import Trace

from .conftest import Read
from .outcomes import OUTCOMES, Missing


def test_outcome(recording: Read) -> None:
    calls = recording.diagnosis.calls
    expected = OUTCOMES[recording.name]
    assert [len(call.findings) for call in calls] == [len(call) for call in expected]
    for diagnosed, outcomes in zip(calls, expected, strict=True):
        for finding, outcome in zip(diagnosed.findings, outcomes, strict=True):
            _check(recording.trace, finding, outcome)


def _check(trace: Trace, finding: Finding, outcome: Missing | None) -> None:
    if outcome is None:
        assert (finding.status, finding.cause) == ("flows", None), finding
        return
    cause = finding.cause
    assert cause is not None, finding
    assert (finding.status, cause.kind) == (outcome.status, outcome.kind), finding
    line = trace.source.splitlines()[cause.line - 1].strip()
    assert line.startswith(outcome.code), finding
    if outcome.bridged is not None:
        assert finding.bridged is not None, finding
        value = trace.value(finding.bridged)
        np.testing.assert_allclose(np.asarray(value), outcome.bridged, rtol=1e-6)
