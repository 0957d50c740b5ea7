"""Broken snippets in various styles, run: the line that mends each, the number."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tapeviz.fixes import goals, try_fixes

from ..sampling import sampled
from .broken import (
    integers,
    left_tensorflow,
    not_connected,
    ops,
    replaced_source,
    states,
    tapes,
    values,
)
from .test_trying import record

if TYPE_CHECKING:
    from tapeviz.recording.live import Recorder

BROKEN = {
    name: row
    for table in (
        states,
        tapes,
        replaced_source,
        ops,
        integers,
        left_tensorflow,
        not_connected,
        values,
    )
    for name, row in table.ROWS.items()
}


@pytest.mark.parametrize("name", sampled(BROKEN, 14))
def test_mended(name: str, recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    text, line, gradient = BROKEN[name]
    monkeypatch.setattr(goals, "MOST_KEPT", 1)  # the first that is good is looked at
    whole = "import numpy as np\nimport tensorflow as tf\n" + dedent(text).strip() + "\n"
    trace, diagnosis = record(recorder, whole)
    assert diagnosis.calls[-1].findings[0].status != "flows"
    fixes = try_fixes(trace, diagnosis, recorder).calls[-1].findings[0].fixes
    assert line in [mended.strip() for mended in fixes[0].text.splitlines()]
    if gradient is None:
        assert fixes[0].value is None
    else:
        np.testing.assert_allclose(fixes[0].value, gradient, rtol=1e-4)  # type: ignore[arg-type]


def test_a_gradient_that_is_rounding_is_none(recorder: Recorder) -> None:
    """One-hot vectors in place of positions add up to 1, whatever they are."""
    text = """
        import tensorflow as tf
        table = tf.Variable(tf.random.stateless_normal((10, 4), [1, 2]))
        out = tf.random.stateless_normal((4, 10), [3, 4])

        @tf.function
        def decode(start):
            token, total = start, 0.0
            for _ in tf.range(3):
                scores = tf.nn.embedding_lookup(table, token) @ out
                token = tf.argmax(scores, axis=-1, output_type=tf.int32)
                total += tf.reduce_sum(tf.cast(token, tf.float32))
            return total

        with tf.GradientTape() as tape:
            total = decode(tf.constant([1, 2]))
        tape.gradient(total, table)
    """
    trace, diagnosis = record(recorder, dedent(text).strip() + "\n")
    (finding,) = try_fixes(trace, diagnosis, recorder).calls[0].findings
    assert finding.status == "zero"
    assert all(np.abs(fix.value).max() > 1e-5 for fix in finding.fixes if fix.value is not None)


def test_vectors_of_equal_singular_values_get_a_gradient_where_they_are_kept_apart(
    recorder: Recorder,
) -> None:
    text = dedent(
        """
        import tensorflow as tf
        w = tf.Variable([[1.0, 0.0], [0.0, 1.0]])
        with tf.GradientTape() as tape:
            _, u, v = tf.linalg.svd(w)
            loss = u[1, 0] * v[0, 0] + u[0, 0]
        tape.gradient(loss, w)
        """
    ).lstrip()
    trace, diagnosis = record(recorder, text)
    (finding,) = try_fixes(trace, diagnosis, recorder).calls[0].findings
    assert finding.status == "zero"
    fix = finding.fixes[0]
    assert "tf.linalg.svd(w + tf.linalg.diag(" in fix.text
    assert fix.is_estimate
    assert fix.value is not None
    assert fix.value.any()


def test_a_factor_that_is_zero_at_times_stays(recorder: Recorder) -> None:
    text = dedent(
        """
        import tensorflow as tf
        w = tf.Variable(2.0)
        for step in range(3):
            with tf.GradientTape() as tape:
                over = tf.constant(max(0.0, 1.0 - step))
                loss = w * over
            tape.gradient(loss, w)
        """
    ).lstrip()
    trace, diagnosis = record(recorder, text)
    found = try_fixes(trace, diagnosis, recorder).calls
    assert [call.findings[0].status for call in found] == ["flows", "zero", "zero"]
    assert not any("Leave over out" in fix.title for fix in found[1].findings[0].fixes)


def test_what_a_loop_carries_is_not_moved_into_it(recorder: Recorder) -> None:
    text = dedent(
        """
        import tensorflow as tf
        w = tf.Variable(1.0)
        h = tf.tanh(w)
        for step in range(3):
            with tf.GradientTape() as tape:
                h = tf.tanh(2.0 * h)
            tape.gradient(h, w)
        """
    ).lstrip()
    trace, diagnosis = record(recorder, text)
    assert try_fixes(trace, diagnosis, recorder).calls[0].findings[0].fixes == ()


def test_a_class_is_not_moved_into_a_block(recorder: Recorder) -> None:
    text, _, _ = BROKEN["computed in __init__"]
    trace, diagnosis = record(recorder, "import tensorflow as tf\n" + dedent(text).strip() + "\n")
    fixes = try_fixes(trace, diagnosis, recorder).calls[-1].findings[0].fixes
    assert not any("    class Net" in fix.text for fix in fixes)
