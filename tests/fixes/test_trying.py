"""Fixes are run, and only those are shown after which the gradient came out as it should."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import pytest

from tapeviz.analysis import diagnose
from tapeviz.analysis.causes.states.assign import Assigned
from tapeviz.analysis.findings import Finding
from tapeviz.analysis.model import Diagnosis
from tapeviz.fixes import table, try_fixes
from tapeviz.fixes.goals import FixGoal, KeptEdit
from tapeviz.fixes.merging import merge
from tapeviz.fixes.model import Edit, FixCase
from tapeviz.recording.live import LiveRecording, Recorder, Snippet
from tapeviz.trace.model import Trace

if TYPE_CHECKING:
    from collections.abc import Iterator


class NoRuns(Recorder):
    """A recorder for what must not run a snippet."""

    def __init__(self) -> None:
        """It has no pool."""

    def record(self, *args: object, **named: object) -> NoReturn:
        raise AssertionError("a snippet was run")


def record(recorder: Recorder, text: str) -> tuple[Trace, Diagnosis]:
    return diagnosed(recorder, Snippet(text))


def diagnosed(recorder: Recorder, snippet: Snippet) -> tuple[Trace, Diagnosis]:
    live = recorder.record(snippet)
    trace = live.wait(60)
    live.release()
    return trace, diagnose(trace)


def treat(recorder: Recorder, text: str) -> Finding:
    trace, diagnosis = record(recorder, text)
    return try_fixes(trace, diagnosis, recorder).calls[-1].findings[0]


def test_the_text_that_is_shown_mends_the_gradient(recorder: Recorder) -> None:
    (first, *_) = treat(recorder, WRONG).fixes
    again = record(recorder, first.text)[1].calls[-1].findings[0]
    assert again.status == "flows"


WRONG = """
import tensorflow as tf
p = tf.Variable(2.0)
q = tf.Variable(0.0)
with tf.GradientTape() as t:
    q.assign(3.0 * p)
    out = q * q
t.gradient(out, p)
"""


@pytest.mark.parametrize(
    ("what", "new"),
    [
        ("another gradient", "out = (3.0 * p) ** 2 * 2.0"),
        ("another target", "out = 36.0 * p"),
        ("an error", "out = p * undefined"),
        ("an error afterwards", "out = 9.0 * p * p\nt.gradient(out, p)\nraise ValueError"),
        ("still None", "out = q * q * 1.0"),
        ("never ends", "out = p * p\n    while True: pass"),
    ],
)
def test_what_is_not_right_is_not_shown(
    what: str, new: str, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wrong(fix_case: FixCase) -> Iterator[Edit]:
        yield Edit(what, fix_case.source.text.replace("out = q * q", new))

    monkeypatch.setattr(table, "FIXES", {Assigned: (wrong,)})
    if what == "never ends":
        monkeypatch.setattr("tapeviz.fixes.trying._FEWEST_SECONDS", 2.0)
    assert treat(recorder, WRONG).fixes == ()


def test_a_fix_that_fails_costs_only_itself(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(fix_case: FixCase) -> Iterator[Edit]:
        raise KeyError("an odd text")
        yield

    rest = table.FIXES[Assigned]
    monkeypatch.setattr(table, "FIXES", {Assigned: (broken, *rest)})
    assert treat(recorder, WRONG).fixes


def test_random_numbers_do_not_have_to_agree(recorder: Recorder) -> None:
    finding = treat(recorder, WRONG.replace("3.0 * p", "tf.random.normal([]) * p"))
    assert finding.fixes
    assert finding.fixes[0].value is not None


def test_two_cuts_of_different_kinds_are_mended_together(recorder: Recorder) -> None:
    finding = treat(
        recorder,
        "import tensorflow as tf\nx = tf.constant([1, 2])\nwith tf.GradientTape() as t:\n"
        "    y = tf.reduce_sum(x * x)\nt.gradient(y, x)\n",
    )
    values = [fix.value.tolist() for fix in finding.fixes if fix.value is not None]
    assert values == [[2.0, 4.0]] * len(finding.fixes)
    assert finding.fixes


def test_an_edit_that_two_cuts_give_is_tried_once(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = """import tensorflow as tf
x = tf.Variable([1.2, 2.7])
with tf.GradientTape() as t:
    y = tf.reduce_sum(tf.cast(tf.cast(x, tf.int32), tf.float32) * tf.round(x))
