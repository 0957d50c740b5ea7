"""Each cause is named for the snippets that have it, and for none that nearly do; a fix works."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

from ..sampling import sampled
from .cases import CASES, Case
from .questions import QUESTIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tapeviz.analysis.findings import Fix
    from tapeviz.recording.live import Recorder

# Where no edit can be right: what the user wants to be connected only the user knows.
BEYOND = {"not-connected"}


@pytest.mark.parametrize("case", sampled([*CASES, *QUESTIONS], 8), ids=lambda case: case.name)
def test_cause(case: Case, recorder: Recorder) -> None:
    if sys.version_info < (3, 11) and case.needs_columns:
        pytest.skip("needs columns")
    from tapeviz.analysis import diagnose
    from tapeviz.fixes import try_fixes
    from tapeviz.recording.live import Snippet

    live = recorder.record(Snippet(case.text))
    trace = live.wait(60)
    live.release()
    assert trace.failure is None, trace.failure
    diagnosis = diagnose(trace)
    finding = diagnosis.calls[-1].findings[0]
    if case.kind is None:
        assert finding.status == "flows", finding
        assert finding.cause is None
        return
    assert finding.status == ("zero" if case.is_zero else "none")
    assert finding.cause is not None
    assert (finding.cause.kind, finding.cause.line) == (case.kind, case.line), finding
    assert finding.message
    assert case.words in finding.message
    if case.bridged is not None:
        assert finding.bridged is not None, trace.notes
        np.testing.assert_allclose(trace.value(finding.bridged), case.bridged, rtol=1e-6)
    if case in CASES and case.kind not in BEYOND:
        check_fixes(case, try_fixes(trace, diagnosis, recorder).calls[-1].findings[0].fixes)


def check_fixes(case: Case, fixes: Sequence[Fix]) -> None:
    assert fixes
    for fix in fixes:
        assert fix.value is not None
        assert np.isfinite(fix.value).all()
        assert fix.value.any()
        assert fix.diff
        if case.bridged is not None:
            np.testing.assert_allclose(fix.value, np.asarray(case.bridged), rtol=1e-4)
