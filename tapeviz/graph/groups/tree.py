"""Build the tree of groups of an op graph.

A group is a stretch of the order in which the ops ran, so folding it makes no cycle. A repeat is a
group whose children are turns: of a Python loop, or consecutive stretches that are alike.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import msgspec
from msgspec import structs

from ...errors import go_on
from ...text.called_names import kind_of
from ...trace.compiled.model import Loop
from ...trace.ids import OpId
from ...trace.levels.frames import Kind
from ...trace.levels.op_levels import called_names, comprehensions
from ...trace.model import Trace
from ...trace.ops import Op
from ...trace.variables import Version
from ..model import Role
from ..nodes import is_recorded, op_word
from ..op_graph import OpGraph
from ..words import user_name
from .branches import Branch, GroupKind, plant
from .changes import ALL_ALIKE, Segments, gather_segments
from .gathering import (
    LEAST_OPS,
    Words,
    bundle,
    gather_into_sections,
    gather_lines,
    prune,
    section_maker,
)
from .lengths import repeats_in_all_rounds
from .library import mark_library_calls
from .reads import last_readers, own_values, reads_of
from .shapes import Shapes, weigh

_LEAST_LOOP = 4
_SMALL = 40
"""In a graph of at most this many nodes a loop is a repeat only with ``_LEAST_LOOP`` turns, unless
its number of turns, or that of another loop, differs from round to round."""
_NO_ENDS = ("entry", "values")
_MOST_VALUES = 8
"""More variables, or constants, that belong to no group become a group; ``LEAST_OPS`` where the
graph ``gathers`` them, as no picture with them can be read."""


class Group(msgspec.Struct, frozen=True, gc=False):
    """A group of ops. ``parent``: path of the group around it. ``ops``: the number of ops in it.
    ``shape``: the same for groups that are alike. ``turns``: the paths of a repeat's turns, in
    order. ``entry``: the recorded operation, or the call of a compiled function, that the group is
    the inside of."""

    path: str
    kind: GroupKind
    title: str
    line: int
    parent: str
    ops: int
    shape: int
    turns: tuple[str, ...] = ()
    entry: OpId | None = None
    is_passed: bool = False
    """It is the inside of a call, loop or branch, which a gradient passes op by op. It does not
    pass that of a recorded operation (custom_gradient)."""
    loop: Loop | None = None
    """The compiled loop that it is; one body stands for all its turns."""
    layer: str = ""
    """Keras's name of a layer that has the snippet's name for its title."""
    last: int = 0
    """The last line of a section, which begins at ``line``; 0 for other groups."""
    is_library: bool = False
    """It is a call of a library, see :func:`mark_library_calls`."""

    @property
    def count(self) -> int:
        """The number of turns; 0 for a group that is no repeat."""
        return len(self.turns) or (self.loop.count or 0 if self.loop is not None else 0)


@dataclass(frozen=True, slots=True)
class Tree:
    """The groups of an op graph. ``groups``: by path, each before those in it. ``home``: for each
    node, by place, the path of its innermost group, empty for none. ``ends``: place of a pinned
    node that is the end of a group → path of the outermost such group; it is drawn beside the group
    while that is folded. ``borders``: places of cuts in groups that no tape recorded: the gradient
    is cut where they begin. ``recorded``: the groups with ops that a gradient can pass.
    ``differing``: the groups with ops that differ from a run that it is compared with."""

    groups: Mapping[str, Group] = field(default_factory=dict)
    home: Sequence[str] = ()
    ends: Mapping[int, str] = field(default_factory=dict)
    recorded: frozenset[str] = frozenset()
    borders: frozenset[int] = frozenset()
    differing: frozenset[str] = frozenset()

    def may_hide(self, place: int, path: str) -> bool:
        """Whether this group may be folded with a pinned node in it: that is drawn beside it, or it
        is one of the ``borders`` of a call of a library."""
        is_border = place in self.borders and self.groups[path].is_library
        return is_border or self.is_beside(place, path)

    def is_beside(self, place: int, path: str) -> bool:
        """Whether a node in this group is drawn beside it while the group is folded."""
        if place not in self.ends or self.groups[path].ops <= LEAST_OPS:
            return False
        return f"{path}/".startswith(f"{self.ends[place]}/")


GROUPINGS: Mapping[str, tuple[Kind, ...]] = MappingProxyType(
    {
        "layer": ("layer", "entry"),
        "function": ("function", "entry"),
        "line": ("line", "entry"),
        "iteration": ("loop", "turn", "entry"),
        "custom_gradient": ("entry",),
    }
)
"""Choice of grouping → kinds of groups to make, in the order of the menu."""


def grow(graph: OpGraph, trace: Trace, grouping: str = "", segments: Segments = ALL_ALIKE) -> Tree:
    """The groups of a graph; ``grouping``: a key of :data:`GROUPINGS`, or empty for all kinds.
    ``segments``: what differs from a run that it is compared with.

    Raises ``KeyError`` for an unknown key. Takes time linear in ops times depth of groups.
    """
    kinds = frozenset(GROUPINGS[grouping]) if grouping else None
    places = [place for place, part in enumerate(graph.parts) if isinstance(part, Op)]
    ops = [part for part in graph.parts if isinstance(part, Op)]
    root = Branch("", "", 0)
    plant(root, ops, trace, kinds)
    go_on()
    weigh(root, own_values(graph, places))
    lines = [op.line for op in ops]
    lasting, varying = repeats_in_all_rounds(trace, graph.call)
    prune(root, 2 if lasting or len(graph) > _SMALL else _LEAST_LOOP, lines, lasting)
    shapes = Shapes(ops, trace)
    go_on()
    if kinds is None:
        reads = reads_of(graph, places)
        words = Words(
            lambda number: _user_name(graph, trace, ops[number], places[number]),
            called_names(trace).function,
            lambda number: op_word(ops[number]),
            lines,
            comprehensions(trace),
            last_readers(reads, ops),
        )
        if segments.of:
            gather_segments(root, ops, segments, section_maker(words), LEAST_OPS)
        gather_lines(root, ops, words)
        shapes.count(root)
        bundle(root, words, shapes, varying)
        mark_library_calls(root, ops, trace, called_names(trace))
        pinned = {number for number, place in enumerate(places) if place in graph.pinned}
        gather_into_sections(root, reads, words, pinned)
    shapes.count(root)
    del shapes  # as large as what comes
    go_on()
    groups: dict[str, Group] = {}
    home = [""] * len(graph)
    for path, branch in _name(root, groups, trace):
        for child in branch.children:
            if isinstance(child, int):
                home[places[child]] = path
    _take_in(graph, home, groups)
    if kinds is None:
        _gather_values(graph, home, groups)
    homes = {home[place] for place, op in zip(places, ops, strict=True) if is_recorded(op)}
    recorded = _with_those_around(homes)
    differ = {home[place] for place, op in zip(places, ops, strict=True) if segments.differs(op.id)}
    differing = _with_those_around(differ)
    borders = frozenset(place for place in graph.cuts if home[place] not in recorded)
    return Tree(groups, home, _ends(graph, home, groups), recorded, borders, differing)


def _name(root: Branch, groups: dict[str, Group], trace: Trace) -> Iterator[tuple[str, Branch]]:
    """Fill ``groups``: each branch becomes a group with a path, outer ones first. Gives each path
    with its branch."""
    waiting: list[tuple[Branch, str, str]] = [(root, "", "")]
    while waiting:
        branch, path, parent = waiting.pop()
        if path:
            groups[path] = _group(branch, path, parent, trace)
            yield path, branch
        used: dict[str, int] = {}
        turns: list[str] = []
        inside: list[tuple[Branch, str, str]] = []
        for child in branch.children:
            if isinstance(child, int):
                continue
            title = child.title.replace("/", "∕")
            count = used[title] = used.get(title, 0) + 1
            name = title if count == 1 else f"{title} #{count}"
            inside.append((child, f"{path}/{name}" if path else name, path))
            if child.kind == "turn":
                turns.append(inside[-1][1])
        if turns and path:
            groups[path] = structs.replace(groups[path], kind="repeat", turns=tuple(turns))
        waiting.extend(reversed(inside))


def _group(branch: Branch, path: str, parent: str, trace: Trace) -> Group:
    entry = branch.key[1] if branch.kind == "entry" and branch.key is not None else None
    loop = trace.loops.get(entry) if entry is not None else None
    op = trace.op(entry)
    layer = ""
    if branch.kind == "layer" and branch.key is not None and isinstance(branch.key[1], tuple):
        own = branch.key[1][0]
        layer = own if kind_of(own) not in (branch.title, kind_of(branch.title)) else ""
    return Group(
        path,
        branch.kind,
        branch.title,
        branch.line,
        parent,
        branch.ops,
        branch.shape,
        entry=entry,
        is_passed=op is not None and bool(op.body and (op.runs or loop is not None)),
        loop=loop,
        layer=layer,
        last=branch.last,
        is_library=branch.is_library,
    )


def _user_name(graph: OpGraph, trace: Trace, op: Op, place: int) -> str:
    """The snippet's name of what an op made; empty for a node that is drawn by itself."""
    names = (user_name(trace, tensor) for tensor in op.outputs)
    return "" if place in graph.pinned else next(filter(None, names), "")


