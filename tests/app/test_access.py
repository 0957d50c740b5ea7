"""The window by keyboard alone, and as a screen reader meets it."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from tapeviz.app.actions import ACTIONS
from tapeviz.app.command_palette import CommandPalette, commands_in, found
from tapeviz.app.window import Window
from tapeviz.panels.diagnosis.findings import FindingCard
from tapeviz.panels.source.editor import Editor

TAKEN = {"Alt+Escape", "Alt+F4", "Alt+F7", "Alt+F8", "Alt+F10", "Alt+Tab", "Ctrl+F10", "Alt+Space"}
"""By the window managers of GNOME, KDE, Xfce, Windows or macOS."""


def open_palette(qtbot: QtBot, window: Window) -> CommandPalette:
    window.show_commands()
    return window.findChildren(CommandPalette)[-1]


def test_every_action_is_in_the_palette(qtbot: QtBot, ran: Window) -> None:
    ran.menus.refresh()
    words = [command.words for command in commands_in(ran.menuBar())]
    for action in ACTIONS:
        name = action.text.replace("&", "").rstrip(" …")
        if ran.menus.actions[action.id].isEnabled() and action.id != "recent":  # none yet
            assert any(name in entry for entry in words), name
    assert any(entry.startswith("View › Layout › ") for entry in words)
    assert any(entry.startswith("Help › Examples › ") for entry in words)


def test_the_palette_is_as_high_as_what_it_found(qtbot: QtBot, ran: Window) -> None:
    palette = open_palette(qtbot, ran)
    whole = palette.height()
    assert palette.list.verticalScrollBar().maximum() > 0
    qtbot.keyClicks(palette.sought, "dark theme")
    assert palette.height() < whole / 2
    rows = palette.list
    qtbot.waitUntil(
        lambda: rows.viewport().height() >= rows.visualItemRect(rows.topLevelItem(0)).height()
    )
    assert rows.verticalScrollBar().maximum() == 0
    qtbot.keyClicks(palette.sought, " of nothing")
    assert rows.topLevelItem(0).text(0) == "No command has these words"
    qtbot.keyClick(palette.sought, Qt.Key.Key_Return)
    assert not palette.isVisible()


def test_the_palette_finds_and_does(qtbot: QtBot, ran: Window) -> None:
    palette = open_palette(qtbot, ran)
    qtbot.keyClicks(palette.sought, "dark theme")
    assert palette.list.topLevelItem(0).text(0) == "View › Theme › Dark"
    qtbot.keyClick(palette.sought, Qt.Key.Key_Return)
    assert ran.theme_choice == "dark"
    palette = open_palette(qtbot, ran)
    qtbot.keyClicks(palette.sought, "dark theme")
    assert palette.list.topLevelItem(0).text(1) == "on"
    qtbot.keyClick(palette.sought, Qt.Key.Key_Escape)
    palette = open_palette(qtbot, ran)
    qtbot.keyClicks(palette.sought, "step")
    first = palette.list.currentItem()
    qtbot.keyClick(palette.sought, Qt.Key.Key_Down)
    assert palette.list.currentItem() is not first
    qtbot.keyClick(palette.sought, Qt.Key.Key_Escape)
    assert not palette.isVisible()


def test_names_that_begin_with_the_word_come_first(ran: Window) -> None:
    words = [command.words for command in found(commands_in(ran.menuBar()), "copy")]
    assert words[:2] == ["File › Copy as answer", "File › Copy picture"]
    assert found(commands_in(ran.menuBar()), "no such thing") == []


def test_no_shortcut_is_one_of_the_window_managers() -> None:
    keys = {QKeySequence(key).toString() for action in ACTIONS for key in action.shortcuts}
    assert keys & {QKeySequence(key).toString() for key in TAKEN} == set()


def controls(window: Window) -> Iterator[QWidget]:
    for widget in window.findChildren(QWidget):
        is_viewport = type(widget) is QWidget
        is_ours = (
            not is_viewport
            and widget.isVisible()
            and widget.focusPolicy() != Qt.FocusPolicy.NoFocus
        )
        if is_ours and not widget.objectName().startswith("qt_"):
            yield widget


def test_every_control_has_a_name(qtbot: QtBot, ran: Window) -> None:
    nameless = []
    for widget in controls(ran):
        interface = QAccessible.queryAccessibleInterface(widget)
        if interface is not None and not interface.text(QAccessible.Text.Name):
            nameless.append(f"{type(widget).__name__} in {type(widget.parentWidget()).__name__}")
    assert not nameless, nameless


def test_tab_comes_around_through_editor_tables_and_cards(qtbot: QtBot, ran: Window) -> None:
    ran.activateWindow()
    ran.source.editor.setFocus()
    qtbot.waitUntil(ran.source.editor.hasFocus)
    met: list[QWidget] = []
    for _ in range(200):
        now = QApplication.focusWidget()
        if met and now is met[0]:
            break
        met.append(now)
        if isinstance(now, Editor):
            QTest.keyClick(now, Qt.Key.Key_Escape)
        QTest.keyClick(now, Qt.Key.Key_Tab)
    assert QApplication.focusWidget() is met[0]
    assert ran.backprop.table in met
    assert any(isinstance(widget, FindingCard) for widget in met)
    assert {getattr(widget, "text", str)() for widget in met} >= {"Apply", "Show the cut", "Why?"}


def test_tab_indents_unless_escape_was_pressed(qtbot: QtBot, window: Window) -> None:
    editor = window.source.editor
    window.activateWindow()
    editor.setFocus()
    qtbot.waitUntil(editor.hasFocus)
    before = editor.toPlainText()
    qtbot.keyClick(editor, Qt.Key.Key_Tab)
    assert editor.toPlainText() == "    " + before
    qtbot.keyClick(editor, Qt.Key.Key_Escape)
    qtbot.keyClick(editor, Qt.Key.Key_Tab)
    assert editor.toPlainText() == "    " + before
    assert not editor.hasFocus()


def test_tab_reaches_every_control_in_sight_and_none_behind(qtbot: QtBot, ran: Window) -> None:
    ran.activateWindow()
    ran.source.editor.setFocus()
    qtbot.waitUntil(ran.source.editor.hasFocus)
    reached: list[QWidget] = []
    qtbot.keyClick(ran.source.editor, Qt.Key.Key_Escape)
    while (focus := QApplication.focusWidget()) is not None and focus not in reached:
        reached.append(focus)
        qtbot.keyClick(focus, Qt.Key.Key_Tab)
    assert reached[:2] == [ran.source.editor, ran.graph.view]
    assert not any(ran.stage.is_behind(widget) for widget in reached)
    assert {ran.backprop.table, ran.diagnosis.cards[0]} <= set(reached)
    links = [link for link in ran.diagnosis.findChildren(QPushButton) if link.isVisible()]
    assert set(links) <= set(reached)
