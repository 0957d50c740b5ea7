"""Compare two diagnosed traces: which gradients and which ops are not the same."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..text.op_words import friendly
from ..text.source import SourceText
from ..trace.ids import CallId, OpId
from ..trace.model import Trace
from ..trace.op_kinds import ops_with
from ..trace.ops import Op
from ..trace.stats import Array, Stats
from .findings import Finding
from .model import CallDiagnosis, Diagnosis
from .pairing import pair_anywhere, pair_in_order

Verdict = Literal["same", "rounding", "differs", "removed", "added"]
_PLUMBING = ops_with("plumbing")
"""Ops that a reader of gradients does not miss."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A gradient that a snippet asked for.

    ``value``: None for None, or where it did not travel; ``stats``: of one that there is.
    """

    finding: Finding
    call: CallDiagnosis
    value: Array | None
    stats: Stats | None

    @property
    def line(self) -> int:
        return self.call.call.line


@dataclass(frozen=True, slots=True)
class GradientPair:
    """One gradient of both, or of the only one that asked for it.

    ``outcome``: ``rounding`` when the values are equal but for the rounding of their dtype.
    """

    before: Asked | None
    after: Asked | None
    outcome: Verdict

    @property
    def is_same(self) -> bool:
        return self.outcome in ("same", "rounding")


@dataclass(frozen=True, slots=True)
class Comparison:
    """The differences of two runs. ``pairs``: ops that are the same in both; of these ``turned``
    are those that a tape recorded in one only. ``removed``: of the first trace, ``added``: of the
    second; both in their order, without those of a backward pass that no tape recorded."""

    gradients: tuple[GradientPair, ...] = ()
    pairs: tuple[tuple[OpId, OpId], ...] = ()
    turned: tuple[tuple[OpId, OpId], ...] = ()
    removed: tuple[OpId, ...] = ()
    added: tuple[OpId, ...] = ()

    def call_after(self, call: CallId | None) -> CallId | None:
        """The call of the second run that asked for what this one of the first run did."""
        pairs = ((pair.before, pair.after) for pair in self.gradients)
        after = (b.call.call.id for a, b in pairs if a and b and a.call.call.id == call)
        return next(after, None)

    @property
    def has_same_gradients(self) -> bool:
        return all(gradient.is_same for gradient in self.gradients)


def compare(before: tuple[Trace, Diagnosis], after: tuple[Trace, Diagnosis]) -> Comparison:
    """Match the gradients and ops of ``before`` with those of ``after``."""
    old, new = before[0], after[0]
    first, second = _ops_by_call(old), _ops_by_call(new)
    pairs = _paired_ops(old, first[None], new, second[None])
    unmatched = [*first.pop(None)], [*second.pop(None)]
    for call, other in _paired_calls(old, first.keys(), new, second.keys()):
        bodies = first.pop(call, None), second.pop(other, None)
        if bodies[0] and bodies[1]:  # else the inside of one is not known
            pairs += _paired_ops(old, bodies[0], new, bodies[1])
            unmatched[0].extend(bodies[0])
            unmatched[1].extend(bodies[1])
    for side, bodies_left in zip(unmatched, (first, second), strict=True):
        side.extend(op for body in bodies_left.values() for op in body)
    pairs.sort(key=lambda pair: pair[0].id)
    matched = {op.id for op, _ in pairs}, {op.id for _, op in pairs}
    removed, added = (
        tuple(op.id for op in sorted(side, key=lambda op: op.when) if op.id not in taken)
        for side, taken in zip(
            ([op for op in side if _matters(op)] for side in unmatched), matched, strict=True
        )
    )
    return Comparison(
        tuple(_gradients(before, after)),
        tuple((op.id, other.id) for op, other in pairs),
        tuple((op.id, other.id) for op, other in pairs if bool(op.tapes) != bool(other.tapes)),
        removed,
        added,
    )


def _ops_by_call(trace: Trace) -> dict[OpId | None, list[Op]]:
    """The ops that are compared, by the call of a compiled function that they are inside of."""
    found: dict[OpId | None, list[Op]] = {None: []}
    made = {
        version.op for variable in trace.variables.values() for version in variable.versions[:1]
    }
    for op in trace.ops.values():
        is_single = not op.is_recorded_operation and not op.error
        if is_single and op.type not in _PLUMBING and op.id not in made:
            found.setdefault(op.within, []).append(op)
    return found


def _paired_calls(
    old: Trace, first: Collection[OpId | None], new: Trace, second: Collection[OpId | None]
) -> list[tuple[OpId, OpId]]:
    """The calls of compiled functions that ran in both: the first of a function and line with the
    first, and so on. Those whose inside is known, ``first`` and ``second``, come first, so paired
    with each other where another round was looked into."""
    calls, others = (
        [op for op in trace.ops.values() if op.description.runs and op.within is None]
        for trace in (old, new)
    )
    keys = [(_by_line(old), _by_line(new)), (_by_type, _by_type)]
    pairs = [(op.id, other.id) for op, other in pair_in_order(calls, others, keys)]
    known = [pair for pair in pairs if pair[0] in first and pair[1] in second]
    taken = {op for op, _ in known}, {other for _, other in known}
    left = [op for op in calls if op.id in first and op.id not in taken[0]]
    right = [op for op in others if op.id in second and op.id not in taken[1]]
    known += [(op.id, other.id) for op, other in pair_in_order(left, right, keys)]
    return list(dict.fromkeys(known + pairs))


def _matters(op: Op) -> bool:
    return op.call is None or bool(op.tapes)


def _paired_ops(
    old: Trace, first: Sequence[Op], new: Trace, second: Sequence[Op]
) -> list[tuple[Op, Op]]:
    """Pair ops by line and type, then by type and shape, then by type, all in order; what was moved
    elsewhere by its line."""
    keys = [(_by_line(old), _by_line(new)), (_by_shape(old), _by_shape(new)), (_by_type, _by_type)]
    pairs = pair_in_order(first, second, keys)
    taken = {op.id for op, _ in pairs}, {op.id for _, op in pairs}
    left = [op for op in first if op.id not in taken[0]]
    right = [op for op in second if op.id not in taken[1]]
    return pairs + pair_anywhere(left, right, *keys[0])


def _by_line(trace: Trace) -> Callable[[Op], Hashable]:
    text = SourceText(trace.source)

    def key(op: Op) -> Hashable:
        return *_by_type(op), text.code(op.line)

    return key


def _by_shape(trace: Trace) -> Callable[[Op], Hashable]:
    def key(op: Op) -> Hashable:
        known = [trace.tensors.get(tensor) for tensor in op.outputs]
        return *_by_type(op), tuple(tensor.form if tensor else None for tensor in known)

    return key


def _by_type(op: Op) -> tuple[Hashable, ...]:
    return friendly(op.type), op.call is None  # names of compiled functions end with a number


def _gradients(
    before: tuple[Trace, Diagnosis], after: tuple[Trace, Diagnosis]
) -> Iterable[GradientPair]:
    first, second = list(_asked(*before)), list(_asked(*after))
    keys = [(key, key) for key in (_by_names, _by_source, _by_place)]
    pairs = {id(asked): other for asked, other in pair_in_order(first, second, keys)}
    taken = {id(other) for other in pairs.values()}
    for asked in first:
        other = pairs.get(id(asked))
        yield GradientPair(asked, other, "removed" if other is None else outcome(asked, other))
    for other in second:
        if id(other) not in taken:
            yield GradientPair(None, other, "added")


def _asked(trace: Trace, diagnosis: Diagnosis) -> Iterable[Asked]:
    for call in diagnosis.calls:
        for finding in call.findings:
            tensor = finding.tensor
            value, stats = None, None
            if tensor is not None:
                value, stats = trace.value(tensor), trace.stats(tensor)
            yield Asked(finding, call, value, stats)


def _by_names(asked: Asked) -> Hashable:
    return asked.call.call.method, asked.finding.target, asked.finding.source


def _by_source(asked: Asked) -> Hashable:
    return asked.call.call.method, asked.finding.source


def _by_place(asked: Asked) -> Hashable:
    return asked.call.findings.index(asked.finding)


def outcome(before: Asked, after: Asked) -> Verdict:
    """Whether two gradients are the same: status, dtype, shape and every element."""
    old, new = before.finding, after.finding
    if (old.status, old.dtype, old.shape) != (new.status, new.dtype, new.shape):
        return "differs"
    first, other = before.value, after.value
    if first is None or other is None:
        return "same" if first is other and before.stats == after.stats else "differs"
    if first.tobytes() == other.tobytes():
        return "same"
    return "rounding" if _is_near(first, other) else "differs"


def _is_near(first: Array, other: Array) -> bool:
    if first.dtype.kind not in "fc" or first.shape != other.shape:
        return bool(np.array_equal(first, other))
    finite = np.abs(first[np.isfinite(first)])
    slack = 32 * float(np.finfo(first.dtype).eps) * float(finite.max(initial=0.0))
    with np.errstate(all="ignore"):
        return bool(np.allclose(first, other, 0.0, slack, equal_nan=True))
