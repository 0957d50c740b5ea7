"""Nothing links source and target: the message says where both ways end; fixes start there."""

from __future__ import annotations

from dataclasses import replace
from textwrap import dedent
from typing import TYPE_CHECKING

import numpy as np
import pytest

if TYPE_CHECKING:
    from tapeviz.analysis.model import Diagnosis
    from tapeviz.recording.live import Recorder

SNIPPET = dedent(
    """
    import tensorflow as tf
    left, right = tf.Variable([0.2, 0.4]), tf.Variable([0.5, 0.1])
    q = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        l_score = tf.reduce_sum(left * q)
        r_score = tf.reduce_sum(right * q)
        margin = 1.0 - l_score + l_score
    tape.gradient(margin, right)
    lam = tf.Variable(0.1)
    with tf.GradientTape() as tape:
        mse = tf.reduce_mean((left - 1.0) ** 2)
        reg = lam * tf.reduce_sum(left ** 2)
        loss = mse * 1.0
    tape.gradient(loss, lam)
    with tf.GradientTape() as tape:
        z = tf.reduce_sum(left ** 2)
    tape.gradient(z, right)
    with tf.GradientTape() as tape:
        scale = tf.constant(2.0) if lam > 0.0 else tf.constant(3.0)
        y = scale * q
    tape.gradient(y, lam)
    with tf.GradientTape() as tape:
        side = lam * 2.0
        for n in range(9):
            if lam * n > 0.3:
                break
        y = tf.constant(1.0 * n) ** 2
    tape.gradient(y, lam)
    @tf.function
    def inside():
        with tf.GradientTape() as tape:
            used = tf.reduce_sum(left * 2.0)
            unused = tf.reduce_sum(right * 2.0)
            total = used ** 2
        return tape.gradient(total, right)
    inside()
    with tf.GradientTape(persistent=True) as tape:
        before = left * 3.0
        after = before + 1.0
    tape.gradient(before, after)
    """
).lstrip()


def _diagnosed(text: str, recorder: Recorder) -> Diagnosis:
    from tapeviz.analysis import diagnose
    from tapeviz.recording.live import Snippet

    live = recorder.record(Snippet(text))
    trace = live.wait(60)
    live.release()
    assert trace.failure is None, trace.failure
    return diagnose(trace)


def test_the_message_says_where_the_two_ways_end(recorder: Recorder) -> None:
    found = _diagnosed(SNIPPET, recorder)
    expected = [
        "right reaches r_score (line 6) and nothing after it; margin (line 7) is made from l_score "
        "alone.",
        "lam reaches reg (line 12) and nothing after it; loss (line 13) is made from mse alone.",
        "Nothing that ran while the tape recorded uses right",
        "Line 19 tests a condition that depends on lam",
        "Line 25 tests a condition that depends on lam",
        "right reaches unused (line 33) and nothing after it; total (line 34) is made from used "
        "alone.",
        "Swap the two.",
    ]
    findings = [call.findings[0] for call in found.calls]
    assert [finding.cause.kind for finding in findings if finding.cause] == ["not-connected"] * len(
        expected
    )
    for finding, words in zip(findings, expected, strict=True):
        assert words in finding.message, finding.message


def test_a_tensor_of_the_same_name_is_not_taken_for_the_source(recorder: Recorder) -> None:
    text = (
        "import tensorflow as tf\ndef f(p):\n    p = tf.convert_to_tensor(p)\n"
        "    return tf.reduce_sum(tf.sin(p))\np = tf.constant([0.1, 0.2])\n"
        "with tf.GradientTape() as tape:\n    tape.watch(p)\n    out = f([0.1, 0.2])\n"
        "tape.gradient(out, p)\n"
    )
    message = _diagnosed(text, recorder).calls[0].findings[0].message
    assert "the p that line 4 reads is the parameter of the function on line 2" in message


def test_the_form_of_a_variable_that_gathers_gradients_is_not_named(recorder: Recorder) -> None:
    text = (
        "import tensorflow as tf\nw = tf.Variable([1.0, 2.0])\n"
        "total = tf.Variable(tf.zeros_like(w), trainable=False)\n"
        "with tf.GradientTape() as tape:\n    loss = tf.reduce_sum(w ** 2)\n"
        "total.assign_add(tape.gradient(loss, w))\n"
        "with tf.GradientTape() as tape:\n    final = tf.reduce_sum(total)\n"
        "tape.gradient(final, w)\n"
    )
    finding = _diagnosed(text, recorder).calls[1].findings[0]
    assert finding.cause is not None
    assert (finding.cause.kind, finding.cause.line) == ("not-connected", 9)
    assert "final (line 8) is made from total alone" in finding.message


