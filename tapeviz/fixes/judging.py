"""Judge whether an edit mended the gradient, by the runs before and after it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import inf

import numpy as np

from ..analysis.causes.values.nonfinite import Nonfinite
from ..analysis.causes.values.saturated import Saturated
from ..analysis.findings import Finding
from ..analysis.model import Diagnosis
from ..analysis.requests.loops import loops_around
from ..trace.calls import Call, Operand
from ..trace.ids import TensorId, VariableId
from ..trace.model import Trace
from ..trace.stats import Array
from .model import Edit

_LOOSE = frozenset(("float16", "bfloat16"))
_WITHOUT_SLOPE = frozenset(("not-differentiable", "integer"))
_VANISHED = 1e-12
_OF_THAT_ACROSS = 1e-6
_OF_TARGET = 1e-6
FindingKey = tuple[int, int]
"""A result by its indices: the call's in the order of the calls, the source's in the call."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A run and what it means."""

    trace: Trace
    diagnosis: Diagnosis

    def finding(self, key: FindingKey) -> Finding | None:
        calls = self.diagnosis.calls
        call, source = key
        if call < len(calls) and source < len(calls[call].findings):
            return calls[call].findings[source]
        return None


def breaks(before: Outcome, after: Outcome) -> bool:
    """Whether the snippet ran to its end before the edit, and raises with it.

    An ``assert`` of the snippet may have stated what the edit mends.
    """
    failure = after.trace.failure
    if before.trace.failure is not None or failure is None:
        return False
    return failure.type != "AssertionError"


def answer_to(key: FindingKey, edit: Edit) -> FindingKey:
    """The result that stands for this one after the edit."""
    return (key[0], 0) if edit.asks_once else key


def has_come_out(before: Outcome, after: Outcome, key: FindingKey, edit: Edit) -> bool:
    """Whether the gradient is there now, and none that was there is gone."""
    if edit.asks_fewer:
        return _is_left_out(before, after, key)
    old, new = before.finding(key), after.finding(answer_to(key, edit))
    if old is None or new is None or not _is_same_call(before, after, key, edit):
        return False
    is_zero_across = _is_zero_across(before.trace, old)
    is_mended_by_zeros = edit.gives_zeros or old.status == "nonfinite" or is_zero_across
    is_mended_by_zeros |= is_zero_here(old, new, edit)
    if new.status != "flows" and not (is_mended_by_zeros and new.status == "zero"):
        return False
    if _has_vanished(before.trace, old, after.trace, new) or _spoils_target(before, after, key):
        return False
    if old.status == "zero" and old.cause is not None and old.cause.kind == "cancelled":
        targets = after.diagnosis.calls[key[0]].call.targets
        if (_norm(after.trace, new.tensor) or inf) < _OF_TARGET * _largest_norm(after, targets):
            return False  # what is left of a sum that is always the same
    if edit.is_estimate and not edit.has_other_value and _shapes_differ(before, after, key):
        return False  # a loss that was one number stays one
    method = before.diagnosis.calls[key[0]].call.method
    # Where a Python function was not followed, py_function gives a single 0 for any shape.
    is_placeholder = old.status == "zero" and old.shape == ()
    has_same_shape = old.shape in (None, new.shape) or is_placeholder or method != "gradient"
    if not (has_same_shape or edit.parts or edit.has_other_shape):
        return False
    return edit.asks_once or _others_flow(before, after, key)


def _is_left_out(before: Outcome, after: Outcome, key: FindingKey) -> bool:
    """Whether the source is no longer asked for, and all gradients that were there still are."""
    if key[0] >= len(after.diagnosis.calls):
        return False
    methods = {each.diagnosis.calls[key[0]].call.method for each in (before, after)}
    old, new = (_names_of_sources(each, key[0]) for each in (before, after))
    there, still = ([name for name, flows in names if flows] for names in (old, new))
    asked = [name for name, _ in new]
    is_left_out = still == asked or old[key[1]][0] not in asked
    return is_left_out and bool(there) and there == still and len(methods) == 1


def _names_of_sources(outcome: Outcome, call: int) -> list[tuple[str, bool]]:
    """Each source of a call, and whether its gradient is there. A variable has its own name:
    ``weights[4]`` may be another one after an edit."""
    diagnosed, variables = outcome.diagnosis.calls[call], outcome.trace.variables
    found = [variables.get(VariableId(s.tensor or TensorId(0))) for s in diagnosed.call.sources]
    return [
        (variable.name if variable is not None else finding.source, finding.status == "flows")
        for variable, finding in zip(found, diagnosed.findings, strict=True)
    ]


def is_zero_here(old: Finding, new: Finding, edit: Edit) -> bool:
    """Whether the gradient arrives now, but is 0 at these values, as at a minimum of the target,
    which the edit leaves as it was."""
    is_exact = old.status == "none" and not edit.is_estimate and not edit.has_other_value
    return is_exact and not edit.asks_fewer and is_zero_at_values(new)


