"""A call with many sources: what is read of its steps grows with their number, not its square."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any
from weakref import ref

import pytest
from msgspec import structs

from tapeviz.analysis import diagnose
from tapeviz.analysis.backward.feeding import Feeding
from tapeviz.analysis.call_facts import CallFacts
from tapeviz.analysis.causes.questions import EdgeUnderTest
from tapeviz.analysis.findings import MOST_OTHERS
from tapeviz.analysis.flow import ends, lookups
from tapeviz.analysis.flow.ancestry import Ancestry, DataEdge, Position
from tapeviz.analysis.flow.dataflow import DataFlow
from tapeviz.analysis.flow.shared_lists import SharedList
from tapeviz.analysis.python import caught
from tapeviz.analysis.requests.replays import unconnected
from tapeviz.cli.report import report
from tapeviz.trace.calls import Replay
from tapeviz.trace.ids import OpId, TensorId
from tapeviz.trace.model import Trace
from tapeviz.trace.ops import Op
from tapeviz.trace.stats import Stats

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


def test_whole_numbers_that_are_added_up_are_followed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    script = Script("import tensorflow as tf\n" + "step()\n" * 9)
    x = script.tensor((), name="x", line=2)
    tape = script.tape(line=3)
    total = script.op("Cast", [x], (), line=4, dtype="int32")
    for _ in range(MANY):
        whole = script.op("Cast", [x], (), line=4, dtype="int32")
        total = script.op("AddV2", [total, whole], (), line=4, dtype="int32")
    target = script.op("Cast", [total], (), line=5, name="y")
    with script.call(tape, [target], [x], line=6) as results:
        results.append(0)
    asked = []
    picks_by = lookups._picks_by
    monkeypatch.setattr(
        lookups, "_picks_by", lambda op, tensor: asked.append(op) or picks_by(op, tensor)
    )
    (finding,) = diagnose(script.trace()).calls[0].findings
    assert finding.cause is not None
    assert finding.cause.kind == "integer"
    assert MANY < len(asked) < 4 * MANY


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


def counted(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The edges that were put to the test, and the positions at which edges were looked for."""
    asked: list[object] = []
    test, into = EdgeUnderTest.__init__, DataFlow.into

    def counting_tests(self: EdgeUnderTest, edge: DataEdge, facts: CallFacts) -> None:
        asked.append(edge)
        test(self, edge, facts)

    def counting_into(flow: DataFlow, position: Position) -> object:
        asked.append(position)
        return into(flow, position)

    monkeypatch.setattr(EdgeUnderTest, "__init__", counting_tests)
    monkeypatch.setattr(DataFlow, "into", counting_into)
    return asked


