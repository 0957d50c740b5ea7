"""Choose the open layers and functions whose name a first view shows: by a frame around them, or in
the words of the boxes in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import networkx as nx

from ..graph.groups.tree import Tree, upwards

_NAMED = ("layer", "function", "backward")
"""The kinds of groups whose name says more than the lines in them."""
_LEAST = 2
"""Boxes in a frame at least, and beside it."""


class ShownNames(NamedTuple):
    """The open groups whose name a picture shows, by their paths without the numbers of turns.
    ``framed``: those with a frame; ``written``: those that the closed groups in them name."""

    framed: frozenset[str] = frozenset()
    written: frozenset[str] = frozenset()


NO_SHOWN_NAMES = ShownNames()


def telling_in(sized: nx.MultiDiGraph) -> int:
    """The number of boxes of ops and groups."""
    return sum(node.role in ("op", "group") for _, node in sized.nodes(data="node"))


def worth_a_frame(sized: nx.MultiDiGraph, tree: Tree) -> set[str]:
    """The groups that are :func:`worth_a_name`, without those in a loop, which has a frame with its
    turns."""
    return {
        path
        for path in worth_a_name(sized, tree)
        if not any(tree.groups[outer].count for outer in around(path))
    }


def worth_a_name(sized: nx.MultiDiGraph, tree: Tree) -> set[str]:
    """The open layers and functions with several boxes in them, and others beside them; not those
    that hold a loop and nothing else."""
    inside = Counter(
        path
        for _, node in sized.nodes(data="node")
        if node.role in ("op", "group")
        for path in upwards(node.group)
    )
    groups = [path for path in inside if path in tree.groups]
    repeats = [path for path in groups if tree.groups[path].count]
    only = {path for loop in repeats for path in around(loop) if inside[path] == inside[loop]}
    most = telling_in(sized) - _LEAST
    return {
        path
        for path in groups
        if _LEAST <= inside[path] <= most and path not in only
        if (group := tree.groups[path]).kind in _NAMED and not group.is_library
    }


def around(path: str) -> Iterator[str]:
    """The paths of the groups around a group, the innermost first."""
    return islice(upwards(path), 1, None)
