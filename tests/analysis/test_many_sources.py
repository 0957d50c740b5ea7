"""A call with many sources: what is read of its steps grows with their number, not its square."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from msgspec import structs

from tapeviz.analysis import diagnose
from tapeviz.analysis.flow.feeding import Feeding
from tapeviz.trace.model import OpId, Replay, Trace

from ..traces import Script

MANY = 300


class Counted(tuple[Any, ...]):
    """A tuple that counts the elements that were asked for one after the other."""

    count = 0

    def __iter__(self) -> Iterator[Any]:
        for element in super().__iter__():
            Counted.count += 1
            yield element


def summed(kind: str, *, flows: bool) -> Trace:
    """The sum of an op of each of many variables, and the gradient of it."""
    script = Script("import tensorflow as tf\n" + "step()\n" * 9)
    handles = [script.variable(f"w{number}", (), line=2) for number in range(MANY)]
    tape = script.tape(line=3)
    made, ops = [], []
    for handle in handles:
        made.append(script.op(kind, [script.read(handle, (), line=4)], (), line=4))
        ops.append(script.last_op)
    target = script.op("AddN", made, (), line=5, name="loss")
    with script.call(tape, [target], handles, line=6, variables=handles) as results:
        seed = script.op("OnesLike", [target], (), line=6)
        script.step(script.last_op - 1, [seed], [seed] * MANY)
        for op in ops:
            script.step(op, [seed], [seed if flows else 0])
        results.extend(seed if flows else 0 for _ in handles)
    trace = script.trace()
    (call,) = trace.calls
    steps = Counted(structs.replace(s, downstream=Counted(s.downstream)) for s in call.steps)
    replay = None if flows else Replay(steps, {})
    return replace(trace, calls=(replace(call, steps=steps, replay=replay),))


def test_sources_that_flow_are_looked_at_one_by_one() -> None:
    trace = summed("Square", flows=True)
    Counted.count = 0
    found = diagnose(trace)
    assert {finding.status for finding in found.calls[0].findings} == {"flows"}
    assert 0 < Counted.count < 40 * MANY


def test_sources_that_are_cut_are_looked_at_one_by_one() -> None:
    trace = summed("Round", flows=False)
    Counted.count = 0
    found = diagnose(trace)
    assert {finding.status for finding in found.calls[0].findings} == {"none"}
    assert 0 < Counted.count < 40 * MANY


def test_the_shares_of_a_tensor_are_found_without_reading_all_inputs_of_its_taker() -> None:
    trace = summed("Square", flows=True)
    (call,) = trace.calls
    feeding = Feeding(trace, call.steps)
    adder = trace.ops[call.steps[0].op or OpId(0)]
    Counted.count = 0
    shares = [feeding.of(tensor) for tensor in adder.inputs]
    assert [len(some) for some in shares] == [1] * MANY
    assert Counted.count == 0