def test_sources_of_a_deep_network_share_the_way_to_its_target(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trace, asked = deep("Round"), counted(monkeypatch)
    findings = diagnose(trace).calls[0].findings
    assert {finding.cause.line if finding.cause else 0 for finding in findings} == {5}
    assert MANY < len(asked) < 30 * MANY


def residual(
    line_of: Callable[[int], int], kind: str = "Round", gives: float | None = None
) -> Trace:
    """Blocks that add to their input what an op made of it, each with a variable of its own.

    ``gives``: what the op gives; the gradients are zeros then, of which no steps are known."""
    script = Script("import tensorflow as tf\n" + "step()\n" * (MANY + 9))
    handles = [script.variable(f"w{number}", (), line=2) for number in range(MANY)]
    tape, state = script.tape(line=3), script.tensor(value=2.0)
    for number, handle in enumerate(handles):
        line = line_of(number)
        made = script.op("Mul", [state, script.read(handle, (), line=line)], (), line=line)
        step = script.op(kind, [made], (), line=line, value=gives)
        state = script.op("AddV2", [state, step], line=line)
    target = script.op("Square", [state], (), line=5, name="loss")
    with script.call(tape, [target], handles, line=6, variables=handles) as results:
        results.extend(0 if gives is None else script.tensor(value=0.0) for _ in handles)
    return script.trace()


def test_sources_with_a_cut_each_share_the_way_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    trace, asked = residual(lambda number: 10 + number), counted(monkeypatch)
    diagnosis = diagnose(trace)
    findings = diagnosis.calls[0].findings
    assert MANY < len(asked) < 40 * MANY
    (first, *_, last) = report(trace, diagnosis)["calls"][0]["results"]
    assert (len(first["others"]), first["others_omitted"]) == (MOST_OTHERS, True)
    assert not {"others", "others_omitted"} & last.keys()
    for number, finding in enumerate(findings):
        assert finding.cause is not None
        assert finding.cause.is_alone
        assert finding.cause.line == 10 + number
        others = [10 + k for k in range(MANY - 1, number, -1)]
        assert [cause.line for cause in finding.others] == others[:MOST_OTHERS]
        assert finding.has_more == (len(others) > MOST_OTHERS)
    assert findings[0].further.endswith("(Round) and over 37 more, too.")
    assert findings[-10].further.endswith("(Round) and 6 more, too.")


def test_zeros_of_which_no_steps_are_known_are_found_in_one_pass(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trace = residual(lambda number: 10 + number, "Relu", 0.0)
    looked: list[Position] = []
    out_of = Ancestry.edges_out_of

    def counting(self: Ancestry, position: Position) -> Sequence[DataEdge]:
        looked.append(position)
        return out_of(self, position)

    monkeypatch.setattr(Ancestry, "edges_out_of", counting)
    causes = [finding.cause for finding in diagnose(trace).calls[0].findings]
    assert [cause and (cause.op, cause.line, cause.is_probable) for cause in causes] == [
        ("Relu", 10 + number, False) for number in range(MANY)
    ]
    assert MANY < len(looked) < 20 * MANY


def test_cuts_on_one_line_are_one_cause_with_the_edges_of_those_on_the_way() -> None:
    findings = diagnose(residual(lambda _: 4)).calls[0].findings
    causes = [finding.cause for finding in findings if finding.cause is not None]
    assert [len(cause.links) for cause in causes] == list(range(MANY, 0, -1))
    assert all(cause.is_alone and cause.line == 4 for cause in causes)
    for links, following in pairwise([cause.links for cause in causes[:-1]]):
        assert isinstance(links, SharedList)
        assert links.rest is following


def test_a_source_of_which_the_form_is_taken_is_not_named_by_others() -> None:
    script = Script("import tensorflow as tf\n" + "step()\n" * 9)
    first, formed = (script.variable(name, (), line=2) for name in ("first", "formed"))
    tape = script.tape(line=3)
    state = script.op("Mul", [script.read(first, (), line=4), script.tensor(value=2.0)], line=4)
    made = script.op("Mul", [state, script.read(formed, (), line=5)], line=5)
    state = script.op("AddV2", [state, script.op("ZerosLike", [made], line=5)], line=5)
    target = script.op("Round", [state], line=6, name="loss")
    sources = [first, formed]
    with script.call(tape, [target], sources, line=7, variables=sources) as results:
        results.extend([0, 0])
    causes = [finding.cause for finding in diagnose(script.trace()).calls[0].findings]
    found = [(cause.kind, cause.line) for cause in causes if cause is not None]
    assert found == [("not-differentiable", 6), ("not-connected", 5)]


def test_zeros_of_a_dead_network_are_followed_to_what_clipped_them_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    script = Script("import tensorflow as tf\n" + "step()\n" * 9)
    handles = [script.variable(f"w{number}", (), line=2) for number in range(MANY)]
    tape, made, ops = script.tape(line=3), script.tensor(value=1.0), list[int]()
    for handle in handles:
        product = script.op("Mul", [made, script.read(handle, (), line=4)], line=4, value=-1.0)
        ops.append(script.last_op)
        made = script.op("Relu", [product], line=4, value=0.0)
    target = script.op("Mul", [made, made], line=5, name="loss", value=0.0)
    with script.call(tape, [target], handles, line=6, variables=handles) as results:
        seed = script.op("OnesLike", [target], line=6, value=1.0)
        zero = script.tensor(value=0.0)
        script.step(ops[-1] + 2, [seed], [zero, zero])
        for op in reversed(ops):
            script.step(op + 1, [zero], [zero])
            script.step(op, [zero], [zero, zero])
        results.extend(zero for _ in handles)
    trace, asked = script.trace(), counted(monkeypatch)
    causes = [finding.cause for finding in diagnose(trace).calls[0].findings]
    assert {(cause.kind, cause.op_id) for cause in causes if cause} == {("saturated", ops[-1] + 1)}
    assert MANY < len(asked) < 30 * MANY


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


def test_what_takes_a_variable_is_looked_at_once_for_each_source(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    script = Script("import tensorflow as tf\n" + "step()\n" * 9)
    handles = [script.variable(f"v{number}", (), line=2) for number in range(MANY)]
    written, tape = script.variable("c", (), line=2), script.tape(line=3)
    for handle in handles:
        script.op("AssignVariableOp", [written, script.read(handle, line=4)], outputs=0, line=4)
    target = script.op("Square", [script.read(written, line=5)], line=5, name="loss")
    with script.call(tape, [target], handles, line=6, variables=handles) as results:
        results.extend(0 for _ in handles)
    looked: list[Op] = []
    takers = ends._takers

    def counting(*asked: Any) -> Iterator[Op]:
        for op in takers(*asked):
            looked.append(op)
            yield op

    monkeypatch.setattr(ends, "_takers", counting)
    causes = [finding.cause for finding in diagnose(script.trace()).calls[0].findings]
    assert [cause.kind for cause in causes if cause] == ["not-connected"] * (MANY - 1) + ["assign"]
    assert MANY < len(looked) < 3 * MANY * MANY


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


def test_what_caught_exceptions_read_is_looked_up_once_for_all_sources(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = ["import tensorflow as tf", "made()", "with tape:", " y = x * x", " try: f(x, y)"]
    script = Script("\n".join([*lines, " except: pass", "tape.gradient(y, ws)"]))
    handles = [script.variable(f"w{number}", (), line=2) for number in range(MANY)]
    x = script.tensor(value=1.0, name="x")
    tape = script.tape(line=3)
    target = script.op("Mul", [x, x], line=4, name="y")
    for _ in range(5):
        script.caught("ValueError", "bad", line=5, handler=6)
    with script.call(tape, [target], handles, line=7, variables=handles) as results:
        results.extend(0 for _ in handles)
    asked: list[str] = []
    meant = caught._meant

    def counting(facts: CallFacts, path: str, when: int) -> TensorId | None:
        asked.append(path)
        return meant(facts, path, when)

    monkeypatch.setattr(caught, "_meant", counting)
    diagnose(script.trace())
    assert sorted(asked) == sorted(["f", "x", "y"] * 5)
