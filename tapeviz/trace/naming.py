"""Variables, the operands of gradient calls and the snippet's names in, what each is called out."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from ..text.source import SourceText, is_plain_path
from . import events as e
from .model import Operand, TensorId, Variable, VariableId


def variable_names(
    variables: Mapping[VariableId, Variable], names: Mapping[TensorId, tuple[str, ...]]
) -> dict[VariableId, str]:
    """A name for each variable, the one that fewest others have too.

    The snippet's own (``w``, ``self.w``) before Keras's path (``dense/kernel``) before a place in a
    list (``weights[0]``) before TensorFlow's; a loop variable or parameter that was bound to
    several variables comes last.
    """
    candidates = {
        variable.id: _candidates(variable, names.get(TensorId(variable.id), ()))
        for variable in variables.values()
    }
    holders = Counter(name for known in candidates.values() for name in set(known))
    return {variable: min(known, key=holders.__getitem__) for variable, known in candidates.items()}


def _candidates(variable: Variable, bound: tuple[str, ...]) -> list[str]:
    plain = [name for name in bound if name.isidentifier()]
    keyed = [name for name in bound if not name.isidentifier()]
    own = [name for name in keyed if not is_numbered(name)]
    numbered = [name for name in keyed if is_numbered(name)]
    path = ["/".join(variable.path.split("/")[-2:]), variable.path]
    rest = (*path, *numbered) if "/" in variable.path else (*numbered, *path)
    ordered = (*plain, *own, *rest, variable.name)
    return [name for name in ordered if name] or ["Variable"]


def is_numbered(name: str) -> bool:
    """Whether a name says no more than a place in a list: ``weights[0]``."""
    return re.search(r"\[\d+\]$", name) is not None


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
