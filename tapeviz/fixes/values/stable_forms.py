"""Write logarithms, sigmoids and softmaxes, spelled with exponentials that overflow, in forms that
stay finite."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import libcst as cst

from ..forms import is_same, match, matches
from ..model import Edit, FixCase
from ..nodes import all_of, argument, called_name, is_call_to, targets_of
from ..plan import Plan
from ..rewrites import CallRewrite
from ..smooth.zeros import sum_of_logarithms
from ..source import ParsedSource


def _log_in_one_step(case: FixCase, call: cst.Call) -> str:
    """``log(1 + exp(x))`` and ``log1p(exp(x))`` → ``softplus(x)``, and see :func:`_log`."""
    source = case.source
    if called_name(call) == "log1p":
        return _softplus(source, match(call, "log1p(exp(_x, *_), *_)", value_of=source.value_of))
    return _log(case, call.args[0].value) if call.args else ""


def _log(case: FixCase, node: cst.BaseExpression) -> str:
    """``log(softmax(x))`` → ``log_softmax(x)``, also by the name of the softmax, of a part of it
    (``x[i]``, ``gather(x, i)``, ``reduce_sum(x * one_hot(i, n))``), and if it is spelled as a
    quotient of exponentials;
    ``log(1 / (1 + exp(-x)))`` → ``-softplus(-x)``, ``log(sum(exp(x)))`` → ``logsumexp(x)``,
    ``log(prod(x))`` → ``sum(log(x))``."""
    source, tf = case.source, case.source.tf
    given = source.value_of(node)
    if isinstance(given, cst.Subscript):
        whole = _log(case, given.value)
        brackets = source.code(given).removeprefix(source.code(given.value))
        return f"{source.operand(cst.parse_expression(whole))}{brackets}" if whole else ""
    if isinstance(given, cst.BinaryOperation):
        if inverse := match(given, "1 / (1 + exp(_x, *_))", value_of=source.value_of):
            return f"-{_softplus(source, inverse)}"
        quotient = match(given, "exp(_a, *_) / _b", value_of=source.value_of)
        total = _log_of_sum(source, quotient[1]) if quotient else ""
        if total:
            return f"{source.operand(quotient[0])} - {total}"
        return _softplus(source, match(given, "1 + exp(_x, *_)", value_of=source.value_of))
    if is_call_to(given, *_PARTS, "reduce_sum") and given.args:
        first = given.args[0].value
        is_sum = called_name(given) == "reduce_sum"
        whole = _log_of_picked(case, first) if is_sum else _log(case, first)
        if whole:
            return f"{source.code(given.func)}({whole}{source.further_arguments(given, first)})"
    if is_call_to(given, "reduce_prod"):
        return sum_of_logarithms(case, given)
    if is_call_to(given, *_LOGARITHMS):
        args = source.further_arguments(given).removeprefix(", ")
        return f"{tf}.{_LOGARITHMS[called_name(given)]}({args})"
    return _log_of_sum(source, given)


def _log_of_picked(case: FixCase, node: cst.BaseExpression) -> str:
    """``x * one_hot(i, n)`` → ``log(x) * one_hot(i, n)``, else empty: of each row one is left."""
    source = case.source
    mask, x = match(node, "(_m := one_hot(*_)) * _x", value_of=source.value_of) or (None, None)
    whole = _log(case, x) if x is not None else ""
    if not whole or mask is None:
        return ""
    return f"{source.operand(cst.parse_expression(whole))} * {source.operand(mask)}"


def _log_of_sum(source: ParsedSource, node: cst.BaseExpression) -> str:
    """``sum(exp(x), axis)`` → ``logsumexp(x, axis)``, else empty."""
    total = source.value_of(node)
    exponent = match(total, "reduce_sum(exp(_x, *_), *_)", value_of=source.value_of)
    if not exponent or not isinstance(total, cst.Call):
        return ""
    rest = source.further_arguments(total, total.args[0].value)
    return f"{source.tf}.reduce_logsumexp({source.code(exponent[0])}{rest})"


_PARTS = ("gather", "gather_nd", "boolean_mask", "reshape", "squeeze", "expand_dims", "transpose")
"""Calls that give elements of their first argument as they are."""
_LOGARITHMS = {"softmax": "nn.log_softmax", "sigmoid": "math.log_sigmoid"}
STABLE_LOG = CallRewrite(
    ("log", "log1p"), _log_in_one_step, "Take the logarithm and what is inside it in one step"
)


def _softplus(source: ParsedSource, exponent: Sequence[cst.BaseExpression]) -> str:
    return f"{source.tf}.math.softplus({source.code(exponent[0])})" if exponent else ""


def stable_quotient(case: FixCase) -> Iterator[Edit]:
    """Quotients on the line of the cause, of the names that it reads, and of its exponentials,
    which overflow: ``1 / (1 + exp(-x))`` and ``exp(x) / (1 + exp(x))`` → ``sigmoid(x)``; in a
    quotient of exponentials by their sum ``exp(x)`` → ``exp(x - its largest)``, which changes
    nothing.
    """
    source = case.source
    near = [source.value_of(name) for name in case.nodes(cst.Name)]
    made = [call for call in case.nodes(cst.Call) if called_name(call) == "exp"]
    parts = [*case.nodes(cst.BinaryOperation), *near]
    parts += [
        node
        for node in (all_of(source.module, cst.BinaryOperation) if made else ())
        if any(source.leads_to(node, call) for call in made)
    ]
    inside = (node for part in parts for node in all_of(part, cst.BinaryOperation))
    quotients = dict(matches(inside, "_a / _b"))
    sigmoids, shifts = Plan(source), Plan(source)
    for node, (above, below) in quotients.items():
        forms = ("1 / (1 + exp(-_x, *_))", "exp(_x, *_) / (1 + exp(_x, *_))")
        if given := match(node, *forms, value_of=source.value_of):
            sigmoids.replace(node, f"{source.tf}.sigmoid({source.code(given[0])})")
        elif given := match(node, "1 / (1 + exp(_x, *_))", value_of=source.value_of):
            sigmoids.replace(node, f"{source.tf}.sigmoid(-{source.operand(given[0])})")
        _shift(shifts, above, below, quotients)
    yield from sigmoids.edits("Use tf.sigmoid, which computes the same and stays finite")
    yield from shifts.edits("Subtract the largest before the exponential, as softmax does")


def _shift(
    plan: Plan,
    divided: cst.BaseExpression,
    by: cst.BaseExpression,
    quotients: Collection[cst.CSTNode],
) -> None:
    """Subtract the largest from the exponents of a quotient by ``reduce_sum(exp(x), …)``; not if
    anything but these quotients uses the exponentials."""
    source = plan.source
    total = source.value_of(by)
    if not is_call_to(total, "reduce_sum") or not total.args:
        return
    above, below = _scaling(source, divided), _scaling(source, total.args[0].value)
    if above is None or below is None or not is_same(above.args[0].value, below.args[0].value):
        return
    if not all(_serves(source, call, quotients) for call in (above, below)):
        return
    axis = argument(total, 1, "axis")
    over = f", axis={source.code(axis)}, keepdims=True" if axis is not None else ""
    for call in dict.fromkeys((above, below)):
        given = call.args[0].value
        largest = f"{source.tf}.reduce_max({source.code(given)}{over})"
        plan.replace(given, f"{source.operand(given)} - {largest}")


def _serves(source: ParsedSource, node: cst.CSTNode, users: Collection[cst.CSTNode]) -> bool:
    """Whether an expression is a part of these alone, also by the names that it is given."""
    for around in source.ancestors(node):
        if around in users:
            return True
        if isinstance(around, cst.Assign):
            names = set().union(*(targets_of(target.target) for target in around.targets))
            alike = (name for name in all_of(source.module, cst.Name) if name.value in names)
            reads = [name for name in alike if source.bound_to(name) is around.value]
            return bool(reads) and all(_serves(source, read, users) for read in reads)
    return False


def _scaling(source: ParsedSource, node: cst.BaseExpression) -> cst.Call | None:
    """The call of ``exp`` that an expression is a multiple of, or a part."""
    node = source.value_of(node)
    if is_call_to(node, "exp") and node.args:
        return node
    if isinstance(node, cst.Subscript):
        return _scaling(source, node.value)
    return next(filter(None, (_scaling(source, each) for each in match(node, "_a * _b"))), None)
