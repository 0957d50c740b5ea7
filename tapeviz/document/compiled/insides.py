"""Look into calls of compiled functions: ask for the recording with their inside.

What a compiled function computes on the way is asked of the run's process call by call. The answer
is prepared in the background, diagnosis and arrangement included, so that the eye sees one change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from ...analysis.backward.steps import WalkStep
from ...analysis.requests.inside import has_inside
from ...analysis.requests.looks import MOST_OPS_AROUND
from ...drawing import Arranged
from ...graph.groups.branches import asking_functions
from ...graph.groups.opening import MOST_BOXES, any_turn
from ...graph.groups.tree import upwards
from ...trace.calls import Step
from ...trace.ids import CallId, OpId
from ...trace.model import Trace
from ...trace.ops import Op
from ..pipeline import Opener
from ..snapshot import Snapshot, take_snapshot

if TYPE_CHECKING:
    from ..document import Document


_TURNS_AROUND = 8
"""Turns on either side that are asked for together with the one shown."""


class Insides(QObject):
    """Looks into calls for one document, one at a time; of several asked for the newest counts."""

    changed = Signal()
    """Another call is awaited, or none any more."""
    refused = Signal()
    """The call that was awaited does not come."""

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self._document = document
        self.kept: Opener | None = None
        """The recording from a file that the trace comes from."""
        self.awaited: OpId | None = None
        """The call that is being looked into, by :attr:`Op.ran_as`."""
        self._lacked: OpId | None = None
        """The same if nobody asked for it by hand: a picture lacks it."""
        self.entering = 0
        """The row (from 1) of the backward pass whose inside is awaited; 0: none."""
        self._entered: set[tuple[CallId, int, OpId | None]] = set()
        self._paths: set[str] = set()
        self._asked: set[OpId] = set()
        self._asked_turns: set[tuple[OpId, int]] = set()
        document.background.failed.connect(self._note_failure)

    @property
    def source(self) -> Opener | None:
        """The run or recording that can be asked for an inside; None where there is none."""
        document = self._document
        return self.kept if document.is_loaded else document.runs.recording

    def look(self, call: Op, path: str = "", turns: Sequence[int] = ()) -> bool:
        """Ask for the inside of a call; ``path``: the group that is unfolded when it is there;
        ``turns``: of its loops, those (from 0) that are wanted besides the ends. False: nobody can
        be asked."""
        document, source = self._document, self.source
        if source is None or call.ran_as is None or document.is_running:
            return False
        self.awaited, self.entering, self._lacked = call.ran_as, 0, None
        self._asked.add(call.ran_as)
        self._ask(partial(source.look_into, call.ran_as, turns), path)
        return True

    def _ask(self, ask: Callable[[], Trace], path: str) -> None:
        document = self._document
        document.pin_call()
        self._paths |= {path} if path else set()
        view = document.view
        unfolded = view.unfolded | self._paths
        form = replace(view.form, folded=view.folded - self._paths, unfolded=unfolded)
        call, before = view.overlay.call, document.arranged
        work = partial(take_snapshot, ask, document.stages, form, call, before)
        document.background.submit("inside", work, self._take)
        self.changed.emit()

    def _take(self, opened: Snapshot) -> None:
        paths, self._paths, self.awaited, self._lacked = self._paths, set(), None, None
        row, self.entering = self.entering, 0
        self._document.showing.take_opened(opened, frozenset(paths))
        if row:
            self._document.show_step(row)
        self.changed.emit()

    def _note_failure(self, kind: str, error: object) -> None:
        if kind == "inside":
            self._paths, self.awaited, self.entering, self._lacked = set(), None, 0, None
            self.refused.emit()
            self.changed.emit()

    # The steps inside of one step of a backward pass

    def can_enter(self, step: WalkStep) -> bool:
        """Whether a step went through a compiled function, loop or branch that can be entered."""
        document, source, whole = self._document, self.source, self._whole_step(step)
        return (
            whole is not None
            and source is not None
            and source.can_enter
            and not document.is_running
            and self._entrance(whole) not in self._entered
        )

    def enter(self, step: WalkStep) -> bool:
        """Ask for the steps inside, which take the place of the step; False: it has none."""
        current, source, whole = self._document.current_call, self.source, self._whole_step(step)
        if current is None or source is None or whole is None or not self.can_enter(step):
            return False
        links = self._document.links
        node = links.node_of_step(step)
        self.awaited, self.entering = None, step.index + 1
        self._entered.add(self._entrance(whole))
        path = links.closed_path(node) if node is not None else ""
        self._ask(partial(source.enter, current.call.id, whole.index), path)
        return True

    def _whole_step(self, step: WalkStep) -> Step | None:
        """The step of the tape's own pass that a row stands for, if its op has an inside."""
        current = self._document.current_call
        if current is None or step.kind != "op" or not has_inside(self._document.trace, step.op):
            return None
        return next((each for each in current.call.steps if each.op == step.op), None)

    def _entrance(self, whole: Step) -> tuple[CallId, int, OpId | None]:
        """The gradient call, its step, and the run of the compiled function that it was made in."""
        current = self._document.current_call
        assert current is not None
        run = self._document.trace.op(current.call.within)
        return current.call.id, whole.index, run.ran_as if run is not None else None

    def give_up(self) -> None:
        """Give up waiting; the call stays closed."""
        self._document.background.drop("inside")
        self._note_failure("inside", None)

    def forget(self) -> None:
        """Forget what was asked for: another run or text comes."""
        self.give_up()
        self.kept = None
        self._asked.clear()
        self._asked_turns.clear()
        self._entered.clear()

    def look_at_open(self, arranged: Arranged) -> bool:
        """Ask for what stands open in a picture and was not looked into yet: a call, after a step
        to another round of the loop that it is called in; a turn of a loop in a call.

        Returns whether a call that this picture lacks is awaited now. One that only the picture
        before lacked is given up."""
        if self._document.is_running:
            return False
        lacked, asked = self._lacked, self._asked - {self._lacked}
        calls = (call for call in self._open_calls(arranged) if call.ran_as not in asked)
        call = next(calls, None)
        if call is not None and call.ran_as == lacked:
            return True
        if lacked is not None:
            self._asked.discard(lacked)
            self._lacked = self.awaited = None
            self._document.background.drop("inside")
            self.changed.emit()
        if self.awaited is not None:
            return False
        if call is not None:
            is_asked = self.look(call)
            self._lacked = self.awaited
            return is_asked
        for call, loop, turn in self._lacking_turns(arranged):
            if (loop, turn) not in self._asked_turns:
                around = range(max(turn - _TURNS_AROUND, 0), turn + _TURNS_AROUND + 1)
                self._asked_turns |= {(loop, near) for near in around}
                self.look(call, turns=around)
                return False
        return False

    def _lacking_turns(self, arranged: Arranged) -> Iterator[tuple[Op, OpId, int]]:
        """The turns (from 0) that are shown without their values: the call, the loop, the turn."""
        ops = self._document.trace.ops
        for frame in arranged.graph.graph.get("frames", ()):
            loop = ops.get(frame.loop) if frame.lacks else None
            call = ops.get(loop.within) if loop is not None and loop.within is not None else None
            if loop is not None and call is not None and call.ran_as is not None:
                yield call, loop.id, frame.turn - 1

    def _open_calls(self, arranged: Arranged) -> Iterator[Op]:
        """Calls that stand open, or would if their inside were known: in another round of the place
        they do, or their function is so small that a first view may open it. In a large
        trace, which takes long to diagnose again, a call that the program alone would open stays
        closed.
        """
        document = self._document
        trace, unfolded = document.trace, document.view.unfolded
        folded, current = document.view.folded, document.current_call
        shown = current.call.within if current is not None else None
        ruled, is_large = arranged.first_opening.ruled, len(trace.ops) > MOST_OPS_AROUND
        asking = asking_functions(trace)
        for _, node in arranged.graph.nodes(data="node"):
            op = trace.op(node.op)
            if op is None or (node.role == "group" and (op.body or not op.runs)):
                continue
            call = trace.ops.get(op.within) if op.within is not None else op
            if call is None or not call.runs or call.inside is not None:
                continue
            is_opened = not unfolded.isdisjoint(upwards(node.group))
            function = trace.functions.get(call.runs)
            is_small = function is not None and function.size <= MOST_BOXES
            is_small &= not folded.intersection((node.opens, *upwards(node.group)))
            is_ruled = is_small or ruled.get(any_turn(node.group), False)
            is_ruled &= call.runs not in asking
            is_ruled &= not (is_large and call is op)
            if call.id == shown or is_opened or is_ruled:
                yield call
