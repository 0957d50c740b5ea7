"""A gradient call and a step in, what the flow does to every wire and box out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ..analysis.model import CallDiagnosis, Cause, Flow, Link, WalkStep
from ..graph.model import EdgeKey
from ..trace.model import OpId, TensorId, Trace
from .plain import WIDTHS, Plain

LEAST_WIDTH, MOST_WIDTH = 1.5, 5.0
_LEAST_SPAN = math.log(10.0)


@dataclass(frozen=True, slots=True)
class Lighting:
    """Of the wires that the flow touches: ``gradient`` and ``bridge`` with their width, ``cut``
    with its cause. ``walked``: those that the stepper has passed (None: no stepper at work).

    ``reached``: gradient of each tensor so far; ``shares``: of each wire. ``current_op`` and
    ``current_tensor``: where the last step ran.
    """

    gradient: Mapping[EdgeKey, float] = field(default_factory=dict)
    bridge: Mapping[EdgeKey, float] = field(default_factory=dict)
    cut: Mapping[EdgeKey, Cause] = field(default_factory=dict)
    walked: frozenset[EdgeKey] | None = None
    reached: Mapping[TensorId, TensorId] = field(default_factory=dict)
    shares: Mapping[EdgeKey, TensorId] = field(default_factory=dict)
    last: frozenset[EdgeKey] = frozenset()
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
    return _stepped(plain, shown.steps[:step], Lighting(gradient, bridge, cut))


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


def _stepped(plain: Plain, steps: tuple[WalkStep, ...], whole: Lighting) -> Lighting:
    walked: set[EdgeKey] = set()
    shares: dict[EdgeKey, TensorId] = {}
    for step in steps:
        walked.update(_keys(plain, step.links))
        for link, gradient in zip(step.links, step.gradients, strict=False):
            if gradient is not None:
                shares.update(dict.fromkeys(plain.edges.get(link, ()), gradient))
    last = steps[-1] if steps else None
    return Lighting(
        whole.gradient,
        whole.bridge,
        whole.cut,
        frozenset(walked),
        reached_by(steps, plain.trace),
        shares,
        frozenset(_keys(plain, last.links)) if last else frozenset(),
        last.op if last else None,
        last.at if last else None,
    )


def _keys(plain: Plain, links: Iterable[Link]) -> Iterable[EdgeKey]:
    return (key for link in links for key in plain.edges.get(link, ()))


def reached_by(steps: Iterable[WalkStep], trace: Trace) -> dict[TensorId, TensorId]:
    """The gradient that each tensor has after these steps: a share until the sum is made."""
    reached: dict[TensorId, TensorId] = {}
    for step in steps:
        op = trace.ops.get(step.op) if step.op is not None else None
        for output, gradient in zip(op.outputs if op else (), step.upstream, strict=False):
            if gradient is not None:
                reached[output] = gradient
        for (tensor, _), gradient in zip(step.links, step.gradients, strict=False):
            if tensor is not None and gradient is not None:
                reached[tensor] = gradient
        if step.kind == "sum" and step.at is not None:
            total = next((one for one in step.downstream if one is not None), None)
            if total is not None:
                reached[step.at] = total
    return reached
