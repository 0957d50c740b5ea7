"""Tell what variables, operands of gradient calls and the snippet's tensors are called."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any

from ..text.source import SourceText, is_plain_path
from . import events as e
from .model import Operand, TensorId, Variable, VariableId

# What tf.Variable and keras.Variable are called that were given no name.
_DEFAULT_NAME = re.compile(r"variable(_\d+)?(:0)?", re.IGNORECASE)


def variable_names(
    variables: Mapping[VariableId, Variable],
    names: Mapping[TensorId, tuple[str, ...]],
    known_outside: Collection[str] = (),
) -> dict[VariableId, str]:
    """A name for each variable, the one that fewest others have too.

    A name that the snippet bound (``w``, ``self.w``) before Keras's path (``dense/kernel``) before
    the name that it was made with (``name="w"``) before a place in a list (``weights[0]``) before
    TensorFlow's; a loop variable or parameter that was bound to several variables comes last. Of
    several lists the first is taken, and those that are ``known_outside`` of a function (a
    module's names) or kept in an object before a function's own.
    """
    candidates = {
        variable.id: _candidates(variable, names.get(TensorId(variable.id), ()), known_outside)
        for variable in variables.values()
    }
    holders = Counter(name for known in candidates.values() for name in set(known))
    return {variable: min(known, key=holders.__getitem__) for variable, known in candidates.items()}


def _candidates(
    variable: Variable, bound: tuple[str, ...], known_outside: Collection[str]
) -> list[str]:
    plain = [name for name in bound if name.isidentifier()]
    keyed = [name for name in bound if not name.isidentifier()]
    own = [name for name in keyed if not is_numbered(name)]
    numbered = [name for name in keyed if is_numbered(name)]
    numbered.sort(key=lambda name: "." not in name and name.partition("[")[0] not in known_outside)
    path = ["/".join(variable.path.split("/")[-2:]), variable.path]
    rest = (*numbered, *path) if is_default(variable.path) else (*path, *numbered)
    ordered = (*plain, *own, *rest, variable.name)
    return [name.removesuffix(":0") for name in ordered if name] or ["Variable"]


def is_default(name: str) -> bool:
    """Whether TensorFlow or Keras gave a variable this name, for it was made without one."""
    return not name or _DEFAULT_NAME.fullmatch(name) is not None


def is_numbered(name: str) -> bool:
    """Whether a name says no more than a place in a list: ``weights[0]``."""
    return re.search(r"\[\d+\]$", name) is not None


class OperandWords:
    """Words for operands, once all names are bound that the snippet binds."""

    def __init__(
        self,
        text: SourceText,
        names: Mapping[TensorId, tuple[str, ...]],
        variable_names: Mapping[VariableId, str],
    ) -> None:
        self._text = text
        self._names = names
        self._variables = variable_names

    def operand(self, operand: e.RawOperand, expression: ast.expr | None) -> Operand:
        """The expression itself where it names one thing, else the name of what it gave."""
        tensor = TensorId(operand.tensor) if operand.tensor else None
        written = self._text.element(expression, operand.keys)
        own = self._variables.get(VariableId(tensor), "") if tensor is not None else ""
        # ``model.trainable_variables[3]`` says less than the weight's own name. So does ``vs[6]``
        # than the place in the list that it was put into first: ``vs`` may be made of several.
        is_anonymous = "variables[" in written or "weights[" in written
        says_less = is_anonymous or (is_numbered(written) and not is_default(own))
        text = written if is_plain_path(written) and not says_less else own
        if not text and tensor is not None:
            text = next(iter(self._names.get(tensor, ())), "")
        kind: Any = operand.kind
        return Operand(text or written or operand.name or "?", tensor, kind, operand.type)
