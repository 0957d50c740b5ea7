"""Files and texts dropped on the window, wherever the pointer is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from tapeviz.app.window import Window

PLACES: dict[str, Callable[[Window], QWidget]] = {
    "window": lambda window: window,
    "editor": lambda window: window.source.editor.viewport(),
    "graph": lambda window: window.graph.view.viewport(),
    "output": lambda window: window.output.text.viewport(),
    "search": lambda window: window.top_bar.search,
}
CODE = ">>> x = 1\n>>> y = 2\n"


def drop(target: QWidget, data: QMimeData) -> bool:
    """Drop as Qt does: each widget that takes drops is asked, from the inside to the window."""
    action, button, keys = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier
    widget: QWidget | None = target
    while widget is not None:
        enter = QDragEnterEvent(QPoint(5, 5), action, data, button, keys.NoModifier)
        if widget.acceptDrops() and QApplication.sendEvent(widget, enter) and enter.isAccepted():
            dropped = QDropEvent(QPointF(5, 5), action, data, button, keys.NoModifier)
            return QApplication.sendEvent(widget, dropped)
        widget = widget.parentWidget()
    return False


@pytest.mark.parametrize("place", PLACES)
def test_a_dropped_file_opens(window: Window, tmp_path: Path, place: str) -> None:
    file = tmp_path / "dropped.py"
    file.write_text("y = 1\n", encoding="utf-8")
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(file))])
    assert drop(PLACES[place](window), data)
    assert window.document.text.source == "y = 1\n"
    assert window.document.text.path == file


@pytest.mark.parametrize("place", ["window", "graph", "output"])
def test_a_dropped_text_takes_the_place_of_the_one_before(
    qtbot: QtBot, window: Window, place: str
) -> None:
    window.source.edit_text("mine = 3\n")
    data = QMimeData()
    data.setText(CODE)
    assert drop(PLACES[place](window), data)
    document = window.document
    assert document.text.source == CODE
    qtbot.waitUntil(lambda: document.text.repairs is not None)
    assert [draft.text for draft in window.draft.set_aside()] == ["mine = 3\n"]


def test_a_text_dropped_where_one_types_goes_in_there(window: Window) -> None:
    window.source.edit_text("")
    data = QMimeData()
    data.setText("x = 1")
    assert drop(PLACES["search"](window), data)
    assert window.top_bar.search.text() == "x = 1"
    assert drop(PLACES["editor"](window), data)
    assert window.document.text.source == "x = 1"


def test_the_address_of_a_page_is_no_code(window: Window) -> None:
    before = window.document.text.source
    data = QMimeData()
    data.setUrls([QUrl("https://example.org/page")])
    for place in PLACES.values():
        drop(place(window), data)
    assert window.document.text.source == before


@pytest.mark.parametrize("place", ["window", "editor"])
def test_a_text_that_is_too_long_changes_nothing_and_is_told(
    window: Window, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.setattr("tapeviz.panels.source.editor.LARGEST", 10)
    window.source.edit_text("mine = 3\n")
    data = QMimeData()
    data.setText(CODE)
    drop(PLACES[place](window), data)
    assert window.document.text.source == "mine = 3\n"
    assert "20 characters was not pasted" in window.status.trouble.text()
