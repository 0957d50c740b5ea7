"""Find the ops that pick elements, or compute, by a tensor of whole numbers."""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter
from typing import NamedTuple

from ...trace.ids import TensorId
from ...trace.ops import Op
from ...trace.tapes import is_differentiable
from ..call_facts import CallFacts

_INDICES = {
    "GatherV2": (1,),
    "ResourceGather": (1,),
    "GatherNd": (1,),
    "ResourceGatherNd": (1,),
    "OneHot": (0,),
    "StridedSlice": (1, 2),
    "Slice": (1, 2),
}
"""The places of the indices among the inputs of each op type that picks elements (2.15-2.21)."""


class Uses(NamedTuple):
    """The first ops, on the paths to the target, that take whole numbers or others made of them.

    ``pick``: it picks elements by them. ``computation``: it makes real numbers by them, other than
    by a cast: it takes them as a size, a shift, a width or the number of a segment.
    """

    pick: Op | None = None
    computation: Op | None = None


def uses_of(facts: CallFacts, tensor: TensorId) -> Uses:
    """The uses of a tensor of whole numbers, or of the handle of a variable that holds such."""
    known, entered, waiting = facts.once(_known_uses), set[TensorId](), [tensor]
    on_path = facts.paths.ancestry_from(facts.paths.starts(tensor)).into.keys()
    while waiting:
        each = waiting.pop()
        if each in known:
            continue
        takers = [
            op for op in facts.flow.takers.get(each, ()) if not on_path.isdisjoint(op.outputs)
        ]
        onward = {made: op for op in takers for made in op.outputs if made in on_path}
        whole = {made for made in onward if not is_differentiable(facts.dtype(made))}
        if each not in entered:  # first what is made of it
            entered.add(each)
            waiting += [each, *(whole - entered)]
            continue
        later = [known[made] for made in whole if made in known]
        picks = [op for op in takers if _picks_by(op, each)]
        computing = [op for made, op in onward.items() if made not in whole and op.type != "Cast"]
        known[each] = Uses(
            _first([*picks, *(uses.pick for uses in later)]),
            _first([*computing, *(uses.computation for uses in later)]),
        )
    return known[tensor]


def _known_uses(_: CallFacts) -> dict[TensorId, Uses]:
    """The answers for the tensors that were asked about."""
    return {}


def _picks_by(op: Op, tensor: TensorId) -> bool:
    places = _INDICES.get(op.type, ())
    return tensor in [op.inputs[place] for place in places if place < len(op.inputs)]


def _first(ops: Iterable[Op | None]) -> Op | None:
    return min((op for op in ops if op is not None), key=attrgetter("when"), default=None)
