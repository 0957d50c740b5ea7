"""A tensor in; its raw bytes, texts or statistics out, without an op being run."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

_CHUNK = 1 << 16


def raw_bytes(tensor: Any) -> bytes:
    """The elements in C order, little endian, as TensorFlow holds them."""
    array = array_of(tensor)
    if array.dtype.byteorder == ">":
        array = array.astype(array.dtype.newbyteorder("<"))
    return array.tobytes()


def array_of(tensor: Any) -> np.ndarray[Any, Any]:
    """The tensor as NumPy sees it, not copied."""
    array: np.ndarray[Any, Any] = np.asarray(tensor._numpy_internal())
    return array


def texts_of(tensor: Any) -> list[str]:
    """The elements of a string tensor, in C order."""
    flat = np.asarray(tensor._numpy_internal(), dtype=object).ravel()
    return [
        item.decode("utf-8", "replace") if isinstance(item, bytes) else str(item) for item in flat
    ]


def statistics(array: np.ndarray[Any, Any]) -> list[float | None] | None:
    """``[min, max, mean, norm, NaN count, Inf count]`` over the finite elements, in float64.

    ``None`` for dtypes without an order of magnitude; complex: of the modulus.
    """
    flat = array.ravel()
    if flat.dtype.kind not in "biufc" and flat.dtype.name != "bfloat16":
        return None
    low, high, total, squares = np.inf, -np.inf, 0.0, 0.0
    count = nan = inf = 0
    # In pieces that fit the cache: a float64 copy of it all would cost more than reading it.
    for start in range(0, flat.size, _CHUNK):
        piece = flat[start : start + _CHUNK]
        numbers = (np.abs(piece) if piece.dtype.kind == "c" else piece).astype(np.float64)
        summed = float(np.add.reduce(numbers))
        if not math.isfinite(summed):
            missing = int(np.count_nonzero(np.isnan(numbers)))
            finite = numbers[np.isfinite(numbers)]
            nan, inf = nan + missing, inf + numbers.size - finite.size - missing
            numbers, summed = finite, float(np.add.reduce(finite))
        if numbers.size:
            low, high = min(low, float(numbers.min())), max(high, float(numbers.max()))
            total += summed
            count += numbers.size
            # Not np.dot: BLAS would wake threads of its own beside TensorFlow's.
            np.multiply(numbers, numbers, out=numbers)
            squares += float(np.add.reduce(numbers))
    if not count:
        return [None, None, None, None, float(nan), float(inf)]
    # The square of a finite float64 may overflow; its norm may not, as a bound tells enough then.
    norm = math.sqrt(squares) if math.isfinite(squares) else max(abs(low), abs(high))
    mean = total / count if math.isfinite(total) else low / 2 + high / 2
    return [low, high, mean, norm, float(nan), float(inf)]
