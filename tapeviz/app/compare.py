"""Compare two runs: both graphs side by side, or both texts in a dialog with differing lines
tinted."""

from __future__ import annotations

import difflib
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QTextCursor, QTextFormat
from PySide6.QtWidgets import (
    QDialog,
    QFileDialog,
    QPlainTextEdit,
    QPushButton,
    QTextEdit,
    QWidget,
)

from ..analysis.findings import Fix
from ..document import Document
from ..document.pipeline import LookInto
from ..errors import TapevizError
from ..files.code import read_code
from ..panels.look import Theme, colour, font
from ..panels.rows import in_column, in_row
from ..panels.source.highlighter import Highlighter
from ..panels.widgets import plain_label
from ..trace.model import Trace
from .storage.files import OPENED, Files, load_kept


def _load(path: Path, look: LookInto) -> Trace:
    kept = load_kept(path)
    return look(kept, kept.wait())


class SideBySide(QObject):
    """Shows the run of the window beside that of a fix or a file.

    ``parent``: the parent of dialogs; ``apply_requested``: the user wants to apply this fix.
    """

    apply_requested = Signal(object)

    def __init__(self, document: Document, files: Files, parent: QWidget) -> None:
        super().__init__(parent)
        self._document = document
        self._comparing = document.comparing
        self._files = files
        self._parent = parent

    def show_fix(self, trouble: str, fix: Fix) -> None:
        """Run the text of a fix in another process; ``trouble``: the gradient that it mends."""
        self._comparing.compare_text(fix.text, fix.title, fix)

    def ask_file(self) -> None:
        name, _ = QFileDialog.getOpenFileName(
            self._parent, "Compare with", str(self._files.folder), OPENED
        )
        if name:
            self._files.keep_folder(Path(name))
            self.show_file(Path(name))

    def show_file(self, path: Path) -> None:
        """Run a snippet, or read a recording, and show it beside the run of the window."""
        try:
            if path.suffix == ".tape":
                self._comparing.compare_trace(partial(_load, path), path.name)
            else:
                self._comparing.compare_text(read_code(path), path.name)
        except (TapevizError, OSError) as error:
            self._document.complain(str(error))

    def show_texts(self, theme: Theme) -> None:
        """Show both texts that are compared, with a button to apply a fix."""
        both = self._comparing.both
        if both is None:
            return
        texts = [(run.name, run.trace.source) for run in (both.before, both.after)]
        dialog = CompareDialog(texts[0], texts[1], theme, self._parent)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        fix = both.fix
        dialog.apply.setVisible(fix is not None)
        if fix is not None:
            dialog.accepted.connect(lambda: self.apply_requested.emit(fix))
        dialog.open()


class CompareDialog(QDialog):
    """A dialog with two texts; ``accepted``: the user wants to apply the second."""

    def __init__(
        self, before: tuple[str, str], after: tuple[str, str], theme: Theme, parent: QWidget
    ) -> None:
        """``before``, ``after``: a heading and a text each."""
        super().__init__(parent)
        self.setWindowTitle("Compare")
        self.resize(1040, 560)
        old, new = changed_lines(before[1], after[1])
        self.left = _pane(before[1], old, theme, theme.trouble_fill)
        self.right = _pane(after[1], new, theme, theme.success_fill)
        left, right = self.left.verticalScrollBar(), self.right.verticalScrollBar()
        left.valueChanged.connect(right.setValue)
        right.valueChanged.connect(left.setValue)
        columns = [
            in_column(None, plain_label(heading, "cardTitle", wraps=True), pane)
            for (heading, _), pane in ((before, self.left), (after, self.right))
        ]
        self.apply = QPushButton("Apply")
        self.apply.setObjectName("primary")
        self.apply.setDefault(True)
        self.apply.clicked.connect(self.accept)
        close = QPushButton("Close")
        close.clicked.connect(self.reject)
        row, buttons = in_row(None, *columns, spacing=12), in_row(None, ..., close, self.apply)
        in_column(self, (row, 1), buttons, margins=(16, 14, 16, 14))


def changed_lines(before: str, after: str) -> tuple[set[int], set[int]]:
    """Numbers (from 0) of the lines that are gone, and of those that are new."""
    matcher = difflib.SequenceMatcher(None, before.split("\n"), after.split("\n"), autojunk=False)
    gone: set[int] = set()
    new: set[int] = set()
    for kind, i, j, k, m in matcher.get_opcodes():
        if kind != "equal":
            gone.update(range(i, j))
            new.update(range(k, m))
    return gone, new


def _pane(text: str, lines: set[int], theme: Theme, tint: str) -> QPlainTextEdit:
    pane = QPlainTextEdit()
    pane.setReadOnly(True)
    pane.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
    pane.setFont(font("mono"))
    pane.setPlainText(text)
    pane.setTextInteractionFlags(
        Qt.TextInteractionFlag.TextSelectableByMouse
        | Qt.TextInteractionFlag.TextSelectableByKeyboard
    )
    Highlighter(pane.document(), theme)
    selections = []
    for number in sorted(lines):
        selection = QTextEdit.ExtraSelection()
        selection.format.setBackground(colour(tint))
        selection.format.setProperty(QTextFormat.Property.FullWidthSelection, True)
        selection.cursor = QTextCursor(pane.document().findBlockByNumber(number))
        selections.append(selection)
    pane.setExtraSelections(selections)
    return pane
