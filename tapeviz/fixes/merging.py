"""Make two edits of one text, each of which mends another cut, into one."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator, Sequence

from ..text.trees import parse_module
from .model import Edit

_WORDS = re.compile(r"\w+|\s+|.")


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
