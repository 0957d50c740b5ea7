"""Read raw bytes, texts or statistics of a tensor, without running an op."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache, partial
from math import isfinite, prod, sqrt
from typing import Any

import numpy as np

_CHUNK = 1 << 17
_ROW = 256
_squares = getattr(np, "vecdot", None) or partial(np.einsum, "ij,ij->i")  # NumPy 2 is faster
_SAMPLED = 16
_MOST_TOGETHER = 1 << 15
_TABLE = 1 << 18
_UNSURE = 0.15
"""The standard deviation of a sum of squares in a sample, as a part of it; of its root, half."""
_SMALL, _LARGE = 1e-10, 1e15
"""With a largest modulus between these, the squares that count are numbers in float32."""


def raw_bytes(tensor: Any) -> bytes:
    """The elements in C order, little endian, as TensorFlow holds them."""
    return little_endian(array_of(tensor))


def little_endian(array: np.ndarray[Any, Any]) -> bytes:
    """The elements of an array in C order."""
    if array.dtype.byteorder == ">":
        array = array.astype(array.dtype.newbyteorder("<"))
    return array.tobytes()


def array_of(tensor: Any) -> np.ndarray[Any, Any]:
    """The tensor as NumPy sees it, not copied."""
    array: np.ndarray[Any, Any] = np.asarray(tensor._numpy_internal())
    return array


def address_of(array: np.ndarray[Any, Any]) -> int:
    """The address of its first element in memory."""
    address: int = array.__array_interface__["data"][0]
    return address


def texts_of(tensor: Any) -> list[str]:
    """The elements of a string tensor, in C order."""
    flat = np.asarray(tensor._numpy_internal(), dtype=object).ravel()
    return [
        item.decode("utf-8", "replace") if isinstance(item, bytes) else str(item) for item in flat
    ]


def part_of(
    array: np.ndarray[Any, Any], shape: Sequence[int], index: Sequence[int], most: int
) -> tuple[np.ndarray[Any, Any], list[int]]:
    """One slice of an array that is looked at in another ``shape``; of more than ``most`` elements
    every n-th along its first two dimensions. The slice, and n of each dimension."""
    part = array.reshape(tuple(shape))[tuple(index)]
    steps = [1] * part.ndim
    while part.size > most and max(part.shape[:2]) > 1:
        axis = int(np.argmax(part.shape[:2]))
        steps[axis] *= 2
        part = part[::2] if axis == 0 else part[:, ::2]
    return part, steps


def spread_of(array: np.ndarray[Any, Any], most: int) -> np.ndarray[Any, Any]:
    """At most ``most`` elements of an array, evenly spaced."""
    flat = array.reshape(-1)
    return flat[:: -(-flat.size // most) or 1]


def sampling(shape: Sequence[int]) -> tuple[np.ndarray[Any, Any], list[int]]:
    """Indices in C order of at most 16 × 16 evenly spaced elements, and their rows and columns.

    Images (``[N,] height, width, channels``) give one channel of the first image; in other arrays
    the last dimension is the row.
    """
    is_batch = len(shape) >= 4 and min(shape[-3:-1]) >= _SAMPLED
    is_image = len(shape) == 3 and shape[-1] in (1, 3, 4) and min(shape[:2]) >= _SAMPLED
    if is_batch or is_image:
        rows, columns, step = *shape[-3:-1], shape[-1]
        first = 1 if step in (3, 4) else 0  # of red, green and blue the one most like grey
    else:
        rows, columns, step, first = prod(shape[:-1]), shape[-1], 1, 0
    down, across = (
        np.arange(min(size, _SAMPLED)) * size // _SAMPLED if size > _SAMPLED else np.arange(size)
        for size in (rows, columns)
    )
    indices = ((down * columns)[:, None] + across) * step + first
    return indices.ravel(), [down.size, across.size]


def statistics(array: np.ndarray[Any, Any]) -> list[float | None] | None:
    """``[min, max, mean, norm, NaN count, Inf count]`` over the finite elements.

    ``None`` for dtypes without an order of magnitude; complex: of the modulus. Sums in float64; of
    float32 those of rows of 256 elements, each correct to about 1e-7 of the sum of moduli.
    """
    flat = array.ravel()
    if flat.dtype.kind not in "biufc" and flat.dtype.name != "bfloat16":
        return None
    low, high, total, squares = np.inf, -np.inf, 0.0, 0.0
    count = nan = inf = 0
    # In pieces that fit the cache: a float64 copy of it all would cost more than reading it.
    for start in range(0, flat.size, _CHUNK):
        piece = flat[start : start + _CHUNK]
        found = _of_float32(piece) if piece.dtype == np.float32 else None
        if found is None:
            numbers = (np.abs(piece) if piece.dtype.kind == "c" else piece).astype(np.float64)
            if not isfinite(float(np.add.reduce(numbers))):
                missing = int(np.count_nonzero(np.isnan(numbers)))
                finite = numbers[np.isfinite(numbers)]
                nan, inf = nan + missing, inf + numbers.size - finite.size - missing
                numbers = finite
            if not numbers.size:
                continue
            found = _of_float64(numbers)
            count += numbers.size
        else:
            count += piece.size
        low, high = min(low, found[0]), max(high, found[1])
        total, squares = total + found[2], squares + found[3]
    if not count:
        return [None, None, None, None, float(nan), float(inf)]
    # The square of a finite float64 may overflow; its norm may not, as a bound says enough then.
    norm = sqrt(squares) if isfinite(squares) else max(abs(low), abs(high))
    mean = total / count if isfinite(total) else low / 2 + high / 2
    return [low, high, mean, norm, float(nan), float(inf)]


def norm_alone(array: np.ndarray[Any, Any]) -> float | None:
    """The norm of a float32 array of finite elements, as :func:`statistics` has it, in one pass;
    ``None`` where that needs the other statistics. To be called in ``np.errstate``, as squares may
    overflow; so is :func:`norm_of_sample`."""
    if array.dtype != np.float32 or not array.size or array.size % _ROW:
        return None
    rows = array.reshape(-1, _ROW)
    squares = float(np.add.reduce(_squares(rows, rows), dtype=np.float64))
    # An element that is too large for its square, or not finite, makes the sum so, too.
    return sqrt(squares) if _SMALL**2 * array.size < squares < math.inf else None


def norm_of_sample(array: np.ndarray[Any, Any]) -> float | None:
    """An estimate of the norm of a float32 array from 32 rows of 256 elements, evenly spaced, to
    some per cent; from 128 rows where these differ much. ``None`` where those differ too much for
    that, where all elements in them are zero, or too small or large. The same for arrays of the
    same elements and size."""
    size = array.size
    if array.dtype != np.float32 or size < _ROW:
        return None
    flat = array.reshape(-1)
    rows = (flat[: size // _ROW * _ROW] if size % _ROW else flat).reshape(-1, _ROW)
    for count, ones in _SAMPLES:
        picked = rows.take(_sampled_rows(len(rows), count), 0, None, "clip")
        each = _squares(picked, picked).astype(np.float64)
        squares = float(each.dot(ones))
        # With an element that is not finite the sum is not, either.
        if not _SMALL**2 * picked.size < squares < math.inf:
            return None
        # The variance of the sum, as far as rows are drawn at random: ``count`` times that of one.
        if float(each.dot(each)) - squares**2 / count <= (_UNSURE * squares) ** 2:
            return sqrt(squares * (size / picked.size))
    return None


_SAMPLES = tuple((count, np.ones(count)) for count in (32, 128))


@lru_cache(maxsize=512)
def _sampled_rows(total: int, count: int) -> np.ndarray[Any, Any]:
    """The indices of ``count`` rows. They begin in turn at each eighth of 2,048 elements: those
    that stand so far apart may be of one channel."""
    places = np.arange(count)
    evenly = places * total // count
    return np.minimum(evenly + (places - evenly) % 8, total - 1)


def go_together(array: np.ndarray[Any, Any]) -> bool:
    """Whether :func:`statistics_of_many` takes this array."""
    return array.dtype == np.float32 and 0 < array.size <= _MOST_TOGETHER and not array.size % _ROW


def statistics_of_many(arrays: Sequence[np.ndarray[Any, Any]]) -> list[list[float | None] | None]:
    """:func:`statistics` of float32 arrays of one size that :func:`go_together`.

    The same numbers in a fourth of the time: of a small array most of it goes into calls.
    """
    size, most = arrays[0].size, max(1, _TABLE // arrays[0].size)
    if len(arrays) > most:
        starts = range(0, len(arrays), most)
        return [found for at in starts for found in statistics_of_many(arrays[at : at + most])]
    if len(arrays) == 1:
        return [statistics(arrays[0])]
    table = np.concatenate([array.reshape(1, size) for array in arrays])
    rows, shape = table.reshape(-1, _ROW), (len(arrays), -1)
    with np.errstate(all="ignore"):  # of those with huge elements, which are not used
        sums = np.einsum("ij->i", rows).astype(np.float64).reshape(shape)
        squares = _squares(rows, rows).astype(np.float64).reshape(shape)
        totals = np.add.reduce(sums, axis=1).tolist(), np.add.reduce(squares, axis=1).tolist()
    ranges = np.minimum.reduce(table, axis=1).tolist(), np.maximum.reduce(table, axis=1).tolist()
    return [
        [low, high, total / size, sqrt(square), 0.0, 0.0]
        if low != high and _SMALL < max(-low, high) < _LARGE
        else statistics(array)
        for array, low, high, total, square in zip(arrays, *ranges, *totals, strict=True)
    ]


def _of_float64(numbers: np.ndarray[Any, Any]) -> tuple[float, float, float, float]:
    """Minimum, maximum, sum and sum of squares; the elements are overwritten."""
    low, high, total = numbers.min(), numbers.max(), np.add.reduce(numbers)
    # Not np.dot: BLAS would wake threads of its own beside TensorFlow's.
    np.multiply(numbers, numbers, out=numbers)
    return float(low), float(high), float(total), float(np.add.reduce(numbers))


def _of_float32(piece: np.ndarray[Any, Any]) -> tuple[float, float, float, float] | None:
    """The same without a float64 copy, in 0.4 of the time; ``None`` if the squares need float64."""
    low, high = float(np.minimum.reduce(piece)), float(np.maximum.reduce(piece))  # NaN if any is
    if low == high and isfinite(low):
        return low, high, low * piece.size, low * low * piece.size
    if not _SMALL < max(-low, high) < _LARGE or piece.size % _ROW:
        return None
    rows = piece.reshape(-1, _ROW)
    total = np.add.reduce(np.einsum("ij->i", rows), dtype=np.float64)
    squares = np.add.reduce(_squares(rows, rows), dtype=np.float64)
    return low, high, float(total), float(squares)
