"""A tree of groups and what the user folded in, which groups stand open at first sight out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from .model import NodeId
from .tree import Group, Tree, upwards

MOST_BOXES = 40
"""As many boxes as a first view may have."""


@dataclass(frozen=True, slots=True)
class Opening:
    """``closed``: paths of folded groups; ``turns``: of each repeat the path of the turn shown."""

    closed: frozenset[str]
    turns: Mapping[str, str]


def choose_open(
    nodes: Collection[NodeId],
    tree: Tree,
    pinned: Collection[NodeId] = (),
    *,
    folded: Collection[str] = (),
    unfolded: Collection[str] = (),
    turns: Mapping[str, int] | None = None,
    most: int = MOST_BOXES,
) -> Opening:
    """What to open: the group with the most ops first, as long as the boxes stay within ``most``.

    Groups of one shape open together or not at all. What the user folded or unfolded is strong.
    The ``pinned`` nodes are never inside of a fold. A recorded operation stays closed: the gradient
    goes around its inside.
    """
    return _Chooser(nodes, tree, pinned, folded, unfolded, turns or {}).choose(most)


class _Chooser:
    def __init__(
        self,
        nodes: Collection[NodeId],
        tree: Tree,
        pinned: Collection[NodeId],
        folded: Collection[str],
        unfolded: Collection[str],
        turns: Mapping[str, int],
    ) -> None:
        self._tree = tree
        self._folded = frozenset(folded)
        wanted = {above for path in unfolded if path in tree.groups for above in upwards(path)}
        held = {above for node in pinned for above in upwards(tree.home.get(node, ""))}
        self._forced = wanted | {path for path in held if tree.groups[path].kind != "entry"}
        self._leaves = Counter(tree.home.get(node, "") for node in nodes)
        self._inside: dict[str, list[Group]] = {}
        for group in tree.groups.values():
            self._inside.setdefault(group.parent, []).append(group)
        self._turns = {
            group.path: self._turn(group, turns, wanted, held)
            for group in tree.groups.values()
            if group.turns
        }

    def _turn(
        self, repeat: Group, chosen: Mapping[str, int], wanted: set[str], held: set[str]
    ) -> str:
        """The turn shown: the user's, else one with something pinned, else the last of the
        commonest shape."""
        number = chosen.get(repeat.path)
        if number is not None:
            return repeat.turns[min(max(number, 1), len(repeat.turns)) - 1]
        for paths in (wanted, held):
            if kept := [turn for turn in repeat.turns if turn in paths]:
                return kept[-1]
        usual = usual_shape(self._tree, repeat)
        return [turn for turn in repeat.turns if self._tree.groups[turn].shape == usual][-1]

    def choose(self, most: int) -> Opening:
        """Opens groups level by level; whatever is not opened is closed."""
        opened: set[str] = set()
        waiting: list[Group] = []
        boxes = self._open("", opened, waiting)
        while waiting:
            forced = [group for group in waiting if group.path in self._forced]
            unit = forced or self._next(waiting)
            if not unit:
                break
            cost = sum(self._size(group.path) - 1 for group in unit)
            if not forced and boxes + cost > most:
                break
            for group in unit:
                waiting.remove(group)
                boxes += self._open(group.path, opened, waiting) - 1
        return Opening(frozenset(self._tree.groups) - opened, self._turns)

    def _next(self, waiting: list[Group]) -> list[Group]:
        """Of the groups that may be opened those of one shape that have the most ops."""
        units: dict[int, list[Group]] = {}
        for group in waiting:
            if group.kind != "entry" and group.path not in self._folded:
                units.setdefault(group.shape, []).append(group)
        return max(units.values(), key=lambda unit: sum(one.ops for one in unit), default=[])

    def _parts(self, path: str) -> tuple[int, list[Group]]:
        """The nodes and the groups that stand in an open group; of a repeat in its turn."""
        leaves, groups = self._leaves[path], self._inside.get(path, [])
        if path in self._turns:
            more, inner = self._parts(self._turns[path])
            others = [group for group in groups if group.kind != "turn"]
            return leaves + more, others + inner
        return leaves, groups

    def _size(self, path: str) -> int:
        leaves, groups = self._parts(path)
        return leaves + len(groups)

    def _open(self, path: str, opened: set[str], waiting: list[Group]) -> int:
        opened.add(path)
        if path in self._turns:
            opened.add(self._turns[path])
        waiting.extend(self._parts(path)[1])
        return self._size(path)


def usual_shape(tree: Tree, repeat: Group) -> int:
    """The shape that most turns of a repeat have; of equals the one that came last."""
    shapes = [tree.groups[turn].shape for turn in repeat.turns]
    counts = Counter(shapes)
    most = max(counts.values())
    return next(shape for shape in reversed(shapes) if counts[shape] == most)
