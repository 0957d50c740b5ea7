"""Keep the tensor whose numbers left TensorFlow, and use it where just these come back."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ...trace.ids import TensorId
from ...trace.model import Leave, Trace
from ...trace.stats import Array
from ..model import Edit, FixCase
from ..nodes import bare, called_name, dotted, header_nodes
from ..plan import Plan
from ..source import ParsedSource
from ..translation.numpy_words import LEAVING_FUNCTIONS, LEAVING_METHODS, without_exit

_MAKING = ("constant", "convert_to_tensor", "cast")
_WRITING = ("str", "repr", "format", "json.dump", "json.dumps", "yaml.dump", "yaml.safe_dump")


def keep_beside_text(case: FixCase) -> Iterator[Edit]:
    """:func:`keep_what_left` where the numbers leave into a text, which then stays as it is."""
    if any(dotted(call.func) in _WRITING for call in case.nodes(cst.Call)):
        yield from keep_what_left(case)


def keep_what_left(case: FixCase) -> Iterator[Edit]:
    """``s = json.dumps(x.numpy().tolist()); y = tf.constant(json.loads(s))`` →
    ``x_kept = tf.convert_to_tensor(x)`` before, and ``y = x_kept``: whatever Python does with the
    numbers in between (a file, a text), if they come back as they were."""
    source, trace = case.source, case.trace
    leaves = [leave for leave in trace.leaves if leave.site.line == case.cause.line]
    first = source.statement(case.cause.line)
    if first is None:
        return
    for leave in leaves[:1]:
        exits = [call for call in header_nodes(first, cst.Call) if _is_exit(call)]
        outer = [c for c in exits if not any(c in source.ancestors(other) for other in exits)]
        for line in _lines_of_return(trace, leave, case.call.when) if len(outer) == 1 else ():
            yield from _kept(source, case.cause.line, outer[0], line)


def _kept(source: ParsedSource, line: int, left: cst.Call, back: int) -> Iterator[Edit]:
    first, last = source.statement(line), source.statement(back)
    if first is None or last is None or source.function_of(first) is not source.function_of(last):
        return
    made = [
        call
        for call in header_nodes(last, cst.Call)
        if called_name(call) in _MAKING and dotted(call.func) != called_name(call)
    ]
    if len(made) != 1:
        return
    value = without_exit(left)
    plan = Plan(source)
    name = plan.fresh_name(f"{value.value}_kept" if isinstance(value, cst.Name) else "kept")
    plan.before(first, f"{name} = {source.tf}.convert_to_tensor({source.code(bare(value))})")
    plan.replace(made[0], name)
    yield from plan.edits(f"Keep the tensor as {name}, and use it where its numbers come back")


def _is_exit(call: cst.Call) -> bool:
    is_method = isinstance(call.func, cst.Attribute) and called_name(call) in LEAVING_METHODS
    return is_method or (dotted(call.func) in LEAVING_FUNCTIONS and len(call.args) == 1)


def _lines_of_return(trace: Trace, leave: Leave, until: int) -> list[int]:
    """The lines of ops that take a constant with just the numbers that left."""
    numbers = trace.value(leave.tensor)
    found: dict[int, None] = {}
    for op in trace.ops.values():
        if numbers is None or not leave.when < op.when < until or op.call is not None:
            continue
        if any(_is_same(trace, tensor, numbers) for tensor in op.inputs):
            found[op.line] = None
    return list(found)


def _is_same(trace: Trace, tensor: TensorId, numbers: Array) -> bool:
    value = trace.value(tensor) if tensor not in trace.producers else None
    return value is not None and value.shape == numbers.shape and bool((value == numbers).all())
