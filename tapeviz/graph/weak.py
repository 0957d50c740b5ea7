"""A graph and its groups in, the groups that tapeviz closes by itself out.

What the program folds is weak: it gives way to whatever the user folded or unfolded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from .model import NodeId

LARGE = 300
"""Above so many nodes a graph is folded before it is first shown."""
READABLE = 120
"""As many nodes as a first view should have."""
FEW = 6
"""Fewer are not worth a look: the next depth is opened."""
_BEARABLE = 3 * READABLE


def weakly_closed(groups: Mapping[NodeId, str], nodes: int, *, closes_all: bool) -> frozenset[str]:
    """Paths of the groups to close in a graph of so many ``nodes``.

    A small graph: every recorded operation, since the gradient goes around its inside, and with
    ``closes_all`` the outermost groups. A large one: the groups of one depth, the deepest that
    leaves a readable picture. A group of a single node that is not a recorded operation stays
    open: nothing is gained by hiding it.
    """
    sizes = group_sizes(groups)
    if nodes <= LARGE:
        chosen = {
            path
            for path in sizes
            if is_recorded_operation(path) or (closes_all and "/" not in path)
        }
    else:
        depth, _ = readable_depth(groups, nodes)
        chosen = {path for path in sizes if path.count("/") == depth - 1}
    return frozenset(path for path in chosen if sizes[path] > 1 or is_recorded_operation(path))


def is_recorded_operation(path: str) -> bool:
    """Whether a group is the inside of a recorded operation: ``steep@12``."""
    return "@" in path.rpartition("/")[2]


def group_sizes(groups: Mapping[NodeId, str]) -> Counter[str]:
    """How many nodes stand in each group, at any depth."""
    sizes: Counter[str] = Counter()
    for path, count in Counter(groups.values()).items():
        while path:
            sizes[path] += count
            path = path.rpartition("/")[0]
    return sizes


def readable_depth(groups: Mapping[NodeId, str], nodes: int) -> tuple[int, int]:
    """The depth (from 1) at which to close groups, and how many nodes are then in sight."""
    depths = _in_sight(groups, nodes)
    best = 1
    if not depths:
        return best, nodes
    while best + 1 in depths and depths[best + 1] <= READABLE:
        best += 1
    if depths[best] < FEW and best + 1 in depths and depths[best + 1] <= _BEARABLE:
        best += 1
    return best, depths.get(best, nodes)


def _in_sight(groups: Mapping[NodeId, str], nodes: int) -> dict[int, int]:
    """Depth → nodes in sight with every group of that depth closed and those above it open."""
    own = Counter(groups.values())
    closed = Counter(path.count("/") + 1 for path in group_sizes(groups))
    open_nodes = nodes - sum(own.values())
    at_depth: Counter[int] = Counter()
    for path, count in own.items():
        at_depth[path.count("/") + 1] += count
    depths: dict[int, int] = {}
    for depth in range(1, max(closed, default=0) + 1):
        depths[depth] = open_nodes + closed[depth]
        open_nodes += at_depth[depth]
    return depths
