"""Put findings together that differ in nothing but the source and the numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from ..trace.calls import Check
    from .findings import Finding

T = TypeVar("T")
FEWEST_TROUBLED, FEWEST_FLOWING = 2, 6
"""The least numbers of findings with the same story, in trouble and flowing, that share a text."""
_IN_A_NAME, _LETTER = re.compile(r"[\w.]"), re.compile(r"\w")


def grouped(items: Iterable[tuple[T, object, bool]]) -> list[tuple[T, ...]]:
    """The items with the same story together, where the first of them stood; each is given with
    its story and whether it is troubled."""
    groups: dict[object, list[T]] = {}
    listed: list[tuple[T, list[T], bool]] = []
    for item, story, is_troubled in items:  # of equal stories, which may be long, one is kept
        group = groups.setdefault(story, [])
        group.append(item)
        listed.append((item, group, is_troubled))
    together: list[tuple[T, ...]] = []
    for item, group, is_troubled in listed:
        if len(group) < (FEWEST_TROUBLED if is_troubled else FEWEST_FLOWING):
            together.append((item,))
        elif item is group[0]:
            together.append(tuple(group))
    return together


def places_alike(findings: Sequence[Finding]) -> list[tuple[int, ...]]:
    """The places of the findings of a call, those together that differ in nothing but the source
    and the numbers."""
    return grouped((place, story_of(f), f.status != "flows") for place, f in enumerate(findings))


def story_of(finding: Finding) -> object:
    """All that is told of a finding but its source and its numbers."""
    cause = finding.cause
    return (
        finding.target,
        finding.status,
        finding.nonfinite,
        _without_name(finding.message, finding.source),
        (cause.kind, cause.line, cause.code, cause.op) if cause else None,
        finding.is_estimated,
        finding.across is None,
        _is_contradicted(finding.check),
        _without_name(finding.held, finding.source),
        finding.further,
        finding.no_bridge,
        finding.not_tried,
        tuple((fix.title, fix.diff) for fix in finding.fixes),
    )


def _is_contradicted(check: Check | None) -> bool:
    """Whether finite differences give another number: few are checked, and not all can be."""
    return check is not None and check.error is not None and not check.agrees


def _without_name(message: str, source: str) -> str:
    """The message with a sign in place of each mention of the source. A pattern for each of many
    sources would have to be compiled."""
    kept: list[str] = []
    end = at = 0
    while source and (at := message.find(source, at)) >= 0:
        after = at + len(source)
        if _IN_A_NAME.match(message[at - 1 : at]) or _LETTER.match(message[after : after + 1]):
            at += 1
            continue
        kept += (message[end:at], "…")
        end = at = after
    return "".join((*kept, message[end:]))
