"""Say how far a call of a compiled function got before it raised."""

from __future__ import annotations

import numpy as np

from ...trace.compiled.raised import call_that_raised
from ...trace.ids import TensorId
from ...trace.model import Trace
from ...trace.ops import Op

_MOST_SHOWN = 8
"""Elements of a value that stands in a sentence."""


def reached_words(trace: Trace) -> str:
    """A sentence or two; empty where no such call was computed again up to what raised."""
    call = call_that_raised(trace)
    if call is None or call.inside is None:
        return ""
    raised = call.inside.raised
    inside = (trace.ops[op] for op in call.body if op in trace.ops)
    op = next((op for op in inside if op.name == raised and op.within == call.id), None)
    if op is None:
        return ""
    where = f" on line {op.line}" if op.line else ""
    loop = trace.loops.get(op.id)
    if loop is not None and loop.count is not None:
        return (
            f"It raised in turn {loop.count + 1} of the loop{where}. What was computed "
            f"before that turn was computed again, and the graph shows it."
        )
    given = [words for tensor in op.inputs if (words := _value_words(trace, op, tensor))]
    got = f" got {' and '.join(given)}" if given else " raised"
    return (
        f"{op.type}{where}{got}. What was computed before it in this call was computed again, and "
        f"the graph shows it."
    )


def _value_words(trace: Trace, op: Op, tensor: TensorId) -> str:
    """``b = [1. 2.]``; of a large one the shape."""
    known, value = trace.tensors.get(tensor), trace.value(tensor)
    if known is None or known.is_handle:
        return ""
    name = next(iter(trace.names.get(tensor, ())), "")
    if value is not None and value.size <= _MOST_SHOWN:
        shown = np.array2string(value, separator=", ").replace("\n", "")
        return f"{name} = {shown}" if name else shown
    shape = "?" if known.shape is None else str(tuple(known.shape))
    return f"{name or 'a tensor'} of shape {shape}"
