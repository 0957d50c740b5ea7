"""Typing into the editor as a person would."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QTextEdit
from pytestqt.qtbot import QtBot

from tapeviz.panels.look import THEMES
from tapeviz.panels.source.editing import replace_text
from tapeviz.panels.source.editor import Editor
from tapeviz.panels.source.highlighter import LONGEST_LINE, read_spans
from tapeviz.panels.source.line_marks import LineMark
from tapeviz.panels.source.sight import rows_in_sight
from tapeviz.text.code_roles import role_of

CTRL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def editor(qtbot: QtBot) -> Editor:
    editor = Editor(THEMES["light"])
    qtbot.addWidget(editor)
    editor.resize(500, 400)
    editor.show()
    qtbot.waitExposed(editor)
    editor.setFocus()
    return editor


def press(qtbot: QtBot, editor: Editor, *keys: Qt.Key) -> None:
    for key in keys:
        qtbot.keyClick(editor, key)


def test_return_keeps_the_indentation_and_a_colon_adds_to_it(qtbot: QtBot, editor: Editor) -> None:
    qtbot.keyClicks(editor, "with tf.GradientTape() as g:  # the tape")
    press(qtbot, editor, Qt.Key.Key_Return)
    qtbot.keyClicks(editor, "y = x")
    press(qtbot, editor, Qt.Key.Key_Return)
    qtbot.keyClicks(editor, "return y")
    press(qtbot, editor, Qt.Key.Key_Return)
    qtbot.keyClicks(editor, "z")
    assert editor.toPlainText() == (
        "with tf.GradientTape() as g:  # the tape\n    y = x\n    return y\nz"
    )


def test_tab_and_backspace_move_by_four(qtbot: QtBot, editor: Editor) -> None:
    press(qtbot, editor, Qt.Key.Key_Tab)
    qtbot.keyClicks(editor, "a")
    assert editor.toPlainText() == "    a"
    press(qtbot, editor, Qt.Key.Key_Left, Qt.Key.Key_Backspace)
    assert editor.toPlainText() == "a"


def test_selected_lines_move_in_and_out_as_one(qtbot: QtBot, editor: Editor) -> None:
    editor.setPlainText("a\n\n  b\nc")
    cursor = editor.textCursor()
    cursor.setPosition(0)
    cursor.setPosition(7, QTextCursor.MoveMode.KeepAnchor)
    editor.setTextCursor(cursor)
    press(qtbot, editor, Qt.Key.Key_Tab)
    assert editor.toPlainText() == "    a\n\n      b\nc"
    press(qtbot, editor, Qt.Key.Key_Backtab)
    assert editor.toPlainText() == "a\n\n  b\nc"
    editor.undo()
    assert editor.toPlainText() == "    a\n\n      b\nc"


def test_comments_go_in_and_out(qtbot: QtBot, editor: Editor) -> None:
    editor.setPlainText("if a:\n    b\n\n    c")
    editor.selectAll()
    editor.toggle_comment()
    assert editor.toPlainText() == "# if a:\n#     b\n\n#     c"
    editor.toggle_comment()
    assert editor.toPlainText() == "if a:\n    b\n\n    c"


def test_replacing_is_one_step_and_keeps_the_rest(qtbot: QtBot, editor: Editor) -> None:
    editor.setPlainText("a = “1”\nb 😀\nc")
    replace_text(editor.document(), 'a = "1"\nb 😀\ncd')
    assert editor.toPlainText() == 'a = "1"\nb 😀\ncd'
    editor.undo()
    assert editor.toPlainText() == "a = “1”\nb 😀\nc"
    replace_text(editor.document(), "a = “1”\nb 🎉\nc")
    assert editor.toPlainText() == "a = “1”\nb 🎉\nc"


def test_undo_of_a_replaced_text_stays_at_the_change(qtbot: QtBot, editor: Editor) -> None:
    text = "\n".join(f"line {number}" for number in range(200))
    editor.setPlainText(text)
    replace_text(editor.document(), text.replace("line 150\n", "line 150\nadded\n"))
    editor.undo()
    assert editor.toPlainText() == text
    assert editor.textCursor().blockNumber() in (150, 151)


def test_spans_know_strings_keywords_and_numbers() -> None:
    lines = read_spans('with x as g:\n    """a\nb""" + 1.5\n# no')
    roles = [[(start, length, role_of(token)) for start, length, token in line] for line in lines]
    assert (0, 4, "code_keyword") in roles[0]
    assert roles[1][0][2] == "code_string"
    assert roles[2][0] == (0, 4, "code_string")
    assert roles[2][-1][2] == "code_number"
    assert roles[3] == [(0, 4, "code_comment")]


def foreground(editor: Editor, line: int, column: int) -> str:
    block = editor.document().findBlockByNumber(line - 1)
    for span in block.layout().formats():
        if span.start <= column < span.start + span.length:
            return span.format.foreground().color().name()
    return ""


def test_colours_follow_an_opened_string(qtbot: QtBot, editor: Editor) -> None:
    editor.setPlainText("a = 1\nb = 2\nc = 3")
    assert foreground(editor, 3, 4) == THEMES["light"].code_number
    editor.moveCursor(QTextCursor.MoveOperation.Start)
    qtbot.keyClicks(editor, '"""')
    assert foreground(editor, 3, 4) == THEMES["light"].code_string
    editor.setPlainText("for x in y: 3")
    assert foreground(editor, 1, 0) == THEMES["light"].code_keyword
    editor.set_theme(THEMES["dark"])
    assert foreground(editor, 1, 0) == THEMES["dark"].code_keyword


