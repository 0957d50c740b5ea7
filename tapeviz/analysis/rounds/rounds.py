"""Group the diagnosed calls of a run by call site, with what changes from round to round."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from ...trace.calls import Call
from ...trace.ids import CallId, TapeId, TensorId
from ...trace.model import Trace
from ...trace.naming import source_name
from ...trace.ops import Op
from ..findings import Finding
from ..model import CallDiagnosis
from .call_sites import CallSite, Rounds, ShapeId, SourceSeries
from .traces import trace_number

MOST_MODELS = 8
"""If a place asks about more sets of variables, they are rounds of one call site."""


def find_rounds(
    trace: Trace, calls: Sequence[CallDiagnosis], shapes: Mapping[CallId, ShapeId]
) -> Rounds:
    """Group the diagnosed calls by call site, which of a compiled function may be one for each
    trace, and of models that are trained side by side is one for each; ``shapes``: of
    :func:`shapes_of`."""
    groups: dict[tuple[int, str, int], list[int]] = {}
    for place, diagnosed in enumerate(calls):
        call = diagnosed.call
        number, _ = trace_number(trace, call)
        groups.setdefault((call.site.id, call.method, number), []).append(place)
    sites = (site for places in groups.values() for site in _by_model(trace, calls, places))
    ordered = sorted(sites, key=lambda places: places[0])
    return Rounds(tuple(_site(trace, calls, places, shapes) for places in ordered))


def _by_model(
    trace: Trace, calls: Sequence[CallDiagnosis], places: Sequence[int]
) -> Iterable[Sequence[int]]:
    """The calls of one place in the source, apart for each set of variables that they ask about:
    ``for net in (generator, discriminator): tape.gradient(loss, net.trainable_variables)``.

    Only where all of the variables lived at the same time. Otherwise the same training began anew,
    with new variables, as for each fold of a cross-validation or each task of MAML. A set that has
    all of another one is the same model with more of its layers, as when they are unfrozen.
    """
    sets: dict[tuple[TensorId, ...], list[int]] = {}
    for place in places:
        sets.setdefault(calls[place].call.source_tensors, []).append(place)
        if len(sets) > MOST_MODELS:
            return (places,)
    variables = [trace.variable(each) for sources in sets for each in sources]
    first_unused = min(calls[asked[-1]].call.when for asked in sets.values())
    lived = (known is not None and known.when < first_unused for known in variables)
    is_of_another = any(set(few) < set(more) for few in sets for more in sets)
    return sets.values() if all(lived) and not is_of_another else (places,)


def _site(
    trace: Trace,
    calls: Sequence[CallDiagnosis],
    places: Sequence[int],
    shapes: Mapping[CallId, ShapeId],
) -> CallSite:
    rounds = [calls[place] for place in places]
    width = max(len(call.findings) for call in rounds) if len(rounds) > 1 else 0
    return CallSite(
        rounds[0].call.line,
        tuple(call.call.id for call in rounds),
        tuple(places),
        tuple(_series(trace, rounds, place) for place in range(width)),
        np.array([_target_value(trace, call.call) for call in rounds], np.float64),
        tuple(shapes[call.call.id] for call in rounds),
    )


def _series(trace: Trace, rounds: Sequence[CallDiagnosis], place: int) -> SourceSeries:
    found = [call.findings[place] if place < len(call.findings) else None for call in rounds]
    named = next(finding for finding in reversed(found) if finding is not None)
    asked = [call.call.sources[place] for call in rounds if place < len(call.call.sources)]
    is_one = len({each.tensor for each in asked}) == 1 and not rounds[0].call.is_forward
    stats = [
        trace.stats(finding.tensor) if finding and finding.tensor is not None else None
        for finding in found
    ]
    finite = [stat if stat is not None and not stat.nonfinite else None for stat in stats]
    is_number = all(
        finding is None or finding.tensor is None or _is_number(finding) for finding in found
    )
    return SourceSeries(
        place,
        named.target,
        source_name(trace, asked[0]) if is_one else named.source,
        tuple(finding.status if finding else None for finding in found),
        np.array([stats.norm if stats else None for stats in finite], np.float64),
        np.array([stats.mean if stats else None for stats in finite if is_number], np.float64),
        max(len(finding.shape or ()) if finding else 0 for finding in found),
        {
            n: finding.nonfinite
            for n, finding in enumerate(found, 1)
            if finding and finding.nonfinite
        },
    )


def _is_number(finding: Finding) -> bool:
    return finding.shape is not None and all(size == 1 for size in finding.shape)


def _target_value(trace: Trace, call: Call) -> float:
    """The value of a call's only target, if it has one element; else NaN."""
    tensor = call.targets[0].tensor if len(call.targets) == 1 else None
    known = trace.tensors.get(tensor) if tensor is not None else None
    if tensor is None or known is None or known.size != 1:
        return np.nan
    stats = trace.stats(tensor)
    return np.nan if stats is None or stats.mean is None else stats.mean


def shapes_of(trace: Trace, calls: Sequence[Call]) -> Mapping[CallId, ShapeId]:
    """For each call a number that it shares with all calls of the same shape.

    Compared is what the asked tape recorded since its last call, of it what the targets were made
    from (a Keras layer that builds itself computes more than it uses): types and places of the
    ops, which op feeds which, and the dtypes and shapes of what they gave. A call of a compiled
    function is one op, whether it was opened or not. One pass over the recorded ops. A site's only
    call has 0: there is nothing to compare it with.
    """
    made = Counter(call.site.id for call in calls)
    shapes: dict[CallId, ShapeId] = {call.id: 0 for call in calls if made[call.site.id] == 1}
    calls = [call for call in calls if call.id not in shapes]
    if not calls:
        return shapes
    recorded: dict[TapeId, list[Op]] = {call.tape: [] for call in calls if call.tape is not None}
    eager = {call.tape for call in calls if not call.traced}
    for op in trace.ops.values():
        for tape in op.tapes:
            if tape in recorded and not (op.within is not None and tape in eager):
                recorded[tape].append(op)
    done: dict[TapeId, tuple[int, int]] = {}
    numbers: dict[object, ShapeId] = {}
    for call in sorted(calls, key=lambda call: call.when):
        digest = 0
        if call.tape is not None:
            ops = recorded[call.tape]
            digest, passed = done.get(call.tape, (0, 0))
            end = passed
            while end < len(ops) and ops[end].when < call.when:
                end += 1
            digest = _digest(trace, _leading_to(call, ops[passed:end]), digest)
            done[call.tape] = digest, end
        key = (digest, call.site.id, tuple(_form(trace, source.tensor) for source in call.sources))
        shapes[call.id] = numbers.setdefault(key, len(numbers))
    return shapes


def _leading_to(call: Call, ops: Sequence[Op]) -> list[Op]:
    """The ops, in order, that the targets of a call were made from."""
    wanted = {target.tensor for target in call.targets}
    found = []
    for op in reversed(ops):
        if not wanted.isdisjoint(op.outputs):
            wanted.update(op.inputs)
            found.append(op)
    return found[::-1]


def _digest(trace: Trace, ops: Sequence[Op], before: int) -> int:
    places = {tensor: place for place, op in enumerate(ops) for tensor in op.outputs}
    parts = tuple(
        (
            op.type,
            op.site.id,
            tuple(places.get(tensor, -1) for tensor in op.inputs),
            tuple(_form(trace, tensor) for tensor in op.outputs),
        )
        for op in ops
    )
    return hash((before, parts))


def _form(trace: Trace, tensor: TensorId | None) -> object:
    known = trace.tensors.get(tensor) if tensor is not None else None
    return known.form if known is not None else None
