"""Gradients that an op as a whole gave and those of the steps inside it in; how they agree out."""

from __future__ import annotations

import pytest

from tapeviz.analysis.backward.inner_steps import agreement
from tapeviz.trace.calls import Replay, Step
from tapeviz.trace.ids import OpId, TensorId
from tests.traces import op_at, trace_of


@pytest.mark.parametrize(
    ("given", "inside", "expected"),
    [
        ([[3.0, -2.0], 5e-7], [[3.0, -2.0], 5e-7], "equal"),
        ([[3.0, -2.0], 1.0], [[3.0, -2.000001], 1.0], "near"),
        # A gradient that is zero but for rounding, beside one that is not.
        ([[3.0, -2.0], 5e-7], [[3.0, -2.0], -6e-7], "near"),
        ([[3.0, -2.0], 5e-7], [[3.0, -2.0], 5e-4], "differs"),
        ([[3.0, float("inf")], 5e-7], [[3.0, float("inf")], 1e-7], "near"),
        ([[3.0, -2.0], 1.0], [[3.0, -1.9], 1.0], "differs"),
    ],
)
def test_how_steps_inside_agree(given: list[object], inside: list[object], expected: str) -> None:
    values = {1: [0.0, 0.0], 2: 0.0, 11: given[0], 12: given[1], 21: inside[0], 22: inside[1]}
    trace = trace_of("", [op_at(1, 1, "MatMul", [1, 2], [3])], values)
    step = Step(0, OpId(1), "MatMul", (TensorId(3),), (TensorId(11), TensorId(12)))
    inner = Replay((), {"1": TensorId(21), "2": TensorId(22)})
    assert agreement(trace, step, inner) == expected
