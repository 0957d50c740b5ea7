"""Explain exceptions of TensorFlow's checks for NaN and infinity."""

from __future__ import annotations

from ....trace.ops import Op
from ..case import Case

_MEND = (
    "Keep its input where the function and its slope are finite: add a small number to what a "
    "logarithm, a square root or a division gets, or choose by tf.where before it, not after"
)


def detected(case: Case) -> str:
    """``tf.debugging.enable_check_numerics`` raises in an op callback, for forward ops and for
    those that TensorFlow's gradient functions run (TensorFlow 2.15-2.21)."""
    kind, numbers = case.match["op"], _numbers(case)
    call, op = case.call, case.op_differentiated
    if call is not None and call.line == case.line and op is not None and op.line:
        return (
            f"{case.words_of(op)} on line {op.line} gave its value, and while {call.method} on "
            f"line {call.line} went back through it, {kind} gave {numbers}: its slope is infinite "
            f"or not defined there. tf.debugging.enable_check_numerics() made that an error. "
            f"{_MEND}."
        )
    return (
        f"{kind} on line {case.line} gave {numbers}, and tf.debugging.enable_check_numerics() made "
        f"that an error.{_beginning_words(case)} {_MEND}."
    )


def checked(case: Case) -> str:
    """``tf.debugging.check_numerics`` and ``assert_all_finite``."""
    name = case.argument(0, "check_numerics", "assert_all_finite") or "a tensor"
    began = _beginning_words(case)
    return f"Line {case.line} checks {name}, which holds {_numbers(case)}.{began} " + (
        f"{_MEND}." if began else "Look for what computed it: the check itself is sound."
    )


def _numbers(case: Case) -> str:
    """TensorFlow lists what it found: ``Tensor had NaN values``, ``had -Inf and NaN values``."""
    found = case.match["found"]
    words = ["infinity"] if "Inf" in found else []
    return " and ".join([*words, "NaN"] if "NaN" in found else words)


def _beginning_words(case: Case) -> str:
    """A sentence about the first op that gave such a number of finite ones; empty if the recording
    does not have it, as where the check itself stopped it."""
    op = _beginning(case)
    if op is None or op.line in (0, case.line):
        return ""
    return f" It began on line {op.line}, where {case.words_of(op)} gave such a number first."


def _beginning(case: Case) -> Op | None:
    return next(filter(case.trace.makes_nonfinite, case.trace.ops.values()), None)
