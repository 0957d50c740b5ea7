"""Tell the functions and the turns of loops that a chain of frames stands in.

Turns and invocations are counted by the bindings of loop variables and parameters. The counts are
kept with the positions of these bindings, so that all pictures of a trace read them once.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterator, Sequence
from itertools import count
from threading import Lock
from typing import Literal, NamedTuple

import msgspec

from ...text.called_names import LAYER_METHODS, CalledNames
from ..sites import Site, StackFrame
from .loops import LoopLines, LoopStatement

Kind = Literal["loop", "turn", "function", "layer", "entry", "backward", "line"]
FrameMark = tuple[int, tuple[str, Site]]
"""A binding of a loop variable or of a parameter: (when, (name, site))."""


class Level(msgspec.Struct, frozen=True, gc=False):
    """A function, turn or layer that an op ran in. ``key``: tells levels with the same title
    apart."""

    kind: Kind
    title: str
    line: int
    key: object


LoopTurns = tuple[tuple[object, int], ...]
"""(key of a loop or function, number of its turns or invocations begun) for each count that some
levels depend on."""


class _Link(NamedTuple):
    """A frame in a chain of callers, with what was read of the chain from its outer end to here.

    ``parent``: the id of the innermost level; ``levels``: how many levels there are; ``turns``: how
    many counts of turns they depend on; ``moves``: this frame or a caller is in a loop whose turns
    no binding shows, only the order of its statements.
    """

    frame: StackFrame | None
    parent: int
    levels: int
    turns: int
    moves: bool


class FrameTables(NamedTuple):
    """Tables of a snippet's text and bindings that show where loops are and when a turn begins.

    ``marks``: the bindings that may begin a turn, in the order of time; ``headers_bound``: their
    lines.
    """

    lines: LoopLines
    names: CalledNames
    headers_bound: frozenset[int]
    marks: Sequence[FrameMark]

    def has_unseen_turns(self, loop: LoopStatement) -> bool:
        """Whether no binding shows when a turn of the loop begins."""
        return not loop.names or loop.line not in self.headers_bound


_SHALLOW = 30
"""Frames of a chain that are compared one by one."""


class LayerCall(NamedTuple):
    """A call of a layer's method: its class, the name that Keras gives to layers of this class, the
    names by which the snippet may have called it, and the key of the expression that called it
    (:func:`call_key`)."""

    own: str
    kind: str
    called: tuple[str, ...]
    key: Hashable


def call_key(levels: Sequence[Level], frame: StackFrame) -> Hashable:
    """A key of the expression that runs in a frame of the snippet: the same for all ops and layers
    that it calls. ``levels``: those of the frame, outermost first."""
    return levels[-1].key if levels else None, frame.line, frame.column


class TurnCounts:
    """Counts how many turns of a loop, or invocations of a function, began before a mark.

    A mark is given by its index in :attr:`FrameTables.marks`.
    """

    def __init__(self) -> None:
        self.layers_called: dict[object, LayerCall] = {}
        """The call for each level of a layer's method."""
        self._begun: dict[object, list[int]] = {}
        self._ids: dict[object, int] = {}
        self._new_ids = count(1)

    def id(self, key: object) -> int:
        """The number that stands for a key."""
        known = self._ids.get(key)
        return self._ids.setdefault(key, next(self._new_ids)) if known is None else known

    def begin(self, key: object, mark: int) -> None:
        """Another turn or invocation begins at ``mark``, not before that of the last call."""
        self._begun.setdefault(key, []).append(mark)

    def begun(self, key: object, mark: int) -> int:
        """How many turns or invocations began before a mark. ``key``: for a loop, the key of its
        level."""
        return bisect_left(self._begun.get(key, ()), mark)