@pytest.mark.parametrize("compiler", ["", "(jit_compile=True)"])
def test_another_result_of_a_function_does_not_count_as_deciding(
    compiler: str, recorder: Recorder
) -> None:
    text = (
        f"import tensorflow as tf\n@tf.function{compiler}\ndef f(x, y):\n"
        "    return tf.nn.softplus(x), y * 2.0\nx, y = tf.Variable(1.0), tf.Variable(2.0)\n"
        "with tf.GradientTape(persistent=True) as tape:\n    a, b = f(x, y)\n    loss = b * 3.0\n"
        "    other = a * 3.0\ntape.gradient(loss, x)\ntape.gradient(other, x)\n"
    )
    message = _diagnosed(text, recorder).calls[0].findings[0].message
    assert "goes into the function that line 7 calls, but only another of its results" in message


def test_the_name_probably_meant_is_tried(recorder: Recorder) -> None:
    from tapeviz.analysis import diagnose
    from tapeviz.fixes import try_fixes
    from tapeviz.recording.live import Snippet

    text = SNIPPET.partition("with tf.GradientTape(persistent=True)")[0]
    live = recorder.record(Snippet(text))
    trace = live.wait(60)
    mended = try_fixes(trace, diagnose(trace), recorder)
    live.release()
    first = {call.call.line: call.findings[0].fixes[:1] for call in mended.calls}
    assert [fix.title for fix in first[8]] == [
        "Use r_score in place of l_score: nothing uses r_score"
    ]
    assert "+    margin = 1.0 - l_score + r_score" in first[8][0].diff
    np.testing.assert_allclose(first[8][0].value, [1.0, 2.0])  # type: ignore[arg-type]
    assert [fix.title for fix in first[14]] == ["Add reg to loss: nothing uses reg"]
    np.testing.assert_allclose(first[14][0].value, 0.2)  # type: ignore[arg-type]
    assert [fix.title for fix in first[17]] == ["Ask for left, which z was computed from"]


def test_what_was_computed_again_is_tried_in_place_of_the_old(recorder: Recorder) -> None:
    from tapeviz.analysis import diagnose
    from tapeviz.fixes import try_fixes
    from tapeviz.recording.live import Snippet

    text = dedent(
        """
        import tensorflow as tf
        w = tf.Variable([0.2, 0.4])
        old = tf.nn.softmax(w)
        with tf.GradientTape() as tape:
            new = tf.nn.softmax(w)
            ratio = tf.reduce_sum(old[:1] / tf.stop_gradient(old[:1]))
        tape.gradient(ratio, w)
        """
    ).lstrip()
    live = recorder.record(Snippet(text))
    trace = live.wait(60)
    mended = try_fixes(trace, diagnose(trace), recorder)
    live.release()
    fix = mended.calls[0].findings[0].fixes[0]
    assert fix.title == "Use new in place of old: nothing uses new"
    assert "new[:1] / tf.stop_gradient(old[:1])" in fix.diff
    assert np.abs(fix.value).max() > 0  # type: ignore[arg-type, type-var]


def test_a_tape_told_to_watch_nothing_is_named_by_its_own_line(recorder: Recorder) -> None:
    found = _diagnosed(
        "import tensorflow as tf\nw = tf.Variable(3.0)\n"
        "with tf.GradientTape(watch_accessed_variables=False) as tape:\n    y = w * w\n"
        "tape.gradient(y, w)\n"
        "with tf.GradientTape() as tape:\n    a = w * w\n    tape.reset()\n    b = a * 2.0\n"
        "tape.gradient(b, w)\n",
        recorder,
    )
    flag, reset = (call.findings[0] for call in found.calls)
    assert flag.cause
    assert (flag.cause.kind, flag.cause.line) == ("not-watched", 3)
    assert "watch_accessed_variables=False" in flag.message
    assert "w (line 2)" in flag.message
    assert reset.cause
    assert (reset.cause.kind, reset.cause.line) == ("outside-tape", 8)
    assert "Line 8 resets the tape" in reset.message
    assert "line 7 included" in reset.message


