"""Find where Python got the shape or size of a tensor: ``len(x)``, ``tf.size(x)``, ``x.shape``.

TensorFlow runs no op for these where it knows the shape (``size_internal`` in array_ops.py, 2.15 to
2.21), so the number that comes out is a constant without a past.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Set
from typing import NamedTuple

from ...text.names import called_name
from ...trace.ids import TensorId
from ...trace.op_kinds import ops_with
from ..call_facts import CallFacts
from ..flow.ancestry import Position
from .steering import carriers, read_on

_FUNCTIONS = ("len", "size", "rank")
_ATTRIBUTES = ("shape", "get_shape", "ndim")
_SIZED_BY_DATA = ops_with("data-sized")


class FormRead(NamedTuple):
    """The form of a tensor, read on ``line`` by the expression ``words``. ``tensors``: those that
    it may be the form of, the latest last."""

    line: int
    words: str
    tensors: tuple[TensorId, ...]


def forms_read(facts: CallFacts, ran: Set[int]) -> list[FormRead]:
    """The forms that one of the lines ``ran`` computes with, the last line first; those that a line
    only compares come behind its others."""
    text = facts.text
    reads = {read for line in ran for read in read_on(text, line)}
    compared = {
        id(x) for each in text.nodes if isinstance(each, ast.Compare) for x in ast.walk(each)
    }
    found = list[tuple[bool, FormRead]]()
    for node in text.nodes:
        of = _of_which(node)
        if not isinstance(node, ast.expr) or of is None:
            continue
        if node.lineno in ran or carriers(text, node.lineno) & reads:
            tensors = tuple(_tensors(facts, of))
            form = FormRead(node.lineno, ast.unparse(node), tensors)
            found += [(id(node) in compared, form)] if tensors else []
    return [form for _, form in sorted(found, key=lambda each: (-each[1].line, each[0]))]


def _of_which(node: ast.AST) -> ast.expr | None:
    if isinstance(node, ast.Call) and called_name(node) in _FUNCTIONS and node.args:
        return node.args[0]
    return node.value if isinstance(node, ast.Attribute) and node.attr in _ATTRIBUTES else None


def _tensors(facts: CallFacts, of: ast.expr) -> Iterator[TensorId]:
    """The meanings of a name before the gradient call (of ``sparse.values`` those of ``sparse`` as
    well), or what ran last in an expression."""
    for named in (of, of.value if isinstance(of, ast.Attribute) else of):
        given = facts.flow.bound.get(ast.unparse(named), ())
        before = [tensor for when, tensor, _ in given if when < facts.call.when]
        if before:
            yield from before
            return
    whole = facts.text.span(of)
    for op in facts.trace.ops.values():
        frame = op.site.frames[0] if op.site.frames else None
        if frame is None or op.when >= facts.call.when or not op.outputs:
            continue
        at = frame.span
        if whole[:2] <= at[:2] and at[2:] <= whole[2:]:
            yield op.outputs[0]


def first_made_from(
    facts: CallFacts, forms: Iterable[FormRead], starts: Set[Position]
) -> tuple[FormRead, bool] | None:
    """The first of these forms that is of a tensor made from a source, and whether the size of that
    tensor depends on values: then the number is a count."""
    for form in forms:
        for tensor in reversed(form.tensors):
            reached = facts.flow.ancestry([tensor]).leads_from(starts)
            if tensor in reached and tensor not in starts:
                return form, has_size_by_values(facts, reached)
    return None


def has_size_by_values(facts: CallFacts, reached: Iterable[Position]) -> bool:
    """Whether an op made one of these tensors of which the size depends on values."""
    makers = (facts.trace.maker(each) for each in reached if isinstance(each, int))
    return any(op is not None and op.type in _SIZED_BY_DATA for op in makers)
