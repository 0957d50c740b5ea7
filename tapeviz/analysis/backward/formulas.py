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


_REDUCE_EXTREME = "ḡ / ties where a = y, else 0"
_REDUCE_SUM = "ḡ spread over a"
_RESHAPED = "ḡ reshaped like a"
FORMULAS: Mapping[str, Formula] = {
    # Arithmetic (math_grad.py)
    "Add": "ḡ , ḡ",
    "AddV2": "ḡ , ḡ",
    "AddN": _add_n,
    "Sub": "ḡ , −ḡ",
    "Mul": "ḡ·b , ḡ·a",
    "MulNoNan": "ḡ·b , ḡ·a",
    "RealDiv": "ḡ / b , −ḡ·a / b²",
    "Div": "ḡ / b , −ḡ·a / b²",
    "DivNoNan": "ḡ / b , −ḡ·a / b²  (0 where b = 0)",
    "Pow": "ḡ·b·aᵇ⁻¹ , ḡ·y·ln a",
    "Square": "2a·ḡ",
    "SquaredDifference": "2ḡ·(a − b) , −2ḡ·(a − b)",
    "Sqrt": "ḡ / 2y",
    "Rsqrt": "−ḡ·y³ / 2",
    "Reciprocal": "−ḡ·y²",
    "Inv": "−ḡ·y²",
    "Neg": "−ḡ",
    "Abs": "ḡ·sign a",
    "Sign": "0",
    "Exp": "ḡ·y",
    "Expm1": "ḡ·(y + 1)",
    "Log": "ḡ / a",
    "Log1p": "ḡ / (1 + a)",
    "Sin": "ḡ·cos a",
    "Cos": "−ḡ·sin a",
    "Tan": "ḡ / cos² a",
    "Asin": "ḡ / √(1 − a²)",
    "Acos": "−ḡ / √(1 − a²)",
    "Atan": "ḡ / (1 + a²)",
    "Atan2": "ḡ·b / (a² + b²) , −ḡ·a / (a² + b²)",
    "Sinh": "ḡ·cosh a",
    "Cosh": "ḡ·sinh a",
    "Tanh": "ḡ·(1 − y²)",
    "Asinh": "ḡ / cosh y",
    "Acosh": "ḡ / sinh y",
    "Atanh": "ḡ / (1 − a²)",
    "Erf": "ḡ·2/√π·e^(−a²)",
    "Erfc": "−ḡ·2/√π·e^(−a²)",
    "Lgamma": "ḡ·ψ(a)",
    "Digamma": "ḡ·ψ′(a)",
    "Xlogy": "ḡ·ln b , ḡ·a / b",
    "Maximum": "ḡ where a ≥ b , ḡ where a < b",
    "Minimum": "ḡ where a ≤ b , ḡ where a > b",
    "ClipByValue": "ḡ where b ≤ a ≤ c , Σ ḡ where a < b , Σ ḡ where a > c",
    "FloorMod": "ḡ , −ḡ·⌊a / b⌋",
    "Floor": NO_GRADIENT,
    "Ceil": NO_GRADIENT,
    "Round": NO_GRADIENT,
    "Rint": NO_GRADIENT,
    "FloorDiv": NO_GRADIENT,
    "ArgMax": NO_GRADIENT,
    "ArgMin": NO_GRADIENT,
    "MatMul": _matmul,
    "BatchMatMul": _batch_matmul,
    "BatchMatMulV2": _batch_matmul,
    "BatchMatMulV3": _batch_matmul,
    "Einsum": _einsum,
    "Cast": _cast,
    # Reductions and scans (math_grad.py)
    "Sum": _REDUCE_SUM,
    "Mean": "ḡ / n",
    "Prod": "ḡ·y / a",
    "Max": _REDUCE_EXTREME,
    "Min": _REDUCE_EXTREME,
    "Cumsum": "Σ ḡ from the end",
    "Cumprod": "(Σ ḡ·y from the end) / a",
    "EuclideanNorm": "ḡ·a / y",
    "UnsortedSegmentSum": "ḡ[segments]",
    "SegmentSum": "ḡ[segments]",
    # Form (array_grad.py, manip_grad.py)
    "Identity": "ḡ",
    "StopGradient": NO_GRADIENT,
    "PreventGradient": "raises an error",
    "Reshape": _RESHAPED,
    "ExpandDims": _RESHAPED,
    "Squeeze": _RESHAPED,
    "Transpose": "ḡᵀ",
    "ConjugateTranspose": "conj ḡᵀ",
    "ReverseV2": "ḡ reversed",
    "Roll": "ḡ rolled back",
    "ConcatV2": _concat,
    "Pack": _pack,
    "Unpack": "ḡ₁, ḡ₂, … stacked",
    "Split": "ḡ₁, ḡ₂, … joined",
    "SplitV": "ḡ₁, ḡ₂, … joined",
    "StridedSlice": "ḡ in the slice of a, else 0",
    "Slice": "ḡ in the slice of a, else 0",
    "Pad": "ḡ without the padding",
    "PadV2": "ḡ without the padding",
    "MirrorPad": "ḡ folded back on a",
    "Tile": "Σ ḡ over the copies",
    "BroadcastTo": "Σ ḡ over the copies",
    "Gather": "ḡ added into the rows b of 0",
    "GatherV2": "ḡ added into the rows b of 0",
    "ResourceGather": "ḡ added into the rows b of 0",
    "GatherNd": "ḡ added at b into 0",
    "ScatterNd": "ḡ[a]",
    "TensorScatterUpdate": "ḡ, 0 at b , ḡ[b]",
    "TensorScatterAdd": "ḡ , ḡ[b]",
    "TensorScatterSub": "ḡ , −ḡ[b]",
    "TensorStridedSliceUpdate": "ḡ, 0 in the slice , ḡ[slice]",
    "SelectV2": "ḡ where a , ḡ where not a",
    "Select": "ḡ where a , ḡ where not a",
    "MatrixDiagV3": "diagonal of ḡ",
    "MatrixDiagPartV3": "ḡ on the diagonal of 0",
    "MatrixBandPart": "ḡ in the band, else 0",
    "Fill": "Σ ḡ",
    "ZerosLike": NO_GRADIENT,
    "OnesLike": NO_GRADIENT,
    "Shape": NO_GRADIENT,
    "Size": NO_GRADIENT,
    "Rank": NO_GRADIENT,
    "OneHot": NO_GRADIENT,
    "ReadVariableOp": "ḡ",
    # Networks (nn_grad.py)
    "Relu": "ḡ where y > 0",
    "Relu6": "ḡ where 0 < y < 6",
    "LeakyRelu": "ḡ where a > 0, else α·ḡ",
    "Elu": "ḡ where y ≥ 0, else ḡ·(y + 1)",
    "Selu": "ḡ·λ where y ≥ 0, else ḡ·(y + λα)",
    "Softplus": "ḡ·σ(a)",
    "Softsign": "ḡ / (1 + |a|)²",
    "Sigmoid": "ḡ·y·(1 − y)",
    "Softmax": "y·(ḡ − Σ ḡ·y)",
    "LogSoftmax": "ḡ − eʸ·Σ ḡ",
    "SoftmaxCrossEntropyWithLogits": "ḡ₁·(softmax a − b) , −ḡ₁·log softmax a",
    "SparseSoftmaxCrossEntropyWithLogits": "ḡ₁·(softmax a − onehot b)",
    "BiasAdd": "ḡ , Σ ḡ over all but the channels",
    "L2Loss": "ḡ·a",
    "Conv2D": "ḡ ∗ᵀ b , a ∗ ḡ",
    "DepthwiseConv2dNative": "ḡ ∗ᵀ b , a ∗ ḡ  (by channel)",
    "MaxPool": "ḡ to the largest of each window",
    "AvgPool": "ḡ / n over each window",
    "FusedBatchNormV3": "b/σ·(ḡ₁ − mean ḡ₁ − â·mean(ḡ₁·â)) , Σ ḡ₁·â , Σ ḡ₁",
    "TopKV2": "ḡ₁ put back where it was",
    # Linear algebra (linalg_grad.py)
    "MatrixInverse": "−yᵀ ḡ yᵀ",
    "MatrixDeterminant": "ḡ·y·a⁻ᵀ",
    "MatrixSolve": "−a⁻ᵀ ḡ yᵀ , a⁻ᵀ ḡ",
}
