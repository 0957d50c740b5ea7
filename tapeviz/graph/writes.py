"""A write to a variable and the snippet's text in, the words for it out: ``x[:2,:2] ← patch``."""

from __future__ import annotations

import ast

from ..trace.expressions import SourceText
from ..trace.model import Op, Trace, VariableId
from .words import joined, line_words, variable_name, write_word

_SIGNS = {"assign": "←", "assign_add": "+=", "assign_sub": "−="}
_LONGEST_VALUE = 22


class WriteWords:
    """Words for the assigns of one trace; parses the snippet once."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._source = SourceText(trace.source)

    def of(self, op: Op) -> tuple[str, str]:
        """Title and subtitle of an assign op."""
        name = variable_name(self._trace, self._trace.variables[VariableId(op.inputs[0])])
        word = write_word(op.type)
        title = f"{name} ←"
        call = self._call(op)
        if call is not None and isinstance(call.func, ast.Attribute):
            sign = _SIGNS.get(call.func.attr, "←")
            title = f"{name}{self._subscript(call.func.value)} {sign} {self._value(call)}".rstrip()
        elif word in _SIGNS:
            title = f"{name} {_SIGNS[word]}"
        return title, joined((word, line_words(op.line)))

    def _call(self, op: Op) -> ast.Call | None:
        """The ``….assign…(…)`` call that this op ran in, when the text lets one say so."""
        for frame in op.site.frames[:1]:
            for method in ("assign", "assign_add", "assign_sub"):
                call = self._source.call_at(frame, method)
                if (
                    call is not None
                    and isinstance(call.func, ast.Attribute)
                    and call.func.attr.startswith(("assign", "scatter"))
                ):
                    return call
        return None

    def _subscript(self, receiver: ast.expr) -> str:
        if not isinstance(receiver, ast.Subscript):
            return ""
        inside = self._source.segment(receiver.slice).replace(" ", "")
        # `for v in pair: v.assign(…)` and `c[0].assign(…)`: an element of a list is no slice,
        # and the variable's own name says which element it is.
        is_slice = any(isinstance(node, ast.Slice) for node in ast.walk(receiver.slice))
        return f"[{inside}]" if is_slice or isinstance(receiver.slice, ast.Tuple) else ""

    def _value(self, call: ast.Call) -> str:
        value = call.args[0] if call.args else None
        for keyword in call.keywords:
            if keyword.arg in ("value", "delta"):
                value = keyword.value
        text = self._source.segment(value) if value is not None else ""
        return text if len(text) <= _LONGEST_VALUE else "…"
