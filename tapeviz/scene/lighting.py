"""Find the wires that the flow of a gradient call, its cuts and its bridges touch."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import networkx as nx

from ..analysis.backward.steps import Flow
from ..analysis.backward.through import links_inside
from ..analysis.findings import Cause, Link
from ..analysis.model import CallDiagnosis
from ..graph.model import EdgeKey
from ..trace.ids import TensorId, VariableId
from .base_scene import WIDTHS, BaseScene
from .parts.rings import boxes_of, target_boxes

LEAST_WIDTH, MOST_WIDTH = 1.5, 5.0
_LEAST_SPAN = math.log(1000.0)


@dataclass(frozen=True, slots=True)
class Lighting:
    """The wires and boxes that the flow of a call lights up. ``gradient``, ``bridge``: wires with
    their width in px; ``cut``: wires with the cause.

    ``fans``: boxes whose value several wires carry on, so that their gradient is a sum of shares.
    ``front``: the cuts that the gradient reaches first on its way back from the targets.
    """

    gradient: Mapping[EdgeKey, float] = field(default_factory=dict)
    bridge: Mapping[EdgeKey, float] = field(default_factory=dict)
    cut: Mapping[EdgeKey, Cause] = field(default_factory=dict)
    fans: frozenset[str] = frozenset()
    front: frozenset[EdgeKey] = frozenset()


UNLIT = Lighting()


def light(base: BaseScene, shown: CallDiagnosis | None, show_bridge: bool) -> Lighting:
    """The whole flow of a call.

    A wire that stands for several values is cut if one of them is; not if that value gets a
    gradient on the same wire, from another op of a folded group. The wire of a constant carries no
    gradient unless the constant is a source: nobody asked for it. No wire is lit while the pass
    is worked out.
    """
    if shown is None or shown.is_pending:
        return UNLIT
    flow = shown.flow
    asked = {name for tensor in flow.sources for name in boxes_of(base, tensor, shown)}
    is_followed = _followed_test(base, shown)
    norms: set[float | None] = {*flow.bridges.values()}
    on_wires: dict[EdgeKey, set[float | None]] = {}
    """The norms on each wire: of a long pass few edges have one, or many the same."""
    parts: dict[str, set[EdgeKey]] = {}
    into_reads = _into_reads(base, flow)
    for link, norm in flow.walked.items():
        norms.add(norm)
        for key in into_reads.get(link[0], ()):
            on_wires.setdefault(key, set()).add(norm)
        keys = base.edges.get(link)
        if keys is None:
            continue
        if link[0] in base.holders:
            _add_parts(base, link[0], keys, parts)
        if is_followed(link[0]):
            for key in keys:
                on_wires.setdefault(key, set()).add(norm)
    spread = spread_of(norms)

    def widest(norms: Mapping[EdgeKey, set[float | None]]) -> dict[EdgeKey, float]:
        return {
            key: max(width_of(norm, spread) for norm in _extremes(some))
            for key, some in norms.items()
            if key[0] in asked or not is_constant(base, key[0])
        }

    trace = base.trace
    has_bodies = bool(trace.functions or trace.loops or trace.predicates)
    for step in shown.steps if has_bodies else ():
        for link in links_inside(trace, step, flow.gradients):
            if not (is_followed(link[0]) and link in flow.walked):
                for key in base.edges.get(link, ()):
                    on_wires.setdefault(key, set()).add(None)
    gradient = widest(on_wires)
    cut = dict(_cut_wires(base, flow))
    cut |= _cut_at_source(base, shown, cut)
    bridge: dict[EdgeKey, float] = {}
    if show_bridge:
        bridge = (
            widest(_by_wire(base, flow.bridges))
            | _bridge_writes(base, flow)
            | _bridge_without_steps(base, shown)
        )
        # What a write leaves of a variable gets a part of the gradient across it, too.
        ahead = _ahead(base.graph, asked)
        bridge = {key: width for key, width in bridge.items() if key[0] in ahead}
    gradient = {key: width for key, width in gradient.items() if key not in cut}
    return Lighting(
        gradient,
        {key: width for key, width in bridge.items() if key not in gradient},
        cut,
        frozenset(name for name, keys in parts.items() if len(keys) > 1),
        _front(base, shown, cut),
    )


def _cut_wires(base: BaseScene, flow: Flow) -> Iterator[tuple[EdgeKey, Cause]]:
    """The wires on which a value is cut, and gets no gradient by another link."""
    values = {tensor for tensor, _ in flow.cuts}
    reached = {
        (key, link[0])
        for link in flow.walked
        if link[0] in values and link not in flow.cuts
        for key in base.edges.get(link, ())
    }
    for link, cause in flow.cuts.items():
        for key in base.edges.get(link, ()):
            if (key, link[0]) not in reached:
                yield key, cause


def _into_reads(base: BaseScene, flow: Flow) -> dict[TensorId | None, list[EdgeKey]]:
    """The wires from source variables to boxes of their reads, by the value that was read: its
    gradient is the variable's."""
    trace = base.trace
    found: dict[TensorId | None, list[EdgeKey]] = {}
    for source in flow.sources:
        for name in base.variables.get(VariableId(source), ()):
            for tail, head, key, edge in base.graph.out_edges(name, keys=True, data="edge"):
                readers = (trace.op(op) for tensor, op in edge.links if tensor == source)
                for value in (reader.outputs[0] for reader in readers if reader and reader.outputs):
                    if value in trace.reads:
                        found.setdefault(value, []).append((tail, head, key))
    return found


