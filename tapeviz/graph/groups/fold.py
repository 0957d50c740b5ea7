"""Fold an op graph: draw each closed group as one node.

A closed group is one node. An open repeat shows one turn, whose nodes stand for those at the same
place of the other turns: values carried from turn to turn run back to the beginning, values that
all turns share come in once.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Literal

import networkx as nx
import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from ...trace.compiled.model import Loop
from ...trace.ids import OpId
from ...trace.ops import Op
from ...wording import counted
from ..model import Edge, EdgeState, Frame, Link, Node, NodeId
from ..op_graph import Edges, OpGraph
from .matching import Blocks, Matching
from .opening import OpenGroups, usual_shape
from .tree import Group, Tree, shared_path, upwards

GROUP_PREFIX = "group:"
MOST_PARALLEL = 8
"""Edges between two single nodes that are drawn one by one. More tell nothing apart, as the 1,500
from `tf.unstack` to `tf.stack`; to lay them out takes time and memory that grow with the square."""
_OF_TURNS = frozenset({"op", "group", "constant"})
_NUMBER, _LINE = re.compile(r" #\d+$"), re.compile(r", line \d+$")
HiddenBy = Literal["closed", "turn", ""]


def fold(
    graph: OpGraph,
    tree: Tree,
    opening: OpenGroups,
    framed: Collection[str] = (),
    written: Collection[str] = (),
) -> nx.MultiDiGraph:
    """The graph that is drawn: each closed group is one node, and :attr:`Node.group` is set.

    ``framed``: paths of open groups that get a frame; open repeats always have one. ``written``:
    paths of open groups without a frame whose title the closed groups in them show. The graph
    attribute ``frames`` has the frames, outer ones first; the node attribute ``frame`` is the path
    of the innermost frame around a node. Takes time linear in nodes and edges.
    """
    return _Folding(graph, tree, opening, framed, written).fold()


def group_id(path: str) -> NodeId:
    return GROUP_PREFIX + path


def path_of(node: Node) -> str:
    """The path of the group that a node stands for, else of the group that it is in."""
    return node.id.removeprefix(GROUP_PREFIX) if node.role == "group" else node.group


class _Folding:
    """Groups have numbers here: -1 for none, else their place in the tree. What is drawn for a node
    has a number, too: the place of a node, or ``len(graph)`` and that of a closed group; -1 if
    nothing is drawn."""

    def __init__(
        self,
        graph: OpGraph,
        tree: Tree,
        opening: OpenGroups,
        framed: Collection[str],
        written: Collection[str],
    ) -> None:
        self._graph = graph
        self._tree = tree
        self._opening = opening
        self._written = written
        self._framed = {
            path
            for path, group in tree.groups.items()
            if path not in opening.closed and (group.count or path in framed)
        }
        self._frame_of = {"": "", **{path: path for path in self._framed}}
        self._paths = list(tree.groups)
        self._numbers = {path: number for number, path in enumerate(self._paths)} | {"": -1}
        self._home_paths = tree.home or [""] * len(graph)
        self._home = np.array([self._numbers[path] for path in self._home_paths], np.int64)
        parents = [self._numbers[group.parent] for group in tree.groups.values()]
        self._parents = np.array([*parents, -1], np.int64)
        """For each group, and at last for none, the one around it."""
        self._hidden = self._hidden_groups()
        self._closed_around = self._of_groups("closed")
        self._turn_around = self._of_groups("turn")

    def fold(self) -> nx.MultiDiGraph:
        graph, tree = self._graph, self._tree
        result = nx.MultiDiGraph()
        direct = self._standing()
        drawn = self._drawn(direct)
        merged = graph.merged
        for number, members in _by_first(drawn):
            own_names = [graph.names[place] for place in members.tolist()]
            names = tuple([name for own in own_names for name in (own, *merged.get(own, ()))])
            if number >= len(graph):
                path = self._paths[number - len(graph)]
                own = members[direct[members] == number].tolist() or members.tolist()
                within = self._written_around(path)
                node = replace(_group_node(graph, tree.groups[path], own, within), members=names)
                if count := tree.groups[path].count:
                    node = replace(node, subtitle=f"× {counted(count, 'turn')}", turns=count)
                home = tree.groups[path].parent
                node = self._in_turn(node, home)
            else:
                node = graph.node(number)
                home = self._stands_in(number)
                node = self._in_turn(node, home)
                others = tuple(name for name in names if name != node.id)
                around = tree.groups[home].parent if self._is_turn(home) else home
                node = replace(node, group=around, members=others) if home or others else node
            if home and tree.groups[home].kind == "repeat":  # it comes into the turns from outside
                home = tree.groups[home].parent
            result.add_node(node.id, node=node, frame=self._frame_around(home))
        self._carry_edges(result, drawn)
        result.graph["frames"] = tuple(self._frames(result))
        return result

    def _hidden_groups(self) -> dict[str, tuple[HiddenBy, str]]:
        """For each group why its nodes are not drawn: ("closed", path of the outermost closed group
        around it), ("turn", path of the turn that is not the one shown), or ("", "")."""
        turns, closed = self._opening.turns, self._opening.closed
        hidden: dict[str, tuple[HiddenBy, str]] = {"": ("", "")}
        for path, group in self._tree.groups.items():
            known = hidden[group.parent]
            if not known[0]:
                if group.kind == "turn" and turns.get(group.parent, path) != path:
                    known = ("turn", path)
                elif path in closed:
                    known = ("closed", path)
            hidden[path] = known
        return hidden

    def _standing(self) -> NDArray[np.int64]:
        """For each node the number of itself, or of the closed group that it is in; -1 if it is in
        a turn that is not shown."""
        size = len(self._graph)
        closed = self._closed_around[self._home]
        standing = np.where(closed >= 0, size + closed, np.arange(size))
        standing[self._turn_around[self._home] >= 0] = -1
        for place in self._tree.ends:
            why, path = self._hidden[self._home_paths[place]]
            if why == "closed" and self._tree.is_beside(place, path):
                standing[place] = place
        return standing

    def _of_groups(self, hidden_by: HiddenBy) -> NDArray[np.int64]:
        """For each group, and at last for none, the group by which it is hidden in this way."""
        found = map(self._hidden.__getitem__, (*self._paths, ""))
        return np.array(
            [self._numbers[path] if why == hidden_by else -1 for why, path in found], np.int64
        )

    def _drawn(self, direct: NDArray[np.int64]) -> NDArray[np.int64]:
        """For each node the number of what is drawn for it. ``direct``: see :meth:`_standing`."""
        is_away = direct < 0
        if not is_away.any():
            return direct
        turns = {
            self._numbers[repeat]: self._numbers[turn]
            for repeat, turn in self._opening.turns.items()
        }
        turn_of = self._turn_around[self._home]
        matching = Matching(self._graph, self._home, self._parents[:-1], turn_of, turns)
        match = matching.counterparts()
        at = match.copy()
        while (further := (at >= 0) & is_away[at]).any():
            at[further] = match[at[further]]
        return np.where(is_away, np.where(at >= 0, direct[at], -1), direct)

    def _is_turn(self, path: str) -> bool:
        """Whether the group is a turn, which folds only with its repeat."""
        return bool(path) and self._tree.groups[path].kind == "turn"

    def _stands_in(self, place: int) -> str:
        """The path of the innermost open group around a node that is drawn by itself."""
        home = self._home_paths[place]
        why, path = self._hidden[home]
        return self._tree.groups[path].parent if why == "closed" else home

    def _in_turn(self, node: Node, home: str) -> Node:
        """The node, with its value in the turns shown of the compiled loops around it."""
        if not self._opening.numbers or node.tensor is None or node.role not in _OF_TURNS:
            return node
        loops = [path for path in upwards(home) if path in self._opening.numbers]
        if not loops:
            return node
        loop, key, is_last = self._turn_of(loops)
        known = loop.turns.get(key, {})
        if node.tensor in known:
            return node if is_last else replace(node, tensor=known[node.tensor])
        if is_last or node.role == "constant":  # it may be of no turn: a constant of the program
            is_of_others = any(node.tensor in turn for turn in loop.turns.values())
            return replace(node, tensor=None) if is_of_others else node
        return replace(node, tensor=None)

    def _turn_of(self, loops: Sequence[str]) -> tuple[Loop, tuple[int, ...], bool]:
        """The innermost of some compiled loops, the key in :attr:`Loop.turns` of the turn shown,
        and whether that is the last, whose tensors the nodes already have, but for those in a
        branch that it did not take."""
        groups, numbers = self._tree.groups, self._opening.numbers
        loop = groups[loops[0]].loop
        assert loop is not None
        is_last = all(numbers[path] == groups[path].count for path in loops)
        return loop, tuple(numbers[path] - 1 for path in reversed(loops)), is_last

    def _frame_around(self, path: str) -> str:
        """The path of the innermost group with a frame at or around this one; empty if none."""
        unknown: list[str] = []
        while path not in self._frame_of:
            unknown.append(path)
            path = self._tree.groups[path].parent
        found = self._frame_of[path]
        self._frame_of.update(dict.fromkeys(unknown, found))
        return found

    def _written_around(self, path: str) -> str:
        """The title of the innermost group around this one that is ``written``, inside of a frame;
        empty if there is none."""
        for outer in islice(upwards(path), 1, None):
            if outer in self._written or outer in self._framed:
                title = self._tree.groups[outer].title if outer in self._written else ""
                return _LINE.sub("", title)
        return ""

    def _frames(self, result: nx.MultiDiGraph) -> list[Frame]:
        frames = {path for _, path in result.nodes(data="frame")}
        used = {above for path in frames for above in upwards(path)}
        found = []
        for path, group in self._tree.groups.items():
            if path not in self._framed or path not in used:
                continue
            parent = self._frame_around(group.parent)
            frame = Frame(path, group.title, group.line, parent, entry=group.entry)
            if group.turns:
                turn = group.turns.index(self._opening.turns[path]) + 1
                usual = usual_shape(self._tree, group)
                others = tuple(
                    number
                    for number, turn in enumerate(group.turns, 1)
                    if self._tree.groups[turn].shape != usual
                )
                frame = replace(frame, turn=turn, count=group.count, others=others)
            elif group.count:
                around = [p for p in upwards(path) if p in self._opening.numbers]
                loop, key, is_last = self._turn_of(around)
                turn, lacks = self._opening.numbers[path], not is_last and key not in loop.turns
                frame = replace(frame, turn=turn, count=group.count, loop=loop.op, lacks=lacks)
            found.append(frame)
        return found

    # Edges.

    def _carry_edges(self, result: nx.MultiDiGraph, drawn: NDArray[np.int64]) -> None:
        """Add the edges between the nodes drawn. Those that have the same ends are merged, unless
        both are single nodes with few edges between them."""
        graph, size = self._graph, len(self._graph)
        rows = _by_source(graph.edges, size)
        sources = np.array(graph.edges.sources, np.int64)[rows]
        targets = np.array(graph.edges.targets, np.int64)[rows]
        starts, ends = drawn[sources], drawn[targets]
        carried = self._are_carried(self._home[sources], self._home[targets], starts == ends)
        native = (starts == sources) & (ends == targets) & (starts != ends)
        native &= _in_a_row(sources * size + targets) <= MOST_PARALLEL
        kept = (starts >= 0) & (ends >= 0) & ~native
        kept &= (starts != ends) | carried
        for row in rows[native].tolist():
            edge = graph.edge(row)
            number = result.number_of_edges(edge.source, edge.target)
            made = structs.replace(edge, key=number) if number else edge
            result.add_edge(edge.source, edge.target, number, edge=made)
        own = set(zip(starts[native].tolist(), ends[native].tolist(), strict=True))
        # Of edges from turn to turn the one into the turn shown comes first.
        is_first = (ends == targets) & carried
        chosen = np.flatnonzero(kept)
        ends_of = (starts * (size + len(self._paths)) + ends) * 2 + carried
        for _, some in _by_first(ends_of[chosen]):
            places = chosen[some]
            pair, is_carried = (int(starts[places[0]]), int(ends[places[0]])), carried[places[0]]
            if pair in own and not is_carried:
                continue
            start, end = map(self._name, pair)
            leading = is_first[places]
            order = np.concatenate((places[leading][::-1], places[~leading]))
            entry = result.nodes[end]["node"].op if end.startswith(GROUP_PREFIX) else None
            number = result.number_of_edges(start, end)
            edge = _merged(graph.edges, (start, end), rows[order].tolist(), entry)
            made = structs.replace(edge, key=number, is_carried=bool(is_carried))
            result.add_edge(start, end, number, edge=made)
        self._carry_back(result, drawn)

    def _name(self, number: int) -> NodeId:
        """The id of the node with this number that is drawn."""
        size = len(self._graph)
        return self._graph.names[number] if number < size else group_id(self._paths[number - size])

    def _carry_back(self, result: nx.MultiDiGraph, drawn: NDArray[np.int64]) -> None:
        """Add the edges of values that a turn of an open compiled loop hands to the next."""
        for path in self._opening.numbers:
            loop = self._tree.groups[path].loop
            for edge in self._graph.carried.get(loop.op, ()) if loop is not None else ():
                ends = map(self._graph.places.__getitem__, (edge.source, edge.target))
                is_drawn = all(drawn[place] == place for place in ends)
                if is_drawn and path not in self._opening.closed:
                    number = result.number_of_edges(edge.source, edge.target)
                    result.add_edge(
                        edge.source, edge.target, number, edge=structs.replace(edge, key=number)
                    )

    def _are_carried(
        self,
        homes: NDArray[np.int64],
        others: NDArray[np.int64],
        are_one: NDArray[np.bool_],
    ) -> NDArray[np.bool_]:
        """Whether edges lead from one turn of an open repeat into a later one; ``homes``,
        ``others``: the groups of their ends; ``are_one``: whether both ends are drawn as one node.

        A repeat in a turn that is not shown has its counterpart in the one that is, which may be
        closed: then all of it is one node, without an edge to itself.
        """
        turns, closed = self._opening.turns, self._opening.closed
        kinds = [group.kind for group in self._tree.groups.values()]
        is_values = np.array([kind == "values" for kind in (*kinds, "")])
        while is_values[homes].any():  # groups of values hold groups of values
            homes = np.where(is_values[homes], self._parents[homes], homes)
        is_open = np.array([path in turns and path not in closed for path in (*self._paths, "")])
        is_repeat = np.array([kind == "repeat" for kind in (*kinds, "")])
        is_hidden = is_repeat & (self._turn_around >= 0)
        shared = self._parents[homes]
        apart = (homes >= 0) & (others >= 0) & (homes != others)
        # Of most edges both ends are in turns side by side.
        deep = np.flatnonzero(apart & (shared != self._parents[others]))
        known: dict[tuple[int, int], int] = {}
        for at, home, other in zip(deep, homes[deep].tolist(), others[deep].tolist(), strict=True):
            if (home, other) not in known:
                both = {self._paths[home], self._paths[other]}
                known[home, other] = self._numbers[shared_path(both)]
            shared[at] = known[home, other]
        is_between = is_open[shared] | (is_hidden[shared] & ~are_one)
        found: NDArray[np.bool_] = apart & is_between & (homes != shared)
        return found


def _by_source(edges: Edges, count: int) -> NDArray[np.int64]:
    """The rows of all edges, sorted by source; parallel edges come one after the other."""
    sources, targets = np.array(edges.sources, np.int64), np.array(edges.targets, np.int64)
    _, firsts, pairs = np.unique(sources * count + targets, return_index=True, return_inverse=True)
    return np.lexsort((firsts[pairs], sources))


def _in_a_row(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each number the length of the run of equal numbers that it stands in."""
    is_last = np.append(numbers[1:] != numbers[:-1], True)[: len(numbers)]
    lengths = np.diff(np.flatnonzero(is_last) + 1, prepend=0)
    return np.repeat(lengths, lengths)


