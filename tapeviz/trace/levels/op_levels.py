"""Tell the functions, loop turns and layers that each op ran in.

The recording says when a loop variable or a parameter was bound, so turns and invocations are known
exactly. A turn of a ``while`` loop, and of a Python loop in a compiled function, whose variable is
bound unseen, begins where the execution goes back to an earlier statement.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from msgspec import structs

from ...latest import for_latest
from ...text.called_names import LAYER_METHODS, CalledNames, kind_of
from ...text.source import SourceText
from ..model import Trace
from ..naming import layer_titles
from ..ops import Op
from ..sites import Site, StackFrame
from .blocks import BlockKind, block_parts
from .frames import FrameMark, FrameReader, FrameTables, Level, LoopTurns, MarkReader, call_key
from .loops import LoopLines
from .scopes import is_of_layer, layer_scopes, layers_of_scopes

_NO_FUNCTIONS = frozenset(
    ("<module>", "<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>", "<lambda>")
)
_Frames = tuple[StackFrame, ...]
_Layer = tuple[tuple[tuple[BlockKind, str], ...], str, str]
"""The blocks around a layer, its name, and what the snippet calls it."""


class _Program:
    """Tables of a trace's text and bindings that every picture of it needs."""

    def __init__(self, trace: Trace) -> None:
        text = SourceText(trace.source)
        self.lines = lines = LoopLines(text)
        self.names = CalledNames(text)
        marks: list[FrameMark] = []
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
        marks.sort(key=lambda mark: mark[0])
        longest = {line: max(places.values(), key=len) for line, places in begun.items()}
        self.begun = {line: sorted(whens) for line, whens in longest.items()}
        """For each loop, by the line of its header, the positions in the order of events at which
        its turns began: a name of its header was bound, or of a ``while`` loop one in its body."""
        self.whens = [when for when, _ in marks]
        bound = frozenset(site.frames[0].line for _, (_, site) in marks)
        self.tables = FrameTables(lines, self.names, bound, marks)
        self.marks = MarkReader(self.tables) if self._has_marks(trace) else None
        """Reads the marks once for all callers; None: the marks do not separate every turn."""
        inside: dict[str, dict[str, None]] = {}
        for scope in dict.fromkeys(op.scope for op in trace.ops.values()):
            names = scope.strip("/").split("/")
            for depth, name in enumerate(names):
                inside.setdefault("/".join(names[:depth]), {})[name] = None
        self.blocks = {above: block_parts(list(names)) for above, names in inside.items()}
        """For each scope: layer → the blocks around it."""
        self.layers = layers_of_scopes(trace, inside)

    def _has_marks(self, trace: Trace) -> bool:
        """Whether bindings tell the turns of all loops in which something ran."""
        sites = {op.description.site.id: op.description.site for op in trace.ops.values()}
        sites.update((site.id, site) for _, (_, site) in self.tables.marks)
        lines = {frame.line for site in sites.values() for frame in site.frames}
        loops = {loop for line in lines for loop in self.lines.loops.get(line, ())}
        return not any(map(self.tables.has_unseen_turns, loops))


@for_latest
def _program_of(trace: Trace) -> _Program:
    return _Program(trace)


def turns_begun(trace: Trace) -> Mapping[int, Sequence[int]]:
    """For each loop of the snippet, by the line of its header: the moments at which its turns
    began, in order. A loop whose variable was bound unseen is missing."""
    return _program_of(trace).begun


def comprehensions(trace: Trace) -> Mapping[int, str]:
    """The header (``for x in xs``) of the comprehension on each line of a trace's snippet that has
    a single one."""
    return _program_of(trace).lines.comprehensions


def called_names(trace: Trace) -> CalledNames:
    """The names of what a trace's snippet calls."""
    return _program_of(trace).names


_FEW = 30
"""Frames of a site of which others with the same levels are looked for."""


class _Known(NamedTuple):
    """The levels of the ops of a place as of a mark; whether there is a function among them that
    is no level by itself; the counts that they depend on."""

    levels: tuple[Level, ...]
    has_unnamed: bool
    turns: LoopTurns
    mark: int


