"""Pairs of two runs: their ops, paired whatever was edited, and their gradients."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from tapeviz.analysis import diagnose
from tapeviz.analysis.comparing import Comparison, compare
from tapeviz.analysis.model import Diagnosis
from tapeviz.analysis.pairing import pair_anywhere, pair_in_order
from tapeviz.recording.live import Snippet
from tapeviz.trace.ids import OpId
from tapeviz.trace.model import Trace

if TYPE_CHECKING:
    from tapeviz.recording.live import Recorder

Run = tuple[Trace, Diagnosis]
CUT = """
c = tf.Variable(1.0)
p = tf.Variable(3.0)
with tf.GradientTape() as tape:
    c.assign(p * 2.0)
    loss = tf.sin(c) * c
grad = tape.gradient(loss, p)
"""
MENDED = CUT.replace("c.assign(p * 2.0)", "c = p * 2.0")
OUTSIDE = """
x = tf.Variable(2.0)
y = tf.exp(x)
with tf.GradientTape() as tape:
    z = y * 3.0
tape.gradient(z, x)
"""
INSIDE = OUTSIDE.replace("y = tf.exp(x)\n", "").replace("    z", "    y = tf.exp(x)\n    z")


def record(recorder: Recorder, text: str) -> Run:
    live = recorder.record(Snippet(text))
    trace = live.wait(60)
    live.release()
    return trace, diagnose(trace)


@pytest.fixture(scope="module")
def runs(recorder: Recorder) -> dict[str, Run]:
    texts = {"cut": CUT, "mended": MENDED, "outside": OUTSIDE, "inside": INSIDE}
    return {name: record(recorder, text) for name, text in texts.items()}


def types(trace: Trace, ops: tuple[OpId, ...]) -> list[str]:
    return [trace.ops[op].type for op in ops]


def check_is_consistent(before: Run, after: Run, found: Comparison) -> None:
    ones, others = zip(*found.pairs, strict=True) if found.pairs else ((), ())
    assert len(set(ones)) == len(ones)
    assert len(set(others)) == len(others)
    assert not set(ones) & set(found.removed)
    assert not set(others) & set(found.added)
    for op, other in found.pairs:
        assert before[0].ops[op].type == after[0].ops[other].type
    assert set(found.turned) <= set(found.pairs)


def test_a_run_is_the_same_as_itself(runs: dict[str, Run]) -> None:
    for run in runs.values():
        found = compare(run, run)
        assert found.has_same_gradients
        assert all(pair == other for pair, other in found.pairs)
        assert found.removed == found.added == found.turned == ()


def test_an_edited_line_keeps_its_ops(runs: dict[str, Run]) -> None:
    before, after = runs["cut"], runs["mended"]
    found = compare(before, after)
    check_is_consistent(before, after, found)
    assert types(before[0], found.removed) == ["AssignVariableOp"]
    assert found.added == ()
    (pair,) = found.gradients
    assert pair.before is not None
    assert pair.after is not None
    assert (pair.before.finding.status, pair.after.finding.status) == ("none", "flows")
    assert pair.outcome == "differs"
    back = compare(after, before)
    assert types(before[0], back.added) == ["AssignVariableOp"]
    assert [(other, pair) for pair, other in back.pairs] == list(found.pairs)


def test_an_op_that_moved_into_the_block_is_the_same_and_recorded(runs: dict[str, Run]) -> None:
    before, after = runs["outside"], runs["inside"]
    found = compare(before, after)
    check_is_consistent(before, after, found)
    assert found.removed == found.added == ()
    assert {before[0].ops[op].type for op, _ in found.turned} == {"Exp", "Mul"}


def test_a_gradient_that_only_one_asked_for(runs: dict[str, Run]) -> None:
    before, (trace, diagnosis) = runs["cut"], runs["mended"]
    without = Diagnosis()
    found = compare(before, (trace, without))
    assert [pair.outcome for pair in found.gradients] == ["removed"]
    assert not found.has_same_gradients
    found = compare((trace, without), (trace, diagnosis))
    assert [pair.outcome for pair in found.gradients] == ["added"]


@pytest.mark.parametrize("many", [30, 2000])
def test_pairs_keep_the_order_and_the_first_key_goes_first(many: int) -> None:
    chance = random.Random(many)
    before = [(chance.choice("abc"), number) for number in range(many)]
    after = [op for op in before if chance.random() > 0.1]
    after.insert(3, ("z", -1))
    keys = [(lambda op: op, lambda op: op), (lambda op: op[0], lambda op: op[0])]
    pairs = pair_in_order(before, after, keys)
    assert [pair for pair, other in pairs if pair == other] == [op for op in after if op[1] >= 0]
    places = [(before.index(pair), after.index(other)) for pair, other in pairs]
    assert places == sorted(places)
    assert all(pair[0] == other[0] for pair, other in pairs)


def test_pairs_anywhere_take_the_first_of_each() -> None:
    assert pair_anywhere("abca", "aacx", str, str) == [("a", "a"), ("c", "c"), ("a", "a")]
