"""The first steps of a backward pass in, what they have walked and where gradients stand out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from ..analysis.flow.through import links_inside
from ..analysis.model import CallDiagnosis, WalkStep
from ..graph.model import EdgeKey
from ..trace.model import TensorId
from .base_scene import BaseScene


@dataclass(frozen=True, slots=True)
class Progress:
    """``walked``: wires that a gradient has passed; ``shares``: what each wire of a fan-out adds
    to a sum, in the order of the steps; ``arrived``: the gradient that a box has, once it is
    complete; ``current``: the boxes where the last step ran."""

    walked: Collection[EdgeKey]
    shares: Mapping[EdgeKey, TensorId]
    arrived: Mapping[str, TensorId]
    current: Sequence[str]


def advance(plain: BaseScene, shown: CallDiagnosis, step: int, fans: Collection[str]) -> Progress:
    """After the first ``step`` steps."""
    steps = shown.steps[:step]
    walked: set[EdgeKey] = set()
    shares: dict[EdgeKey, TensorId] = {}
    for earlier in steps:
        for link, gradient in zip_longest(earlier.links, earlier.gradients):
            for key in plain.edges.get(link, ()):
                walked.add(key)
                if gradient is not None and key[0] in fans:
                    shares[key] = gradient
        for link in links_inside(plain.trace, earlier):
            walked.update(plain.edges.get(link, ()))
    return Progress(walked, shares, _arrived(plain, shown, steps, fans), _current(plain, steps))


def _current(plain: BaseScene, steps: Sequence[WalkStep]) -> Sequence[str]:
    if not steps:
        return ()
    last = steps[-1]
    if last.op is not None:
        return plain.ops.get(last.op, ())
    return () if last.at is None else plain.holders.get(last.at, ())


def _arrived(
    plain: BaseScene, shown: CallDiagnosis, steps: Sequence[WalkStep], fans: Collection[str]
) -> dict[str, TensorId]:
    """The gradient that each box has got so far; a fan-out has one once its sum is made."""
    summed = {
        name
        for step in shown.steps
        if step.kind == "sum" and step.at is not None
        for name in plain.holders.get(step.at, ())
    }
    waiting = summed.intersection(fans)
    arrived: dict[str, TensorId] = {}
    for step in steps:
        op = plain.trace.ops.get(step.op) if step.op is not None else None
        outputs = zip(op.outputs if op else (), step.upstream, strict=False)
        inputs = (
            (link[0], gradient) for link, gradient in zip(step.links, step.gradients, strict=False)
        )
        for tensor, gradient in (*outputs, *inputs):
            if tensor is not None and gradient is not None:
                for name in plain.holders.get(tensor, ()):
                    if name not in waiting:
                        arrived[name] = gradient
        if step.kind == "sum" and step.at is not None:
            for total in (tensor for tensor in step.downstream if tensor is not None):
                arrived.update(dict.fromkeys(plain.holders.get(step.at, ()), total))
    return arrived
