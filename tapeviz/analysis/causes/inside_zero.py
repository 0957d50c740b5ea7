"""Find the op that made the zeros of a gradient where no step of a backward pass is known.

So it is inside of a compiled function or loop, and in forward mode: the op is found by the values
of the forward pass.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence, Set
from math import inf
from typing import NamedTuple

import numpy as np

from ...trace.model import Array, Op, OpId, Stats, TensorId
from ...trace.tapes import is_differentiable
from ..call_facts import CallFacts
from ..flow.dataflow import Position
from ..numbers.began import innermost_loop
from ..status import is_zero
from .saturated import CLIPPING, MASKING
from .zeros import FLAT, PRODUCTS, SLOPES_OF_LINES

_SLOPED = {
    **dict.fromkeys(("Erf", "Softsign", "Tanh"), (-1.0, 1.0)),
    **dict.fromkeys(("Exp", "Relu", "Softplus"), (0.0, inf)),
    "Elu": (-1.0, inf),
    "Relu6": (0.0, 6.0),
    "Sigmoid": (0.0, 1.0),
}
"""Ops of one input, with the open range of their outputs for which they have a slope."""

_CHOICES: Mapping[str, Callable[..., Array]] = {
    "Maximum": lambda at, x, y: x < y if at == 0 else y < x,
    "Minimum": lambda at, x, y: x > y if at == 0 else y > x,
    "SelectV2": lambda at, mask, x, y: np.logical_not(mask) if at == 1 else mask,
}
"""Ops that take each element from one input or another: where they do not from input ``at``."""

_SUSPECTS = CLIPPING | MASKING | FLAT | PRODUCTS

_MOST_TRIED = 40
"""Ops that are asked whether they are the only way, at most: each is a walk through the body."""

_Turn = Mapping[TensorId, TensorId]
"""The tensors of one turn of a loop, by those drawn."""


class ZeroInside(NamedTuple):
    """``is_sure``: each way from the source through the body takes an input of ``op`` whose
    gradient is 0 at the values of every turn; else the op only may have made the zeros."""

    op: Op
    is_sure: bool


def zero_inside(facts: CallFacts, op: Op, starts: Collection[Position]) -> ZeroInside | None:
    """The op in the body of ``op`` that made the zeros, or may have, among those on the way from
    the source, which begins at ``starts``, to what the body gives."""
    ops = (facts.trace.ops[number] for number in _ops_inside(facts, op))
    body = [each for each in ops if each.call is None]
    reached = facts.flow.ancestry(op.inputs).edges_from(starts)
    starts = {*starts, *(tensor for tensor in op.inputs if tensor in reached)}
    ends: set[Position] = set(op.outputs)
    if op.is_recorded_operation:  # its outputs lead to itself, not into its body
        ends = {t for each in body if ends.intersection(each.outputs) for t in each.inputs}
    return _zero_among(facts, body, ends, starts)


def zero_between(
    facts: CallFacts, starts: Collection[Position], ends: Sequence[Position]
) -> ZeroInside | None:
    """As :func:`zero_inside`, among all ops on the way, where no backward pass was seen."""
    edges = facts.flow.ancestry(ends).edges_from(starts)
    ops = {op.id: op for into in edges.values() for edge in into if (op := facts.op(edge))}
    return _zero_among(facts, sorted(ops.values(), key=lambda op: op.when), ends, starts)


def _zero_among(
    facts: CallFacts, body: Sequence[Op], ends: Collection[Position], starts: Collection[Position]
) -> ZeroInside | None:
    """First an op through which every way leads and whose slope is 0, else the last that is flat
    for sure, else the last that can be. The backward pass comes to the last first. A custom
    gradient can be flat; what its function computes is not differentiated.
    """
    inside = frozenset(op.id for op in body)
    made = _made_from(facts, body, starts)
    body = [each for each in body if each.line]
    tried = 0
    flat: list[Op] = []
    possible: list[Op] = []
    for each in reversed([each for each in body if each.derived is not None] or body):
        is_custom = each.is_recorded_operation and bool(each.function)
        is_between = not starts or not made.isdisjoint(each.outputs)
        if not (is_between and (is_custom or each.type in _SUSPECTS)):
            continue
        turns = _turns(facts, each)
        may_try = tried < _MOST_TRIED
        stopped = _stopped_inputs(facts, each, made, turns) if may_try else []
        if stopped:
            tried += 1
            if _is_only_way(facts, inside, ends, starts, each, stopped):
                return ZeroInside(each, is_sure=True)
        is_flat = _is_flat(facts, each, turns)
        if may_try and each.type in _CHOICES and all(_values(facts, each, now) for now in turns):
            is_flat = bool(stopped)
        if each.type not in PRODUCTS and is_flat is not False:
            (flat if is_flat else possible).append(each)
    found = flat or possible
    return ZeroInside(found[0], is_sure=False) if found else None


def _ops_inside(facts: CallFacts, op: Op) -> Sequence[OpId]:
    """The ops in the body of a compiled call; of a loop in one those of the turn drawn."""
    loop = facts.trace.loops.get(op.id)
    return op.body if loop is None else loop.body


def _made_from(facts: CallFacts, body: Sequence[Op], starts: Collection[Position]) -> Set[Position]:
    """The positions in a body that are made from the source, and those where it begins."""
    made = set(starts)
    for _ in range(2):  # what a turn hands on the ops before it take
        for op in body:
            for output in op.outputs:
                if any(edge.start in made for edge in facts.flow.into(output)):
                    made.add(output)
    return made


def _is_only_way(
    facts: CallFacts,
    inside: Set[OpId],
    ends: Collection[Position],
    starts: Collection[Position],
    by: Op,
    inputs: Collection[int],
) -> bool:
    """Whether each way from the source through ops ``inside`` to the ``ends`` takes one of these
    inputs of the op ``by``."""
    waiting = list(ends)
    seen: set[Position] = set()
    is_met = False
    while waiting:
        position = waiting.pop()
        if position in starts:
            return False
        if position in seen:
            continue
        seen.add(position)
        for edge in facts.flow.into(position):
            if edge.op == by.id and edge.input_index in inputs:
                is_met = True
            elif edge.op in inside and is_differentiable(facts.dtype(edge.start)):
                waiting.append(edge.start)
    return is_met


def _turns(facts: CallFacts, op: Op) -> Sequence[_Turn]:
    """The tensors of each turn of the innermost loop around an op in which it ran; where it is in
    none, those drawn."""
    loop = innermost_loop(facts.trace, op)
    if loop is None:
        return ({},)
    return [now for now in loop.turns.values() if not now.keys().isdisjoint(op.outputs)]


def _stopped_inputs(
    facts: CallFacts, op: Op, made: Set[Position], turns: Sequence[_Turn]
) -> list[int]:
    """The inputs made from the source whose gradient is 0 in all turns, since the op is flat there
    or multiplies them by zeros."""
    if not turns or op.is_recorded_operation:
        return []
    edges = (edge for output in op.outputs for edge in facts.flow.into(output))
    fed = sorted({edge.input_index for edge in edges if edge.start in made})
    if op.type in _CHOICES:
        return [at for at in fed if all(_is_passed_over(facts, op, at, now) for now in turns)]
    if op.type in SLOPES_OF_LINES:
        return [at for at in fed if at == 1]
    if op.type not in PRODUCTS:
        return fed if _is_flat(facts, op, turns) else []
    return [
        at
        for at in fed
        if all(
            any(is_zero(_stats(facts, t, now)) for other, t in enumerate(op.inputs) if other != at)
            for now in turns
        )
    ]


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
    if op.type not in _SLOPED or not op.outputs:
        return None
    answers = {_is_flat_at(op.type, _stats(facts, op.outputs[0], now)) for now in turns}
    if False in answers:
        return False
    return answers == {True} or None


def _is_flat_at(op_type: str, stats: Stats | None) -> bool | None:
    low, high = _SLOPED[op_type]
    if stats is None:
        return None
    if stats.min is None or stats.max is None:  # of a large tensor that is not 0 everywhere
        return False if stats.norm and (low, high) == (0.0, inf) else None
    return not (low < stats.min < high or low < stats.max < high)
