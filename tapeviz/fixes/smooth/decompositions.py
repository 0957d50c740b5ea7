"""Keep matrices away from those that have no inverse, or no determined eigenvectors."""

from __future__ import annotations

import libcst as cst

from ..model import FixCase
from ..nodes import argument
from ..rewrites import CallRewrite


def _with_diagonal(case: FixCase, call: cst.Call, diagonal: str) -> str:
    """``tf.linalg.logdet(K)`` → of ``K`` with something added along its diagonal. ``diagonal``:
    with ``{tf}``, and ``{size}`` and ``{dtype}`` of ``K``."""
    source, tf = case.source, case.source.tf
    given = argument(call, 0, "matrix", "input", "tensor")
    if given is None:
        return ""
    k = source.operand(given)
    added = diagonal.format(tf=tf, size=f"{tf}.shape({k})[-1]", dtype=f"{k}.dtype")
    return f"{source.code(call.func)}({k} + {added}{source.further_arguments(call, given)})"


def _with_jitter(case: FixCase, call: cst.Call) -> str:
    return _with_diagonal(case, call, "1e-4 * {tf}.eye({size}, dtype={dtype})")


JITTER = CallRewrite(
    ("logdet", "slogdet", "det", "cholesky", "inv", "sqrtm", "svd", "eigh"),
    _with_jitter,
    "Estimate: add 0.0001 along the diagonal, so that the matrix is not singular",
)


def _with_steps(case: FixCase, call: cst.Call) -> str:
    steps = "{tf}.linalg.diag(1e-3 * {tf}.cast({tf}.range({size}), {dtype}))"
    return _with_diagonal(case, call, steps)


DISTINCT = CallRewrite(
    ("svd", "eigh"),
    _with_steps,
    "Estimate: add 0, 0.001, 0.002, … along the diagonal, so that no two values are equal",
)
