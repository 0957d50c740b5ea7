"""Find the op that raised what ended the run, in a call of a compiled function or outside."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ...latest import for_latest
from .handed import innermost_loops

if TYPE_CHECKING:
    from ..model import Trace
    from ..ops import Op

_COMPARED = 1_000
"""Characters of an exception's message, less than what is kept of its beginning."""
_NODE = re.compile(r"\{\{node ([^}]+)\}\}")


def call_that_raised(trace: Trace) -> Op | None:
    """The call whose exception ended the run, if it was computed again up to the op that raised."""
    failed = [op for op in _failed(trace) if op.inside and op.inside.raised]
    return failed[-1] if failed and _ended_run(trace, failed[-1].error) else None


def _failed(trace: Trace) -> list[Op]:
    """The ops that raised, if an exception ended the run."""
    return [op for op in trace.ops.values() if op.error] if trace.failure is not None else []


def _ended_run(trace: Trace, message: str) -> bool:
    """Whether an exception with this message ended the run. A layer of Keras puts words around it
    (Keras 2.15 and 3.0 to 3.15); of a long one the middle is not kept."""
    failure = trace.failure
    return failure is not None and bool(message) and message[:_COMPARED] in failure.message


@for_latest
def op_that_raised(trace: Trace) -> Op | None:
    """The op that the error names (``{{node while/GatherV2}}``, TensorFlow 2.15-2.21), else the
    loop or call that it is in; of a loop the op is drawn with the values of the turn before.
    Outside of such calls see :func:`eager_op_that_raised`."""
    call = call_that_raised(trace)
    if call is None or call.inside is None or trace.failure is None:
        return eager_op_that_raised(trace)
    inside = {op.name: op for op in trace.ops.values() if op.within == call.id}
    names = [*_NODE.findall(trace.failure.message), call.inside.raised]
    return next((inside[name] for name in names if name in inside), None)


@for_latest
def eager_op_that_raised(trace: Trace) -> Op | None:
    """The op outside of compiled functions whose exception ended the run; it has no outputs.

    Words of the exception of an op: ``InvalidArgumentError: …``.
    """
    failed = _failed(trace)
    last = failed[-1] if failed else None
    if last is None or last.graph or last.description.body:
        return None
    return last if _ended_run(trace, last.error.partition(": ")[2]) else None


def raised_words(trace: Trace, op: Op) -> str:
    """``raised``, in a loop ``raised in turn 4``: one after the last that could be computed."""
    loop = trace.loops.get(op.id) or innermost_loops(trace).get(op.id)
    if loop is None or loop.count is None:
        return "raised"
    return f"raised in turn {loop.count + 1}"
