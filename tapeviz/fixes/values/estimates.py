"""Give an op without a slope an estimated one, or put a smooth neighbour in its place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TypeAlias

import libcst as cst

from ...trace.ids import TensorId
from ...trace.model import Leave, Trace
from ...trace.op_kinds import ops_with
from ...trace.ops import Op
from ..forms import match
from ..model import Edit, FixCase
from ..nodes import argument, as_term, called_name, dotted, is_call_to, sole, with_arguments
from ..plan import Plan, fitting
from ..rewrites import CallRewrite
from ..smooth.argmax import answers_of, are_probabilities
from ..smooth.indices import input_shape
from ..source import ParsedSource

_COMPUTED = (cst.Call, cst.BinaryOperation)
_MOST_BEFORE = 12
_DECODING = ops_with("decodes-picture")
_MOST_OFF = 0.25
_MOST_OFF_TEXT = 1e-3
_MOST_OFF_PICTURE = 0.75
"""How far a value may be from itself, to its norm: with small changes; written as digits and read
again; encoded as a picture and decoded, which loses half of noise and little of a photograph."""


def straight_through(
    source: ParsedSource, call: cst.BaseExpression, number: cst.BaseExpression
) -> str:
    """``x + tf.stop_gradient(f(x) - x)``: the value of the call, the slope of the number."""
    x = source.operand(number)
    return f"{x} + {source.tf}.stop_gradient({source.code(call)} - {x})"


def _with_slope(case: FixCase, call: cst.Call) -> str:
    """``tf.round(x)`` → ``x + tf.stop_gradient(tf.round(x) - x)``: its value, the slope of x."""
    number = _passed(case, call)
    if number is None or dotted(call.func) == called_name(call):
        return ""
    return straight_through(case.source, call.with_changes(lpar=[], rpar=[]), number)


def _passed(_: FixCase, call: cst.Call) -> cst.BaseExpression | None:
    """The argument through which the gradient is to pass."""
    given = argument(call, 0, "x", "t", "input", "inputs")
    is_bound = called_name(call) in ("maximum", "minimum")
    if given is not None and is_bound and isinstance(given, cst.BaseNumber):
        given = call.args[-1].value
    return given


def straight_through_any(case: FixCase) -> Iterator[Edit]:
    """``f(x)`` → ``x + tf.stop_gradient(f(x) - x)`` for a call of any name, where the op at the cut
    gives real numbers of the form of what it took."""
    source, trace = case.source, case.trace
    op = trace.op(case.cause.op_id)
    if op is None or not op.inputs or not op.outputs:
        return
    taken, made = trace.tensors.get(op.inputs[0]), trace.tensors.get(op.outputs[0])
    if taken is None or made is None or taken.form != made.form or "float" not in made.dtype:
        return
    for call in source.nodes(cst.Call, case.cause.line):
        if len(call.args) == 1 and not call.args[0].star and source.covers(call, case.cause.line):
            plan = Plan(source)
            plan.named(call.args[0].value)
            plan.replace(call, partial(_passed_by, source, call))
            name = source.code(call.func)
            yield from plan.edits(f"Estimate: let the gradient pass {name} as if it were not there")


def _passed_by(source: ParsedSource, place: cst.Call, call: cst.Call) -> cst.BaseExpression:
    text = straight_through(source, call, call.args[0].value)
    return fitting(source, place, cst.parse_expression(text))


STRAIGHT_THROUGH = CallRewrite(
    (
        *("round", "rint", "floor", "ceil", "sign", "clip_by_value", "maximum", "minimum"),
        "fake_quant_with_min_max_args",
    ),
    _with_slope,
    "Estimate: let the gradient pass {name} as if it were not there",
    repeated=_passed,
)


def _unrounded(case: FixCase, call: cst.Call) -> str:
    """``x`` of ``tf.round(x)``; nothing before a cast to integers, which would cut it."""
    for _, (given, dtype) in with_arguments(case.source.calls_to("cast"), "x", "dtype"):
        if case.source.value_of(given) is call and "int" in case.source.code(dtype):
            return ""
    return case.source.code(call.args[0].value) if call.args else ""


LEAVE_OUT_ROUNDING = CallRewrite(
    ("round", "rint", "floor", "ceil"),
    _unrounded,
    "Estimate: compute with the number itself, without {name}",
)
"""Where the slope at the rounded number is zero, as that of a cross entropy is at 0 and 1, a
straight-through estimate gives zeros."""


def straight_through_names(case: FixCase) -> Iterator[Edit]:
    """``y = x + tf.stop_gradient(y - x)`` after ``y`` is made, where it is ``x`` with small changes
    that have no slope: compressed, rounded, written as text and read again, on however many lines.
    The same of what a function returns, and of numbers that left TensorFlow and came back.
    """
    source, trace = case.source, case.trace
    cut = trace.op(case.cause.op_id)
    leave = next((each for each in trace.leaves if each.site.line == case.cause.line), None)
    if cut is not None:
        is_text = any(trace.tensors[t].dtype == "string" for t in cut.outputs if t in trace.tensors)
        most_off = _MOST_OFF_TEXT if is_text else _MOST_OFF
        known = [*_made_before(trace, cut.inputs)]
        found = _made_after(trace, cut, case.call.when)
    elif leave is not None:
        most_off, known = _MOST_OFF_TEXT, [*_made_before(trace, [leave.tensor])]
        found = _bound_after(trace, leave, case.call.when)
    else:
        return
    for tensor, line, name, is_decoded in found:
        statement = source.statement(line)
        made = sole(statement)
        most = _MOST_OFF_PICTURE if is_decoded else most_off
        alike = [x for x, t in known if _are_alike(trace, t, tensor, most)]
        given = source.parameters(statement) if statement is not None else ()
        before = next(iter([*filter(given.__contains__, alike), *alike]), "")
        if not before or before == name or statement is None:
            continue
        plan = Plan(source)
        if name and isinstance(statement, cst.SimpleStatementLine):
            text = f"{name} = {before} + {source.tf}.stop_gradient({name} - {before})"
            plan.after(statement, text)
        elif isinstance(made, cst.Return) and isinstance(made.value, _COMPUTED):
            text = straight_through(source, as_term(made.value), cst.Name(before))
            plan.replace(made.value, text)
        else:
            continue
        title = f"Estimate: let the gradient pass from {name or 'what is returned'} to {before}"
        yield from plan.edits(f"{title} as if they were the same", is_estimate=True)
        return


_Made: TypeAlias = "Iterator[tuple[TensorId, int, str, bool]]"
"""Tensors in the order of time: each with the line that gave it a name, and that name; else with
the line that made it, and no name; and whether it was decoded from an encoded picture."""


def _made_after(trace: Trace, cut: Op, until: int) -> _Made:
    """Tensors that are made of the outputs of the op at the cut."""
    bound = {t: b for b in reversed(trace.bindings) for t, path in b.tensors if path == b.name}
    derived, decoded = set(cut.outputs), set[TensorId]()
    for op in trace.ops.values():
        if cut.when <= op.when < until and (op is cut or derived & set(op.inputs)):
            derived.update(op.outputs)
            is_decoded = op.type in _DECODING or bool(decoded & set(op.inputs))
            decoded.update(op.outputs if is_decoded else ())
            for tensor in op.outputs:
                binding = bound.get(tensor)
                if binding is not None:
                    yield tensor, binding.site.line, binding.name, is_decoded
                else:
                    yield tensor, op.line, "", is_decoded


def _bound_after(trace: Trace, leave: Leave, until: int) -> _Made:
    """Constants that got a name since a value left: its numbers may have come back in them."""
    for binding in trace.bindings:
        for tensor, path in binding.tensors if leave.when < binding.when < until else ():
            if path == binding.name and tensor not in trace.producers:
                yield tensor, binding.site.line, path, False


def _made_before(trace: Trace, taken: Sequence[TensorId]) -> Iterator[tuple[str, TensorId]]:
    """The names of what was taken and of what that was made from, the nearest first; of a variable
    the tensor that was read."""
    waiting = list(taken)
    seen: list[TensorId] = []
    while waiting and len(seen) < _MOST_BEFORE:
        tensor = waiting.pop(0)
        seen.append(tensor)
        variable, maker = trace.variable(tensor), trace.maker(tensor)
        is_read = maker is not None and maker.type == "ReadVariableOp"
        for name in trace.names.get(maker.inputs[0] if maker and is_read else tensor, ()):
            reads = [t for version in variable.versions for t in version.reads] if variable else []
            yield from ((name, read) for read in reads or [tensor])
        waiting += maker.inputs if maker is not None and not is_read else ()


def _are_alike(trace: Trace, first: TensorId, second: TensorId, most: float) -> bool:
    """Whether two tensors of several real numbers have the same form, and differ by ``most`` of
    their norm at most: where the numbers are not kept, their norms by a tenth. What was written as
    digits may be a number alone."""
    x, y = trace.tensors.get(first), trace.tensors.get(second)
    if x is None or y is None or (x.shape, x.dtype) != (y.shape, y.dtype):
        return False
    a, b = trace.value(first), trace.value(second)
    if "float" not in x.dtype or ((x.size or 0) < 2 and most > _MOST_OFF_TEXT):
        return False
    if a is not None and b is not None:
        off, size = float(((a - b) ** 2).sum()), float((a**2).sum())
        return off <= most**2 * size
    norms = [stats.norm or 0.0 for t in (first, second) if (stats := trace.stats(t)) is not None]
    return len(norms) == 2 and abs(norms[0] - norms[1]) <= 0.1 * norms[0]


_IS_LARGEST = (
    "_y == reduce_max(_y, *_)",
    "_y >= reduce_max(_y, *_)",
    "reduce_max(_y, *_) == _y",
    "reduce_max(_y, *_) <= _y",
    "equal(_y, reduce_max(_y, *_), *_)",
    "equal(reduce_max(_y, *_), _y, *_)",
    "greater_equal(_y, reduce_max(_y, *_), *_)",
)


def straight_through_largest(case: FixCase) -> Iterator[Edit]:
    """``tf.cast(tf.equal(y, tf.reduce_max(y, -1, keepdims=True)), tf.float32)`` → its value, with
    the gradient of y, as straight-through Gumbel-softmax has it (Jang, Gu and Poole 2017)."""
    source = case.source
    plan = Plan(source)
    for back in case.calls("cast"):
        if asked := match(back, *(f"cast({form}, *_)" for form in _IS_LARGEST)):
            plan.replace(back, straight_through(source, back, asked[0]))
    title = "Estimate: straight-through, the choice with the gradient of what it chose by"
    yield from plan.edits(title)


def straight_through_top(case: FixCase) -> Iterator[Edit]:
    """``tf.one_hot(places, n)`` and ``tf.scatter_nd(places, ones, [n])`` of what ``top_k`` gives →
    their values, with the gradient of the softmax of the scores; ``tf.equal(places, labels)``, also
    in ``tf.reduce_any``, with that of the labels' share of it."""
    source, tf, plan = case.source, case.source.tf, Plan(case.source)
    for top, (scores,) in with_arguments(case.calls("top_k"), "input"):
        soft = f"{tf}.nn.softmax({source.code(scores)})"
        soft = source.operand(scores) if are_probabilities(case, top) else soft
        for marks, (places,) in with_arguments(source.calls_to("one_hot", "scatter_nd"), "indices"):
            if source.leads_to(places, top):
                share = soft + (f"[..., {tf}.newaxis, :]" if is_call_to(marks, "one_hot") else "")
                whole = f"{source.code(marks)} + {share} - {tf}.stop_gradient({share})"
                plan.replace(marks, f"({whole})")
        for asked, label, is_equal in answers_of(source, top):
            batch, sign = max(len(input_shape(case)) - 1, 0), "+-" if is_equal else "-+"
            share = f"{tf}.gather({soft}, {source.code(label)}, batch_dims={batch})"
            hard = f"{tf}.cast({source.code(asked)}, {tf}.float32)"
            plan.replace(asked, f"({hard} {sign[0]} {share} {sign[1]} {tf}.stop_gradient({share}))")
            for call in source.calls_to("reduce_any"):
                if source.leads_to(call, asked):
                    plan.replace(call.func, f"{tf}.reduce_max")
    title = "Estimate: straight-through, the choice with the gradient of what it chose by"
    yield from plan.edits(title)


