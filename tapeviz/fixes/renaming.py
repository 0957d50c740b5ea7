"""Let the reads of a variable in a region of statements read a tensor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import libcst as cst

from .nodes import all_of, bound_names, called_name, nodes_in
from .plan import Plan
from .source import ParsedSource

WRITING_METHODS = (
    *("assign", "assign_add", "assign_sub"),
    *("scatter_nd_update", "scatter_nd_add", "scatter_nd_sub"),
    *("scatter_update", "scatter_add", "scatter_sub"),
)
# Only a variable has these methods, not a tensor in its place.
STATE_METHODS = frozenset(
    (
        *WRITING_METHODS,
        *("batch_scatter_update", "load", "count_up_to"),
        *("trainable", "initializer", "handle", "name", "path"),
    )
)
_READS = ("value", "read_value")


def reads_of(
    source: ParsedSource, receiver: cst.BaseExpression, region: Iterable[cst.CSTNode]
) -> Iterator[cst.CSTNode]:
    """The nodes at which the region reads the variable that ``receiver`` spells, to be replaced."""
    for statement in region:
        hidden = _shadowed(source, receiver, statement)
        for node in nodes_in(statement):
            if (
                type(node) is type(receiver)
                and node.deep_equals(receiver)
                and id(node) not in hidden
            ):
                whole = _read_at(source, node)
                if whole is not None:
                    yield whole


def rename_reads(
    plan: Plan, receiver: cst.BaseExpression, new: str, region: Iterable[cst.CSTNode]
) -> int:
    """Make the region read ``new`` in place of the variable; how many reads there were."""
    count = 0
    for node in reads_of(plan.source, receiver, region):
        plan.replace(node, new)
        count += 1
    return count


def _read_at(source: ParsedSource, node: cst.CSTNode) -> cst.CSTNode | None:
    parent = source.parent(node)
    if isinstance(parent, cst.Arg) and parent.keyword is node:
        return None
    if isinstance(parent, (cst.AssignTarget, cst.Param, cst.AugAssign, cst.AnnAssign, cst.AsName)):
        return None if getattr(parent, "value", None) is not node else node
    if isinstance(parent, (cst.For, cst.CompFor, cst.NamedExpr)) and parent.target is node:
        return None
    if isinstance(parent, cst.Attribute):
        if parent.attr is node or parent.attr.value in STATE_METHODS:
            return None
        if parent.attr.value in _READS:
            above = source.parent(parent)
            return above if isinstance(above, cst.Call) and above.func is parent else parent
    if isinstance(parent, (cst.Element, cst.StarredElement)) and _is_target(source, parent):
        return None
    if isinstance(parent, (cst.Global, cst.Nonlocal, cst.NameItem)):
        return None
    return node


def _is_target(source: ParsedSource, element: cst.CSTNode) -> bool:
    for above in source.ancestors(element):
        if isinstance(above, (cst.AssignTarget, cst.CompFor, cst.For)):
            value = above.target
            return any(node is element for node in nodes_in(value))
        if isinstance(above, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
            return False
    return False


def _shadowed(
    source: ParsedSource, receiver: cst.BaseExpression, statement: cst.CSTNode
) -> set[int]:
    """Nodes inside functions and comprehensions that have a name of their own for it."""
    if not isinstance(receiver, cst.Name):
        return set()
    hidden: set[int] = set()
    for node in nodes_in(statement):
        own: set[str] = set()
        if isinstance(node, (cst.FunctionDef, cst.Lambda)):
            own = {param.name.value for param in all_of(node.params, cst.Param)}
            if isinstance(node, cst.FunctionDef):
                own |= bound_names(node.body)
        elif isinstance(node, (cst.ListComp, cst.GeneratorExp, cst.SetComp, cst.DictComp)):
            own = {
                name.value
                for part in all_of(node, cst.CompFor)
                for name in all_of(part.target, cst.Name)
            }
        if receiver.value in own:
            hidden.update(map(id, nodes_in(node)))
    return hidden


def is_rebound(receiver: cst.BaseExpression, region: Iterable[cst.CSTNode]) -> bool:
    """Whether the region gives the name to something else."""
    if not isinstance(receiver, cst.Name):
        return False
    return any(receiver.value in bound_names(statement) for statement in region)


def functions_that_read(source: ParsedSource, receiver: cst.BaseExpression) -> frozenset[str]:
    """Functions of the text in whose bodies the variable occurs."""
    return frozenset(
        function.name.value
        for function in all_of(source.module, cst.FunctionDef)
        if any(True for _ in reads_of(source, receiver, [function.body]))
    )


def calls_any(region: Iterable[cst.CSTNode], functions: frozenset[str]) -> bool:
    return any(called_name(call) in functions for node in region for call in all_of(node, cst.Call))
