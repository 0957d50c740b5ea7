"""Ops and tensors share what they have in common: a recording has hundreds of thousands."""

from __future__ import annotations

import gc

from tapeviz.trace.ids import OpId
from tests.traces import Script


def test_ops_of_one_place_have_one_description_and_no_collector_looks_at_them() -> None:
    script = Script("x = tf.sin(x)\n")
    value = script.tensor(value=1.0)
    for _ in range(3):
        value = script.op("Sin", [value], line=1, value=1.0)
    script.op("Sin", [value], line=2, value=1.0)
    first, second, third, other = script.trace().ops.values()
    assert first.description is second.description is third.description
    assert other.description is not first.description
    assert other.line == 2
    assert second.inputs is first.outputs
    assert not gc.is_tracked(first)


def test_a_changed_op_leaves_the_others_of_its_place_as_they_are() -> None:
    script = Script("x = tf.sin(x)\n")
    value = script.tensor(value=1.0)
    for _ in range(2):
        value = script.op("Sin", [value], line=1, value=1.0)
    first, second = script.trace().ops.values()
    changed = second.having(within=OpId(7), when=9)
    assert (changed.within, changed.when, changed.line) == (7, 9, 1)
    assert first.within is None
    assert second.within is None


def test_tensors_that_are_alike_are_one() -> None:
    script = Script("")
    for value in (1.0, 2.0, [1.0, 2.0]):
        script.tensor(value=value)
    number, other, pair = script.trace().tensors.values()
    assert number is other
    assert pair is not number
    assert (pair.dtype, pair.shape, pair.size) == ("float32", (2,), 2)