def divide_exactly(case: FixCase) -> Iterator[Edit]:
    """``x // 2`` → ``x / 2``."""
    source = case.source
    plan = Plan(source)
    for node in case.nodes(cst.BinaryOperation):
        if isinstance(node.operator, cst.FloorDivide):
            divide = cst.Divide(node.operator.whitespace_before, node.operator.whitespace_after)
            plan.replace(node.operator, divide)
    for step in case.nodes(cst.AugAssign):
        if isinstance(step.operator, cst.FloorDivideAssign):
            plan.replace(step.operator, cst.DivideAssign())
    for call in case.calls("floordiv", "floor_divide"):
        plan.replace(call.func, f"{source.tf}.divide")
    yield from plan.edits("Estimate: divide without rounding down")


def _mixed_one_hot(case: FixCase, call: cst.Call) -> str:
    """``tf.one_hot(i, n, on, off)`` → the same numbers by a product and a sum."""
    source = case.source
    on, off = (argument(call, n, name) for n, name in ((2, "on_value"), (3, "off_value")))
    if on is None and off is None:
        return ""
    kept = source.further_arguments(call, on, off).removeprefix(", ")
    high = source.argument_code(call, 2, "on_value") or "1.0"
    low = source.argument_code(call, 3, "off_value") or "0.0"
    return f"{source.tf}.one_hot({kept}) * ({high} - {low}) + {low}"


MIX_ONE_HOT = CallRewrite(
    ("one_hot",),
    _mixed_one_hot,
    "Mix on_value and off_value by hand: tf.one_hot has no gradient by them",
)
