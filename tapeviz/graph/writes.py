"""Write the words on the node of an assign op: ``x[:2,:2] ← patch``."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from ..text.source import SourceText
from ..trace.ids import VariableId
from ..trace.model import Trace
from ..trace.ops import Op
from ..trace.sites import StackFrame
from .words import joined, line_words, write_word

_SIGNS = {"assign": "←", "assign_add": "+=", "assign_sub": "−="}
_METHODS = (
    *("assign", "assign_add", "assign_sub"),
    *("scatter_update", "scatter_add", "scatter_sub", "scatter_max", "scatter_min"),
    *("scatter_nd_update", "scatter_nd_add", "scatter_nd_sub", "batch_scatter_update"),
)
_LONGEST_VALUE = 22


class WriteWords:
    """The words on the assigns of one trace; parses the snippet once."""

    def __init__(self, trace: Trace, names: Mapping[VariableId, str]) -> None:
        self._names = names
        self._source = SourceText(trace.source)
        self._calls: dict[StackFrame, ast.Call | None] = {}

    def of(self, op: Op) -> tuple[str, str]:
        """Title and subtitle of an assign op."""
        name = self._names[VariableId(op.inputs[0])]
        word = write_word(op.type)
        title = f"{name} ←"
        call = self._call(op)
        if call is not None and isinstance(call.func, ast.Attribute):
            sign = _SIGNS.get(call.func.attr, "←")
            where = self._subscript(call.func.value) if "StridedSlice" in op.type else ""
            title = f"{name}{where} {sign} {self._value(call)}".rstrip()
        elif word in _SIGNS:
            title = f"{name} {_SIGNS[word]}"
        return title, joined((word, line_words(op.line)))

    def _call(self, op: Op) -> ast.Call | None:
        """The ``….assign…(…)`` call that the op ran in, None if the text does not show it."""
        if not op.site.frames:
            return None
        frame = op.site.frames[0]
        if frame not in self._calls:
            calls = (self._source.call_at(frame.span, method) for method in _METHODS)
            self._calls[frame] = next((call for call in calls if _is_write(call)), None)
        return self._calls[frame]

    def _subscript(self, receiver: ast.expr) -> str:
        """The slice that was written, as text in brackets; empty without one."""
        if not isinstance(receiver, ast.Subscript):
            return ""
        return f"[{self._source.segment(receiver.slice).replace(' ', '')}]"

    def _value(self, call: ast.Call) -> str:
        value = call.args[-1] if call.args else None
        for keyword in call.keywords:
            if keyword.arg in ("value", "delta", "sparse_delta", "updates"):
                value = keyword.value
        text = self._source.segment(value) if value is not None else ""
        return text if len(text) <= _LONGEST_VALUE else "…"


def _is_write(call: ast.Call | None) -> bool:
    return (
        call is not None
        and isinstance(call.func, ast.Attribute)
        and call.func.attr.startswith(("assign", "scatter"))
    )
