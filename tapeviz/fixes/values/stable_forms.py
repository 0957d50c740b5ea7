"""Write logarithms, sigmoids and softmaxes, spelled with exponentials that overflow, in forms that
stay finite."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import libcst as cst

from ..model import Edit, FixCase
from ..nodes import all_of, argument, called_name, is_call_to, targets_of
from ..plan import Plan
from ..rewrites import CallRewrite
from ..smooth.zeros import sum_of_logarithms
from ..source import ParsedSource


def _log_in_one_step(case: FixCase, call: cst.Call) -> str:
    """``log(1 + exp(x))`` and ``log1p(exp(x))`` → ``softplus(x)``, and see :func:`_log`."""
    source = case.source
    if not call.args:
        return ""
    if called_name(call) == "log1p":
        return _softplus(source, _exponent(source, call.args[0].value))
    return _log(case, call.args[0].value)


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
        below = _below_one(source, given)
        if below is not None:
            negated = _softplus(source, _one_and_exponent(source, below))
            return f"-{negated}" if negated else ""
        above, total = _exponent(source, given.left), _log_of_sum(source, given.right)
        if isinstance(given.operator, cst.Divide) and above is not None and total:
            return f"{source.operand(above)} - {total}"
        return _softplus(source, _one_and_exponent(source, given))
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
    source, given = case.source, case.source.value_of(node)
    if not isinstance(given, cst.BinaryOperation) or not isinstance(given.operator, cst.Multiply):
        return ""
    for mask, other in ((given.left, given.right), (given.right, given.left)):
        whole = _log(case, other) if is_call_to(source.value_of(mask), "one_hot") else ""
        if whole:
            return f"{source.operand(cst.parse_expression(whole))} * {source.operand(mask)}"
    return ""


def _log_of_sum(source: ParsedSource, node: cst.BaseExpression) -> str:
    """``sum(exp(x), axis)`` → ``logsumexp(x, axis)``, else empty."""
    total = source.value_of(node)
    args = total.args if is_call_to(total, "reduce_sum") else ()
    exponent = _exponent(source, args[0].value) if args else None
    if exponent is None:
        return ""
    rest = "".join(f", {source.code(arg).rstrip(', ')}" for arg in args[1:])
    return f"{source.tf}.reduce_logsumexp({source.code(exponent)}{rest})"


_PARTS = ("gather", "gather_nd", "boolean_mask", "reshape", "squeeze", "expand_dims", "transpose")
"""Calls that give elements of their first argument as they are."""
_LOGARITHMS = {"softmax": "nn.log_softmax", "sigmoid": "math.log_sigmoid"}
STABLE_LOG = CallRewrite(
    ("log", "log1p"), _log_in_one_step, "Take the logarithm and what is inside it in one step"
)


def _softplus(source: ParsedSource, exponent: cst.BaseExpression | None) -> str:
    return f"{source.tf}.math.softplus({source.code(exponent)})" if exponent is not None else ""


def _exponent(source: ParsedSource, node: cst.BaseExpression) -> cst.BaseExpression | None:
    """``x`` of ``exp(x)``."""
    node = source.value_of(node)
    return node.args[0].value if is_call_to(node, "exp") and node.args else None


def _one_and_exponent(source: ParsedSource, node: cst.BaseExpression) -> cst.BaseExpression | None:
    """``x`` of ``1 + exp(x)``."""
    node = source.value_of(node)
    if not isinstance(node, cst.BinaryOperation) or not isinstance(node.operator, cst.Add):
        return None
    for number, other in ((node.left, node.right), (node.right, node.left)):
        if _is_one(number):
            return _exponent(source, other)
    return None


def _below_one(source: ParsedSource, node: cst.BinaryOperation) -> cst.BaseExpression | None:
    """``x`` of ``1 / x``."""
    is_inverse = isinstance(node.operator, cst.Divide) and _is_one(node.left)
    return node.right if is_inverse else None


def _is_one(node: cst.BaseExpression) -> bool:
    return isinstance(node, (cst.Integer, cst.Float)) and node.evaluated_value == 1


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
    quotients = {
        node: None
        for part in parts
        for node in all_of(part, cst.BinaryOperation)
        if isinstance(node.operator, cst.Divide)
    }
    sigmoids, shifts = Plan(source), Plan(source)
    for node in quotients:
        given = _of_sigmoid(source, node)
        if given:
            sigmoids.replace(node, f"{source.tf}.sigmoid({given})")
        _shift(shifts, node, quotients)
    yield from sigmoids.edits("Use tf.sigmoid, which computes the same and stays finite")
    yield from shifts.edits("Subtract the largest before the exponential, as softmax does")


def _of_sigmoid(source: ParsedSource, node: cst.BinaryOperation) -> str:
    """``x`` of ``1 / (1 + exp(-x))`` or ``exp(x) / (1 + exp(x))``, else empty."""
    below = _below_one(source, node)
    exponent = _one_and_exponent(source, node.right)
    if exponent is None:
        return ""
    if below is not None:
        if isinstance(exponent, cst.UnaryOperation) and isinstance(exponent.operator, cst.Minus):
            return source.code(exponent.expression)
        return f"-{source.operand(exponent)}"
    above = _exponent(source, node.left)
    return source.code(exponent) if above and above.deep_equals(exponent) else ""


def _shift(
    plan: Plan, node: cst.BinaryOperation, quotients: Collection[cst.BinaryOperation]
) -> None:
    """Subtract the largest from the exponents of a quotient by ``reduce_sum(exp(x), …)``; not if
    anything but these quotients uses the exponentials."""
    source = plan.source
    total = source.value_of(node.right)
    if not is_call_to(total, "reduce_sum") or not total.args:
        return
    above, below = _scaling(source, node.left), _scaling(source, total.args[0].value)
    if above is None or below is None or not above.args[0].deep_equals(below.args[0]):
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
    if _exponent(source, node) is not None:
        return cst.ensure_type(node, cst.Call)
    if isinstance(node, cst.Subscript):
        return _scaling(source, node.value)
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Multiply):
        return _scaling(source, node.left) or _scaling(source, node.right)
    return None