def test_a_long_text_is_coloured_while_the_window_answers(qtbot: QtBot, editor: Editor) -> None:
    editor.setPlainText("x = 1  # one\n" * 6_000)
    comment = THEMES["light"].code_comment
    assert foreground(editor, 1, 8) == comment
    assert foreground(editor, 5_000, 8) != comment, "the last lines have to wait"
    editor.moveCursor(QTextCursor.MoveOperation.Start)
    editor.textCursor().deleteChar()
    for _ in range(300):  # what waits moves up with the lines
        editor.moveCursor(QTextCursor.MoveOperation.NextBlock, QTextCursor.MoveMode.KeepAnchor)
    editor.textCursor().removeSelectedText()
    last = editor.blockCount() - 2
    qtbot.waitUntil(lambda: foreground(editor, last, 8) == comment)
    lines = range(1, last)
    assert [line for line in lines if foreground(editor, line, 8) != comment] == []


def test_zoom_has_bounds(qtbot: QtBot, editor: Editor) -> None:
    for _ in range(60):
        editor.zoom(1)
    assert editor.size_px == 32
    assert editor.font().pixelSize() == 32
    editor.zoom(-100)
    assert editor.size_px == 8


def test_marks_are_painted_and_told(qtbot: QtBot, editor: Editor) -> None:
    editor.setPlainText("a\nb\nc\nd")
    before = editor.grab().toImage()
    editor.set_marks(
        (
            LineMark(2, "trouble", True, "✂", tip="cut <b>here</b>"),
            LineMark(3, "call", badge="None", tip="asked here"),
            LineMark(4, sign="target"),
            LineMark(1, sign="source"),
            LineMark(99, "trouble", True, "✕"),
        )
    )
    assert editor.grab().toImage() != before
    rows = {b.blockNumber() + 1: rect for b, rect in rows_in_sight(editor)}
    assert editor.tip_at(rows[2].center().y()) == "cut <b>here</b>"
    assert editor.tip_at(rows[4].center().y()) == ""


def test_a_click_on_a_number_goes_to_the_line(qtbot: QtBot, editor: Editor) -> None:
    editor.setPlainText("a\nb\nc")
    rect = rows_in_sight(editor)[2][1]
    with qtbot.waitSignal(editor.line_reached) as heard:
        qtbot.mouseClick(
            editor.margin, Qt.MouseButton.LeftButton, pos=QPoint(10, round(rect.center().y()))
        )
    assert heard.args == [3]


def test_dropped_files_are_not_pasted_as_text(qtbot: QtBot, editor: Editor) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile("/tmp/a.py")])
    editor.insertFromMimeData(data)
    assert editor.toPlainText() in ("", "file:///tmp/a.py")
    with qtbot.waitSignal(editor.pasted):
        data = QMimeData()
        data.setText("a\nb")
        editor.insertFromMimeData(data)


def test_the_json_of_a_notebook_is_pasted_as_its_code(qtbot: QtBot, editor: Editor) -> None:
    data = QMimeData()
    data.setText('{"cells": [{"cell_type": "code", "source": ["x = 1\\n", "y = 2"]}]}')
    with qtbot.waitSignal(editor.pasted):
        editor.insertFromMimeData(data)
    assert editor.toPlainText() == "# %%\nx = 1\ny = 2\n"


def test_parts_left_out_that_a_shorter_text_lacks_are_not_greyed(
    editor: Editor, monkeypatch: pytest.MonkeyPatch
) -> None:
    greyed: list[str] = []

    def note(selections: list[QTextEdit.ExtraSelection]) -> None:
        greyed[:] = [each.cursor.selectedText() for each in selections]

    monkeypatch.setattr(editor, "setExtraSelections", note)
    editor.setPlainText("\n".join("abcdef"))
    editor.set_left_out([(2, 3), (5, 6)])
    assert greyed == ["b\u2029c", "e\u2029f"]
    editor.setPlainText("x\ny")
    editor.set_left_out([(2, 3), (4, 6)])
    assert greyed == ["y"]


def test_markup_without_a_plain_text_is_pasted_as_its_text(editor: Editor) -> None:
    data = QMimeData()
    data.setHtml("<p>Why?</p><pre><code><b>x</b> = 1\nif x:\n    y = 2</code></pre>")
    assert editor.canInsertFromMimeData(data)
    editor.insertFromMimeData(data)
    assert editor.toPlainText().split("\n")[-3:] == ["x = 1", "if x:", "    y = 2"]


def test_code_reads_from_left_to_right_whatever_its_names(editor: Editor) -> None:
    editor.setPlainText("متغير = tf.Variable(3.0)")
    block = editor.document().firstBlock()
    assert block.textDirection() == Qt.LayoutDirection.LeftToRight
    assert block.layout().lineAt(0).cursorToX(0)[0] < 100


def test_a_line_without_end_is_not_coloured(editor: Editor) -> None:
    editor.setPlainText(f"x = 1\ny = {'1' * 2 * LONGEST_LINE}\n")
    first = editor.document().firstBlock()
    assert first.layout().formats()
    assert not first.next().layout().formats()


@pytest.mark.parametrize("is_scrolled_away", [False, True])
def test_a_line_that_was_brought_into_sight_stays_so_when_the_room_shrinks(
    qtbot: QtBot, editor: Editor, is_scrolled_away: bool
) -> None:
    editor.setPlainText("\n".join(f"a{i} = {i}" for i in range(200)))
    editor.resize(500, 800)
    qtbot.waitUntil(lambda: editor.height() == 800)
    editor.show_line(99)
    if is_scrolled_away:
        editor.verticalScrollBar().setValue(0)
    editor.resize(500, 200)
    qtbot.waitUntil(lambda: editor.height() == 200)
    seen = [block.blockNumber() + 1 for block, _ in rows_in_sight(editor)]
    assert (99 in seen) is not is_scrolled_away
