"""A plain run and a recorded run in, assertions that nobody could tell them apart out."""

from __future__ import annotations

import numpy as np

from tapeviz.trace.model import Array, Call

from .plain_runs import Bits, PlainRun
from .recorded_runs import RecordedRun, without_machine


def check_same(plain: PlainRun, recorded: RecordedRun) -> None:
    """Same output, same exception, same results of every gradient call, bit for bit."""
    trace = recorded.trace
    assert not trace.notes, trace.notes
    check_same_ending(plain, recorded)
    assert recorded.printed("stdout") == plain.out
    assert recorded.printed("stderr") == without_machine(plain.err)
    check_same_results(plain, recorded)


def check_same_ending(plain: PlainRun, recorded: RecordedRun) -> None:
    failure, ending = recorded.trace.failure, recorded.trace.ending
    known = None if failure is None else (failure.type, failure.message, failure.line)
    assert known == plain.failure
    if plain.failure is None and plain.status is None:
        assert ending.how == "finished"
    elif plain.failure is None:
        assert (ending.how, ending.detail) == ("exit", str(plain.status))


def check_same_results(plain: PlainRun, recorded: RecordedRun) -> None:
    calls = [call for call in recorded.trace.calls if call.ended and call.method != "jvp"]
    assert [call.method for call in calls] == [name for name, _ in plain.calls]
    for call, (_, results) in zip(calls, plain.calls, strict=True):
        _check_results(call, results, recorded)


def _check_results(call: Call, results: list[Bits | str | None], recorded: RecordedRun) -> None:
    assert len(call.results) == len(results), call
    for mine, theirs in zip(call.results, results, strict=True):
        where = f"{call.method} on line {call.line}"
        if theirs is None:
            assert mine is None, where
        elif not isinstance(theirs, str):
            assert mine is not None, where
            assert same_bits(recorded.value(mine), array(theirs)), where


def array(bits: Bits) -> Array:
    """The array of these bits; bfloat16 as float32, which holds each of its values."""
    dtype, shape, raw = bits
    if dtype == "bfloat16":
        wide = np.frombuffer(raw, np.uint16).astype(np.uint32) << 16
        return wide.view(np.float32).reshape(shape)
    return np.frombuffer(raw, dtype).reshape(shape)


def same_bits(one: Array, other: Array) -> bool:
    """Whether all bits agree, but for what a NaN carries."""
    if one.dtype != other.dtype or one.shape != other.shape:
        return False
    if one.dtype.kind not in "fc":
        return bool(np.array_equal(one, other))
    width = one.dtype.itemsize // (2 if one.dtype.kind == "c" else 1)
    parts = [np.ascontiguousarray(each).ravel() for each in (one, other)]
    floats = [each.view(f"f{width}") for each in parts]
    nan = [np.isnan(each) for each in floats]
    if not np.array_equal(*nan):
        return False
    bits = [each.view(f"u{width}")[~hole] for each, hole in zip(floats, nan, strict=True)]
    return bool(np.array_equal(*bits))
