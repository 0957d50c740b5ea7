"""Make the thumbnail of an array that stands in a box: a picture of a few cells."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...trace.ids import TensorId
from ...trace.model import Trace
from ...trace.stats import Array
from ..model import Picture

EXACT = 6
"""Up to this many rows and columns a cell is an element."""
MOST = 8
"""Larger arrays are averaged to at most this many rows and columns."""
_FLAT = 0.5


def cells_of_tensor(tensor: TensorId, trace: Trace) -> tuple[int, int] | None:
    """(rows, columns) of the picture of a tensor; None where there is none."""
    known = trace.tensors.get(tensor)
    if known is not None and tensor in trace.places:
        return cells_of(known.shape)
    if known is not None and tensor in trace.unread:
        state = trace.value(tensor)
        state = trace.sample(tensor) if state is None else state
        return None if state is None else cells_of(state.shape)
    sample = trace.samples.get(tensor)
    return None if sample is None else cells_of(sample[1:])


def picture_of_tensor(tensor: TensorId, trace: Trace) -> Picture | None:
    """The picture of all elements, where they travelled; of a large tensor that of a sample."""
    value = trace.value(tensor)
    value = trace.sample(tensor) if value is None else value
    return None if value is None else picture_of(value)


def cells_of(shape: Sequence[int | None] | None) -> tuple[int, int] | None:
    """(rows, columns) of the picture of an array of this shape; None where there is none.

    A vector is a row; above two dimensions all but the last become rows.
    """
    if shape is None or not shape or None in shape:
        return None
    sizes = [size or 0 for size in shape]
    columns = sizes[-1]
    rows = int(np.prod(sizes[:-1], dtype=np.int64)) if len(sizes) > 1 else 1
    if rows * columns < 2:
        return None
    return _cells(rows), _cells(columns)


def _cells(size: int) -> int:
    return size if size <= EXACT else min(size, MOST)


def picture_of(array: Array) -> Picture | None:
    """The picture of an array, None for scalars, text and empty arrays.

    Values are scaled to 0…1 from the least to the greatest element; a cell with an element that is
    not finite is None. If all elements are equal, cells are 0.5, or 0 for zeros. Complex numbers
    count by their modulus.
    """
    cells = cells_of(array.shape)
    if cells is None or array.dtype.kind not in "biufc":
        return None
    real = np.abs(array) if array.dtype.kind == "c" else array
    flat = real.reshape(-1, array.shape[-1]).astype(np.float64)
    means = _block_means(flat, cells)
    finite = np.isfinite(means)
    if not finite.any():
        return Picture(tuple((None,) * cells[1] for _ in range(cells[0])))
    known = means[finite]
    low, high = float(known.min()), float(known.max())
    if not np.isfinite(high - low):
        means, low, high = means / 4, low / 4, high / 4
    if high > low:
        scaled = (means - low) / (high - low)
    else:
        scaled = np.full_like(means, _FLAT if high else 0.0)
    cleared = np.round(scaled, 4).astype(object)
    cleared[~finite] = None
    return Picture(tuple(tuple(row) for row in cleared.tolist()))


def _block_means(matrix: NDArray[np.float64], cells: tuple[int, int]) -> NDArray[np.float64]:
    """Means over ``cells`` blocks of (nearly) equal size; NaN spreads over its block."""
    means = matrix
    with np.errstate(invalid="ignore", over="ignore"):
        for axis, count in enumerate(cells):
            size = means.shape[axis]
            if size != count:
                edges = np.arange(count + 1) * size // count
                lengths = np.diff(edges)
                sums = np.add.reduceat(means, edges[:-1], axis=axis)
                means = sums / (lengths[:, None] if axis == 0 else lengths[None, :])
    return means
