"""A call with many sources: what is read of its steps grows with their number, not its square."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any
from weakref import ref

import pytest
from msgspec import structs

from tapeviz.analysis import diagnose
from tapeviz.analysis.flow.dataflow import Ancestry, DataFlow, Position
from tapeviz.analysis.flow.feeding import Feeding
from tapeviz.analysis.requests.replays import unconnected
from tapeviz.trace.model import OpId, Replay, Stats, TensorId, Trace

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


def deep(last: str) -> Trace:
    """A chain of products of variables, through an op that gives no gradient, or zeros."""
    script = Script("import tensorflow as tf\n" + "step()\n" * 9)
    handles = [script.variable(f"w{number}", (), line=2) for number in range(MANY)]
    tape = script.tape(line=3)
    reads, made, ops = [], [script.tensor(value=2.0)], []
    for handle in handles:
        reads.append(script.read(handle, (), line=4))
        made.append(script.op("Mul", [made[-1], reads[-1]], (), line=4, value=2.0))
        ops.append(script.last_op)
    target = script.op(last, [made[-1]], (), line=5, name="loss", value=0.0)
    with script.call(tape, [target], handles, line=6, variables=handles) as results:
        zero = 0
        if last == "Relu":
            seed = script.op("OnesLike", [target], (), line=6, value=1.0)
            zero = script.tensor(value=0.0)
            script.step(ops[-1] + 1, [seed], [zero])
            for op in reversed(ops):
                script.step(op, [zero], [zero, zero])
        results.extend(zero for _ in handles)
    return script.trace()


def test_sources_of_a_deep_network_share_the_way_to_its_target(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trace, asked = deep("Round"), list[object]()
    edges_from = Ancestry.edges_from

    def counting(ancestry: Ancestry, sources: Iterable[Position]) -> object:
        asked.append(sources)
        return edges_from(ancestry, sources)

    monkeypatch.setattr(Ancestry, "edges_from", counting)
    findings = diagnose(trace).calls[0].findings
    assert {finding.cause.line if finding.cause else 0 for finding in findings} == {5}
    assert 0 < len(asked) < 10


def test_zeros_of_a_deep_network_are_followed_upstream_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trace, asked = deep("Relu"), list[object]()
    stats = Trace.stats

    def counting(trace: Trace, tensor: TensorId | None) -> Stats | None:
        asked.append(tensor)
        return stats(trace, tensor)

    monkeypatch.setattr(Trace, "stats", counting)
    findings = diagnose(trace).calls[0].findings
    assert {finding.cause.op if finding.cause else "" for finding in findings} == {"Relu"}
    assert 0 < len(asked) < 60 * MANY


def test_what_got_zeros_for_want_of_a_gradient_is_looked_for_once() -> None:
    trace = summed("Round", flows=False)
    (call,) = trace.calls
    zeros = replace(call, unconnected="zero", results=call.source_tensors)
    Counted.count = 0
    assert unconnected(trace, zeros) == frozenset(range(MANY))
    assert 0 < Counted.count < 10 * MANY


def test_what_sources_share_goes_with_the_diagnosis(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a collection of garbage, which the window puts off."""
    trace, flows = deep("Round"), list[ref[DataFlow]]()
    initialise = DataFlow.__init__

    def noting(flow: DataFlow, *given: Any) -> None:
        initialise(flow, *given)
        flows.append(ref(flow))

    monkeypatch.setattr(DataFlow, "__init__", noting)
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        found = diagnose(trace)
        assert found.calls[0].findings
        del found
        assert [flow() for flow in flows] == [None] * len(flows) != []
    finally:
        if was_enabled:
            gc.enable()
