"""A tensor in; its raw bytes, texts or statistics out, without an op being run."""

from __future__ import annotations

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
    return [one.decode("utf-8", "replace") if isinstance(one, bytes) else str(one) for one in flat]


def statistics(tensor: Any) -> list[float | None] | None:
    """``[min, max, mean, norm, NaN count, Inf count]`` over the finite elements, in float64.

    ``None`` for dtypes without an order of magnitude; complex: of the modulus.
    """
    flat = array_of(tensor).ravel()
    if flat.dtype.kind not in "biufc" and flat.dtype.name != "bfloat16":
        return None
    low, high, total, squares = np.inf, -np.inf, 0.0, 0.0
    count = nan = inf = 0
    # In pieces that fit the cache: a float64 copy of it all would cost more than reading it.
    for start in range(0, flat.size, _CHUNK):
        piece = flat[start : start + _CHUNK]
        numbers = (np.abs(piece) if piece.dtype.kind == "c" else piece).astype(np.float64)
        finite = np.isfinite(numbers)
        if not finite.all():
            missing = int(np.isnan(numbers).sum())
            nan += missing
            inf += int(numbers.size - finite.sum()) - missing
            numbers = numbers[finite]
        if numbers.size:
            low, high = min(low, float(numbers.min())), max(high, float(numbers.max()))
            total += float(numbers.sum())
            squares += float(np.dot(numbers, numbers))
            count += numbers.size
    if not count:
        return [None, None, None, None, float(nan), float(inf)]
    norm = float(np.sqrt(squares))
    # The square of a finite float64 may overflow; its norm may not.
    if not np.isfinite(norm):
        norm = float(np.max(np.abs(flat[np.isfinite(flat)].astype(np.float64))))
    return [low, high, total / count, norm, float(nan), float(inf)]