t.gradient(y, x)
"""
    asked = []

    def useless(case: FixCase) -> Iterator[Edit]:
        asked.append(case.cause.kind)
        yield Edit("Useless", case.source.text.replace("2.7", "2.8"))

    monkeypatch.setattr(table, "FIXES", dict.fromkeys(table.FIXES, (useless,)))
    judged = iter(range(20))  # it once went on for ever
    asked_before = FixGoal.is_kept_already
    monkeypatch.setattr(
        FixGoal, "is_kept_already", lambda *given: (next(judged), asked_before(*given))[1]
    )
    assert treat(recorder, text).fixes == ()
    assert len(set(asked)) == 2


def test_the_part_that_was_asked_for_is_shown(recorder: Recorder) -> None:
    finding = treat(
        recorder,
        "import tensorflow as tf\nx = tf.Variable([[1.0, 2.0], [3.0, 4.0]])\n"
        "with tf.GradientTape() as t:\n    y = tf.reduce_sum(x * x)\nt.gradient(y, x[1, :1])\n",
    )
    assert finding.fixes[0].text.endswith("t.gradient(y, x)[1, :1]\n")
    assert finding.fixes[0].value is not None
    assert finding.fixes[0].value.tolist() == [6.0]


def test_a_compiled_step_is_judged_by_its_first_call(recorder: Recorder) -> None:
    finding = treat(recorder, TRAINED_IN_A_FUNCTION)
    assert [fix.title for fix in finding.fixes] == ["Watch mix from the start of the block"]
    assert finding.fixes[0].value == pytest.approx(2.0)


TRAINED_IN_A_FUNCTION = """
import tensorflow as tf
w = tf.Variable(2.0)
@tf.function
def step(x):
    mix = x * 0.5
    with tf.GradientTape() as t:
        out = w * mix
    g = t.gradient(out, mix)
    w.assign_sub(0.1 * (g if g is not None else 1.0))
for x in (1.0, 2.0, 3.0):
    step(tf.constant(x))
"""


def test_a_fix_that_mends_some_rounds_gives_way_to_one_that_mends_all(recorder: Recorder) -> None:
    text = """
import tensorflow as tf
x = tf.constant(3.0)
for step in range(3):
    with tf.GradientTape() as t:
        out = x * x
    g = t.gradient(out, x)
    x = x - 0.1 * (g if g is not None else 1.0)