def _take_in(graph: OpGraph, home: list[str], groups: Mapping[str, Group]) -> None:
    """Put values that only one group takes into it, and versions into the group of their write.

    The sources of the picture stay outside. A value that came back from Python, at which a gradient
    is cut, is where both what it left and what takes it are, and in the turn in which it left. What
    all turns of a repeat take, or the first ones, is in the repeat, but in none of its turns.
    """
    for place in graph.values:
        if isinstance(graph.parts[place], Version):
            for source in graph.predecessors(place):
                home[place] = home[source] or home[place]
    within: dict[tuple[str, Hashable], list[int]] = {}
    turns: dict[str, str] = {"": ""}
    """For each group the innermost turn that it is or that it is in."""
    out, targets = graph.out, graph.edges.targets
    for place in reversed(graph.values):
        takers, makers = [targets[row] for row in out[place]], [*graph.predecessors(place)]
        if home[place] or not takers or (makers and not graph.is_returned(place)):
            continue
        if place in graph.pinned and not makers:
            continue
        shared = shared_path({home[taker] for taker in takers})
        if makers:
            left = shared_path({home[maker] for maker in makers})
            turn = next((path for path in upwards(left) if groups[path].kind == "turn"), "")
            if turn and not f"{shared}/".startswith(f"{turn}/"):
                shared = turn
            elif place in graph.pinned:
                shared = shared_path({left, shared})
        if shared:
            home[place] = shared
            passed: list[str] = []
            turn = shared
            while turn not in turns and groups[turn].kind != "turn":
                passed.append(turn)
                turn = groups[turn].parent
            turn = turns.get(turn, turn)
            turns.update(dict.fromkeys(passed, turn))
            if turn and not makers:
                key = (groups[turn].parent, (graph.role(place), *graph.kind(takers[0])))
                within.setdefault(key, []).append(place)
    for (repeat, _), places in within.items():
        if 2 * len(places) < len(groups[repeat].turns):  # only in a few turns, as a first state
            for place in places:
                home[place] = repeat


