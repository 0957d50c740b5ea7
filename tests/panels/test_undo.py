"""Undo and redo keep in sight what they change."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from tapeviz.panels.source.panel import SourcePanel
from tests.panels.test_editing_keys import panel

__all__ = ["panel"]

LONG = "y = " + " + ".join(f"x{n}" for n in range(60))


@pytest.mark.parametrize("way", ["key", "menu", "method"])
def test_undo_shows_where_lines_begin(qtbot: QtBot, panel: SourcePanel, way: str) -> None:
    """Qt scrolls to the end of what comes back."""
    editor = panel.editor
    text = f"a = 1\n{LONG}\nb = 2"
    editor.setPlainText(text)
    editor.replace_text(text.replace(LONG, LONG.replace("y =", "other =")[:-4] + "9"))
    bar = editor.horizontalScrollBar()
    assert bar.value() == 0 < bar.maximum()
    if way == "key":
        qtbot.keyClick(editor, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    elif way == "menu":
        menus: list[QMenu] = []
        editor.menu_requested.connect(menus.append)
        at = QPoint(20, 20)
        event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, at, editor.mapToGlobal(at))
        QApplication.sendEvent(editor.viewport(), event)
        named = {action.objectName(): action for action in menus[0].actions()}
        named["edit-undo"].trigger()
        menus[0].close()
    else:
        editor.undo()
    assert editor.toPlainText() == text
    assert bar.value() == 0
    editor.redo()
    assert editor.toPlainText() != text
    assert bar.value() == 0


def test_undo_scrolls_to_what_changed_far_to_the_right(panel: SourcePanel) -> None:
    editor = panel.editor
    editor.setPlainText(LONG)
    editor.replace_text(LONG + " + z")
    editor.horizontalScrollBar().setValue(0)
    editor.undo()
    assert editor.horizontalScrollBar().value() > 0
    cursor = editor.textCursor()
    cursor.movePosition(cursor.MoveOperation.End)
    assert 0 <= editor.cursorRect(cursor).right() <= editor.viewport().width()
