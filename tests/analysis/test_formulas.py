"""Each formula as words, beside the same formula as NumPy: TensorFlow's gradients decide."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from tapeviz.analysis.backward.formulas import FORMULAS, NO_GRADIENT, formula
from tapeviz.trace.ids import OpId, TensorId
from tapeviz.trace.ops import Op, OpDescription
from tapeviz.trace.sites import NOWHERE

Array = np.ndarray[Any, Any]


def between(low: float, high: float, *shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).uniform(low, high, shape or (2, 3))


A = between(0.2, 0.9)
B = between(0.3, 0.8, seed=1)
SIGNED = between(-1, 1, seed=2)
LARGE = between(1.2, 3.0, seed=3)
SQUARE = between(0.1, 1, 3, 3, seed=4) + 2 * np.eye(3)
IMAGE = between(-1, 1, 1, 4, 4, 2, seed=5)
INDICES = np.array([[0], [2]], np.int32)


@dataclass(frozen=True)
class Case:
    """``words``: the formula; ``numbers(g, y, *inputs)``: the gradients of the float inputs.

    ``kind``: the op type; ``upstream``: a gradient is given for so many outputs.
    """

    kind: str
    words: str
    inputs: Sequence[Any]
    numbers: Callable[..., Any]
    attrs: Mapping[str, Any] = field(default_factory=dict)
    upstream: int = 1
    words_attrs: Mapping[str, Any] | None = None

    def __str__(self) -> str:
        return f"{self.kind} {dict(self.attrs) or ''}".strip()


def at_rows(shape: tuple[int, ...], rows: Array, values: Array) -> Array:
    out = np.zeros(shape)
    np.add.at(out, rows, values)
    return out


def reduced(g: Array, like: Array) -> Array:
    """ḡ of a reduction over axis 1, at every element that was reduced."""
    return np.broadcast_to(np.expand_dims(g, 1), like.shape)


def softmax(a: Array) -> Array:
    e = np.exp(a - a.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)  # type: ignore[no-any-return]


def windows(a: Array, b: Array) -> tuple[Array, ...]:
    """Patches of ``a`` under a 2×2 filter with stride 1, VALID."""
    return tuple(a[:, i : i + 3, j : j + 3, :] for i in range(2) for j in range(2))


def convolved(g: Array, _: Array, a: Array, b: Array) -> tuple[Array, Array]:
    da, db = np.zeros_like(a), np.zeros_like(b)
    for i in range(2):
        for j in range(2):
            da[:, i : i + 3, j : j + 3, :] += g @ b[i, j].T
            db[i, j] = np.einsum("nhwc,nhwd->cd", a[:, i : i + 3, j : j + 3, :], g)
    return da, db


def depthwise(g: Array, _: Array, a: Array, b: Array) -> tuple[Array, Array]:
    da, db = np.zeros_like(a), np.zeros_like(b)
    for i in range(2):
        for j in range(2):
            da[:, i : i + 3, j : j + 3, :] += g * b[i, j, :, 0]
            db[i, j, :, 0] = (a[:, i : i + 3, j : j + 3, :] * g).sum((0, 1, 2))
    return da, db


def pooled(g: Array, weights: Callable[[Array], Array], a: Array) -> Array:
    """The gradient of each 2×2 window of stride 2, shared out by ``weights(window)``."""
    out = np.zeros_like(a)
    for i in range(2):
        for j in range(2):
            part = (slice(None), slice(2 * i, 2 * i + 2), slice(2 * j, 2 * j + 2))
            out[part] = g[:, i : i + 1, j : j + 1] * weights(a[part])
    return out


def normed(g: Array, _: Array, a: Array, b: Array, *rest: Array) -> tuple[Array, ...]:
    axes = (0, 1, 2)
    sigma = np.sqrt(a.var(axes) + 1e-3)
    hat = (a - a.mean(axes)) / sigma
    da = b / sigma * (g - g.mean(axes) - hat * (g * hat).mean(axes))
    return da, (g * hat).sum(axes), g.sum(axes)


def erf_slope(a: Array) -> Array:
    return 2 / np.sqrt(np.pi) * np.exp(-(a**2))  # type: ignore[no-any-return]


def psi(a: Array, terms: int = 200_000) -> Array:
    """The digamma function by its series."""
    n = np.arange(terms)[:, None, None]
    return -np.euler_gamma + (1 / (n + 1) - 1 / (n + a)).sum(0) - (a - 1) / terms  # type: ignore[no-any-return]


def trigamma(a: Array, terms: int = 200_000) -> Array:
    n = np.arange(terms)[:, None, None]
    return (1 / (n + a) ** 2).sum(0) + 1 / terms  # type: ignore[no-any-return]


POOL = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}
CONV = {"strides": [1, 1, 1, 1], "padding": "VALID"}
BAND = np.tril(np.ones((3, 3)))
MASK = np.array([[True, False, True], [False, True, False]])
LAMBDA, ALPHA = 1.0507009873554805, 1.6732632423543772

CASES = [
    Case("Add", "ḡ , ḡ", [A, B], lambda g, y, a, b: (g, g)),
    Case("AddV2", "ḡ , ḡ", [A, B], lambda g, y, a, b: (g, g)),
    Case("AddN", "ḡ , ḡ", [[A, B]], lambda g, y, a, b: (g, g)),
    Case("Sub", "ḡ , −ḡ", [A, B], lambda g, y, a, b: (g, -g)),
    Case("Mul", "ḡ·b , ḡ·a", [A, B], lambda g, y, a, b: (g * b, g * a)),
    Case("MulNoNan", "ḡ·b , ḡ·a", [A, B], lambda g, y, a, b: (g * b, g * a)),
    Case("RealDiv", "ḡ / b , −ḡ·a / b²", [A, B], lambda g, y, a, b: (g / b, -g * a / b**2)),
    Case("Div", "ḡ / b , −ḡ·a / b²", [A, B], lambda g, y, a, b: (g / b, -g * a / b**2)),
    Case(
        "DivNoNan",
        "ḡ / b , −ḡ·a / b²  (0 where b = 0)",
        [A, B * MASK],
        lambda g, y, a, b: (
            np.where(b == 0, 0, g / np.where(b == 0, 1, b)),
            np.where(b == 0, 0, -g * a / np.where(b == 0, 1, b) ** 2),
        ),
    ),
    Case(
        "Pow",
        "ḡ·b·aᵇ⁻¹ , ḡ·y·ln a",
        [A, B],
        lambda g, y, a, b: (g * b * a ** (b - 1), g * y * np.log(a)),
    ),
    Case("Square", "2a·ḡ", [SIGNED], lambda g, y, a: 2 * a * g),
    Case(
        "SquaredDifference",
        "2ḡ·(a − b) , −2ḡ·(a − b)",
        [A, B],
        lambda g, y, a, b: (2 * g * (a - b), -2 * g * (a - b)),
    ),
    Case("Sqrt", "ḡ / 2y", [A], lambda g, y, a: g / (2 * y)),
    Case("Rsqrt", "−ḡ·y³ / 2", [A], lambda g, y, a: -g * y**3 / 2),
    Case("Reciprocal", "−ḡ·y²", [A], lambda g, y, a: -g * y**2),
    Case("Inv", "−ḡ·y²", [A], lambda g, y, a: -g * y**2),
    Case("Neg", "−ḡ", [A], lambda g, y, a: -g),
    Case("Abs", "ḡ·sign a", [SIGNED], lambda g, y, a: g * np.sign(a)),
    Case("Sign", "0", [SIGNED], lambda g, y, a: 0 * a),
    Case("Exp", "ḡ·y", [A], lambda g, y, a: g * y),
    Case("Expm1", "ḡ·(y + 1)", [A], lambda g, y, a: g * (y + 1)),
    Case("Log", "ḡ / a", [A], lambda g, y, a: g / a),
    Case("Log1p", "ḡ / (1 + a)", [A], lambda g, y, a: g / (1 + a)),
    Case("Sin", "ḡ·cos a", [A], lambda g, y, a: g * np.cos(a)),
    Case("Cos", "−ḡ·sin a", [A], lambda g, y, a: -g * np.sin(a)),
    Case("Tan", "ḡ / cos² a", [A], lambda g, y, a: g / np.cos(a) ** 2),
    Case("Asin", "ḡ / √(1 − a²)", [A], lambda g, y, a: g / np.sqrt(1 - a**2)),
    Case("Acos", "−ḡ / √(1 − a²)", [A], lambda g, y, a: -g / np.sqrt(1 - a**2)),
    Case("Atan", "ḡ / (1 + a²)", [A], lambda g, y, a: g / (1 + a**2)),
    Case(
        "Atan2",
        "ḡ·b / (a² + b²) , −ḡ·a / (a² + b²)",
        [A, B],
        lambda g, y, a, b: (g * b / (a**2 + b**2), -g * a / (a**2 + b**2)),
    ),
    Case("Sinh", "ḡ·cosh a", [A], lambda g, y, a: g * np.cosh(a)),
    Case("Cosh", "ḡ·sinh a", [A], lambda g, y, a: g * np.sinh(a)),
    Case("Tanh", "ḡ·(1 − y²)", [A], lambda g, y, a: g * (1 - y**2)),
    Case("Asinh", "ḡ / cosh y", [A], lambda g, y, a: g / np.cosh(y)),
    Case("Acosh", "ḡ / sinh y", [LARGE], lambda g, y, a: g / np.sinh(y)),
    Case("Atanh", "ḡ / (1 − a²)", [A], lambda g, y, a: g / (1 - a**2)),
    Case("Erf", "ḡ·2/√π·e^(−a²)", [A], lambda g, y, a: g * erf_slope(a)),
    Case("Erfc", "−ḡ·2/√π·e^(−a²)", [A], lambda g, y, a: -g * erf_slope(a)),
    Case("Lgamma", "ḡ·ψ(a)", [A], lambda g, y, a: g * psi(a)),
    Case("Digamma", "ḡ·ψ′(a)", [A], lambda g, y, a: g * trigamma(a)),
    Case(
        "Xlogy",
        "ḡ·ln b , ḡ·a / b",
        [A, B],
        lambda g, y, a, b: (g * np.log(b), g * a / b),
    ),
    Case(
        "Maximum",
        "ḡ where a ≥ b , ḡ where a < b",
        [A, np.where(MASK, A, B)],
        lambda g, y, a, b: (g * (a >= b), g * (a < b)),
    ),
    Case(
        "Minimum",
        "ḡ where a ≤ b , ḡ where a > b",
        [A, np.where(MASK, A, B)],
        lambda g, y, a, b: (g * (a <= b), g * (a > b)),
    ),
    Case(
        "ClipByValue",
        "ḡ where b ≤ a ≤ c , Σ ḡ where a < b , Σ ḡ where a > c",
        [A, np.float64(0.4), np.float64(0.6)],
        lambda g, y, a, b, c: (
            g * ((b <= a) & (a <= c)),
            (g * (a < b)).sum(),
            (g * (a > c)).sum(),
        ),
    ),
    Case(
        "FloorMod",
        "ḡ , −ḡ·⌊a / b⌋",
        [LARGE, B],
        lambda g, y, a, b: (g, -g * np.floor(a / b)),
    ),
    Case("MatMul", "ḡ bᵀ , aᵀ ḡ", [A, B.T], lambda g, y, a, b: (g @ b.T, a.T @ g)),
    Case(
        "MatMul",
        "ḡ b , ḡᵀ a",
        [A, B],
        lambda g, y, a, b: (g @ b, g.T @ a),
        {"transpose_b": True},
    ),
    Case(
        "MatMul",
        "b ḡᵀ , a ḡ",
        [A, B],
        lambda g, y, a, b: (b @ g.T, a @ g),
        {"transpose_a": True},
    ),
    Case(
        "MatMul",
        "bᵀ ḡᵀ , ḡᵀ aᵀ",
        [A, B.T],
        lambda g, y, a, b: (b.T @ g.T, g.T @ a.T),
        {"transpose_a": True, "transpose_b": True},
    ),
    *(
        Case(kind, "ḡ bᵀ , aᵀ ḡ", [A, B.T], lambda g, y, a, b: (g @ b.T, a.T @ g))
        for kind in ("BatchMatMul", "BatchMatMulV2")
    ),
    Case(
        "BatchMatMulV3",
        "ḡ b , ḡᵀ a",
        [A, B],
        lambda g, y, a, b: (g @ b, g.T @ a),
        {"adj_y": True, "Tout": np.float64},
    ),
    Case(
        "Einsum",
        "einsum(ik,jk→ij: ḡ, b) , einsum(ik,ij→jk: ḡ, a)",
        [[A, B.T]],
        lambda g, y, a, b: (
            np.einsum("ik,jk->ij", g, b),
            np.einsum("ik,ij->jk", g, a),
        ),
        {"equation": "ij,jk->ik"},
    ),
    Case(
        "Cast",
        "ḡ cast like a",
        [A],
        lambda g, y, a: g,
        {"DstT": np.float32},
        words_attrs={"DstT": "float32"},
    ),
    Case(
        "Cast",
        NO_GRADIENT,
        [A],
        lambda g, y, a: None,
        {"DstT": np.int32},
        words_attrs={"DstT": "int32"},
    ),
    Case("Sum", "ḡ spread over a", [A, 1], lambda g, y, a: reduced(g, a)),
    Case("Mean", "ḡ / n", [A, 1], lambda g, y, a: reduced(g, a) / 3),
    Case("Prod", "ḡ·y / a", [A, 1], lambda g, y, a: reduced(g * y, a) / a),
    *(
        Case(
            kind,
            "ḡ / ties where a = y, else 0",
            [np.array([[1.0, 2, 2], [1, 1, 3]]), 1],
            lambda g, y, a: (
                (a == reduced(y, a)) * reduced(g, a) / (a == reduced(y, a)).sum(1, keepdims=True)
            ),
        )
        for kind in ("Max", "Min")
    ),
    Case(
        "Cumsum",
        "Σ ḡ from the end",
        [A, 1],
        lambda g, y, a: np.cumsum(g[:, ::-1], 1)[:, ::-1],
    ),
    Case(
        "Cumprod",
        "(Σ ḡ·y from the end) / a",
        [A, 1],
        lambda g, y, a: np.cumsum((g * y)[:, ::-1], 1)[:, ::-1] / a,
    ),
    Case("EuclideanNorm", "ḡ·a / y", [A, 1], lambda g, y, a: reduced(g / y, a) * a),
    Case(
        "UnsortedSegmentSum",
        "ḡ[segments]",
        [A, np.array([1, 0]), 2],
        lambda g, y, a: g[[1, 0]],
    ),
    Case("SegmentSum", "ḡ[segments]", [A, np.array([0, 0])], lambda g, y, a: g[[0, 0]]),
    Case("Identity", "ḡ", [A], lambda g, y, a: g),
    *(
        Case(kind, "ḡ reshaped like a", inputs, lambda g, y, a: g.reshape(a.shape), attrs)
        for kind, inputs, attrs in (
            ("Reshape", [A, np.array([3, 2])], {}),
            ("ExpandDims", [A, 1], {}),
            ("Squeeze", [A[:, None]], {"axis": [1]}),
        )
    ),
    Case("Transpose", "ḡᵀ", [A, np.array([1, 0])], lambda g, y, a: g.T),
    Case("ConjugateTranspose", "conj ḡᵀ", [A, np.array([1, 0])], lambda g, y, a: g.T),
    Case("ReverseV2", "ḡ reversed", [A, np.array([1])], lambda g, y, a: g[:, ::-1]),
    Case("Roll", "ḡ rolled back", [A, 1, 1], lambda g, y, a: np.roll(g, -1, 1)),
    Case(
        "ConcatV2",
        "ḡ[part of a] , ḡ[part of b]",
        [[A, B], 0],
        lambda g, y, a, b: (g[:2], g[2:]),
    ),
    Case("Pack", "ḡ[0] , ḡ[1]", [[A, B]], lambda g, y, a, b: (g[0], g[1])),
    Case(
        "Unpack",
        "ḡ₁, ḡ₂, … stacked",
        [A],
        lambda g, y, a: np.stack(g),
        {"num": 2},
        upstream=2,
    ),
    Case(
        "Split",
        "ḡ₁, ḡ₂, … joined",
        [1, A],
        lambda g, y, a: np.concatenate(g, 1),
        {"num_split": 3},
        upstream=3,
    ),
    Case(
        "SplitV",
        "ḡ₁, ḡ₂, … joined",
        [A, np.array([1, 2]), 1],
        lambda g, y, a: np.concatenate(g, 1),
        {"num_split": 2},
        upstream=2,
    ),
    Case(
        "StridedSlice",
        "ḡ in the slice of a, else 0",
        [A, np.array([0, 1]), np.array([1, 3]), np.array([1, 1])],
        lambda g, y, a: np.pad(g, ((0, 1), (1, 0))),
    ),
    Case(
        "Slice",
        "ḡ in the slice of a, else 0",
        [A, np.array([0, 1]), np.array([1, 2])],
        lambda g, y, a: np.pad(g, ((0, 1), (1, 0))),
    ),
    Case(
        "Pad",
        "ḡ without the padding",
        [A, np.array([[1, 0], [0, 2]])],
        lambda g, y, a: g[1:, :-2],
    ),
    Case(
        "PadV2",
        "ḡ without the padding",
        [A, np.array([[1, 0], [0, 2]]), np.float64(7)],
        lambda g, y, a, c: (g[1:, :-2], None),
    ),
    Case(
        "MirrorPad",
        "ḡ folded back on a",
        [A, np.array([[0, 0], [0, 1]])],
        lambda g, y, a: g[:, :3] + np.pad(g[:, 3:], ((0, 0), (1, 1))),
        {"mode": "REFLECT"},
    ),
    Case(
        "Tile",
        "Σ ḡ over the copies",
        [A, np.array([2, 1])],
        lambda g, y, a: g[:2] + g[2:],
    ),
    Case(
        "BroadcastTo",
        "Σ ḡ over the copies",
        [A, np.array([4, 2, 3])],
        lambda g, y, a: g.sum(0),
    ),
    *(
        Case(
            kind,
            "ḡ added into the rows b of 0",
            inputs,
            lambda g, y, a: at_rows(a.shape, np.array([1, 1]), g),
        )
        for kind, inputs in (
            ("Gather", [A, np.array([1, 1])]),
            ("GatherV2", [A, np.array([1, 1]), 0]),
        )
    ),
    Case(
        "GatherNd",
        "ḡ added at b into 0",
        [SQUARE, INDICES],
        lambda g, y, a: at_rows(a.shape, INDICES[:, 0], g),
    ),
    Case(
        "ScatterNd",
        "ḡ[a]",
        [INDICES, A, np.array([4, 3])],
        lambda g, y, a: g[INDICES[:, 0]],
    ),
    Case(
        "TensorScatterUpdate",
        "ḡ, 0 at b , ḡ[b]",
        [SQUARE, INDICES, A],
        lambda g, y, a, c: (g * np.array([[0], [1], [0]]), g[INDICES[:, 0]]),
    ),
    Case(
        "TensorScatterAdd",
        "ḡ , ḡ[b]",
        [SQUARE, INDICES, A],
        lambda g, y, a, c: (g, g[INDICES[:, 0]]),
    ),
    Case(
        "TensorScatterSub",
        "ḡ , −ḡ[b]",
        [SQUARE, INDICES, A],
        lambda g, y, a, c: (g, -g[INDICES[:, 0]]),
    ),
    Case(
        "TensorStridedSliceUpdate",
        "ḡ, 0 in the slice , ḡ[slice]",
        [SQUARE, np.array([0, 0]), np.array([2, 2]), np.array([1, 1]), A[:, :2]],
        lambda g, y, a, e: (
            g * np.pad(np.zeros((2, 2)), ((0, 1), (0, 1)), constant_values=1),
            g[:2, :2],
        ),
    ),
    *(
        Case(
            kind,
            "ḡ where a , ḡ where not a",
            [MASK, A, B],
            lambda g, y, b, c: (g * MASK, g * ~MASK),
        )
        for kind in ("Select", "SelectV2")
    ),
    Case(
        "MatrixDiagV3",
        "diagonal of ḡ",
        [A[0], 0, 3, 3, np.float64(0)],
        lambda g, y, a, pad: (np.diag(g), None),
    ),
    Case(
        "MatrixDiagPartV3",
        "ḡ on the diagonal of 0",
        [SQUARE, 0, np.float64(0)],
        lambda g, y, a, pad: (np.diag(g), None),
    ),
    Case(
        "MatrixBandPart",
        "ḡ in the band, else 0",
        [SQUARE, np.int64(-1), np.int64(0)],
        lambda g, y, a: g * BAND,
    ),
    Case("Fill", "Σ ḡ", [np.array([2, 3]), np.float64(2)], lambda g, y, a: g.sum()),
    Case("Relu", "ḡ where y > 0", [SIGNED], lambda g, y, a: g * (y > 0)),
    Case(
        "Relu6",
        "ḡ where 0 < y < 6",
        [SIGNED * 20],
        lambda g, y, a: g * ((y > 0) & (y < 6)),
    ),
    Case(
        "LeakyRelu",
        "ḡ where a > 0, else α·ḡ",
        [SIGNED],
        lambda g, y, a: np.where(a > 0, g, 0.2 * g),
        {"alpha": 0.2},
    ),
    Case(
        "Elu",
        "ḡ where y ≥ 0, else ḡ·(y + 1)",
        [SIGNED],
        lambda g, y, a: np.where(y >= 0, g, g * (y + 1)),
    ),
    Case(
        "Selu",
        "ḡ·λ where y ≥ 0, else ḡ·(y + λα)",
        [SIGNED],
        lambda g, y, a: np.where(y >= 0, g * LAMBDA, g * (y + LAMBDA * ALPHA)),
    ),
    Case("Softplus", "ḡ·σ(a)", [SIGNED], lambda g, y, a: g / (1 + np.exp(-a))),
    Case("Softsign", "ḡ / (1 + |a|)²", [SIGNED], lambda g, y, a: g / (1 + np.abs(a)) ** 2),
    Case("Sigmoid", "ḡ·y·(1 − y)", [SIGNED], lambda g, y, a: g * y * (1 - y)),
    Case(
        "Softmax",
        "y·(ḡ − Σ ḡ·y)",
        [SIGNED],
        lambda g, y, a: y * (g - (g * y).sum(-1, keepdims=True)),
    ),
    Case(
        "LogSoftmax",
        "ḡ − eʸ·Σ ḡ",
        [SIGNED],
        lambda g, y, a: g - np.exp(y) * g.sum(-1, keepdims=True),
    ),
    Case(
        "SoftmaxCrossEntropyWithLogits",
        "ḡ₁·(softmax a − b) , −ḡ₁·log softmax a",
        [SIGNED, softmax(A)],
        lambda g, y, a, b: (
            g[:, None] * (softmax(a) - b),
            -g[:, None] * np.log(softmax(a)),
        ),
    ),
    Case(
        "SparseSoftmaxCrossEntropyWithLogits",
        "ḡ₁·(softmax a − onehot b)",
        [SIGNED, np.array([2, 0])],
        lambda g, y, a: g[:, None] * (softmax(a) - np.eye(3)[[2, 0]]),
    ),
    Case(
        "BiasAdd",
        "ḡ , Σ ḡ over all but the channels",
        [A, B[0]],
        lambda g, y, a, b: (g, g.sum(0)),
    ),
    Case("L2Loss", "ḡ·a", [A], lambda g, y, a: g * a),
    Case("Conv2D", "ḡ ∗ᵀ b , a ∗ ḡ", [IMAGE, between(-1, 1, 2, 2, 2, 3)], convolved, CONV),
    Case(
        "DepthwiseConv2dNative",
        "ḡ ∗ᵀ b , a ∗ ḡ  (by channel)",
        [IMAGE, between(-1, 1, 2, 2, 2, 1)],
        depthwise,
        CONV,
    ),
    Case(
        "MaxPool",
        "ḡ to the largest of each window",
        [IMAGE],
        lambda g, y, a: pooled(g, lambda w: w == w.max((1, 2), keepdims=True), a),
        POOL,
    ),
    Case(
        "AvgPool",
        "ḡ / n over each window",
        [IMAGE],
        lambda g, y, a: pooled(g, lambda w: np.full(w.shape, 0.25), a),
        POOL,
    ),
    Case(
        "FusedBatchNormV3",
        "b/σ·(ḡ₁ − mean ḡ₁ − â·mean(ḡ₁·â)) , Σ ḡ₁·â , Σ ḡ₁",
        [*(x.astype(np.float32) for x in (IMAGE, A[0, :2], A[1, :2])), [], []],
        normed,
        {"epsilon": 1e-3},
    ),
    Case(
        "TopKV2",
        "ḡ₁ put back where it was",
        [A, 2],
        lambda g, y, a: np.array(
            [at_rows((3,), np.argsort(-row)[:2], part) for row, part in zip(a, g, strict=True)]
        ),
    ),
    Case("MatrixInverse", "−yᵀ ḡ yᵀ", [SQUARE], lambda g, y, a: -y.T @ g @ y.T),
    Case(
        "MatrixDeterminant",
        "ḡ·y·a⁻ᵀ",
        [SQUARE],
        lambda g, y, a: g * y * np.linalg.inv(a).T,
    ),
    Case(
        "MatrixSolve",
        "−a⁻ᵀ ḡ yᵀ , a⁻ᵀ ḡ",
        [SQUARE, A.T],
        lambda g, y, a, b: (
            -np.linalg.inv(a).T @ g @ y.T,
            np.linalg.inv(a).T @ g,
        ),
    ),
    *(
        Case(kind, NO_GRADIENT, [SIGNED], lambda g, y, a: None)
        for kind in ("Floor", "Ceil", "Round", "Rint", "StopGradient", "ZerosLike", "OnesLike")
    ),
    Case("FloorDiv", NO_GRADIENT, [LARGE, B], lambda g, y, a, b: (None, None)),
]
UNCHECKED = {
    # Results without a float dtype: there is no ḡ to give.
    *("ArgMax", "ArgMin", "Shape", "Size", "Rank", "OneHot"),
    # Raises when reached, and ops on a variable's handle (checked on their own below).
    *("PreventGradient", "ReadVariableOp", "ResourceGather"),
}


def op_of(kind: str, attrs: Mapping[str, Any] | None = None, inputs: int = 1) -> Op:
    ids = tuple(TensorId(n) for n in range(1, inputs + 1))
    return Op(OpId(1), kind, ids, (), 1, None, frozenset(), OpDescription(attrs or {}, NOWHERE))


@pytest.fixture(scope="module")
def tf() -> Any:
    return pytest.importorskip("tensorflow")


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_formula_computes_what_tensorflow_computes(tf: Any, case: Case) -> None:
    flat = [
        value for given in case.inputs for value in (given if isinstance(given, list) else [given])
    ]
    attrs = case.attrs if case.words_attrs is None else case.words_attrs
    assert formula(op_of(case.kind, attrs, len(flat))) == case.words

    def tensor(value: Any) -> Any:
        is_whole = isinstance(value, int) or np.asarray(value).dtype == np.int64
        return tf.constant(
            value, tf.int32 if is_whole and not isinstance(value, np.int64) else None
        )

    given: list[Any] = [
        [tensor(x) for x in given]
        if isinstance(given, list) and given
        else (tf.zeros([0]) if isinstance(given, list) else tensor(given))
        for given in case.inputs
    ]
    floats = [
        x
        for value in given
        for x in (value if isinstance(value, list) else [value])
        if x.dtype.is_floating and 0 not in x.shape
    ]
    raw = getattr(tf.raw_ops, case.kind)
    named = dict(zip(inspect.signature(raw).parameters, given, strict=False))
    with tf.GradientTape() as tape:
        tape.watch(floats)
        made = raw(**named, **case.attrs)
        outputs = list(made) if isinstance(made, (list, tuple)) else [made]
        outputs = outputs[: case.upstream]
    upstream = [
        tf.constant(between(-1, 1, *y.shape, seed=7) if y.shape.rank else 0.7, y.dtype)
        if y.dtype.is_floating
        else None
        for y in outputs
    ]
    got = tape.gradient(outputs, floats, [u for u in upstream if u is not None] or None)
    ys = [y.numpy() for y in outputs]
    gs = [None if u is None else u.numpy() for u in upstream]
    is_single = case.upstream == 1
    wanted = case.numbers(
        gs[0] if is_single else gs, ys[0] if is_single else ys, *(x.numpy() for x in floats)
    )
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    assert len(got) == len(wanted)
    for gradient, number in zip(got, wanted, strict=True):
        if number is None:
            assert gradient is None
        else:
            dense = tf.convert_to_tensor(gradient).numpy()
            np.testing.assert_allclose(dense, number, rtol=2e-5, atol=2e-5)


def test_every_formula_is_checked() -> None:
    assert {case.kind for case in CASES} == set(FORMULAS) - UNCHECKED
    for kind in UNCHECKED:
        assert kind in FORMULAS


def test_a_variables_reads(tf: Any) -> None:
    table = tf.Variable(A)
    with tf.GradientTape() as tape:
        y = tf.gather(table, [1, 1])
    gradient = tf.convert_to_tensor(tape.gradient(y, table, tf.constant(B))).numpy()
    np.testing.assert_allclose(gradient, at_rows(A.shape, np.array([1, 1]), B))
    assert formula(op_of("ResourceGather")) == FORMULAS["GatherV2"]
    assert formula(op_of("ReadVariableOp")) == "ḡ"


def test_words_for_what_has_no_formula() -> None:
    assert formula(op_of("Qr")) == "gradient function of Qr"
    assert formula(op_of("Pack", inputs=5)) == "ḡ[0] , ḡ[1] , ḡ[2] , …"
    assert formula(op_of("ConcatV2", inputs=6)).endswith(" , …")
    assert formula(op_of("Einsum", {"equation": "...ij->...ji"})).startswith("einsum of")
    entry = op_of("f", inputs=0).having(is_recorded_operation=True, function="steep")
    assert formula(entry) == "gradient given by steep"


def test_formulas_name_their_inputs_in_order() -> None:
    for kind, known in FORMULAS.items():
        if isinstance(known, str) and " , " in known:
            assert known.count(" , ") <= 3, kind
            assert re.search("ḡ", known), kind