def _by_first(keys: NDArray[np.int64]) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Each number that is not negative with its indices, in the order in which they come first."""
    blocks = Blocks(keys)
    for at in np.argsort(blocks.order[blocks.starts]).tolist():
        yield int(blocks.keys[at]), blocks.block(at)


def _merged(
    edges: Edges, ends: tuple[NodeId, NodeId], rows: Sequence[int], entry: OpId | None
) -> Edge:
    """One edge for several; the link into a recorded operation itself comes first."""
    links: list[Link] = list(dict.fromkeys(edges.links(rows)))
    if entry is not None:
        links.sort(key=lambda link: link[1] != entry)
    is_recorded = any(edges.states[row] == "recorded" for row in rows)
    (tensor, consumer), *others = links
    state: EdgeState = "recorded" if is_recorded else "unrecorded"
    return Edge(*ends, 0, tensor, consumer, state, tuple(others))


def _group_node(graph: OpGraph, group: Group, members: Sequence[int], within: str) -> Node:
    """The node of a closed group. ``within``: the title of the open one around it that it shows."""
    maker, edges, path, entry = graph.maker, graph.edges, group.path, group.entry
    parts = [graph.parts[place] for place in members]
    ops = [part for part in parts if isinstance(part, Op) or maker.is_outside(part)]
    inside = set(members)
    outward = (row for place in members for row in graph.out[place])
    given = {edges.tensors[row] for row in outward if edges.targets[row] not in inside}
    ends = [place for place in members if inside.isdisjoint(graph.successors(place))]
    tensor = given.pop() if len(given) == 1 else None
    if tensor is None and len(ends) == 1:
        tensor = graph.node(ends[0]).tensor
    lines = tuple(sorted({line for some in set(map(maker.lines_of, parts)) for line in some}))
    first = next((line for line in map(maker.line_of, ops or parts) if line), 0)
    if entry in graph.entries:
        node = maker.of_entry(graph.entries[entry])
        return replace(
            node,
            id=group_id(path),
            # The first output of a loop is its counter.
            tensor=tensor if group.loop is not None else node.tensor,
            lines=tuple(dict.fromkeys((*node.lines, *lines))),
            is_recorded=node.is_recorded or any(map(maker.is_recorded, ops)),
            group=path.rpartition("/")[0],
            opens=path,
        )
    count = len(ops) or len(members)
    noun = "op" if ops else graph.role(members[0])
    title = _NUMBER.sub("", path.rpartition("/")[2])
    is_named = group.kind == "line" and not title.startswith(("line ", "lines "))
    subtitle = counted(count, noun)
    place = f"line {group.line}" if is_named else ""
    if is_named and group.last > group.line:
        place = f"lines {group.line}–{group.last}"
    place = f"in {within}" if within else place
    return Node(
        id=group_id(path),
        role="group",
        title=title,
        subtitle=f"{place} · {subtitle}" if place else subtitle,
        type="group",
        line=first,
        tensor=tensor,
        is_recorded=any(map(maker.is_recorded, ops)) or not ops,
        assigns=any(map(maker.assigns, ops)),
        is_backward=bool(ops) and all(map(maker.is_backward, ops)),
        name=group.layer or title,
        lines=lines,
        group=path.rpartition("/")[0],
        opens=path,
    )