"""
    trace, diagnosis = record(recorder, text)
    mended = try_fixes(trace, diagnosis, recorder)
    titles = [[fix.title for fix in call.findings[0].fixes] for call in mended.calls]
    assert titles == [["Watch x from the start of the block"]] * 3


def test_a_fix_that_mends_some_rounds_says_so() -> None:
    every, some = Edit("every", "1"), Edit("some (comes out in 1 of 3 rounds)", "2")
    value = {(0, 0): np.float32(1.0)}
    goal = FixGoal(None, edits=[some, every], kept=[KeptEdit(some, value, is_partial=True)])
    assert [kept.edit for kept in goal.in_order("")] == [some]
    assert not goal.has_enough
    goal.kept.append(KeptEdit(every, value))
    assert [kept.edit for kept in goal.in_order("")] == [every]


def test_zeros_stay_where_they_mend_a_gradient_that_no_other_edit_does() -> None:
    fewer, zeros = Edit("fewer", "1", asks_fewer=True), Edit("zeros", "2", gives_zeros=True)
    zero = np.float32(0.0)
    for keys, shown in (([(0, 0)], [fewer]), ([(0, 0), (0, 1)], [fewer, zeros])):
        kept = [KeptEdit(fewer, {(0, 0): None}), KeptEdit(zeros, dict.fromkeys(keys, zero))]
        goal = FixGoal(None, edits=[fewer, zeros], kept=kept)
        assert [each.edit for each in goal.in_order("")] == shown


def test_an_edit_that_mends_a_part_does_not_stand_for_the_whole() -> None:
    text = "a = 1\nb = 2\n"
    whole = Edit("both", "a = 3\nb = 4\n")
    value = {(0, 0): np.float32(1.0)}
    cases = (
        (True, False, ["both", "one"]),
        (False, True, ["both", "one"]),
        (False, False, ["one"]),
    )
    for has_other_slope, keeps_target, kept in cases:
        part = Edit("one", "a = 3\nb = 2\n", has_other_slope=has_other_slope)
        all_kept = [KeptEdit(whole, value, keeps_target=keeps_target), KeptEdit(part, value)]
        goal = FixGoal(None, edits=[whole, part], kept=all_kept)
        assert [each.edit.title for each in goal.in_order(text)] == kept


def test_an_edit_that_mends_more_gradients_comes_first() -> None:
    text, slope = "a = 1\nb = 2\n", np.float32(1.0)
    part, whole = Edit("one", "a = 3\nb = 2\n"), Edit("one; two", "a = 3\nb = 4\n")
    kept = [KeptEdit(part, {(0, 0): slope}), KeptEdit(whole, {(0, 0): slope, (0, 1): slope})]
    goal = FixGoal(None, [(0, 0), (0, 1)], edits=[part, whole], kept=kept)
    assert [each.edit for each in goal.in_order(text)] == [whole, part]
    kept[1] = KeptEdit(whole, {(0, 0): 2 * slope})  # a further cut on the same path
    assert [each.edit for each in goal.in_order(text)] == [part, whole]
    kept[1] = KeptEdit(whole, {(0, 0): slope})
    assert [each.edit for each in goal.in_order(text)] == [part]


def test_an_edit_that_was_corrected_stands_where_no_other_does() -> None:
    plain = Edit("plain", "x = 2\n")
    corrected = [Edit(title, text, is_fallback=True) for title, text in ("a1", "b2")]
    value = {(0, 0): np.float32(1.0)}
    goal = FixGoal(None, edits=[*corrected, plain], kept=[KeptEdit(e, value) for e in corrected])
    assert [kept.edit for kept in goal.in_order("")] == corrected[:1]
    goal.kept.append(KeptEdit(plain, value))
    assert [kept.edit for kept in goal.in_order("")] == [plain]


def test_two_edits_of_other_lines_become_one() -> None:
    text = "a\nb\nc\nd"
    assert merge(text, "x\na\nb\nc\nd", "a\nb\nc\ny\nd") == "x\na\nb\nc\ny\nd"
    assert merge(text, "a\nB\nc\nd", "a\nb\nC\nd") == "a\nB\nC\nd"
    assert merge(text, "a\nB\nc\nd", "a\n2\nc\nd") is None
    assert merge("y = f(g(x))", "y = f(x)", "n = 1\ny = f(g(n))") == "n = 1\ny = f(n)"
    assert merge(text, "a\nx\nb\nc\nd", "a\ny\nb\nc\nd") is None
    assert merge(text, "x = 1\na\nb\nc\nd", "a\nb\nc\nx = 2\nd") is None


def test_a_fix_with_another_in_it_is_left_out() -> None:
    less, more = Edit("less", "x = 2\ny = 0\n"), Edit("more; less", "x = 2\ny = 3\n")
    value = {(0, 0): np.float32(1.0)}
    goal = FixGoal(None, edits=[more, less], kept=[KeptEdit(more, value), KeptEdit(less, value)])
    assert [kept.edit for kept in goal.in_order("x = 1\ny = 0\n")] == [less]


def test_of_two_edits_that_add_the_same_lines_in_another_order_the_first_is_shown() -> None:
    texts = [
        "a = v\nb = x\ny = 1\nend\n",
        "b = x\na = v\ny = 1\nend\n",
        "a = v\ny = 1\nend\nb = x\n",
    ]
    edits = [Edit(f"edit {number}", text) for number, text in enumerate(texts)]
    goal = FixGoal(
        None, edits=edits, kept=[KeptEdit(each, {(0, 0): np.float32(1)}) for each in edits]
    )
    assert [kept.edit for kept in goal.in_order("y = 0\nend\n")] == [edits[0], edits[2]]


def test_the_likeliest_edit_comes_first_though_its_trial_ends_last(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = "p = x + tf.stop_gradient(tf.round(x) - x)"
    looks = iter(range(8))
    record_, wait = Recorder.record, LiveRecording.wait
    lates = []

    def noticed(self: Recorder, snippet: Snippet, *rest: Any) -> LiveRecording:
        live = record_(self, snippet, *rest)
        if late in snippet.text:
            lates.append(live)
        return live

    def waited(self: LiveRecording, timeout: float | None = None) -> Trace:
        if self in lates and next(looks, None) is not None:
            raise TimeoutError
        return wait(self, timeout)

    monkeypatch.setattr(Recorder, "record", noticed)
    monkeypatch.setattr(LiveRecording, "wait", waited)
    text = """
import numpy as np
import tensorflow as tf
x = tf.Variable([0.25, 2.75])
with tf.GradientTape() as tape:
    p = np.round(x)
    loss = tf.convert_to_tensor((p * 2.0).sum())
