"""Find the nodes that match a typed text, the best first, or the round or turn that it names."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from ..document import Document
from ..graph.model import Node, NodeId

_REPETITION = re.compile(r"\s*(round|call|turn)\s+(\d+)\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Repetition:
    """A round of the call that is shown, or a turn of a loop. ``go`` shows it."""

    words: str
    go: Callable[[], object]


def named_repetition(document: Document, text: str) -> Repetition | None:
    """The round or turn that a text names (``round 137``, ``turn 12``): of the call shown, or of
    the selected loop, else the first one drawn. None if there is no such round or turn."""
    named = _REPETITION.fullmatch(text)
    if named is None:
        return None
    noun, number = named[1].lower(), int(named[2])
    if noun == "turn":
        path, count = document.links.repeat_of(document.selection.nodes)
        go = partial(document.folding.show_turn, path, number)
    else:
        is_call = document.site is None and document.function_calls.shown is not None
        noun, count = ("call" if is_call else "round"), document.rounds
        go = partial(document.select_round, number)
    return Repetition(f"{noun} {number:,} of {count:,}", go) if 1 <= number <= count else None


def find_matches(nodes: Mapping[NodeId, Node], text: str) -> list[NodeId]:
    """The nodes with all words of ``text`` in their name, title, op type, group or line (``line
    6``, ``6``). Those whose name is, or begins with, the text come first."""
    words = text.lower().split()
    if not words:
        return []
    found = []
    for order, (id_, node) in enumerate(nodes.items()):
        rank = _rank(node, words)
        if rank is not None:
            found.append((rank, order, id_))
    return [id_ for _, _, id_ in sorted(found)]


def _rank(node: Node, words: list[str]) -> int | None:
    line = f"line {node.line}"
    haystack = f"{node.title}\n{node.name}\n{node.type}\n{node.group}\n{line}".lower()
    lines = {str(line) for line in (node.line, *node.lines)}
    if not all(word in lines if word.isdigit() else word in haystack for word in words):
        return None
    names = (node.title.lower(), node.name.lower(), node.type.lower())
    first = " ".join(words)
    if first in names:
        return 0
    return 1 if any(name.startswith(first) for name in names) else 2
