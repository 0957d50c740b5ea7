"""A gradient call in, the boxes of its sources and targets out, with what became of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from ..analysis.model import CallDiagnosis, Link, Status
from ..trace.model import TensorId, VariableId
from .plain import Plain

RingKind = Literal["source", "target", "cut", "nonfinite"]
STATUS_WORDS: Mapping[Status, str] = {
    "flows": "",
    "none": "None",
    "zero": "zero",
    "nonfinite": "NaN or Inf",
}


@dataclass(frozen=True, slots=True)
class Ring:
    kind: RingKind
    label: str


def rings_of(plain: Plain, shown: CallDiagnosis | None) -> dict[str, Ring]:
    """By node. A source is ``cut`` when its gradient is None; one that is a target too is a
    target. The op where a value stopped being finite is ringed as well."""
    rings: dict[str, Ring] = {}
    if shown is None or not plain.boxes:
        return rings
    for finding in shown.findings:
        if finding.status == "nonfinite" and finding.cause and finding.cause.op_id is not None:
            for name in plain.ops.get(finding.cause.op_id, ()):
                rings[name] = Ring("nonfinite", STATUS_WORDS["nonfinite"])
    for tensor, status in _sources(shown).items():
        for name in _at(plain, tensor, shown):
            rings[name] = _source_ring(status)
    for tensor in shown.flow.targets:
        for name in _at(plain, tensor, shown):
            rings[name] = Ring("target", "target")
    return rings


def _source_ring(status: Status) -> Ring:
    kind: RingKind = "source"
    if status == "none":
        kind = "cut"
    elif status == "nonfinite":
        kind = "nonfinite"
    words = STATUS_WORDS[status]
    return Ring(kind, f"source · {words}" if words else "source")


def _sources(shown: CallDiagnosis) -> dict[TensorId, Status]:
    """The worst status of each source: findings are in the order of the call's sources."""
    order: tuple[Status, ...] = ("flows", "zero", "nonfinite", "none")
    statuses: dict[TensorId, Status] = {}
    for operand, finding in zip(shown.call.sources, shown.findings, strict=False):
        if operand.tensor is not None:
            known = statuses.get(operand.tensor, "flows")
            statuses[operand.tensor] = max(known, finding.status, key=order.index)
    for tensor in shown.flow.sources:
        statuses.setdefault(tensor, "flows")
    return statuses


def _at(plain: Plain, tensor: TensorId, shown: CallDiagnosis) -> tuple[str, ...]:
    """The boxes that stand for a tensor. Of a variable: its versions that the flow or a cut
    touches, else the first."""
    versions = plain.variables.get(VariableId(tensor), [])
    if not versions:
        return tuple((plain.holders.get(tensor) or plain.insides.get(tensor, []))[:1])
    for links in (shown.flow.walked.keys(), shown.flow.cuts.keys()):
        touched = tuple(name for name in versions if _touches(plain, name, links))
        if touched:
            return touched
    return (min(versions, key=lambda name: plain.node(name).version),)


def _touches(plain: Plain, name: str, links: Collection[Link]) -> bool:
    return any(
        link in links
        for _, _, edge in plain.graph.out_edges(name, data="edge")
        for link in edge.links
    )
