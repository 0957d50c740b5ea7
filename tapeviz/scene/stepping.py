"""Find the wires and boxes that the first steps of a backward pass have reached."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from ..analysis.backward.steps import WalkStep
from ..analysis.backward.through import links_inside
from ..analysis.model import CallDiagnosis
from ..graph.model import EdgeKey
from ..trace.ids import TensorId
from .base_scene import BaseScene


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a backward pass has been walked. ``walked``: wires that a gradient has passed;
    ``shares``: the gradient that each wire of a fan-out adds to the sum, in the order of the steps;
    ``arrived``: the complete gradient of each box that has one; ``current``: the boxes of the last
    step."""

    walked: Collection[EdgeKey]
    shares: Mapping[EdgeKey, TensorId]
    arrived: Mapping[str, TensorId]
    current: Sequence[str]


def advance(base: BaseScene, shown: CallDiagnosis, step: int, fans: Collection[str]) -> Progress:
    """The progress after the first ``step`` steps; ``fans``: the boxes that are fan-outs."""
    steps = shown.steps[:step]
    walked: set[EdgeKey] = set()
    shares: dict[EdgeKey, TensorId] = {}
    for earlier in chain.from_iterable(step.rows for step in steps):
        for link, gradient in earlier.walked:
            for key in base.edges.get(link, ()):
                walked.add(key)
                if key[0] in fans:
                    shares[key] = gradient
        for link in links_inside(base.trace, earlier, shown.flow.gradients):
            walked.update(base.edges.get(link, ()))
    return Progress(walked, shares, _arrived(base, shown, steps), _current(base, steps))


def _current(base: BaseScene, steps: Sequence[WalkStep]) -> Sequence[str]:
    if not steps:
        return ()
    last = steps[-1]
    if last.op is not None:
        return base.boxes_of_op(last.op)
    return tuple(_holders(base, last.at))


def _holders(base: BaseScene, tensor: TensorId | None) -> dict[str, None]:
    """The boxes that show a tensor; of what was read from a variable the boxes of that version,
    whichever of its reads they show."""
    version = base.trace.reads.get(tensor) if tensor is not None else None
    reads = version.reads if version is not None else (tensor,)
    names = (base.holders.get(read, ()) for read in reads if read is not None)
    return dict.fromkeys(chain.from_iterable(names))


def _arrived(
    base: BaseScene, shown: CallDiagnosis, steps: Sequence[WalkStep]
) -> dict[str, TensorId]:
    """The gradient of each box so far. A gradient that is a sum, over wires or turns, is left out
    until the sum is complete."""
    summed = {
        name for step in shown.steps if step.kind == "sum" for name in _holders(base, step.summed)
    }
    arrived: dict[str, TensorId] = {}
    for step in chain.from_iterable(step.rows for step in steps):
        op = base.trace.op(step.op)
        outputs = zip(step.made or (op.outputs if op else ()), step.upstream, strict=False)
        inputs = zip(step.taken or step.inputs, step.downstream, strict=False)
        for tensor, gradient in (*outputs, *inputs):
            if tensor is not None and gradient is not None:
                for name in base.holders.get(tensor, ()):
                    if name not in summed:
                        arrived[name] = gradient
        if step.kind == "sum" and step.summed is not None:
            for total in (tensor for tensor in step.downstream if tensor is not None):
                arrived.update(dict.fromkeys(_holders(base, step.summed), total))
    return arrived
