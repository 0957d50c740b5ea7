"""Put the edits for all cuts on the paths of a gradient in order, and make them into one."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

from ..text.trees import parse_module
from .goals import distinct
from .model import Edit, FixCase
from .table import edits_for

_WORDS = re.compile(r"\w+|\s+|.")


_FEW = 2
"""Edits of each cut that are combined with those of another, and the number of other kinds."""
_EXACT = {"assign", "new-variable", "left-tensorflow", "stateful"}
"""Kinds of cuts that nobody makes on purpose, and whose edits keep all numbers."""


def edits_for_all_cuts(case: FixCase) -> list[Edit]:
    """The edits for the cause, the likeliest first, those for the further cuts, and edits that mend
    several: an edit for the cause alone may bring a part of the gradient only.

    Edits that leave the line of the cause as it is, and change another line that is cut for the
    same kind of reason, count as edits for that cut.
    """
    text, cause, finding = case.source.text, case.cause, case.finding
    found = list(distinct(edits_for(case), text))
    others = [other for other in finding.others if not other.is_bypassed]
    alike = {other.code for other in others if other.kind == cause.kind} - {cause.code}
    elsewhere = [edit for edit in found if _leaves(edit, cause.code) and not _leaves(edit, *alike)]
    likely = [edit for edit in found if not edit.is_last]
    edits = [edit for edit in likely if edit not in elsewhere] or likely
    beside = {other.kind: other for other in reversed(others) if other.kind != cause.kind}
    of_each = [
        list(distinct(edits_for(replace(case, cause=other)), text))[:_FEW]
        for other in [*reversed(beside.values())][:_FEW]
    ]
    whole, pairs, seconds = edits[:_FEW], list[Edit](), [*chain(*of_each[:1]), *elsewhere]
    for second in filter(None, (*of_each, elsewhere)):
        whole = list(distinct(pairs_of(text, whole, second), text))[:_FEW] or whole
        pairs = pairs or whole
    both = [*pairs[:1], *whole[:1], *pairs[1:]]
    if finding.status == "zero":  # those for the other cut bring the whole
        edits[_FEW:_FEW] = [*seconds, *both]
    elif finding.across is None and beside.keys() <= _EXACT:  # only so it is known to be whole
        edits = [*both, *edits, *seconds]
    else:
        edits[_FEW:_FEW] = [*both, *seconds]
    return [*edits, *(edit for edit in found if edit.is_last)]


def _leaves(edit: Edit, *lines: str) -> bool:
    """Whether an edit leaves these lines as they are."""
    return {line.strip() for line in edit.new_text.split("\n")}.issuperset(lines)


def pairs_of(text: str, first: Sequence[Edit], second: Sequence[Edit]) -> Iterator[Edit]:
    """Each of the first with the second edits, the likeliest first, up to one that changes the same
    words: that one can only be made in the text that the first edit gave."""
    for edit in first:
        for other in second:
            merged = merge(text, edit.new_text, other.new_text)
            if merged is None:
                break
            yield edit.followed_by(other, merged)


def merge(text: str, first: str, second: str) -> str | None:
    """The text with the changes of both; None where they change, or insert at, the same place of a
    line, or bind the same new name."""
    if (_bound(first) - _bound(text)) & (_bound(second) - _bound(text)):
        return None
    merged = _merged(*(each.split("\n") for each in (text, first, second)))
    return None if merged is None else "\n".join(merged)


def _bound(text: str) -> set[str]:
    nodes = ast.walk(parse_module(text))
    return {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def _merged(
    parts: Sequence[str], *edited: Sequence[str], are_lines: bool = True
) -> list[str] | None:
    """The parts with the changes of both; lines that both change are merged word by word."""
    changes = sorted((*each, side) for side in (0, 1) for each in _changes(parts, edited[side]))
    clashing: list[list[tuple[int, int, list[str], int]]] = []
    for change in changes:
        start, end = change[:2]
        last = clashing[-1] if clashing else []
        if any(start < e or (s, e) == (start, end) for s, e, *_ in last):
            last.append(change)
        else:
            clashing.append([change])
    merged = list(parts)
    for group in reversed(clashing):
        start, end = group[0][0], max(end for _, end, *_ in group)
        versions = [merged[start:end] for _ in (0, 1)]
        for first, last_, new, side in reversed(group):
            versions[side][first - start : last_ - start] = new
        if len(group) > 1:
            texts = ["\n".join(each) for each in (merged[start:end], *versions)]
            words = _merged(*map(_WORDS.findall, texts), are_lines=False) if are_lines else None
            if words is None:
                return None
            versions = ["".join(words).split("\n")] * 2
        merged[start:end] = versions[group[0][3]]
    return merged


def _changes(parts: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int, list[str]]]:
    """The stretches that differ: begin and end (exclusive) in the old parts, and the new ones."""
    matcher = difflib.SequenceMatcher(None, parts, new, autojunk=False)
    for tag, start, end, new_start, new_end in matcher.get_opcodes():
        if tag != "equal":
            yield start, end, list(new[new_start:new_end])
