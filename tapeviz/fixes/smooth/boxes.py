"""Let boxes that do not overlap count by the box around both."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..forms import matches
from ..model import Edit, FixCase
from ..nodes import all_of, called_name, enclosed, is_call_to, is_zero, nodes_in
from ..plan import Plan
from ..source import ParsedSource

_SWAPPED = {"minimum": "maximum", "maximum": "minimum"}
_QUOTIENTS = ("_a / _b", "divide(_a, _b)", "divide_no_nan(_a, _b)", "truediv(_a, _b)")


def add_enclosing_box(case: FixCase) -> Iterator[Edit]:
    """``inter / union`` → ``(inter / union - (hull - union) / hull)``, where ``hull`` is the area
    of the smallest box around both (GIoU: Rezatofighi et al. 2019, algorithm 1).

    ``inter`` is made of ``min(a, b) - max(c, d)``; the sides of the hull are the same with minimum
    and maximum exchanged.
    """
    source = case.source
    for divided, (area, of) in matches(nodes_in(source.module), *_QUOTIENTS):
        inter = _written_out(source, area)
        names = {called_name(call) for call in all_of(inter, cst.Call) if _is_choice(call)}
        if not names.issuperset(_SWAPPED):
            continue
        plan = Plan(source)
        hull, statement = plan.fresh_name("hull"), plan.statement_begun_by(divided)
        if statement is None:
            continue
        plan.before(statement, f"{hull} = {source.code(_visited(inter, _Exchanged()))}")
        union = source.operand(of)
        plan.replace(divided, f"({source.code(divided)} - ({hull} - {union}) / {hull})")
        yield from plan.edits("Estimate: let the box around both count, as GIoU does")


class _WrittenOut(cst.CSTTransformer):
    """Names become what they are bound to, as far as that holds a minimum or maximum."""

    def __init__(self, source: ParsedSource) -> None:
        super().__init__()
        self._source = source

    def leave_Attribute(
        self, original_node: cst.Attribute, updated_node: cst.Attribute
    ) -> cst.Attribute:
        return updated_node.with_changes(attr=original_node.attr)

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        made = self._source.bound_to(original_node)
        if made is None or not any(map(_is_choice, self._source.behind(made))):
            return updated_node
        return enclosed(_written_out(self._source, made))


def _written_out(source: ParsedSource, node: cst.BaseExpression) -> cst.BaseExpression:
    return _visited(node, _WrittenOut(source))


class _Exchanged(cst.CSTTransformer):
    """``minimum`` in the place of ``maximum`` and the other way round, but for bounds at 0."""

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.Call:
        if not _is_choice(updated_node):
            return updated_node
        func, other = updated_node.func, cst.Name(_SWAPPED[called_name(updated_node)])
        is_method = isinstance(func, cst.Attribute)
        return updated_node.with_changes(func=func.with_changes(attr=other) if is_method else other)


def _visited(node: cst.BaseExpression, transformer: cst.CSTTransformer) -> cst.BaseExpression:
    visited = node.visit(transformer)
    assert isinstance(visited, cst.BaseExpression)
    return visited


def _is_choice(node: cst.CSTNode) -> bool:
    """Whether this is ``minimum(a, b)`` or ``maximum(a, b)``, and no bound such as
    ``maximum(x, 0.0)``."""
    return is_call_to(node, *_SWAPPED) and not any(is_zero(arg.value) for arg in node.args)