def is_zero_at_values(finding: Finding) -> bool:
    """Whether the gradient arrives, and is 0 at these values, as that of a square at 0."""
    kind = finding.cause.kind if finding.cause is not None else ""
    return finding.status == "zero" and kind in ("multiplied-by-zero", "cancelled")


def _is_zero_across(trace: Trace, finding: Finding) -> bool:
    """Whether the gradient across the cut is known, and zero."""
    if finding.status != "none" or finding.is_estimated:
        return False
    value = finding.bridged_value
    if value is None and finding.bridged is not None:
        value = _numbers(trace, finding.bridged)
    return value is not None and not value.any()


def _has_vanished(trace: Trace, old: Finding, after: Trace, new: Finding) -> bool:
    """Whether a gradient is nothing but rounding: no larger than that where it was zero before, or
    a millionth of the gradient across the cut. So it is for a sum that is always 1."""
    norm = _norm(after, new.tensor)
    if norm is None:
        return False
    across = _norm(trace, old.bridged)
    if across and new.status == "flows" and norm < _OF_THAT_ACROSS * across:
        return True
    return old.status == "zero" and norm < _VANISHED


def _spoils_target(before: Outcome, after: Outcome, key: FindingKey) -> bool:
    """Whether a target that was finite has NaN or infinity now, whose slope tells nothing."""
    targets = (each.diagnosis.calls[key[0]].call.targets for each in (before, after))
    for old, new in zip(*targets, strict=False):
        known, is_bad = before.trace.stats(old.tensor), after.trace.has_nonfinite(new.tensor)
        if known is not None and is_bad and not known.nonfinite:
            return True
    return False


def _norm(trace: Trace, tensor: TensorId | None) -> float | None:
    stats = trace.stats(tensor) if tensor is not None else None
    return stats.norm if stats is not None else None


def _shapes_differ(before: Outcome, after: Outcome, key: FindingKey) -> bool:
    """Whether a target has another shape than before, of those whose shapes are known."""
    shapes = []
    for each in (before, after):
        targets, known = each.diagnosis.calls[key[0]].call.targets, each.trace.tensors
        found = (known.get(target.tensor) if target.tensor else None for target in targets)
        shapes.append([tensor.shape if tensor is not None else None for tensor in found])
    return any(a != b for a, b in zip(*shapes, strict=False) if a is not None and b is not None)


def _largest_norm(outcome: Outcome, operands: Iterable[Operand]) -> float:
    return max((_norm(outcome.trace, each.tensor) or 0.0 for each in operands), default=0.0)


def _is_same_call(before: Outcome, after: Outcome, key: FindingKey, edit: Edit) -> bool:
    old, new = before.diagnosis.calls[key[0]], after.diagnosis.calls[key[0]]
    same_number = len(new.findings) == (1 if edit.asks_once else len(old.findings))
    return old.call.method == new.call.method and same_number


def _others_flow(before: Outcome, after: Outcome, key: FindingKey) -> bool:
    call = key[0]
    old, new = before.diagnosis.calls[call].findings, after.diagnosis.calls[call].findings
    return all(n.status == "flows" for o, n in zip(old, new, strict=True) if o.status == "flows")


def has_same_numbers(before: Outcome, after: Outcome, key: FindingKey, edit: Edit) -> bool:
    """Whether it agrees with the gradient across the cut, and the target with what it was."""
    if edit.asks_fewer:
        return has_same_targets(before, after, key)
    old, new = before.finding(key), after.finding(answer_to(key, edit))
    if old is None or new is None:
        return False
    has_other = edit.has_other_shape or edit.has_other_value or edit.has_other_slope
    # Across other cuts it is known, and of an op that has no slope nothing of it came.
    is_new_slope = edit.is_estimate and old.cause is not None and old.cause.kind in _WITHOUT_SLOPE
    is_another = has_other or is_new_slope or bool(edit.parts)
    agrees = is_another or _agrees(before, old, after, new)
    agrees &= edit.is_estimate or has_other or _keeps_elements(before, old, after, new, key)
    may_differ = edit.is_estimate or edit.has_other_value or _had_nonfinite_values(old)
    return agrees and (may_differ or has_same_targets(before, after, key))


def agrees_in_first_turn(before: Outcome, after: Outcome, key: FindingKey, edit: Edit) -> bool:
    """Whether the first turn of a compiled loop gave the gradient across the cut. Without an edit
    all turns are alike, where a gradient that is None was to change what they compute with."""
    old, place = before.finding(key), answer_to(key, edit)
    new = after.finding(place)
    if old is None or new is None or new.tensor is None:
        return False
    loops = loops_around(after.trace, after.diagnosis.calls[place[0]].call)
    firsts = (loop.turns[min(loop.turns)].get(new.tensor) for loop in loops if loop.turns)
    known = [replace(new, tensor=tensor) for tensor in firsts if tensor is not None]
    return any(_agrees(before, old, after, each) for each in known)


