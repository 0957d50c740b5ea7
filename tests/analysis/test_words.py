"""Messages use the words of the snippet, and say so where something is only likely."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tapeviz.text.source import SourceText, TextSpan

from ..python_versions import needs_columns

if TYPE_CHECKING:
    from tapeviz.analysis.findings import Finding
    from tapeviz.analysis.model import Diagnosis
    from tapeviz.recording.live import Recorder
    from tapeviz.trace.model import Trace

SNIPPET = """
import tensorflow as tf
w = tf.Variable(2.5)
x = tf.Variable([1.4, 2.6])
with tf.GradientTape() as tape:
    y = tf.reduce_sum({line})
tape.gradient(y, {source})
"""


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("tf.cast(tf.argmax(x), tf.float32)", "goes through tf.argmax on line 6"),
        ("tf.where(x > 2.0, 1.0, 0.0)", "goes through x > 2.0 on line 6"),
        ("3.0 * (x // 2.0)", "goes through x // 2.0 on line 6"),
        ("(lambda one: tf.round(one))(x)", "goes through tf.round on line 6"),
        ("tf.keras.layers.Lambda(round)(x) if 0 else x // 1.0 ", "goes through x // 1.0"),
        ("tf.stop_gradient(tf.round(x) - x + x)", "close the parenthesis after the difference"),
        ("tf.gather([1.0, 2.0], tf.math.top_k(x, 1)[1])", "Multiply what is picked by its score"),
        ("tf.constant(float(x[0]))", "leaves TensorFlow (by float())"),
        ("tf.constant(x.numpy())", "leaves TensorFlow (by .numpy())"),
        ("tf.constant(float(w))", "leaves TensorFlow (by float())"),
        (
            "tf.round(x) * tf.stop_gradient(x)",
            "One path from x to y goes through tf.round on line 6, and the other paths",
        ),
        ("tf.cast(tf.cast(x, tf.int32), tf.float32)", "Line 6 turns the value into int32."),
    ],
)
def test_an_op_is_called_as_the_snippet_calls_it(line: str, words: str, recorder: Recorder) -> None:
    from tapeviz.analysis import diagnose
    from tapeviz.recording.live import Snippet

    source = "w" if "(w)" in line else "x"
    live = recorder.record(Snippet(SNIPPET.replace("{line}", line).replace("{source}", source)))
    trace = live.wait(60)
    live.release()
    message = diagnose(trace).calls[-1].findings[0].message
    assert words in message


def test_a_cause_that_is_only_likely_says_so(recorder: Recorder) -> None:
    from tapeviz.analysis import diagnose
    from tapeviz.recording.live import Snippet

    text = SNIPPET.replace("    y", "    setattr(tape, 'kept', x.numpy())\n    y")
    live = recorder.record(
        Snippet(text.replace("{line}", "getattr(tape, 'kept')").replace("{source}", "x"))
    )
    trace = live.wait(60)
    live.release()
    finding = diagnose(trace).calls[-1].findings[0]
    assert finding.cause is not None
    assert (finding.cause.kind, finding.cause.line) == ("left-tensorflow", 6)
    assert "probably leaves TensorFlow" in finding.message


def test_a_second_derivative_of_straight_lines_is_told_as_such(recorder: Recorder) -> None:
    from tapeviz.analysis.diagnose import diagnose
    from tapeviz.recording.live import Snippet

    text = (
        "import tensorflow as tf\nx = tf.Variable([1.4, -2.6])\n"
        "with tf.GradientTape(persistent=True) as tape:\n"
        "    with tf.GradientTape() as inner:\n        y = tf.reduce_sum(tf.nn.leaky_relu(x))\n"
        "    dy = inner.gradient(y, x)\ntape.gradient(dy, x)\n"
        "tape.gradient(tape.gradient(y, x), x)\n"
    )
    live = recorder.record(Snippet(text))
    trace = live.wait(60)
    live.release()
    calls = diagnose(trace).calls
    said = [call.findings[0].message for call in calls]
    assert "leaky ReLU on line 5 is made of straight lines" in said[1]
    assert "Compute the target in the tape's block" in said[3]


ZEROS = {
    "a mask before a square": (
        "w, m = tf.Variable([1.0, 2.0]), tf.zeros(2)\nwith tf.GradientTape() as tape:\n"
        "    h = w * m\n    loss = tf.reduce_sum(h ** 2)\ntape.gradient(loss, w)\n",
        "w * m on line 4 multiplies by a value that is 0 everywhere",
    ),
    "a dividend that is 0": (
        "s, p = tf.Variable(2.0), tf.zeros(2)\nwith tf.GradientTape() as tape:\n"
        "    loss = tf.reduce_sum(p / s)\ntape.gradient(loss, s)\n",
        "p / s on line 4 divides a value that is 0 everywhere",
    ),
    "a divisor that is 0, and may be": (
        "s, p = tf.Variable(2.0), tf.zeros(2)\nwith tf.GradientTape() as tape:\n"
        "    loss = tf.reduce_sum(tf.math.divide_no_nan(s, p))\ntape.gradient(loss, s)\n",
        "tf.math.divide_no_nan on line 4 divides a value that is 0 everywhere, or divides by 0",
    ),
    "the size of nothing but 0": (
        "w = tf.Variable([0.0, 0.0])\nwith tf.GradientTape() as tape:\n"
        "    loss = tf.reduce_sum(tf.abs(w) * [1.0, 2.0])\ntape.gradient(loss, w)\n",
        "tf.abs on line 4 got only 0, where its graph has a corner",
    ),
    "a number that overflowed": (
        "w = tf.Variable(tf.constant([300.0, 200.0], tf.float16))\n"
        "with tf.GradientTape() as tape:\n    s = tf.reduce_sum(w ** 2)\n    r = tf.sqrt(s)\n"
        "tape.gradient(r, w)\n",
        "tf.sqrt on line 5 works with a value that became infinite (from line 4, in float16)",
    ),
    "a scaled loss that overflowed": (
        "optimizer = tf.keras.mixed_precision.LossScaleOptimizer(tf.keras.optimizers.SGD())\n"
        "w = tf.Variable(2.0)\nwith tf.GradientTape() as tape:\n"
        "    loss = tf.cast(tf.cast(w, tf.float16), tf.float32) * 1e6\ntape.gradient(loss, w)\n",
        "A LossScaleOptimizer leaves such a step out and halves its scale",
    ),
}


def recorded(recorder: Recorder, text: str) -> tuple[Trace, Diagnosis]:
    from tapeviz.analysis.diagnose import diagnose
    from tapeviz.recording.live import Snippet

    live = recorder.record(Snippet(text))
    trace = live.wait(60)
    live.release()
    return trace, diagnose(trace)


def first_finding(recorder: Recorder, text: str) -> Finding:
    return recorded(recorder, text)[1].calls[0].findings[0]


@pytest.mark.parametrize("name", ZEROS)
def test_a_zero_is_told_where_it_began(name: str, recorder: Recorder) -> None:
    text, words = ZEROS[name]
    assert words in first_finding(recorder, "import tensorflow as tf\n" + text).message


def test_a_number_that_an_op_was_set_up_with_left_tensorflow(recorder: Recorder) -> None:
    text = (
        "import tensorflow as tf\nrate = tf.Variable(0.3)\nwith tf.GradientTape() as tape:\n"
        "    slope = float(rate)\n    f = lambda x: tf.nn.leaky_relu(x, slope)\n"
        "    y = f(tf.constant(-2.0))\ntape.gradient(y, rate)\n"
    )
    cause = first_finding(recorder, text).cause
    assert cause is not None
    assert (cause.kind, cause.line) == ("left-tensorflow", 4)


def test_a_constant_that_python_chose_is_told_with_the_choice(recorder: Recorder) -> None:
    text = (
        "import tensorflow as tf\nw = tf.Variable(0.8)\ndef penalty(w):\n"
        "    if tf.abs(w) < 1.0:\n        return tf.constant(0.0)\n    return w ** 2\n"
        "with tf.GradientTape() as tape:\n    loss = penalty(w)\ntape.gradient(loss, w)\n"
    )
    finding = first_finding(recorder, text)
    assert finding.cause is not None
    assert (finding.cause.kind, finding.cause.line) == ("not-connected", 4)
    assert "Line 4 tests a condition that depends on w" in finding.message


def test_lines_are_those_that_python_counts() -> None:
    from tapeviz.text.source import SourceText

    text = SourceText("a = 1\n\f\nb = 'x\u2028y'\nc = 3\n")
    assert text.tree is not None
    assert [text.code(statement.lineno) for statement in text.tree.body] == [
        "a = 1",
        "b = 'x\u2028y'",
        "c = 3",
    ]


def test_a_long_quotient_is_shortened() -> None:
    def words(quotient: str) -> str:
        return SourceText(f"y = {quotient}").words_at(TextSpan(1, 4, 1, 4 + len(quotient)))

    sums = "tf.reduce_sum(w * w) + tf.reduce_sum(v * v)"
    assert words(f"x / ({sums})") == "x / (tf.reduce_sum(…) + tf.reduce_sum(…))"
    assert words(f"x / ({sums} + {sums})") == "x / …"
    assert words(" + ".join(f"x{n}" for n in range(900))) == "… + x899"  # 900 levels of operators


@needs_columns
@pytest.mark.parametrize(
    ("loss", "others"),
    [
        ("tf.nn.sigmoid_cross_entropy_with_logits(tf.ones(2), h)", []),  # asks h >= 0
        ("h * tf.cast(h > 0.0, tf.float32)", ["not-differentiable"]),
        ("tf.stop_gradient(w)", []),  # reads w while TensorFlow records nothing
    ],
)
def test_a_cut_that_the_same_call_goes_around_is_none_to_mend(
    loss: str, others: list[str], recorder: Recorder
) -> None:
    text = (
        "import tensorflow as tf\nw = tf.Variable([1.0, 2.0])\nwith tf.GradientTape() as tape:\n"
        f"    h = tf.stop_gradient(w * 2.0)\n    loss = {loss}\ntape.gradient(loss, w)\n"
    )
    found = first_finding(recorder, text)
    assert found.cause is not None
    assert found.cause.kind == "stop-gradient"
    assert [cause.kind for cause in found.others] == others


def test_a_branch_is_no_further_cut_since_tensorflow_pauses_while_it_traces_it(
    recorder: Recorder,
) -> None:
    text = (
        "import tensorflow as tf\nw = tf.Variable(2.0)\n@tf.function\ndef f(x):\n"
        "    return tf.cond(x > 0.0, lambda: w * x, lambda: tf.stop_gradient(w) * x)\n"
        "with tf.GradientTape() as tape:\n    y = f(tf.constant(-1.0))\ntape.gradient(y, w)\n"
    )
    found = first_finding(recorder, text)
    assert found.cause is not None
    assert found.cause.kind == "stop-gradient"
    assert found.others == ()


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        ("w * mask", "tf.cast(tf.cast(w, tf.int32), tf.float32)", "Another path is cut on line 6 "),
        ("tf.round(w)", "tf.stop_gradient(w)", "The gradient is cut on line 6 (tf.stop_gradient),"),
        ("w * mask", "tf.zeros(())", ""),
        ("tf.round(w)", "2.0 * tf.ones(())", ""),
    ],
)
def test_further_cuts_are_told(first: str, second: str, words: str, recorder: Recorder) -> None:
    text = (
        "import tensorflow as tf\nw = tf.Variable(2.0)\nmask = tf.constant(0.0)\n"
        f"with tf.GradientTape() as tape:\n    a = {first}\n    b = {second}\n"
        "    loss = a + b ** 2\ntape.gradient(loss, w)\n"
    )
    found = first_finding(recorder, text)
    assert found.cause is not None
    assert found.cause.line == 5
    assert found.further.startswith(words) if words else not found.further


def test_all_lines_before_the_block_are_named(recorder: Recorder) -> None:
    text = (
        "import tensorflow as tf\nw = tf.Variable(2.0)\na = 2.0 * w\nb = w ** 2\nc = tf.sin(b)\n"
        "with tf.GradientTape() as tape:\n    y = a + tf.stop_gradient(w) * c\n"
        "tape.gradient(y, w)\n"
    )
    found = first_finding(recorder, text)
    assert found.cause is not None
    assert (found.cause.kind, found.cause.line) == ("outside-tape", 3)
    same, cut = "The same holds for lines 4–5.", "The gradient is cut on line 7 (tf.stop_gradient)"
    assert found.further.startswith(f"{same} {cut}")


def test_an_op_without_a_slope_beside_the_way_is_no_further_cut(recorder: Recorder) -> None:
    text = (
        "import tensorflow as tf\nw = tf.Variable([1.0, 2.0])\na = 3.0 * w\n"
        "with tf.GradientTape() as tape:\n"
        "    y = tf.reduce_sum({})\n"
        "tape.gradient(y, w)\n"
    )
    beside = first_finding(recorder, text.format("tf.where(a > 4.0, a, 0.0)"))
    on_it = first_finding(recorder, text.format("tf.round(a)"))
    assert beside.cause is not None
    assert on_it.cause is not None
    assert (beside.cause.line, on_it.cause.line) == (3, 5)
    assert beside.further == ""


def test_the_use_in_a_branch_of_a_branch_that_did_not_run_has_its_own_line(
    recorder: Recorder,
) -> None:
    text = (
        "import tensorflow as tf\nb = tf.Variable(2.0)\n@tf.function\ndef step(x):\n"
        "    with tf.GradientTape() as tape:\n        h = x\n        if x > 9.0:\n"
        "            h = x * 2.0\n            if h > 1.0:\n                h = h * b\n"
        "        loss = h + 0.0 * x\n    return tape.gradient(loss, b)\nstep(tf.constant(3.0))\n"
    )
    cause = first_finding(recorder, text).cause
    assert cause is not None
    assert (cause.kind, cause.line) == ("not-connected", 7)
    assert "(line 10)" in cause.message("loss", "b")


@needs_columns
def test_ops_and_objects_are_told_apart(recorder: Recorder) -> None:
    """A whole number with what computes by it, an op of a lambda by its own name, and a variable of
    an object by the name of that object."""
    from tapeviz.analysis.diagnose import diagnose
    from tapeviz.recording.live import Snippet

    text = (
        "import tensorflow as tf\nw = tf.Variable(2.6)\nclass Net(tf.Module):\n"
        "    def __init__(self):\n        self.w = tf.Variable(2.0)\n"
        "    def __call__(self, x):\n        return self.w * x\nnet = Net()\nother = Net()\n"
        "@tf.function\ndef rounded(x):\n"
        "    return tf.cond(x > 1.0, lambda: tf.round(x) * 2.0, lambda: x)\n"
        "with tf.GradientTape(persistent=True) as tape:\n"
        "    moved = tf.roll([0.0, 1.0, 0.0], tf.cast(w, tf.int32), axis=0)\n"
        "    chosen = rounded(w)\n    made = net(3.0)\n"
        "    count = tf.cast(w, tf.int32)\n"
        "    noise = tf.random.normal([1, count])\n    row = tf.gather([1.0, 2.0, 3.0], count)\n"
        "    twice = tf.cast(count, tf.float32) * 2.0\n"
        "    branch = tf.where(tf.cast(w, tf.bool), 1.0, 2.0)\n"
        "for target in (moved, chosen, noise, row, twice, branch):\n"
        "    tape.gradient(target, w)\n"
        "tape.gradient(made, other.w)\n"
    )
    live = recorder.record(Snippet(text))
    trace = live.wait(60)
    live.release()
    said = [call.findings[0].message for call in diagnose(trace).calls]
    moved, chosen, noise, row, twice, branch, made = said
    assert "into int32, and tf.roll on line 14 computes by that" in moved
    assert "goes through tf.round on line 12" in chosen
    assert "(line 7) is made from net.w alone" in made
    assert "tf.random.normal on line 18 computes by that" in noise
    assert "line 19 picks elements by it" in row
    assert "Line 17 turns the value into int32. Gradients exist for" in twice
    assert "Line 21 turns the value into bool. Gradients exist for" in branch


FORWARD = """import tensorflow as tf
w = tf.Variable([1.0, 2.0])
early = w * 2.0
with tf.autodiff.ForwardAccumulator(w, tf.ones([2])) as accumulator:
    out = early * 3.0
