"""Small widgets that several panels show."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QClipboard, QContextMenuEvent, QGuiApplication
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from tapeviz.panels.widgets import SelectableLabel, isolated, plain_label


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("∂y / ∂متغير = 6.0", "∂y / ∂\u2068متغير\u2069 = 6.0"),
        ("מִשְׁקָל_1: None", "\u2068מִשְׁקָל_1\u2069: None"),
        ("größe = 1, 变量 = 2", "größe = 1, 变量 = 2"),
    ],
)
def test_a_name_that_reads_from_the_right_keeps_its_place(text: str, shown: str) -> None:
    assert isolated(text) == shown
    assert plain_label(text).text() == shown


def test_of_a_word_that_no_label_has_room_for_both_ends_are_shown() -> None:
    title = plain_label(f"∂loss / ∂{'very_long_' * 10_000}name: None")
    assert len(title.text()) < 300
    assert title.text().startswith("∂loss / ∂very_long_")
    assert plain_label("梯度" * 400).text() == "梯度" * 400
    assert title.text().endswith("_name: None")


@pytest.mark.parametrize("how", ["keys", "menu of the window", "own menu", "pointer"])
def test_what_is_copied_from_a_label_has_no_invisible_marks(qtbot: QtBot, how: str) -> None:
    label = plain_label("∂متغير / ∂dense/\u200bkernel = 6.0", is_selectable=True)
    assert isinstance(label, SelectableLabel)
    qtbot.addWidget(label)
    label.show()
    label.selectAll()
    assert len(label.selectedText()) == len(label.text()) > len(label.selected)
    clipboard = QGuiApplication.clipboard()
    clipboard.clear()
    if how == "keys":
        qtbot.keyClick(label, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    elif how == "menu of the window":  # it calls this on the widget with the keyboard
        label.copy()
    elif how == "own menu":
        at = label.rect().center()
        event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, at, label.mapToGlobal(at))
        QApplication.sendEvent(label, event)
        (menu,) = label.findChildren(QMenu)
        menu.actions()[0].trigger()
        menu.close()
    else:
        if not clipboard.supportsSelection():
            pytest.skip("this system inserts nothing on a middle click")
        qtbot.mouseRelease(label, Qt.MouseButton.LeftButton)
    mode = QClipboard.Mode.Selection if how == "pointer" else QClipboard.Mode.Clipboard
    assert clipboard.text(mode) == "∂متغير / ∂dense/kernel = 6.0"
