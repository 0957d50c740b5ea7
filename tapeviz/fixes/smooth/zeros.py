"""Give expressions that are 0 everywhere (masks, hinges, saturated functions) a slope."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import libcst as cst

from ...analysis.causes.values.multiplied_by_zero import MultipliedByZero
from ...analysis.status import is_zero as is_all_zero
from ..blocks import gradient_call
from ..forms import matches
from ..model import Edit, FixCase
from ..nodes import (
    argument,
    bare,
    called_name,
    dotted,
    elements,
    is_zero,
    with_arguments,
    without_argument,
)
from ..plan import Plan
from ..rewrites import CallRewrite, template
from ..source import ParsedSource

_HINGES = {
    "Hinge": "{tf}.nn.softplus(1.0 - {y} * {p})",
    "hinge": "{tf}.nn.softplus(1.0 - {y} * {p})",
    "SquaredHinge": "{tf}.square({tf}.nn.softplus(1.0 - {y} * {p}))",
    "squared_hinge": "{tf}.square({tf}.nn.softplus(1.0 - {y} * {p}))",
}


def _soft_extreme(case: FixCase, call: cst.Call) -> str:
    """``tf.maximum(0.0, e)`` → ``tf.nn.softplus(e)``; so for any two, for ``tf.minimum``, and for
    Python's ``max`` and ``min`` of tensors."""
    source, tf = case.source, case.source.tf
    given = [arg.value for arg in call.args if arg.keyword is None]
    if len(given) != 2 or dotted(call.func).partition(".")[0] not in (tf, "max", "min"):
        return ""
    zero = next((node for node in given if is_zero(node)), None)
    a, b = given if zero is None else sorted(given, key=lambda operand: operand is zero)
    x, y = source.operand(a), source.operand(b)
    if called_name(call).startswith("max"):
        plain = f"{tf}.nn.softplus({source.code(a)})"
        return plain if zero is not None else f"{y} + {tf}.nn.softplus({x} - {y})"
    return f"-{tf}.nn.softplus(-{x})" if zero is not None else f"{y} - {tf}.nn.softplus({y} - {x})"


SMOOTH_EXTREME = CallRewrite(
    ("maximum", "minimum", "max", "min"),
    _soft_extreme,
    "Estimate: a smooth {name}, by softplus",
)


def smooth_hinge(case: FixCase) -> Iterator[Edit]:
    """A hinge loss of Keras, satisfied by every example → the same with softplus."""
    source = case.source
    for call in case.nodes(cst.Call):
        given = [source.operand(arg.value) for arg in call.args if arg.keyword is None]
        form = _HINGES.get(made_by(source, call.func))
        if form is not None and len(given) == 2:
            text = form.format(tf=source.tf, y=given[0], p=given[1])
            plan = Plan(source, {call: f"{source.tf}.reduce_mean({text})"})
            yield from plan.edits("Estimate: a smooth hinge, by softplus")


def curve_clip(case: FixCase) -> Iterator[Edit]:
    """The factor that is 0 since a hinge clipped it (``tf.maximum(0.0, m - d) ** 2``) → with a
    smooth hinge, as where the hinge itself is flat."""
    evidence = case.cause.evidence
    if isinstance(evidence, MultipliedByZero) and evidence.by == "clipped":
        at_clip = replace(case, cause=replace(case.cause, line=evidence.made))
        yield from SMOOTH_EXTREME(at_clip)
        yield from smooth_hinge(at_clip)


def made_by(source: ParsedSource, function: cst.BaseExpression) -> str:
    """``Hinge`` of ``tf.keras.losses.Hinge()`` or of a name bound to it, ``hinge`` of the like."""
    function = source.value_of(function)
    if isinstance(function, cst.Call):
        function = function.func
    return dotted(function).rsplit(".", 1)[-1]


def _softsign(case: FixCase, call: cst.Call) -> str:
    """``tf.sigmoid(x)`` → softsign between 0 and 1, ``tf.tanh(x)`` → softsign: flat much later."""
    form = "{tf}.nn.softsign({arg})"
    return template(form if called_name(call) == "tanh" else f"0.5 + 0.5 * {form}")(case, call)


GENTLER_SIGMOID = CallRewrite(
    ("sigmoid", "tanh"),
    _softsign,
    "Estimate: softsign in its place, which is not flat so soon",
)


def _at_temperature(case: FixCase, call: cst.Call) -> str:
    given = argument(call, 0, "logits", "x", "input")
    if given is None:
        return ""
    source, rest = case.source, case.source.further_arguments(call, given)
    return f"{source.code(call.func)}({source.operand(given)} / 100.0{rest})"


GENTLER_SOFTMAX = CallRewrite(
    ("softmax",),
    _at_temperature,
    "Estimate: a softmax at a temperature of 100, which is not flat so soon",
)


def sum_of_logarithms(case: FixCase, call: cst.Call) -> str:
    """``tf.reduce_prod(p, axis=1)`` → ``tf.reduce_sum(tf.math.log(p), axis=1)``."""
    if not call.args or call.args[0].star or call.args[0].keyword:
        return ""
    code, tf = case.source.code, case.source.tf
    rest = "".join(f", {code(arg).rstrip(', ')}" for arg in call.args[1:])
    return f"{tf}.reduce_sum({tf}.math.log({code(call.args[0].value)}){rest})"


_SUM_LOGARITHMS = CallRewrite(
    ("reduce_prod",),
    sum_of_logarithms,
    "Estimate: the logarithm of the product, a sum, which does not become 0 so soon",
)


