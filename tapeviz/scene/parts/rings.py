"""A gradient call in, the boxes of its sources and targets out, with what became of them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Literal

from ...analysis.model import CallDiagnosis, Finding, Link, Status
from ...trace.model import TensorId, Trace, VariableId
from ..base_scene import BaseScene

RingKind = Literal["source", "target", "cut", "nonfinite"]
_ORDER: tuple[Status, ...] = ("flows", "zero", "nonfinite", "none")


@dataclass(frozen=True, slots=True)
class Ring:
    kind: RingKind
    label: str


def rings_of(plain: BaseScene, shown: CallDiagnosis | None) -> dict[str, Ring]:
    """By node. A source is ``cut`` when its gradient is None; one that is a target too is a
    target. The op where a value stopped being finite is ringed as well."""
    rings: dict[str, Ring] = {}
    if shown is None or not plain.boxes:
        return rings
    trace = plain.trace
    for finding in shown.findings:
        if finding.status == "nonfinite" and finding.cause and finding.cause.op_id is not None:
            for name in plain.ops.get(finding.cause.op_id, ()):
                rings[name] = Ring("nonfinite", status_words(finding, trace))
    for tensor, found in _sources(shown).items():
        for place, name in enumerate(boxes_of(plain, tensor, shown)):
            ring = _source_ring(found, trace)
            # Copies of a widely used value are ringed too; one of them says what that means.
            is_copy = place > 0 and plain.node(name).is_chip
            # A folded group holds a source and is none: its ring needs words only for trouble.
            is_around = ring.label == "source" and plain.node(name).role == "group"
            rings[name] = replace(ring, label="") if is_copy or is_around else ring
    for tensor in shown.flow.targets:
        for name in boxes_of(plain, tensor, shown):
            rings[name] = Ring("target", "target")
    return rings


def status_words(finding: Finding, trace: Trace) -> str:
    """``None``, ``zero``, ``NaN``, ``Inf``; empty for a gradient that flows."""
    if finding.status != "nonfinite":
        return {"flows": "", "none": "None", "zero": "zero"}[finding.status]
    stats = None if finding.tensor is None else trace.stats(finding.tensor)
    if stats is None or (stats.nan and stats.inf):
        return "NaN or Inf"
    return "NaN" if stats.nan else "Inf"


def _source_ring(finding: Finding | None, trace: Trace) -> Ring:
    status = "flows" if finding is None else finding.status
    kind: RingKind = "source"
    if status == "none":
        kind = "cut"
    elif status == "nonfinite":
        kind = "nonfinite"
    words = "" if finding is None else status_words(finding, trace)
    return Ring(kind, f"source · {words}" if words else "source")


def _sources(shown: CallDiagnosis) -> dict[TensorId, Finding | None]:
    """The worst finding of each source: findings are in the order of the call's sources."""
    worst: dict[TensorId, Finding | None] = {}
    for operand, finding in zip(shown.call.sources, shown.findings, strict=False):
        if operand.tensor is not None:
            known = worst.get(operand.tensor)
            if known is None or _ORDER.index(finding.status) > _ORDER.index(known.status):
                worst[operand.tensor] = finding
    for tensor in shown.flow.sources:
        worst.setdefault(tensor, None)
    return worst


def boxes_of(plain: BaseScene, tensor: TensorId, shown: CallDiagnosis) -> tuple[str, ...]:
    """The boxes that stand for a tensor; for a variable the versions that the flow or a cut
    touches, else the first."""
    versions = plain.variables.get(VariableId(tensor), [])
    if not versions:
        return tuple((plain.holders.get(tensor) or plain.insides.get(tensor, ()))[:1])
    for links in (shown.flow.walked.keys(), shown.flow.cuts.keys()):
        touched = tuple(name for name in versions if _touches(plain, name, links))
        if touched:
            return touched
    return (min(versions, key=lambda name: plain.node(name).version),)


def _touches(plain: BaseScene, name: str, links: Collection[Link]) -> bool:
    return any(
        link in links
        for _, _, edge in plain.graph.out_edges(name, data="edge")
        for link in edge.links
    )
