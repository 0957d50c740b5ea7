"""Refuse event lines from outside that could not come from the recorder.

The reader trusts its events: it indexes the blob by them and counts through ranges of ids. What a
file claims is looked at here, once, so that nothing behind it has to ask again.
"""

from __future__ import annotations

import json
import math
import re
from functools import lru_cache

import msgspec

from ..events import (
    FORMAT_VERSION,
    Begin,
    Event,
    OperationRecorded,
    OpRan,
    SiteSeen,
    TensorSeen,
    decode,
)
from ..values import as_numpy_dtype
from . import limits
from .references import References

_STATS = 6
_SAMPLED = 64
"""Rows and columns of a sample at most."""
_LONG = re.compile(rb"[0-9]{19}")
_DTYPE = re.compile("bool|b?float[0-9]{1,3}|u?int[0-9]{1,2}|complex[0-9]{2,3}")


class UnsoundRecording(Exception):
    """An event could not come from the recorder; the message says why."""


class Soundness:
    """Looks at the events of one recording, in their order."""

    def __init__(self, blob_size: int) -> None:
        self._blob_size = blob_size
        self._in_bodies = 0
        self._count = 0
        self._references = References()

    def check(self, line: bytes) -> None:
        """Raises :class:`UnsoundRecording` for a line that is not a sound event."""
        self._count += 1
        try:
            event = decode(line)
        except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
            raise UnsoundRecording(f"its event {self._count} is damaged ({error})") from None
        problem = _problem_of_numbers(line) or self._problem(event)
        problem = problem or self._references.problem(event)
        if problem:
            raise UnsoundRecording(f"its event {self._count} is damaged ({problem})")

    def _problem(self, event: Event) -> str:
        if isinstance(event, TensorSeen):
            return self._problem_of_tensor(event)
        if isinstance(event, (OpRan, OperationRecorded)):
            return self._problem_of_op(event)
        if isinstance(event, SiteSeen):
            return "a line below 0" if any(frame[1] < 0 for frame in event.frames) else ""
        if isinstance(event, Begin) and event.format > FORMAT_VERSION:
            raise UnsoundRecording("it was made by a newer tapeviz; update tapeviz to read it")
        return ""

    def _problem_of_tensor(self, event: TensorSeen) -> str:
        shape = event.shape
        if abs(event.id) > limits.LARGEST_ID:
            return "an id out of range"
        if shape is not None:
            if len(shape) > limits.DIMENSIONS:
                return "too many dimensions"
            if any(size is not None and not 0 <= size <= limits.LARGEST_ID for size in shape):
                return "a dimension out of range"
        if event.stats is not None and len(event.stats) != _STATS:
            return "not six statistics"
        if event.sample is not None:
            start, rows, columns = event.sample
            if min(rows, columns) < 1 or max(rows, columns) > _SAMPLED:
                return "a sample out of range"
            problem = self._problem_of_bytes(event.dtype, start, rows * columns)
            if problem:
                return problem
        if event.text is None and event.at == -1:
            return ""
        if shape is None or None in shape:
            return "a value without a shape"
        size = math.prod(size or 0 for size in shape)
        if event.text is not None:
            return "" if len(event.text) == size else "texts that do not fit the shape"
        return self._problem_of_bytes(event.dtype, event.at, size, event.nbytes)

    def _problem_of_bytes(self, dtype: str, start: int, size: int, said: int | None = None) -> str:
        """``size`` elements from ``start`` in the blob; ``said``: how many bytes they are said to
        be."""
        itemsize = _itemsize(dtype)
        if itemsize is None:
            return "an unknown dtype"
        length = size * itemsize
        if start < 0 or said not in (None, length):
            return "a value that does not fit its shape"
        return "" if start + length <= self._blob_size else "a value outside of the file"

    def _problem_of_op(self, event: OpRan | OperationRecorded) -> str:
        if not 0 < event.id <= limits.EVENTS:
            return "an id out of range"
        if isinstance(event, OperationRecorded) and event.first:
            if not 0 < event.first <= event.id:
                return "a body out of range"
            self._in_bodies += event.id - event.first
            if self._in_bodies > limits.OPS_IN_BODIES:
                return "bodies without end"
        return ""


@lru_cache(maxsize=64)
def _itemsize(dtype: str) -> int | None:
    """The bytes of an element; None if there is no such dtype of numbers."""
    # NumPy parses far more than names; what it makes of them must not be asked.
    if not _DTYPE.fullmatch(dtype):
        return None
    try:
        return as_numpy_dtype(dtype).itemsize
    except ValueError:
        return None


def _problem_of_numbers(line: bytes) -> str:
    """Why the whole numbers of an event do not fit into columns of 64 bits; empty if they do."""
    if not _LONG.search(line):
        return ""
    numbers: list[str] = []
    json.loads(line, parse_int=numbers.append)
    fit = (len(digits) <= 20 and -(1 << 63) <= int(digits) < 1 << 63 for digits in numbers)
    return "" if all(fit) else "a number too large"
