"""A gradient call and a step in, what the flow does to every wire and box out."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from ..analysis.model import CallDiagnosis, Cause, Flow, Link, WalkStep
from ..graph.model import EdgeKey
from ..trace.model import OpId, TensorId
from .plain import WIDTHS, Plain

LEAST_WIDTH, MOST_WIDTH = 1.5, 5.0
_LEAST_SPAN = math.log(1000.0)


@dataclass(frozen=True, slots=True)
class Lighting:
    """Of the wires that the flow touches: ``gradient`` and ``bridge`` with their width, ``cut``
    with its cause. ``walked``: those that the stepper has passed (None: no stepper at work).

    ``arrived``: the gradient that each box has so far, of those where it is complete;
    ``shares``: what each wire of a fan-out adds to a sum. ``current_op`` and ``current_tensor``:
    where the last step ran.
    """

    gradient: Mapping[EdgeKey, float] = field(default_factory=dict)
    bridge: Mapping[EdgeKey, float] = field(default_factory=dict)
    cut: Mapping[EdgeKey, Cause] = field(default_factory=dict)
    walked: frozenset[EdgeKey] | None = None
    arrived: Mapping[str, TensorId] = field(default_factory=dict)
    shares: Mapping[EdgeKey, TensorId] = field(default_factory=dict)
    current_op: OpId | None = None
    current_tensor: TensorId | None = None


UNLIT = Lighting()


def light(
    plain: Plain, shown: CallDiagnosis | None, step: int | None, show_bridge: bool
) -> Lighting:
    """The whole flow of a call, or with ``step`` what its first steps have walked."""
    if shown is None:
        return UNLIT
    flow = shown.flow
    widths = flow_widths(flow)
    gradient = _widest(plain, flow.walked, widths)
    bridge: dict[EdgeKey, float] = {}
    if show_bridge:
        bridge = _widest(plain, flow.bridges, widths)
        bridge |= _through_state(plain, flow)
    cut = {key: cause for link, cause in flow.cuts.items() for key in plain.edges.get(link, ())}
    bridge = {key: width for key, width in bridge.items() if key not in gradient}
    cut = {key: cause for key, cause in cut.items() if key not in gradient}
    if step is None:
        return Lighting(gradient, bridge, cut)
    return _stepped(plain, shown, step, Lighting(gradient, bridge, cut))


def flow_widths(flow: Flow) -> dict[float | None, float]:
    """Width in px of each norm of the call: by its logarithm, 1.5 to 5."""
    norms = {*flow.walked.values(), *flow.bridges.values()}
    logs = {n: math.log(n) for n in norms if n is not None and 0 < n < math.inf}
    widths: dict[float | None, float] = {
        n: WIDTHS["gradient"] if n is None or n > 0 else LEAST_WIDTH for n in norms
    }
    if logs:
        low, high = min(logs.values()), max(logs.values())
        span = max(high - low, _LEAST_SPAN)
        start = (low + high - span) / 2
        for norm, log in logs.items():
            share = (log - start) / span
            widths[norm] = round(LEAST_WIDTH + (MOST_WIDTH - LEAST_WIDTH) * share, 2)
    return widths


def _widest(
    plain: Plain, norms: Mapping[Link, float | None], widths: Mapping[float | None, float]
) -> dict[EdgeKey, float]:
    found: dict[EdgeKey, float] = {}
    for link, norm in norms.items():
        for key in plain.edges.get(link, ()):
            found[key] = max(found.get(key, 0.0), widths[norm])
    return found


def _through_state(plain: Plain, flow: Flow) -> dict[EdgeKey, float]:
    """The wires from an assign into a variable's next version carry no tensor: they belong to
    the bridge where the assign does."""
    crossed = {consumer for _, consumer in flow.bridges}
    found: dict[EdgeKey, float] = {}
    for key in plain.writes:
        op = plain.node(key[0]).op
        if op is not None and op in crossed:
            found[key] = WIDTHS["bridge"]
    return found


def _stepped(plain: Plain, shown: CallDiagnosis, step: int, whole: Lighting) -> Lighting:
    steps = shown.steps[:step]
    fans = fan_outs(plain, shown.flow)
    walked: set[EdgeKey] = set()
    shares: dict[EdgeKey, TensorId] = {}
    for one in steps:
        for link, gradient in zip_longest(one.links, one.gradients):
            for key in plain.edges.get(link, ()):
                walked.add(key)
                if gradient is not None and key[0] in fans:
                    shares[key] = gradient
    return Lighting(
        whole.gradient,
        whole.bridge,
        whole.cut,
        frozenset(walked),
        arrivals(plain, shown, steps, fans),
        shares,
        steps[-1].op if steps else None,
        steps[-1].at if steps else None,
    )


def fan_outs(plain: Plain, flow: Flow) -> frozenset[str]:
    """The boxes whose value takes several ways: their gradient is a sum of shares."""
    ways: dict[str, set[EdgeKey]] = {}
    for link in flow.walked:
        if link[0] is not None:
            holders = plain.holders.get(link[0], ())
            for key in plain.edges.get(link, ()):
                if key[0] in holders:
                    ways.setdefault(key[0], set()).add(key)
    return frozenset(name for name, keys in ways.items() if len(keys) > 1)


def arrivals(
    plain: Plain, shown: CallDiagnosis, steps: Sequence[WalkStep], fans: Collection[str]
) -> dict[str, TensorId]:
    """The gradient of each box after ``steps``; of a fan-out only once its sum is made."""
    summed = {
        name
        for step in shown.steps
        if step.kind == "sum" and step.at is not None
        for name in plain.holders.get(step.at, ())
    }
    arrived: dict[str, TensorId] = {}
    for step in steps:
        op = plain.trace.ops.get(step.op) if step.op is not None else None
        outputs = zip(op.outputs if op else (), step.upstream, strict=False)
        inputs = ((link[0], one) for link, one in zip(step.links, step.gradients, strict=False))
        for tensor, gradient in (*outputs, *inputs):
            if tensor is not None and gradient is not None:
                for name in plain.holders.get(tensor, ()):
                    if not (name in fans and name in summed):
                        arrived[name] = gradient
        if step.kind == "sum" and step.at is not None:
            for total in (one for one in step.downstream if one is not None):
                arrived.update(dict.fromkeys(plain.holders.get(step.at, ()), total))
    return arrived
