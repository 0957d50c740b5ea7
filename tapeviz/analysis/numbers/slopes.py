"""Slopes that are 0 because of what a gradient function leaves aside."""

from __future__ import annotations

import numpy as np

from ...trace.model import Op, Step
from ..call_facts import CallFacts
from ..status import is_zero

_FOLLOWED = {"LogMatrixDeterminant": 1}
"""The output whose gradient alone is used, of ops with several: the sign of a determinant has no
slope (``_LogMatrixDeterminantGrad`` in linalg_grad.py, 2.15-2.21)."""
_DECOMPOSING = frozenset({"SelfAdjointEigV2", "Svd"})


def is_of_other_output(facts: CallFacts, step: Step | None, op: Op) -> bool:
    """Whether a gradient came only for outputs whose gradients the gradient function ignores."""
    followed = _FOLLOWED.get(op.type)
    if followed is None or step is None or followed >= len(step.upstream):
        return False
    given = step.upstream[followed]
    return given is None or is_zero(facts.trace.stats(given))


def becomes_complex(facts: CallFacts, op: Op) -> bool:
    """Whether a cast makes complex numbers of real ones: of the gradient it takes the real part."""
    is_cast = op.type == "Cast" and facts.dtype(op.outputs[0]).startswith("complex")
    return is_cast and not facts.dtype(op.inputs[0]).startswith("complex")


def has_equal_values(facts: CallFacts, op: Op) -> bool:
    """Whether two eigenvalues, or singular values, are equal: the slope of their vectors is not
    defined there, and is taken as 0 (``_SafeReciprocal`` and ``_SvdGrad`` in linalg_grad.py,
    2.15-2.21)."""
    values = facts.trace.value(op.outputs[0]) if op.type in _DECOMPOSING else None
    return values is not None and bool((np.diff(np.sort(values)) == 0).any())
