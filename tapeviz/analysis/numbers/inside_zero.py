"""Find the op that made the zeros of a gradient where no step of a backward pass is known.

So it is inside of a compiled function or loop, and in forward mode: the op is found by the values
of the forward pass.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from itertools import chain
from math import inf
from typing import NamedTuple
from weakref import ref

import numpy as np

from ...trace.compiled.handed import innermost_loops
from ...trace.ids import OpId, TensorId
from ...trace.op_kinds import ops_with
from ...trace.ops import Op
from ...trace.stats import Array, Stats
from ...trace.tapes import is_differentiable
from ..call_facts import CallFacts
from ..causes.values.saturated import CLIPPING, MASKING
from ..causes.values.zeros import FLAT, PRODUCTS, SLOPES_OF_LINES
from ..flow.ancestry import Ancestry, DataEdge, Position
from ..flow.onward import PASSES, ByPosition, ForwardEdges, PositionIndex
from ..flow.shared_sets import EVERYTHING, SharedSet, SharedSets
from ..status import is_zero
from .slopes import SLOPED

_CHOICES: Mapping[str, Callable[..., Array]] = {
    "Maximum": lambda at, x, y: x < y if at == 0 else y < x,
    "Minimum": lambda at, x, y: x > y if at == 0 else y > x,
    "SelectV2": lambda at, mask, x, y: np.logical_not(mask) if at == 1 else mask,
}
"""Ops that take each element from one input or another: where they do not from input ``at``."""

_SUSPECTS = CLIPPING | MASKING | FLAT | PRODUCTS
_CUTS = ops_with("no-gradient") | {"StopGradient"}

_Turn = Mapping[TensorId, TensorId]
"""The tensors of one turn of a loop, by those drawn."""


class ZeroInside(NamedTuple):
    """The op inside of a compiled loop at which a gradient becomes 0. ``is_sure``: each path from
    the source through the body takes an input of ``op``, or of others like it, whose gradient is 0
    at the values of every turn; else the op only may have made the zeros."""

    op: Op
    is_sure: bool


def zero_inside(facts: CallFacts, op: Op, starts: Collection[Position]) -> ZeroInside | None:
    """The op in the body of ``op`` that made the zeros, or may have, among those on the paths from
    the source, which begins at ``starts``, to what the body gives. None: there is no such op.

    First an op through which every path leads and whose slope is 0, else the last that is flat for
    sure, which is surely to blame if such ops bar every path together, else the last that can be.
    The backward pass comes to the last first. A custom gradient can be flat; what its function
    computes is not differentiated.
    """
    return facts.once(_zeros_of_body, op.id).on_paths_from(starts)


def _zeros_of_body(facts: CallFacts, number: OpId) -> _Zeros:
    op = facts.trace.ops[number]
    ops = (facts.trace.ops[inner] for inner in _ops_inside(facts, op))
    body = [each for each in ops if each.call is None]
    ends: set[Position] = set(op.outputs)
    if op.within == op.id:
        ends.update(*(each.outputs for each in body if each.type == op.type))
    into = facts.flow.ancestry(ends).into
    # An output of a recorded operation can lead to itself, not into its body.
    own = {end for end in ends if any(edge.op == op.id for edge in into.get(end, ()))}
    ends -= own
    ends |= {t for each in body if own.intersection(each.outputs) for t in each.inputs}
    given: Collection[Position] = op.inputs
    if op.within == op.id:
        made = {tensor for each in body for tensor in each.outputs}
        given = {t for each in body for t in each.inputs if t not in made}
    before = facts.flow.ancestry(given).into.keys()
    return _Zeros(facts, facts.flow.ancestry(ends), ends, body, before)


def zero_between(facts: CallFacts, starts: Collection[Position]) -> ZeroInside | None:
    """As :func:`zero_inside`, among all ops on the path to the targets, where no backward pass was
    seen."""
    return facts.once(_zeros_before_targets).on_paths_from(starts)


def _zeros_before_targets(facts: CallFacts) -> _Zeros:
    ends = facts.paths.targets
    ancestry = facts.flow.ancestry(ends)
    edges = chain.from_iterable(ancestry.into.values())
    ops = {op.id: op for edge in edges if (op := facts.op(edge))}
    body = sorted(ops.values(), key=lambda op: op.when)
    return _Zeros(facts, ancestry, ends, body, frozenset())


class _Suspect(NamedTuple):
    """An op that may have made zeros. ``place``: among such, from the last. ``stopped``: the inputs
    whose gradient is 0 in all turns, since the op is flat there or multiplies them by zeros.
    ``is_flat``: None if not known."""

    op: Op
    place: int
    stopped: Collection[int]
    is_flat: bool | None


class _OnEdge(NamedTuple):
    """``passes``: a gradient can pass the edge, if nothing stops it."""

    suspect: _Suspect | None
    stops: bool
    passes: bool


class _Last(NamedTuple):
    """The places of the last op on some paths that is flat for sure, and of the last that can
    be."""

    flat: float = inf
    possible: float = inf


class _Zeros(ForwardEdges):
    """The ops of a body that may have made zeros, on the paths from any position to its ends.

    ``before``: the positions from which the body's inputs were made. It holds the facts
    by a weak reference, as they keep it.
    """

    def __init__(
        self,
        facts: CallFacts,
        ancestry: Ancestry,
        ends: Collection[Position],
        body: Sequence[Op],
        before: Set[Position],
    ) -> None:
        super().__init__(ancestry)
        self._before = before
        self._facts_of = ref(facts)
        self._made = {ancestry.index_of[end] for end in ends if end in ancestry.index_of}
        self._inside = frozenset(op.id for op in body)
        body = [op for op in body if op.line]
        body = [op for op in body if op.derived is not None] or body
        suspected = [op for op in reversed(body) if _is_suspect(op)]
        self._suspects = [_suspect(facts, op, place) for place, op in enumerate(suspected)]
        self._suspect_at = {suspect.op.id: suspect.place for suspect in self._suspects}
        self._on_edges: list[_OnEdge] = []
        self._sets = SharedSets()
        self._blocking = ByPosition[SharedSet](EVERYTHING)
        self._open = ByPosition[bool](False)
        self._last = ByPosition[_Last](_Last())

    def on_paths_from(self, starts: Collection[Position]) -> ZeroInside | None:
        """``starts``: empty if it is not known where the paths begin."""
        begun = self.find(starts or self.ancestry.into.keys())
        self.settle(self._blocking, self._blocking_from)
        blocking = EVERYTHING
        for start in begun:
            blocking = self._sets.intersect(blocking, self._blocking.at(start))
        if blocking is not None and blocking is not EVERYTHING:
            return ZeroInside(self._suspects[blocking.lowest].op, is_sure=True)
        self.settle(self._open, self._open_from)
        self.settle(self._last, self._last_from)
        last = _nearest(map(self._last.at, begun))
        place = last.possible if last.flat == inf else last.flat
        is_barred = blocking is None and not any(map(self._open.at, begun))
        return None if place == inf else ZeroInside(self._suspects[int(place)].op, is_barred)

    def number(self, edge: DataEdge) -> int:
        facts = self._facts_of()
        assert facts is not None
        if edge.end in self._before:
            return PASSES
        place = self._suspect_at.get(edge.op) if edge.op is not None else None
        suspect = None if place is None else self._suspects[place]
        passes = edge.op in self._inside and is_differentiable(facts.dtype(edge.start))
        if suspect is None and passes:
            op = facts.op(edge)
            passes = op is None or op.type not in _CUTS
        if suspect is None and passes:
            return PASSES
        stops = suspect is not None and edge.input_index in suspect.stopped
        self._on_edges.append(_OnEdge(suspect, stops, passes))
        return len(self._on_edges) - 1

    def _blocking_from(self, index: PositionIndex) -> SharedSet:
        """The places of the ops of which each stops the gradient on every path to the ends."""
        blocking = None if index in self._made else EVERYTHING
        for end, number in self.onward(index):
            after = self._blocking.at(end)
            if number != PASSES:
                suspect, stops, passes = self._on_edges[number]
                if suspect is not None and stops:
                    after = self._sets.join([after, self._sets.of(suspect.place)])
                elif not passes:
                    continue
            blocking = self._sets.intersect(blocking, after)
        return blocking

    def _open_from(self, index: PositionIndex) -> bool:
        """Whether a path leads to the ends on which no op stops the gradient."""
        if index in self._made:
            return True
        for end, number in self.onward(index):
            edge = self._on_edges[number] if number != PASSES else None
            if (edge is None or (edge.passes and not edge.stops)) and self._open.at(end):
                return True
        return False

    def _last_from(self, index: PositionIndex) -> _Last:
        edges = list(self.onward(index))
        after = _nearest(self._last.at(end) for end, _ in edges)
        taken = (self._on_edges[number] for _, number in edges if number != PASSES)
        return _nearest([after, *(_last_of(each) for each in taken)])


def _nearest(several: Iterable[_Last]) -> _Last:
    flat, possible = zip(_Last(), *several, strict=True)
    return _Last(min(flat), min(possible))


def _last_of(taken: _OnEdge) -> _Last:
    suspect = taken.suspect
    if suspect is None or suspect.op.type in PRODUCTS:
        return _Last()
    is_flat = suspect.is_flat
    if suspect.op.type in _CHOICES and is_flat is not None:
        is_flat = taken.stops
    if is_flat is None:
        return _Last(possible=suspect.place)
    return _Last(flat=suspect.place) if is_flat else _Last()


def _is_suspect(op: Op) -> bool:
    return op.type in _SUSPECTS or (op.is_recorded_operation and bool(op.function))


def _ops_inside(facts: CallFacts, op: Op) -> Sequence[OpId]:
    """The ops in the body of a compiled call; of a loop in one those of the turn drawn; of a
    conditional in a graph those of its branches, and those drawn for its other outputs."""
    if op.within == op.id:
        return [each.id for each in facts.trace.ops.values() if each.within == op.id]
    loop = facts.trace.loops.get(op.id)
    return op.body if loop is None else loop.body


def _turns(facts: CallFacts, op: Op) -> Sequence[_Turn]:
    """The tensors of each turn of the innermost loop around an op in which it ran; where it is in
    none, those drawn."""
    loop = innermost_loops(facts.trace).get(op.id)
    if loop is None:
        return ({},)
    return [now for now in loop.turns.values() if not now.keys().isdisjoint(op.outputs)]


def _suspect(facts: CallFacts, op: Op, place: int) -> _Suspect:
    turns = _turns(facts, op)
    stopped = _stopped_inputs(facts, op, turns)
    is_flat = _is_flat(facts, op, turns)
    if op.type in _CHOICES and all(_values(facts, op, now) for now in turns):
        is_flat = bool(stopped)
    return _Suspect(op, place, stopped, is_flat)


def _stopped_inputs(facts: CallFacts, op: Op, turns: Sequence[_Turn]) -> Collection[int]:
    """The inputs whose gradient is 0 in all turns, since the op is flat there or multiplies them by
    zeros."""
    if not turns or op.is_recorded_operation:
        return ()
    places = range(len(op.inputs))
    if op.type in _CHOICES:
        return [at for at in places if all(_is_passed_over(facts, op, at, now) for now in turns)]
    if op.type in SLOPES_OF_LINES:
        return (1,)
    if op.type not in PRODUCTS:
        return places if _is_flat(facts, op, turns) else ()
    zeros = [[is_zero(_stats(facts, tensor, now)) for tensor in op.inputs] for now in turns]
    return [at for at in places if all(any(now[:at]) or any(now[at + 1 :]) for now in zeros)]


def _is_passed_over(facts: CallFacts, op: Op, at: int, now: _Turn) -> bool:
    """Whether an op that chooses between its inputs, element by element, took none of this one.

    Equal elements share the gradient of a maximum or minimum (``math_grad.py``, 2.15-2.21).
    """
    values = _values(facts, op, now)
    is_condition = at == 0 and op.type in MASKING
    return bool(values) and not is_condition and bool(np.all(_CHOICES[op.type](at, *values)))


def _values(facts: CallFacts, op: Op, now: _Turn) -> list[Array]:
    """The inputs of an op in a turn; empty if one is not known."""
    values = [facts.trace.value(now.get(tensor, tensor)) for tensor in op.inputs]
    known = [value for value in values if value is not None]
    return known if len(known) == len(values) else []


def _stats(facts: CallFacts, tensor: TensorId, now: _Turn) -> Stats | None:
    """Statistics of what a drawn tensor holds in a turn."""
    return facts.trace.stats(now.get(tensor, tensor))


def _is_flat(facts: CallFacts, op: Op, turns: Sequence[_Turn]) -> bool | None:
    """Whether the slope of an op is 0 at all values that it was given; None: not known."""
    if op.type in FLAT:
        return True
    if op.type not in SLOPED or not op.outputs:
        return None
    answers = {_is_flat_at(op.type, _stats(facts, op.outputs[0], now)) for now in turns}
    if False in answers:
        return False
    return answers == {True} or None


def _is_flat_at(op_type: str, stats: Stats | None) -> bool | None:
    low, high = SLOPED[op_type]
    if stats is None:
        return None
    if stats.min is None or stats.max is None:  # of a large tensor that is not 0 everywhere
        return False if stats.norm and (low, high) == (0.0, inf) else None
    if low < stats.min < high or low < stats.max < high:
        return False
    return True if stats.max <= low or stats.min >= high else None  # what lies between is not known
