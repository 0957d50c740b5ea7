"""Find the op that raised what ended the run, in a call of a compiled function or outside."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ...latest import for_latest
from .handed import innermost_loops

if TYPE_CHECKING:
    from ..model import Trace
    from ..ops import Op

_NODE = re.compile(r"\{\{node ([^}]+)\}\}")


def call_that_raised(trace: Trace) -> Op | None:
    """The last such call that was computed again up to the op that raised."""
    if trace.failure is None:
        return None
    calls = [op for op in trace.ops.values() if op.error and op.inside and op.inside.raised]
    return calls[-1] if calls else None


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

    Words of the exception of an op: ``InvalidArgumentError: …``. Those of the run's end hold the
    same message; a layer of Keras puts words around it (Keras 2.15 and 3.0 to 3.15).
    """
    if trace.failure is None:
        return None
    failed = [op for op in trace.ops.values() if op.error]
    last = failed[-1] if failed else None
    if last is None or last.graph or last.description.body:
        return None
    message = last.error.partition(": ")[2]
    return last if message and message in trace.failure.message else None


def raised_words(trace: Trace, op: Op) -> str:
    """``raised``, in a loop ``raised in turn 4``: one after the last that could be computed."""
    loop = trace.loops.get(op.id) or innermost_loops(trace).get(op.id)
    if loop is None or loop.count is None:
        return "raised"
    return f"raised in turn {loop.count + 1}"
