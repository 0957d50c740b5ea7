"""An op graph and its trace in, the tree of its groups out, repeats among them.

Groups are stretches of the order in which the ops ran, so folding any of them leaves the graph
without cycles. A repeat is a group whose children are turns: of a Python loop, or alike stretches
one after the other, whatever made them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import networkx as nx

from ..trace.model import Call, CallId, Op, OpId, Trace
from .model import Node, NodeId
from .places import Kind, OpPlaces, Place
from .stretches import find_stretches

LEAST_OPS = 4
"""Never a fold of fewer ops."""
_LEAST_TURNS = 6
"""Alike stretches that no loop made are a repeat from so many on."""
_LEAST_LOOP = 4
_SMALL = 40
"""A picture of so few nodes is read at once: in it a loop is a repeat from more turns on."""
_MANY = 12
"""So many ops side by side are grouped by their lines."""

GroupKind = Kind | str


@dataclass(frozen=True, slots=True)
class Group:
    """A group; ``parent``: the path around it. ``ops``: how many are in it. ``shape``: groups of
    one shape have the same one. ``turns``: of a repeat the paths of its turns, in their order.
    ``entry``: the recorded operation, or the call of a compiled function, whose inside it is."""

    path: str
    kind: GroupKind
    title: str
    line: int
    parent: str
    ops: int
    shape: int
    turns: tuple[str, ...] = ()
    entry: OpId | None = None


@dataclass(frozen=True, slots=True)
class Tree:
    """``groups`` by path, outer ones first; ``home``: node → path of the innermost group."""

    groups: Mapping[str, Group] = field(default_factory=dict)
    home: Mapping[NodeId, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Branch:
    kind: GroupKind
    title: str
    line: int
    key: tuple[GroupKind, Any] | None = None
    children: list[_Branch | NodeId] = field(default_factory=list)
    ops: int = 0
    shape: int = 0


GROUPINGS: Mapping[str, tuple[Kind, ...]] = MappingProxyType(
    {
        "layer": ("layer", "entry"),
        "function": ("function", "entry"),
        "line": ("line", "entry"),
        "iteration": ("loop", "turn", "entry"),
        "custom_gradient": ("entry",),
    }
)
"""What the user may choose to group by, in the order of the menu: the kinds of groups kept."""


def grow(graph: nx.MultiDiGraph, trace: Trace, grouping: str = "") -> Tree:
    """The groups of a graph; ``grouping``: a key of :data:`GROUPINGS`, else all kinds.

    Raises ``KeyError`` for a name that is not there. Linear in the ops and the depth of groups.
    """
    kinds = frozenset(GROUPINGS[grouping]) if grouping else None
    ordered = _ordered(graph, trace)
    root = _Branch("", "", 0)
    _plant(root, ordered, trace, kinds)
    relative = _Shapes(ordered, trace)
    relative.count(root)
    _prune(root, 2 if len(graph) > _SMALL else _LEAST_LOOP)
    if kinds is None:
        _gather_lines(root, dict(ordered))
        relative.count(root)
        _bundle(root, dict(ordered), relative)
    relative.count(root)
    groups: dict[str, Group] = {}
    home: dict[NodeId, str] = {}
    _name(root, "", groups, home)
    _take_in(graph, home, groups)
    return Tree(groups, home)


def _ordered(graph: nx.MultiDiGraph, trace: Trace) -> list[tuple[NodeId, Op]]:
    """The nodes of ops in the order in which they ran."""
    found = [
        (name, trace.ops[node.op])
        for name, node in graph.nodes(data="node")
        if node.op is not None and node.op in trace.ops and not node.opens
    ]
    return sorted(found, key=lambda pair: pair[1].when)


def _plant(
    root: _Branch,
    ordered: list[tuple[NodeId, Op]],
    trace: Trace,
    kinds: frozenset[str] | None,
) -> None:
    """Put every op into the branches of the place where it ran."""
    places = OpPlaces(trace)
    entries = _entries(trace, ordered)
    calls: dict[CallId | None, Call] = {call.id: call for call in trace.calls}
    stack: list[_Branch] = [root]
    for name, op in ordered:
        around = [*places.of(op), *_inner_call(trace, calls.get(op.call))]
        around = _with_entries(around, entries.get(op.id, ()))
        if kinds is not None:
            around = [place for place in around if place.kind in kinds]
            if "line" in kinds and op.line:
                around.insert(0, Place("line", f"line {op.line}", op.line, op.line))
        depth = 0
        for place in around:
            depth += 1
            if depth < len(stack) and stack[depth].key == (place.kind, place.key):
                continue
            del stack[depth:]
            branch = _Branch(place.kind, place.title, place.line, (place.kind, place.key))
            stack[-1].children.append(branch)
            stack.append(branch)
        del stack[depth + 1 :]
        stack[-1].children.append(name)


def _inner_call(trace: Trace, call: Call | None) -> Iterator[Place]:
    """The backward pass of an inner tape, recorded by an outer one."""
    if call is None:
        return
    tape = trace.tapes.get(call.tape) if call.tape is not None else None
    name = tape.name if tape is not None and tape.name else ", ".join(o.text for o in call.targets)
    yield Place("backward", f"∂{name}, line {call.line}", call.line, call.id)


def _entries(trace: Trace, ordered: list[tuple[NodeId, Op]]) -> dict[OpId, tuple[Op, ...]]:
    """Op → the recorded operations that it ran inside of, the outermost first.

    A call of a compiled function that was not opened is a group of its own: it can be opened.
    """
    around: dict[OpId, Op] = {}
    shown = {op.id for _, op in ordered}
    within = (trace.ops.get(call.within) for call in trace.calls if call.within is not None)
    asking = {op.runs for op in within if op is not None}
    for op in trace.ops.values():
        if op.body and not shown.isdisjoint(op.body):
            asks = op.is_compiled_call and any(trace.ops[b].call is not None for b in op.body)
            if not asks:
                for inside in op.body:
                    around.setdefault(inside, op)
    found: dict[OpId, tuple[Op, ...]] = {}
    for op_id in shown:
        chain: list[Op] = []
        at = around.get(op_id)
        while at is not None and at not in chain:
            chain.append(at)
            at = around.get(at.id)
        op = trace.ops[op_id]
        own = (op,) if op.runs and not op.body and op.runs not in asking else ()
        if chain or own:
            found[op_id] = (*reversed(chain), *own)
    return found


def _with_entries(around: list[Place], entries: tuple[Op, ...]) -> list[Place]:
    """Recorded operations stand in the place of the functions of their name."""
    from .nodes import entry_name

    for entry in entries:
        name = entry_name(entry)
        same = [p for p in around if p.kind == "function" and p.title == name]
        place = Place("entry", name, entry.line, entry.id)
        if same:
            around[around.index(same[0])] = place
        else:
            around.append(place)
    return around


class _Shapes:
    """Counts the ops of every branch, and tells which branches are alike.

    Alike: the same op types from the same lines, each with the same inputs relative to the branch.
    """

    def __init__(self, ordered: list[tuple[NodeId, Op]], trace: Trace) -> None:
        self._trace = trace
        self._at = {name: place for place, (name, _) in enumerate(ordered)}
        self._ops = [op for _, op in ordered]
        place_of = {op.id: place for place, (_, op) in enumerate(ordered)}
        self._inputs = [
            tuple(place_of.get(trace.producers.get(tensor, OpId(-1)), -1) for tensor in op.inputs)
            for _, op in ordered
        ]
        self._known: dict[Hashable, int] = {}

    def count(self, branch: _Branch) -> list[int]:
        """The places of the branch's ops in the order of all; sets ``ops`` and ``shape``."""
        inside: list[int] = []
        for child in branch.children:
            inside.extend([self._at[child]] if isinstance(child, str) else self.count(child))
        branch.ops = len(inside)
        branch.shape = self.shape(inside, branch.kind)
        return inside

    def shape(self, inside: list[int], kind: str = "") -> int:
        if not inside:
            return 0
        first = inside[0]
        last = inside[-1]
        key = (
            kind,
            tuple(
                (
                    self._ops[i].type,
                    self._ops[i].site.id,
                    tuple(i - j if first <= j <= last else 0 for j in self._inputs[i]),
                )
                for i in inside
            ),
        )
        return self._known.setdefault(hash(key), len(self._known) + 1)

    def token(self, child: _Branch | NodeId) -> Hashable:
        if isinstance(child, _Branch):
            return ("branch", child.kind, child.shape)
        op = self._ops[self._at[child]]
        return op.type, op.site.id


