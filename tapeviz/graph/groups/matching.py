"""Find what stands for the nodes in the turns of a repeat that are not shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ...trace.ops import Op
from ..op_graph import OpGraph

Numbers = NDArray[np.int64]


class Matching:
    """The counterparts of nodes in other turns. Groups are known by numbers, each before those in
    it.

    ``home``: for each node its innermost group, -1 for none; ``parents``: for each group the one
    around it; ``turn_of``: for each node the turn, not shown, that it is in, -1 for others;
    ``shown``: for each repeat the turn shown.
    """

    def __init__(
        self,
        graph: OpGraph,
        home: Numbers,
        parents: Numbers,
        turn_of: Numbers,
        shown: Mapping[int, int],
    ) -> None:
        self._graph = graph
        self._shown = shown
        self._away = np.flatnonzero(turn_of >= 0)
        """The nodes in turns that are not shown."""
        self._turns = turn_of[self._away]
        self._parents = parents
        self._repeat_of = np.full(len(graph), -1)
        self._repeat_of[self._away] = parents[self._turns]
        self._match = np.full(len(graph), -1)
        self._by_home = np.argsort(home, kind="stable")
        self._homes = home[self._by_home]
        self._ends = _ends_of(parents)

    def counterparts(self) -> Numbers:
        """For each node in a turn that is not shown the node at its place in the turn shown, which
        may be in another such turn, of a repeat inside; -1 if there is none, and for others.

        A node without one takes the counterpart of a node that it is made from, else of one that
        takes it.
        """
        turns = Blocks(self._turns)
        repeats = Blocks(self._parents[turns.keys])
        for repeat, which in zip(repeats.keys.tolist(), repeats.all(), strict=True):
            self._match_repeat(repeat, turns, which)
        return self._match

    def _match_repeat(self, repeat: int, turns: Blocks, which: Numbers) -> None:
        """Match the nodes in some turns of a repeat; ``which``: these among all the ``turns``."""
        kinds = self._graph.kinds
        standing = self._nodes_in(self._shown[repeat])
        is_long = turns.sizes[which] == len(standing)
        rows = turns.starts[which[is_long], None] + np.arange(len(standing))
        nodes = self._away[turns.order[rows]]
        alike = (kinds[nodes] == kinds[standing]).all(axis=1)
        self._match[nodes[alike]] = standing  # nearly all turns of most loops
        others = [*which[~is_long], *which[is_long][~alike]]
        found = [self._away[turns.block(number)].tolist() for number in others]
        self._match_others(repeat, sorted(found), standing.tolist())

    def _nodes_in(self, group: int) -> Numbers:
        """The nodes in a group and in those inside of it, in order."""
        start, end = np.searchsorted(self._homes, (group, self._ends[group]))
        return np.sort(self._by_home[start:end])

    def _match_others(self, repeat: int, turns: list[list[int]], standing: list[int]) -> None:
        """Match the nodes in turns that are not like the one shown."""
        keys: dict[int, Hashable] = {}
        for places in turns:
            keys |= self._keys(places)
        counterpart = self._with_keys(standing, set(keys.values()))
        match, repeat_of, graph = self._match, self._repeat_of, self._graph

        def is_matched(place: int) -> bool:
            return bool(match[place] >= 0 and repeat_of[place] == repeat)

        for places in turns:
            for place in places:
                match[place] = counterpart.get(keys[place], -1)
            for place in places:
                if match[place] < 0 and (near := [*filter(is_matched, graph.predecessors(place))]):
                    match[place] = match[max(near)]
            for place in reversed(places):
                if match[place] < 0 and (near := [*filter(is_matched, graph.successors(place))]):
                    match[place] = match[min(near)]

    def _with_keys(self, places: list[int], wanted: set[Hashable]) -> dict[Hashable, int]:
        """The nodes of a turn by their keys, with at least the ``wanted`` ones that are there."""
        if not wanted:
            return {}
        found = {key: place for place, key in self._keys(places, 2 * len(wanted)).items()}
        if wanted <= found.keys():  # a long turn beside short ones: its beginning has them
            return found
        return {key: place for place, key in self._keys(places).items()}

    def _keys(self, turn: list[int], most: int | None = None) -> dict[int, Hashable]:
        """The key of each node within its turn: type, source position and a running number; for a
        value the key of the first node that takes it. ``most``: only of so many first nodes, and
        not of values that later ones take."""
        graph = self._graph
        seen: Counter[Hashable] = Counter()
        keys: dict[int, Hashable] = {}
        inside, places = set(turn), turn[:most]
        within = set(places)
        for place in places:
            if isinstance(graph.parts[place], Op):
                key: Hashable = graph.kind(place)
                seen[key] += 1
                keys[place] = (key, seen[key])
        for place in places:
            if place not in keys:
                around = (*graph.successors(place), *graph.predecessors(place))
                near = [other for other in around if other in inside]
                if near and near[0] not in within:
                    continue
                key = (graph.role(place), keys.get(near[0]) if near else None)
                seen[key] += 1
                keys[place] = (key, seen[key])
        return keys


def _ends_of(parents: Numbers) -> list[int]:
    """For each group the number after its own and those of the groups in it."""
    ends = list(range(1, len(parents) + 1))
    for number, parent in reversed(list(enumerate(parents.tolist()))):
        if parent >= 0:
            ends[parent] = max(ends[parent], ends[number])
    return ends


class Blocks:
    """The indices of equal numbers in an array, in ascending order; negative numbers are left out.

    ``keys``: the numbers, each once, in ascending order; ``order``: the indices, sorted by their
    numbers; ``starts``, ``sizes``: where in that those of each number stand.
    """

    def __init__(self, numbers: Numbers) -> None:
        order = np.argsort(numbers, kind="stable")
        ordered = numbers[order]
        left_out = int(np.searchsorted(ordered, 0))
        self.order: Numbers = order[left_out:]
        self.keys, self.starts, self.sizes = np.unique(
            ordered[left_out:], return_index=True, return_counts=True
        )

    def block(self, at: int) -> Numbers:
        """The indices of the number at this place in ``keys``."""
        return self.order[self.starts[at] : self.starts[at] + self.sizes[at]]

    def all(self) -> Sequence[Numbers]:
        """The indices of each of the ``keys``."""
        return np.split(self.order, self.starts[1:])
