"""Write the local vector–Jacobian product of an op as a formula.

``ḡ`` is the upstream gradient, ``a``, ``b``, ``c``, … are the op's inputs in order, ``y`` is its
output (``ḡ₁``, ``ḡ₂``, ``y₁``, … where there are several). One part for each input that gets a
gradient, separated by `` , ``; ``·`` is elementwise, nothing between two matrices their product,
``Σ`` a sum over the axes that were broadcast or reduced, ``n`` the number of elements averaged.

Source: TensorFlow's gradient functions in ``python/ops/math_grad.py``, ``array_grad.py``,
``nn_grad.py``, ``linalg_grad.py``, ``manip_grad.py`` and ``resource_variable_ops.py`` (2.15–2.21).
Where inputs broadcast, TensorFlow sums each part to its input's shape; that sum is not repeated
in every line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ...text.op_words import function_words
from ...trace.op_kinds import WRITTEN_FORMULAS
from ...trace.ops import Op

Formula = str | Callable[[Op], str]
NO_GRADIENT = "no gradient"


def formula(op: Op) -> str:
    """The local vector–Jacobian product; without an entry in :data:`FORMULAS` who computes it."""
    if op.is_recorded_operation:
        return (
            f"gradient given by {function_words(op.function)}"
            if op.function
            else "gradient of the function"
        )
    known = FORMULAS.get(op.type)
    if known is None:
        return f"gradient function of {op.type}"
    return known if isinstance(known, str) else known(op)


def _matmul(op: Op, a_key: str = "transpose_a", b_key: str = "transpose_b") -> str:
    """``_MatMulGrad``: four cases by which factor is transposed."""
    a_turned, b_turned = bool(op.attrs.get(a_key)), bool(op.attrs.get(b_key))
    return {
        (False, False): "ḡ bᵀ , aᵀ ḡ",
        (False, True): "ḡ b , ḡᵀ a",
        (True, False): "b ḡᵀ , a ḡ",
        (True, True): "bᵀ ḡᵀ , ḡᵀ aᵀ",
    }[a_turned, b_turned]


def _batch_matmul(op: Op) -> str:
    """``_BatchMatMul``: adj_x and adj_y also conjugate."""
    return _matmul(op, "adj_x", "adj_y")


def _concat(op: Op) -> str:
    """``_ConcatGradV2``: the last input is the axis."""
    parts = len(op.inputs) - 1
    return _slices(parts, "ḡ[part of {}]")


def _pack(op: Op) -> str:
    """``_PackGrad``: unstacks along ``axis``."""
    return _slices(len(op.inputs), "ḡ[{}]", numbers=True)


def _slices(count: int, form: str, *, numbers: bool = False) -> str:
    names = [str(index) if numbers else chr(ord("a") + index) for index in range(min(count, 3))]
    return " , ".join(form.format(name) for name in names) + (" , …" if count > 3 else "")


def _add_n(op: Op) -> str:
    return " , ".join("ḡ" for _ in op.inputs[:3]) + (" , …" if len(op.inputs) > 3 else "")


def _cast(op: Op) -> str:
    """``_CastGrad``: None unless both dtypes are float or complex."""
    target = str(op.attrs.get("DstT", "float32"))
    is_float = target.startswith(("float", "bfloat", "complex"))
    return "ḡ cast like a" if is_float else NO_GRADIENT


def _einsum(op: Op) -> str:
    """``_EinsumGrad``: swap an operand's indices with the output's."""
    left, arrow, right = str(op.attrs.get("equation", "")).partition("->")
    inputs = left.split(",")
    if not arrow or "..." in left or len(inputs) != 2:
        return "einsum of ḡ and the other input"
    a, b = inputs
    return f"einsum({right},{b}→{a}: ḡ, b) , einsum({right},{a}→{b}: ḡ, a)"


FORMULAS: Mapping[str, Formula] = {
    **WRITTEN_FORMULAS,
    "AddN": _add_n,
    "MatMul": _matmul,
    "BatchMatMul": _batch_matmul,
    "BatchMatMulV2": _batch_matmul,
    "BatchMatMulV3": _batch_matmul,
    "Einsum": _einsum,
    "Cast": _cast,
    "ConcatV2": _concat,
    "Pack": _pack,
}