def is_constant(base: BaseScene, name: str) -> bool:
    return base.boxes[name].shape == "chip"


def _followed_test(base: BaseScene, shown: CallDiagnosis) -> Callable[[TensorId | None], bool]:
    """A function that says whether the tape passes the gradient of a tensor on.

    A gradient function answers for all inputs of its op, labels that were computed before the tape
    among them; the tape drops the gradients of those.
    """
    trace, tape = base.trace, shown.call.tape
    known = trace.tape(tape)
    wanted = shown.flow.sources | {watch.tensor for watch in (known.watches if known else ())}

    def is_followed(tensor: TensorId | None) -> bool:
        op = trace.maker(tensor)
        if op is None or known is None or tensor in wanted:
            return True
        return tape in op.tapes or op.within is not None

    return is_followed


def _bridge_without_steps(base: BaseScene, shown: CallDiagnosis) -> dict[EdgeKey, float]:
    """The wires between target and a source whose gradient across the cut is known without its
    steps: an estimate, or the result of another run of the snippet."""
    bridged = {link[0] for link in shown.flow.bridges}
    graph, behind = base.graph, _behind_targets(base, shown)
    found: dict[EdgeKey, float] = {}
    for operand, finding in zip(shown.call.sources, shown.findings, strict=False):
        if operand.tensor is None or operand.tensor in bridged or finding.across is None:
            continue
        ahead = _ahead(graph, boxes_of(base, operand.tensor, shown)) & behind
        for key in graph.subgraph(ahead).edges(keys=True):
            if key in base.wires:
                found[key] = WIDTHS["bridge"]
    return found


def _cut_at_source(
    base: BaseScene, shown: CallDiagnosis, known: Mapping[EdgeKey, Cause]
) -> dict[EdgeKey, Cause]:
    """The first wires from a source towards a target, for causes that name no edge.

    There the source itself is the reason: it is an integer, or it was not watched.
    """
    causes = list(known.values())
    found: dict[EdgeKey, Cause] = {}
    lacking = [
        (operand.tensor, finding.cause)
        for operand, finding in zip(shown.call.sources, shown.findings, strict=False)
        if finding.status == "none" and finding.cause not in causes and not shown.call.is_forward
    ]
    if not lacking:
        return found
    behind = _behind_targets(base, shown)
    for tensor, cause in lacking:
        if tensor is not None and cause is not None:
            names = boxes_of(base, tensor, shown)
            keys = _edges_out(base, names) if cause.kind == "left-tensorflow" else []
            for key in keys or base.graph.out_edges(list(names), keys=True):
                if key[1] in behind and key in base.wires and key not in known:
                    found[key] = cause
    return found


