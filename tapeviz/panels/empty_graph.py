"""Words in the place of a graph that is not there."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from ..analysis.run_words import ended_well, ran_no_code, tracing_words
from ..analysis.unasked import uncalled_words
from ..document import Document
from ..trace.model import Trace
from .rows import in_column
from .widgets import plain_label

_MAKING = {"diagnose", "arrange", "compose"}


class EmptyGraph(QWidget):
    """Words in the place of the graph while there is none."""

    def __init__(self, document: Document, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._document = document
        self.title = plain_label(name="emptyTitle", wraps=True)
        self.words = plain_label(name="empty", wraps=True)
        for label in (self.title, self.words):
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        in_column(self, ..., self.title, self.words, ..., margins=(40, 0, 40, 0), spacing=8)
        for signal in (
            document.status_changed,
            document.question_changed,
            document.trace_changed,
            document.scene_changed,
            document.progress_changed,
        ):
            signal.connect(self._show)
        self._show()

    def _show(self) -> None:
        document = self._document
        if document.is_running and document.runs.question is not None:
            self.title.setText("Waiting for input")
            self.words.setText("The snippet asks for a line: answer it below Output.")
        elif document.is_running:
            tracing = tracing_words(document.trace)
            self.title.setText(f"{tracing.capitalize() or 'Running'} …")
            self.words.setText(
                "TensorFlow makes a graph of the function that this line runs. Its gradients appear"
                " after its first call."
                if tracing
                else "The graph appears as soon as the first ops are recorded."
            )
        elif ran_no_code(document.trace):
            self.title.setText("No code to run")
            why = "No line of this text is Python: all of it is kept as comments.\n"
            self.words.setText(
                f"{why if document.trace.source.strip() else ''}"
                "Paste the code itself, or choose one of the Examples."
            )
        elif document.trace.source and not document.trace.ops:
            self.title.setText("No TensorFlow op ran")
            self.words.setText(_without_ops(document.trace))
        elif document.trace.source and document.background.busy & _MAKING:
            self.title.setText("Drawing …")
            self.words.setText("")
        elif document.trace.ops:
            self.title.setText("Nothing to draw")
            self.words.setText(
                "What ran made variables and constants, and computed nothing from them."
            )
        else:
            self.title.setText("Paste a snippet, press Run")
            self.words.setText(
                "You will see what ran, where the gradient flows, and where it is cut."
                "\nExamples has a snippet for each common trouble."
            )


def _without_ops(trace: Trace) -> str:
    """Why a run recorded no op."""
    if not ended_well(trace):
        return "The snippet ended before it computed anything. See Output."
    if uncalled := uncalled_words(trace.source):
        return uncalled
    return (
        "The snippet computed nothing with TensorFlow. See Output for what it printed."
        if trace.printed
        else "The snippet computed nothing with TensorFlow, and printed nothing."
    )
