"""Snippets that raise, run: the line that mends each, or what is left out."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING

from tapeviz.fixes import try_fixes

from ..sampling import parametrize_sampled
from .broken import errors
from .test_trying import record

if TYPE_CHECKING:
    from tapeviz.recording.live import Recorder


@parametrize_sampled(5, ("text", "line"), errors.ROWS)
def test_an_error_mended(text: str, line: str, recorder: Recorder) -> None:
    trace, diagnosis = record(recorder, "import tensorflow as tf\n" + dedent(text).strip() + "\n")
    error = try_fixes(trace, diagnosis, recorder).error
    assert error is not None
    assert error.fixes
    assert line in [mended.strip() for mended in error.fixes[0].text.splitlines()]


def test_an_error_is_gone_and_the_gradient_is_none(recorder: Recorder) -> None:
    text = """
    import tensorflow as tf
    w, n = tf.Variable(2.0), tf.constant(3)
    with tf.GradientTape() as tape:
        y = tf.stop_gradient(w) * tf.sqrt(n)
    tape.gradient(y, w)
    """
    trace, diagnosis = record(recorder, dedent(text).strip() + "\n")
    error = try_fixes(trace, diagnosis, recorder).error
    assert error is not None
    title = "Cast n to float32 (it runs then; the gradient for w is None, by line 4)"
    assert [fix.title for fix in error.fixes] == [title]


def test_a_module_that_is_not_there_is_left_out_with_what_uses_it(recorder: Recorder) -> None:
    text = """\
import absent_module.plots as plots
import tensorflow as tf

def show(y):
    plots.plot(y)
    plots.show()

w = tf.Variable(2.0)
with tf.GradientTape() as tape:
    y = w * w
figure = plots.figure()
figure.save()
print(tape.gradient(y, w))
"""
    trace, diagnosis = record(recorder, text)
    error = try_fixes(trace, diagnosis, recorder).error
    assert error is not None
    (fix,) = error.fixes
    assert fix.title == "Leave out absent_module, and the lines that use it"
    assert (
        fix.text
        == """\
import tensorflow as tf

def show(y):
    pass

w = tf.Variable(2.0)
with tf.GradientTape() as tape:
    y = w * w
print(tape.gradient(y, w))
"""
    )


def test_a_module_that_a_gradient_needs_is_not_left_out(recorder: Recorder) -> None:
    text = """\
import absent_module as data
import tensorflow as tf

w = tf.Variable(2.0)
x = data.load()
with tf.GradientTape() as tape:
    y = w * x
print(tape.gradient(y, w))
"""
    trace, diagnosis = record(recorder, text)
    error = try_fixes(trace, diagnosis, recorder).error
    assert error is not None
    assert not error.fixes
