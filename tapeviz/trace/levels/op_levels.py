"""Tell the functions, loop turns and layers that each op ran in.

The recording says when a loop variable or a parameter was bound, so turns and invocations are known
exactly. A turn of a ``while`` loop, and of a Python loop in a compiled function, whose variable is
bound unseen, begins where the execution goes back to an earlier statement.
"""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal, NamedTuple
from weakref import ReferenceType, ref

from ...text.called_names import LAYER_METHODS, CalledNames, kind_of
from ...text.names import called_name
from ...text.source import SourceText
from ..model import Op, Site, StackFrame, Trace
from ..naming import layer_titles
from .blocks import BlockKind, block_parts
from .scopes import layers_of_scopes

Kind = Literal["loop", "turn", "function", "layer", "entry", "backward", "line"]
_NO_FUNCTIONS = frozenset(("<module>", "<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>"))
_LONGEST_HEADER = 30
_Layer = tuple[tuple[tuple[BlockKind, str], ...], str, str]
"""The blocks around a layer, its name, and what the snippet calls it."""


@dataclass(frozen=True, slots=True)
class Level:
    """A function, turn or layer that an op ran in. ``key``: tells levels with the same title
    apart."""

    kind: Kind
    title: str
    line: int
    key: object


@dataclass(frozen=True, slots=True)
class _Loop:
    """A loop statement; ``names``: the names that each turn binds, none for ``while``."""

    line: int
    header: str
    names: frozenset[str]
    starts: tuple[int, ...]
    """First lines of the statements of its body."""


class _Lines:
    """The loops and parameters of a snippet, by line."""

    def __init__(self, text: SourceText) -> None:
        self.loops: dict[int, tuple[_Loop, ...]] = {}
        self.headers: dict[int, _Loop] = {}
        self.parameters: dict[int, frozenset[str]] = {}
        self.scopes: set[int] = set()
        """Lines within ``with tf.name_scope(…)``, or another such scope."""
        if text.tree is not None:
            self._read(text, text.tree, ())

    def _read(self, text: SourceText, node: ast.AST, around: tuple[_Loop, ...]) -> None:
        for child in ast.iter_child_nodes(node):
            inside = around
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                inside = ()
                if not isinstance(child, ast.ClassDef):
                    arguments = child.args
                    every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
                    self.parameters[child.lineno] = frozenset(argument.arg for argument in every)
            elif isinstance(child, (ast.For, ast.AsyncFor, ast.While)):
                loop = _loop_of(text, child)
                self.headers[loop.line] = loop
                for statement in child.body:
                    self._fill(statement, (*around, loop))
                    self._read(text, ast.Module([statement], []), (*around, loop))
                continue
            if isinstance(child, ast.With) and any(map(_opens_scope, child.items)):
                self.scopes.update(range(child.lineno, (child.end_lineno or child.lineno) + 1))
            if isinstance(child, ast.stmt) and (inside or around):
                self._fill(child, inside)
            self._read(text, child, inside)

    def _fill(self, statement: ast.stmt, loops: tuple[_Loop, ...]) -> None:
        for line in range(statement.lineno, (statement.end_lineno or statement.lineno) + 1):
            self.loops[line] = loops


def _opens_scope(item: ast.withitem) -> bool:
    """Whether a ``with`` item calls ``name_scope``, ``variable_scope`` or another ``…scope``."""
    call = item.context_expr
    return isinstance(call, ast.Call) and called_name(call).endswith("scope")


def _loop_of(text: SourceText, node: ast.For | ast.AsyncFor | ast.While) -> _Loop:
    names: frozenset[str] = frozenset()
    if isinstance(node, ast.While):
        words = f"while {text.segment(node.test)}"
    else:
        words = f"for {text.segment(node.target)} in {text.segment(node.iter)}"
        names = frozenset(n.id for n in ast.walk(node.target) if isinstance(n, ast.Name))
    if len(words) > _LONGEST_HEADER:
        words = words[: _LONGEST_HEADER - 1] + "…"
    return _Loop(node.lineno, words, names, tuple(statement.lineno for statement in node.body))


