"""Show a trace with all that follows from it: diagnosis and picture.

While a run goes on, the three come together; after it, each comes as soon as it is made.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..analysis.diagnose import reported
from ..analysis.findings import Fix
from ..analysis.model import EMPTY_DIAGNOSIS
from ..scene.model import Overlay
from ..trace.ids import CallId
from ..trace.model import EMPTY_TRACE, Trace
from .diagnosing import MANY_ASKED
from .growing import Growing
from .snapshot import Snapshot

if TYPE_CHECKING:
    from .document import Document


class Showing:
    """Puts traces into one document. ``has_news``: something of the present run is shown;
    ``mended``: the call of the present run for which a fix was applied before it."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._growing = Growing(document)
        self.has_news = False
        self.mended: CallId | None = None
        self._follows: tuple[int, int] | None = None
        """The place of the call to be mended among those of the run before, and their number."""
        self._awaits: tuple[int, int] | None = None
        """The same, once the run that follows the fix has begun."""

    def follow_fix(self, fix: Fix) -> None:
        """Show the call that a fix mends when the run that begins next is over."""
        calls = self._document.diagnosis.calls
        of_fix = (n for n, call in enumerate(calls) if any(fix in f.fixes for f in call.findings))
        place = next(of_fix, None)
        self._follows = (place, len(calls)) if place is not None else None

    def _show_mended(self, trace: Trace) -> None:
        """Choose the call that stands where the one to be mended stood, unless the user chose
        another, or the edit made more or fewer calls."""
        if self._awaits is None or trace is EMPTY_TRACE:
            return
        (place, count), self._awaits = self._awaits, None
        calls = reported(trace.calls)
        if len(calls) != count:
            return
        document, self.mended = self._document, calls[place].id
        overlay = document.view.overlay
        if overlay.call is None:
            document.change_view(replace(document.view, overlay=replace(overlay, call=self.mended)))

    def begin_anew(self) -> None:
        """Another run or text comes: nothing of it is shown yet."""
        self.has_news = False
        self.mended = None
        self._awaits, self._follows = self._follows, None
        self._growing.give_up()

    def give_up(self) -> None:
        """Cancel what is made in the background."""
        self._growing.give_up()

    def take(self, trace: Trace) -> None:
        """Show a trace: of a run under way now and then, else at once."""
        document = self._document
        if document.is_running:
            self._growing.take(trace)
            return
        self._growing.give_up()
        document.trace = trace
        self._note_news()
        self._show_mended(trace)
        document.comparing.leave()
        document.trace_changed.emit()
        if trace is EMPTY_TRACE:
            document.diagnosing.clear()
            document.picturing.clear()
            document.diagnosis_changed.emit()
            document.step_changed.emit()
        else:
            is_much = sum(len(call.sources) for call in trace.calls) > MANY_ASKED
            if is_much:
                document.picturing.arrange()
            document.diagnosing.diagnose(trace)
            if not is_much:
                document.picturing.arrange()
        document.selection_changed.emit()
        document.status_changed.emit()

    def stop_growing(self) -> None:
        """The snippet is over: do not show a part of its trace any more, unless nothing of the run
        is shown. It would take time and memory that the whole needs."""
        if self.has_news:
            self._growing.give_up()

    def take_growing(self, snapshot: Snapshot) -> None:
        """Show the run under way as far as it is known."""
        self._note_news()
        self._take_snapshot(snapshot)

    def take_opened(self, opened: Snapshot, unfolded: frozenset[str]) -> None:
        """Show the trace of the same run with another call of a compiled function opened; nodes
        that are alike stay in place. ``unfolded``: paths of groups to open."""
        document, view = self._document, self._document.view
        document.change_view(
            replace(view, folded=view.folded - unfolded, unfolded=view.unfolded | unfolded)
        )
        self._take_snapshot(opened)

    def show_diagnosis(self) -> None:
        """Tell panels and picture of another diagnosis."""
        document = self._document
        document.picturing.relink()
        document.diagnosis_changed.emit()
        document.step_changed.emit()
        if "arrange" not in document.background.busy:  # else the scene comes with that graph
            document.picturing.compose()

    def forget_diagnosis(self) -> None:
        """Drop the cards, marks and steps of the run before at once; its graph stays, faded."""
        document = self._document
        was_empty = document.diagnosis is EMPTY_DIAGNOSIS
        document.change_overlay(replace(document.view.overlay, call=None, step=None))
        document.diagnosing.clear()
        document.picturing.relink()
        # A card that is deleted does not report that the pointer left it.
        document.selecting.hover(frozenset())
        if not was_empty:
            document.diagnosis_changed.emit()
            document.step_changed.emit()

    def _note_news(self) -> None:
        """Forget what was selected in the run before, when something of this one is shown."""
        if not self.has_news:
            self.has_news = True
            document = self._document
            document.selecting.forget()
            document.change_overlay(Overlay(show_bridge=document.view.overlay.show_bridge))

    def _take_snapshot(self, snapshot: Snapshot) -> None:
        """Show a trace with all that was made of it, as a single change. If the user chose another
        call or form meanwhile, the picture follows."""
        document = self._document
        view, picturing = document.view, document.picturing
        document.trace = snapshot.trace
        document.diagnosing.take_more(snapshot.diagnosis)
        document.selecting.keep_within(snapshot.trace)
        picturing.form = view.form
        if view.overlay.call == snapshot.call and view.form == snapshot.form:
            picturing.take_ready(snapshot.arranged, snapshot.call)
        else:
            picturing.relink()
            picturing.arrange(is_same_run=True)
        for signal in (
            document.trace_changed,
            document.diagnosis_changed,
            document.step_changed,
            document.selection_changed,
            document.status_changed,
        ):
            signal.emit()