def _had_nonfinite_values(finding: Finding) -> bool:
    """Whether an op gave or got NaN or infinity already on the way to the target, which may have
    been masked there."""
    evidence = finding.cause.evidence if finding.cause is not None else None
    if isinstance(evidence, Saturated):
        return bool(evidence.infinite)
    return isinstance(evidence, Nonfinite) and evidence.how in ("input", "output", "forward")


def _agrees(before: Outcome, old: Finding, after: Outcome, new: Finding) -> bool:
    """Whether the gradient is the one across the cut, where that is known and no estimate."""
    if new.tensor is None or old.is_estimated:
        return True
    if old.bridged_value is not None:
        found = _numbers(after.trace, new.tensor)
        return found is None or _are_near(old.bridged_value, found, 1e-3, 1e-5)
    if old.bridged is None:
        return True
    return _are_close(before.trace, old.bridged, after.trace, new.tensor, 1e-4, 1e-6)


def _keeps_elements(
    before: Outcome, old: Finding, after: Outcome, new: Finding, key: FindingKey
) -> bool:
    """Whether elements of a gradient that were neither NaN nor infinite are what they were.

    Zeros are left out: a quotient by infinity is 0. All may change where the target masks a NaN
    that was computed before: it counts once it is a number.
    """
    if old.status != "nonfinite" or old.tensor is None or new.tensor is None:
        return True
    a, b = _numbers(before.trace, old.tensor), _numbers(after.trace, new.tensor)
    if a is None or b is None or a.shape != b.shape:
        return True
    sound = np.isfinite(a) & (a != 0)
    known = before.trace.tensors.get(old.tensor)
    rtol = 5e-2 if known is not None and known.dtype in _LOOSE else 1e-2
    if np.allclose(b[sound], a[sound], rtol=rtol):
        return True
    return _had_nan(before.trace, before.diagnosis.calls[key[0]].call)


def _had_nan(trace: Trace, call: Call) -> bool:
    """Whether an op before a gradient call gave NaN."""
    outputs = (each for op in trace.ops.values() if op.when < call.when for each in op.outputs)
    return any(stats.nan for each in outputs if (stats := trace.stats(each)) is not None)


def has_same_targets(before: Outcome, after: Outcome, key: FindingKey) -> bool:
    old = before.diagnosis.calls[key[0]].call.targets
    new = after.diagnosis.calls[key[0]].call.targets
    pairs = ((o.tensor, n.tensor) for o, n in zip(old, new, strict=False))
    return all(
        o is None or n is None or _are_close(before.trace, o, after.trace, n, 1e-3, 1e-5)
        for o, n in pairs
    )


def is_repeatable(before: Outcome, again: Outcome, key: FindingKey) -> bool:
    """Whether a second run of the same text gave the same numbers."""
    old, new = before.finding(key), again.finding(key)
    if old is None or new is None or not has_same_targets(before, again, key):
        return False
    if not _keeps_elements(before, old, again, new, key):
        return False
    if old.bridged is None or new.bridged is None:
        return True
    return _are_close(before.trace, old.bridged, again.trace, new.bridged, 1e-4, 1e-6)


def _are_close(
    first: Trace, tensor: TensorId, other: Trace, second: TensorId, rtol: float, atol: float
) -> bool:
    a, b = _numbers(first, tensor), _numbers(other, second)
    known = first.tensors.get(tensor)
    if known is not None and known.dtype in _LOOSE:
        rtol, atol = max(rtol, 1e-2), max(atol, 1e-3)
    if a is not None and b is not None:
        return _are_near(a, b, rtol, atol)
    norms = [s.norm for s in (first.stats(tensor), other.stats(second)) if s is not None]
    if len(norms) == 2 and norms[0] is not None and norms[1] is not None:
        return bool(np.isclose(norms[0], norms[1], rtol=10 * rtol, atol=atol))
    return True


def _are_near(a: Array, b: Array, rtol: float, atol: float) -> bool:
    """Whether all finite elements of ``a`` are near those of ``b``."""
    if a.shape != b.shape:
        return False
    finite = np.isfinite(a)
    if not finite.any():
        return True
    atol *= max(1.0, float(np.abs(a[finite]).max()))
    return bool(np.allclose(b[finite], a[finite], rtol=rtol, atol=atol))


def _numbers(trace: Trace, tensor: TensorId) -> Array | None:
    value = trace.value(trace.fetched.get(tensor, tensor))
    if value is None or value.dtype.kind not in "biufc":
        return None
    return value.astype(np.complex128 if value.dtype.kind == "c" else np.float64)
