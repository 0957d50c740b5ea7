"""A plain run and a recorded run in, assertions that nobody could tell them apart out."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tapeviz.trace.calls import Call
from tapeviz.trace.stats import Array

from .plain_runs import Bits, PlainRun
from .recorded_runs import RecordedRun, without_chance, without_machine


def check_same(
    plain: PlainRun,
    recorded: RecordedRun,
    calls: Callable[[], list[tuple[str, list[Bits | str | None]]]] | None = None,
) -> None:
    """Same output, same exception, same results of every gradient call, bit for bit.

    ``calls`` runs the snippet plainly once more to keep them, if ``plain`` did not.
    """
    trace = recorded.trace
    assert not trace.notes, trace.notes
    assert recorded.printed("stdout") == without_chance(plain.out)
    if plain.is_script:
        _check_same_script(plain, recorded)
        return
    assert recorded.printed("stderr") == without_chance(without_machine(plain.err))
    check_same_ending(plain, recorded)
    if calls is None:
        check_same_results(plain.calls, recorded)
    elif not plain.died and trace.calls:
        check_same_results(calls(), recorded)


def _check_same_script(plain: PlainRun, recorded: RecordedRun) -> None:
    failure, ending = recorded.trace.failure, recorded.trace.ending
    shown = "" if failure is None else without_chance(failure.traceback)
    printed = recorded.printed("stderr")
    assert without_chance(plain.err) in (printed + shown, printed)  # or a hook of its own showed it
    status = ending.detail if ending.how == "exit" else "0"
    known = int(status) if failure is None and status.isdecimal() else 1
    assert plain.status == known


def check_same_ending(plain: PlainRun, recorded: RecordedRun) -> None:
    failure, ending = recorded.trace.failure, recorded.trace.ending
    if plain.died:
        assert ending.how == "died"
        return
    if plain.failure is None or failure is None:
        assert (failure, plain.failure) == (None, None)
        known = ("finished", "") if plain.status is None else ("exit", str(plain.status))
        assert (ending.how, ending.detail) == known
        return
    kind, message, line = plain.failure
    assert failure.type == kind
    assert without_chance(failure.message) == without_chance(message)
    assert failure.line == line
    assert without_chance(failure.traceback) == without_chance(plain.traceback)


def check_same_results(
    plain: list[tuple[str, list[Bits | str | None]]], recorded: RecordedRun
) -> None:
    ended = (call for call in recorded.trace.calls if call.ended and call.is_direct)
    calls = sorted((call for call in ended if call.method != "jvp"), key=lambda call: call.id)
    methods, expected = [call.method for call in calls], [name for name, _ in plain]
    assert methods == expected, (methods, expected)
    for call, (_, results) in zip(calls, plain, strict=True):
        _check_results(call, results, recorded)


def _check_results(call: Call, results: list[Bits | str | None], recorded: RecordedRun) -> None:
    assert len(call.results) == len(results), call
    for mine, theirs in zip(call.results, results, strict=True):
        where = f"{call.method} on line {call.line}"
        if theirs is None:
            assert mine is None, where
        elif not isinstance(theirs, str):
            assert mine is not None, where
            value = recorded.value(mine)
            assert same_bits(value, array(theirs)), (where, value, array(theirs))


def array(bits: Bits) -> Array:
    """The array of these bits; bfloat16 as float32, which holds each of its values."""
    dtype, shape, raw = bits
    if dtype == "bfloat16":
        wide = np.frombuffer(raw, np.uint16).astype(np.uint32) << 16
        return wide.view(np.float32).reshape(shape)
    return np.frombuffer(raw, dtype).reshape(shape)


def same_bits(array: Array, other: Array) -> bool:
    """Whether all bits agree, but for what a NaN carries."""
    if array.dtype != other.dtype or array.shape != other.shape:
        return False
    if array.dtype.kind not in "fc":
        return bool(np.array_equal(array, other))
    width = array.dtype.itemsize // (2 if array.dtype.kind == "c" else 1)
    parts = [np.ascontiguousarray(each).ravel() for each in (array, other)]
    floats = [each.view(f"f{width}") for each in parts]
    nan, other_nan = (np.isnan(each) for each in floats)
    if not np.array_equal(nan, other_nan):
        return False
    bits, other_bits = (each.view(f"u{width}")[~nan] for each in floats)
    return bool(np.array_equal(bits, other_bits))
