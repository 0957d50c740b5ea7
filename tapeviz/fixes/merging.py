"""Make two edits of one text, each of which mends another cut, into one."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator, Sequence
from itertools import pairwise

from ..text.trees import parse_module
from .model import Edit


def pairs_of(text: str, first: Sequence[Edit], second: Sequence[Edit]) -> Iterator[Edit]:
    """Each of the first with the second edits, the likeliest first, up to one that changes the same
    lines: that one can only be made in the text that the first edit gave."""
    for edit in first:
        for other in second:
            merged = merge(text, edit.new_text, other.new_text)
            if merged is None:
                break
            yield edit.followed_by(other, merged)


def merge(text: str, first: str, second: str) -> str | None:
    """The text with the changes of both; None where they change, or insert at, the same lines, or
    bind the same new name."""
    if (_bound(first) - _bound(text)) & (_bound(second) - _bound(text)):
        return None
    lines = text.split("\n")
    changes = sorted((*_changes(lines, first), *_changes(lines, second)))
    for (_, end, _), (start, _, _) in pairwise(changes):
        if start < end:
            return None
    starts = [start for start, _, _ in changes]
    if len(set(starts)) < len(starts):
        return None
    for start, end, new in reversed(changes):
        lines[start:end] = new
    return "\n".join(lines)


def _bound(text: str) -> set[str]:
    nodes = ast.walk(parse_module(text))
    return {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def _changes(lines: Sequence[str], new: str) -> Iterator[tuple[int, int, list[str]]]:
    """The stretches that differ: begin and end (exclusive) in the old lines, and the new ones."""
    new_lines = new.split("\n")
    matcher = difflib.SequenceMatcher(None, lines, new_lines, autojunk=False)
    for tag, start, end, new_start, new_end in matcher.get_opcodes():
        if tag != "equal":
            yield start, end, new_lines[new_start:new_end]
