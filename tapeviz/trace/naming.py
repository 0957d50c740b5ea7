"""Variables and the names bound to them in, what each is called out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from .model import TensorId, Variable, VariableId


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
