"""A recording that grows, and is read again with other calls of compiled functions opened."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
import pytest

from tapeviz.trace import events as e
from tapeviz.trace.compiled.opening import OpeningChooser, without_values
from tapeviz.trace.compiled.traced_graphs import TracedGraphs
from tapeviz.trace.growing import GrowingTrace
from tapeviz.trace.ids import OpId
from tapeviz.trace.read import Reader, read

SITES = [
    e.SiteSeen(number, [(function, line, 0, line, 9)], caller)
    for number, function, line, caller in ((1, "<module>", 7, 0), (2, "f", 2, 1), (4, "f", 3, 1))
]
# def f(x): return sin(x) * v, traced by its first call, with x = 1.
TRACED = [
    *(e.TensorSeen(tensor, "float32", []) for tensor in (1, -1, -2, -3, -4, -5)),
    e.BodyTraced(on=True, site=1),
    e.OpRan(1, "Sin", [-1], [-2], site=2, graph=1, name="Sin"),
    e.OpRan(2, "ReadVariableOp", [9], [-3], site=2, graph=1, name="Read"),
    e.OpRan(3, "Mul", [-2, -3], [-4], site=4, graph=1, name="mul"),
    e.OpRan(4, "Identity", [-4], [-5], site=1, graph=1, name="Identity"),
    e.BodyTraced(on=False, graph=1, inputs=[-1, 9], outputs=[-5], function="f", line=1),
]
CALLS = range(10, 50, 10)
EVENTS: list[e.Event] = [
    e.Begin(1, "2.21.0", "3.11.7"),
    *SITES,
    e.TensorSeen(9, "resource", [], handle=True),
    e.VariableMade(9, "v", "float32", [], site=1),
    *TRACED,
]
for _call in CALLS:
    EVENTS += [
        e.TensorSeen(_call + 1, "float32", []),
        e.BodiesRun([1], call=_call // 10),
        e.OpRan(_call, "__inference_f_3", [1, 9], [_call + 1], site=1),
    ]
EVENTS.append(e.Ended("finished"))


def grown(events: Iterable[e.Event] = EVENTS) -> GrowingTrace:
    growing = GrowingTrace("", "snippet.py")
    for event in events:
        growing.add(event)
    growing.finish()
    return growing


def test_a_call_opened_later_is_read_as_if_all_had_been_there_at_once() -> None:
    growing, opened = grown(), list[OpId]()
    later: list[e.Event] = []
    for call in (CALLS[1], CALLS[0], CALLS[1]):
        opened = [*(each for each in opened if each != call), OpId(call)]
        later.append(e.Noted(f"before {call}"))
        growing.add(later[-1])
        growing.open(OpId(call), "no values")
        refused = [without_values(each, "no values") for each in opened]
        whole = read([*EVENTS, *later, *refused], b"", "", "snippet.py", opened)
        trace = growing.finish()
        assert {op.within for op in trace.ops.values()} == {None, CALLS[-1], *opened}
        assert trace.ops == whole.ops
        assert trace.notes == whole.notes


def test_no_event_is_read_again_when_a_call_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    fed: list[e.Event] = []
    feed = Reader.feed

    def counting(reader: Reader, event: e.Event) -> None:
        fed.append(event)
        feed(reader, event)

    monkeypatch.setattr(Reader, "feed", counting)
    growing = grown()
    later = []
    for call in CALLS:
        growing.open(OpId(call), "no values")
        later.append(e.Noted(f"after {call}"))
        growing.add(later[-1])
        assert growing.finish().ops[OpId(call)].body
    growing.keep_for_file([b'{"e":"note","message":"for the file"}'], b"")
    assert len(growing.lines) == len(EVENTS) + len(CALLS) + 1
    assert fed == [*EVENTS, *later]


def test_bytes_of_an_answer_stand_at_their_place_after_one_that_came_too_late() -> None:
    growing = GrowingTrace("", "a.py")
    growing.extend([], b"ab")
    growing.keep_for_file([], b"cd", at=5)
    growing.extend([], b"ef", at=7)
    assert growing.values() == b"ab\0\0\0cdef"


def test_another_call_stands_for_the_gradient_calls_of_a_function() -> None:
    """One that was opened before keeps its ops, and gives the gradient call to the new one."""
    asked = [
        e.CallBegan(1, "gradient", 0, [e.RawOperand(-4)], [e.RawOperand(-1)], site=4),
        e.CallEnded(1, [-2]),
    ]
    events = [*EVENTS]
    place = events.index(TRACED[-1])
    growing = grown([*events[:place], *asked, *events[place:]])
    growing.choose_calls()
    before, last = growing.finish(), OpId(CALLS[-1])
    assert [call.within for call in before.calls] == [last]
    growing.open(OpId(CALLS[0]), "no values")
    trace = growing.finish()
    (call,) = trace.calls
    first = OpId(CALLS[0])
    assert (call.within, call.ran) == (first, len(CALLS))
    made = {tensor for op in trace.ops[first].body for tensor in trace.ops[op].outputs}
    assert call.targets[0].tensor in made
    assert trace.ops[last].body == before.ops[last].body
    assert [*trace.ops] == sorted(trace.ops, key=lambda op: trace.ops[op].when)


def test_a_call_that_raised_stands_for_its_function_when_it_is_looked_at() -> None:
    asked = [
        e.CallBegan(1, "gradient", 0, [e.RawOperand(-4)], [e.RawOperand(-1)], site=4),
        e.CallEnded(1, [-2]),
    ]
    place, raised = EVENTS.index(TRACED[-1]), (CALLS[1], CALLS[2])
    events = [
        msgspec.structs.replace(event, error="no", outputs=[])
        if isinstance(event, e.OpRan) and event.id in raised
        else event
        for event in [*EVENTS[:place], *asked, *EVENTS[place:]]
    ]
    events += [without_values(raised[1], "it raised")]  # as the recorder does at the end
    growing = grown(events)
    for looked, stands in ((None, CALLS[3]), (raised[0], raised[0]), (CALLS[0], CALLS[0])):
        if looked is None:
            growing.choose_calls()
        else:
            growing.open(OpId(looked), "no values")
        (call,) = growing.finish().calls
        assert (call.within, call.ran) == (stands, 2)


def test_further_turns_of_a_loop_stay_when_the_inside_of_their_call_stands_last_once_more() -> None:
    growing = grown()
    first, other = (e.InsideComputed(call, graph=1) for call in CALLS[:2])
    first = msgspec.structs.replace(first, values=[(["while", 0], -2, 60, "exact")])
    turn = (["while", 1], -2, 61, "exact")
    for event in (first, other, e.InsideComputed(CALLS[0], graph=1, values=[turn], adds=True)):
        growing.add(event)
    growing.repeat([OpId(CALLS[0]), OpId(CALLS[1])])
    known = OpeningChooser(TracedGraphs())
    for line in growing.lines:
        if isinstance(event := e.decode(line), e.InsideComputed):
            known.computed(event)
    insides = known.choose().insides
    assert list(insides) == [CALLS[0], CALLS[1]]
    assert insides[CALLS[0]].values == [*first.values, turn]


def test_a_branch_that_asks_for_gradients_goes_by_the_latest_call_that_took_it() -> None:
    graphs = TracedGraphs()
    for event in (
        *(e.BodyTraced(on=True, site=1), e.BodyTraced(on=True, site=2)),
        *(e.CallBegan(1, "gradient", 0, [], [], site=2), e.BodyTraced(on=False, graph=2)),
        *(e.BodyTraced(on=True, site=3), e.BodyTraced(on=False, graph=3)),
        *(e.BodiesRun([2, 3], into=1), e.OpRan(1, "If", [-1], [-2], graph=1, name="if")),
        e.BodyTraced(on=False, graph=1),
    ):
        if isinstance(event, e.BodyTraced):
            graphs.turned(event)
        else:
            graphs.keeps(event)
    chooser = OpeningChooser(graphs)
    for call in CALLS:
        chooser.ran(e.OpRan(call, "__inference_f_3", [], []), [1])
    for call, branch in ((40, 1), (30, 0), (20, 0), (40, 1)):
        branches = [([], "if", branch)]
        chooser.computed(e.InsideComputed(call, graph=1, branches=branches, state="equal"))
    assert chooser.choose().representatives == {1: 40, 2: 30, 3: 40}
    assert chooser.choose([20]).representatives == {1: 20, 2: 20, 3: 20}
    assert chooser.choose([20, 40]).representatives == {1: 40, 2: 40, 3: 40}
