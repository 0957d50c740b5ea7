"""Words at the edge of the editor that name the lines pointed at, if they are out of sight."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton

from .editor import Editor
from .sight import rows_in_sight

EDGE = 8


class LineHint(QPushButton):
    """Words that name the lines pointed at (``↓ line 42``): the text does not scroll while the
    pointer only passes over a graph."""

    def __init__(self, editor: Editor) -> None:
        super().__init__(editor)
        self._editor = editor
        self.setObjectName("beyond")
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def show_lines(self, lines: Sequence[int]) -> None:
        """Lines of the present text; none of them: no words."""
        seen = rows_in_sight(self._editor)
        height = self._editor.viewport().height()
        whole = [block.blockNumber() + 1 for block, rect in seen if rect.bottom() <= height + 1]
        if not lines or not whole or any(line in whole for line in lines):
            self.hide()
            return
        nearest = min(lines, key=lambda line: min(abs(line - whole[0]), abs(line - whole[-1])))
        is_above = nearest < whole[0]
        self.setText(f"{'↑' if is_above else '↓'} line {nearest}")
        self.adjustSize()
        view = self._editor.viewport().geometry()
        x = view.center().x() - self.width() // 2
        self.move(x, view.top() + EDGE if is_above else view.bottom() - EDGE - self.height())
        self.show()
        self.raise_()
