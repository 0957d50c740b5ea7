"""Statistics of values, without a word from NumPy about those that it cannot compute with."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from tapeviz.trace.values import measure

SIGNALLING = np.array([0x7F800001, 0x3F800000], np.uint32).view(np.float32)  # NaN, 1.0


@pytest.mark.parametrize(
    ("value", "nan", "most"),
    [
        (SIGNALLING, 1, 1.0),
        (np.array([1e200, -1e200]), 0, 1e200),
    ],
    ids=["signalling NaN", "squares overflow"],
)
def test_values_are_measured_without_a_warning(value, nan, most):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stats = measure(value)
    assert stats is not None
    assert (stats.nan, stats.max) == (nan, most)
