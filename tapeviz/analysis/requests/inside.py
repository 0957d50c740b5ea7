"""Write the request for a backward pass through the inside of one op, step by step.

TensorFlow runs the backward function of a compiled function, or the backward loop of a loop, as a
whole. The ops inside ran again with all their values: the gradient function of each can be called.
"""

from __future__ import annotations

from typing import Any

from ...errors import TapevizError
from ...trace.calls import Call
from ...trace.compiled.rerun_ops import RerunOp
from ...trace.ids import OpId
from ...trace.model import Trace
from ...trace.op_kinds import ops_with
from ...trace.ops import Op
from ..backward.inner_steps import trouble_of
from .loops import lacked_turns, loops_of, ops_in_turns
from .program import carries_gradient
from .replays import run_shown

MOST_STEPS = 20_000
"""The most ops that are walked, counted in every turn of loops."""
_RUNS_GRAPHS = ops_with("branch") | ops_with("loop")
_UNKNOWN = "the op was not looked into"


def has_inside(trace: Trace, identity: OpId | None) -> bool:
    """Whether the steps inside of an op can be asked for: it is a call of a compiled function, or a
    branch or loop in one."""
    op = trace.op(identity)
    function = function_of(trace, op) if op is not None else None
    if op is None or function is None or function.ran_as is None:
        return False
    is_called = op.is_recorded_operation and op.type.startswith("__")
    return op is function or is_called or op.type in _RUNS_GRAPHS


def function_of(trace: Trace, op: Op) -> Op | None:
    """The op itself if it is an eager call of a compiled function, else the call that it ran in."""
    function = trace.op(op.within) if op.within is not None else op
    return function if function is not None and function.runs else None


def lacks_turns(trace: Trace, function: Op) -> bool:
    """Whether a call has a loop of which not all turns were computed again op by op.

    Raises :class:`TapevizError` if their ops are too many.
    """
    loops = loops_of(trace, function)
    if not any(map(lacked_turns, loops)):
        return False
    _check_count(ops_in_turns(loops))
    return True


def _check_count(ops: int) -> None:
    if ops > MOST_STEPS:
        raise TapevizError(f"{ops:,} ops ran in there, more than {MOST_STEPS:,}")


def inner_request(trace: Trace, call: Call, index: int) -> dict[str, Any]:
    """The arguments of the kernel's ``replay`` for the inside of a step.

    Raises :class:`TapevizError` where the inside cannot be walked.
    """
    step = call.steps[index]
    op = trace.op(step.op)
    function = function_of(trace, op) if op is not None else None
    if op is None or function is None:
        raise TapevizError("its op ran no others")
    ran = _ops_inside(trace, op, function)
    _check_count(len(ran))
    seeds = [
        (output, gradient)
        for output, gradient in zip(step.made(op), step.upstream, strict=False)
        if gradient is not None and carries_gradient(trace, output)
    ]
    if any(gradient < 0 and not trace.tensors[gradient].kept for _, gradient in seeds):
        raise TapevizError("the gradient that came to it is not known")
    return {
        "call": call.id,
        **run_shown(trace, call),
        "inner": index,
        "seeds": seeds,
        "program": [["inner", each.number] for each in reversed(ran)],
        "wanted": list(dict.fromkeys(step.taken(op))),
    }


def _ops_inside(trace: Trace, op: Op, function: Op) -> list[RerunOp]:
    rerun = trace.reruns.get(function.id)
    outcome = function.inside
    if rerun is None or outcome is None or not outcome.has_run:
        why = outcome.why if outcome is not None else ""
        raise TapevizError(why or _UNKNOWN)
    ran = list(rerun.all() if op is function else rerun.inside(op.id))
    if not ran:
        raise TapevizError(_UNKNOWN)
    return ran


def check_answer(trace: Trace, call: Call, index: int) -> None:
    """Raise :class:`TapevizError`, with the reason, if the steps inside of a step are not known or
    do not add up to what TensorFlow gave for it."""
    inner = call.inner.get(index)
    trouble = trouble_of(trace, call.steps[index], inner) if inner is not None else _UNKNOWN
    if trouble:
        raise TapevizError(trouble)