def _edges_out(base: BaseScene, names: Iterable[str]) -> list[EdgeKey]:
    """The wires, downstream of these boxes, along which a value went through Python or NumPy: into
    a constant, or into the group that the constant is in."""
    edges = base.graph.out_edges(list(_ahead(base.graph, names)), keys=True, data="edge")
    return [
        (tail, head, key)
        for tail, head, key, edge in edges
        if any(tensor is not None and consumer is None for tensor, consumer in edge.links)
    ]


def _ahead(graph: nx.MultiDiGraph, names: Iterable[str]) -> set[str]:
    """The boxes, and all that their values go into."""
    return set(names).union(*(nx.descendants(graph, name) for name in names))


def _behind_targets(base: BaseScene, shown: CallDiagnosis) -> set[str]:
    """The boxes of the targets, and all that these are made from."""
    targets = {name for tensor in shown.flow.targets for name in target_boxes(base, tensor, shown)}
    return targets.union(*(nx.ancestors(base.graph, name) for name in targets))


def _front(
    base: BaseScene, shown: CallDiagnosis, cut: Mapping[EdgeKey, Cause]
) -> frozenset[EdgeKey]:
    """The cuts that a walk back from the targets meets first; all cuts if it meets none."""
    waiting = [name for tensor in shown.flow.targets for name in target_boxes(base, tensor, shown)]
    seen = set(waiting)
    front: set[EdgeKey] = set()
    while cut and waiting:
        for key in base.graph.in_edges(waiting.pop(), keys=True):
            if key in cut:
                front.add(key)
            elif key[0] not in seen:
                seen.add(key[0])
                waiting.append(key[0])
    return frozenset(front) or frozenset(cut)


def spread_of(norms: Iterable[float | None]) -> tuple[float, float] | None:
    """The logarithms of the norms that have the least and the largest width: those of the smallest
    and the largest, and at least a factor of 1,000 apart. None if no norm is positive."""
    positive = [norm for norm in norms if norm is not None and 0 < norm < math.inf]
    if not positive:
        return None
    low, high = math.log(min(positive)), math.log(max(positive))
    span = max(high - low, _LEAST_SPAN)
    return (low + high - span) / 2, (low + high + span) / 2


def width_of(norm: float | None, spread: tuple[float, float] | None) -> float:
    """Width in px for a norm of a call: 1.5 to 5, linear in the logarithm."""
    if norm is None or norm == math.inf:
        return WIDTHS["gradient"]
    if spread is None or not norm > 0:
        return LEAST_WIDTH
    low, high = spread
    share = (math.log(norm) - low) / (high - low)
    return round(LEAST_WIDTH + (MOST_WIDTH - LEAST_WIDTH) * share, 2)


def _extremes(norms: set[float | None]) -> set[float | None]:
    """The norms of which one has the largest width."""
    known = [norm for norm in norms if norm is not None and norm != math.inf]
    unknown: set[float | None] = {None} if len(known) < len(norms) else set()
    return unknown | {max(known)} if known else unknown


def _by_wire(
    base: BaseScene, norms: Mapping[Link, float | None]
) -> dict[EdgeKey, set[float | None]]:
    found: dict[EdgeKey, set[float | None]] = {}
    for link, norm in norms.items():
        for key in base.edges.get(link, ()):
            found.setdefault(key, set()).add(norm)
    return found


def _bridge_writes(base: BaseScene, flow: Flow) -> dict[EdgeKey, float]:
    """The wires from an assign to the variable's next version, which carry no tensor: they belong
    to the bridge if the assign does."""
    crossed = {consumer for _, consumer in flow.bridges}
    found: dict[EdgeKey, float] = {}
    for key in base.writes:
        op = base.node(key[0]).op
        if op is not None and op in crossed:
            found[key] = WIDTHS["bridge"]
    return found


def _add_parts(
    base: BaseScene,
    tensor: TensorId | None,
    keys: Iterable[EdgeKey],
    parts: dict[str, set[EdgeKey]],
) -> None:
    """Note for each box that shows a tensor the wires that carry it on."""
    if tensor is None:
        return
    for key in keys:
        if key[0] in base.holders[tensor]:
            parts.setdefault(key[0], set()).add(key)
