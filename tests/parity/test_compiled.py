"""Causes inside of a compiled function are found as well as when its body runs op by op.

The snippets are recorded in forks, which take a third of a kernel's time.
"""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tapeviz.analysis.diagnose import diagnose

from ..recorder.forks import ForkedPool
from .comparing import same_bits
from .compiled import CASES, Case
from .plain_runs import PlainRuns
from .recorded_runs import recorded

if TYPE_CHECKING:
    from tapeviz.analysis.findings import Finding
    from tapeviz.recording.live import Recorder
    from tapeviz.trace.stats import Array
    from tests.recorder.forks import ForkServer


@pytest.fixture(scope="module")
def recorder(forks: ForkServer) -> Recorder:
    from tapeviz.recording.live import Recorder

    return Recorder(ForkedPool(forks))


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


def test_slices_that_a_compiled_step_returns_are_summed(
    plain: PlainRuns, recorder: Recorder
) -> None:
    text = dedent("""\
        import tensorflow as tf
        e = tf.Variable(tf.reshape(tf.range(10.0), [5, 2]) / 7.0)
        @tf.function
        def step(i):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(tf.gather(e, i) ** 2 / 3.0)
                loss += tf.reduce_sum(tf.nn.embedding_lookup(e, i[:2]))
            return tf.convert_to_tensor(tape.gradient(loss, [e])[0])
        step(tf.constant([0, 1, 1]))
        g = step(tf.constant([[4, 1], [4, 4]]))
        """)
    (named,) = plain.run(text, wanted=["g"]).values
    with recorded(recorder, text) as run:
        (result,) = run.trace.calls[-1].results
        assert result is not None
        assert run.trace.tensors[result].shape == (5, 2)
        value = run.trace.value(result)
        assert value is not None
        assert same_bits(value, named["g"])