def _prune(branch: _Branch, least_turns: int) -> None:
    """Dissolve what is no group worth the name: too few ops, a loop of a single turn, a group
    around a single other one."""
    kept: list[_Branch | NodeId] = []
    for child in branch.children:
        if isinstance(child, str):
            kept.append(child)
            continue
        _prune(child, least_turns)
        turns = [
            turn for turn in child.children if isinstance(turn, _Branch) and turn.kind == "turn"
        ]
        if child.kind == "loop" and len(turns) < least_turns:
            for turn in turns:
                kept.extend(turn.children)
        elif child.kind in ("entry", "turn") or (child.kind == "loop" and child.ops >= LEAST_OPS):
            kept.append(child)
        elif child.kind == "loop":
            for turn in turns:
                kept.extend(turn.children)
        elif child.ops < LEAST_OPS:
            kept.extend(child.children)
        elif len(child.children) == 1 and isinstance(child.children[0], _Branch):
            only = child.children[0]
            if only.kind in ("layer", "function", "line"):
                child.children = only.children
            kept.append(child)
        else:
            kept.append(child)
    branch.children = kept


def _gather_lines(branch: _Branch, ops: Mapping[NodeId, Op]) -> None:
    """The last resort: of many ops side by side those of a line are a group."""
    for child in branch.children:
        if isinstance(child, _Branch):
            _gather_lines(child, ops)
    if sum(isinstance(child, str) for child in branch.children) < _MANY:
        return
    kept: list[_Branch | NodeId] = []
    run: list[NodeId] = []

    def close() -> None:
        if len(run) >= LEAST_OPS:
            line = ops[run[0]].line
            made = _Branch("line", f"line {line}", line, None, list(run), len(run))
            kept.append(made)
        else:
            kept.extend(run)
        run.clear()

    for child in branch.children:
        if isinstance(child, _Branch):
            close()
            kept.append(child)
            continue
        if run and ops[run[0]].line != ops[child].line:
            close()
        if ops[child].line:
            run.append(child)
        else:
            close()
            kept.append(child)
    close()
    if len(kept) > 1:
        branch.children = kept


