"""Fold an op graph: draw each closed group as one node.

A closed group is one node. An open repeat shows one turn, whose nodes stand for those at the same
place of the other turns: values carried from turn to turn run back to the beginning, values that
all turns share come in once.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import networkx as nx
from msgspec import structs

from ...trace.compiled.model import Loop
from ...trace.model import Op, OpId
from ..model import Edge, EdgeState, Frame, Link, Node, NodeId
from ..op_graph import OpGraph
from .opening import OpenGroups, usual_shape
from .tree import Group, Tree, upwards

GROUP_PREFIX = "group:"
_NUMBER = re.compile(r" #\d+$")


def fold(
    graph: OpGraph, tree: Tree, opening: OpenGroups, framed: Collection[str] = ()
) -> nx.MultiDiGraph:
    """The graph that is drawn: each closed group is one node, and :attr:`Node.group` is set.

    ``framed``: paths of open groups that get a frame; open repeats always have one. The graph
    attribute ``frames`` has the frames, outer ones first; the node attribute ``frame`` is the path
    of the innermost frame around a node. Takes time linear in nodes and edges.
    """
    return _Folding(graph, tree, opening, framed).fold()


def group_id(path: str) -> NodeId:
    return GROUP_PREFIX + path


def path_of(node: Node) -> str:
    """The path of the group that a node stands for, else of the group that it is in."""
    return node.id.removeprefix(GROUP_PREFIX) if node.role == "group" else node.group


class _Folding:
    def __init__(
        self, graph: OpGraph, tree: Tree, opening: OpenGroups, framed: Collection[str]
    ) -> None:
        self._graph = graph
        self._tree = tree
        self._opening = opening
        self._framed = {
            path
            for path, group in tree.groups.items()
            if path not in opening.closed and (group.count or path in framed)
        }
        self._frame_of = {"": "", **{path: path for path in self._framed}}
        self._hidden: dict[str, tuple[str, str]] = {"": ("", "")}
        self._matches: dict[str, dict[NodeId, NodeId | None]] = {}
        self._shown: dict[NodeId, NodeId | None] = {}
        self._by_turn: dict[str, dict[str, list[NodeId]]] | None = None

    def fold(self) -> nx.MultiDiGraph:
        graph, tree = self._graph, self._tree
        result = nx.MultiDiGraph()
        members: dict[NodeId, list[NodeId]] = {}
        for name, shown in self._resolved():
            members.setdefault(shown, []).append(name)
        for shown, names in members.items():
            result.add_node(shown)
            if shown.startswith(GROUP_PREFIX):
                path = shown.removeprefix(GROUP_PREFIX)
                own = [n for n in names if self._is_inside(n, path)] or names
                node = replace(_group_node(graph, tree.groups[path], own), members=tuple(names))
                if count := tree.groups[path].count:
                    node = replace(node, subtitle=f"× {count} turns", turns=count)
                home = tree.groups[path].parent
            else:
                node = graph.node(shown)
                home = self._stands_in(shown)
                node = self._in_turn(node, home)
                others = tuple(n for n in names if n != shown)
                around = tree.groups[home].parent if self._is_turn(home) else home
                node = replace(node, group=around, members=others) if home or others else node
            frame = self._frame_around(home)
            result.add_node(shown, node=node, frame=frame)
        self._carry_edges(result)
        result.graph["frames"] = tuple(self._frames(result))
        return result

    def _is_turn(self, path: str) -> bool:
        """Whether the group is a turn, which folds only with its repeat."""
        return bool(path) and self._tree.groups[path].kind == "turn"

    def _stands_in(self, name: NodeId) -> str:
        """The path of the innermost open group around a node that is drawn by itself."""
        home = self._tree.home.get(name, "")
        kind, path = self._why_hidden(home)
        return self._tree.groups[path].parent if kind == "closed" else home

    def _in_turn(self, node: Node, home: str) -> Node:
        """The node, with its value in the turns shown of the compiled loops around it."""
        if not self._opening.numbers or node.tensor is None or node.role != "op":
            return node
        loops = [path for path in upwards(home) if path in self._opening.numbers]
        if not loops or node.op is None:
            return node
        loop, key = self._turn_of(loops)
        if key is None:
            return node
        return replace(node, tensor=loop.turns.get(key, {}).get(node.tensor))

    def _turn_of(self, loops: Sequence[str]) -> tuple[Loop, tuple[int, ...] | None]:
        """The innermost of some compiled loops, and the key in :attr:`Loop.turns` of the turn
        shown; None for the last turn, whose tensors the nodes already have."""
        groups, numbers = self._tree.groups, self._opening.numbers
        loop = groups[loops[0]].loop
        assert loop is not None
        if all(numbers[path] == groups[path].count for path in loops):
            return loop, None
        return loop, tuple(numbers[path] - 1 for path in reversed(loops))

    def _frame_around(self, path: str) -> str:
        """The path of the innermost group with a frame at or around this one; empty if none."""
        unknown: list[str] = []
        while path not in self._frame_of:
            unknown.append(path)
            path = self._tree.groups[path].parent
        found = self._frame_of[path]
        self._frame_of.update(dict.fromkeys(unknown, found))
        return found

    def _is_inside(self, name: NodeId, path: str) -> bool:
        return f"{self._tree.home.get(name, '')}/".startswith(f"{path}/")

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
                loop, key = self._turn_of([p for p in upwards(path) if p in self._opening.numbers])
                lacks = loop.op if key is not None and key not in loop.turns else None
                number = self._opening.numbers[path]
                frame = replace(frame, turn=number, count=group.count, lacks=lacks)
            found.append(frame)
        return found

    @cached_property
    def _places(self) -> Mapping[NodeId, int]:
        return {name: place for place, name in enumerate(self._graph)}

    # What stands for a node.

    def _resolved(self) -> Iterator[tuple[NodeId, NodeId]]:
        """Each node with the id of the node that is drawn for it, if there is one."""
        home_of, ends, shown = self._tree.home, self._tree.ends, self._shown
        known: dict[str, tuple[dict[NodeId, NodeId | None] | None, NodeId]] = {}
        """For each group the counterparts of its nodes, or the node that stands for them all."""
        for name in self._graph:
            home = home_of.get(name, "")
            if home not in known:
                kind, path = self._why_hidden(home)
                match = self._matched(path) if kind == "turn" else None
                known[home] = match, group_id(path) if kind == "closed" else ""
            match, group = known[home]
            found: NodeId | None
            if match is not None:  # nearly all nodes of a long loop
                other = match.get(name)
                found = None if other is None else shown.get(other) or self._resolve(other)
            elif group and name not in ends:
                found = group
            else:
                found = self._resolve(name)
            shown[name] = found
            if found is not None:
                yield name, found

    def _resolve(self, name: NodeId) -> NodeId | None:
        """The id of the node that is drawn for this one; None if there is none."""
        if name in self._shown:
            return self._shown[name]
        kind, path = self._why_hidden(self._tree.home.get(name, ""))
        if not kind:
            found: NodeId | None = name
        elif kind == "closed":
            found = name if self._tree.is_beside(name, path) else group_id(path)
        else:
            match = self._matched(path).get(name)
            found = self._resolve(match) if match is not None else None
        self._shown[name] = found
        return found

    def _why_hidden(self, home: str) -> tuple[str, str]:
        """("closed", path of the outermost closed group around a group), ("turn", path of a repeat
        that shows another turn), or ("", "") if the group is visible."""
        unknown: list[str] = []
        while home not in self._hidden:
            unknown.append(home)
            home = self._tree.groups[home].parent
        known = self._hidden[home]
        for home in reversed(unknown):
            group = self._tree.groups[home]
            if not known[0]:
                shown = self._opening.turns.get(group.parent)
                if shown is not None and group.kind == "turn" and shown != home:
                    known = ("turn", group.parent)
                elif home in self._opening.closed:
                    known = ("closed", home)
            self._hidden[home] = known
        return known

    def _matched(self, repeat: str) -> dict[NodeId, NodeId | None]:
        """For each node in a hidden turn its counterpart in the turn shown.

        A node without one takes the counterpart of a node that it is made from, else of one that
        takes it.
        """
        if repeat in self._matches:
            return self._matches[repeat]
        turns = self._nodes_of_turns(repeat)
        shown = self._opening.turns[repeat]
        standing = turns.get(shown, [])
        found: dict[NodeId, NodeId | None] = {}
        self._matches[repeat] = found
        others: list[list[NodeId]] = []
        keys: dict[NodeId, Hashable] = {}
        for turn, names in turns.items():
            if turn == shown:
                continue
            if self._are_alike(names, standing):
                found.update(zip(names, standing, strict=True))
            else:
                others.append(names)
                keys |= self._keys(names)
        counterpart = self._with_keys(standing, set(keys.values()))
        for names in others:
            for name in names:
                found[name] = counterpart.get(keys[name])
            for name in names:
                if found[name] is None:
                    near = [p for p in self._graph.predecessors(name) if found.get(p) is not None]
                    if near:
                        found[name] = found[max(near, key=self._places.__getitem__)]
            for name in reversed(names):
                if found[name] is None:
                    near = [p for p in self._graph.successors(name) if found.get(p) is not None]
                    if near:
                        found[name] = found[min(near, key=self._places.__getitem__)]
        return found

    def _nodes_of_turns(self, repeat: str) -> dict[str, list[NodeId]]:
        """The nodes in each turn of a repeat, in order."""
        if self._by_turn is None:
            self._by_turn = {path: {} for path in self._opening.turns}
            lists: dict[str, list[list[NodeId]]] = {}
            for name in self._graph:
                home = self._tree.home.get(name, "")
                if home not in lists:
                    lists[home] = self._lists_around(home)
                for names in lists[home]:
                    names.append(name)
        return self._by_turn[repeat]

    def _lists_around(self, home: str) -> list[list[NodeId]]:
        """The lists, one for each repeat around a group, of the nodes in a turn."""
        assert self._by_turn is not None
        found: list[list[NodeId]] = []
        turn = ""
        for path in upwards(home):
            if path in self._by_turn and turn:
                found.append(self._by_turn[path].setdefault(turn, []))
            turn = path
        return found

    def _are_alike(self, names: list[NodeId], others: list[NodeId]) -> bool:
        """Whether two turns have the same ops and values, in order: most have."""
        if len(names) != len(others):
            return False
        parts, role = self._graph.parts, self._graph.role
        for name, other in zip(names, others, strict=True):
            part, two = parts[name], parts[other]
            if isinstance(part, Op) and isinstance(two, Op):
                if part.type != two.type:
                    return False
                if part.description is not two.description and part.site.id != two.site.id:
                    return False
            elif isinstance(part, Op) or isinstance(two, Op) or role(name) != role(other):
                return False
        return True

    def _with_keys(self, names: list[NodeId], wanted: set[Hashable]) -> dict[Hashable, NodeId]:
        """The nodes of a turn by their keys, with at least the ``wanted`` ones that are there."""
        if not wanted:
            return {}
        found = {key: name for name, key in self._keys(names, 2 * len(wanted)).items()}
        if wanted <= found.keys():  # a long turn beside short ones: its beginning has them
            return found
        return {key: name for name, key in self._keys(names).items()}

    def _keys(self, turn: list[NodeId], most: int | None = None) -> dict[NodeId, Hashable]:
        """The key of each node within its turn: type, source position and a running number; for a
        value the key of the first node that takes it. ``most``: only of so many first nodes, and
        not of values that later ones take."""
        seen: Counter[Hashable] = Counter()
        keys: dict[NodeId, Hashable] = {}
        inside, names = set(turn), turn[:most]
        within = set(names)
        for name in names:
            if (op := self._graph.op(name)) is not None:
                key: Hashable = (op.type, op.site.id)
                seen[key] += 1
                keys[name] = (key, seen[key])
        for name in names:
            if name not in keys:
                around = (*self._graph.successors(name), *self._graph.predecessors(name))
                near = [other for other in around if other in inside]
                if near and near[0] not in within:
                    continue
                key = (self._graph.role(name), keys.get(near[0]) if near else None)
                seen[key] += 1
                keys[name] = (key, seen[key])
        return keys

    # Edges.

    def _carry_edges(self, result: nx.MultiDiGraph) -> None:
        merged: dict[tuple[NodeId, NodeId, bool], list[Edge]] = {}
        native: set[tuple[NodeId, NodeId, bool]] = set()
        shown = self._shown
        for edge in self._graph.edges():
            source, target = edge.source, edge.target
            start, end = shown.get(source), shown.get(target)
            if start is None or end is None or (start == end and end != target):
                continue
            if start == source and end == target:
                number = result.number_of_edges(source, target)
                made = structs.replace(edge, key=number) if number else edge
                result.add_edge(source, target, number, edge=made)
                native.add((start, end, False))
                continue
            carried = self._is_carried(source, target)
            if start == end and not carried:
                continue
            ends = (start, end, carried)
            if end == target and carried:  # the edge into the turn shown comes first
                merged.setdefault(ends, []).insert(0, edge)
            else:
                merged.setdefault(ends, []).append(edge)
        for (start, end, carried), some in merged.items():
            if (start, end, False) in native and not carried:
                continue
            entry = result.nodes[end]["node"].op if end.startswith(GROUP_PREFIX) else None
            number = result.number_of_edges(start, end)
            made = structs.replace(_merged(start, end, some, entry), key=number, is_carried=carried)
            result.add_edge(start, end, number, edge=made)
        self._carry_back(result)

    def _carry_back(self, result: nx.MultiDiGraph) -> None:
        """Add the edges of values that a turn of an open compiled loop hands to the next."""
        for path in self._opening.numbers:
            loop = self._tree.groups[path].loop
            for edge in self._graph.carried.get(loop.op, ()) if loop is not None else ():
                source, target = self._shown.get(edge.source), self._shown.get(edge.target)
                inside = (edge.source, edge.target) == (source, target)
                if inside and path not in self._opening.closed:
                    number = result.number_of_edges(edge.source, edge.target)
                    result.add_edge(
                        edge.source, edge.target, number, edge=structs.replace(edge, key=number)
                    )

    def _is_carried(self, source: NodeId, target: NodeId) -> bool:
        """Whether an edge leads from one turn of an open repeat into a later one."""
        home, other = self._tree.home.get(source, ""), self._tree.home.get(target, "")
        if not home or not other or home == other:
            return False
        groups = self._tree.groups
        shared = groups[home].parent
        if shared != groups[other].parent:  # of most edges both ends are in turns side by side
            shared = ""
            for part, two in zip(home.split("/"), other.split("/"), strict=False):
                if part != two:
                    break
                shared = f"{shared}/{part}" if shared else part
        return shared in self._opening.turns and shared not in self._opening.closed


def _merged(source: NodeId, target: NodeId, edges: list[Edge], entry: OpId | None) -> Edge:
    """One edge for several; the link into a recorded operation itself comes first."""
    links: list[Link] = list(dict.fromkeys(link for edge in edges for link in edge.links))
    links.sort(key=lambda link: entry is None or link[1] != entry)
    is_recorded = any(edge.state == "recorded" for edge in edges)
    (tensor, consumer), *others = links
    state: EdgeState = "recorded" if is_recorded else "unrecorded"
    return Edge(source, target, 0, tensor, consumer, state, tuple(others))


def _group_node(graph: OpGraph, group: Group, members: Sequence[NodeId]) -> Node:
    """The node of a closed group."""
    maker, path, entry = graph.maker, group.path, group.entry
    parts = [graph.parts[name] for name in members]
    ops = [part for part in parts if isinstance(part, Op) or maker.is_outside(part)]
    inside = set(members)
    outward = (edge for name in members for edge in graph.out.of(name))
    given = {edge.tensor for edge in outward if edge.target not in inside}
    ends = [name for name in members if inside.isdisjoint(graph.successors(name))]
    tensor = given.pop() if len(given) == 1 else None
    if tensor is None and len(ends) == 1:
        tensor = graph.node(ends[0]).tensor
    lines = tuple(sorted({line for some in set(map(maker.lines_of, parts)) for line in some}))
    first = next((line for line in map(maker.line_of, parts) if line), 0)
    if entry in graph.entries:
        node = maker.of_entry(graph.entries[entry])
        return replace(
            node,
            id=group_id(path),
            lines=tuple(dict.fromkeys((*node.lines, *lines))),
            is_recorded=node.is_recorded or any(map(maker.is_recorded, ops)),
            group=path.rpartition("/")[0],
            opens=path,
        )
    count = len(ops) or len(members)
    noun = "op" if ops else "node"
    title = _NUMBER.sub("", path.rpartition("/")[2])
    is_named = group.kind == "line" and not title.startswith("line")
    subtitle = f"{count} {noun}{'s' if count != 1 else ''}"
    return Node(
        id=group_id(path),
        role="group",
        title=title,
        subtitle=f"line {group.line} · {subtitle}" if is_named else subtitle,
        type="group",
        line=first,
        tensor=tensor,
        is_recorded=any(map(maker.is_recorded, ops)) or not ops,
        assigns=any(map(maker.assigns, ops)),
        is_backward=bool(ops) and all(map(maker.is_backward, ops)),
        name=title,
        lines=lines,
        group=path.rpartition("/")[0],
        opens=path,
    )
