"""Causes inside of a compiled function are found as well as when its body runs op by op."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tapeviz.analysis.diagnose import diagnose

from .compiled import CASES, Case
from .plain_runs import PlainRuns
from .recorded_runs import recorded

if TYPE_CHECKING:
    from tapeviz.analysis.model import Finding
    from tapeviz.recording import Recorder
    from tapeviz.trace.model import Array


OP_BY_OP = "import tensorflow; tensorflow.config.run_functions_eagerly(True); "
"""Before a snippet's first line, which stays the first."""


def _finding(recorder: Recorder, text: str) -> tuple[Finding, Array | None]:
    with recorded(recorder, text) as run:
        trace = run.trace
        ((finding,),) = [call.findings for call in diagnose(trace).calls]
        return finding, trace.value(finding.bridged) if finding.bridged is not None else None


@pytest.mark.parametrize("each", CASES, ids=lambda each: each.name)
def test_cause(each: Case, plain: PlainRuns, recorder: Recorder) -> None:
    finding, bridged = _finding(recorder, each.text)
    assert finding.cause is not None
    assert (finding.status, finding.cause.kind, finding.cause.line) == (
        each.status,
        each.kind,
        each.line,
    )
    ((_, (gradient,)),) = plain.run(each.text).calls
    assert (gradient is None) == (finding.status == "none")
    if each.is_whole:
        op_by_op, expected = _finding(recorder, OP_BY_OP + each.text)
        assert op_by_op.cause is not None
        assert op_by_op.cause.kind == each.kind
        assert (bridged is None) == (expected is None)
        if bridged is not None and expected is not None:
            np.testing.assert_allclose(bridged, expected, rtol=1e-6)