accumulator.jvp(out)
"""


def test_what_ran_before_an_accumulator_is_not_told_of_a_tape(recorder: Recorder) -> None:
    from tapeviz.fixes import try_fixes

    trace, diagnosis = recorded(recorder, FORWARD)
    finding = try_fixes(trace, diagnosis, recorder).calls[0].findings[0]
    said = [finding.message, *(fix.title for fix in finding.fixes)]
    assert "before the accumulator's block began" in said[0]
    assert said[1] == "Move line 3 into the accumulator's block"
    assert not any("tape" in words for words in said)


def test_a_mask_is_no_whole_number(recorder: Recorder) -> None:
    text = (
        "import tensorflow as tf\nx, m = tf.Variable([1.0, 2.0]), tf.constant([True, False])\n"
        "with tf.GradientTape() as tape:\n    tape.watch(m)\n"
        "    loss = tf.reduce_sum({})\ntape.gradient(loss, m)\n"
    )
    picked = first_finding(recorder, text.format("tf.boolean_mask(x, m)")).message
    assert "A mask cannot change a little" in picked
    chosen = first_finding(recorder, text.format("tf.where(m, x, 0.0)")).message
    assert "(write 1.0 for True)" in chosen
    text = text.replace("m)\n", "x)\n").replace("m = ", "_ = ").replace("tape.watch(x)", "pass")
    cast = text.replace("loss", "m = tf.cast(x, tf.bool)\n    loss", 1)
    turned = first_finding(recorder, cast.format("tf.boolean_mask([3.0, 4.0], m)")).message
    assert "A mask takes an element or not, with nothing in between" in turned


def test_a_function_called_before_the_block_is_named_with_the_line_in_it(
    recorder: Recorder,
) -> None:
    text = """import tensorflow as tf