class _Link(NamedTuple):
    """A frame of a chain of callers. ``parent``: the number of its innermost level; ``levels``: the
    number of levels of the chain up to it; ``moves``: it or a caller is in a loop whose turns are
    told by the statements alone."""

    frame: StackFrame | None
    parent: int
    levels: int
    moves: bool


class _Program:
    """Tables of a trace's text and bindings that every picture of it needs."""

    def __init__(self, trace: Trace) -> None:
        text = SourceText(trace.source)
        self.lines = lines = _Lines(text)
        self.names = CalledNames(text)
        marks: list[tuple[int, tuple[str, Site]]] = []
        begun: dict[int, dict[tuple[int, str], list[int]]] = {}
        for binding in trace.bindings:
            if not binding.site.frames:
                continue
            name, line, when = binding.name, binding.site.line, binding.when
            header = lines.headers.get(line)
            is_turn = header is not None and name in header.names
            if is_turn or name in lines.parameters.get(line, ()):
                marks.append((when, (name, binding.site)))
            within = lines.loops.get(line, ())
            if not is_turn:
                header = within[-1] if within and not within[-1].names else None
            if header is not None:
                begun.setdefault(header.line, {}).setdefault((line, name), []).append(when)
        self.marks = sorted(marks, key=lambda mark: mark[0])
        """(when, (name, site)) of each binding of a loop variable or parameter."""
        longest = {line: max(places.values(), key=len) for line, places in begun.items()}
        self.begun = {line: sorted(whens) for line, whens in longest.items()}
        """For each loop, by the line of its header, the positions in the order of events at which
        its turns began: a name of its header was bound, or of a ``while`` loop one in its body."""
        self.whens = [when for when, _ in self.marks]
        self.headers_bound = frozenset(site.frames[0].line for _, (_, site) in self.marks)
        inside: dict[str, dict[str, None]] = {}
        for scope in dict.fromkeys(op.scope for op in trace.ops.values()):
            names = scope.strip("/").split("/")
            for depth, name in enumerate(names):
                inside.setdefault("/".join(names[:depth]), {})[name] = None
        self.blocks = {above: block_parts(list(names)) for above, names in inside.items()}
        """For each scope: layer → the blocks around it."""
        self.layers = layers_of_scopes(trace, inside)


_latest: list[tuple[ReferenceType[Trace], _Program]] = []
"""The trace drawn last: most pictures are of the same trace as the one before. Not held: the next
run may be of a program whose picture has no levels."""


def _program_of(trace: Trace) -> _Program:
    for known, program in _latest:
        if known() is trace:
            return program
    program = _Program(trace)
    _latest[:] = [(ref(trace), program)]
    return program


def turns_begun(trace: Trace) -> Mapping[int, Sequence[int]]:
    """For each loop of a trace's snippet, by the line of its header, when its turns began, in
    order; nothing of a loop whose names were bound unseen."""
    return _program_of(trace).begun


def called_names(trace: Trace) -> CalledNames:
    """The names of what a trace's snippet calls."""
    return _program_of(trace).names


