"""Read the NumPy array and the statistics of a tensor from the blob."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from .ids import TensorId
from .stats import Array, Stats
from .unread import sample_of_state, state_of

if TYPE_CHECKING:
    from .model import Trace


@dataclass(frozen=True, slots=True)
class TensorPart:
    """A slice of a tensor that is too large to travel as a whole, and facts about all of it.

    ``array``: a slice of it, of which every n-th element of each dimension is here (``steps``);
    ``spread``: elements of all of it, evenly spaced; ``stats``: of all of it.
    """

    array: Array
    steps: tuple[int, ...]
    spread: Array
    stats: Stats | None


_NUMBERS = {("float32", ()): struct.Struct("<f"), ("float64", ()): struct.Struct("<d")}
"""The forms of tensors that are one number."""


def array_of(raw: bytes | memoryview, dtype: str, shape: tuple[int, ...]) -> Array:
    """Raw little-endian elements in C order as an array of ``shape``.

    bfloat16 becomes float32, which holds each of its values exactly.
    """
    stored = np.frombuffer(raw, as_numpy_dtype(dtype))
    if dtype == "bfloat16":
        stored = (stored.astype(np.uint32) << 16).view(np.float32)
    return stored.reshape(shape)


def value_of(trace: Trace, tensor: TensorId) -> Array | None:
    tensor = trace.fetched.get(tensor, tensor)
    known = trace.tensors.get(tensor)
    if known is None or known.shape is None or None in known.shape:
        return None
    shape = tuple(size or 0 for size in known.shape)
    if tensor in trace.sums:
        rows, numbers = trace.sums[tensor]
        return _sum_of_rows(value_of(trace, rows), value_of(trace, numbers), shape)
    if tensor in trace.unread:
        return state_of(trace, tensor)
    if tensor in trace.texts:
        return np.array(trace.texts[tensor], dtype=object).reshape(shape)
    if tensor not in trace.places:
        return None
    start = trace.places[tensor]
    end = start + math.prod(shape) * as_numpy_dtype(known.dtype).itemsize
    return array_of(memoryview(trace.blob)[start:end], known.dtype, shape)


def _sum_of_rows(rows: Array | None, numbers: Array | None, shape: tuple[int, ...]) -> Array | None:
    """The rows added up by their numbers one after the other, as ``UnsortedSegmentSum`` does."""
    if rows is None or numbers is None or numbers.size * math.prod(shape[1:]) != rows.size:
        return None
    total = np.zeros(shape, rows.dtype)
    np.add.at(total, numbers.reshape(-1), rows.reshape(-1, *shape[1:]))
    return total


def sample_of(trace: Trace, tensor: TensorId) -> Array | None:
    tensor = trace.fetched.get(tensor, tensor)
    if tensor in trace.unread:
        return sample_of_state(trace, tensor)
    if tensor not in trace.samples:
        return None
    start, *shape = trace.samples[tensor]
    dtype = trace.tensors[tensor].dtype
    end = start + math.prod(shape) * as_numpy_dtype(dtype).itemsize
    return array_of(memoryview(trace.blob)[start:end], dtype, tuple(shape))


def stats_of(trace: Trace, tensor: TensorId) -> Stats | None:
    tensor = trace.fetched.get(tensor, tensor)
    sent = trace.sent_stats.get(tensor) or trace.measured.get(tensor)
    if sent is not None:
        return sent
    # A single number, of which a long backward pass has as many as steps, is read without making
    # an array of it, and sooner than it would be found among what was kept.
    known = trace.tensors.get(tensor)
    if known is not None and known.form in _NUMBERS:
        place = trace.places.get(tensor)
        if place is not None:
            return _stats_of_number(_NUMBERS[known.form].unpack_from(trace.blob, place)[0])
    value = value_of(trace, tensor)
    if value is None:
        # Too many to travel: the rows say whether a sum of them can be zero or is no number.
        return stats_of(trace, trace.sums[tensor][0]) if tensor in trace.sums else None
    trace.measured[tensor] = measured = measure(value)
    return measured


def norm_of(trace: Trace, tensor: TensorId) -> float | None:
    """The norm of a tensor's finite elements, None if they are not known."""
    if tensor not in trace.sent_stats and tensor not in trace.fetched:
        known = trace.tensors.get(tensor)
        if known is not None and known.form in _NUMBERS:
            place = trace.places.get(tensor)
            if place is not None:
                number = _NUMBERS[known.form].unpack_from(trace.blob, place)[0]
                return math.sqrt(number * number) if math.isfinite(number) else None
    stats = stats_of(trace, tensor)
    return stats.norm if stats else None


def stats_from(sent: Sequence[float | None], is_estimate: bool = False) -> Stats:
    """Statistics as the recorder sends them: min, max, mean, norm, count of NaN and of Inf."""
    low, high, mean, norm, nan, inf = sent
    return Stats(low, high, mean, norm, int(nan or 0), int(inf or 0), is_estimate)


def measure(value: Array) -> Stats | None:
    """Statistics of a numeric or boolean array (complex: of its modulus); None for others."""
    if value.dtype.kind not in "biufc":
        return None
    if value.size == 1 and value.dtype.kind != "c":
        return _stats_of_number(value.item())
    with np.errstate(all="ignore"):  # signalling NaN, numbers whose squares overflow
        magnitudes: np.ndarray[Any, Any] = np.abs(value) if value.dtype.kind == "c" else value
        elements = magnitudes.astype(np.float64, copy=False).ravel()
        nan = int(np.isnan(elements).sum())
        finite = elements[np.isfinite(elements)]
        inf = elements.size - finite.size - nan
        if not finite.size:
            return Stats(None, None, None, None, nan, inf)
        return Stats(
            float(finite.min()),
            float(finite.max()),
            float(finite.mean()),
            float(np.linalg.norm(finite)),
            nan,
            inf,
        )


def _stats_of_number(number: float) -> Stats:
    """The statistics of an array with one element, without a pass of NumPy for each."""
    known = float(number)
    if math.isfinite(known):
        return Stats(known, known, known, math.sqrt(known * known), 0, 0)
    return Stats(None, None, None, None, int(math.isnan(known)), int(math.isinf(known)))


@lru_cache(maxsize=64)
def as_numpy_dtype(name: str) -> np.dtype[Any]:
    """NumPy's dtype of a TensorFlow dtype name (bfloat16: raw uint16); else ``ValueError``."""
    if name == "bfloat16":
        return np.dtype("uint16")
    try:
        return np.dtype(name)
    except TypeError as error:
        raise ValueError(f"no NumPy dtype for {name}") from error