def add_logarithms(case: FixCase) -> Iterator[Edit]:
    """``tf.reduce_prod(p)`` of many small numbers → the sum of their logarithms."""
    evidence = case.cause.evidence
    if isinstance(evidence, MultipliedByZero) and evidence.by == "small elements":
        yield from _SUM_LOGARITHMS(case)


GENTLER_EXPONENTIAL = CallRewrite(
    ("exp",),
    template("1.0 / (1.0 - {x})"),
    "Estimate: 1 / (1 - x) in place of exp(x), which does not run out of numbers so soon",
)


GENTLER_ACTIVATION = CallRewrite(
    ("elu", "gelu", "selu", "silu", "swish"),
    template("{tf}.nn.leaky_relu({arg})"),
    "Estimate: leaky_relu in place of {name}, whose slope is 0 so far to the left",
)


GENTLER = (GENTLER_SIGMOID, GENTLER_SOFTMAX, GENTLER_EXPONENTIAL, GENTLER_ACTIVATION)
"""Rewrites into functions that become flat farther out than the one that was written."""


def leave_factor_out(case: FixCase) -> Iterator[Edit]:
    """``err * mask`` → ``err``, where ``mask`` is 0 everywhere, and that in every round; so the
    ``sample_weight`` of a loss of Keras. A gradient is part of an equation, and is kept."""
    source = case.source
    yield from _without_weights(case)
    op, evidence = case.trace.op(case.cause.op_id), case.cause.evidence
    is_gradient = isinstance(evidence, MultipliedByZero) and evidence.by == "gradient"
    if op is None or len(op.inputs) != 2 or case.is_there_at_times or is_gradient:
        return
    zero = [is_all_zero(case.trace.stats(tensor)) for tensor in op.inputs]
    if zero.count(True) != 1:
        return
    for factors in _products(case):
        gone, kept = factors[zero.index(True)], factors[zero.index(False)]
        place = source.parent(gone)
        if isinstance(place, cst.Arg):
            place = source.parent(place)
        if isinstance(place, cst.BaseExpression):
            plan = Plan(source, {place: bare(kept)})
            what = source.code(gone)
            title = f"Leave {what} out, which is 0 everywhere"
            is_number = isinstance(gone, cst.BaseNumber)
            if is_number:
                title = f"Leave the factor {what} out"
            # ``loss + 0.0 * w`` is written to get zeros in place of None: what cuts the way from w
            # to the loss is to be mended, if anything can.
            is_last = is_number and bool(case.finding.others)
            yield from plan.edits(title, is_estimate=True, is_last=is_last)


def _without_weights(case: FixCase) -> Iterator[Edit]:
    source = case.source
    for call in case.nodes(cst.Call) if not case.is_there_at_times else ():
        weights = argument(call, 99, "sample_weight")
        if weights is not None and len(call.args) > 1:
            plan = Plan(source, {call: without_argument(call, weights)})
            title = f"Leave {source.code(weights)} out, so that all examples count alike"
            yield from plan.edits(title, is_estimate=True)


def leave_update_out(case: FixCase) -> Iterator[Edit]:
    """``tf.tensor_scatter_nd_update(x, everywhere, e)`` → ``x``, of which nothing else is left."""
    source = case.source
    for call in case.calls("tensor_scatter_nd_update"):
        whole = argument(call, 0, "tensor")
        if whole is not None:
            kept = source.code(whole)
            title = f"Leave out the update, which overwrites what is used of {kept}"
            yield from Plan(source, {call: source.code(whole)}).edits(title, is_estimate=True)


def leave_upstream_out(case: FixCase) -> Iterator[Edit]:
    """``tape.gradient(y, x, output_gradients=zeros)`` → ``tape.gradient(y, x)``, which begins with
    ones."""
    source, call = case.source, gradient_call(case.source, case.call)
    given = argument(call, 2, "output_gradients")
    if call is None or given is None or case.cause.evidence != MultipliedByZero("given"):
        return
    plan = Plan(source, {call: without_argument(call, given)})
    title = "Begin with ones: leave the output_gradients out, which are all 0"
    yield from plan.edits(title, is_estimate=True)


def give_ones(case: FixCase) -> Iterator[Edit]:
    """``ForwardAccumulator(x, tf.zeros_like(x))`` → ``tf.ones_like(x)``, so that every element
    changes alike."""
    source = case.source
    if case.cause.evidence != MultipliedByZero("tangents"):
        return
    accumulators = case.calls("ForwardAccumulator")
    for _, (given, tangents) in with_arguments(accumulators, "primals", "tangents"):
        parts = elements(given)
        ones = [f"{source.tf}.ones_like({source.code(primal)})" for primal in parts or [given]]
        plan = Plan(source, {tangents: f"[{', '.join(ones)}]" if parts else ones[0]})
        yield from plan.edits(
            "Give tangents of 1, so that every element changes alike", is_estimate=True
        )


WITHOUT_ZEROS = (give_ones, leave_upstream_out, leave_factor_out, leave_update_out)


def _products(case: FixCase) -> Iterator[Sequence[cst.BaseExpression]]:
    """Both factors of the products on the lines of the cause.

    Where Python says at which column the op ran (from 3.11 on), only of those that begin there.
    """
    source = case.source
    op = case.trace.op(case.cause.op_id)
    columns = {f.column for f in op.site.frames[:1] if f.column >= 0} if op is not None else set()
    nodes = (*case.nodes(cst.BinaryOperation), *case.calls("multiply"))
    for product, factors in matches(nodes, "_a * _b", "multiply(_a, _b)"):
        if source.column(product) in columns or not columns:
            yield factors
