"""A gradient call in, what its flow does to every wire out: state and width."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import networkx as nx

from ..analysis.flow.through import links_inside
from ..analysis.model import CallDiagnosis, Cause, Flow, Link
from ..graph.model import EdgeKey
from ..trace.model import TensorId
from .base_scene import WIDTHS, BaseScene
from .parts.rings import boxes_of

LEAST_WIDTH, MOST_WIDTH = 1.5, 5.0
_LEAST_SPAN = math.log(1000.0)


@dataclass(frozen=True, slots=True)
class Lighting:
    """The wires that the flow touches: ``gradient`` and ``bridge`` with their width, ``cut``
    with its cause. ``fans``: the boxes whose value takes several ways, so that their gradient is
    a sum of shares. ``front``: of the cuts those that the gradient comes to."""

    gradient: Mapping[EdgeKey, float] = field(default_factory=dict)
    bridge: Mapping[EdgeKey, float] = field(default_factory=dict)
    cut: Mapping[EdgeKey, Cause] = field(default_factory=dict)
    fans: frozenset[str] = frozenset()
    front: frozenset[EdgeKey] = frozenset()


UNLIT = Lighting()


def light(plain: BaseScene, shown: CallDiagnosis | None, show_bridge: bool) -> Lighting:
    """The whole flow of a call.

    Where an edge stands for several values and one of them is cut, it is drawn as cut. What a
    constant would get is nobody's question: its wire stays plain unless it is a source.
    """
    if shown is None:
        return UNLIT
    flow = shown.flow
    widths = flow_widths(flow)
    asked = {name for tensor in flow.sources for name in boxes_of(plain, tensor, shown)}

    def widest(norms: Mapping[Link, float | None]) -> dict[EdgeKey, float]:
        found = _widest(plain, norms, widths).items()
        return {k: w for k, w in found if k[0] in asked or not is_constant(plain, k[0])}

    inside = [link for step in shown.steps for link in links_inside(plain.trace, step)]
    gradient = widest(
        dict.fromkeys(inside)
        | {link: norm for link, norm in flow.walked.items() if _is_followed(plain, shown, link[0])}
    )
    cut = {key: cause for link, cause in flow.cuts.items() for key in plain.edges.get(link, ())}
    cut |= _cut_at_source(plain, shown, cut)
    bridge: dict[EdgeKey, float] = {}
    if show_bridge:
        bridge = widest(flow.bridges) | _through_state(plain, flow) | _untold(plain, shown)
    gradient = {key: width for key, width in gradient.items() if key not in cut}
    return Lighting(
        gradient,
        {key: width for key, width in bridge.items() if key not in gradient},
        cut,
        _fan_outs(plain, flow),
        _front(plain, shown, cut),
    )


def is_constant(plain: BaseScene, name: str) -> bool:
    return plain.boxes[name].shape == "chip"


def _is_followed(plain: BaseScene, shown: CallDiagnosis, tensor: TensorId | None) -> bool:
    """Whether the gradient of ``tensor`` is one that the tape wants.

    A gradient function answers for all inputs of its op, also for labels that were computed
    before the tape: what comes back for those goes nowhere.
    """
    trace, tape = plain.trace, shown.call.tape
    producer = trace.producers.get(tensor) if tensor is not None else None
    known = trace.tapes.get(tape) if tape is not None else None
    if producer is None or known is None or tensor in shown.flow.sources:
        return True
    op = trace.ops[producer]
    is_watched = any(watch.tensor == tensor for watch in known.watches)
    return tape in op.tapes or op.within is not None or is_watched


def _untold(plain: BaseScene, shown: CallDiagnosis) -> dict[EdgeKey, float]:
    """The ways to sources whose gradient across the cut came without the steps to it: estimates,
    and what only another run of the snippet gave."""
    bridged = {link[0] for link in shown.flow.bridges}
    graph = plain.graph
    behind = {name for tensor in shown.flow.targets for name in boxes_of(plain, tensor, shown)}
    for name in tuple(behind):
        behind |= nx.ancestors(graph, name)
    found: dict[EdgeKey, float] = {}
    for operand, finding in zip(shown.call.sources, shown.findings, strict=False):
        has_bridge = finding.bridged is not None or finding.bridged_value is not None
        if operand.tensor is None or operand.tensor in bridged or not has_bridge:
            continue
        names = boxes_of(plain, operand.tensor, shown)
        ahead = {
            *names,
            *(descendant for name in names for descendant in nx.descendants(graph, name)),
        } & behind
        for key in graph.subgraph(ahead).edges(keys=True):
            if key in plain.wires:
                found[key] = WIDTHS["bridge"]
    return found


def _cut_at_source(
    plain: BaseScene, shown: CallDiagnosis, known: Mapping[EdgeKey, Cause]
) -> dict[EdgeKey, Cause]:
    """The first wires from a source towards a target, where its cause names no edge.

    The source itself is the cut: an integer, or a tensor that was not watched.
    """
    causes = list(known.values())
    found: dict[EdgeKey, Cause] = {}
    lacking = [
        (operand.tensor, finding.cause)
        for operand, finding in zip(shown.call.sources, shown.findings, strict=False)
        if finding.status == "none" and finding.cause not in causes
    ]
    if not lacking:
        return found
    targets = {name for tensor in shown.flow.targets for name in boxes_of(plain, tensor, shown)}
    behind = set(targets)
    for name in targets:
        behind |= nx.ancestors(plain.graph, name)
    for tensor, cause in lacking:
        if tensor is not None and cause is not None:
            names = boxes_of(plain, tensor, shown)
            keys = _ways_out(plain, names) if cause.kind == "left-tensorflow" else []
            for key in keys or plain.graph.out_edges(list(names), keys=True):
                if key[1] in behind and key in plain.wires and key not in known:
                    found[key] = cause
    return found


def _ways_out(plain: BaseScene, names: Iterable[str]) -> list[EdgeKey]:
    """Where values behind these boxes come back as the constants that a tape sees."""
    graph = plain.graph
    ahead = {*names, *(descendant for name in names for descendant in nx.descendants(graph, name))}
    return [key for key in graph.out_edges(list(ahead), keys=True) if is_constant(plain, key[1])]


def _front(
    plain: BaseScene, shown: CallDiagnosis, cut: Mapping[EdgeKey, Cause]
) -> frozenset[EdgeKey]:
    """The cuts that a walk back from the targets meets first; all of them if it meets none."""
    waiting = [name for tensor in shown.flow.targets for name in boxes_of(plain, tensor, shown)]
    seen = set(waiting)
    front: set[EdgeKey] = set()
    while cut and waiting:
        for key in plain.graph.in_edges(waiting.pop(), keys=True):
            if key in cut:
                front.add(key)
            elif key[0] not in seen:
                seen.add(key[0])
                waiting.append(key[0])
    return frozenset(front) or frozenset(cut)


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
    plain: BaseScene, norms: Mapping[Link, float | None], widths: Mapping[float | None, float]
) -> dict[EdgeKey, float]:
    found: dict[EdgeKey, float] = {}
    for link, norm in norms.items():
        for key in plain.edges.get(link, ()):
            width = widths.get(norm, WIDTHS["gradient"])
            found[key] = max(found.get(key, 0.0), width)
    return found


def _through_state(plain: BaseScene, flow: Flow) -> dict[EdgeKey, float]:
    """The wires from an assign into a variable's next version carry no tensor: they belong to
    the bridge where the assign does."""
    crossed = {consumer for _, consumer in flow.bridges}
    found: dict[EdgeKey, float] = {}
    for key in plain.writes:
        op = plain.node(key[0]).op
        if op is not None and op in crossed:
            found[key] = WIDTHS["bridge"]
    return found


def _fan_outs(plain: BaseScene, flow: Flow) -> frozenset[str]:
    ways: dict[str, set[EdgeKey]] = {}
    for link in flow.walked:
        if link[0] is not None:
            holders = plain.holders.get(link[0], ())
            for key in plain.edges.get(link, ()):
                if key[0] in holders:
                    ways.setdefault(key[0], set()).add(key)
    return frozenset(name for name, keys in ways.items() if len(keys) > 1)
