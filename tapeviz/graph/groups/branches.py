"""Build the tree of the functions, loops and layers that ops ran in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...text.called_names import kind_of
from ...trace.calls import Call
from ...trace.ids import OpId
from ...trace.levels.frames import Kind, Level
from ...trace.levels.op_levels import OpLevels
from ...trace.model import Trace
from ...trace.ops import Op
from ...wording import listed
from ..nodes import entry_name
from ..trace_index import calls_by_id, entries_around

GroupKind = Kind | str
_GRADIENT_SCOPE = "gradient_tape"


@dataclass(slots=True)
class Branch:
    """A group in the making. ``key``: tells it from a neighbour with the same title; ``children``:
    branches, and numbers of ops (0 ran first), in order; ``ops``: the number of ops in it;
    ``values``: the number of variables and constants that only one op takes, which is in it;
    ``shape``: the same for branches that are alike; ``last``: the last line of a section;
    ``is_library``: see :func:`~.library.mark_library_calls`."""

    kind: GroupKind
    title: str
    line: int
    key: tuple[GroupKind, Any] | None = None
    children: list[Branch | int] = field(default_factory=list)
    ops: int = 0
    values: int = 0
    shape: int = 0
    last: int = 0
    is_library: bool = False


def first_op(child: Branch | int) -> int:
    """The number of the op that ran first in a branch, or of the op itself."""
    while isinstance(child, Branch):
        child = child.children[0]
    return child


def last_op(child: Branch | int) -> int:
    """The number of the op that ran last in a branch, or of the op itself."""
    while isinstance(child, Branch):
        child = child.children[-1]
    return child


def ops_in(children: Iterable[Branch | int]) -> int:
    """The number of ops in all of these."""
    return sum(child.ops if isinstance(child, Branch) else 1 for child in children)


def inner_first(root: Branch, least: int = 0) -> list[Branch]:
    """The branches of a tree with at least so many ops, each after those in it; without recursion,
    since the tree may be as deep as the snippet's own recursion."""
    found: list[Branch] = []
    waiting = [root]
    while waiting:
        branch = waiting.pop()
        found.append(branch)
        if Branch in set(map(type, branch.children)):  # most have ops alone
            waiting += [
                child
                for child in branch.children
                if isinstance(child, Branch) and child.ops >= least
            ]
    return found[::-1]


def plant(root: Branch, ops: Sequence[Op], trace: Trace, kinds: frozenset[str] | None) -> None:
    """Put every op into the branches of the functions, loops and layers that it ran in.

    ``kinds``: the kinds of groups to make, None for all.
    """
    levels = OpLevels(trace)
    entries = _Entries(trace, levels)
    calls = calls_by_id(trace)
    stack: list[Branch] = [root]
    before: Sequence[Level] | None = None
    """The levels that the stack stands for."""
    has_blocks = False
    for number, op in enumerate(ops):
        around: Sequence[Level] = levels.of(op)
        chain = entries.around(op)
        if around is before and not chain and op.call is None:  # nearly all ops of a loop's turn
            stack[-1].children.append(number)
            continue
        plain = around if not chain and op.call is None and kinds is None else None
        depth, before = _in_common(before, plain), plain
        if chain:
            around = list(entries.among(around, op, chain))
        if op.call is not None:
            around = with_gradient(around, list(_inner_call(trace, calls.get(op.call))))
        if kinds is not None:
            around = [level for level in around if level.kind in kinds]
            if "line" in kinds and op.line:
                around = [Level("line", f"line {op.line}", op.line, op.line), *around]
        for level in around[depth:]:
            depth += 1
            if depth < len(stack) and stack[depth].key == (level.kind, level.key):
                continue
            del stack[depth:]
            branch = Branch(level.kind, level.title, level.line, (level.kind, level.key))
            has_blocks = has_blocks or level.key == level.title
            stack[-1].children.append(branch)
            stack.append(branch)
        del stack[depth + 1 :]
        stack[-1].children.append(number)
    if has_blocks:
        _name_blocks(root)


def with_gradient(around: Sequence[Level], asked: Sequence[Level]) -> Sequence[Level]:
    """The levels with those of the gradient call that an op was ``asked`` for by: around the layers
    whose gradient it is. A graph has the ops of a gradient in the name scope ``gradient_tape`` with
    the scope of the forward op in it (``_gradient_function`` in backprop.py, 2.15-2.21)."""
    scopes = [
        depth
        for depth, level in enumerate(around)
        if level.kind == "layer" and isinstance(level.key, tuple)
        if kind_of(str(level.key[0])) == _GRADIENT_SCOPE
    ]
    if not asked or not scopes:
        return [*around, *asked]
    levels = [level for depth, level in enumerate(around) if depth not in scopes]
    return [*levels[: scopes[0]], *asked, *levels[scopes[0] :]]


