"""A gradient call's operands as ids in, the words that the snippet has for them out."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from ..text.source import SourceText, is_plain_path
from . import events as e
from .model import Operand, TensorId, Variable, VariableId
from .naming import is_numbered, variable_names


class OperandWords:
    """Words for operands, once all names are bound that the snippet binds."""

    def __init__(
        self,
        text: SourceText,
        names: Mapping[TensorId, tuple[str, ...]],
        variables: Mapping[VariableId, Variable],
    ) -> None:
        self._text = text
        self._names = names
        self._variables = variable_names(variables, names)

    def operand(self, operand: e.RawOperand, expression: ast.expr | None) -> Operand:
        """The expression itself where it names one thing, else the name of what it gave."""
        tensor = TensorId(operand.tensor) if operand.tensor else None
        written = self._text.element(expression, operand.keys)
        own = self._variables.get(VariableId(tensor), "") if tensor is not None else ""
        says_less = _is_anonymous(written) or (is_numbered(written) and _says_more(own))
        text = written if is_plain_path(written) and not says_less else own
        if not text and tensor is not None:
            text = next(iter(self._names.get(tensor, ())), "")
        kind: Any = operand.kind
        return Operand(text or written or operand.name or "?", tensor, kind, operand.type)


def _says_more(own: str) -> bool:
    """Whether a variable's own name is better than ``vs[6]``: not another place in a list."""
    return bool(own) and not is_numbered(own) and own not in ("Variable", "Variable:0")


def _is_anonymous(written: str) -> bool:
    """``model.trainable_variables[3]`` says less than the weight's own name."""
    return "variables[" in written or "weights[" in written