def _is_unnamed(level: Level) -> bool:
    """Whether a level is a function that the snippet did not name, or a method of a layer."""
    return level.kind == "function" and (
        level.title in _NO_FUNCTIONS or level.title in LAYER_METHODS
    )


def _place_of(site: Site) -> Hashable:
    """A key that is the same for sites of one line, called from the same place."""
    if not 0 < len(site.frames) <= _FEW:
        return site.id
    frame, *outer = site.frames
    return frame.function, frame.line, tuple(map(id, outer))


class OpLevels:
    """Gives the levels of the ops of a trace.

    :meth:`of` must be called in the order in which the ops ran: it reads the bindings in parallel.
    """

    def __init__(self, trace: Trace, since: int = 0) -> None:
        """``since``: the position in the order of events of the first op asked about. Where the
        statements alone tell the turns of a loop, those that began before it are not counted."""
        program = _program_of(trace)
        self._names = program.names
        self._whens = program.whens
        self._blocks = program.blocks
        self._layers_of_scopes = program.layers
        self._scopes = program.lines.scopes
        if program.marks is not None:
            self._marks = program.marks
            self._frames = FrameReader(program.tables, self._marks.counts)
        else:  # what is counted depends on the ops that are asked about
            self._frames = self._marks = MarkReader(program.tables)
            self._frames.move(bisect_left(self._whens, since) if since else 0)
        self._counts = self._marks.counts
        self._places: dict[int, Hashable] = {}
        """A key for each site, by its id: the same for those that have the same levels."""
        self._known: dict[Hashable, _Known] = {}
        self._opened: tuple[str, _Frames, tuple[Level, ...]] = "", (), ()
        """The outermost name scope of the op asked about last, its frames and their levels: the
        call of a layer."""
        self._turns_known: tuple[tuple[Level, ...], LoopTurns] = (), ()
        """The levels whose loops were asked for last, and these."""

    def of(self, op: Op) -> tuple[Level, ...]:
        """The levels that an op ran in, the outermost first."""
        self._read_until(op.when)
        about = op.description
        place = self._places.get(about.site.id)
        if place is None:
            place = self._places[about.site.id] = _place_of(about.site)
        known = self._known.get(place)
        if known is None or known.mark != self._frames.mark:
            known = self._known_at(place, about.site, known)
        if about.scope or known.has_unnamed:
            scope = about.scope.strip("/")
            return self._with_scope(known.levels, scope, op)
        return known.levels

    def _known_at(self, place: Hashable, site: Site, before: _Known | None) -> _Known:
        """The levels of the ops of a site as of now. Most often another turn of the innermost loop
        has begun since they were known ``before``, or nothing that matters there."""
        frames = self._frames
        if before is not None:
            levels, turns = before.levels, before.turns
            same = frames.still(turns)
            if same == len(turns) - 1 and levels[-1].kind == "turn":
                levels, turns = frames.next_turn(levels, turns)
                same += 1
            if same == len(turns):
                self._known[place] = known = _Known(levels, before.has_unnamed, turns, frames.mark)
                return known
        levels = tuple(frames.around(site.frames)[0])
        has_unnamed = any(map(_is_unnamed, levels))
        known = _Known(levels, has_unnamed, frames.turns, frames.mark)
        if not frames.is_moving:
            self._known[place] = known
        return known

    def loops_of(self, op: Op) -> LoopTurns:
        """For each loop around an op, the outermost first, its key and the number of the turn."""
        levels, (known, turns) = self.of(op), self._turns_known
        if levels is not known:
            turns = tuple(
                (loop.key, int(turn.title.partition(" ")[2]))
                for loop, turn in pairwise(levels)
                if (loop.kind, turn.kind) == ("loop", "turn") and isinstance(loop.key, int)
            )
            self._turns_known = levels, turns
        return turns

    def turns_before(self, loop: object, when: int) -> int:
        """The number of turns of a loop, given by its key, that began before a position in the
        order of events. No op from before that position is to be asked about later."""
        self._read_until(when)
        return self._counts.begun(loop, self._frames.mark)

    def _read_until(self, when: int) -> None:
        at = self._frames.mark
        if at < len(self._whens) and self._whens[at] < when:
            at = bisect_left(self._whens, when, at)
            self._marks.read(at)
            if self._frames is not self._marks:
                self._frames.move(at)

    def _with_scope(self, levels: tuple[Level, ...], scope: str, op: Op) -> tuple[Level, ...]:
        """The levels with the layers of the op's name scope among them."""
        frames, inner = op.site.frames, levels[:0]
        if scope:
            frames, levels, inner = self._call_around(scope, frames, levels)
        parts = list(self._parts(scope, frames)) if scope else []
        found: list[Level] = []
        for level in levels:
            if level.kind != "function":
                found.append(level)
            elif level.title in LAYER_METHODS:
                own, kind, called, key = self._counts.layers_called[level.key]
                # Keras layers define ``call``; a tf.Module has no scope, unless its class asks for
                # one, and TensorFlow's functions open others (``x[0]``: ``strided_slice``).
                is_module = level.title == "__call__"
                if not parts or (is_module and all(kind_of(name) != kind for _, name, _ in parts)):
                    title = called[0] if len(called) == 1 else own
                    found.extend([structs.replace(level, title=title)] if title else ())
                    continue
                kinds = [kind_of(name) for _, name, _ in parts]
                # Between two layers of the snippet there may be a model that Keras calls by itself:
                # all that it calls are in the same call of it.
                last = kinds.index(kind) if kind in kinds else 0
                for nested in parts[:last]:
                    found.extend(self._layers(nested, level.line, key))
                found.extend(self._layers(parts[last], level.line, level.key))
                del parts[: last + 1]
            elif level.title not in _NO_FUNCTIONS:
                found.append(level)
        call, line = self._call_of_layer(levels, frames), frames[0].line if frames else 0
        for nested in parts:
            found.extend(self._layers(nested, line, call))
        found.extend(level for level in inner if not _is_unnamed(level))
        return tuple(found)

    def _call_around(
        self, scope: str, frames: _Frames, levels: tuple[Level, ...]
    ) -> tuple[_Frames, tuple[Level, ...], tuple[Level, ...]]:
        """The frames of the call that opened a scope, their levels, and the levels of functions
        that it ran in there: those of a ``Lambda`` layer are further in than the layer."""
        head = scope.partition("/")[0]
        opened, outer, around = self._opened
        inside = frames[: len(frames) - len(outer)]
        is_inside = head == opened and inside and frames[len(inside) :] == outer
        is_plain = not any(frame.function in LAYER_METHODS for frame in inside)
        if is_inside and is_plain and levels[: len(around)] == around:
            return outer, around, levels[len(around) :]
        self._opened = head, frames, levels
        return frames, levels, ()

    def _layers(self, scope: _Layer, line: int, call: Hashable) -> Iterator[Level]:
        """The blocks around a layer, and the layer, which ``line`` calls; two calls of it are two
        levels."""
        blocks, name, title = scope
        for kind, block in blocks:
            yield Level(kind, block, line, block)
        yield Level("layer", title, line, (name, call))

    def _call_of_layer(self, levels: Sequence[Level], frames: _Frames) -> Hashable:
        """The key of the snippet's call of the layers that an op ran in; None if the snippet opened
        the scope itself."""
        if not frames or frames[0].line in self._scopes:
            return None
        return call_key(levels, frames[0])

    def _parts(self, scope: str, frames: _Frames) -> Iterator[_Layer]:
        names = scope.split("/")
        titles = iter(layer_titles(self._names, layer_scopes(scope), frames))
        for depth, name in enumerate(names):
            if not is_of_layer(name):
                continue
            above, title = "/".join(names[:depth]), next(titles)
            own = self._layers_of_scopes.get(f"{above}/{name}".lstrip("/"), name)
            text = own if title.text == name else title.text
            yield self._blocks.get(above, {}).get(name, ()), name, text
