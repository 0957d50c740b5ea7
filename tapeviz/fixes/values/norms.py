"""Write norms and deviations, which have no slope at zero, with a little under the root."""

from __future__ import annotations

import libcst as cst

from ..model import FixCase
from ..nodes import argument, called_name, dotted
from ..rewrites import CallRewrite, template

_TINY = "1e-12"


def _root(case: FixCase, call: cst.Call, more: str = "") -> str:
    """The root of the sum of squares along the axes of a call; empty for a norm of another order.

    ``more``: further arguments of the sum, as they stand behind a comma.
    """
    source, tf = case.source, case.source.tf
    given = argument(call, 0, "tensor", "input_tensor", "x")
    has_order = called_name(call) != "reduce_euclidean_norm"
    order = argument(call, 1, "ord") if has_order else None
    if given is None or (order is not None and source.code(order) not in _EUCLIDEAN):
        return ""
    axis_at = 2 if has_order else 1
    axis = argument(call, axis_at, "axis")
    of_matrices = axis is not None and isinstance(axis, (cst.List, cst.Tuple))
    if of_matrices and order is not None and source.code(order) in ("2", "2.0"):
        return ""  # over two axes that is the largest singular value (tf.norm, 2.15-2.21)
    rest = ""
    for place, name in enumerate(("axis", "keepdims"), start=axis_at):
        arg = argument(call, place, name)
        rest += f", {name}={source.code(arg)}" if arg is not None else ""
    square = f"{tf}.square({source.code(given)})"
    return f"{tf}.sqrt({tf}.reduce_sum({square}{rest}{more}) + {_TINY})"


_EUCLIDEAN = ("2", "2.0", "'euclidean'", '"euclidean"', "'fro'", '"fro"', "None")


def _both(case: FixCase, call: cst.Call) -> str:
    """``tf.linalg.normalize(x)``, which gives the quotient and the norm."""
    given = argument(call, 0, "tensor")
    norm = _root(case, call, ", keepdims=True")
    if not dotted(call.func).endswith("linalg.normalize") or given is None or not norm:
        return ""
    return f"(lambda norm: ({case.source.operand(given)} / norm, norm))({norm})"


def _of_all(case: FixCase, call: cst.Call) -> str:
    """The norm of several tensors together, as ``tf.linalg.global_norm`` defines it."""
    source, tf = case.source, case.source.tf
    given = argument(call, 0, "t_list")
    if given is None:
        return ""
    squares = f"[{tf}.reduce_sum({tf}.square(t)) for t in {source.code(given)}]"
    return f"{tf}.sqrt({tf}.add_n({squares}) + {_TINY})"


def _clipped(case: FixCase, call: cst.Call) -> str:
    """``tf.clip_by_global_norm``, given such a norm of the same tensors."""
    source, norm = case.source, _of_all(case, call)
    if not norm or argument(call, 2, "use_norm") is not None:
        return ""
    given = source.further_arguments(call).removeprefix(", ")
    return f"{source.code(call.func)}({given}, use_norm={norm})"


_TITLE = "A norm that is smooth at zero"

SAFE_NORMS = (
    CallRewrite(("norm", "reduce_euclidean_norm"), _root, _TITLE),
    CallRewrite(("normalize",), _both, _TITLE),
    CallRewrite(("global_norm",), _of_all, _TITLE),
    CallRewrite(("clip_by_global_norm",), _clipped, _TITLE),
    CallRewrite(
        ("reduce_std", "std"),
        template(f"{{tf}}.sqrt({{tf}}.math.reduce_variance({{args}}) + {_TINY})"),
        "A deviation that is smooth at zero",
    ),
)
"""The same functions with a slope where their own has none."""
