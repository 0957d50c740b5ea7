"""Nodes and what was typed in, the nodes that match, best first, out."""

from __future__ import annotations

from collections.abc import Mapping

from ..graph.model import Node, NodeId


def find_matches(nodes: Mapping[NodeId, Node], text: str) -> list[NodeId]:
    """``text``: words that must all occur in a node's name, title, op type or line (``line 6``,
    ``6``). Names that are or begin with the text come first."""
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