def test_a_variable_of_another_model_with_the_same_name_is_not_taken_for_this_one() -> None:
    from tapeviz.analysis.causes.connections.not_connected import NotConnected
    from tapeviz.analysis.findings import Cause
    from tapeviz.analysis.flow.ends import Ends

    ends = Ends(target_line=6, made_from="dense/bias and dense/kernel")
    for variables, other in ((("dense/kernel",), True), (("dense/bias",), False)):
        evidence = NotConnected(None, replace(ends, variables=variables))
        words = evidence.sentence(Cause(evidence, 7, ""), "loss", "dense/kernel")
        assert ("another variable of the same name" in words) == other
        assert ("uses this dense/kernel: loss (line 6)" in words) == other


def test_an_exception_that_the_snippet_caught_is_named_with_its_line(recorder: Recorder) -> None:
    text = dedent(
        """
        import tensorflow as tf
        w, scale = tf.Variable([1.0, 2.0]), tf.Variable([1.0, 2.0, 3.0])
        layer = tf.keras.layers.Dense(2)
        layer.build((None, 4))
        def product(a, b):
            return a * b
        with tf.GradientTape(persistent=True) as tape:
            y = tf.reduce_sum(w)
            try:
                y += tf.reduce_sum(product(w, scale))
            except tf.errors.OpError:
                pass
            try:
                y += tf.reduce_sum(layer(tf.ones([1, 3])))
            except ValueError:
                pass
        tape.gradient(y, scale)
        tape.gradient(y, layer.kernel)
        """
    ).lstrip()
    diagnosis = _diagnosed(text, recorder)
    raised, refused = (call.findings[0] for call in diagnosis.calls)
    assert raised.cause is not None
    assert refused.cause is not None
    assert (raised.cause.line, raised.cause.is_probable) == (6, False)
    assert "InvalidArgumentError (Incompatible shapes: [2] vs. [3])" in raised.message
    assert "except on line 11" in raised.message
    assert (refused.cause.line, refused.cause.is_probable) == (14, True)


def test_an_exception_is_caught_by_a_with_too_and_in_compiled_functions(recorder: Recorder) -> None:
    text = dedent(
        """
        from contextlib import suppress
        import tensorflow as tf
        w, scale = tf.Variable([1.0, 2.0]), tf.Variable([1.0, 2.0, 3.0])
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(w)
            with suppress(tf.errors.OpError):
                y += tf.reduce_sum(w * scale)
        tape.gradient(y, scale)
        @tf.function
        def f():
            y = tf.reduce_sum(w)
            try:
                y += tf.reduce_sum(w * scale)
            except ValueError:
                print("left out")
            return y
        @tf.function
        def g():
            y = tf.reduce_sum(w)
            with suppress(ValueError):
                y += tf.reduce_sum(w * scale)
            return y
        for each in f, g:
            with tf.GradientTape() as tape:
                y = each()
            tape.gradient(y, scale)
        """
    ).lstrip()
    diagnosis = _diagnosed(text, recorder)
    findings = [call.findings[0] for call in diagnosis.calls]
    assert [finding.cause and finding.cause.line for finding in findings] == [7, 13, 21]
    catchers = ("The with on line 6", "The except on line 14", "The with on line 20")
    for finding, catcher in zip(findings, catchers, strict=True):
        assert f"{catcher} caught it" in finding.message


def test_a_number_that_only_chooses_elements_of_a_list_left_tensorflow(recorder: Recorder) -> None:
    text = dedent(
        """
        import tensorflow as tf
        x = tf.Variable([0.0, 1.0, 0.2, 2.0])
        with tf.GradientTape() as tape:
            a = x.numpy()
            peaks = [i for i in range(1, 4) if a[i] > a[i - 1]]
            loss = tf.constant(float(len(peaks)))
        tape.gradient(loss, x)
        """
    ).lstrip()
    (finding,) = _diagnosed(text, recorder).calls[0].findings
    assert finding.cause is not None
    assert (finding.cause.kind, finding.cause.line) == ("left-tensorflow", 4)
    assert "which way Python goes on at line 5" in finding.message
