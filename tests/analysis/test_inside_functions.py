"""Causes inside compiled functions: kind, line and the snippet's own words, as outside of them."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tapeviz.analysis.model import Diagnosis
    from tapeviz.recording.live import Recorder

SNIPPET = dedent(
    """
    import tensorflow as tf
    w, v = tf.Variable(1.3), tf.Variable([1.0, 3.0])

    @tf.function
    def unwatched(x):  # cut unwatched
        with tf.GradientTape() as tape:
            y = x ** 2
        return tape.gradient(y, x)

    @tf.function
    def positions():
        with tf.GradientTape() as tape:
            y = tf.cast(tf.argmax(v), tf.float32)  # cut positions
        return tape.gradient(y, v)

    @tf.function
    def turns():
        with tf.GradientTape() as tape:
            y = w * 1.0
            for _ in tf.range(3):
                y = tf.round(y * 1.5)  # cut turns
        return tape.gradient(y, w)

    @tf.function
    def loop():
        with tf.GradientTape() as tape:
            body = lambda i, y: (i + 1, tf.floor(y) + 0.5)  # cut loop
            _, y = tf.while_loop(lambda i, y: i < 2, body, [tf.constant(0), w * 2.0])
            y = y ** 2
        return tape.gradient(y, w)

    @tf.function
    def rebound(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(x ** 2)
            x = x + 1.0  # cut rebound
        return tape.gradient(y, x)

    @tf.function
    def branch(flag):
        with tf.GradientTape() as tape:
            h = w * 3.0
            if flag:
                y = tf.stop_gradient(h) * 2.0  # cut branch
            else:
                y = tf.constant(0.0)
        return tape.gradient(y, w)

    @tf.function
    def skipped(flag):
        with tf.GradientTape() as tape:
            if flag > 0.0:  # cut skipped
                y = v[0] * 2.0
            else:
                y = v[0] * w
        return tape.gradient(y, w)

    best = tf.Variable(0.0)
    @tf.function
    def unwritten(x):
        with tf.GradientTape() as tape:
            y = w * x
            if y > 100.0:  # cut unwritten
                best.assign(y)
            loss = best * 2.0
        return tape.gradient(loss, w)

    half = tf.Variable(tf.constant([1e-5], tf.float16))
    @tf.function
    def tiny():
        with tf.GradientTape() as tape:
            y = tf.square(half * 1e-4)  # cut tiny
        return tape.gradient(y, half)

    @tf.function
    def clipped():
        with tf.GradientTape() as tape:
            y = tf.constant(0.0)
            for _ in tf.range(2):
                y += tf.clip_by_value(w, 2.0, 3.0)  # cut clipped
        return tape.gradient(y, w)

    @tf.function
    def norms(x):
        total = 0.0
        for _ in tf.range(2):
            total += tf.sqrt(tf.reduce_sum(x ** 2))  # cut norms
        return total

    @tf.function
    def later(x):
        with tf.GradientTape() as tape:
            y = tf.math.log(w - x) ** 2  # cut later
        return tape.gradient(y, w)

    @tf.function
    def either(xs):
        with tf.GradientTape() as tape:
            y = tf.constant(0.0)
            for x in xs:
                if x > 2.0:
                    y += tf.sqrt(w - w)  # cut either
                else:
                    y += w * x
        return tape.gradient(y, w)

    @tf.function
    def stopped():
        with tf.GradientTape() as tape:
            y = w * 0.0
            for _ in tf.range(4):
                y += w * w
                if y > 5.0:
                    y = tf.stop_gradient(y)  # cut stopped
        return tape.gradient(y, w)

    @tf.function
    def counted():
        with tf.GradientTape() as tape:
            grown, count = w * 1.0, 0.0
            while grown < 40.0:  # cut counted
                grown, count = grown * 2.0, count + 1.0
        return tape.gradient(count, w)

    @tf.function
    def chosen(x):
        with tf.GradientTape() as tape:
            if x > w:  # cut chosen
                y = x * 2.0
            else:
                y = x * 3.0
        return tape.gradient(y, w)

    @tf.function
    def limited():
        with tf.GradientTape() as tape:
            y = v[0] * 1.0
            for _ in tf.range(tf.cast(w * 3.0, tf.int32)):  # cut limited
                y *= 2.0
        return tape.gradient(y, w)

    @tf.function
    def broken(xs):
        with tf.GradientTape() as tape:
            y = 0.0
            for x in xs:
                if x > w:  # cut broken
                    break
                y += 1.0
        return tape.gradient(y, w)

    @tf.function
    def handed():
        with tf.GradientTape() as tape:
            y, before = 0.0, 0.0
            for _ in tf.range(3):
                y += before
                before = tf.round(w * 2.0)  # cut handed
        return tape.gradient(y, w)

    unwatched(tf.constant(3.0)), positions(), turns(), loop()
    rebound(tf.constant([1.0, 2.0])), branch(tf.constant(True))
    skipped(tf.constant(1.0)), unwritten(tf.constant(1.0)), tiny(), clipped()
    zeros = tf.Variable([0.0, 0.0])
    with tf.GradientTape() as tape:
        y = norms(zeros)
    tape.gradient(y, zeros)
    for x in (0.0, 1.0, 1.3, 0.5):
        later(tf.constant(x))
    @tf.function
    def masked(steps):
        with tf.GradientTape() as tape:
            total = 0.0
            for i in tf.range(2):
                h = tf.exp(w * steps[i])
                total += h * MASK[i]  # cut masked
        return tape.gradient(total, w)

    @tf.function
    def first_turn(steps):
        with tf.GradientTape() as tape:
            h = tf.zeros([])
            for step in steps:
                h = h * w + step  # cut first_turn
            y = h ** 2
        return tape.gradient(y, w)

    @tf.function
    def listed():
        with tf.GradientTape() as tape:
            array = tf.TensorArray(tf.float32, 2)
            for i in tf.range(2):
                array = array.write(i, tf.sin(w))
            y = tf.reduce_sum(tf.nn.relu(array.stack() - 9.0))  # cut listed
        return tape.gradient(y, w)

    @tf.function
    def seldom(x):
        slope = tf.zeros([])
        if x > 0.0:
            with tf.GradientTape() as tape:
                y = tf.clip_by_value(w, 5.0, 9.0)  # cut seldom
            slope = tape.gradient(y, w)
        return slope

    @tf.function
    def shuffled(rows):
        slope = tf.zeros([])
        for row in rows.shuffle(2):
            with tf.GradientTape() as tape:
                y = tf.sqrt(w * row)  # cut shuffled
            slope = tape.gradient(y, w)
        return slope

    either(tf.constant([1.0, 3.0, 1.0]))
    stopped(), counted(), chosen(tf.constant(3.0)), limited()
    broken(tf.constant([1.0, 3.0])), handed()
    MASK = tf.zeros(2)
    masked(tf.constant([1.0, 3.0])), first_turn(tf.constant([3.0])), listed()
    for x in (1.0, -1.0, -2.0):
        seldom(tf.constant(x))
    shuffled(tf.data.Dataset.from_tensor_slices([0.0, 0.0]))
    """
).lstrip()

FOUND = {
    "unwatched": ("none", "not-watched", "x (line {line}) is a plain tensor"),
    "positions": ("none", "not-differentiable", "goes through tf.argmax on line {line}"),
    "turns": ("zero", "not-differentiable", "goes through tf.round on line {line}"),
    "loop": ("zero", "not-differentiable", "goes through tf.floor on line {line}"),
    "rebound": ("none", "replaced-source", "Line {line} gives the name x to another tensor"),
    "branch": ("none", "stop-gradient", "Line {line} calls tf.stop_gradient"),
    "skipped": ("zero", "not-connected", "flag > 0.0 on line {line} was True"),
    "unwritten": ("none", "not-connected", "writes what is made from w into best, did not run"),
    "tiny": ("zero", "multiplied-by-zero", "What line {line} computes for it is too small"),
    "clipped": ("zero", "saturated", "tf.clip_by_value on line {line}"),
    "norms": ("nonfinite", "nonfinite", "tf.sqrt on line {line} got 0.0"),
    "later": ("flows", "", ""),
    "either": ("nonfinite", "nonfinite", "tf.sqrt on line {line} got 0.0"),
    "stopped": ("zero", "stop-gradient", "Line {line} calls tf.stop_gradient"),
    "counted": ("zero", "not-connected", "w decides how often the loop on line {line} repeats"),
    "chosen": ("none", "not-connected", "Line {line} tests a condition that depends on w"),
    "limited": ("none", "not-connected", "w decides how often the loop on line {line} repeats"),
    "broken": ("zero", "not-connected", "Line {line} tests a condition that depends on w"),
    "handed": ("zero", "not-differentiable", "goes through tf.round on line {line}"),
    "masked": ("zero", "multiplied-by-zero", "h * MASK[i] on line {line} multiplies by a value"),
    "first_turn": ("zero", "multiplied-by-zero", "h * w on line {line} multiplies by a value"),
    "listed": ("zero", "saturated", "tf.nn.relu on line {line} is flat at these values"),
    "seldom": ("zero", "saturated", "tf.clip_by_value on line {line}"),  # in the first of 3 calls
    "shuffled": ("nonfinite", "nonfinite", "tf.sqrt on line {line} got 0.0"),
}


@pytest.fixture(scope="module")
def diagnosis(recorder: Recorder) -> Diagnosis:
    from tapeviz.analysis import diagnose
    from tapeviz.recording.live import Snippet

    live = recorder.record(Snippet(SNIPPET))
    trace = live.wait(60)
    live.release()
    assert trace.failure is None, trace.failure
    return diagnose(trace)


def _line(name: str) -> int:
    lines = SNIPPET.splitlines()
    return next(n for n, line in enumerate(lines, 1) if line.endswith(f"# cut {name}"))


def test_each_cause_is_named_by_its_line_in_the_text(diagnosis: Diagnosis) -> None:
    findings = [call.findings[0] for call in diagnosis.calls]
    assert len(findings) == len(FOUND)
    for finding, (name, (status, kind, words)) in zip(findings, FOUND.items(), strict=True):
        assert finding.status == status, (name, finding)
        if finding.cause is not None:
            assert (finding.cause.kind, finding.cause.line) == (kind, _line(name)), finding
            assert words.format(line=_line(name)) in finding.message


def test_a_call_that_gave_nan_is_named_by_its_number(diagnosis: Diagnosis) -> None:
    (warned,) = (warning for warning in diagnosis.warnings if warning.kind == "nonfinite-call")
    assert warned.line == _line("later")
    assert "Call 3 of 4 of later" in warned.message
    assert "tf.math.log on line" in warned.message


ROUNDS = dedent(
    """
    import tensorflow as tf
    w, u, v = tf.Variable(2.0), tf.Variable(1.0), tf.Variable([1.4, 2.6])
    table = tf.Variable(tf.ones([3, 2]))

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = -tf.reduce_sum(tf.math.log(w * x))  # cut step
        w.assign_sub(0.01 * tape.gradient(loss, w))
        return loss

    @tf.function
    def turns(x, n):
        with tf.GradientTape() as tape:
            y = u * x
            for _ in tf.range(n):
                z = y - 1.0
                y = 1.0 / z  # cut turns
        return tape.gradient(y, u)

    @tf.function
    def picks(ids, x, halves):
        with tf.GradientTape() as tape:
            rows = tf.gather(table, ids)
            if halves:
                rows = rows / 2.0
            loss = tf.reduce_sum(tf.sqrt(rows * x))  # cut picks
        return tape.gradient(loss, table)

    @tf.function
    def snap(x):
        return tf.reduce_sum(tf.round(x) * 3.0)  # cut snap

    @tf.function
    def root(x):
        return tf.sqrt(x)  # cut root

    for x in (1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0):
        step(tf.constant(x))
    for x in (3.0, 2.0, 5.0):
        turns(tf.constant(x), tf.constant(3))
    for x in (1.0, 0.0, 0.0):
        picks(tf.constant([0, 2]), tf.constant(x), tf.constant(True))
    for number in range(30):
        with tf.GradientTape() as tape:
            y = snap(v)
        tape.gradient(y, v)
    for number in range(30):
        with tf.GradientTape() as tape:
            y = root(u * (0.0 if number == 4 else 1.0))
        tape.gradient(y, u)
    """
).lstrip()


def test_rounds_and_calls_before_the_last_one(recorder: Recorder) -> None:
    """NaN is told by the call, the op and the turn in which it began, none of them the last;
    rounds through one trace have one cause, of which twenty at most are looked into."""
    from tapeviz.analysis import diagnose
    from tapeviz.recording.live import Snippet

    live = recorder.record(Snippet(ROUNDS))
    trace = live.wait(90)
    live.release()
    assert trace.failure is None, trace.failure
    found = diagnose(trace)
    lines = {
        line.rpartition("# cut ")[2]: number
        for number, line in enumerate(ROUNDS.splitlines(), 1)
        if "# cut " in line
    }
    step, turns, picks, *rounds = found.calls
    (finding,) = step.findings
    assert finding.cause is not None
    assert (finding.status, finding.cause.line) == ("nonfinite", lines["step"])
    assert finding.message.startswith(f"In call 5 of 7, tf.math.log on line {lines['step']} got 0")
    assert turns.findings[0].status == "flows"
    (warned,) = (warning for warning in found.warnings if warning.kind == "nonfinite-call")
    assert warned.line == lines["turns"]
    first = "Call 2 of 3 of turns was the first that gave NaN or infinity"
    assert f"{first}, though what the last one returned is finite. " in warned.message
    assert f"1.0 / z on line {lines['turns']} divides by 0" in warned.message
    assert picks.findings[0].message.startswith(
        f"In call 2 of 3, tf.sqrt on line {lines['picks']} got 0.0, where its slope is infinite"
    )
    causes = [diagnosed.findings[0].cause for diagnosed in rounds[:30]]
    assert {(cause.kind, cause.line) for cause in causes if cause} == {
        ("not-differentiable", lines["snap"])
    }
    assert None not in causes
    bad = [number for number, diagnosed in enumerate(rounds[30:]) if diagnosed.is_troubled]
    assert bad == [4]
    cause = rounds[34].findings[0].cause
    assert cause is not None
    assert (cause.line, cause.op) == (lines["root"], "Sqrt")
    assert not any(site.odd_shapes for site in found.rounds.sites)


GRADIENTS = dedent(
    """
    import numpy as np, tensorflow as tf
    q, h = tf.Variable(tf.ones([40])), tf.Variable(1.0)

    @tf.function
    def masked(keep):
        with tf.GradientTape() as tape:
            scores = tf.where(keep, q * tf.ones([40, 40]), -np.inf)
            loss = tf.reduce_sum(tf.nn.softmax(scores) * q)
        return tape.gradient(loss, q)

    @tf.function
    def narrow(x):
        with tf.GradientTape() as tape:
            y = tf.cast(h, tf.float16) * x
            loss = y * y / 64.0
        h.assign_sub(1e-9 * tape.gradient(loss, h))
        return loss

    keep = np.ones([40, 40], bool)
    masked(keep)
    keep[3] = False
    masked(keep)
    masked(keep)
    for x in (300.0, 300.0, 2000.0, 300.0, 300.0, 300.0):
        narrow(tf.constant(x, tf.float16))
    """
).lstrip()


def test_the_call_is_named_that_brought_nan_into_the_gradients(recorder: Recorder) -> None:
    """A row of -inf whose elements did not travel; a loss that was infinite before, of which the
    gradients were finite."""
    from tapeviz.analysis import diagnose
    from tapeviz.recording.live import Snippet

    live = recorder.record(Snippet(GRADIENTS))
    trace = live.wait(90)
    live.release()
    assert trace.failure is None, trace.failure
    masked, narrow = (call.findings[0].message for call in diagnose(trace).calls)
    assert masked.startswith(
        "In call 2 of 3, tf.nn.softmax on line 8 got a row of nothing but -inf, of which the"
    )
    assert "backward pass" not in masked
    assert narrow.startswith("In call 3 of 6, the gradient that")
    assert "is too large for float16" in narrow


def test_a_function_that_another_one_calls_twice_ran_twice_for_each_call_of_that(
    recorder: Recorder,
) -> None:
    text = """
        import tensorflow as tf
        w = tf.Variable(2.0)
        @tf.function
        def step(x):
            with tf.GradientTape() as tape:
                y = w * x
            return tape.gradient(y, w)
        @tf.function
        def twice(x):
            return step(x) + step(x + 1.0)
        for _ in range(3):
            twice(tf.constant(1.0))
        step(tf.constant(1.0))
    """
    from tapeviz.recording.live import Snippet

    live = recorder.record(Snippet(dedent(text).lstrip()))
    trace = live.wait(60)
    live.release()
    assert [call.ran for call in trace.calls] == [7]


def test_a_call_may_take_another_course_than_the_one_that_is_open(recorder: Recorder) -> None:
    from tapeviz.analysis.flow.dataflow import DataFlow
    from tapeviz.recording.live import Snippet

    text = """
        import tensorflow as tf
        a, b = tf.constant(2.0), tf.constant(3.0)
        @tf.function
        def pick(a, b, is_first):
            if is_first:
                return a * 2.0
            return b * 3.0
        @tf.function
        def rotate(a, b, c, turns):
            a, b, c = a * 1.0, b * 1.0, c * 1.0
            for _ in tf.range(turns):
                a, b, c = b, c, a
            return a, b, c
        pick(a, b, tf.constant(True))
        pick(a, b, tf.constant(False))
        rotate(a, b, a + b, tf.constant(2))
        rotate(a, b, a + b, tf.constant(1))
    """
    live = recorder.record(Snippet(dedent(text).lstrip()))
    trace = live.wait(60)
    live.release()
    for function in trace.functions.values():
        first, last = (trace.ops[call] for call in function.calls)
        assert last.inside is not None
        assert not first.body
        starts = {edge.start for edge in DataFlow(trace).into(first.outputs[0])}
        assert starts >= {*first.inputs[:3]}
