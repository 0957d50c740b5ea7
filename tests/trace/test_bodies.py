"""Hand-written events of functions that stay compiled in, the ops of each of their calls out."""

from __future__ import annotations

from tapeviz.trace import events as e
from tapeviz.trace.model import OpId, TensorId, Trace
from tapeviz.trace.read import read

_MODULE = "<module>"


def _site(number: int, *frames: tuple[str, int]) -> e.SiteSeen:
    return e.SiteSeen(number, [(name, line, 0, line, 9) for name, line in frames])


def _tensors(*ids: int) -> list[e.Event]:
    return [e.TensorSeen(one, "float32", []) for one in ids]


def _read(*events: e.Event) -> Trace:
    sites = [
        _site(1, (_MODULE, 7)),
        _site(2, ("f", 2), (_MODULE, 7)),
        _site(3, (_MODULE, 9)),
        _site(4, ("f", 3), (_MODULE, 7)),
    ]
    handle = e.TensorSeen(9, "resource", [], handle=True)
    made = e.VariableMade(9, "v", "float32", [], site=1)
    begin = e.Begin(1, "2.21.0", "3.11.7")
    end = e.Ended("finished")
    return read([begin, *sites, handle, made, *events, end], b"", "", "snippet.py")


# def f(x): return -(sin(x) * v), traced by its first call, with x = 1.
TRACED: list[e.Event] = [
    *_tensors(1, 2, 3, 4, -1, -2, -3, -4, -5, -6),
    e.BodyTraced(on=True, site=1),
    e.OpRan(1, "Sin", [-1], [-2], site=2, graph=1),
    e.OpRan(2, "ReadVariableOp", [9], [-3], site=2, graph=1),
    e.OpRan(3, "Mul", [-2, -3], [-4], site=2, graph=1),
    e.NameBound("y", 2, [(-4, [])]),
    e.OpRan(4, "Neg", [-4], [-5], site=4, graph=1),
    e.OpRan(5, "Identity", [-5], [-6], site=1, graph=1),
    e.BodyTraced(on=False, graph=1, inputs=[-1, 9], outputs=[-6], function="f", line=1),
]
FIRST: list[e.Event] = [e.BodiesRun([1]), e.OpRan(6, "__inference_f_3", [1, 9], [2], site=1)]
SECOND: list[e.Event] = [
    e.BodiesRun([1], first=7),
    e.OpRan(12, "__inference_f_3", [2, 9], [3], site=3),
]


def _inside(trace: Trace, call: int) -> list[tuple[str, tuple[int, ...], tuple[int, ...]]]:
    ops = (trace.ops[one] for one in trace.ops[OpId(call)].body)
    return [(op.type, op.inputs, op.outputs) for op in ops]


def test_the_first_call_goes_by_the_ops_that_were_traced() -> None:
    trace = _read(*TRACED, *FIRST)
    call = trace.ops[OpId(6)]
    assert (call.function, call.function_line, call.body) == ("f", 1, (1, 2, 3, 4))
    # What is returned has the name of what came out; the Identity in between is left out.
    assert _inside(trace, 6) == [
        ("Sin", (1,), (-2,)),
        ("ReadVariableOp", (9,), (-3,)),
        ("Mul", (-2, -3), (-4,)),
        ("Neg", (-4,), (2,)),
    ]
    assert all(trace.ops[one].within == 6 and not trace.ops[one].graph for one in call.body)
    assert trace.producers[TensorId(2)] == 4
    assert trace.names[TensorId(-4)] == ("y",)


def test_a_further_call_has_ops_of_its_own() -> None:
    trace = _read(*TRACED, *FIRST, *SECOND)
    assert trace.ops[OpId(12)].body == (7, 8, 9, 10)
    (sin, _, mul, neg) = _inside(trace, 12)
    assert (sin[1], neg[2]) == ((2,), (3,))
    assert mul[1][0] == sin[2][0] not in (-2, 2)
    assert trace.tensors[TensorId(sin[2][0])].dtype == "float32"
    # Its lines are those of the function, called from another line.
    lines = [frame.line for frame in trace.ops[OpId(7)].site.frames]
    assert lines == [2, 9]
    reads = [version.reads for one in trace.variables.values() for version in one.versions]
    assert [len(one) for one in reads] == [2]