def _in_common(before: Sequence[Level] | None, after: Sequence[Level] | None) -> int:
    """The number of levels of two ops if those of one begin with all of the other's, else 0: ops
    of a recursion have thousands of levels, nearly all of which are those of the op before."""
    if before is None or after is None:
        return 0
    count = min(len(before), len(after))
    return count if before[:count] == after[:count] else 0


def _name_blocks(root: Branch) -> None:
    """Name the stretches of a block that other layers interrupt each by its first layer: of a model
    with ``conv2d``, ``dropout``, ``conv2d_1``, ``conv2d_transpose`` not all are ``conv2d``."""
    for branch in inner_first(root):
        blocks: dict[str, list[Branch]] = {}
        for child in branch.children:
            if isinstance(child, Branch) and child.key == ("layer", child.title):
                blocks.setdefault(child.title, []).append(child)
        for stretch in (part for parts in blocks.values() if len(parts) > 1 for part in parts):
            first = stretch.children[0]
            if isinstance(first, Branch) and first.kind == "layer":
                stretch.title = f"{first.title} …" if len(stretch.children) > 1 else first.title


def _inner_call(trace: Trace, call: Call | None) -> Iterator[Level]:
    """The level of an inner tape's backward pass, which an outer tape recorded."""
    if call is None:
        return
    tape = trace.tape(call.tape)
    name = tape.name if tape is not None and tape.name else listed([o.text for o in call.targets])
    yield Level("backward", f"∂{name}, line {call.line}", call.line, call.id)


def asking_functions(trace: Trace) -> frozenset[int]:
    """The graphs of the compiled functions in which the snippet asks for gradients."""
    within = {call.within for call in trace.calls}
    return frozenset([op.runs for each in within if (op := trace.op(each)) is not None])


class _Entries:
    """The recorded operations and compiled loops that ops ran inside of.

    Such an entry is inside of the levels that it ran in, and around the further levels of its body.
    A call of a compiled function that was not opened is a group of its own, which can be opened.
    """

    def __init__(self, trace: Trace, levels: OpLevels) -> None:
        self._levels = levels
        self._loops = trace.loops
        self._around = entries_around(trace)
        self._own: dict[OpId, tuple[Level, ...]] = {}
        self._asking = asking_functions(trace)

    def among(self, around: Sequence[Level], op: Op, chain: Sequence[Op]) -> Iterator[Level]:
        """The levels of an op, outermost first, with its entries (:meth:`around`) among them."""
        starts: dict[int, list[Op]] = {}
        depth = 0
        for entry in chain:
            own = self._own.get(entry.id)
            if own is None:
                own = self._own[entry.id] = self._levels.of(entry.having(when=op.when))
            depth = max(depth, shared_levels(own, around))
            starts.setdefault(depth, []).append(entry)
        skipped: set[Kind] = set()
        for depth, level in enumerate((*around, None)):
            for entry in starts.get(depth, ()):
                title = entry_name(entry)
                skipped = set()
                if level is not None and level.kind == "loop" and entry.id in self._loops:
                    title, skipped = level.title, {"loop", "turn"}
                elif level is not None and level.kind == "function" and level.title == title:
                    skipped = {"function"}
                yield Level("entry", title, entry.line, entry.id)
            if level is not None and level.kind in skipped:
                skipped.discard(level.kind)
            elif level is not None:
                yield level

    def around(self, op: Op) -> list[Op]:
        """The entries that an op ran inside of, outermost first; of most ops none."""
        at = self._around.get(op.id)
        if at is None and not op.description.runs:
            return []
        chain: list[Op] = []
        while at is not None and at not in chain:
            chain.append(at)
            at = self._around.get(at.id)
        is_closed = op.runs and not op.body and op.runs not in self._asking
        return [*reversed(chain), *((op,) if is_closed else ())]


def shared_levels(own: Sequence[Level], around: Sequence[Level]) -> int:
    """How many of the levels ``around`` an op its entry ran in, too. ``own``: the levels of the
    entry, which lack the layers: an entry is recorded without its name scope."""
    depth = 0
    for level in own:
        at = depth
        while at < len(around) and around[at].key != level.key and _is_of_scope(around[at]):
            at += 1
        if at == len(around) or around[at].key != level.key:
            break
        depth = at + 1
    return depth


def _is_of_scope(level: Level) -> bool:
    """Whether a name scope says that an op ran in this level: a layer, or a block of layers."""
    return level.kind == "layer" or isinstance(level.key, str)