def _gather_values(graph: OpGraph, home: list[str], groups: dict[str, Group]) -> None:
    """Make one group of many values that no op shown made and that are in no group, or that all
    turns of a repeat take, and of many variables in any other; within these of the values of a
    model that runs several times."""
    least = LEAST_OPS if graph.gathers else _MOST_VALUES + 1
    found: dict[tuple[str, Role], list[int]] = {}
    for place in graph.values:
        around = home[place]
        is_apart = not around or groups[around].kind == "repeat" or graph.role(place) == "variable"
        if is_apart and place not in graph.pinned and not graph.into.count(place):
            found.setdefault((around, graph.role(place)), []).append(place)
    for (around, role), places in found.items():
        if len(places) >= least:
            around = _add_values(f"{role}s", around, places, home, groups)
        by_model: dict[str, list[int]] = {}
        for place in places:
            takers = {_model_of(home[taker], groups) for taker in graph.successors(place)}
            if len(takers) == 1:
                by_model.setdefault(takers.pop(), []).append(place)
        for model, some in by_model.items():
            if model and LEAST_OPS <= len(some) < len(places):
                _add_values(f"{model} {role}s", around, some, home, groups)


def _add_values(
    title: str, around: str, places: Sequence[int], home: list[str], groups: dict[str, Group]
) -> str:
    path = f"{around}/{title}" if around else title
    groups[path] = Group(path, "values", title, 0, around, len(places), -len(groups))
    for place in places:
        home[place] = path
    return path


def _model_of(path: str, groups: Mapping[str, Group]) -> str:
    """The title of the outermost layer around; empty for none."""
    layers = [above for above in upwards(path) if groups[above].kind == "layer"]
    return groups[layers[-1]].title if layers else ""


def _ends(graph: OpGraph, home: Sequence[str], groups: Mapping[str, Group]) -> dict[int, str]:
    found: dict[int, str] = {}
    for pinned in sorted(graph.pinned):
        takers = [f"{home[taker]}/" for taker in graph.successors(pinned)]
        for path in upwards(home[pinned]):
            group = groups[path]
            if group.kind in _NO_ENDS or any(taker.startswith(f"{path}/") for taker in takers):
                break
            # A turn folds with its repeat; without its end a small group is none.
            if group.kind != "turn" and group.ops > LEAST_OPS:
                found[pinned] = path
    return found


def shared_path(paths: set[str]) -> str:
    """The longest path that all of these begin with."""
    if len(paths) < 2:
        return next(iter(paths), "")
    low, high = min(paths), max(paths)  # letters that these two begin with all begin with
    same, most = 0, min(len(low), len(high))
    while same < most:
        middle = (same + most + 1) // 2
        if low[:middle] == high[:middle]:
            same = middle
        else:
            most = middle - 1
    if any(path[same : same + 1] not in ("", "/") for path in paths):
        same = max(low.rfind("/", 0, same), 0)
    return low[:same]


def _with_those_around(paths: Iterable[str]) -> frozenset[str]:
    """These paths and those of the groups around them. In a deep recursion each is in thousands,
    and most of them are known from the path before."""
    found: set[str] = set()
    for path in paths:
        while path and path not in found:
            found.add(path)
            path = path.rpartition("/")[0]
    return frozenset(found)


def upwards(path: str) -> Iterator[str]:
    """The path, then the paths of the groups around it."""
    while path:
        yield path
        path = path.rpartition("/")[0]
