"""Values in the JSON report: exact, and always JSON."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tapeviz.report import elements


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_floats_come_back_bit_for_bit(dtype: str) -> None:
    value = np.random.default_rng(0).normal(size=(3, 4)).astype(dtype)
    back = np.array(json.loads(json.dumps(elements(value))), dtype)
    assert back.tobytes() == value.tobytes()


def test_what_json_cannot_say_comes_as_strings() -> None:
    assert elements(np.array([[1.0, np.nan], [np.inf, -np.inf]])) == [
        [1.0, "NaN"],
        ["Infinity", "-Infinity"],
    ]
    assert elements(np.array(1 + 2j)) == "(1+2j)"
    assert elements(np.array([True, False])) == [True, False]
