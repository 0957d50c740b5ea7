"""Variables and the names bound to them in, what each is called out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from .model import TensorId, Variable, VariableId


def variable_names(
    variables: Mapping[VariableId, Variable], names: Mapping[TensorId, tuple[str, ...]]
) -> dict[VariableId, str]:
    """A name for each variable, one that no other has where possible.

    The snippet's own (``w``, ``weights[0]``) before Keras's path (``dense/kernel``) before
    TensorFlow's; a loop variable or parameter that was bound to several variables comes last.
    """
    candidates = {
        variable.id: _candidates(variable, names.get(TensorId(variable.id), ()))
        for variable in variables.values()
    }
    holders = Counter(name for known in candidates.values() for name in set(known))
    return {
        variable: next((name for name in known if holders[name] == 1), known[0])
        for variable, known in candidates.items()
    }


def _candidates(variable: Variable, bound: tuple[str, ...]) -> list[str]:
    plain = [name for name in bound if name.isidentifier()]
    with_keys = [name for name in bound if not name.isidentifier()]
    path = ["/".join(variable.path.split("/")[-2:]), variable.path, variable.name]
    return [name for name in (*plain, *with_keys, *path) if name] or ["Variable"]
