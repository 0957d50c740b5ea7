"""Give an op the slope that TensorFlow lacks, as a difference of its values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import libcst as cst

from ..model import Edit, FixCase
from ..nodes import argument, called_name
from ..plan import Plan, fitting

_WITHOUT_SLOPE: Mapping[str, tuple[tuple[int, str], ...]] = {
    "betainc": ((0, "a"), (1, "b")),
    "zeta": ((0, "x"),),
}
"""Arguments by which an op that is smooth in them has no gradient: _BetaincGrad and _ZetaGrad in
math_grad.py return None for them (2.15-2.21). The order of polygamma is a whole number: between two
TensorFlow computes NaN."""

_STEP = "1e-2"
"""The error of a central difference is least where that of the step, h² / 6 times the third
derivative, is as large as the rounding of float32, 6e-8 / h: at h = 0.007 for a scale of 1."""


def central_difference(case: FixCase) -> Iterator[Edit]:
    """``f(a, x)`` → itself, plus ``a - tf.stop_gradient(a)`` (which is 0 and has the slope 1) times
    ``(f(a + h, x) - f(a - h, x)) / 2h``."""
    source, tf, plan = case.source, case.source.tf, Plan(case.source)
    for call in case.calls(*_WITHOUT_SLOPE):
        terms = [source.code(call)]
        for place, name in _WITHOUT_SLOPE[called_name(call)]:
            given = argument(call, place, name)
            if given is None or isinstance(given, cst.BaseNumber):
                continue
            a = source.operand(given)
            sides = []
            for sign in "+-":
                moved = cst.parse_expression(f"{a} {sign} {_STEP}")
                sides.append(source.code(call.deep_replace(given, moved)))
            slope = f"({sides[0]} - {sides[1]}) / (2 * {_STEP})"
            terms.append(f"{tf}.stop_gradient({slope}) * ({a} - {tf}.stop_gradient({a}))")
        if len(terms) > 1:
            plan.replace(call, fitting(source, call, cst.parse_expression(" + ".join(terms))))
    yield from plan.edits("Estimate: take its slope from the difference of two values beside")
