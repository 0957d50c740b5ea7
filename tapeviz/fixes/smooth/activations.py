"""Put a smooth function in place of a ReLU, a maximum or a sign that is flat."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

import libcst as cst

from ...analysis.causes.values.multiplied_by_zero import MultipliedByZero
from ..model import Edit, FixCase
from ..nodes import all_of, argument, called_name, dotted
from ..plan import Plan
from ..rewrites import CallRewrite, template
from ..source import ParsedSource

# Piecewise linear, so that the second derivative is 0.
_BENT = ("relu", "leaky_relu", "relu6")

_BENT_LAYERS = ("ReLU", "LeakyReLU")


def smooth_activation(case: FixCase) -> Iterator[Edit]:
    """A ReLU that is flat here → a smooth one, or a leaky one if its slope is what is 0."""
    source, evidence = case.source, case.cause.evidence
    by = evidence.by if isinstance(evidence, MultipliedByZero) else ""
    is_curved = case.cause.kind == "flat-op" or by == "gradient"
    new = "softplus" if is_curved else "leaky_relu"
    lines = case.lines()
    if isinstance(evidence, MultipliedByZero) and by == "clipped":
        lines = (evidence.made,)
    for edit in (_activation(source, lines, new), _activation(source, None, new)):
        if edit is not None:
            yield edit


def _activation(source: ParsedSource, lines: Iterable[int] | None, new: str) -> Edit | None:
    plan = Plan(source)
    is_leaky = new == "leaky_relu"
    bent = [name for name in _BENT if name != new]
    layers = [name for name in _BENT_LAYERS if not (is_leaky and name == "LeakyReLU")]
    calls = all_of(source.module, cst.Call)
    if lines is not None:
        calls = [call for line in lines for call in source.calls(line, *bent, *layers)]
    names: list[str] = []
    for call in calls:
        name = called_name(call)
        if name in bent and call.args:
            plan.replace(call, f"{source.tf}.nn.{new}({source.code(call.args[0].value)})")
            names.append(name)
        elif name in layers:
            path = dotted(call.func).rpartition(".")[0]
            activation = f"{path}.Activation" if path else "Activation"
            plan.replace(call, f'{activation}("{new}")')
            names.append(name)
    for text in _near(source, all_of(source.module, cst.SimpleString), lines):
        if text.evaluated_value in bent:
            plan.replace(text, f"{text.quote}{new}{text.quote}")
            names.append(str(text.evaluated_value))
    for function in _near(source, all_of(source.module, cst.Attribute), lines):
        around = source.parent(function)
        is_called = isinstance(around, cst.Call) and around.func is function
        if function.attr.value in bent and not is_called:
            plan.replace(function, f"{source.tf}.nn.{new}")
            names.append(function.attr.value)
    what = "the ReLU" if set(names) <= {"relu", "ReLU"} else names[0]
    why = "which is flat here" if is_leaky else "whose second derivative is 0"
    title = f"Estimate: {new} in place of {what}, {why}"
    return Edit(title, plan.text(), is_estimate=True) if names else None


_Node = TypeVar("_Node", bound=cst.CSTNode)


def _near(
    source: ParsedSource, nodes: Iterable[_Node], lines: Iterable[int] | None
) -> Iterator[_Node]:
    """The nodes that stand on one of the lines; all of them where ``lines`` is ``None``."""
    wanted = None if lines is None else tuple(lines)
    return (
        node
        for node in nodes
        if wanted is None or any(source.covers(node, line) for line in wanted)
    )


SMOOTH_MAXIMUM = tuple(
    CallRewrite((old,), template(f"{{tf}}.{new}({{args}})"), f"Estimate: {new} in place of {old}")
    for old, new in (
        ("reduce_max", "reduce_logsumexp"),
        ("sign", "tanh"),
        ("hard_sigmoid", "sigmoid"),
        ("hard_tanh", "tanh"),
        ("hard_silu", "nn.silu"),
        ("hard_swish", "nn.silu"),
    )
)

SMOOTH_STEP = CallRewrite(
    ("heaviside",),
    template("{tf}.sigmoid({arg})"),
    "Estimate: a sigmoid in place of {name}",
)


def _smooth_absolute(case: FixCase, call: cst.Call) -> str:
    """``tf.abs(x)`` → a root of squares; ``tf.norm(x, ord=1)`` → the sum of such."""
    if called_name(call) == "abs":
        return template(_CURVED)(case, call)
    given, order = argument(call, 0, "tensor"), argument(call, 1, "ord")
    if given is None or order is None or case.source.code(order) != "1":
        return ""
    rest = case.source.further_arguments(call, given, order)
    alone = call.with_changes(args=[cst.Arg(given)])
    return f"{case.source.tf}.reduce_sum({template(_CURVED)(case, alone)}{rest})"


_CURVED = "{tf}.sqrt({tf}.square({arg}) + 0.01)"
SMOOTH_ABSOLUTE = CallRewrite(
    ("abs", "norm"),
    _smooth_absolute,
    "Estimate: a smooth absolute value, whose second derivative is not 0",
)
