"""A compiled step with a tape of its own in; what is asked, told and listed of its calls out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tapeviz.analysis import diagnose
from tapeviz.analysis.inside_words import words_about_values
from tapeviz.analysis.requests.looks import (
    MOST_CALLS,
    MOST_OPS_DRAWN,
    call_before,
    calls_to_look_into,
    calls_without_branch,
)
from tapeviz.cli.report import report
from tapeviz.cli.text import as_text
from tapeviz.recording.kept import KeptRecording
from tapeviz.trace import events as e
from tapeviz.trace.ids import OpId, TensorId
from tapeviz.trace.model import Trace
from tapeviz.trace.read import read
from tapeviz.trace.stored.file import Recording

# def step(x): with tf.GradientTape() as t: t.watch(x); y = x * x; return t.gradient(y, x)
TRACED: list[e.Event] = [
    e.SiteSeen(1, [("<module>", 7, 0, 7, 9)]),
    e.SiteSeen(2, [("step", 4, 0, 4, 9), ("<module>", 7, 0, 7, 9)]),
    *(e.TensorSeen(symbol, "float32", []) for symbol in (-1, -2, -3)),
    e.BodyTraced(on=True, site=1),
    e.TapeOpened(1, site=2),
    e.TapeTurned(1, True, "enter", site=2),
    e.Watched(1, [-1], site=2),
    e.OpRan(1, "Mul", [-1, -1], [-2], site=2, graph=1, name="mul"),
    e.CallBegan(1, "gradient", 1, [e.RawOperand(-2)], [e.RawOperand(-1)], site=2),
    e.OpRan(2, "Mul", [-2, -1], [-3], site=2, graph=1, name="grad", call=1),
    e.StepRan(1, 1, "Mul", [0], [-3, -3]),
    e.CallEnded(1, [-3]),
    e.BodyTraced(on=False, graph=1, inputs=[-1], outputs=[-2], function="step", line=2),
]
VALUE = e.TensorSeen(90, "float32", [], at=0, nbytes=4)


def _calls(count: int) -> list[e.Event]:
    made: list[e.Event] = []
    for number in range(1, count + 1):
        taken, given = 2 * number, 2 * number + 1
        made += [e.TensorSeen(symbol, "float32", []) for symbol in (taken, given)]
        made.append(e.BodiesRun([1], call=number))
        made.append(e.OpRan(2 + number, "__inference_step_1", [taken], [given], site=1))
    return made


def _looked(op: int, word: str = "exact") -> e.Event:
    return e.InsideComputed(op, graph=1, values=[([], -3, 90, word)], state="equal")


BLOB = b"\0\0\x80\x3f"


def _all(*events: e.Event) -> list[e.Event]:
    return [e.Begin(1, "2.21.0", "3.11.7"), *TRACED, *events]


def recorded_calls(count: int, looked: Sequence[int]) -> list[e.Event]:
    """The events of a recording of so many calls; ``looked``: those that were run again."""
    return _all(*_calls(count), e.Ended("finished"), VALUE, *map(_looked, looked))


def _read(*events: e.Event, opened: Sequence[int] = ()) -> Trace:
    return read(_all(*events), BLOB, "", "snippet.py", opened)


def test_a_call_stands_for_all_runs_with_the_values_of_the_last() -> None:
    trace = _read(*_calls(30), e.Ended("finished"), VALUE, _looked(32))
    (listed,) = report(trace, diagnose(trace))["calls"]
    assert (listed["compiled"], listed["ran"], listed["line"]) == (True, 30, 4)
    assert listed["results"][0]["value"] == 1.0
    assert "compiled, ran 30 times, values of the last call" in as_text(trace, diagnose(trace))


# def f(x): for _ in tf.range(…): with tf.GradientTape() as t: …; x = t.gradient(y, x)
LOOPED: list[e.Event] = [
    *TRACED[:2],
    *(e.TensorSeen(symbol, "float32", []) for symbol in (1, 2, -1, -2, -3, -4, -5)),
    e.BodyTraced(on=True, site=1),
    e.BodyTraced(on=True, site=2),
    *TRACED[6:9],
    e.OpRan(1, "Mul", [-1, -1], [-2], site=2, graph=2, name="mul"),
    TRACED[10],
    e.OpRan(2, "Mul", [-2, -1], [-3], site=2, graph=2, name="grad", call=1),
    *TRACED[12:14],
    e.BodyTraced(on=False, graph=2, inputs=[-1], outputs=[-3]),
    e.BodiesRun([2], into=1),
    e.OpRan(3, "StatelessWhile", [-4], [-5], site=2, graph=1, name="while"),
    e.BodyTraced(on=False, graph=1, inputs=[-4], outputs=[-5], function="f", line=1),
    e.BodiesRun([1]),
    e.OpRan(4, "__inference_f_3", [1], [2], site=1),
]


def test_a_call_in_a_loop_ran_once_for_each_turn() -> None:
    each, some = (
        e.InsideComputed(
            4,
            graph=1,
            values=[(["while", turn], name, 90, "exact") for turn, name in enumerate(names)],
            turns=[([], "while", 3)],
            state="equal",
        )
        for names in ((-3, -3, -3), (-3, -2, -3))
    )
    again = [
        *(e.TensorSeen(symbol, "float32", []) for symbol in (3, 4)),
        e.BodiesRun([1], call=2),
        e.OpRan(5, "__inference_f_3", [3], [4], site=1),
    ]
    given = e.TensorSeen(2, "float32", [], at=0, nbytes=4)
    for more, looked, ran, words in (
        ([given], each, 3, "compiled, ran 3 times, values of the last turn)"),
        ([given], some, None, "compiled, ran in a loop in 1 call, values of the last turn)"),
        ([given, *again], each, None, "ran in a loop in 2 calls, values of the last turn)"),
        ([], some, None, "compiled, ran in a loop in 1 call)"),
    ):
        began = e.Begin(1, "2.21.0", "3.11.7")
        events = [began, *LOOPED, *more, e.Ended("finished"), VALUE, looked]
        trace = read(events, BLOB, "", "snippet.py")
        (listed,) = report(trace, diagnose(trace))["calls"]
        assert listed["ran"] == ran
        assert words in as_text(trace, diagnose(trace))


def test_a_call_in_a_branch_in_a_loop_has_the_values_of_the_last_turn_that_took_it() -> None:
    begun = [e.Begin(1, "2.21.0", "3.11.7"), *LOOPED[:2], e.TensorSeen(-6, "float32", [])]
    body = e.BodyTraced(on=True, site=2)
    events = [
        *(*begun, e.TensorSeen(-7, "float32", []), e.TensorSeen(2, "float32", [], at=0, nbytes=4)),
        *(*LOOPED[2:10], body, *LOOPED[10:-5]),
        *(body, e.BodyTraced(on=False, graph=3, inputs=[-6], outputs=[-6])),
        e.BodiesRun([2, 3], into=4),
        e.OpRan(5, "StatelessIf", [-6, -6], [-7], site=2, graph=4, name="cond"),
        e.BodyTraced(on=False, graph=4, inputs=[-6], outputs=[-7]),
        *(e.BodiesRun([4], into=1), *LOOPED[-4:], e.Ended("finished"), VALUE),
    ]
    for taken, count, words in (
        ((0, 0, 1), 3, "ran in a loop in 1 call, values of turn 2, the last in this branch"),
        ((0, 0, 1), 30, "ran in a loop in 1 call, values of turn 2"),
        ((1, 0, 0), 3, "ran in a loop in 1 call, values of the last turn"),
        ((1, 1, 1), 3, "in a branch that did not run"),
        ((1, 1, 1), 30, "in a branch, 1 call"),
    ):
        turned = list(zip((0, 1, count - 1), taken, strict=True))
        inside = e.InsideComputed(
            4,
            graph=1,
            values=[
                *((["while", turn], -6, 90, "exact") for turn in (0, 1, count - 1)),
                *(
                    (["while", turn, "cond", 0], -3, 90, "exact")
                    for turn, branch in turned
                    if branch == 0
                ),
            ],
            branches=[(["while", turn], "cond", branch) for turn, branch in turned],
            turns=[([], "while", count)],
            state="equal",
        )
        trace = read([*events, inside], BLOB, "", "snippet.py")
        assert f"(line 4, compiled, {words})" in as_text(trace, diagnose(trace))
        (listed,) = report(trace, diagnose(trace))["calls"]
        assert listed["results"][0]["value"] == (1.0 if 0 in taken else None)


def test_a_call_in_a_loop_over_a_dataset_has_values_of_each_turn() -> None:
    """The body takes a state, here the first input, and an element, which is no input of the op."""
    body = e.BodyTraced(False, 2, [-4, -1], [-3, -3, -2], "Dataset_scan_scan_body")
    looped = [
        *(*LOOPED[:-6], e.TensorSeen(-6, "variant", []), body),
        e.BodiesRun([2], into=1, given=[-4, 0]),
        e.OpRan(3, "ReduceDataset", [-6, -4], [-5], site=2, graph=1, name="reduce"),
        *LOOPED[-3:],
    ]
    values = [
        (["reduce", turn], symbol, tensor, "exact")
        for turn, element in enumerate((91, 92))
        for symbol, tensor in ((-1, element), (-3, 90))
    ]
    inside = e.InsideComputed(4, 1, values=values, turns=[([], "reduce", 2)], state="equal")
    seen = [e.TensorSeen(tensor, "float32", []) for tensor in (91, 92)]
    seen += [VALUE, e.TensorSeen(2, "float32", [], at=0, nbytes=4)]
    events = [e.Begin(1, "2.21.0", "3.11.7"), *looped, e.Ended("finished"), *seen]
    trace = read([*events, inside], BLOB, "", "snippet.py")
    (listed,) = report(trace, diagnose(trace))["calls"]
    assert (listed["ran"], listed["results"][0]["value"]) == (2, 1.0)
    (loop,) = trace.loops.values()
    drawn = listed_source(trace)
    assert [loop.turns[turn,][drawn] for turn in range(2)] == [91, 92]
    closed = e.InsideComputed(4, 1, values=[], turns=[], state="equal")
    trace = read([*events[:-1], closed], BLOB, "", "snippet.py")
    assert "One that shuffles" in words_about_values(trace, trace.calls[0])


def listed_source(trace: Trace) -> TensorId:
    """The tensor of the first source, by the id drawn."""
    (source,) = trace.calls[0].sources
    assert isinstance(source.tensor, int)
    return source.tensor


def test_a_gradient_that_goes_back_through_a_loop_is_not_made_in_it() -> None:
    events = [
        e.Begin(1, "2.21.0", "3.11.7"),
        *TRACED[:2],
        *(e.TensorSeen(symbol, "float32", []) for symbol in (1, 2, 3, 4, -1, -2, -3, -4, -5)),
        *TRACED[5:11],
        e.BodyTraced(on=True, site=2),
        e.OpRan(2, "Mul", [-4, -4], [-5], site=2, graph=2, name="grad", call=1),
        e.BodyTraced(on=False, graph=2, inputs=[-4], outputs=[-5]),
        e.BodiesRun([2], into=1),
        e.OpRan(3, "StatelessWhile", [-2], [-3], site=2, graph=1, name="while", call=1),
        *TRACED[12:],
        e.BodiesRun([1]),
        e.OpRan(4, "__inference_step_1", [1], [2], site=1),
        e.BodiesRun([1], call=2),
        e.OpRan(5, "__inference_step_1", [3], [4], site=1),
        e.Ended("finished"),
        VALUE,
        e.InsideComputed(
            5,
            graph=1,
            values=[([], -3, 90, "exact"), (["while", 0], -5, 90, "exact")],
            turns=[([], "while", 3)],
            state="equal",
        ),
    ]
    trace = read(events, BLOB, "", "snippet.py")
    assert len(trace.loops) == 1
    assert "compiled, ran 2 times, values of the last call)" in as_text(trace, diagnose(trace))


def test_a_call_in_a_branch_ran_in_some_calls_which_are_not_counted() -> None:
    begun = [e.Begin(1, "2.21.0", "3.11.7"), *LOOPED[:-4]]
    given = e.TensorSeen(2, "float32", [], at=0, nbytes=4)
    for calls, values, ran, words in (
        (2, [], None, "(line 4, compiled, in a branch that call 1 did not take, 2 calls)"),
        (1, [], None, "(line 4, compiled, in a branch that did not run)"),
        (1, [(["if", 0], -3, 90, "exact")], 1, "(line 4, compiled, ran once)"),
    ):
        events = [
            *begun,
            e.OpRan(3, "StatelessIf", [-4, -4], [-5], site=2, graph=1, name="if"),
            LOOPED[-3],
            *(given, *LOOPED[-2:])[: 3 * calls],
            *(event for number in range(1, calls) for event in _again(number)),
            e.Ended("finished"),
            VALUE,
            e.InsideComputed(4, graph=1, values=values, state="equal"),
        ]
        trace = read(events, BLOB, "", "snippet.py")
        (listed,) = report(trace, diagnose(trace))["calls"]
        assert listed["ran"] == ran
        assert words in as_text(trace, diagnose(trace))
        without = [trace.ops[op] for op in calls_without_branch(trace)]
        assert bool(without) == (not values)
        assert not any(call_before(trace, op) for op in without)  # it is the first


def _again(number: int) -> list[e.Event]:
    taken, given = 2 * number + 1, 2 * number + 2
    return [
        *(e.TensorSeen(symbol, "float32", []) for symbol in (taken, given)),
        e.BodiesRun([1], call=number + 1),
        e.OpRan(4 + number, "__inference_f_3", [taken], [given], site=1),
    ]


def _again_for(graph: int) -> list[e.Event]:
    """``step`` is traced again, for another kind of arguments, and made for this graph."""
    symbols = (-11, -12, -13)
    return [
        *(e.TensorSeen(symbol, "float32", [2]) for symbol in symbols),
        e.BodyTraced(on=True, site=1),
        e.TapeOpened(2, site=2),
        e.TapeTurned(2, True, "enter", site=2),
        e.Watched(2, [-11], site=2),
        e.OpRan(3, "Mul", [-11, -11], [-12], site=2, graph=graph, name="mul"),
        e.CallBegan(2, "gradient", 2, [e.RawOperand(-12)], [e.RawOperand(-11)], site=2),
        e.OpRan(4, "Mul", [-12, -11], [-13], site=2, graph=graph, name="grad", call=2),
        e.StepRan(2, 3, "Mul", [0], [-13, -13]),
        e.CallEnded(2, [-13]),
        e.BodyTraced(on=False, graph=graph, inputs=[-11], outputs=[-12], function="step", line=2),
    ]


def _traced_twice(*ran: int, is_none: bool = False) -> Trace:
    """``step`` is traced for two kinds of arguments; in turn it ran the traces ``ran``.
    ``is_none``: the gradient of the second is None."""
    second = _again_for(2)
    if is_none:
        second = [e.CallEnded(2, [0]) if isinstance(s, e.CallEnded) else s for s in second]
    calls: list[e.Event] = []
    for number, graph in enumerate(ran, 1):
        taken, given = 2 * number, 2 * number + 1
        calls += [e.TensorSeen(symbol, "float32", []) for symbol in (taken, given)]
        calls.append(e.BodiesRun([graph], call=ran[:number].count(graph)))
        calls.append(e.OpRan(4 + number, f"__inference_step_{graph}", [taken], [given], site=1))
    return _read(*second, *calls, e.Ended("finished"))


def test_each_trace_of_a_function_has_the_calls_that_ran_it() -> None:
    trace = _traced_twice(1, 1, 2)
    words = as_text(trace, diagnose(trace))
    assert "(line 4, compiled, trace 1 of 2, ran 2 times" in words
    assert "(line 4, compiled, trace 2 of 2, ran once" in words


def test_branches_of_a_trace_are_no_traces() -> None:
    """Both call a Python function with the tape; a lambda in generated code has no place."""
    symbols = (1, 2, 3, 4, -21, -22)
    calls = [
        (e.BodiesRun([9], call=call), e.OpRan(9 + call, "__inference_f_9", [given], [got], site=1))
        for call, given, got in ((1, 1, 2), (2, 3, 4))
    ]
    trace = _read(
        *_again_for(2),
        *(e.TensorSeen(symbol, "float32", []) for symbol in symbols),
        e.BodyTraced(on=True, site=1),
        e.BodiesRun([1, 2], into=9),
        e.OpRan(9, "StatelessIf", [-21, -21], [-22], site=2, graph=9, name="if"),
        e.BodyTraced(on=False, graph=9, inputs=[-21], outputs=[-22], function="f", line=1),
        *(event for call in calls for event in call),
        e.Ended("finished"),
    )
    words = as_text(trace, diagnose(trace))
    assert "line 4, 2 rounds, compiled, in a branch, 2 calls" in words


def test_traces_that_ran_once_each_are_rounds() -> None:
    trace = _traced_twice(1, 2)
    words = as_text(trace, diagnose(trace))
    assert words.startswith("line 4, 2 rounds, compiled, traced anew for each round")


def test_why_a_gradient_is_none_is_said_once_for_all_traces() -> None:
    trace = _traced_twice(1, 1, 2, is_none=True)
    words = as_text(trace, diagnose(trace))
    assert words.startswith("line 4, 2 rounds, compiled, ran 3 times in 2 traces, each a round")
    assert "None in round 2 only" in words


def test_a_function_that_a_dataset_runs_is_not_said_never_to_have_run() -> None:
    ended = e.BodyTraced(on=False, graph=1, inputs=[-1], outputs=[-2], function="Dataset_map_f")
    for calls, ran in ((2, 2), (0, None)):  # a function of the snippet may have such a name
        trace = read(
            [
                e.Begin(1, "2.21.0", "3.11.7"),
                *(*TRACED[:-1], ended, *_calls(calls)),
                e.Ended("finished"),
            ],
            BLOB,
            "",
            "snippet.py",
        )
        (listed,) = report(trace, diagnose(trace))["calls"]
        assert (listed["compiled"], listed["ran"]) == (True, ran)
    assert "(line 4, compiled, in a function of a dataset)" in as_text(trace, diagnose(trace))


def test_a_value_that_nobody_knows_is_null() -> None:
    trace = _read(*_calls(2), e.Ended("finished"))
    (listed,) = report(trace, diagnose(trace))["calls"]
    assert (listed["ran"], listed["results"][0]["value"]) == (2, None)


def test_another_call_says_which_it_is() -> None:
    trace = _read(*_calls(3), e.Ended("finished"), VALUE, _looked(4))
    assert "ran 3 times, values of call 2" in as_text(trace, diagnose(trace))


def test_a_gradient_that_was_computed_beside_the_run_says_so() -> None:
    for word, is_noted in (("exact", False), ("beside", True)):
        trace = _read(*_calls(2), e.Ended("finished"), VALUE, _looked(4, word))
        (listed,) = report(trace, diagnose(trace))["calls"]
        assert ("inside" in listed) == is_noted
        assert ("last digits" in as_text(trace, diagnose(trace))) == is_noted
        assert listed["results"][0]["value"] == 1.0


def test_a_function_that_never_ran() -> None:
    trace = _read(e.Ended("finished"))
    (listed,) = report(trace, diagnose(trace))["calls"]
    assert (listed["compiled"], listed["ran"]) == (True, 0)
    assert "traced, never run" in as_text(trace, diagnose(trace))


def test_what_the_kernel_is_asked_to_run_again() -> None:
    trace = _read(*_calls(5), e.Ended("finished"))
    assert calls_to_look_into(trace) == [7]
    assert calls_to_look_into(trace, 2) == [4]
    assert calls_to_look_into(trace, 9) == [7]
    looked = _read(*_calls(5), e.Ended("finished"), VALUE, _looked(7))
    assert calls_to_look_into(looked) == []


def test_reading_is_linear_in_calls() -> None:
    """One call of many is expanded; each of the others is an op."""
    for count in (10, 1_000):
        trace = _read(*_calls(count), e.Ended("finished"))
        assert len(trace.ops) == count + 2
        assert [bool(trace.ops[op].body) for op in trace.functions[1].calls[-2:]] == [False, True]


def test_an_answer_about_another_run_of_the_function_does_not_count() -> None:
    answers = [
        e.ReplayRan(1, [], {"4": 90}, within=op, share=share)
        for op in (4, 5)
        for share in ([], [0])
    ]
    checked = e.Checked(1, 4, error=0.0, agrees=True, within=4)
    for op, has_check in ((4, True), (5, False), (6, False)):
        (call,) = _read(*_calls(4), e.Ended("finished"), *answers, checked, opened=[op]).calls
        assert call.within == op
        assert (call.replay is not None, bool(call.shares)) == (op < 6, op < 6)
        assert bool(call.checks) == has_check


def test_one_that_never_ran_stands_where_it_was_traced() -> None:
    later: list[e.Event] = [
        e.TapeOpened(2, site=1),
        e.CallBegan(2, "gradient", 2, [e.RawOperand(50)], [e.RawOperand(51)], site=1),
        e.CallEnded(2, [0]),
    ]
    trace = _read(*later, e.Ended("finished"))
    assert [call.has_run for call in trace.calls] == [True, False]
    assert [call.call.line for call in diagnose(trace).calls] == [4, 7]


def test_a_recording_from_a_file_says_why_it_has_no_values() -> None:
    events = _all(*_calls(3), e.Ended("finished"), VALUE, _looked(5))
    kept = KeptRecording(Recording("", "snippet.py", tuple(map(e.encode, events)), BLOB))
    trace = kept.look_into(OpId(3))
    inside = trace.ops[OpId(3)].inside
    assert inside is not None
    assert (inside.state, "comes from a file" in inside.why) == ("unchecked", True)
    assert set(trace.words.values()) == {"unknown"}
    (call,) = kept.look_into(OpId(5)).calls
    assert call.within == 5
    assert kept.wait().value(call.results[0] or TensorId(0)) == 1.0


def test_slices_are_added_up_by_their_row_numbers() -> None:
    events: list[e.Event] = [
        *(e.TensorSeen(symbol, "float32", [3, 1]) for symbol in (-1, -2)),
        e.TensorSeen(-3, "int32", [3]),
        e.CallBegan(1, "gradient", 0, [e.RawOperand(-1)], [e.RawOperand(-1)]),
        e.StepRan(1, 0, "Gather", [0], [-2]),
        e.CallEnded(1, [-2], sparse=[0], slices=[(0, -3, 4)]),
        e.TensorSeen(90, "float32", [3, 1], at=0, nbytes=12),
        e.TensorSeen(91, "int32", [3], at=12, nbytes=12),
        e.SessionFetched([(-2, 90), (-3, 91)]),
    ]
    rows, numbers = np.array([1.5, 2.0, 4.0], np.float32), np.array([2, 0, 2], np.int32)
    trace = read(events, rows.tobytes() + numbers.tobytes(), "", "snippet.py")
    (call,) = trace.calls
    (result,) = call.results
    assert result is not None
    assert call.steps[0].downstream == (result,)
    value = trace.value(result)
    assert value is not None
    assert value.tolist() == [[2.0], [0.0], [5.5], [0.0]]


# loss = step(x) under an eager tape, once for each round
def _rounds(count: int, size: int = 1, *, gives: bool = True) -> list[e.Event]:
    made: list[e.Event] = []
    for symbol in range(-3 - size, -2):
        made.append(e.TensorSeen(symbol, "float32", []))
    made.append(e.BodyTraced(on=True, site=1))
    for number in range(size):
        made.append(
            e.OpRan(1 + number, "Neg", [-3], [-4 - number], site=2, graph=1, name=f"n{number}")
        )
    made.append(e.BodyTraced(on=False, graph=1, inputs=[-3], outputs=[-4], function="step", line=2))
    for number in range(1, count + 1):
        taken, given = 2 * number, 2 * number + 1
        made += [e.TensorSeen(symbol, "float32", []) for symbol in (taken, given)]
        made.append(e.TapeOpened(number, site=1))
        made.append(e.TapeTurned(number, True, "enter", site=1))
        made.append(e.Watched(number, [taken], site=1))
        made.append(e.BodiesRun([1], call=number))
        made.append(e.OpRan(size + number, "__inference_step_1", [taken], [given], site=1))
        made.append(e.TapeTurned(number, False, "exit", site=1))
        operands = [e.RawOperand(given)], [e.RawOperand(taken)]
        made.append(e.CallBegan(number, "gradient", number, *operands, site=1))
        made.append(e.CallEnded(number, [taken if gives else e.NONE]))
    sites = [
        e.SiteSeen(1, [("<module>", 7, 0, 7, 9)]),
        e.SiteSeen(2, [("step", 4, 0, 4, 9), ("<module>", 7, 0, 7, 9)]),
    ]
    return [e.Begin(1, "2.21.0", "3.11.7"), *sites, *made, e.Ended("finished")]


def test_the_inside_of_a_small_call_is_drawn_at_first() -> None:
    trace = read(_rounds(5), b"", "", "snippet.py")
    assert calls_to_look_into(trace) == [6]
    assert calls_to_look_into(trace, 2) == [3]
    assert calls_to_look_into(trace, 9) == [6]


def test_the_first_of_many_rounds_in_trouble_is_drawn_at_first() -> None:
    trace = read(_rounds(MOST_CALLS + 10, gives=False), b"", "", "snippet.py")
    asked = calls_to_look_into(trace)
    assert len(asked) == MOST_CALLS + 1
    assert asked[0] == 2


def test_the_inside_of_a_large_call_is_not_asked_for() -> None:
    trace = read(_rounds(2, MOST_OPS_DRAWN + 1), b"", "", "snippet.py")
    assert trace.functions[1].size == MOST_OPS_DRAWN + 1
    assert calls_to_look_into(trace) == []
