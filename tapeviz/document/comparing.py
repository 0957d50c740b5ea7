"""Draw two runs side by side, with the same ops in the same places.

The first run is the document's own. The second is recorded in another process, or comes from a
file; it does not change the rest of the document.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from ..analysis.comparing import Comparison, compare
from ..analysis.findings import Fix
from ..drawing import Arranged
from ..drawing.both import Shown, draw_both, only_drawn, open_in_picture
from ..graph.model import NodeId
from ..graph.nodes import op_id
from ..scene.model import Scene
from ..trace.ids import CallId
from ..trace.model import Trace
from ..view import DEFAULT_VIEW, View
from .pipeline import LookInto, Opener

if TYPE_CHECKING:
    from .document import Document

BEFORE, AFTER = "before:", "after:"


@dataclass(frozen=True, slots=True)
class ComparedRuns:
    """Two runs, their differences, and their picture.

    ``found``: all differences; ``comparison``: those of ops that the picture has. ``fix``: the fix
    whose text is the second run.
    """

    before: Shown
    after: Shown
    found: Comparison
    comparison: Comparison
    arranged: Arranged
    scene: Scene
    fix: Fix | None = None


class Comparing(QObject):
    """Compares the run of one document with another run.

    ``both``: the comparison shown in place of the document's own picture, None for none.
    """

    changed = Signal()

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self._document = document
        self.both: ComparedRuns | None = None
        self.awaited = ""
        """The name of the run that the comparison waits for; empty for none."""
        self._number = 0
        self._drawn_view = self._folds = DEFAULT_VIEW
        """The view drawn, and one whose groups were opened and closed by hand in the picture of
        both: those of the document's own picture are of one graph."""
        self._drawn_call: CallId | None = None
        """The gradient call drawn, or being drawn."""
        self._picked: NodeId = ""
        self._partners: dict[NodeId, NodeId] = {}
        document.view_changed.connect(self._follow_view)
        document.selection_changed.connect(self._follow_selection)
        document.step_changed.connect(self._leave_for_step)
        document.background.failed.connect(self._note_failure)
        document.run_started.connect(self.leave)

    def compare_text(self, source: str, name: str, fix: Fix | None = None) -> None:
        """Run a text in another process, and show it beside the document's run."""
        number = self._begin(name)
        record = self._document.runs.pipeline.record_apart
        filename = self._document.text.filename
        take = partial(record, source, filename, lambda: number != self._number)
        self._compare(take, name, fix)

    def compare_trace(self, load: Callable[[LookInto], Trace], name: str) -> None:
        """Show a recording beside the document's run; ``load`` is called in the background."""
        self._begin(name)
        self._compare(load, name, None)

    def leave(self) -> None:
        """Show the document's own picture again."""
        self._number += 1
        self._document.background.drop("compare")
        was_there = self.both is not None or self.awaited
        self.both, self.awaited, self._picked, self._folds = None, "", "", DEFAULT_VIEW
        if was_there:
            self.changed.emit()

    def _begin(self, name: str) -> int:
        self.leave()
        self._document.stepping.go_to(None)
        self.awaited = name
        self.changed.emit()
        return self._number

    def _compare(self, take: Callable[[LookInto], Trace], name: str, fix: Fix | None) -> None:
        document = self._document
        call = self._current_call()
        before = Shown(document.text.filename, document.trace, document.diagnosis, call)
        diagnose, view = document.stages.diagnose, self._view()
        self._drawn_view, self._drawn_call = view, call

        def look(opener: Opener, trace: Trace) -> Trace:
            found = compare((before.trace, before.diagnosis), (trace, diagnose(trace)))
            return open_in_picture(trace, view, found.call_after(call), opener.look_into)

        def work() -> ComparedRuns:
            trace = take(look)
            diagnosis = diagnose(trace)
            found = compare((before.trace, before.diagnosis), (trace, diagnosis))
            after = Shown(name, trace, diagnosis, found.call_after(call))
            return _draw(before, after, found, view, fix)

        document.background.submit("compare", work, self._show)

    def _show(self, both: ComparedRuns) -> None:
        pairs = [(op_id(op), op_id(other)) for op, other in both.comparison.pairs]
        self._partners = {BEFORE + node: AFTER + other for node, other in pairs}
        self._partners |= {other: node for node, other in self._partners.items()}
        self.awaited, self.both = "", both
        self._follow_selection()
        self._follow_view()  # it may have changed while this was made

    def _note_failure(self, kind: str, error: object) -> None:
        if kind == "compare":
            self.leave()

    # View and selection

    def _view(self) -> View:
        """The document's view, without selection and step, with the folds of both pictures."""
        view = self._document.view
        overlay = replace(DEFAULT_VIEW.overlay, show_bridge=view.overlay.show_bridge)
        folds = self._folds
        return replace(view, overlay=overlay, folded=folds.folded, unfolded=folds.unfolded)

    def unfold(self, node: NodeId) -> bool:
        """Open a folded group in both pictures; returns False if the node is none."""
        known = self.both.arranged.graph.nodes.get(node) if self.both is not None else None
        path = known["node"].opens if known is not None else ""
        if path:
            self._folds = self._folds.opened(path)
            self._follow_view()
        return bool(path)

    def fold_group(self, path: str) -> None:
        """Close an open group in both pictures."""
        self._folds = self._folds.closed(path)
        self._follow_view()

    def _current_call(self) -> CallId | None:
        current = self._document.current_call
        return current.call.id if current is not None else None

    def _follow_view(self) -> None:
        """Draw the view and the gradient call that the document shows now."""
        both, view, call = self.both, self._view(), self._current_call()
        if both is None:
            return
        if (view, call) != (self._drawn_view, self._drawn_call):
            before = replace(both.before, call=call)
            after = replace(both.after, call=both.found.call_after(call))
            work = partial(_draw, before, after, both.found, view, both.fix)
            self._document.background.submit("compare", work, self._show)
        self._drawn_view, self._drawn_call = view, call

    def _leave_for_step(self) -> None:
        if self._document.step is not None:
            self.leave()

    def pick(self, node: NodeId) -> None:
        """Select a node of the picture of both, in the document its counterpart."""
        self._picked = node
        twin = node if node.startswith(BEFORE) else self._partners.get(node, "")
        own = twin.removeprefix(BEFORE)
        nodes = frozenset((own,)) if own in self._document.links.nodes else frozenset[NodeId]()
        if nodes == self._document.selection.nodes:
            self._follow_selection()
        else:
            self._document.selecting.select_nodes(nodes)

    @property
    def selected(self) -> frozenset[NodeId]:
        """The selected nodes of the picture of both: those of the document, those clicked, and
        their counterparts."""
        own = {BEFORE + node for node in self._document.selection.nodes}
        chosen = own | {self._picked} if self._picked else own
        return frozenset(
            chosen | {self._partners[node] for node in chosen if node in self._partners}
        )

    def _follow_selection(self) -> None:
        if self.both is None:
            return
        if not self._document.selection.nodes and self._picked.startswith(BEFORE):
            self._picked = ""
        chosen, scene = self.selected, self.both.scene
        boxes = tuple(
            replace(box, is_selected=box.node in chosen)
            if box.is_selected != (box.node in chosen)
            else box
            for box in scene.boxes
        )
        self.both = replace(self.both, scene=replace(scene, boxes=boxes))
        self.changed.emit()


def _draw(
    before: Shown, after: Shown, found: Comparison, view: View, fix: Fix | None
) -> ComparedRuns:
    comparison = only_drawn(before, after, found, view)
    arranged, scene = draw_both(before, after, comparison, view)
    return ComparedRuns(before, after, found, comparison, arranged, scene, fix)
