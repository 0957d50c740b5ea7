"""Groups nested deeper than Python's own calls may be."""

from __future__ import annotations

import sys

from tapeviz.graph.groups.branches import Branch, inner_first
from tapeviz.graph.groups.gathering import prune
from tapeviz.graph.groups.shapes import weigh


def nested(levels: int) -> Branch:
    """A function that calls itself, with four ops at each level."""
    root = branch = Branch("", "", 0)
    for level in range(levels):
        inner = Branch("function", "f", 1, ("function", level))
        branch.children = [*range(4 * level, 4 * level + 4), inner]
        branch = inner
    return root


def test_groups_deeper_than_the_limit_of_recursion_are_weighed_and_pruned() -> None:
    levels = 2 * sys.getrecursionlimit()
    root = nested(levels)
    weigh(root, {})
    assert root.ops == 4 * levels
    prune(root, 2, [0] * root.ops)
    kept = inner_first(root)
    assert kept[-1] is root
    assert len(kept) == levels  # all but the innermost, which is empty
    assert sum(isinstance(child, int) for branch in kept for child in branch.children) == root.ops
