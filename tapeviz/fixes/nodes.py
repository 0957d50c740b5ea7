"""Nodes of a parsed text, without their places: what is in them, and what they bind and read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeGuard, TypeVar

import libcst as cst

Node = TypeVar("Node", bound=cst.CSTNode)
Listed = TypeVar("Listed", cst.Arg, cst.WithItem)


@dataclass(frozen=True)
class KnownName(cst.Name):
    """A name that stands for something of a module: ``stop`` after ``stop = tf.stop_gradient``.

    ``meant``: its whole path with the text's names of the modules, ``tf.stop_gradient``.
    """

    meant: str = ""

    def _visit_and_replace_children(self, visitor: cst.CSTVisitorT) -> KnownName:
        return self


class _Collector(cst.CSTVisitor):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[cst.CSTNode] = []

    def on_visit(self, node: cst.CSTNode) -> bool:
        self.found.append(node)
        return True


# Each edit looks for something in the same text; libcst takes milliseconds to walk through a page.
@lru_cache(maxsize=64)
def nodes_in(node: cst.CSTNode) -> Sequence[cst.CSTNode]:
    """The node and all below it, in the order of the text."""
    collector = _Collector()
    node.visit(collector)
    return tuple(collector.found)


def all_of(node: cst.CSTNode, kind: type[Node]) -> list[Node]:
    """The nodes of a kind among the node and all below it, in the order of the text."""
    nodes = nodes_in(node)
    # An instance check of libcst's abstract classes takes a microsecond, and most nodes are others.
    kinds = {each for each in set(map(type, nodes)) if issubclass(each, kind)}
    return [node for node in nodes if type(node) in kinds]  # type: ignore[misc]


def header_nodes(statement: cst.CSTNode, kind: type[Node]) -> list[Node]:
    """Nodes of a kind in a statement, without those in the body of a compound one."""
    body = getattr(statement, "body", None)
    if isinstance(statement, cst.SimpleStatementLine) or not isinstance(body, cst.BaseSuite):
        return all_of(statement, kind)
    if isinstance(body, cst.SimpleStatementSuite):
        return all_of(statement, kind)
    inside = set(map(id, nodes_in(body)))
    return [node for node in all_of(statement, kind) if id(node) not in inside]


# Functions of keras.backend and keras.ops with another name in TensorFlow.
_KERAS_NAMES = {name: f"reduce_{name}" for name in ("sum", "mean", "max", "min", "prod")}
_KERAS_NAMES |= {"variable": "Variable", "clip": "clip_by_value", "concatenate": "concat"}


def separated(parts: Sequence[Listed]) -> list[Listed]:
    """Arguments, or items of a ``with``, without a comma after the last."""
    kept = list(parts)
    if kept:
        kept[-1] = kept[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    return kept


def called_name(call: cst.Call) -> str:
    """``matmul`` of ``tf.linalg.matmul(…)``; of another name for it, and of a function of
    ``keras.backend`` and ``keras.ops``, the name that TensorFlow has."""
    path, _, name = dotted(call.func).rpartition(".")
    if path.endswith(("keras.backend", "keras.ops")):
        return _KERAS_NAMES.get(name, name)
    return name if name or not isinstance(call.func, cst.Attribute) else call.func.attr.value


def dotted(node: cst.CSTNode) -> str:
    """``tf.math.log`` of the expression that spells it, else empty."""
    if isinstance(node, KnownName):
        return node.meant
    if isinstance(node, cst.Name):
        return node.value
    if isinstance(node, cst.Attribute):
        before = dotted(node.value)
        return f"{before}.{node.attr.value}" if before else ""
    return ""


def is_zero(node: cst.BaseExpression) -> bool:
    """Whether it is written as ``0`` or ``0.0``."""
    return isinstance(node, (cst.Integer, cst.Float)) and float(node.evaluated_value) == 0.0


def sole(statement: cst.CSTNode | None) -> cst.BaseSmallStatement | None:
    """The one small statement of a line that has only one."""
    if isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1:
        return statement.body[0]
    return None


def is_call_to(node: cst.CSTNode | None, *names: str) -> TypeGuard[cst.Call]:
    """Whether it is a call of a function that has one of these names (:func:`called_name`)."""
    return isinstance(node, cst.Call) and called_name(node) in names


def argument(node: cst.CSTNode | None, position: int, *keywords: str) -> cst.BaseExpression | None:
    """An argument of a call by its keyword or, if it was given so, by its position; None for any
    other node."""
    args = node.args if isinstance(node, cst.Call) else ()
    for arg in args:
        if arg.keyword is not None and arg.keyword.value in keywords:
            return arg.value
    plain = [arg.value for arg in args if arg.keyword is None and not arg.star]
    starred = any(arg.star for arg in args)
    return plain[position] if position < len(plain) and not starred else None


def with_arguments(
    calls: Iterable[cst.Call], *parameters: str
) -> Iterator[tuple[cst.Call, list[cst.BaseExpression]]]:
    """Each call that is given all of the parameters, which a function has in this order, with
    their values. ``values|a``: a parameter that has either name."""
    for call in calls:
        given = [argument(call, n, *names.split("|")) for n, names in enumerate(parameters)]
        values = [value for value in given if value is not None]
        if len(values) == len(parameters):
            yield call, values


def without_argument(call: cst.Call, given: cst.BaseExpression) -> cst.Call:
    """The call without the argument that has this value."""
    return call.with_changes(args=separated([a for a in call.args if a.value is not given]))


def elements(node: cst.CSTNode | None) -> list[cst.BaseExpression]:
    """The parts of a list or tuple that is written out; none of any other expression."""
    listed = node.elements if isinstance(node, (cst.List, cst.Tuple)) else ()
    return [element.value for element in listed]


def parameters_of(function: cst.FunctionDef | cst.Lambda) -> list[str]:
    """The names of the parameters that may be given by place."""
    return [parameter.name.value for parameter in function.params.params]


BINDING = (cst.AssignTarget, cst.AugAssign, cst.AnnAssign, cst.For, cst.NamedExpr)


def pairs_of(
    target: cst.BaseExpression, value: cst.BaseExpression
) -> list[tuple[cst.BaseExpression, cst.BaseExpression]]:
    """The targets of an assignment, each with its value."""
    if not (isinstance(target, (cst.Tuple, cst.List)) and isinstance(value, (cst.Tuple, cst.List))):
        return [(target, value)]
    return list(zip(elements(target), elements(value), strict=False))


def bound_names(statement: cst.CSTNode) -> frozenset[str]:
    """The names that a statement binds, as far as plain assignments and loops tell."""
    names: set[str] = set()
    for node in nodes_in(statement):
        if isinstance(node, BINDING):
            names |= targets_of(node.target)
        elif isinstance(node, (cst.FunctionDef, cst.ClassDef)):
            names.add(node.name.value)
        elif isinstance(node, cst.AsName):
            names |= targets_of(node.name)
    return frozenset(names)


def bindings_of(node: cst.CSTNode, name: str) -> list[cst.CSTNode]:
    """The assignments, loops and parameters in a node that bind a name."""
    return [
        each
        for each in nodes_in(node)
        if (isinstance(each, BINDING) and name in targets_of(each.target))
        or (isinstance(each, cst.Param) and each.name.value == name)
    ]


def targets_of(target: cst.CSTNode) -> set[str]:
    if isinstance(target, cst.Name):
        return {target.value}
    if isinstance(target, (cst.Attribute, cst.Subscript)):
        return targets_of(target.value)
    return {name for each in elements(target) for name in targets_of(each)}


def read_names(node: cst.CSTNode) -> frozenset[str]:
    """The names that :func:`name_reads` finds."""
    return frozenset(name.value for name in name_reads(node))


def name_reads(node: cst.CSTNode) -> list[cst.Name]:
    """The names that occur in it, other than as attributes, keywords and targets of ``=``."""
    skipped: set[int] = set()
    for child in nodes_in(node):
        if isinstance(child, cst.Attribute):
            skipped.add(id(child.attr))
        elif isinstance(child, cst.Arg) and child.keyword is not None:
            skipped.add(id(child.keyword))
        elif isinstance(child, cst.AssignTarget) and isinstance(child.target, cst.Name):
            skipped.add(id(child.target))
    names = (name for name in nodes_in(node) if isinstance(name, cst.Name))
    return [name for name in names if id(name) not in skipped]


_PRODUCTS = (cst.Multiply, cst.Divide, cst.MatrixMultiply, cst.FloorDivide, cst.Modulo, cst.Power)


def as_term(node: cst.BaseExpression) -> cst.BaseExpression:
    """The expression, in parentheses unless it can be added or subtracted as it is."""
    is_product = isinstance(node, cst.BinaryOperation) and isinstance(node.operator, _PRODUCTS)
    return node if is_product else enclosed(node)


def bare(node: cst.BaseExpression) -> cst.BaseExpression:
    """The expression without the parentheses around it."""
    return node.with_changes(lpar=node.lpar[1:], rpar=node.rpar[:-1]) if node.lpar else node


def enclosed(node: cst.BaseExpression) -> cst.BaseExpression:
    """The expression, in parentheses unless it binds at least as tightly as a call."""
    tight = (cst.Name, cst.Call, cst.Attribute, cst.Subscript, cst.BaseNumber, cst.BaseString)
    closed = (cst.List, cst.Dict, cst.Set, cst.ListComp, cst.DictComp, cst.SetComp)
    if isinstance(node, (*tight, *closed)) or node.lpar:
        return node
    return node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
