"""Read what a line writes into a variable's state, and how."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import libcst as cst

from ...trace.model import Trace
from ..nodes import all_of, argument, as_term, called_name, dotted
from ..renaming import WRITING_METHODS
from ..source import CstStatement, ParsedSource
from .slices import with_part

_MODULES = ("state_ops", "v1", "K", "backend")


@dataclass(frozen=True, slots=True)
class Write:
    """``receiver``: the expression of the variable; ``subscript``: the slice of it, if one.

    ``values``: what is written (indices and updates of a scatter).
    """

    call: cst.Call
    statement: CstStatement
    receiver: cst.BaseExpression
    subscript: cst.Subscript | None
    method: str
    values: tuple[cst.BaseExpression, ...]
    first: int = 0
    """Where among the arguments the values begin."""

    def in_call(self, call: cst.Call) -> Write:
        """The same write with the values of a changed call."""
        values = _values(call, self.method, self.first)
        return replace(self, values=values) if values is not None else self

    @property
    def is_whole(self) -> bool:
        """Whether nothing of the former state stays."""
        return self.method == "assign" and self.subscript is None


def writes_on(source: ParsedSource, line: int, is_slice: bool = False) -> list[Write]:
    """The writes on a line. ``is_slice``: a subscript is a slice of one variable, not of a list."""
    found = (
        write_of(source, call, is_slice) for call in source.calls(line, *WRITING_METHODS, "update")
    )
    return [write for write in found if write is not None]


def writes_to(
    source: ParsedSource,
    receiver: cst.BaseExpression,
    region: Iterable[cst.CSTNode],
    is_slice: bool,
) -> Iterator[Write]:
    """The writes to the same variable in a region."""
    for statement in region:
        for call in all_of(statement, cst.Call):
            if called_name(call) in WRITING_METHODS:
                write = write_of(source, call, is_slice)
                if write is not None and write.receiver.deep_equals(receiver):
                    yield write


def write_of(source: ParsedSource, call: cst.Call, is_slice: bool) -> Write | None:
    statement = source.statement_of(call)
    if statement is None or not isinstance(call.func, cst.Attribute):
        return None
    method = call.func.attr.value
    receiver: cst.BaseExpression = call.func.value
    first = 0
    module = dotted(receiver)
    if module == source.tf or module.rsplit(".", 1)[-1] in _MODULES:  # tf.assign(c, value)
        given = argument(call, 0, "ref", "x")
        if given is None:
            return None
        receiver, first = given, 1
        method = "assign" if method == "update" else method
    if method not in WRITING_METHODS:
        return None
    values = _values(call, method, first)
    if values is None:
        return None
    subscript = receiver if is_slice and isinstance(receiver, cst.Subscript) else None
    if subscript is not None:
        receiver = subscript.value
    return Write(call, statement, receiver, subscript, method, values, first)


def _values(call: cst.Call, method: str, first: int) -> tuple[cst.BaseExpression, ...] | None:
    if method.startswith("scatter_nd"):
        indices, values = argument(call, first, "indices"), argument(call, first + 1, "updates")
    elif method.startswith("scatter"):
        delta = argument(call, first, "sparse_delta")
        if delta is None or not isinstance(delta, cst.Call):
            return None
        if called_name(delta) != "IndexedSlices":
            return None
        indices, values = argument(delta, 1, "indices"), argument(delta, 0, "values")
    else:
        value = argument(call, first, "value", "delta")
        return (value,) if value is not None else None
    return (indices, values) if indices is not None and values is not None else None


def new_value(
    source: ParsedSource, write: Write, now: str, trace: Trace
) -> cst.BaseExpression | None:
    """The state after the write as an expression; ``now``: what stands for the state before it."""
    tf, code = source.tf, source.code
    last = write.values[-1]
    if write.method == "assign":
        if write.subscript is not None:
            text = with_part(tf, now, write.subscript, _shape(trace, write), code(last))
            return cst.parse_expression(text) if text else None
        if isinstance(last, (cst.List, cst.Tuple)):
            return cst.parse_expression(f"{tf}.convert_to_tensor({code(last)})")
        return last
    if write.method in ("assign_add", "assign_sub"):
        sign = "+" if write.method == "assign_add" else "-"
        return cst.parse_expression(f"{now} {sign} {code(as_term(last))}")
    how = write.method.rsplit("_", 1)[-1]
    indices = code(write.values[0])
    if "nd" not in write.method:
        indices = f"{tf}.expand_dims({indices}, -1)"
    return cst.parse_expression(f"{tf}.tensor_scatter_nd_{how}({now}, {indices}, {code(last)})")


def _shape(trace: Trace, write: Write) -> tuple[int | None, ...] | None:
    """The shape of the variable that is written to, found by its name."""
    name = cst.Module([]).code_for_node(write.receiver)
    for tensor, names in trace.names.items():
        variable = trace.variable(tensor)
        if variable is not None and name in names:
            return variable.shape
    return None