w = tf.Variable([1.0, 2.0])
def features(v):
    return tf.sin(v)
feats = features(w)
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(feats)
tape.gradient(loss, w)
"""
    _, diagnosis = recorded(recorder, text)
    finding = diagnosis.calls[0].findings[0]
    assert finding.cause is not None
    assert finding.cause.line == 5
    assert "Line 5, which calls line 4, ran before the tape's block began" in finding.message


def test_an_element_of_an_array_is_not_said_to_be_float(recorder: Recorder) -> None:
    text = (
        "import numpy as np\nimport tensorflow as tf\nw = tf.Variable(0.3)\n"
        "with tf.GradientTape() as tape:\n    ys = np.zeros(2, np.float32)\n"
        "    ys[0] = w * 2.0\n    y = tf.reduce_sum(ys)\ntape.gradient(y, w)\n"
    )
    assert "leaves TensorFlow (into a NumPy array)" in first_finding(recorder, text).message


@needs_columns
def test_a_number_that_a_function_of_python_takes_is_said_to_go_into_it(
    recorder: Recorder,
) -> None:
    text = (
        "import math\nimport tensorflow as tf\nw = tf.Variable(0.3)\n"
        "with tf.GradientTape() as tape:\n    y = tf.constant(math.exp(-w))\n"
        "tape.gradient(y, w)\n"
    )
    assert "leaves TensorFlow (into math.exp)" in first_finding(recorder, text).message


def test_long_operands_are_told_without_arguments_or_by_how_they_begin() -> None:
    line = "z = (samples - tf.reduce_mean(samples)) / tf.math.reduce_std(samples)"
    text = SourceText(f"import tensorflow as tf\n{line}")
    words = text.words_at(TextSpan(2, 4, 2, len(line)))
    assert words == "(samples - tf.reduce_mean(…)) / tf.math.reduce_std(…)"
    line = line.replace("samples", "all_samples_of_the_batch")
    text = SourceText(f"import tensorflow as tf\n{line}")
    words = text.words_at(TextSpan(2, 4, 2, len(line)))
    assert words == "(all_samples_of…) / tf.math.reduce…"


@pytest.mark.parametrize(("scales", "is_harmless"), [("1e6, 1e6, 1.0", True), ("1.0, 1e6", False)])
def test_an_overflow_that_a_scaled_loss_came_back_from_is_harmless(
    scales: str, is_harmless: bool, recorder: Recorder
) -> None:
    """Also: weights of objects in an object have the path that leads to them."""
    from tapeviz.analysis.alike import harmless_places, lacks_some
    from tapeviz.analysis.diagnose import default_call

    trace, diagnosis = recorded(
        recorder,
        "import tensorflow as tf\n"
        "optimizer = tf.keras.mixed_precision.LossScaleOptimizer(tf.keras.optimizers.SGD())\n"
        "class Layer(tf.Module):\n    def __init__(self):\n        self.w = tf.Variable(2.0)\n"
        "class Net(tf.Module):\n    def __init__(self):\n"
        "        self.first, self.last = Layer(), Layer()\n"
        f"net = Net()\nfor scale in ({scales}):\n    with tf.GradientTape() as tape:\n"
        "        half = tf.cast(net.first.w * net.last.w, tf.float16)\n"
        "        loss = tf.cast(half, tf.float32) * scale\n"
        "    tape.gradient(loss, net.trainable_variables)\n",
    )
    (site,) = diagnosis.groups
    assert list(trace.variable_names.values())[-2:] == ["net.first.w", "net.last.w"]
    assert harmless_places(diagnosis, site) == ({0, 1} if is_harmless else set())
    assert lacks_some(diagnosis, site) is not is_harmless
    first = diagnosis.call(None)
    assert first is not None
    assert first.call is default_call(trace) is trace.calls[-1]
