"""Say what has to be known of the values of a compiled call that was run again."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Literal

from ..trace.calls import Call
from ..trace.compiled.model import Loop, RerunOutcome
from ..trace.ids import TensorId
from ..trace.model import Trace
from ..trace.op_kinds import ops_with
from ..trace.ops import Op
from ..wording import counted
from .model import Diagnosis
from .requests.loops import has_values, lacked_turns, loops_around, loops_of
from .rounds.call_sites import CallSite
from .rounds.traces import graph_of_trace, trace_number

Doubt = Literal["", "beside", "unknown", "differs"]
"""How a value inside of a compiled call is known: exactly; computed separately, since TensorFlow
merged the step with others; not at all; from a second run that gave other results."""
DOUBT_WORDS: Mapping[Doubt, str] = MappingProxyType(
    {
        "beside": "computed beside it: TensorFlow merged this step with others",
        "unknown": "not known: what this step gave in the compiled function was not computed again",
        "differs": "from a second run of the call, which gave other results",
    }
)


_DATASET_LOOPS = ops_with("dataset-loop")

_MERGED = (
    "TensorFlow merged the last step of this gradient with others: the value was computed "
    "separately, and may differ from the run's in the last digits."
)


def doubt_about(trace: Trace, tensor: TensorId | None) -> Doubt:
    """The doubt that belongs to the value of a tensor."""
    word = trace.words.get(tensor) if tensor is not None else None
    if word is None or tensor is None:
        return ""
    call = call_around(trace, tensor)
    is_other = call is not None and call.inside is not None and call.inside.state == "differs"
    return "differs" if is_other and word == "beside" else word


def call_around(trace: Trace, tensor: TensorId) -> Op | None:
    """The call of a compiled function that a tensor was computed in."""
    made = trace.maker(tensor)
    return trace.op(made.within) if made is not None else None


def call_words(trace: Trace, op: Op) -> str:
    """``call 3 of train_step``; of a function that was called once its name alone."""
    function = trace.functions.get(op.runs)
    if function is None:
        return op.function or "this call"
    name = function.name or "the function"
    return f"call {op.round:,} of {name}" if len(function.calls) > 1 else name


def run_words(trace: Trace, op: Op) -> str:
    """``call 3 of 50`` of an eager call of a compiled function; empty if it is the only one."""
    function = trace.functions.get(op.runs)
    count = len(function.calls) if function is not None else 0
    return f"call {op.round:,} of {count:,}" if count > 1 else ""


def inside_words(trace: Trace, op: Op) -> str:
    """A sentence about values inside of a call that are not exactly those of the run; empty where
    they are, or where nobody looked."""
    inside = op.inside
    if inside is None or inside.state == "equal":
        return ""
    call = call_words(trace, op)
    if inside.state == "differs":
        return (
            f"To look inside, {call} ran a second time, and it gave other results than in the run: "
            f"{inside.why}. The values inside are those of the second time."
        )
    if inside.has_run:
        return f"The values inside {call} could not be compared with the run: {inside.why}."
    return f"The values inside {call} are not known: {inside.why}."


def short_words(inside: RerunOutcome | None) -> str:
    """The same in a few words, for where there is little room."""
    if inside is None or inside.state == "equal":
        return ""
    if inside.state == "differs":
        return "second run differs"
    return "not compared" if inside.has_run else "values inside not known"


def runs_words(trace: Trace, call: Call) -> tuple[str, ...]:
    """How often a gradient call made in a compiled function ran, and which time is shown:
    ``compiled``, ``trace 1 of 2``, ``ran 50 times``, ``values of call 17``. Nothing for one that
    ran eagerly."""
    if not call.traced:
        return ()
    if not call.has_run:
        return ("traced, never run",)
    if call.in_dataset:
        return ("compiled", "in a function of a dataset")
    number, traces = trace_number(trace, call)
    which = (f"trace {number} of {traces}",) if traces else ()
    return ("compiled", *which, *_times_words(trace, call))


def site_words(trace: Trace, diagnosis: Diagnosis, site: CallSite) -> tuple[str, ...]:
    """:func:`runs_words` for all rounds of a call site: those of one trace, which a loop in Python
    made, ran together; for rounds of several traces ``compiled`` and :func:`traces_words`."""
    first = diagnosis.calls[site.places[0]].call
    if not first.traced:
        return ()
    words = traces_words(trace, diagnosis, site)
    return ("compiled", words) if words else runs_words(trace, first)


def traces_words(trace: Trace, diagnosis: Diagnosis, site: CallSite) -> str:
    """Say what the rounds of a call site in a compiled function are, if of several traces:
    ``traced anew for each round``; ``ran 33 times in 11 traces, each a round`` where some ran more
    than once; ``11 traces`` where a loop in Python makes several rounds of one."""
    calls = [diagnosis.calls[place].call for place in site.places]
    graphs = {graph_of_trace(trace, call) for call in calls if call.traced}
    if len(graphs) < 2:
        return ""
    if len(graphs) < len(calls):
        return f"{len(graphs):,} traces"
    ran = sum(call.ran for call in calls)
    return (
        f"ran {ran:,} times in {len(graphs):,} traces, each a round"
        if ran > len(calls)
        else "traced anew for each round"
    )


def _times_words(trace: Trace, call: Call) -> tuple[str, ...]:
    turns, count = loops_around(trace, call), times_ran(trace, call)
    calls = counted(call.ran, "call")
    if turns:
        has_results = any(result is not None for result in call.results)
        is_shown = not has_results or has_values(trace, call)
        shown = (_turn_words(turns[0], call),) if is_shown else ()
        if count is not None:
            return ("ran once" if count == 1 else f"ran {count:,} times", *shown)
        return (f"ran in a loop in {calls}", *shown)
    if count is None:
        times = f"in a branch, {calls}"
    else:
        times = "ran once" if count == 1 else f"ran {count:,} times"
    opened = trace.op(call.within)
    is_unknown = count is None and not has_values(trace, call)
    if opened is None or (call.ran == 1 and not is_unknown):
        return (times,)
    function = trace.functions.get(opened.runs)
    is_last = function is None or opened.round == len(function.calls)
    which = "the last call" if is_last else f"call {opened.round:,}"
    if is_unknown:
        has_results = any(result is not None for result in call.results)
        is_read = not any(map(lacked_turns, loops_of(trace, opened)))
        is_equal = opened.inside is not None and opened.inside.state == "equal"
        is_skipped = has_results and is_equal and is_read
        skipped = "did not run" if call.ran == 1 else f"{which} did not take, {calls}"
        return (f"in a branch that {skipped}" if is_skipped else times,)
    return (times, f"values of {which}")


def _turn_words(loop: Loop, call: Call) -> str:
    """Say which turn the values of a gradient call in a loop are from: the last that ran it."""
    shown = loop.earlier_turn(call.results)
    if not shown:
        return "values of the last turn"
    *around, turn = (number + 1 for number in shown)
    within = "".join(f", in turn {number:,} of the loop around it" for number in reversed(around))
    last = "" if lacked_turns(loop) else ", the last in this branch"
    return f"values of turn {turn:,}{within}{last}"


def times_ran(trace: Trace, call: Call) -> int | None:
    """How often a gradient call made in a compiled function ran. None if it stands in a loop of
    the function and its turns are not known in all calls: they are in a single call that is opened,
    of a loop in no other. None, too, if some turns lack its results: a branch did not run there;
    and if it stands in a branch of the function, unless that ran in the only call; and if a dataset
    runs it."""
    if call.in_dataset:
        return None
    loops = loops_around(trace, call)
    if not loops or not call.ran:
        is_known = not call.in_branch or (call.ran == 1 and has_values(trace, call))
        return call.ran if is_known or not call.ran else None
    results = {result for result in call.results if result is not None}
    known = [not results.isdisjoint(turn) for turn in loops[0].turns.values()]
    is_in_each = all(known) or not any(known)
    return loops[0].count if call.ran == len(loops) == 1 and is_in_each else None


def words_about_values(trace: Trace, call: Call) -> str:
    """:func:`inside_words` for the run whose values a gradient call has; for one that ran eagerly,
    for the latest opened call under its tape whose second run differs."""
    shown = trace.op(call.within)
    if shown is None and not call.traced:
        shown = max(_differing(trace, call), key=lambda op: op.when, default=None)
    words = inside_words(trace, shown) if shown is not None else ""
    is_merged = bool(trace.words) and any(
        doubt_about(trace, result) == "beside" for result in call.results
    )
    return words or (_MERGED if is_merged else _closed_loop_words(trace, call))


def _closed_loop_words(trace: Trace, call: Call) -> str:
    """Why a gradient call in a loop over a dataset has no values, although a call of the compiled
    function around it ran again."""
    if not any(result is not None for result in call.results) or has_values(trace, call):
        return ""
    for op in (trace.ops[loop.op] for loop in loops_around(trace, call)):
        if op.type in _DATASET_LOOPS:
            return (
                f"The turns of the loop on line {op.line} are not known: they can be computed "
                f"again only if its dataset gives the same elements once more, and not too many. "
                f"One that shuffles, draws random numbers or calls Python does not."
            )
    return ""


def _differing(trace: Trace, call: Call) -> Iterator[Op]:
    """Opened calls under the tape of an eager gradient call that gave other results again."""
    tape = trace.tape(call.tape)
    if tape is None:
        return
    for function in trace.functions.values():
        end = bisect_left(function.calls, call.when, key=lambda op: trace.ops[op].when)
        for op in (trace.ops[number] for number in reversed(function.calls[:end])):
            if op.when < tape.when:
                break
            if call.tape in op.tapes and op.inside is not None and op.inside.state == "differs":
                yield op