class OpLevels:
    """Gives the levels of the ops of a trace.

    :meth:`of` must be called in the order in which the ops ran: it reads the bindings in parallel.
    """

    def __init__(self, trace: Trace, since: int = 0) -> None:
        """``since``: the position in the order of events from which on bindings are read; turns
        that began before are not counted."""
        program = _program_of(trace)
        self._lines = program.lines
        self._names = program.names
        self._marks = program.marks
        self._whens = program.whens
        self._blocks = program.blocks
        self._layers_of_scopes = program.layers
        self._headers_bound = program.headers_bound
        self._at = bisect_left(self._whens, since) if since else 0
        self._ids: dict[object, int] = {}
        self._layers_called: dict[object, tuple[str, str, tuple[str, ...]]] = {}
        """For each level of a layer's method its class, the name that Keras gives to layers of this
        class, and the names by which the snippet may have called it."""
        self._turns: dict[object, int] = {}
        self._bound: dict[object, set[str]] = {}
        self._stands: dict[object, int] = {}
        self._known: dict[int, tuple[tuple[Level, ...], bool]] = {}
        """The levels of the ops of a site, and whether there is a function among them."""
        self._chain: list[_Link] = []
        """The chain of callers read last, outermost first."""
        self._found: list[Level] = []
        """The levels of these frames."""
        self._depth = 0
        self._readers: dict[object, int] = {}
        """For each count of turns the index in the chain of the first frame that depends on it."""

    def of(self, op: Op) -> tuple[Level, ...]:
        """The levels that an op ran in, the outermost first."""
        self._read_until(op.when)
        site = op.description.site
        known = self._known.get(site.id)
        if known is None:
            levels = tuple(self._around(site.frames)[0])
            known = levels, any(level.kind == "function" for level in levels)
            # The turn may change without anything being bound.
            if not (self._chain and self._chain[-1].moves):
                self._known[site.id] = known
        levels, has_function = known
        scope = op.description.scope.strip("/")
        return self._with_scope(levels, scope, op) if scope or has_function else levels

    def loops_of(self, op: Op) -> tuple[tuple[object, int], ...]:
        """For each loop around an op, the outermost first, its key and the number of the turn."""
        return tuple(
            (loop.key, int(turn.title.partition(" ")[2]))
            for loop, turn in pairwise(self.of(op))
            if (loop.kind, turn.kind) == ("loop", "turn") and isinstance(loop.key, int)
        )

    def counts(self, when: int) -> Mapping[object, int]:
        """The number of turns, by the key of the loop, that began before a position in the order of
        events."""
        self._read_until(when)
        return {self._ids[key]: count for key, count in self._turns.items() if key in self._ids}

    def _read_until(self, when: int) -> None:
        if self._at < len(self._whens) and self._whens[self._at] < when:
            last = bisect_left(self._whens, when, self._at)
            for _, (name, site) in self._marks[self._at : last]:
                self._mark(name, site)
            self._at = last
            self._known.clear()

    def _id(self, key: object) -> int:
        return self._ids.setdefault(key, len(self._ids) + 1)

    def _mark(self, name: str, site: Site) -> None:
        """Note the binding of a loop variable or parameter: if the current turn or invocation has
        bound the name already, the next one begins."""
        frame, outer = site.frames[0], site.frames[1:]
        loop = self._lines.headers.get(frame.line)
        _, parent = self._around(outer)
        key: object
        if loop is not None and name in loop.names:
            inside = list(self._in_frame(frame, outer[0] if outer else None, parent))
            key = (inside[-1].key if inside else parent, loop)
        else:
            key = (parent, frame.function)
        bound = self._bound.setdefault(key, set())
        if name in bound or not bound:
            self._turns[key] = self._turns.get(key, 0) + 1
            bound.clear()
            if key in self._readers:
                del self._chain[self._readers[key] :]
        bound.add(name)

    def _around(self, frames: tuple[StackFrame, ...]) -> tuple[list[Level], int]:
        """The levels of a chain of frames (innermost first), and the number of the innermost level.

        Most frames are those of the op before; their levels are taken over. Sites share the frame
        objects of their callers, so frames are compared by identity.
        """
        chain, found = self._chain, self._found
        same = 0
        for link, frame in zip(chain, reversed(frames), strict=False):
            if link.frame is not frame:
                break
            same += 1
        del chain[same:]
        above = chain[-1] if chain else _Link(None, self._id(()), 0, False)
        del found[above.levels :]
        for frame in reversed(frames[: len(frames) - same]):
            self._depth = len(chain)
            inside = list(self._in_frame(frame, above.frame, above.parent))
            parent = above.parent
            if inside:
                parent = self._id((parent, *(level.key for level in inside)))
                found += inside
            loops = self._lines.loops.get(frame.line, ())
            moves = above.moves or any(map(self._turns_unseen, loops))
            above = _Link(frame, parent, len(found), moves)
            chain.append(above)
        return found, above.parent

    def _turn(self, key: object, default: int = 0) -> int:
        """The number of the turn or invocation of the frame being read."""
        self._readers[key] = self._depth
        return self._turns.get(key, default)

    def _in_frame(
        self, frame: StackFrame, caller: StackFrame | None, parent: int
    ) -> Iterator[Level]:
        """The function of a frame and the loops around its line."""
        above: object = parent
        if caller is not None:
            number = self._turn((parent, frame.function))
            above = self._id((parent, frame.function, caller.line, caller.column, number))
            if frame.function in LAYER_METHODS:
                called = self._names.called((caller.line, caller.column))
                self._layers_called[above] = *self._names.layer_at(frame.line), called
            yield Level("function", frame.function, caller.line, above)
        for loop in self._lines.loops.get(frame.line, ()):
            key = (above, loop)
            if self._turns_unseen(loop):
                self._count_by_statement(key, loop, frame.line)
            number = max(self._turn(key, 1), 1)
            within = self._id(key)
            yield Level("loop", loop.header, loop.line, within)
            above = self._id((within, number))
            yield Level("turn", f"turn {number}", loop.line, above)

    def _turns_unseen(self, loop: _Loop) -> bool:
        """Whether no binding tells the turns of a loop."""
        return not loop.names or loop.line not in self._headers_bound

    def _count_by_statement(self, key: object, loop: _Loop, line: int) -> None:
        """Count the turns of a loop: going back to an earlier statement begins a turn."""
        number = bisect_left(loop.starts, line + 1)
        if number < self._stands.get(key, 0):
            self._turns[key] = self._turns.get(key, 1) + 1
        self._stands[key] = number

    def _with_scope(self, levels: tuple[Level, ...], scope: str, op: Op) -> tuple[Level, ...]:
        """The levels with the layers of the op's name scope among them."""
        parts = list(self._parts(scope, op)) if scope else []
        found: list[Level] = []
        for level in levels:
            if level.kind != "function":
                found.append(level)
            elif level.title in LAYER_METHODS:
                own, kind, called = self._layers_called[level.key]
                # Keras layers define ``call``; a tf.Module has no scope, unless its class asks for
                # one, and TensorFlow's functions open others (``x[0]``: ``strided_slice``).
                is_module = level.title == "__call__"
                if not parts or (is_module and all(kind_of(name) != kind for _, name, _ in parts)):
                    title = called[0] if len(called) == 1 else own
                    found.extend([replace(level, title=title)] if title else ())
                    continue
                kinds = [kind_of(name) for _, name, _ in parts[:-1]]
                # Between two layers of the snippet there may be a model that Keras calls by itself.
                last = kinds.index(kind) if kind in kinds else 0
                for nested in parts[: last + 1]:
                    found.extend(self._layers(nested, op, level.key))
                del parts[: last + 1]
            elif level.title not in _NO_FUNCTIONS and level.title != "<lambda>":
                found.append(level)
        call = self._call_of_layer(op)
        for nested in parts:
            found.extend(self._layers(nested, op, call))
        return tuple(found)

    def _layers(self, scope: _Layer, op: Op, call: object) -> Iterator[Level]:
        """The blocks around a layer, and the layer; two calls of it are two levels."""
        blocks, name, title = scope
        for kind, block in blocks:
            yield Level(kind, block, op.line, block)
        yield Level("layer", title, op.line, (name, call))

    def _call_of_layer(self, op: Op) -> tuple[int, int] | None:
        """The position of the snippet's call of the layers that an op ran in; None if the snippet
        opened the scope itself."""
        if not op.site.frames or op.site.frames[0].line in self._lines.scopes:
            return None
        frame = op.site.frames[0]
        return frame.line, frame.column

    def _parts(self, scope: str, op: Op) -> Iterator[_Layer]:
        names = scope.split("/")
        titles = layer_titles(self._names, scope, op.site.frames)
        for depth, (name, title) in enumerate(zip(names, titles, strict=True)):
            above = "/".join(names[:depth])
            own = self._layers_of_scopes.get(f"{above}/{name}".lstrip("/"), name)
            text = own if title.text == name else title.text
            yield self._blocks.get(above, {}).get(name, ()), name, text