tape.gradient(loss, x)
"""
    fixes = treat(recorder, text).fixes
    assert next(looks, None) is None
    assert [late in fix.text for fix in fixes] == [True, False]


def test_all_sources_of_a_call_get_their_own_value(recorder: Recorder) -> None:
    trace, diagnosis = record(recorder, WRONG.replace("3.0 * p", "3.0 * p + r * p").replace(
        "q = ", "r = tf.Variable(1.0)\nq = ").replace("out, p", "out, [p, r]"))  # fmt: skip
    findings = try_fixes(trace, diagnosis, recorder).calls[-1].findings
    assert [float(finding.fixes[0].value) for finding in findings] == [64.0, 32.0]  # type: ignore[arg-type]


def test_an_edit_for_another_gradient_may_mend_one_that_has_none(recorder: Recorder) -> None:
    """The second derivative of a ReLU is 0, and so is all that is computed from it."""
    trace, diagnosis = record(
        recorder,
        """
        import tensorflow as tf
        x, w = tf.constant([1.0, 2.0]), tf.Variable([0.5, 1.5])
        with tf.GradientTape() as outer:
            with tf.GradientTape() as second:
                second.watch(x)
                with tf.GradientTape() as first:
                    first.watch(x)
                    y = tf.nn.relu(w * x)
                slope = first.gradient(y, x)
            curve = second.gradient(slope, x)
            loss = tf.reduce_sum(curve ** 2)
        outer.gradient(loss, w)
        """,
    )
    curve, of_weights = (call.findings[0] for call in diagnosis.calls[1:])
    assert (curve.status, of_weights.status) == ("zero", "zero")
    assert of_weights.cause is not None
    mended = try_fixes(trace, diagnosis, recorder).calls
    for call in mended[1:]:
        (fix,) = call.findings[0].fixes
        assert "tf.nn.softplus(w * x)" in fix.text
        assert fix.value is not None
        assert np.all(fix.value != 0.0)


def test_an_error_is_mended(recorder: Recorder) -> None:
    text = (
        "import tensorflow as tf\nx = tf.Variable(3.0)\nwith tf.GradientTape() as t:\n"
        "    y = x * x\nt.gradient(y, x)\nt.gradient(y, x)\n"
    )
    trace, diagnosis = record(recorder, text)
    error = try_fixes(trace, diagnosis, recorder).error
    assert error is not None
    assert "persistent=True" in error.fixes[0].text


@pytest.mark.parametrize(("later", "status"), [("w * w", "flows"), ("tf.round(w)", "none")])
def test_the_call_of_a_page_that_raised_is_judged_and_no_later_one(
    later: str, status: str, recorder: Recorder
) -> None:
    text = (
        "First try:\n\nimport tensorflow as tf\nimport numpy as np\nw = tf.Variable([1.0, 2.0])\n"
        "with tf.GradientTape() as t:\n    p = w * 3.0\n    loss = np.mean(p.numpy() ** 2)\n"
        "t.gradient(loss, w)\n\nAnd this is the second one:\n\n"
        f"with tf.GradientTape() as t:\n    loss = tf.reduce_sum({later})\nt.gradient(loss, w)\n"
    )
    trace, diagnosis = record(recorder, text)
    assert [call.findings[0].status for call in diagnosis.calls] == [status]
    error = try_fixes(trace, diagnosis, recorder).error
    assert error is not None
    titles = [fix.title for fix in error.fixes]
    assert titles == ["Compute with TensorFlow in place of NumPy and Python"]


def test_it_can_be_stopped_and_tells_how_far_it_is(recorder: Recorder) -> None:
    trace, diagnosis = record(recorder, WRONG)
    progress: list[tuple[int, int]] = []
    try_fixes(
        trace, diagnosis, recorder, on_progress=lambda done, known: progress.append((done, known))
    )
    assert progress
    assert all(0 < done <= known for done, known in progress)
    stopped = try_fixes(trace, diagnosis, recorder, should_stop=lambda: True)
    assert not stopped.calls[-1].findings[0].fixes


def test_what_flows_is_not_run_again(recorder: Recorder) -> None:
    trace, diagnosis = record(recorder, WRONG.replace("q.assign", "q = ").replace("= (", "= ("))
    assert not diagnosis.calls[-1].is_troubled
    assert try_fixes(trace, diagnosis, recorder) is diagnosis
    assert try_fixes(
        replace(trace, ending=replace(trace.ending, how="timeout")), diagnosis, recorder
    )


def test_a_slow_snippet_is_not_run_again(recorder: Recorder) -> None:
    trace, diagnosis = record(recorder, WRONG)
    slow = replace(trace, ending=replace(trace.ending, seconds=60.0))
    finding = try_fixes(slow, diagnosis, NoRuns()).calls[-1].findings[0]
    assert not finding.fixes
    assert "too long" in finding.not_tried
    assert not record(recorder, WRONG)[1].calls[-1].findings[0].not_tried
