"""Hand-written events of compiled functions in, their calls and the inside of opened ones out."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from tapeviz.analysis.run_words import tracing_words
from tapeviz.graph.scope import find_scope
from tapeviz.graph.trace_index import TraceIndex
from tapeviz.trace import events as e
from tapeviz.trace.compiled.traced_graphs import TracedGraph
from tapeviz.trace.ids import OpId, TensorId, VariableId
from tapeviz.trace.model import Trace
from tapeviz.trace.ops import Op
from tapeviz.trace.read import Reader, read

_MODULE = "<module>"


def _site(number: int, *frames: tuple[str, int]) -> e.SiteSeen:
    return e.SiteSeen(number, [(name, line, 0, line, 9) for name, line in frames])


def _tensors(*ids: int) -> list[e.Event]:
    return [e.TensorSeen(tensor, "float32", []) for tensor in ids]


def _story(*events: e.Event) -> list[e.Event]:
    sites = [
        _site(1, (_MODULE, 7)),
        _site(2, ("f", 2), (_MODULE, 7)),
        _site(3, (_MODULE, 9)),
        _site(4, ("f", 3), (_MODULE, 7)),
    ]
    handle = e.TensorSeen(9, "resource", [], handle=True)
    made = e.VariableMade(9, "v", "float32", [], initial=99, site=1)
    begin = e.Begin(1, "2.21.0", "3.11.7")
    return [begin, *sites, handle, made, *events]


def _read(*events: e.Event, opened: Sequence[int] = ()) -> Trace:
    ended = () if any(isinstance(event, e.Ended) for event in events) else (e.Ended("finished"),)
    return read([*_story(*events), *ended], b"", "", "snippet.py", opened)


# def f(x): return -(sin(x) * v), traced by its first call, with x = 1.
TRACED: list[e.Event] = [
    *_tensors(1, 2, 3, 4, -1, -2, -3, -4, -5, -6),
    e.BodyTraced(on=True, site=1),
    e.OpRan(1, "Sin", [-1], [-2], site=2, graph=1, name="Sin"),
    e.OpRan(2, "ReadVariableOp", [9], [-3], site=2, graph=1, name="Read"),
    e.OpRan(3, "Mul", [-2, -3], [-4], site=2, graph=1, name="mul"),
    e.NameBound("y", 2, [(-4, [])]),
    e.OpRan(4, "Neg", [-4], [-5], site=4, graph=1, name="Neg"),
    e.OpRan(5, "Identity", [-5], [-6], site=1, graph=1, name="Identity"),
    e.BodyTraced(on=False, graph=1, inputs=[-1, 9], outputs=[-6], function="f", line=1),
]
FIRST: list[e.Event] = [
    e.BodiesRun([1], call=1),
    e.OpRan(6, "__inference_f_3", [1, 9], [2], site=1),
]
SECOND: list[e.Event] = [
    e.BodiesRun([1], call=2),
    e.OpRan(7, "__inference_f_3", [2, 9], [3], site=3),
]
LOOKED = e.InsideComputed(
    7,
    graph=1,
    whole=True,
    call=2,
    of=2,
    values=[([], -2, 71, "exact"), ([], -3, 72, "exact"), ([], -4, 73, "beside")],
    ops=[([], "Sin", 901), ([], "mul", 903)],
    state="equal",
)


def _inside(trace: Trace, call: Op) -> list[tuple[str, tuple[int, ...], tuple[int, ...]]]:
    """The ops of a call, with 0 for tensors that have no value."""
    ops = (trace.ops[op] for op in call.body)
    return [(op.type, _known(op.inputs), _known(op.outputs)) for op in ops]


def _known(tensors: Sequence[TensorId]) -> tuple[int, ...]:
    return tuple(tensor if tensor > 0 else 0 for tensor in tensors)


def test_the_inside_of_the_only_call() -> None:
    trace = _read(*TRACED, *FIRST)
    call = trace.ops[OpId(6)]
    assert (call.function, call.function_line, call.runs, call.round) == ("f", 1, 1, 1)
    # What is returned has the name of what came out; the Identity in between is left out.
    assert _inside(trace, call) == [
        ("Sin", (1,), (0,)),
        ("ReadVariableOp", (9,), (0,)),
        ("Mul", (0, 0), (0,)),
        ("Neg", (0,), (2,)),
    ]
    sin, read_op, mul, neg = (trace.ops[op] for op in call.body)
    assert mul.inputs == (*sin.outputs, *read_op.outputs)
    assert neg.inputs == mul.outputs
    assert all(op.within == 6 and (op.graph, op.traced) == (0, 1) for op in (sin, mul, neg))
    assert trace.producers[TensorId(2)] == neg.id
    assert trace.names[mul.outputs[0]] == ("y",)
    assert (trace.tensors[mul.outputs[0]].dtype, trace.words) == ("float32", {})


def test_the_last_call_is_opened_unless_another_is_looked_at() -> None:
    trace = _read(*TRACED, *FIRST, *SECOND)
    assert not trace.ops[OpId(6)].body
    assert len(trace.ops[OpId(7)].body) == 4
    assert trace.functions[1].calls == (6, 7)
    # Its lines are those of the function, called from another line.
    inside = trace.ops[trace.ops[OpId(7)].body[0]]
    assert [frame.line for frame in inside.site.frames] == [2, 9]
    both = _read(*TRACED, *FIRST, *SECOND, opened=[6])
    assert [len(both.ops[OpId(call)].body) for call in (6, 7)] == [4, 4]
    # Ids stay what they are when another call is opened.
    assert both.ops[OpId(7)].body == trace.ops[OpId(7)].body
    assert trace.ops.keys() < both.ops.keys()


def test_while_it_runs_the_first_call_is_open() -> None:
    reader = Reader("", "snippet.py")
    for event in _story(*TRACED, *FIRST, *SECOND):
        reader.feed(event)
    trace = reader.trace(b"")
    assert [len(trace.ops[OpId(call)].body) for call in (6, 7)] == [4, 0]


def test_values_of_a_call_that_was_looked_into() -> None:
    trace = _read(*TRACED, *FIRST, *SECOND, e.Ended("finished"), *_tensors(71, 72, 73), LOOKED)
    call = trace.ops[OpId(7)]
    assert _inside(trace, call) == [
        ("Sin", (2,), (71,)),
        ("ReadVariableOp", (9,), (72,)),
        ("Mul", (71, 72), (73,)),
        ("Neg", (73,), (3,)),
    ]
    assert (call.body[0], call.body[2]) == (901, 903)
    assert call.is_open
    assert call.inside is not None
    assert call.inside.state == "equal"
    assert trace.words == {73: "beside"}
    (version,) = next(iter(trace.variables.values())).versions
    assert version.reads == (72,)


def test_two_tensors_with_one_value_stay_two() -> None:
    same = [([], -2, 71, "exact"), ([], -4, 71, "exact")]
    looked = e.InsideComputed(7, graph=1, values=same)
    value = e.TensorSeen(71, "float32", [], stats=[1, 1, 1, 1, 0, 0])
    trace = _read(*TRACED, *FIRST, *SECOND, e.Ended("finished"), value, looked)
    sin, _, mul, _ = (trace.ops[op] for op in trace.ops[OpId(7)].body)
    assert sin.outputs == (71,)
    assert mul.outputs != (71,)
    assert trace.fetched[mul.outputs[0]] == 71
    assert trace.stats(mul.outputs[0]) == trace.stats(TensorId(71)) is not None


def test_the_entry_of_a_tape_takes_the_place_of_the_call() -> None:
    entry = e.OperationRecorded(7, "__inference_f_3", [1, 9], [2], first=6, function="f", line=1)
    trace = _read(*TRACED, *FIRST, entry)
    assert OpId(6) not in trace.ops
    call = trace.ops[OpId(7)]
    assert (call.ran_as, call.runs, trace.functions[1].calls) == (6, 1, (7,))
    assert {trace.ops[op].within for op in call.body} == {7}
    assert trace.producers[TensorId(2)] == call.body[-1]
    (version,) = next(iter(trace.variables.values())).versions
    assert version.touched_by == (7,)


ASKED: list[e.Event] = [
    e.TapeOpened(1, site=2),
    e.TapeTurned(1, True, "enter", site=2),
    e.CallBegan(1, "gradient", 1, [e.RawOperand(-4)], [e.RawOperand(-1)], site=2),
    e.StepRan(1, 3, "Mul", [-4], [-2, 0]),
    e.CallEnded(1, [-5]),
]


def test_a_gradient_call_inside_stands_for_all_calls_of_the_function() -> None:
    *before, ended = TRACED
    events = [*before, *ASKED, ended, *FIRST, *SECOND]
    trace = _read(*events)
    (call,) = trace.calls
    assert (call.traced, call.ran, call.within, call.has_run) == (1, 2, 7, True)
    assert (call.results, call.sources[0].tensor, call.site.line) == ((3,), 2, 2)
    assert call.steps[0].op == trace.ops[OpId(7)].body[2]
    looked = _read(*events, opened=[6])
    (call,) = looked.calls
    assert (call.ran, call.within, call.results) == (2, 6, (2,))


def test_ops_of_a_gradient_call_in_another_call_are_of_none_that_is_told() -> None:
    *before, ended = TRACED
    backward = e.OpRan(8, "Mul", [-4], [-7], site=2, graph=1, name="grad", call=1)
    events = [*before, *ASKED[:3], backward, ASKED[-1], ended]
    trace = _read(*events, *FIRST, *SECOND, opened=[6, 7])
    calls = [trace.ops[trace.ops[OpId(call)].body[-1]].call for call in (6, 7)]
    assert calls[1] == trace.calls[0].id == 1
    assert calls[0] not in (None, 1)


def test_what_never_ran_is_told_at_the_end() -> None:
    *before, ended = TRACED
    trace = _read(*before, ASKED[2], e.CallEnded(1, [0]), ended)
    (call,) = trace.calls
    assert call.ended
    assert (call.ran, call.has_run) == (0, False)
    assert trace.ops[OpId(1)].graph == 1


# def f(x): v.assign(x); v.assign_add(x)
WRITING: list[e.Event] = [
    *_tensors(1, 2, -1),
    e.BodyTraced(on=True, site=1),
    e.OpRan(1, "AssignVariableOp", [9, -1], [], site=2, graph=1, name="a"),
    e.OpRan(2, "AssignAddVariableOp", [9, -1], [], site=2, graph=1, name="b"),
    e.BodyTraced(on=False, graph=1, inputs=[-1, 9], outputs=[], function="f", line=1),
    *(e.BodiesRun([1], call=1), e.OpRan(3, "__inference_f_3", [1, 9], [], site=1)),
    *(e.BodiesRun([1], call=2), e.OpRan(4, "__inference_f_3", [2, 9], [], site=1)),
    e.OpRan(5, "ReadVariableOp", [9], [6], site=1),
]


def test_a_call_makes_as_many_versions_whether_it_is_opened_or_not() -> None:
    trace = _read(*WRITING)
    versions = next(iter(trace.variables.values())).versions
    inside = trace.ops[OpId(4)].body
    assert [version.op for version in versions] == [None, 3, 3, *inside]
    assert [version.index for version in versions] == [0, 1, 2, 3, 4]
    assert (versions[0].touched_by, versions[2].touched_by) == ((3,), (4,))
    assert versions[4].reads == (6,)
    assert trace.writes.keys() == set(inside)
    opened = _read(*WRITING, opened=[3])
    assert len(next(iter(opened.variables.values())).versions) == 5


# def f(x): return sin(x) if x > x else cos(x)
BRANCHES: list[e.Event] = [
    *_tensors(1, 2, -1, -2, -3, -4, -5, -6),
    e.BodyTraced(on=True, site=1),
    e.OpRan(1, "Greater", [-1, -1], [-2], site=2, graph=1, name="Greater"),
    e.BodyTraced(on=True, site=2),
    e.OpRan(2, "Sin", [-1], [-3], site=2, graph=2, name="Sin"),
    e.BodyTraced(on=False, graph=2, inputs=[-1], outputs=[-3]),
    e.BodyTraced(on=True, site=2),
    e.OpRan(3, "Cos", [-1], [-4], site=2, graph=3, name="Cos"),
    e.BodyTraced(on=False, graph=3, inputs=[-1], outputs=[-4]),
    e.BodiesRun([2, 3], into=1),
    e.OpRan(4, "StatelessIf", [-2, -1], [-5], site=2, graph=1, name="cond"),
    e.BodyTraced(on=False, graph=1, inputs=[-1], outputs=[-5], function="f", line=1),
    e.BodiesRun([1]),
    e.OpRan(5, "__inference_f_3", [1], [2], site=1),
]


def test_a_conditional_takes_what_its_branch_gave() -> None:
    trace = _read(*BRANCHES)
    call = trace.ops[OpId(5)]
    assert [op for op, _, _ in _inside(trace, call)[1:]] == ["Sin", "Cos", "StatelessIf"]
    _, sin, cos, joined = (trace.ops[op] for op in call.body)
    assert joined.inputs == (*sin.outputs, *cos.outputs)
    assert joined.outputs == (2,)


def test_of_a_conditional_that_was_looked_at_only_the_branch_that_ran_is_there() -> None:
    looked = e.InsideComputed(
        5,
        graph=1,
        values=[(["cond", 0], -4, 71, "exact")],
        branches=[([], "cond", 1)],
        ops=[([], "cond", 900)],
    )
    trace = _read(*BRANCHES, e.Ended("finished"), *_tensors(71), looked)
    assert _inside(trace, trace.ops[OpId(5)])[1:] == [
        ("Cos", (1,), (71,)),
        ("StatelessIf", (71,), (2,)),
    ]
    assert trace.ops[OpId(5)].body[-1] == 900


# def f(x): for _ in tf.range(…): x = sin(x)
LOOP: list[e.Event] = [
    *_tensors(1, 2, -1, -2, -3, -4, -5),
    e.BodyTraced(on=True, site=1),
    e.BodyTraced(on=True, site=2),
    e.OpRan(1, "Sin", [-2], [-3], site=2, graph=2, name="Sin"),
    e.OpRan(2, "Neg", [-3], [-5], site=2, graph=2, name="Neg"),
    e.BodyTraced(on=False, graph=2, inputs=[-2], outputs=[-5]),
    e.BodiesRun([2], into=1),
    e.OpRan(3, "StatelessWhile", [-1], [-4], site=2, graph=1, name="while"),
    e.BodyTraced(on=False, graph=1, inputs=[-1], outputs=[-4], function="f", line=1),
    e.BodiesRun([1]),
    e.OpRan(4, "__inference_f_3", [1], [2], site=1),
]


def test_a_loop_has_the_ops_of_one_turn() -> None:
    trace = _read(*LOOP)
    call = trace.ops[OpId(4)]
    assert [op for op, _, _ in _inside(trace, call)] == ["Sin", "Neg", "StatelessWhile"]
    (loop,) = trace.loops.values()
    assert (loop.body, loop.carried, loop.count) == (call.body[:2], ((1, 2),), None)
    assert trace.ops[loop.op].body == loop.body
    assert trace.producers[TensorId(2)] == loop.body[1]


def test_the_turns_of_a_loop_that_was_looked_at() -> None:
    values: list[tuple[list[str | int], int, int, str]] = [
        (["while", 0], -2, 50, "exact"),
        (["while", 0], -3, 51, "exact"),
        (["while", 0], -5, 52, "exact"),
        (["while", 1], -2, 53, "exact"),
        (["while", 1], -3, 54, "exact"),
        (["while", 1], -5, 55, "exact"),
    ]
    looked = e.InsideComputed(4, graph=1, values=values, turns=[([], "while", 2)])
    trace = _read(*LOOP, e.Ended("finished"), *_tensors(*range(50, 56)), looked)
    call = trace.ops[OpId(4)]
    (loop,) = trace.loops.values()
    # The last turn is drawn, from what the loop was given to what it gave.
    assert _inside(trace, call)[:2] == [("Sin", (1,), (54,)), ("Neg", (54,), (2,))]
    assert loop.count == 2
    assert loop.turns == {(0,): {1: 50, 54: 51, 2: 52}, (1,): {1: 53, 54: 54, 2: 55}}


def test_further_turns_are_added_to_those_known() -> None:
    last: list[tuple[list[str | int], int, int, str]] = [(["while", 9], -3, 50, "exact")]
    looked = e.InsideComputed(4, graph=1, values=last, turns=[([], "while", 10)])
    rows: list[tuple[list[str | int], int, int, str]] = [
        (["while", 4], -3, 51, "exact"),
        (["while", 9], -3, 52, "exact"),
    ]
    more = e.InsideComputed(4, graph=1, values=rows, adds=True)
    trace = _read(*LOOP, e.Ended("finished"), *_tensors(50, 51, 52), looked, more)
    (loop,) = trace.loops.values()
    assert {turn: list(known.values()) for turn, known in loop.turns.items()} == {
        (9,): [50],
        (4,): [51],
    }
    alone = _read(*LOOP, e.Ended("finished"), *_tensors(50, 51, 52), more)
    assert not any(loop.turns for loop in alone.loops.values())


def test_a_loop_that_ran_no_turn_hands_on_what_it_was_given() -> None:
    looked = e.InsideComputed(4, graph=1, turns=[([], "while", 0)])
    trace = _read(*LOOP, e.Ended("finished"), looked)
    assert _inside(trace, trace.ops[OpId(4)]) == [("StatelessWhile", (1,), (2,))]
    assert not trace.loops


def test_calls_that_an_eager_gradient_may_have_gone_through_are_opened() -> None:
    taped: list[e.Event] = [e.TapeOpened(1, site=1), e.TapeTurned(1, True, "enter", site=1)]
    asked = e.CallBegan(1, "gradient", 1, [e.RawOperand(3)], [e.RawOperand(1)], site=1)
    third: list[e.Event] = [
        e.BodiesRun([1], call=3),
        e.OpRan(8, "__inference_f_3", [3, 9], [4], site=3),
    ]
    trace = _read(*TRACED, *FIRST, *taped, *SECOND, asked, e.CallEnded(1, [0]), *third)
    assert [bool(trace.ops[OpId(call)].body) for call in (6, 7, 8)] == [False, True, True]


def test_threads_trace_at_once() -> None:
    """What another thread does while a graph is traced is not of that graph."""
    other: list[e.Event] = [
        e.BodyTraced(on=True, site=1, tracer=1),
        e.OpRan(11, "Cos", [-11], [-12], site=4, graph=2, name="Cos", thread=1, tracer=1),
    ]
    apart: list[e.Event] = [
        e.TapeOpened(1, False, True, 3),
        e.TapeTurned(1, on=True, why="enter"),
        e.OpRan(12, "Mul", [1, 1], [2], site=3),
    ]
    ended = e.BodyTraced(False, 2, [-11], [-12], function="g", line=3, tracer=1)
    runs = e.BodiesRun([2], call=1, tracer=1)
    call = e.OpRan(15, "__inference_g_4", [1], [13], site=3, thread=1)
    own, other_tensors = [*TRACED[10:]], _tensors(-11, -12, 13)
    trace = _read(
        *TRACED[:10], *other_tensors, *own[:2], *other, *apart, *own[2:], runs, ended, *FIRST, call
    )
    assert [op.type for op in map(trace.ops.__getitem__, trace.ops[OpId(6)].body)] == [
        "Sin",
        "ReadVariableOp",
        "Mul",
        "Neg",
    ]
    assert [trace.ops[op].type for op in trace.ops[OpId(15)].body] == ["Cos"]
    assert len(trace.tapes) == 1
    assert [trace.ops[OpId(each)].function for each in (6, 15)] == ["f", "g"]


def test_while_a_function_is_traced_its_line_is_named_and_not_drawn() -> None:
    set_up: list[e.Event] = [
        *_tensors(20, 21),
        e.OpRan(1, "Fill", [], [20], site=3, name="before"),
        e.BodyTraced(on=True, site=1),
        e.OpRan(2, "RandomUniform", [], [21], site=1, name="Initializer"),
    ]
    reader = Reader("", "snippet.py")
    for event in _story(*set_up):
        reader.feed(event)
    trace = reader.trace(b"")
    assert tracing_words(trace) == "tracing line 7"
    assert find_scope(TraceIndex(trace, {}), None).ops == {OpId(1)}
    reader.feed(e.Ended("finished"))
    trace = reader.trace(b"", is_kept=False)
    assert tracing_words(trace) == ""
    assert find_scope(TraceIndex(trace, {}), None).ops == {OpId(1), OpId(2)}


def test_a_function_that_no_known_line_traces_hides_no_ops() -> None:
    reader = Reader("", "snippet.py")
    ran = e.OpRan(1, "Fill", [], [20], name="made")
    for event in _story(*_tensors(20), ran, e.BodyTraced(on=True)):
        reader.feed(event)
    trace = reader.trace(b"")
    assert tracing_words(trace) == ""
    assert find_scope(TraceIndex(trace, {}), None).ops == {OpId(1)}


# def f(x, flag): if flag: w.assign(x) -- where f also takes v, which it does not write to.
_BRANCHES: list[e.Event] = [
    *_tensors(1, -1, -2),
    e.TensorSeen(8, "resource", [], handle=True),
    e.VariableMade(8, "w", "float32", [], initial=99, site=1),
    e.BodyTraced(on=True, site=1),
    e.BodyTraced(on=True, site=2),
    e.OpRan(1, "AssignVariableOp", [8, -1], [], site=2, graph=2, name="assign"),
    e.BodyTraced(on=False, graph=2, inputs=[9, 8, -1], outputs=[]),
    e.BodyTraced(on=True, site=2),
    e.BodyTraced(on=False, graph=3, inputs=[9, 8, -1], outputs=[]),
    e.BodiesRun([2, 3], into=1),
    e.OpRan(2, "If", [-2, 9, 8, -1], [], site=2, graph=1, name="cond"),
    e.BodyTraced(on=False, graph=1, inputs=[-1, -2, 9, 8], outputs=[], function="f", line=1),
]


def test_a_branch_of_a_call_that_is_not_opened_writes_to_its_own_variable() -> None:
    calls = [
        event
        for number in (10, 20)
        for event in (e.BodiesRun([1]), e.OpRan(number, "__inference_f", [1, 1, 9, 8], [], site=1))
    ]
    trace = _read(*_BRANCHES, *calls)
    made = {id_: [at.op for at in known.versions] for id_, known in trace.variables.items()}
    inside = trace.ops[OpId(20)].body[0]
    assert made == {9: [None], 8: [None, 10, inside]}


def test_a_branch_that_did_not_run_wrote_nothing() -> None:
    """Later versions have the numbers that are left, and later reads see the version before."""
    calls: list[e.Event] = []
    for number in (10, 20):
        calls += [e.BodiesRun([1]), e.OpRan(number, "__inference_f", [1, 1, 9, 8], [], site=1)]
        calls += _tensors(number + 1)
        calls += [e.OpRan(number + 1, "ReadVariableOp", [8], [number + 1], site=3)]
    calls.append(e.OpRan(30, "AssignVariableOp", [8, 1], [], site=3))
    looked = e.InsideComputed(10, graph=1, branches=[([], "cond", 1)], state="equal")
    trace = _read(*_BRANCHES, *calls, e.Ended("finished"), looked)
    versions = trace.variables[VariableId(TensorId(8))].versions
    assert [(at.index, at.reads) for at in versions] == [(0, (11,)), (1, (21,)), (2, ())]
    assert versions[2].op == 30
    assert trace.reads[TensorId(11)] is versions[0]
    assert trace.writes[OpId(30)] is versions[2]


def test_a_call_on_another_thread_is_on_the_tapes_of_that_thread() -> None:
    def called(number: int, thread: int) -> list[e.Event]:
        tape, entry = number + 100, number + 1
        return [
            e.TapeOpened(tape, False, True, site=1),
            e.TapeTurned(tape, True, "enter", site=1, thread=thread),
            *_tensors(number),
            e.BodiesRun([1], tracer=thread),
            e.OpRan(number, "__forward_f_3", [1, 9], [number], site=3, thread=thread),
            e.OperationRecorded(entry, "__forward_f_3", [1, 9], [number], first=number, site=3),
            e.TapeTurned(tape, False, "exit", site=1, thread=thread),
        ]

    trace = _read(*TRACED, *called(10, 1), *called(20, 2))
    assert [trace.ops[OpId(entry)].tapes for entry in (11, 21)] == [{110}, {120}]
    assert [trace.ops[op].tapes for op in trace.ops[OpId(21)].body] == [set(), {120}, {120}, {120}]
    watched = {id_: [watch.tensor for watch in tape.watches] for id_, tape in trace.tapes.items()}
    assert watched == {110: [9], 120: [9]}


def test_a_tape_of_a_replica_keeps_the_ops_of_each_call() -> None:
    """tf.distribute traces each replica on a thread of its own, inside of the function."""
    begun, *ops, ended = TRACED[TRACED.index(e.BodyTraced(on=True, site=1)) :]
    replica = [
        msgspec.structs.replace(op, thread=1) if isinstance(op, e.OpRan) else op for op in ops
    ]
    tape: list[e.Event] = [
        e.TapeOpened(7, False, True, site=2),
        e.TapeTurned(7, True, "enter", site=2, thread=1),
        *replica,
        e.TapeTurned(7, False, "exit", site=2, thread=1),
    ]
    call = e.OpRan(10, "__inference_f_3", [1, 9], [2], site=3)
    tensors = TRACED[: TRACED.index(begun)]
    trace = _read(*tensors, begun, *tape, ended, e.BodiesRun([1]), call)
    kept = {op.type: op.tapes for op in trace.ops.values() if op.within == 10}
    assert [kept[name] for name in ("Sin", "Mul", "Neg")] == [set(), {7}, {7}]


def test_names_in_a_vectorized_function_have_the_values_of_all_elements() -> None:
    graph = TracedGraph(e.BodyTraced(on=True))
    for number, name in enumerate(
        ("sin", "mul", "sin/pfor/Shape", "sin/pfor/Sin", "sin/pfor/Sin/pfor/Sin"), 1
    ):
        graph.events.append(e.OpRan(number, "Sin", [], [-number], name=name))
    assert graph.vectorized == {-1: -5, -4: -5}
