"""Write an op whose derivative is not finite here in a form that stays finite."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import libcst as cst

from ...analysis.causes.values.nonfinite import Nonfinite
from ...wording import enumerated
from ..forms import match, matches
from ..model import Edit, FixCase
from ..nodes import (
    all_of,
    argument,
    called_name,
    dotted,
    is_call_to,
    nodes_in,
    read_names,
    with_arguments,
)
from ..plan import Plan, fitting
from ..rewrites import CallRewrite
from ..source import ParsedSource

_TINY = "1e-12"
_GUARDED = "Guard inside tf.where too: its other branch is differentiated as well"


def safe_where(case: FixCase) -> Iterator[Edit]:
    """``tf.where(c, f(x), 0)`` → the branch not taken computes with a harmless number."""
    source = case.source
    plan = Plan(source)
    count = 0
    for call in source.calls(case.cause.line, "where"):
        condition = argument(call, 0, "condition")
        branches = (argument(call, 1, "x"), argument(call, 2, "y"))
        if condition is None:
            continue
        for branch, is_taken in zip(branches, (True, False), strict=True):
            if branch is not None and not isinstance(branch, (cst.Name, cst.BaseNumber)):
                count += _guard(plan, condition, branch, is_taken)
    if count:
        yield from plan.edits(_GUARDED)


def safe_before_where(case: FixCase) -> Iterator[Edit]:
    """``r = tf.sqrt(s)`` with ``tf.where(c, 0, f(r))`` after it → ``tf.sqrt(tf.where(c, 1, s))``.

    The first op on the way to the branch that may have no finite slope gets a harmless number.
    """
    source = case.source
    wheres = source.calls_to("where")
    for _, (condition, x, y) in with_arguments(wheres, "condition", "x", "y"):
        for branch, is_taken in ((x, True), (y, False)):
            behind = list(source.behind(branch))
            if not any(source.covers(node, line) for node in behind for line in _lines(case)):
                continue
            risky = {node: given for node in behind if (given := _risky_input(node)) is not None}
            of_condition = set(source.behind(condition))
            plan = Plan(source)
            for node, given in risky.items():
                is_first = risky.keys().isdisjoint(source.behind(given))
                if is_first and node not in of_condition:
                    pair = (source.code(given), "1.0")[:: 1 if is_taken else -1]
                    chosen = f"{source.code(condition)}, {', '.join(pair)}"
                    plan.replace(given, f"{source.tf}.where({chosen})")
            yield from plan.edits(_GUARDED)


def _risky_input(node: cst.CSTNode) -> cst.BaseExpression | None:
    """The operand that must not be 0 (or 1, of an inverse sine) for a finite slope."""
    if is_call_to(node, *_RISKY) and node.args:
        return node.args[0].value
    if quotient := match(node, "_a / _b"):
        return None if isinstance(quotient[1], cst.BaseNumber) else quotient[1]
    return _root(node)


def _root(node: cst.CSTNode) -> cst.BaseExpression | None:
    """``x`` of ``x ** 0.5``, but not of ``x ** 2``."""
    x, power = match(node, "_x ** _y") or (None, None)
    return x if not isinstance(power, cst.Integer) else None


_RISKY = ("sqrt", "rsqrt", "log", "pow", "acos", "asin", "reciprocal")


def _guard(
    plan: Plan, condition: cst.BaseExpression, branch: cst.BaseExpression, is_taken: bool
) -> int:
    """Names of the condition that the branch reads, replaced by 1 where it is not taken.

    Only inside of calls and quotients, which may have no finite slope: ``p * log(p)`` needs no
    other factor.
    """
    source = plan.source
    count = 0
    risky = [
        name
        for node in nodes_in(branch)
        if _may_be_infinite(node)
        for name in all_of(node, cst.Name)
    ]
    for node in dict.fromkeys(risky):
        if node.value not in read_names(condition) or node.value in (source.tf, source.np):
            continue
        filled = f"{source.tf}.ones_like({node.value})"
        pair = f"{node.value}, {filled}" if is_taken else f"{filled}, {node.value}"
        plan.replace(node, f"{source.tf}.where({source.code(condition)}, {pair})")
        count += 1
    return count


def _may_be_infinite(node: cst.CSTNode) -> bool:
    if isinstance(node, cst.Call):
        return called_name(node) not in ("zeros_like", "ones_like", "shape", "cast")
    return bool(match(node, "_a / _b", "_a ** _b"))


def _off_the_origin(case: FixCase, call: cst.Call) -> str:
    """``tf.atan2(y, x)`` → with 1 in place of ``x`` where both are 0: the angle stays 0 there. So
    ``tf.math.angle(z)``, of a complex number."""
    source, tf = case.source, case.source.tf
    function, z = source.code(call.func), source.argument_code(call, 0, "input")
    if called_name(call) == "angle":
        return f"{function}({tf}.where({tf}.equal({z}, 0.0), {tf}.ones_like({z}), {z}))"
    y, x = source.argument_code(call, 0, "y"), source.argument_code(call, 1, "x")
    if not y or not x:
        return ""
    origin = f"{tf}.equal({x}, 0.0) & {tf}.equal({y}, 0.0)"
    return f"{function}({y}, {tf}.where({origin}, 1.0, {x}))"


SAFE_ANGLE = CallRewrite(
    ("atan2", "angle"), _off_the_origin, "Take the angle of 1 at the origin, which has none itself"
)


def _lines(case: FixCase) -> tuple[int, ...]:
    """The line of the cause, and that which made the number it works with, if another did."""
    evidence = case.cause.evidence
    made = evidence.made if isinstance(evidence, Nonfinite) else 0
    return tuple(dict.fromkeys((case.cause.line, *((made,) if made else ()))))


def finite_mask(case: FixCase) -> Iterator[Edit]:
    """Minus infinity, written to mask elements → -1e9: a row in which all are masked stays finite.

    A softmax of a row that holds nothing but minus infinity is NaN, and so is 0 times infinity.
    """
    source = case.source
    if not any(source.calls(line, *_NORMALISING) for line in _lines(case)):
        return
    plan = Plan(source)
    for call in (call for line in _lines(case) for call in source.calls(line, "log")):
        mask = call.args[0].value if call.args else None
        is_cast = is_call_to(mask, "cast")
        if mask is not None and (isinstance(mask, cst.Name) or is_cast):
            plan.replace(call, f"({source.operand(mask)} - 1.0) * 1e9")
    for node in nodes_in(source.module):
        if isinstance(node, (cst.Attribute, cst.Call)) and source.code(node) in (
            f"{source.np}.inf",
            'float("inf")',
            "float('inf')",
            "math.inf",
        ):
            plan.replace(node, "1e9")
        elif isinstance(node, cst.Call) and source.code(node) in ('float("-inf")', "float('-inf')"):
            plan.replace(node, "-1e9")
    title = "Mask with -1e9 in place of minus infinity: a row with all masked stays finite"
    yield from plan.edits(title, is_estimate=True)
    plan = Plan(source)  # where the infinity was computed
    for line in _lines(case):
        for call in source.calls(line, *_NORMALISING):
            given = argument(call, 0, "logits", "input_tensor")
            if given is not None:
                plan.replace(given, f"{source.tf}.maximum({source.code(given)}, -1e9)")
    title = "Keep the scores at -1e9 or more: a row with nothing but minus infinity stays finite"
    yield from plan.edits(title, is_estimate=True)


_NORMALISING = ("softmax", "log_softmax", "reduce_logsumexp", "softmax_cross_entropy_with_logits")


def away_from_edge(case: FixCase) -> Iterator[Edit]:
    """``sqrt``, ``log``, gamma functions and powers kept off 0, inverse sines and tangents off ±1,
    ``exp`` and its hyperbolic sums off overflow."""
    source = case.source
    tf = source.tf
    below_one = f"{tf}.clip_by_value({{x}}, -1 + 1e-7, 1 - 1e-7)"
    forms = {
        "sqrt": f"{tf}.maximum({{x}}, {_TINY})",
        "rsqrt": f"{tf}.maximum({{x}}, {_TINY})",
        "log": f"{tf}.maximum({{x}}, 1e-7)",
        "log1p": f"{tf}.maximum({{x}}, 1e-6 - 1.0)",
        "pow": f"{tf}.maximum({{x}}, {_TINY})",
        **dict.fromkeys(("acos", "asin", "atanh", "erfinv"), below_one),
        "acosh": f"{tf}.maximum({{x}}, 1 + 1e-6)",
        **dict.fromkeys(("lgamma", "digamma"), f"{tf}.maximum({{x}}, 1e-7)"),
        "exp": f"{tf}.minimum({{x}}, 80.0)",
        "sinh": f"{tf}.clip_by_value({{x}}, -80.0, 80.0)",
        "cosh": f"{tf}.clip_by_value({{x}}, -80.0, 80.0)",
    }
    plan = Plan(source)
    names = _move_inputs(case, plan, forms)
    if names:
        where = "off the point where its slope is not finite"
        if {"exp", "sinh", "cosh"}.issuperset(names):
            where = "where its result is finite"
        title = f"Keep the input of {enumerated(names)} {where}"
        # An angle of 0 becomes one of sqrt(2e-7).
        is_angle = not {"acos", "asin", "acosh"}.isdisjoint(names)
        yield from plan.edits(title, has_other_value=is_angle)


def off_zero(case: FixCase) -> Iterator[Edit]:
    """``tf.math.log(x)`` → ``tf.math.log(x + 1e-7)``; so ``rsqrt``, ``sqrt`` and powers: at 0 the
    slope is large, where a maximum with a small number has none."""
    plan = Plan(case.source)
    names = _move_inputs(case, plan, dict.fromkeys(("log", "sqrt", "rsqrt", "pow"), "{x} + 1e-7"))
    if names:
        title = f"Add 1e-7 to the input of {enumerated(names)}: its slope at 0 is finite then"
        yield from plan.edits(title, is_estimate=True)


def _move_inputs(case: FixCase, plan: Plan, forms: Mapping[str, str]) -> dict[str, None]:
    """Put what functions are given on the lines of the cause into the forms by their names, and the
    bases of powers into that of ``pow``; what was changed."""
    source, names = case.source, dict[str, None]()
    for line in _lines(case):
        calls = (call for call in source.calls(line, *forms) if call.args)
        inputs = [(called_name(call), call.args[0].value) for call in calls]
        roots = map(_root, source.nodes(cst.BinaryOperation, line))
        for name, given in (*inputs, *(("the power", root) for root in roots if root is not None)):
            _keep_off(plan, given, forms.get(name, forms["pow"]))
            names[name] = None
    return names


def _keep_off(plan: Plan, node: cst.BaseExpression, form: str) -> None:
    source = plan.source
    bounding, is_call, _ = form.partition("(")

    def kept(updated: cst.BaseExpression) -> cst.CSTNode:
        inside = updated.with_changes(lpar=[], rpar=[])
        if isinstance(inside, cst.Call) and dotted(inside.func) == bounding:
            first, *bounds = [arg.value for arg in inside.args]
            if all(isinstance(bound, (cst.BaseNumber, cst.UnaryOperation)) for bound in bounds):
                inside = first  # the bounds are there, but too wide
        x = source.code(inside) if is_call else source.operand(inside)
        return fitting(source, node, cst.parse_expression(form.format(x=x)))

    plan.replace(node, kept)


def safe_division(case: FixCase) -> Iterator[Edit]:
    """``a / b`` → ``tf.math.divide_no_nan(a, b)``."""
    source = case.source
    plan = Plan(source)
    quotients = [*matches(source.nodes(cst.BinaryOperation, case.cause.line), "_a / _b")]
    for node, _ in quotients:
        plan.replace(node, lambda old: _divided(source, old))
    for call in source.calls(case.cause.line, "divide", "truediv", "reciprocal"):
        if called_name(call) == "reciprocal" and call.args:
            plan.replace(
                call, f"{source.tf}.math.divide_no_nan(1.0, {source.code(call.args[0].value)})"
            )
        else:
            plan.replace(call.func, f"{source.tf}.math.divide_no_nan")
    yield from plan.edits("Divide so that a division by zero gives 0", is_estimate=True)
    plan = Plan(source)
    for _, (_, below) in quotients:
        plan.replace(below, lambda old: cst.parse_expression(f"({source.code(old)} + 1e-6)"))
    yield from plan.edits("Add 1e-6 to what is divided by", is_estimate=True)


def _divided(source: ParsedSource, node: cst.BinaryOperation) -> cst.BaseExpression:
    above, below = source.code(node.left), source.code(node.right)
    if isinstance(node.left, cst.BaseNumber):
        above = f"{source.tf}.ones_like({below})" if above in ("1", "1.0") else above
    return cst.parse_expression(f"{source.tf}.math.divide_no_nan({above}, {below})")


def product_with_log(case: FixCase) -> Iterator[Edit]:
    """``x * tf.math.log(y)`` → ``tf.math.xlogy(x, y)``, which is 0 where x is; a quotient in y
    likewise gives 0 where both of its parts are."""
    source = case.source
    plan = Plan(source)
    products = source.nodes(cst.BinaryOperation, case.cause.line)
    for node, (factor, inside) in matches(products, "_x * log(_y, *_)"):
        if isinstance(inside, cst.BinaryOperation) and match(inside, "_a / _b"):
            inside = _divided(source, inside)
        text = f"{source.tf}.math.xlogy({source.code(factor)}, {source.code(inside)})"
        plan.replace(node, text)
    title = "Take the product with the logarithm in one step: it is 0 where the factor is"
    yield from plan.edits(title)


def wider_floats(case: FixCase) -> Iterator[Edit]:
    """``tf.float16`` → ``tf.float32``."""
    source = case.source
    plan = Plan(source)
    for node in all_of(source.module, cst.Attribute):
        if node.attr.value == "float16":
            plan.replace(node, f"{source.code(node.value)}.float32")
    for text in all_of(source.module, cst.SimpleString):
        if text.evaluated_value == "float16":
            plan.replace(text, f"{text.quote}float32{text.quote}")
    yield from plan.edits("Compute in float32, which overflows much later")
