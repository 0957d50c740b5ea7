"""Choose the groups that are drawn open, from their tree and the user's folds."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import networkx as nx

from ..model import NodeId
from .gathering import LEAST_OPS
from .tree import Group, Tree, upwards

MOST_BOXES = 40
"""Boxes of a first view, at most."""
_MOST_WITH_OPS = 12
"""Boxes of a first view in which the calls of a library are drawn by their ops: else their names
say more."""
_NUMBER = re.compile(r"\d+")
_TURN = re.compile(r"(?<![^/])turn \d+(?![^/])")


@dataclass(frozen=True, slots=True)
class OpenGroups:
    """The groups of a tree that are open, and the turns that they show. ``closed``: paths of closed
    groups; ``turns``: path of a repeat → path of the turn shown; ``numbers``: path of a compiled
    loop → number, from 1, of the turn whose values are shown; ``boxes``: how many boxes the rule
    counted, before the user's choices; ``ruled``: see :func:`choose_open`."""

    closed: frozenset[str]
    turns: Mapping[str, str]
    numbers: Mapping[str, int] = field(default_factory=dict)
    boxes: int = 0
    ruled: Mapping[str, bool] = field(default_factory=dict)

    @property
    def open_loops(self) -> int:
        """The number of repeats and compiled loops that are open."""
        return len((self.turns.keys() | self.numbers.keys()) - self.closed)

    @property
    def has_closed_loops(self) -> bool:
        return self.open_loops < len(self.turns.keys() | self.numbers.keys())


def choose_open(
    nodes: Collection[NodeId],
    tree: Tree,
    pinned: Collection[int] = (),
    *,
    folded: Collection[str] = (),
    unfolded: Collection[str] = (),
    turns: Mapping[str, int] | None = None,
    most: int = MOST_BOXES,
    ruled: Mapping[str, bool] | None = None,
) -> OpenGroups:
    """Open groups, those with the most ops first, as long as there are at most ``most`` boxes.

    Groups of one shape are opened together, calls of one layer, lines that call the same, and
    groups of one series, such as the blocks ``conv2`` to ``conv5`` of a model: a reader takes those
    that differ for something else. Groups that the
    user ``folded`` or ``unfolded`` stay so. ``pinned``: places of nodes that are never hidden. A
    recorded operation (custom_gradient) stays closed (:attr:`Group.is_passed`), and so does the
    call of a compiled function of which the inside is not known.
    ``ruled``: for groups of another round, by path without the number of a turn, whether the rule
    opened them there: it does the same here, and decides about other groups only.
    """
    return _Chooser(nodes, tree, pinned, folded, unfolded, turns or {}, ruled or {}).choose(most)


