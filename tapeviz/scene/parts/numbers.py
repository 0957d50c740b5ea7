"""Write values as the short texts that boxes and tables show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...graph.words import shape_words
from ...trace.stats import Array, Stats
from ..text import clean, shorten

SCALAR_LENGTH = 10
"""Longer numbers are rounded to six digits; the tooltip has them in full."""
CHIP_LENGTH = 18


def scalar_text(value: Any, length: int = SCALAR_LENGTH) -> str:
    """One element, as TensorFlow prints it: ``2709.0``, ``1.2e-05``, ``True``.

    A float has the fewest digits that give the same value of its dtype back, or six of them if the
    text would be longer than ``length`` characters.
    """
    if isinstance(value, str | bytes):
        text = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
        return f"'{shorten(text, length + 2, 'end')}'"
    text = str(value)
    if len(text) <= length:
        return text
    if isinstance(value, complex | np.complexfloating):
        return f"{value:.3g}".strip("()")
    if isinstance(value, bool | np.bool_):
        return text
    try:
        return f"{value:.6g}"
    except (TypeError, ValueError):
        return shorten(clean(text), length)


def array_text(array: Array, limit: int = CHIP_LENGTH) -> str:
    """All elements, compact (``[[0,0],[0,1]]``), or ``""`` if that exceeds ``limit`` characters."""
    if array.ndim == 0:
        return scalar_text(array[()])
    if array.size > limit:
        return ""
    text = _nested(array, _compact)
    return text if len(text) <= limit else ""


def rounded_text(array: Array, limit: int = CHIP_LENGTH) -> str:
    """Like :func:`array_text`, with five to two digits of each float, as many as ``limit`` has
    room for; ``""`` if two are too many."""
    text = array_text(array, limit)
    if text or array.ndim == 0 or array.dtype.kind != "f" or array.size > limit:
        return text
    texts = (_nested(array, f"{{:.{digits}g}}".format) for digits in (5, 4, 3, 2))
    return next((text for text in texts if len(text) <= limit), "")


def _nested(part: Any, write: Callable[[Any], str]) -> str:
    """``part``: an array, or an element of one."""
    if isinstance(part, np.ndarray):
        return "[" + ",".join(_nested(inner, write) for inner in part) + "]"
    return write(part)


def _compact(value: Any) -> str:
    """An element in a list; a whole float loses its zero (``1.0`` → ``1``)."""
    text = scalar_text(value, 6)
    return text[:-2] if text.endswith(".0") else text


def type_text(dtype: str, shape: Sequence[int | None] | None) -> str:
    """``float32 2×3``."""
    return f"{dtype} {shape_words(shape)}".rstrip()


def gradient_text(array: Array | None, stats: Stats | None, limit: int = 20) -> str:
    """A gradient in a few characters: its elements if they are few, else what they all are
    (``all 0.25``), else its Euclidean norm (``norm 52.4``)."""
    if array is not None and array.dtype.kind in "biufc":
        if array.size == 1:
            return scalar_text(array.flat[0])
        short = array_text(array, limit)
        if short:
            return short
        if array.size and bool((array == array.flat[0]).all()):
            return f"all {scalar_text(array.flat[0], 8)}"
    if stats is None:
        return ""
    if stats.nonfinite:
        return "NaN" if stats.nan else "Inf"
    if stats.norm is None:
        return ""
    return f"norm {'≈ ' if stats.is_estimate else ''}{stats.norm:.3g}"
