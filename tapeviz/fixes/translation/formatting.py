"""Values that are written into a text and read back: the expression that was written."""

from __future__ import annotations

import re

import libcst as cst

from ..forms import match
from ..nodes import dotted
from ..source import ParsedSource

_SOLE_FIELD = re.compile(r"\{\w*(:[^{}]*)?\}")
_SOLE_PERCENT = re.compile(r"%[-+ 0#]*\d*(\.\d+)?[efgdrs]")

_WRITERS = {
    "json.loads": ("json.dumps",),
    "pickle.loads": ("pickle.dumps",),
    "ast.literal_eval": ("repr", "str"),
    "eval": ("repr", "str"),
}
"""Functions that read a text or bytes, each with those that write what it reads."""


def written(source: ParsedSource, reading: cst.Call) -> cst.BaseExpression | None:
    """``x`` of ``json.loads(json.dumps(x))``, also where a name stands for the text."""
    writers = _WRITERS.get(dotted(reading.func), ())
    made = source.value_of(reading.args[0].value) if writers and reading.args else None
    if not isinstance(made, cst.Call) or dotted(made.func) not in writers:
        return None
    return made.args[0].value if made.args else None


def is_format_method(call: cst.Call) -> bool:
    """``"{:.2f}".format(x)``: one number, and no other text."""
    function = call.func
    if not isinstance(function, cst.Attribute) or function.attr.value != "format":
        return False
    text = function.value
    is_sole = isinstance(text, cst.SimpleString) and _SOLE_FIELD.fullmatch(
        str(text.evaluated_value)
    )
    return bool(is_sole) and len(call.args) == 1


def is_percent_format(node: cst.BinaryOperation) -> bool:
    """``"%.2f" % x``."""
    text = node.left if match(node, "_t % _x") else None
    return isinstance(text, cst.SimpleString) and bool(
        _SOLE_PERCENT.fullmatch(str(text.evaluated_value))
    )


def unformatted(node: cst.BaseExpression) -> cst.BaseExpression:
    """``t`` of ``f"{t:.3f}"``."""
    if isinstance(node, cst.FormattedString):
        return sole_expression(node) or node
    if isinstance(node, cst.Call) and dotted(node.func) == "str" and len(node.args) == 1:
        return node.args[0].value
    return node


def sole_expression(node: cst.FormattedString) -> cst.BaseExpression | None:
    """``t`` of ``f"{t:.3f}"``; None if there is more in it."""
    part = node.parts[0] if len(node.parts) == 1 else None
    return part.expression if isinstance(part, cst.FormattedStringExpression) else None