def _bundle(branch: _Branch, ops: Mapping[NodeId, Op], shapes: _Shapes) -> None:
    """Stretches of alike children, one after the other, are turns of a repeat."""
    for child in branch.children:
        if isinstance(child, _Branch):
            _bundle(child, ops, shapes)
    children = branch.children
    if branch.kind == "loop" or len(children) < _LEAST_TURNS:
        return
    tokens = [shapes.token(child) for child in children]
    kept: list[_Branch | NodeId] = []
    at = 0
    for start, end, period in find_stretches(tokens, _LEAST_TURNS):
        count = (end - start) // period
        inside = children[start : start + count * period]
        size = sum(child.ops if isinstance(child, _Branch) else 1 for child in inside)
        if size < LEAST_OPS or count < _LEAST_TURNS:
            continue
        kept.extend(children[at:start])
        first = inside[0]
        line = first.line if isinstance(first, _Branch) else ops[first].line
        title = first.title if isinstance(first, _Branch) else f"line {line}"
        repeat = _Branch("loop", title, line)
        for number in range(count):
            part = inside[number * period : (number + 1) * period]
            if period == 1 and isinstance(part[0], _Branch):
                part = part[0].children
            turn = _Branch("turn", f"turn {number + 1}", line, None, list(part))
            repeat.children.append(turn)
        kept.append(repeat)
        at = start + count * period
    kept.extend(children[at:])
    branch.children = kept


def _name(branch: _Branch, path: str, groups: dict[str, Group], home: dict[NodeId, str]) -> None:
    used: Counter[str] = Counter()
    turns: list[str] = []
    for child in branch.children:
        if isinstance(child, str):
            if path:
                home[child] = path
            continue
        title = child.title.replace("/", "∕")
        used[title] += 1
        name = title if used[title] == 1 else f"{title} #{used[title]}"
        inner = f"{path}/{name}" if path else name
        if child.kind == "turn":
            turns.append(inner)
        groups[inner] = Group(
            inner,
            child.kind,
            child.title,
            child.line,
            path,
            child.ops,
            child.shape,
            entry=child.key[1] if child.kind == "entry" and child.key is not None else None,
        )
        _name(child, inner, groups, home)
    if turns and path in groups:
        known = groups[path]
        groups[path] = Group(
            path,
            "repeat",
            known.title,
            known.line,
            known.parent,
            known.ops,
            known.shape,
            tuple(turns),
        )


def _take_in(graph: nx.MultiDiGraph, home: dict[NodeId, str], groups: Mapping[str, Group]) -> None:
    """Values that only one group takes belong to it, and what a write made to the write's group.

    What the picture starts from, its sources, stays in sight.
    """
    pinned: Collection[NodeId] = graph.graph.get("pinned", ())
    node: Node
    for name, node in graph.nodes(data="node"):
        if name in home or node.role != "variable":
            continue
        for source in graph.predecessors(name):
            if source in home:
                home[name] = home[source]
    within: dict[tuple[str, Hashable], list[NodeId]] = {}
    for name, node in reversed(list(graph.nodes(data="node"))):
        if name in home or name in pinned or node.role not in ("variable", "constant"):
            continue
        if graph.in_degree(name) and (node.role == "variable" or node.op is not None):
            continue
        takers = list(graph.successors(name))
        shared = shared_path({home.get(taker, "") for taker in takers})
        while shared and groups[shared].kind == "repeat":
            shared = groups[shared].parent
        if shared:
            home[name] = shared
            turn = next((p for p in upwards(shared) if groups[p].kind == "turn"), "")
            if turn:
                taker: Node = graph.nodes[takers[0]]["node"]
                key = (groups[turn].parent, (node.role, taker.type, taker.site))
                within.setdefault(key, []).append(name)
    for (repeat, _), names in within.items():
        if 2 * len(names) < len(groups[repeat].turns):  # how it begins, an exception
            for name in names:
                home.pop(name)
                if groups[repeat].parent:
                    home[name] = groups[repeat].parent


def shared_path(paths: set[str]) -> str:
    """The longest path that is above, or the same as, all of these."""
    first, *others = [path.split("/") for path in sorted(paths)] or [[""]]
    length = len(first)
    for other in others:
        same = 0
        while same < min(length, len(other)) and other[same] == first[same]:
            same += 1
        length = same
    return "/".join(first[:length])


def upwards(path: str) -> Iterator[str]:
    """The path, and those of the groups around it, outwards."""
    while path:
        yield path
        path = path.rpartition("/")[0]
