"""Each cause is named for the snippets that have it, and for none that nearly do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from .cases import CASES, Case
from .questions import QUESTIONS

if TYPE_CHECKING:
    from tapeviz.recording import Recorder


@pytest.mark.parametrize("case", [*CASES, *QUESTIONS], ids=lambda case: case.name)
def test_cause(case: Case, recorder: Recorder) -> None:
    from tapeviz.analysis import diagnose
    from tapeviz.recording import Snippet

    live = recorder.record(Snippet(case.text))
    trace = live.wait(60)
    live.release()
    assert trace.failure is None, trace.failure
    finding = diagnose(trace).calls[-1].findings[0]
    if case.kind is None:
        assert finding.status == "flows", finding
        assert finding.cause is None
        return
    assert finding.status == "none"
    assert finding.cause is not None
    assert (finding.cause.kind, finding.cause.line) == (case.kind, case.line), finding
    assert finding.message
    if case.bridged is not None:
        assert finding.bridged is not None, trace.notes
        np.testing.assert_allclose(trace.value(finding.bridged), case.bridged, rtol=1e-6)
