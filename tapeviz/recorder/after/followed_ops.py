"""Compute in TensorFlow what a NumPy function makes of its arguments.

Most go by TensorFlow's own NumPy functions (``tf.experimental.numpy``), which keep the names.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

# Functions that only put the elements of their first argument elsewhere.
REARRANGING = frozenset(
    {"transpose", "reshape", "ravel", "squeeze", "expand_dims", "swapaxes", "moveaxis", "flip"}
    | {"fliplr", "flipud", "roll", "repeat", "tile", "diagonal", "take", "atleast_1d", "rot90"}
    | {"atleast_2d", "atleast_3d", "broadcast_to", "copy", "rollaxis"}
)

_tnp = tf.experimental.numpy


def counterpart(name: str, args: list[Any], named: dict[str, Any], result: Any) -> Any:
    """A tensor; None where there is no such function. It may raise for odd arguments."""
    dtype = tf.dtypes.as_dtype(np.asarray(result).dtype)
    given = [_cast(arg, dtype) for arg in args]
    named = {key: item for key, item in named.items() if key not in ("out", "dtype", "where")}
    function = _OWN.get(name) or _tnp_function(name)
    if function is None:
        return None
    tensor = function(*given, **named)
    return tf.cast(tf.convert_to_tensor(tensor), dtype)


def _cast(given: Any, dtype: Any) -> Any:
    """Real numbers in the dtype of the result, as NumPy promotes them."""
    if isinstance(given, (list, tuple)) and any(isinstance(item, tf.Tensor) for item in given):
        return [_cast(item, dtype) for item in given]
    if isinstance(given, tf.Tensor):
        return tf.cast(given, dtype)
    if isinstance(given, (float, np.floating)) or (
        isinstance(given, np.ndarray) and given.dtype.kind == "f"
    ):
        return tf.constant(given, dtype)
    return given


def _tnp_function(name: str) -> Callable[..., Any] | None:
    name = {"absolute": "abs", "true_divide": "divide", **_REDUCTIONS}.get(name, name)
    return getattr(_tnp, name, None) if "." not in name else None


_REDUCTIONS = {
    "add.reduce": "sum",
    "multiply.reduce": "prod",
    "maximum.reduce": "max",
    "minimum.reduce": "min",
}


def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    return tf.norm(x, "euclidean" if ord in (None, "fro") else ord, axis, keepdims)


def _sorted(x: Any, axis: int = -1) -> Any:
    return tf.sort(x, axis)


def _interpolated(x: Any, xp: Any, fp: Any) -> Any:
    """Piecewise linear, level beyond the ends, as ``np.interp``."""
    x = tf.convert_to_tensor(x)
    xp, fp = (tf.cast(tf.convert_to_tensor(points), x.dtype) for points in (xp, fp))
    place = tf.clip_by_value(tf.searchsorted(xp, tf.reshape(x, [-1])) - 1, 0, len(xp) - 2)
    place = tf.reshape(place, tf.shape(x))
    x0, x1, y0, y1 = (
        tf.gather(points, place + more) for points, more in ((xp, 0), (xp, 1), (fp, 0), (fp, 1))
    )
    share = tf.clip_by_value((x - x0) / (x1 - x0), 0.0, 1.0)
    return y0 + share * (y1 - y0)


def _median(x: Any, axis: Any = None) -> Any:
    x, axis = (tf.reshape(x, [-1]), 0) if axis is None else (x, axis)
    ordered, count = tf.sort(x, axis), x.shape[axis]
    low, high = (tf.gather(ordered, place, axis=axis) for place in ((count - 1) // 2, count // 2))
    return (low + high) / 2


def _of_two(function: Callable[..., Any]) -> Callable[..., Any]:
    """TensorFlow's own function of two operands. Its namesake in ``tf.experimental.numpy`` has
    another slope where both are equal: ``maximum`` with 0 is a ReLU there, whose slope at 0 is 0.
    """

    def counterpart_of(x: Any, y: Any) -> Any:
        dtype = next(operand.dtype for operand in (x, y) if isinstance(operand, tf.Tensor))
        return function(tf.cast(x, dtype), tf.cast(y, dtype))

    return counterpart_of


_OWN: dict[str, Callable[..., Any]] = {
    "maximum": _of_two(tf.maximum),
    "minimum": _of_two(tf.minimum),
    "positive": tf.identity,
    "linalg.norm": _norm,
    "linalg.inv": tf.linalg.inv,
    "linalg.det": tf.linalg.det,
    "linalg.solve": lambda a, b: (
        tf.linalg.solve(a, b) if len(b.shape) > 1 else tf.linalg.solve(a, b[:, None])[:, 0]
    ),
    "linalg.cholesky": tf.linalg.cholesky,
    "linalg.pinv": tf.linalg.pinv,
    "linalg.matrix_power": lambda x, n: tf.linalg.matmul(x, x) if n == 2 else None,
    "square": tf.square,
    "round": lambda x, decimals=0: tf.round(x * 10.0**decimals) / 10.0**decimals,
    "rint": tf.round,
    "median": _median,
    "sort": _sorted,
    "interp": _interpolated,
    "arctan2": tf.atan2,
    "average": lambda x, axis=None, weights=None: (
        tf.reduce_mean(x, axis)
        if weights is None
        else tf.reduce_sum(x * weights, axis) / tf.reduce_sum(weights * tf.ones_like(x), axis)
    ),
    "nan_to_num": lambda x: tf.where(tf.math.is_finite(x), x, tf.zeros_like(x)),
    "diff": lambda x, n=1, axis=-1: tf.experimental.numpy.diff(x, n, axis),
}
