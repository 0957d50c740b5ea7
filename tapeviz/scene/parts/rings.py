"""Draw the rings around the boxes of a call's sources and targets."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ...analysis.findings import Finding, Link, Status
from ...analysis.model import CallDiagnosis
from ...analysis.status import word_of
from ...trace.compiled.raised import op_that_raised
from ...trace.ids import TensorId, VariableId
from ..base_scene import BaseScene

RingKind = Literal["source", "target", "cut", "nonfinite", "raised"]
_ORDER: tuple[Status, ...] = ("flows", "zero", "nonfinite", "none")


@dataclass(frozen=True, slots=True)
class Ring:
    kind: RingKind
    label: str


def rings_of(base: BaseScene, shown: CallDiagnosis | None) -> dict[str, Ring]:
    """The ring of each node that has one. A source whose gradient is None is ``cut``; a node that
    is source and target is a target. The op that made the first NaN or infinity is ringed too, and
    the one that raised, which says so in its box."""
    rings: dict[str, Ring] = {}
    raised = op_that_raised(base.trace) if base.boxes else None
    if raised is not None:
        rings |= dict.fromkeys(base.boxes_of_op(raised.id), Ring("raised", ""))
    if shown is None or not base.boxes:
        return rings
    for finding in shown.findings:
        if finding.status == "nonfinite" and finding.cause and finding.cause.op_id is not None:
            for name in base.boxes_of_op(finding.cause.op_id):
                rings[name] = Ring("nonfinite", status_words(finding))
    at: dict[str, list[Finding | None]] = {}
    copies: set[str] = set()
    for tensor, found in _sources(shown).items():
        for place, name in enumerate(boxes_of(base, tensor, shown)):
            at.setdefault(name, []).append(found)
            if place > 0 and base.node(name).is_chip:
                copies.add(name)
    for name, of_box in at.items():
        ring = _source_ring(of_box)
        # All copies of a widely used value are ringed; only the first has words.
        # A folded group with a source in it has words only for trouble.
        is_around = ring.label == "source" and base.node(name).role == "group"
        rings[name] = replace(ring, label="") if name in copies or is_around else ring
    for tensor in shown.flow.targets:
        for name in target_boxes(base, tensor, shown):
            rings[name] = Ring("target", "target")
    return rings


def _source_ring(of_box: Sequence[Finding | None]) -> Ring:
    """The ring of a box that stands for some sources, by their findings: ``1 of 6 None``."""
    worst = max(filter(None, of_box), key=_badness, default=None)
    words = "" if worst is None else status_words(worst)
    if worst is None or not words:
        return Ring("source", "source")
    count = sum(found is not None and found.status == worst.status for found in of_box)
    kinds: dict[Status, RingKind] = {"none": "cut", "nonfinite": "nonfinite"}
    label = f"source · {words}" if count == len(of_box) else f"{count} of {len(of_box)} {words}"
    return Ring(kinds.get(worst.status, "source"), label)


def status_words(finding: Finding) -> str:
    """``None``, ``zero``, ``NaN``, ``Inf``; empty for a gradient that flows."""
    return "" if finding.status == "flows" else word_of(finding)


def _sources(shown: CallDiagnosis) -> dict[TensorId, Finding | None]:
    """The worst finding of each source, None where the call has none for it."""
    if shown.call.is_forward:  # has one for each target, about all sources
        found = max(shown.findings, key=_badness, default=None)
        return dict.fromkeys(shown.flow.sources, found)
    worst: dict[TensorId, Finding | None] = {}
    for operand, finding in zip(shown.call.sources, shown.findings, strict=False):
        if operand.tensor is not None:
            known = worst.get(operand.tensor)
            if known is None or _badness(finding) > _badness(known):
                worst[operand.tensor] = finding
    for tensor in shown.flow.sources:
        worst.setdefault(tensor, None)
    return worst


def _badness(finding: Finding) -> int:
    return _ORDER.index(finding.status)


def target_boxes(base: BaseScene, tensor: TensorId, shown: CallDiagnosis) -> tuple[str, ...]:
    """The box that stands for a target: of a variable that of the version it had then. The last
    turn of a compiled loop gives what the loop does: its box stands for that in each turn."""
    versions = base.variables.get(VariableId(tensor), [])
    variable = base.trace.variable(tensor)
    seen = variable.version_at(shown.call.when) if variable is not None else None
    known = tuple(name for name in versions if seen and base.node(name).version == seen.index)
    found = known or boxes_of(base, tensor, shown)
    maker = base.trace.maker(tensor) if not found else None
    return base.boxes_of_op(maker.id) if maker is not None else found


def boxes_of(base: BaseScene, tensor: TensorId, shown: CallDiagnosis) -> tuple[str, ...]:
    """The box that stands for a tensor; a variable that it was read from only if nothing else
    does. For a variable: the versions that the flow or a cut touches, or else the first."""
    versions = base.variables.get(VariableId(tensor), [])
    if not versions:
        holders = base.holders.get(tensor, [])
        own = [name for name in holders if base.node(name).role != "variable"]
        return tuple((own or base.hidden.boxes_of_tensor(tensor) or holders)[:1])
    for links in (shown.flow.walked.keys(), shown.flow.cuts.keys()):
        touched = tuple(name for name in versions if _touches(base, name, links))
        if touched:
            return touched
    return (min(versions, key=lambda name: base.node(name).version),)


def _touches(base: BaseScene, name: str, links: Collection[Link]) -> bool:
    return any(
        link in links
        for _, _, edge in base.graph.out_edges(name, data="edge")
        for link in edge.links
    )
