"""A gradient call made in a compiled function in; where NaN or infinity began in one of its calls.

A finding has the values of one call of the function. The call that first gave such numbers may be
an earlier one: it is found by what each call returned, else by halving, and looked into.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from ...trace.calls import Call
from ...trace.compiled.handed import innermost_loops
from ...trace.ids import OpId, TensorId
from ...trace.model import Trace
from ...trace.op_kinds import ops_with
from ...trace.ops import Op
from ...trace.stats import Array

_READS = frozenset({"ReadVariableOp", "ResourceGather", "Const"})
_CHOOSING = ops_with("selects", "moves", "copy")
_ADDING = frozenset({"Add", "AddV2", "Sub"})


@dataclass(frozen=True, slots=True)
class Began:
    """The call of a compiled function in which numbers first were not finite. ``number``: of the
    call, from 1, of ``calls``; ``gave``: the op that gave such a number of finite ones, which may
    be one of the backward pass. ``given``: the argument of the call that was such a number already;
    ``is_in_gradients``: the numbers reached a gradient."""

    number: int
    calls: int
    run: Op
    gave: Op
    given: TensorId | None = None
    is_in_gradients: bool = True


def runs_of(trace: Trace, call: Call) -> Sequence[Op]:
    """The eager calls of the function in which the gradient call was made; empty if there is none.

    A call of a function inside of which this one was traced counts.
    """
    shown = trace.op(call.within)
    function = trace.functions.get(shown.runs) if shown is not None else None
    return [trace.ops[op] for op in function.calls] if function is not None else ()


def began(trace: Trace, call: Call) -> Began | None:
    """The op at which such numbers began, among the calls that were looked into. Where the
    gradients of the last of them are such numbers, one that gave finite ones is passed over."""
    runs, found = runs_of(trace, call), list[Began]()
    for number, run in enumerate(runs, 1):
        if run.inside is None:
            continue
        gave = _origin(trace, call, run)
        if gave is not None and gave.type not in _READS:
            given = next((bad for bad in _bad(trace, gave.inputs) if bad in run.inputs), None)
            spoils = bool(_gradients(trace, call, run))
            found.append(Began(number, len(runs), run, gave, given, spoils))
            if spoils or not _are_in_gradients(trace, call, runs):
                break
    return next((each for each in found if each.is_in_gradients), found[0] if found else None)


def _are_in_gradients(trace: Trace, call: Call, runs: Sequence[Op]) -> bool:
    """Whether the last call that was looked into gave such gradients: then their origin is looked
    for, and not that of what the function returns."""
    last = next((run for run in reversed(runs) if run.inside is not None), None)
    return last is not None and bool(_gradients(trace, call, last))


def calls_to_compare(trace: Trace) -> Iterator[OpId]:
    """The calls to look into next (:attr:`Op.ran_as`), so that the first bad one gets known."""
    for call in trace.calls:
        if call.within is None or call.ran < 2 or not call.ended:
            continue
        runs = runs_of(trace, call)
        number = _next(trace, call, runs)
        if number and (asked := runs[number - 1].ran_as) is not None:
            yield asked


def _next(trace: Trace, call: Call, runs: Sequence[Op]) -> int:
    """The number of the call to look into; 0: the first bad one is known, or there is none."""
    known = [number for number, run in enumerate(runs, 1) if run.inside is not None]
    bad = next((n for n, run in enumerate(runs, 1) if any(_bad(trace, run.outputs))), 0)
    starts = _gradients if _are_in_gradients(trace, call, runs) else _starts
    first = next((n for n in known if starts(trace, call, runs[n - 1])), 0)
    if bad and bad not in known and not 0 < first < bad:
        return bad
    gave = _origin(trace, call, runs[first - 1]) if first else None
    if gave is None or gave.type != "ReadVariableOp":
        return 0
    sound = max((n for n in known if n < first), default=0)
    if first - sound < 2:
        return 0
    return first - 1 if first == bad else (first + sound) // 2


def _bad(trace: Trace, tensors: Iterable[TensorId | None]) -> Iterator[TensorId]:
    return (each for each in tensors if each is not None and trace.has_nonfinite(each))


def _starts(trace: Trace, call: Call, run: Op) -> list[TensorId]:
    """The gradients and the outputs of a call of the function that are not finite."""
    return [*_gradients(trace, call, run), *_bad(trace, run.outputs)]


def _gradients(trace: Trace, call: Call, run: Op) -> list[TensorId]:
    """The gradients in a call of the function that are not finite."""
    shown = trace.op(call.within)
    made: Mapping[tuple[int, str], Op] = by_name(trace, run) if run is not shown else {}
    gradients: list[TensorId | None] = []
    for result in call.results:
        if run is not shown and result is not None and result in trace.sums:
            result = trace.sums[result][0]
        op = trace.maker(result)
        if not made or op is None or result not in op.outputs:
            gradients.append(result if run is shown else None)
        elif (own := made.get((op.traced, op.name))) is not None:
            gradients.append(own.outputs[op.outputs.index(result)])
    return [*_bad(trace, gradients)]


def by_name(trace: Trace, run: Op) -> dict[tuple[int, str], Op]:
    """The ops inside of a call by the graph and the name that they were traced with."""
    inside = (trace.ops[op] for op in run.body)
    return {(op.traced, op.name): op for op in inside if op.name}


def _origin(trace: Trace, call: Call, run: Op) -> Op | None:
    """Follow such numbers back to the first op that gave them and got none; if they cannot be
    followed, the first op of the call that did so."""
    shown = trace.op(call.within)
    shown_ops = by_name(trace, shown) if shown is not None else {}
    run_inputs = frozenset(run.inputs)

    def taken_from(op: Op) -> list[TensorId]:
        bad = (t for t in _bad(trace, op.inputs) if not is_meant(trace, t, shown=shown_ops))
        return [*bad, *_unknown(trace, op)]

    gradients = _gradients(trace, call, run)
    waiting, seen = gradients or _starts(trace, call, run), set[TensorId]()
    found, is_linked = list[Op](), True
    while waiting:
        tensor = waiting.pop()
        if tensor in seen:
            continue
        seen.add(tensor)
        op = trace.maker(tensor)
        if op is None or op.within != run.id:
            is_linked &= not _is_unlinked(trace, tensor)
            continue
        waiting.extend(onward := taken_from(op))
        if run_inputs.issuperset(onward):  # the call was given them, or there are none
            found.append(op)
    if not is_linked:
        inside = (trace.ops[op] for op in run.body)
        gave = (op for op in inside if any(_bad(trace, op.outputs)))
        found += (op for op in gave if run_inputs.issuperset(taken_from(op)))
    places = {op: place for place, op in enumerate(run.body)}
    return min(found, key=lambda op: places.get(op.id, 0), default=None)


def _is_unlinked(trace: Trace, tensor: TensorId) -> bool:
    """Whether a tensor is one of a graph that no op made: the inside of the gradient of a
    conditional is not recorded."""
    return tensor < 0 and trace.maker(tensor) is None


def is_meant(
    trace: Trace, tensor: TensorId, shown: Mapping[tuple[int, str], Op] = MappingProxyType({})
) -> bool:
    """Whether the infinity in a tensor was written so, as minus infinity in a mask is: it comes
    from constants alone, and no op made it of finite numbers but the logarithm of a mask, which no
    tape follows.

    An op that makes NaN of it, such as the softmax of a row that holds nothing else, began it.
    ``shown``: for a tensor inside of a call of a compiled function that is not the one shown, the
    ops of that one by :func:`by_name`, which know their tapes.
    """
    return _written_infinities(trace, tensor, shown) is not None


def is_meant_minus(trace: Trace, tensor: TensorId) -> bool:
    """Whether the infinity in a tensor :func:`is_meant`, and is minus infinity everywhere."""
    written = _written_infinities(trace, tensor, {})
    return written is not None and not any(np.isposinf(value).any() for value in written)


def _written_infinities(
    trace: Trace, tensor: TensorId, shown: Mapping[tuple[int, str], Op]
) -> list[Array] | None:
    """The values by which the infinity of a tensor was written, if it :func:`is_meant`."""
    waiting, seen, written = [tensor], {tensor}, list[Array]()
    while waiting and len(seen) <= _FARTHEST:
        each = waiting.pop()
        value, op = trace.value(each), trace.maker(each)
        bad = {*_bad(trace, op.inputs)} if op is not None else set()
        if value is None:
            if op is None or not bad or not _hands_on(op, len(bad)):
                return None
        elif value.dtype.kind != "f" or np.isnan(value).any():
            return None
        elif _is_written(trace, each, value, shown):
            written.append(value)
        elif not bad:
            return None
        waiting += bad - seen
        seen |= bad
    return None if waiting else written


def _is_written(
    trace: Trace, tensor: TensorId, value: Array, shown: Mapping[tuple[int, str], Op]
) -> bool:
    """Whether a value was given, is a constant, or the logarithm of a mask."""
    op = trace.maker(tensor)
    if op is None:
        return not _is_unlinked(trace, tensor)
    is_masked = op.type == "Log" and not shown.get((op.traced, op.name), op).tapes and not op.graph
    return op.type == "Const" or (is_masked and not np.isposinf(value).any())


def _hands_on(op: Op, bad: int) -> bool:
    """Whether an op, of whose result only the count of such numbers is known, gave the infinities
    that it got in so many inputs and no NaN: it chooses or moves elements, or adds finite ones."""
    return op.type in _CHOOSING or (op.type in _ADDING and bad == 1)


_FARTHEST = 100
"""The tensors on the way back from an infinity to the constants that it comes from."""


def _unknown(trace: Trace, op: Op) -> Iterator[TensorId]:
    """Inputs that the same call made, and whose values cannot be known."""
    for tensor in op.inputs:
        made = trace.maker(tensor)
        known = trace.tensors.get(tensor)
        is_float = known is not None and known.dtype.startswith(("float", "bfloat", "complex"))
        is_inside = made is not None and made.within == op.within
        if is_inside and is_float and trace.stats(tensor) is None:
            yield tensor


def in_first_turn(
    trace: Trace, op: Op, singular: Collection[str]
) -> tuple[Op, Mapping[TensorId, TensorId]]:
    """The op of a compiled loop that gave such numbers first, and the tensors of that turn.

    ``op``: the loop, or one of its body, which is drawn with the last turn. Where none of the body
    gave such a number the backward pass did: by an op of a ``singular`` type that got a 0.
    """
    innermost = trace.loops.get(op.id) or innermost_loops(trace).get(op.id)
    if innermost is None:
        return op, {}
    body = [trace.ops[inner] for inner in innermost.body if inner in trace.ops]
    for key in sorted(innermost.turns):
        now = innermost.turns[key]
        for inner in body:
            if not now.keys().isdisjoint(inner.outputs) and trace.makes_nonfinite(inner, now):
                return inner, now
    for key in sorted(innermost.turns, reverse=True):
        now = innermost.turns[key]
        for inner in (op for op in reversed(body) if op.type in singular):
            if now.keys().isdisjoint(inner.outputs):
                continue  # a branch that this turn did not take
            if any(_has_zero(trace.value(now.get(tensor, tensor))) for tensor in inner.inputs):
                return inner, now
    return op, {}


def _has_zero(value: Array | None) -> bool:
    return value is not None and value.dtype.kind == "f" and not value.all()


def place_of_bad(trace: Trace, op: Op, now: Mapping[TensorId, TensorId]) -> tuple[int, ...] | None:
    """The first element of what an op gave that is not finite."""
    for tensor in op.outputs:
        value = trace.value(now.get(tensor, tensor))
        if value is not None and value.dtype.kind in "fc" and not np.isfinite(value).all():
            return tuple(int(index) for index in np.argwhere(~np.isfinite(value))[0])
    return None