def test_the_entry_of_a_tape_takes_the_place_of_the_call() -> None:
    entry = e.OperationRecorded(7, "__inference_f_3", [1, 9], [2], first=6, function="f", line=1)
    trace = _read(*TRACED, *FIRST, entry)
    assert OpId(6) not in trace.ops
    assert trace.ops[OpId(7)].body == (1, 2, 3, 4)
    assert {trace.ops[OpId(one)].within for one in (1, 2, 3, 4)} == {7}
    assert trace.producers[TensorId(2)] == 4
    (version,) = next(iter(trace.variables.values())).versions
    assert version.touched_by == (7,)


def test_a_tape_inside_is_told_once_and_its_result_has_the_value_that_came_out() -> None:
    asked: list[e.Event] = [
        e.TapeOpened(1, site=2),
        e.TapeTurned(1, True, "enter", site=2),
        e.CallBegan(1, "gradient", 1, [e.Operand(-4)], [e.Operand(-1)], site=2),
        e.CallEnded(1, [-5]),
    ]
    *before, ended = TRACED
    trace = _read(*before, *asked, ended, *FIRST, *SECOND)
    (call,) = trace.calls
    assert (call.results, call.has_run, call.sources[0].tensor) == ((2,), True, 1)
    assert call.site.line == 2


def test_what_never_ran_is_told_at_the_end() -> None:
    asked = e.CallBegan(1, "gradient", 0, [e.Operand(-4)], [e.Operand(-1)], site=2)
    *before, ended = TRACED
    trace = _read(*before, asked, e.CallEnded(1, [0]), ended)
    (call,) = trace.calls
    assert call.ended
    assert not call.has_run
    assert trace.ops[OpId(1)].graph == 1


def test_a_conditional_takes_what_its_branch_gave() -> None:
    branches: list[e.Event] = [
        *_tensors(1, 2, -1, -2, -3, -4, -5, -6),
        e.BodyTraced(on=True, site=1),
        e.OpRan(1, "Greater", [-1, -1], [-2], site=2, graph=1),
        e.BodyTraced(on=True, site=2),
        e.OpRan(2, "Sin", [-1], [-3], site=2, graph=2),
        e.BodyTraced(on=False, graph=2, inputs=[-1], outputs=[-3]),
        e.BodyTraced(on=True, site=2),
        e.OpRan(3, "Cos", [-1], [-4], site=2, graph=3),
        e.BodyTraced(on=False, graph=3, inputs=[-1], outputs=[-4]),
        e.BodiesRun([2, 3], into=1),
        e.OpRan(4, "StatelessIf", [-2, -1], [-5], site=2, graph=1),
        e.BodyTraced(on=False, graph=1, inputs=[-1], outputs=[-5], function="f", line=1),
        e.BodiesRun([1]),
        e.OpRan(5, "__inference_f_3", [1], [2], site=1),
    ]
    trace = _read(*branches)
    assert _inside(trace, 5)[1:] == [
        ("Sin", (1,), (-3,)),
        ("Cos", (1,), (-4,)),
        ("StatelessIf", (-3, -4), (2,)),
    ]
    chosen = _read(*branches, e.BranchChosen([4], 1))
    assert chosen.ops[OpId(4)].inputs == (-4,)


def test_a_loop_has_the_ops_of_one_turn() -> None:
    trace = _read(
        *_tensors(1, 2, -1, -2, -3, -4, -5),
        e.BodyTraced(on=True, site=1),
        e.BodyTraced(on=True, site=2),
        e.OpRan(1, "Sin", [-2], [-3], site=2, graph=2),
        e.BodyTraced(on=False, graph=2, inputs=[-2], outputs=[-3]),
        e.BodiesRun([2], into=1),
        e.OpRan(2, "StatelessWhile", [-1], [-4], site=2, graph=1),
        e.BodyTraced(on=False, graph=1, inputs=[-1], outputs=[-4], function="f", line=1),
        e.BodiesRun([1]),
        e.OpRan(3, "__inference_f_3", [1], [2], site=1),
    )
    assert _inside(trace, 3) == [("Sin", (1,), (2,)), ("StatelessWhile", (1,), (2,))]
    assert trace.ops[OpId(2)].body == (1,)
    assert trace.producers[TensorId(2)] == 1
