"""The observable document: source, trace and view, and the diagnosis, graph and scene of them.

Panels and canvas read its attributes when a signal says that they changed; they know neither each
other nor the pipeline. A stage runs again only if one of its inputs is another object. Long work is
done in the background, where only the newest task of each kind counts.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from ..analysis.backward.steps import WalkStep
from ..analysis.model import CallDiagnosis, Diagnosis
from ..analysis.rounds.call_sites import CallSite
from ..drawing import Arranged
from ..errors import TapevizError
from ..scene.model import Overlay, Scene
from ..trace.ids import CallId
from ..trace.model import EMPTY_TRACE, Trace
from ..view import DEFAULT_VIEW, View
from .background import Background, failure_words
from .comparing import Comparing
from .compiled.function_calls import FunctionCalls
from .compiled.insides import Insides
from .diagnosing import Diagnosing
from .fix_trials import FixTrials
from .folding import Folding
from .jobs import Jobs
from .links import Links
from .picturing import Picturing
from .pipeline import Opener, Pipeline, Stages
from .runs import Runs
from .selecting import Selecting, Selection
from .shares import Shares
from .showing import Showing
from .stepping import Stepping
from .text.parts import LinePart, lines_alone, part_with_names
from .text.repairing import Repairing
from .text.text import UNNAMED, Text
from .values import Values


class Document(QObject):
    """A snippet, its newest run, and what the user looks at."""

    trace_changed = Signal()
    diagnosis_changed = Signal()
    view_changed = Signal()
    arrangement_changed = Signal()
    scene_changed = Signal()
    selection_changed = Signal()
    hover_changed = Signal()
    step_changed = Signal()
    run_started = Signal()
    run_ended = Signal()
    output_added = Signal(str, str)
    picture_added = Signal(bytes)
    """A figure that the snippet showed (PNG)."""
    question_changed = Signal()
    """``input()`` begins or ends to wait for a line: :attr:`Runs.question`."""
    progress_changed = Signal()
    status_changed = Signal()
    reveal_requested = Signal(object)
    """Nodes (a frozenset) to bring into sight in the graph."""
    call_reveal_requested = Signal(object)
    """A gradient call whose card to bring into sight."""
    line_requested = Signal(int)
    """A line of the present text to go to."""
    failed = Signal(str, object)
    """A bug in the background: where, and the exception. The window logs it."""

    def __init__(self, pipeline: Pipeline, stages: Stages, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.stages = stages
        self.background = Background(self)
        self.jobs = Jobs(self)
        self.runs = Runs(pipeline, self.background, self)
        self.fix_trials = FixTrials(self.runs, self.background, self)
        self.shares = Shares(self.runs, self.background, self)
        self.diagnosing = Diagnosing(self)
        self.fix_trials.fixed.connect(self.diagnosing.take_fixes)
        self.background.failed.connect(self._take_failure)
        self.background.busy_changed.connect(self.progress_changed)
        self.runs.started.connect(self.run_started)
        self.runs.ended.connect(self.run_ended)
        self.runs.progressed.connect(self.status_changed)
        self.runs.output_added.connect(self.output_added)
        self.runs.picture_added.connect(self.picture_added)
        self.runs.question_changed.connect(self.question_changed)
        for signal in (self.run_started, self.run_ended):
            signal.connect(self.status_changed)
            signal.connect(self.progress_changed)
        self.text = Text(self)
        self.repairing = Repairing(self)
        self.part: LinePart | None = None
        """The lines that ran alone; None: the whole text ran."""
        self.trace: Trace = EMPTY_TRACE
        self.view: View = DEFAULT_VIEW
        self.selecting = Selecting(self)
        self.picturing = Picturing(self)
        self.comparing = Comparing(self)
        self.showing = Showing(self)
        self.runs.traced.connect(self.showing.take)
        self.runs.finished.connect(self.showing.stop_growing)
        self.insides = Insides(self)
        self.function_calls = FunctionCalls(self)
        self.insides.refused.connect(self.picturing.take_held)
        self.values = Values(self)
        self.folding = Folding(self)
        self.stepping = Stepping(self)
        self.trouble, self.is_troubled = "", False
        self.is_loaded = False
        """The trace comes from a file, not from a run."""

    # Text

    @property
    def is_stale(self) -> bool:
        """Whether the text was edited since it ran."""
        return self.trace is not EMPTY_TRACE and self.text.source != self.text.ran

    @property
    def is_outdated(self) -> bool:
        """Whether the picture is of another text, or of the run before the one under way."""
        return self.is_stale or (
            self.is_running and not self.showing.has_news and self.trace is not EMPTY_TRACE
        )

    def open_source(self, source: str, path: Path | None = None, name: str = UNNAMED) -> None:
        """Replace the text, and forget the run of the old one."""
        self.runs.forget()
        self.say("")
        self.part = None
        self.background.drop("repair", "look")
        self._forget_run()
        self.showing.take(EMPTY_TRACE)
        self.text.open(source, path, name)

    def open_trace(self, trace: Trace, kept: Opener | None = None) -> None:
        """Replace the text and the run by those of a recording."""
        self.open_source(trace.source, name=Path(trace.filename).name or UNNAMED)
        self.text.ran, self.is_loaded = trace.source, True
        self.insides.kept = kept
        self.showing.take(trace)

    # Runs

    @property
    def is_running(self) -> bool:
        return self.runs.is_running

    def run(self, part: LinePart | None = None) -> None:
        """Run the text, once it is repaired; the present run is stopped.

        ``part``: run only these lines, at the line numbers that they have in the text, and those
        above as well if they bind names that the part reads.
        """
        self.part = part
        if self.repairing.postpone_run():
            return
        if part is None:
            self.repairing.look_for_left_out()
        self._forget_run()
        self.showing.forget_diagnosis()
        self.text.ran = source = self.text.source
        if part is not None:
            part, words = part_with_names(source, part, self.repairing.repaired)
            self.part = part
            self.say(words)
        self.runs.start(lines_alone(source, part) if part else source, self.text.filename)

    def _forget_run(self) -> None:
        self.trouble, self.is_troubled = "", False
        self.is_loaded = False
        self.showing.begin_anew()
        self.background.forget_times()
        self.picturing.keep_until_next_run()
        self.fix_trials.forget()
        self.shares.forget()
        self.insides.forget()
        self.values.forget()

    def stop(self) -> None:
        """Stop the run; what was recorded until then stays."""
        self.runs.stop()

    # What is shown

    @property
    def selection(self) -> Selection:
        return self.selecting.selection

    @property
    def diagnosis(self) -> Diagnosis:
        return self.diagnosing.diagnosis

    @property
    def arranged(self) -> Arranged:
        """The graph that is drawn, with a rectangle for each node and a route for each edge."""
        return self.picturing.arranged

    @property
    def scene(self) -> Scene:
        return self.picturing.scene

    @property
    def links(self) -> Links:
        """The nodes, tensors, lines and steps of the picture that belong together."""
        return self.picturing.links

    # View

    @property
    def current_call(self) -> CallDiagnosis | None:
        chosen = self.view.overlay.call
        return self.diagnosis.call(None if chosen is None else CallId(chosen))

    @property
    def site(self) -> CallSite | None:
        """The call site of the call shown; None if it has only one round."""
        return self.diagnosis.site_of(self.current_call)

    @property
    def round(self) -> int:
        """The number (from 1) of the round shown, or of the call of the compiled function shown; 0
        if there are none."""
        site, current = self.site, self.current_call
        if site is None:
            return self.function_calls.number
        return site.round_of(current.call.id) if current is not None else 0

    @property
    def rounds(self) -> int:
        """The number of rounds or calls for :meth:`select_round`; 0 if there are none."""
        shown = self.function_calls.shown
        if self.site is not None:
            return len(self.site)
        return shown.count if shown is not None else 0

    def select_round(self, number: int) -> None:
        """Show another round (from 1) of the call site shown, or another call of the compiled
        function. Who chooses the newest of a run under way goes on to see the newest."""
        site = self.site
        if site is None:
            self.function_calls.select(number)
        elif 1 <= number <= len(site) and number != self.round:
            shown = self.diagnosis.round(site, number)
            step = None if self.step is None else min(self.step, len(shown.steps))
            is_newest = self.is_running and shown is self.diagnosis.call(None)
            self._show_call(None if is_newest else shown.call.id, step)

    def change_form(self, **changes: Any) -> None:
        """Change what the layout depends on: layout, direction, grouping, folds, shows_all."""
        self.change_view(replace(self.view, **changes))
        form = self.view.form
        if form != self.picturing.form:
            self.picturing.form = form
            self.picturing.arrange()

    def show_bridge(self, is_shown: bool) -> None:
        self.change_overlay(replace(self.view.overlay, show_bridge=is_shown))

    def pin_call(self) -> None:
        """Keep the call that is drawn, even if a later diagnosis would show another one first."""
        current, overlay = self.current_call, self.view.overlay
        if overlay.call is None and current is not None:
            self.change_view(replace(self.view, overlay=replace(overlay, call=current.call.id)))
            self.picturing.pin_call(current.call.id)

    def select_call(self, call: CallId | None) -> None:
        if self.view.overlay.call != call:
            self._show_call(call, None)
            self.call_reveal_requested.emit(-1 if call is None else int(call))

    def _show_call(self, call: CallId | None, step: int | None) -> None:
        """Show a call; its scene is composed after its graph is laid out, as a single change."""
        self.change_view(
            replace(self.view, overlay=replace(self.view.overlay, call=call, step=step))
        )
        self.picturing.relink()
        self.picturing.arrange()
        if "arrange" not in self.background.busy:
            self.picturing.compose()
        self.step_changed.emit()

    def change_overlay(self, overlay: Overlay) -> None:
        """Change what lies over the picture and moves nothing in it."""
        if overlay != self.view.overlay:
            call_was = self.view.overlay.call
            self.change_view(replace(self.view, overlay=overlay))
            if overlay.call != call_was:
                self.picturing.relink()
            self.picturing.compose()

    def change_view(self, view: View) -> None:
        """Note another view, and tell it: the caller has the picture follow."""
        if view != self.view:
            self.view = view
            self.view_changed.emit()

    # Steps

    @property
    def steps(self) -> tuple[WalkStep, ...]:
        return self.current_call.steps if self.current_call else ()

    @property
    def step(self) -> int | None:
        """The number of steps walked; None: the whole flow is shown."""
        step = self.view.overlay.step
        return None if step is None or not self.steps else min(step, len(self.steps))

    def show_step(self, step: int | None) -> None:
        """Show this many steps of the walk (see :class:`Stepping`); None: the whole flow."""
        self.change_overlay(replace(self.view.overlay, step=step))
        if step:
            self.folding.show_turns_of(self.steps[step - 1])
            self.selecting.select(self.links.selection_at(self.steps[step - 1]))
        self.step_changed.emit()

    def give_up(self) -> None:
        """Cancel all background work; a later change of the view starts it again."""
        self.fix_trials.forget()
        self.shares.forget()
        self.comparing.leave()
        self.insides.give_up()
        self.showing.give_up()
        self.diagnosing.give_up()
        self.background.drop("arrange", "compose", "export", "fetch", "open")
        self.picturing.begin_anew()

    # Trouble

    def _take_failure(self, kind: str, error: BaseException) -> None:
        if kind == "fetch" and isinstance(error, TapevizError):
            return  # the tensor panel says it, in the place of the values
        self.complain(failure_words(kind, error))
        if not isinstance(error, TapevizError):
            self.failed.emit(kind, error)

    def say(self, words: str, is_trouble: bool = False) -> None:
        """Show a line in the status bar until the next run, or until another text is opened."""
        self.trouble, self.is_troubled = words, is_trouble
        self.status_changed.emit()

    def complain(self, words: str) -> None:
        """Show a line about something that failed."""
        self.say(words, is_trouble=True)
