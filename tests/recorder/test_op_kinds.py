"""The table of op types: each row has known traits, and is an op of TensorFlow's."""

from __future__ import annotations

from collections.abc import Callable

from tapeviz.trace.op_kinds import OP_KINDS, TRAITS, ops_with

from .conftest import Recorded

_NOT_IN_2_18 = {"DecodeJxl", "DecodeWebP"}
"""Ops that TensorFlow 2.15 and 2.18 lack; 2.21 has them."""


def test_rows_and_traits_know_each_other() -> None:
    assert list(OP_KINDS) == sorted(OP_KINDS)
    assert set().union(*OP_KINDS.values()) == set(TRAITS)
    several = {"If", "StatelessIf", "Case", "StatelessCase", "While", "StatelessWhile"}
    several.add("ReduceDataset")  # ends a loop over a dataset
    assert ops_with("loop", "branch") == several


def test_tensorflow_has_these_ops(run_plainly: Callable[..., Recorded]) -> None:
    recorded = run_plainly(
        "from tensorflow.python.framework import op_def_registry\n"
        f"print(*[name for name in {sorted(OP_KINDS)!r} if op_def_registry.get(name) is None])\n"
    )
    assert set(recorded.out.split()) in (set(), _NOT_IN_2_18)