class FrameReader:
    """Reads the levels of chains of frames as they were after the first :attr:`mark` marks."""

    def __init__(self, tables: FrameTables, counts: TurnCounts) -> None:
        self.mark = 0
        self.counts = counts
        self._tables = tables
        self._stands: dict[object, int] = {}
        self._chain: list[_Link] = []
        """The chain of callers that was read last, outermost first."""
        self._frames: list[StackFrame] = []
        """The frames of the chain, then perhaps some that were read before."""
        self._found: list[Level] = []
        """The levels of the chain."""
        self._turns: list[tuple[object, int]] = []
        """The counts that the levels depend on; then perhaps some of a frame read afterwards."""
        self._depth = 0
        self._readers: dict[object, int] = {}
        """Key of a count → the index in the chain of the first frame that depends on it."""

    def move(self, mark: int) -> None:
        """Read from now on as it was at another mark."""
        self.mark = mark
        self._chain.clear()
        self._readers.clear()

    @property
    def is_moving(self) -> bool:
        """Whether the chain read last may come into another turn without a binding."""
        return bool(self._chain) and self._chain[-1].moves

    def around(self, frames: tuple[StackFrame, ...]) -> tuple[list[Level], int]:
        """The levels of a chain of frames (innermost first), and the id of the innermost level.

        Most frames are those of the op before, so their levels are reused. Sites share the frame
        objects of their callers, so frames are compared by identity.
        """
        chain, found = self._chain, self._found
        outer = frames[::-1]
        same = min(len(chain), len(outer))
        if same > _SHALLOW and tuple(self._frames[:same]) != outer[:same]:  # of a deep recursion
            same = 0
        if same <= _SHALLOW:
            same = 0
            for link, frame in zip(chain, outer, strict=False):
                if link.frame is not frame:
                    break
                same += 1
        del chain[same:]
        self._frames[same:] = outer[same:]
        above = chain[-1] if chain else _Link(None, self.counts.id(()), 0, 0, False)
        del found[above.levels :]
        del self._turns[above.turns :]
        for frame in reversed(frames[: len(frames) - same]):
            self._depth = len(chain)
            inside = list(self._in_frame(frame, above.frame, above.parent))
            parent = above.parent
            if inside:
                parent = self.counts.id((parent, *(level.key for level in inside)))
                found += inside
            loops = self._tables.lines.loops.get(frame.line, ())
            moves = above.moves or any(map(self._tables.has_unseen_turns, loops))
            above = _Link(frame, parent, len(found), len(self._turns), moves)
            chain.append(above)
        return found, above.parent

    @property
    def turns(self) -> LoopTurns:
        """The counts at :attr:`mark` that the levels read last depend on."""
        return tuple(self._turns)

    def still(self, turns: LoopTurns) -> int:
        """How many of the counts, from the first on, are still the same at :attr:`mark`."""
        begun, mark = self.counts.begun, self.mark
        for same, (key, number) in enumerate(turns):
            if begun(key, mark) != number:
                return same
        return len(turns)

    def next_turn(
        self, levels: tuple[Level, ...], turns: LoopTurns
    ) -> tuple[tuple[Level, ...], LoopTurns]:
        """The levels and counts at :attr:`mark`, where of ``turns`` only the last has changed: that
        of the loop whose turn ends ``levels``."""
        loop = turns[-1][0]
        number = self.counts.begun(loop, self.mark)
        turn = _turn_level(number, levels[-1].line, self.counts.id((loop, max(number, 1))))
        return (*levels[:-1], turn), (*turns[:-1], (loop, number))

    def _turn(self, key: object) -> int:
        """How many turns or invocations began; notes that the frame being read depends on it."""
        self._readers[key] = self._depth
        number = self.counts.begun(key, self.mark)
        self._turns.append((key, number))
        return number

    def _in_frame(
        self, frame: StackFrame, caller: StackFrame | None, parent: int
    ) -> Iterator[Level]:
        """The function of a frame and the loops around its line."""
        counts, above = self.counts, parent
        if caller is not None:
            number = self._turn((parent, frame.function))
            above = counts.id((parent, frame.function, caller.line, caller.column, number))
            if frame.function in LAYER_METHODS:
                names = self._tables.names
                own, kind = names.layer_at(frame.line)
                called = names.called((caller.line, caller.column))
                key = call_key(self._found, caller)
                counts.layers_called[above] = LayerCall(own, kind, called, key)
            yield Level("function", frame.function, caller.line, above)
        for loop in self._tables.lines.loops.get(frame.line, ()):
            within = counts.id((above, loop))
            if self._tables.has_unseen_turns(loop):
                self._count_by_statement(within, loop, frame.line)
            number = self._turn(within)
            yield Level("loop", loop.header, loop.line, within)
            above = counts.id((within, max(number, 1)))
            yield _turn_level(number, loop.line, above)

    def _count_by_statement(self, key: object, loop: LoopStatement, line: int) -> None:
        """Count the turns of a loop: going back to an earlier statement begins a turn."""
        number = bisect_left(loop.starts, line + 1)
        if number < self._stands.get(key, 0):
            before = self.mark - 1
            if not self.counts.begun(key, self.mark):  # the first turn has not been counted
                self.counts.begin(key, before)
            self.counts.begin(key, before)
        self._stands[key] = number


def _turn_level(begun: int, line: int, key: object) -> Level:
    """The level of the turn that runs. ``begun``: how many turns were counted; 0 in the first turn
    of a loop that is counted by its statements."""
    return Level("turn", f"turn {max(begun, 1)}", line, key)


class MarkReader(FrameReader):
    """Counts turns and invocations by reading the marks of a run in their order."""

    def __init__(self, tables: FrameTables) -> None:
        super().__init__(tables, TurnCounts())
        self._bound: dict[object, set[str]] = {}
        self._known: dict[tuple[str, int], tuple[object, LoopTurns]] = {}
        """(name, id of the site) → the key of the loop or function whose turn or invocation binds
        the name, and the counts that this key depends on."""
        self._reading = Lock()

    def read(self, until: int) -> None:
        """Read the first ``until`` marks, those that were not read before."""
        with self._reading:
            while self.mark < until:
                _, (name, site) = self._tables.marks[self.mark]
                self._read(name, site)
                self.mark += 1

    def _read(self, name: str, site: Site) -> None:
        """Read a mark: a turn or invocation that binds a name a second time is the next one."""
        known = self._known.get((name, site.id))
        if known is not None and self.still(known[1]) == len(known[1]):
            key = known[0]
        else:
            key = self._key(name, site)
        bound = self._bound.get(key)
        if bound is None:
            bound = self._bound[key] = set()
        if name in bound or not bound:
            self.counts.begin(key, self.mark)
            bound.clear()
            if key in self._readers:
                del self._chain[self._readers[key] :]
        bound.add(name)

    def _key(self, name: str, site: Site) -> object:
        """The key of the loop or function whose turn or invocation binds a name at a site."""
        frame, outer = site.frames[0], site.frames[1:]
        loop = self._tables.lines.headers.get(frame.line)
        _, parent = self.around(outer)
        key: object
        moves = self.is_moving
        if loop is not None and name in loop.names:
            inside = list(self._in_frame(frame, outer[0] if outer else None, parent))
            loops = self._tables.lines.loops.get(frame.line, ())
            moves = moves or any(map(self._tables.has_unseen_turns, loops))
            key = self.counts.id((inside[-1].key if inside else parent, loop))
        else:
            key = (parent, frame.function)
        if not moves:
            self._known[name, site.id] = key, self.turns
        return key
