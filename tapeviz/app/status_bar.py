"""The status line of the window: document, kernel, and a progress bar."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QProgressBar, QWidget

from ..analysis.run_words import ending_words, tracing_words
from ..document import Document
from ..panels.rows import in_row
from ..panels.widgets import ShortLabel, link_button, plain_label, set_state
from ..recording.live import MOST_LIVE
from ..trace.model import EMPTY_TRACE
from ..wording import counted

PATIENCE = 500
"""Milliseconds of work after which the progress bar appears."""
MOST_FORMER = 32
"""Characters of the line in the link to a former text, at most."""
BROKEN_OFF = {"died": "process died", "failed": "recording failed"}
"""How a run ended, in short, where the card of its error has all of it."""
WORDS = {
    "arrange": "Drawing the graph",
    "compare": "Running it to compare",
    "compose": "Drawing the graph",
    "diagnose": "Looking for the cause",
    "export": "Writing the picture",
    "fetch": "Fetching values",
    "open": "Reading the recording",
    "inside": "Looking into the compiled call",
    "record": "Waiting for Python",
    "repair": "Reading what was pasted",
    "shares": "Computing each target’s share",
    "fixes": "Trying fixes",
    "walk": "Reading the backward pass",
}


class StatusBar(QWidget):
    def __init__(self, document: Document) -> None:
        super().__init__()
        self.setObjectName("status")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._document = document
        self.kernel_words = ""
        self.facts = ShortLabel(between=" · ")
        self.trouble = ShortLabel("trouble")
        self.busy_words = plain_label()
        self.bar = QProgressBar()
        self.bar.setRange(0, 0)
        self.bar.setTextVisible(False)
        self.bar.setFixedWidth(120)
        self.cancel_button = link_button("Cancel")
        self.cancel_button.clicked.connect(self.cancel)
        self.state = plain_label()
        self._bring_back: Callable[[], object] | None = None
        self.former = link_button("", "It is unsaved; also under File, Open recent")
        self.former.clicked.connect(self._take_former)
        self.former.hide()
        left = (self.facts, self.former, (self.trouble, 1))
        right = (self.busy_words, self.bar, self.cancel_button, self.state)
        in_row(self, *left, *right, margins=(16, 4, 16, 4), spacing=12)
        self.setFixedHeight(30)
        self._patience = QTimer(self, singleShot=True, interval=PATIENCE)
        self._patience.timeout.connect(self._show_bar)
        for signal in (
            document.status_changed,
            document.question_changed,
            document.text.changed,
            document.trace_changed,
            document.scene_changed,
            document.comparing.changed,
        ):
            signal.connect(self._show)
        document.progress_changed.connect(self._note_progress)
        document.fix_trials.progressed.connect(self._note_progress)
        self._hide_bar()
        self._show()

    def offer_former(self, first: str, bring_back: Callable[[], object] | None) -> None:
        """Show a link, with the first own line of the text that was replaced; None: hide it."""
        self._bring_back = bring_back
        shown = first if len(first) <= MOST_FORMER else f"{first[: MOST_FORMER - 1]}…"
        self.former.setText(f"Back to “{shown}”".replace("&", "&&"))
        self.former.setVisible(bring_back is not None)

    def _take_former(self) -> None:
        bring_back, self._bring_back = self._bring_back, None
        self.former.hide()
        if bring_back is not None:
            bring_back()

    def show_kernel(self, words: str) -> None:
        self.kernel_words = words
        self._show()

    def _show(self) -> None:
        document = self._document
        self.facts.setText(" · ".join(part for part in self._facts() if part))
        set_state(self.trouble, "trouble" if document.is_troubled else "")
        self.trouble.setText(document.trouble)
        if document.is_running:
            doing = ("running", tracing_words(document.trace) or rest_words(document))
            words = " · ".join(filter(None, doing))
            if document.runs.question is not None:
                words = "waiting for input"
            self.state.setText("stopping …" if document.runs.is_stopping else words)
        elif document.is_stale:
            self.state.setText("edited since the run")
        else:
            self.state.setText("up to date" if document.trace is not EMPTY_TRACE else "")

    def _facts(self) -> list[str]:
        document, trace = self._document, self._document.trace
        ops = document.runs.ops if document.is_running else trace.recorded_ops
        parts = [f"{counted(ops, 'op')} recorded"] if ops else []
        both = document.comparing.both
        drawn = len((document if both is None else both).scene.boxes)
        if drawn and not document.is_running:
            parts.append(f"{drawn:,} box{'es' if drawn != 1 else ''} drawn")
        seconds = trace.ending.seconds
        if seconds and not document.is_running:
            parts.append(f"ran {time_text(seconds)}")
        if trace.tensorflow:
            parts.append(f"TensorFlow {trace.tensorflow}")
        if trace is not EMPTY_TRACE and not document.is_running:
            parts.append(BROKEN_OFF.get(trace.ending.how) or ending_words(trace))
        parts.append(self.kernel_words)
        return parts

    # Progress

    def _busy(self) -> list[str]:
        document = self._document
        kinds = sorted(document.background.busy & WORDS.keys())
        if document.is_running and "record" not in kinds:
            kinds.insert(0, "run")
        return kinds

    def _note_progress(self) -> None:
        if not self._busy():
            self._patience.stop()
            self._hide_bar()
        elif self.bar.isVisible():
            self._show_bar()
        elif not self._patience.isActive():
            self._patience.start()

    def _show_bar(self) -> None:
        kinds = self._busy()
        if not kinds:
            return
        done, known = self._counts(kinds[0])
        counted = f" {done} of {known}" if known else ""
        self.bar.setRange(0, known)
        self.bar.setValue(done)
        self.busy_words.setText(WORDS.get(kinds[0], "Running") + counted + " …")
        for widget in (self.busy_words, self.bar, self.cancel_button):
            widget.show()

    def _counts(self, kind: str) -> tuple[int, int]:
        """(done, in all) of a kind of work; (0, 0) if it is not counted."""
        if kind == "fixes":
            return self._document.fix_trials.tried
        return self._document.background.counts.get(kind, (0, 0))

    def _hide_bar(self) -> None:
        for widget in (self.busy_words, self.bar, self.cancel_button):
            widget.hide()

    def cancel(self) -> None:
        """Stop the run, or else the work in the background."""
        document = self._document
        if document.is_running:
            document.stop()
            return
        document.give_up()


def rest_words(document: Document) -> str:
    """Say how much of a long run under way is in its picture."""
    shown = 0 if document.is_outdated else len(document.trace.ops)
    if not shown or document.runs.ops <= MOST_LIVE:
        return ""
    return f"the picture has the first {shown:,} ops until it ends"


def time_text(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"