class _Chooser:
    def __init__(
        self,
        nodes: Collection[NodeId],
        tree: Tree,
        pinned: Collection[int],
        folded: Collection[str],
        unfolded: Collection[str],
        turns: Mapping[str, int],
        ruled: Mapping[str, bool],
    ) -> None:
        self._tree = tree
        self._ruled = ruled
        self._folded = frozenset(folded)
        self._wanted = {
            above for path in unfolded if path in tree.groups for above in upwards(path)
        }
        around = [(place, path) for place in pinned for path in upwards(tree.home[place])]
        kept = {path for _, path in around}
        held = {path for place, path in around if not tree.may_hide(place, path)}
        self._held = {path for path in held if tree.groups[path].kind != "entry"}
        self._leaves = Counter(tree.home)
        self._leaves[""] += len(nodes) - len(tree.home)
        for place, path in tree.ends.items():
            self._leaves[tree.home[place]] -= 1
            self._leaves[tree.groups[path].parent] += 1
        self._inside: dict[str, list[Group]] = {}
        for group in tree.groups.values():
            self._inside.setdefault(group.parent, []).append(group)
        repeats = [group for group in tree.groups.values() if group.turns]
        self._turns = {group.path: self._turn(group, {}, kept) for group in repeats}
        self._chosen = {group.path: self._turn(group, turns, self._wanted) for group in repeats}
        self._numbers = {
            group.path: min(max(turns.get(group.path, group.count), 1), group.count)
            for group in tree.groups.values()
            if group.loop is not None and group.count
        }
        for path, turn in self._turns.items():
            if path not in turns and not self._wanted.intersection(tree.groups[path].turns):
                self._chosen[path] = turn

    def _turn(self, repeat: Group, chosen: Mapping[str, int], kept: Collection[str]) -> str:
        """The turn to show: the one ``chosen``, else the last one in ``kept``, else the last one of
        the commonest shape."""
        number = chosen.get(repeat.path)
        if number is not None:
            return repeat.turns[min(max(number, 1), len(repeat.turns)) - 1]
        if found := [turn for turn in repeat.turns if turn in kept]:
            return found[-1]
        usual = usual_shape(self._tree, repeat)
        return [turn for turn in repeat.turns if self._tree.groups[turn].shape == usual][-1]

    def choose(self, most: int) -> OpenGroups:
        """Choose the open groups; the user's choices do not change those of other groups."""
        ruled, boxes = self._automatic(most)
        automatic = {path for path, is_open in ruled.items() if is_open}
        shapes = {self._tree.groups[path].shape for path in automatic}
        others = {turn for path, turn in self._chosen.items() if turn != self._turns[path]}
        self._turns = self._chosen
        opened: set[str] = set()
        waiting = list(self._inside.get("", []))
        while waiting:
            group = waiting.pop()
            is_kept = group.path in self._wanted or group.path in self._held
            is_like = group.path in automatic
            if _opens(group) and not others.isdisjoint(upwards(group.path)):
                is_like = group.shape in shapes
            if group.path not in self._folded and (is_kept or is_like):
                opened.add(group.path)
                if group.turns:
                    opened.add(self._turns[group.path])
                waiting.extend(self._parts(group.path)[1])
        closed = frozenset(self._tree.groups) - opened
        is_open = {any_turn(path): is_open for path, is_open in ruled.items()}
        return OpenGroups(closed, self._turns, self._numbers, boxes, is_open)

    def _automatic(self, most: int) -> tuple[dict[str, bool], int]:
        """For each group that is in sight without the user's choices whether it is open, while
        there are at most ``most`` boxes, and the number of boxes."""
        opened, boxes, waiting = self._inside_of([""])
        found = dict.fromkeys(opened, True) | {group.path: False for group in waiting}
        too_large: set[int] = set()
        """Shapes of groups that are not opened."""
        as_before: list[Group] = []
        while True:
            if self._ruled:
                as_before = [group for group in waiting if self._ruled.get(any_turn(group.path))]
                waiting = [group for group in waiting if any_turn(group.path) not in self._ruled]
            unit = as_before or self._next(waiting)
            if not unit:
                break
            together = list(unit)
            if not as_before:
                wanted = frozenset(key for group in unit for key in self._calls_of(group))
                others = [group for group in waiting if group not in unit]
                together += self._hidden_alike(wanted, others)
            more, cost, inside = self._inside_of([group.path for group in together])
            cost -= len(together)
            limit = min(most, _MOST_WITH_OPS) if _are_of_library(unit) else most
            if boxes + cost > limit and not as_before:
                too_large.update(group.shape for group in unit)
            else:
                found |= {group.path: False for group in inside} | dict.fromkeys(more, True)
                boxes += cost
                waiting += inside
            waiting = [
                group
                for group in waiting
                # From then on only sections, which keep apart what belongs together.
                if not found[group.path] and (not too_large or group.last)
                if group.shape not in too_large
            ]
        return {path: is_open for path, is_open in found.items() if path}, boxes

    def _next(self, waiting: list[Group]) -> list[Group]:
        """The groups to open next: of those that are opened together the ones with the most ops.

        First those with ops that differ from another run. Calls of a library come after others, and
        last what prepares data, where no gradient can pass. A call with groups in it stays closed.
        """
        together: nx.Graph[Hashable] = nx.Graph()
        for group in waiting:
            if _opens(group) and not (group.is_library and self._inside.get(group.path)):
                is_recorded = group.path in self._tree.recorded
                series = (group.parent, _NUMBER.sub("#", group.title), is_recorded)
                is_small = group.ops <= LEAST_OPS and group.is_library
                alike = (is_recorded,) if is_small else series
                together.add_edges_from([(group.path, group.shape), (group.path, alike)])
                together.add_edges_from((group.path, key) for key in self._calls_of(group))
        units = [
            [group for group in waiting if group.path in unit]
            for unit in nx.connected_components(together)
        ]

        def weight(unit: list[Group]) -> tuple[bool, bool, bool, int]:
            differs = any(group.path in self._tree.differing for group in unit)
            is_recorded = any(group.path in self._tree.recorded for group in unit)
            ops = sum(group.ops for group in unit)
            return differs, is_recorded, not _are_of_library(unit), ops

        return max(units, key=weight, default=[])

    def _calls_of(self, group: Group) -> list[Hashable]:
        """A key that is the same for calls of a layer, and for lines that call the same in the same
        way; none for other groups. A section is titled by the names that its values have outside,
        which differ from call to call."""
        inside = self._inside.get(group.path, ())
        calls = tuple(each.ops if each.last else each.title for each in inside)
        if group.kind != "layer" and not calls:
            return []
        return [(group.kind, calls or group.title, group.ops, group.path in self._tree.recorded)]

    def _hidden_alike(
        self, wanted: frozenset[Hashable], waiting: Sequence[Group]
    ) -> Iterator[Group]:
        """The closed sections that hide groups with one of these keys, and those groups."""
        for section in waiting if wanted else ():
            if not section.last:
                continue
            inside = self._parts(section.path)[1]
            found = [each for each in inside if not wanted.isdisjoint(self._calls_of(each))]
            found += self._hidden_alike(wanted, inside)
            if found:
                yield section
                yield from found

    def _parts(self, path: str) -> tuple[int, list[Group]]:
        """The number of nodes and the groups directly in an open group; for a repeat, in the turn
        shown."""
        leaves, groups = self._leaves[path], self._inside.get(path, [])
        if path in self._turns:
            more, inner = self._parts(self._turns[path])
            others = [group for group in groups if group.kind != "turn"]
            return leaves + more, others + inner
        return leaves, groups

    def _inside_of(self, paths: Sequence[str]) -> tuple[set[str], int, list[Group]]:
        """Describe some groups as they are once they are open: the paths of these and of the groups
        in them that are never closed, the number of boxes, and the closed groups among those."""
        opened, boxes, closed = list(paths), 0, []
        for path in opened:
            leaves, groups = self._parts(path)
            boxes += leaves
            opened += [group.path for group in groups if group.path in self._held]
            closed += [group for group in groups if group.path not in self._held]
        turns = {self._turns[path] for path in opened if path in self._turns}
        return turns.union(opened), boxes + len(closed), closed


def _opens(group: Group) -> bool:
    """Whether a group may be opened without being asked for."""
    return group.kind != "entry" or group.is_passed


def _are_of_library(unit: Sequence[Group]) -> bool:
    return all(group.is_library for group in unit)


def any_turn(path: str) -> str:
    """The path without the numbers of turns."""
    return _TURN.sub("turn", path) if "turn " in path else path


def usual_shape(tree: Tree, repeat: Group) -> int:
    """The shape that most turns of a repeat have; of equally common ones the last."""
    shapes = [tree.groups[turn].shape for turn in repeat.turns]
    counts = Counter(shapes)
    most = max(counts.values())
    return next(shape for shape in reversed(shapes) if counts[shape] == most)
