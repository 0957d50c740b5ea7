"""The observable document: source, trace and view, and the diagnosis, graph and scene of them.

Panels and canvas read its attributes when a signal says that they changed; they know neither each
other nor the pipeline. A stage runs again only if one of its inputs is another object. Long work is
done in the background, where only the newest task of each kind counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from ..analysis.model import CallDiagnosis, Cause, Diagnosis, WalkStep
from ..analysis.rounds.call_sites import CallSite
from ..errors import TapevizError
from ..graph.model import NodeId
from ..scene.model import Overlay, Scene
from ..trace.model import EMPTY_TRACE, CallId, StackFrame, TensorId, Trace
from ..view import DEFAULT_VIEW, View
from .background import Background, failure_words
from .comparing import Comparing
from .diagnosing import MANY_ASKED, Diagnosing
from .folding import Folding
from .growing import Growing
from .insides import Insides
from .jobs import Jobs
from .mending import Mending
from .parts import LinePart, lines_alone, names_from_above
from .picturing import Picturing
from .pipeline import ArrangedGraph, Opener, Pipeline, Stages
from .repairing import Repairing
from .runs import Runs
from .selection import NOTHING_SELECTED, Links, Selection, Side
from .snapshot import Snapshot
from .stepping import Stepping
from .text import UNNAMED, Text
from .values import Values

MOST_NAMES = 3
"""Names that the status line lists, at most."""


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
        self.mending = Mending(self.runs, stages, self.background, self)
        self.diagnosing = Diagnosing(self)
        self.mending.mended.connect(self.diagnosing.take_fixes)
        self.background.failed.connect(self._take_failure)
        self.background.busy_changed.connect(self.progress_changed)
        self.runs.started.connect(self.run_started)
        self.runs.ended.connect(self.run_ended)
        self.runs.progressed.connect(self.status_changed)
        self.runs.output_added.connect(self.output_added)
        self.runs.picture_added.connect(self.picture_added)
        self.runs.question_changed.connect(self.question_changed)
        self.runs.traced.connect(self.take_trace)
        self.runs.finished.connect(self._stop_growing)
        for signal in (self.run_started, self.run_ended):
            signal.connect(self.status_changed)
            signal.connect(self.progress_changed)
        self.text = Text(self)
        self.repairing = Repairing(self)
        self.part: LinePart | None = None
        """The lines that ran alone; None: the whole text ran."""
        self.trace: Trace = EMPTY_TRACE
        self.view: View = DEFAULT_VIEW
        self.selection: Selection = NOTHING_SELECTED
        self._picturing = Picturing(self)
        self.growing = Growing(self)
        self.comparing = Comparing(self)
        self.hovered: frozenset[NodeId] = frozenset()
        """The nodes of what the pointer is over, in any panel."""
        self._hovered_spans: tuple[StackFrame, ...] = ()
        self.insides = Insides(self)
        self.insides.refused.connect(self._picturing.take_held)
        self.values = Values(self)
        self.folding = Folding(self)
        self.stepping = Stepping(self)
        self.trouble, self.is_troubled = "", False
        self._has_news = False
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
            self.is_running and not self._has_news and self.trace is not EMPTY_TRACE
        )

    def open_source(self, source: str, path: Path | None = None, name: str = UNNAMED) -> None:
        """Replace the text, and forget the run of the old one."""
        self.runs.forget()
        self.say("")
        self.part = None
        self.background.drop("repair", "look")
        self._turn_over()
        self.take_trace(EMPTY_TRACE)
        self.text.open(source, path, name)

    def open_trace(self, trace: Trace, kept: Opener | None = None) -> None:
        """Replace the text and the run by those of a recording."""
        self.open_source(trace.source, name=Path(trace.filename).name or UNNAMED)
        self.text.ran, self.is_loaded = trace.source, True
        self.insides.kept = kept
        self.take_trace(trace)

    def go_to_line(self, line: int) -> None:
        """Select a line of the text that ran, and let the editor go there."""
        now = self.text.line_now(line)
        if now:
            self.select_line(now)
            self.line_requested.emit(now)

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
        self._turn_over()
        self._forget_diagnosis()
        self.text.ran = source = self.text.source
        if part is not None:
            part = self._part_with_names(source, part)
        self.runs.start(lines_alone(source, part) if part else source, self.text.filename)

    def _part_with_names(self, source: str, part: LinePart) -> LinePart:
        """The lines to run for a part, told in the status line."""
        first, last = part
        names = names_from_above(source, part)
        if not names:
            self.say(f"Lines {first}–{last} run alone")
            return part
        self.part = 1, last
        used = ", ".join(names[:MOST_NAMES]) + (" …" if len(names) > MOST_NAMES else "")
        self.say(f"Lines 1–{last} run: lines {first}–{last} use {used} from above")
        return self.part

    def _turn_over(self) -> None:
        self.trouble, self.is_troubled = "", False
        self._has_news = self.is_loaded = False
        self.background.forget_times()
        self.growing.give_up()
        self._picturing.turn_over()
        self.mending.forget()
        self.insides.forget()
        self.values.forget()

    def stop(self) -> None:
        """Stop the run; what was recorded until then stays."""
        self.runs.stop()

    # What follows from a trace

    def take_trace(self, trace: Trace) -> None:
        """Show a trace. Of a run under way diagnosis and picture come with it, of another they
        follow, each as soon as it is made."""
        if self.is_running:
            self.growing.take(trace)
            return
        self.growing.give_up()
        self.trace = trace
        self._note_news()
        self.comparing.leave()
        self.trace_changed.emit()
        if trace is EMPTY_TRACE:
            self.diagnosing.clear()
            self._picturing.clear()
            self.diagnosis_changed.emit()
            self.step_changed.emit()
        else:
            is_much = sum(len(call.sources) for call in trace.calls) > MANY_ASKED
            if is_much:
                self._picturing.arrange()
            self.diagnosing.diagnose(trace)
            if not is_much:
                self._picturing.arrange()
        self.selection_changed.emit()
        self.status_changed.emit()

    def _note_news(self) -> None:
        """Forget what was selected in the run before, when something of this one is shown."""
        if not self._has_news:
            self._has_news = True
            self.selection = NOTHING_SELECTED
            self._set_overlay(Overlay(show_bridge=self.view.overlay.show_bridge))

    def _stop_growing(self) -> None:
        """The snippet is over: do not show a part of its trace any more, unless nothing of the run
        is shown. It would take time and memory that the whole needs."""
        if self._has_news:
            self.growing.give_up()

    def _forget_diagnosis(self) -> None:
        """Drop the cards, marks and steps of the run before at once; its graph stays, faded."""
        self._set_overlay(replace(self.view.overlay, call=None, step=None))
        self.diagnosing.clear()
        self._picturing.relink()
        self.hover(frozenset())  # a card that is deleted does not report that the pointer left it
        self.diagnosis_changed.emit()
        self.step_changed.emit()

    def take_growing(self, snapshot: Snapshot) -> None:
        """Show the run under way as far as it is known."""
        self._note_news()
        self._take_snapshot(snapshot)

    def take_opened(self, opened: Snapshot, unfolded: frozenset[str]) -> None:
        """Show the trace of the same run with another call of a compiled function opened; nodes
        that are alike stay in place. ``unfolded``: paths of groups to open."""
        view = self.view
        self._set_view(
            replace(view, folded=view.folded - unfolded, unfolded=view.unfolded | unfolded)
        )
        self._take_snapshot(opened)

    def _take_snapshot(self, snapshot: Snapshot) -> None:
        """Show a trace with all that was made of it, as a single change. If the user chose another
        call or form meanwhile, the picture follows."""
        self.trace = snapshot.trace
        self.diagnosing.take_more(snapshot.diagnosis)
        if self.selection.tensor not in snapshot.trace.tensors:
            self.selection = replace(self.selection, tensor=None)
        self._picturing.form = self.view.form
        if self.view.overlay.call == snapshot.call and self.view.form == snapshot.form:
            self._picturing.take_ready(snapshot.arranged, snapshot.call)
        else:
            self._picturing.relink()
            self._picturing.arrange(is_same_run=True)
        for signal in (
            self.trace_changed,
            self.diagnosis_changed,
            self.step_changed,
            self.selection_changed,
            self.status_changed,
        ):
            signal.emit()

    def show_diagnosis(self) -> None:
        """Tell panels and picture of another diagnosis."""
        self._picturing.relink()
        self.diagnosis_changed.emit()
        self.step_changed.emit()
        if "arrange" not in self.background.busy:  # else the scene comes with that graph
            self._picturing.compose()

    def follow(self, successors: Mapping[NodeId, NodeId]) -> None:
        """Keep the selection when the graph of another call replaces this one; drop it if that has
        no counterpart. ``successors``: node of the old graph → node of the new one."""
        nodes = frozenset(successors[node] for node in self.selection.nodes if node in successors)
        if nodes:
            tensor = self.links.tensor_of(nodes)
            self.selection = replace(self.selection, nodes=nodes, tensor=tensor)
            self._set_view(
                replace(self.view, overlay=replace(self.view.overlay, selected_nodes=nodes))
            )
            self.selection_changed.emit()
        elif self.links.node_of_tensor(self.selection.tensor) is None:
            self._select(Selection(line=self.selection.line, side=self.selection.side))

    @property
    def diagnosis(self) -> Diagnosis:
        return self.diagnosing.diagnosis

    @property
    def arranged(self) -> ArrangedGraph:
        """The graph that is drawn, with a rectangle for each node and a route for each edge."""
        return self._picturing.arranged

    @property
    def scene(self) -> Scene:
        return self._picturing.scene

    @property
    def links(self) -> Links:
        """The nodes, tensors, lines and steps of the picture that belong together."""
        return self._picturing.links

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
            return self.insides.number
        return site.round_of(current.call.id) if current is not None else 0

    @property
    def rounds(self) -> int:
        """The number of rounds or calls for :meth:`select_round`; 0 if there are none."""
        run = self.insides.shown
        return len(self.site) if self.site is not None else run.count if run is not None else 0

    def select_round(self, number: int) -> None:
        """Show another round (from 1) of the call site shown, or another call of the compiled
        function."""
        site = self.site
        if site is None:
            self.insides.select(number)
        elif 1 <= number <= len(site) and number != self.round:
            shown = self.diagnosis.round(site, number)
            step = None if self.step is None else min(self.step, len(shown.steps))
            self._show_call(shown.call.id, step)

    def change_form(self, **changes: Any) -> None:
        """Change what the layout depends on: layout, direction, grouping, folds, shows_all."""
        self._set_view(replace(self.view, **changes))
        form = self.view.form
        if form != self._picturing.form:
            self._picturing.form = form
            self._picturing.arrange()

    def show_bridge(self, is_shown: bool) -> None:
        self._set_overlay(replace(self.view.overlay, show_bridge=is_shown))

    def pin_call(self) -> None:
        """Keep the call that is drawn, even if a later diagnosis would show another one first."""
        current, overlay = self.current_call, self.view.overlay
        if overlay.call is None and current is not None:
            self._set_view(replace(self.view, overlay=replace(overlay, call=current.call.id)))
            self._picturing.pin_call(current.call.id)

    def select_call(self, call: CallId | None) -> None:
        if self.view.overlay.call != call:
            self._show_call(call, None)
            self.call_reveal_requested.emit(-1 if call is None else int(call))

    def _show_call(self, call: CallId | None, step: int | None) -> None:
        """Show a call; its scene is composed after its graph is laid out, as a single change."""
        self._set_view(replace(self.view, overlay=replace(self.view.overlay, call=call, step=step)))
        self._picturing.relink()
        self._picturing.arrange()
        if "arrange" not in self.background.busy:
            self._picturing.compose()
        self.step_changed.emit()

    def _set_overlay(self, overlay: Overlay) -> None:
        if overlay != self.view.overlay:
            call_was = self.view.overlay.call
            self._set_view(replace(self.view, overlay=overlay))
            if overlay.call != call_was:
                self._picturing.relink()
            self._picturing.compose()

    def _set_view(self, view: View) -> None:
        if view != self.view:
            self.view = view
            self.view_changed.emit()

    # Selection

    def select_nodes(self, nodes: frozenset[NodeId]) -> None:
        tensor = self.links.tensor_of(nodes)
        self._select(Selection(nodes, self.links.line_of(nodes), tensor, self.selection.side))

    def hover(self, nodes: frozenset[NodeId], spans: tuple[StackFrame, ...] = ()) -> None:
        """Note that the pointer is over something that these nodes stand for (empty: nothing).

        ``spans``: its places in the text, where the nodes alone do not tell them.
        """
        if (nodes, spans) != (self.hovered, self._hovered_spans):
            self.hovered, self._hovered_spans = nodes, spans
            self.hover_changed.emit()

    @property
    def lit_spans(self) -> tuple[StackFrame, ...]:
        """The places, in the text that ran, of what is pointed at, else of what is selected."""
        return self._hovered_spans or self.links.spans_of(self.hovered or self.selection.nodes)

    def select_line(self, line: int) -> None:
        """Select the nodes of a line of the present text."""
        then = self.text.line_then(line)
        nodes = self.links.nodes_on(then)
        tensor = self.links.tensor_of(nodes) if nodes else self.selection.tensor
        self._select(Selection(nodes, then if nodes else 0, tensor, self.selection.side))

    def select_tensor(self, tensor: TensorId | None, side: Side = "value") -> None:
        node = self.links.node_of_tensor(tensor)
        nodes = frozenset((node,)) if node else self.selection.nodes
        self._select(Selection(nodes, self.links.line_of(nodes), tensor, side))

    def set_side(self, side: Side) -> None:
        self._select(replace(self.selection, side=side))

    def show_cause(self, cause: Cause) -> None:
        """Select the nodes at a cut and bring them into sight."""
        nodes = self.links.nodes_of_cause(cause)
        if nodes:
            self.select_nodes(nodes)
            self.reveal_requested.emit(nodes)
        else:
            self._select(replace(self.selection, nodes=frozenset(), line=cause.line))

    def _select(self, selection: Selection) -> None:
        if selection == self.selection:
            return
        self.selection = selection
        self._set_overlay(replace(self.view.overlay, selected_nodes=selection.nodes))
        self.selection_changed.emit()

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
        self._set_overlay(replace(self.view.overlay, step=step))
        if step:
            self.folding.show_turns_of(self.steps[step - 1])
            self._select(self.links.selection_at(self.steps[step - 1]))
        self.step_changed.emit()

    def give_up(self) -> None:
        """Cancel all background work; a later change of the view starts it again."""
        self.mending.forget()
        self.comparing.leave()
        self.insides.give_up()
        self.growing.give_up()
        self.diagnosing.give_up()
        self.background.drop("arrange", "compose", "export", "fetch", "open")
        self._picturing.begin_anew()

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
