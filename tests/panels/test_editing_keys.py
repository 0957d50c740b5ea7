"""Find and replace, go to line, brackets, whole lines and completion, by the keys of a person."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

import parso.cache
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from pytestqt.qtbot import QtBot

from tapeviz.document import Document
from tapeviz.panels.look import Theme
from tapeviz.panels.source.brackets import bracket_pair
from tapeviz.panels.source.find_bar import FindBar
from tapeviz.panels.source.finding import SearchTerm, matches, replacement
from tapeviz.panels.source.panel import SourcePanel
from tapeviz.text.completing import names_at, serve

SHIFT = Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def panel(qtbot: QtBot, document: Document, light: Theme) -> Iterator[SourcePanel]:
    panel = SourcePanel(document, light)
    qtbot.addWidget(panel)
    panel.resize(600, 500)
    panel.show()
    qtbot.waitExposed(panel)
    panel.activateWindow()
    panel.editor.setFocus()
    qtbot.waitUntil(panel.editor.hasFocus)
    yield panel
    panel.completion.close()


def put(panel: SourcePanel, text: str) -> None:
    panel.edit_text(text)
    panel.editor.moveCursor(QTextCursor.MoveOperation.Start)


def opened(panel: SourcePanel, with_replace: bool = False) -> FindBar:
    panel.find_text(with_replace)
    return panel.find_bar


def selected(panel: SourcePanel) -> tuple[int, str]:
    cursor = panel.editor.textCursor()
    return cursor.selectionStart(), cursor.selectedText()


def test_enter_goes_on_shift_enter_back_and_escape_closes(qtbot: QtBot, panel: SourcePanel) -> None:
    put(panel, "loss = 1\nLoss = 2\nprint(loss)\n")
    bar = opened(panel)
    qtbot.keyClicks(bar.words, "loss")
    assert (selected(panel), bar.count.text()) == ((0, "loss"), "1 of 3")
    assert len(panel.editor.extraSelections()) == 3
    qtbot.keyClick(bar.words, Qt.Key.Key_Return)
    assert (selected(panel), bar.count.text()) == ((9, "Loss"), "2 of 3")
    qtbot.keyClick(bar.words, Qt.Key.Key_Return, SHIFT)
    qtbot.keyClick(bar.words, Qt.Key.Key_Return, SHIFT)
    assert (selected(panel), bar.count.text()) == ((24, "loss"), "3 of 3")
    qtbot.mouseClick(bar.case, Qt.MouseButton.LeftButton)
    assert bar.count.text() == "2 of 2"
    qtbot.keyClick(bar.words, Qt.Key.Key_Escape)
    assert not bar.isVisible()
    assert panel.editor.hasFocus()
    put(panel, "loss")
    assert panel.editor.extraSelections() == []


def test_tab_leads_from_what_is_sought_to_what_replaces_it(
    qtbot: QtBot, panel: SourcePanel
) -> None:
    put(panel, "loss = 1\n")
    bar = opened(panel, with_replace=True)
    qtbot.keyClicks(bar.words, "loss")
    qtbot.keyClick(bar.words, Qt.Key.Key_Tab)
    assert bar.instead.hasFocus()
    qtbot.keyClick(bar.instead, Qt.Key.Key_Tab)
    assert bar.pattern.hasFocus()
    bar.leave()
    opened(panel)  # without the second row
    qtbot.keyClick(bar.words, Qt.Key.Key_Tab)
    assert bar.pattern.hasFocus()


def test_patterns_and_their_groups_replace_in_one_step(qtbot: QtBot, panel: SourcePanel) -> None:
    text = "tape.gradient(y, x)\ntape.gradient(z, x)\n"
    put(panel, text)
    bar = opened(panel, with_replace=True)
    qtbot.mouseClick(bar.pattern, Qt.MouseButton.LeftButton)
    qtbot.keyClicks(bar.words, r"gradient\((\w), x")
    qtbot.keyClicks(bar.instead, r"jacobian(\1, w")
    qtbot.keyClick(bar.instead, Qt.Key.Key_Return)
    assert panel.editor.toPlainText() == "tape.jacobian(y, w)\ntape.gradient(z, x)\n"
    assert bar.count.text() == "1 of 1"
    panel.editor.undo()
    with qtbot.waitSignal(bar.replaced) as heard:
        qtbot.mouseClick(bar.all_button, Qt.MouseButton.LeftButton)
    assert heard.args == ["2 replaced"]
    assert panel.editor.toPlainText() == text.replace("gradient", "jacobian").replace("x)", "w)")
    assert bar.count.text() == "nothing found"
    panel.editor.undo()
    assert panel.editor.toPlainText() == text


def test_a_pattern_that_cannot_be_read_is_told(qtbot: QtBot, panel: SourcePanel) -> None:
    bar = opened(panel)
    qtbot.mouseClick(bar.pattern, Qt.MouseButton.LeftButton)
    qtbot.keyClicks(bar.words, "(")
    assert bar.count.text() == "no such pattern"
    assert bar.count.toolTip()
    assert not bar.next.isEnabled()


@pytest.mark.parametrize(
    ("sought", "words", "made"),
    [
        (SearchTerm("a.c"), "x", "abc x"),
        (
            SearchTerm("a(.)c", is_pattern=True),
            r"\1\0\n\\",
            "babc\n\\ ba.c\n\\".replace("ba.c", ".a.c"),
        ),
        (SearchTerm("^a", is_pattern=True), "", "bc a.c"),
    ],
)
def test_replacements(sought: SearchTerm, words: str, made: str) -> None:
    text = "abc a.c"
    for match in reversed(matches(text, sought)):
        put_in = replacement(match, words, sought)
        text = text[: match.capturedStart()] + put_in + text[match.capturedEnd() :]
    assert text == made


def test_empty_matches_do_not_count() -> None:
    assert matches("abc", SearchTerm("x*", is_pattern=True)) == []


def test_go_to_line_shows_it_while_typing_and_escape_goes_back(
    qtbot: QtBot, panel: SourcePanel
) -> None:
    put(panel, "\n".join("abcdefgh"))
    panel.ask_line()
    bar = panel.line_bar
    assert bar.words.text() == "of 8"
    qtbot.keyClicks(bar.number, "7")
    assert panel.editor.line == 7
    qtbot.keyClick(bar.number, Qt.Key.Key_Escape)
    assert panel.editor.line == 1
    panel.ask_line()
    qtbot.keyClicks(bar.number, "99")
    qtbot.keyClick(bar.number, Qt.Key.Key_Return)
    assert panel.editor.line == 8
    assert panel.editor.hasFocus()
    assert not bar.isVisible()


def test_lines_are_duplicated_and_moved(qtbot: QtBot, panel: SourcePanel) -> None:
    editor = panel.editor
    put(panel, "a\nb\nc")
    editor.duplicate()
    assert editor.toPlainText() == "a\na\nb\nc"
    for by, text in ((1, "a\nb\na\nc"), (1, "a\nb\nc\na"), (1, "a\nb\nc\na"), (-1, "a\nb\na\nc")):
        editor.go_to(editor.toPlainText().split("\n").index("a", 1) + 1)
        editor.move_lines(by)
        assert editor.toPlainText() == text
    editor.undo()
    assert editor.toPlainText() == "a\nb\nc\na"
    editor.go_to(1)
    editor.moveCursor(QTextCursor.MoveOperation.NextBlock, QTextCursor.MoveMode.KeepAnchor)
    editor.moveCursor(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
    editor.move_lines(1)
    assert editor.toPlainText() == "c\na\nb\na"
    assert editor.textCursor().selectedText() == "a\u2029b"
    editor.move_lines(-1)
    editor.move_lines(-1)
    assert editor.toPlainText() == "a\nb\nc\na"


@pytest.mark.parametrize(
    ("text", "at", "pair"),
    [
        ("f(a[0])", 1, (1, 6)),
        ("f(a[0])", 7, (6, 1)),
        ("f(a[0])", 6, (5, 3)),
        ("f(')', 1)", 1, (1, 8)),
        ("f(1  # )\n )", 1, (1, 10)),
        ("f((1)", 1, (1, -1)),
        ("f(1)", 0, None),
        ("')'", 1, None),
    ],
)
def test_brackets_find_their_partners(
    panel: SourcePanel, text: str, at: int, pair: tuple[int, int] | None
) -> None:
    panel.edit_text(text)
    assert bracket_pair(panel.editor.document(), at) == pair


def test_the_pair_at_the_cursor_is_marked(qtbot: QtBot, panel: SourcePanel) -> None:
    put(panel, "f(a)")
    qtbot.keyClick(panel.editor, Qt.Key.Key_Right)
    marked = [extra.cursor.selectedText() for extra in panel.editor.extraSelections()]
    assert marked == ["(", ")"]
    qtbot.keyClick(panel.editor, Qt.Key.Key_Home)
    assert panel.editor.extraSelections() == []


# Completion


def test_names_of_the_text_are_completed(qtbot: QtBot, panel: SourcePanel) -> None:
    put(panel, "")
    qtbot.keyClicks(panel.editor, "learning_rate = 1")
    qtbot.keyClick(panel.editor, Qt.Key.Key_Return)
    qtbot.keyClicks(panel.editor, "learn")
    popup = panel.completion.popup
    panel.completion.ask()
    qtbot.waitUntil(popup.isVisible)
    qtbot.keyClick(popup, Qt.Key.Key_Return)
    assert panel.editor.toPlainText() == "learning_rate = 1\nlearning_rate"


def test_a_dot_asks_enter_breaks_the_line_and_tab_takes(qtbot: QtBot, panel: SourcePanel) -> None:
    put(panel, "")
    qtbot.keyClicks(panel.editor, "'a'.")
    popup = panel.completion.popup
    qtbot.waitUntil(popup.isVisible)
    qtbot.keyClick(popup, Qt.Key.Key_Return)
    assert panel.editor.toPlainText() == "'a'.\n"
    panel.editor.undo()
    panel.completion.ask()
    qtbot.waitUntil(popup.isVisible)
    qtbot.keyClicks(popup, "upp")
    assert panel.editor.toPlainText() == "'a'.upp"
    qtbot.keyClick(popup, Qt.Key.Key_Tab)
    assert panel.editor.toPlainText() == "'a'.upper"
    qtbot.keyClicks(panel.editor, " # x.")
    qtbot.keyClicks(panel.editor, "y")
    assert panel.completion._asked == 2, "a comment and a number ask nothing"


@pytest.mark.parametrize(
    ("text", "begin", "wanted"),
    [
        ("with tf.GradientTape() as g:\n    g.grad", "    g.grad", "gradient"),
        ("import tensorflow as T\nx = T.keras.layers.Den", "x = T.keras.layers.Den", "Dense"),
        ("wrong(\nlo", "lo", "locals"),
        ("import tensorflow as tf\ntf.", "tf.", "zeros_like"),
    ],
)
def test_libraries_are_read(text: str, begin: str, wanted: str) -> None:
    line = text.split("\n").index(begin) + 1
    assert wanted in names_at(text, line, len(begin))


def test_a_parsed_file_that_was_never_written_to_its_end_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    parso.cache.parser_cache.clear()
    assert "keyword" in names_at("import keyword\nkeyw", 2, 4)
    parsed = list(tmp_path.rglob("*.pkl"))
    assert parsed
    for file in parsed:
        file.write_bytes(b"")
    parso.cache.parser_cache.clear()
    assert "keyword" in names_at("import keyword\nkeyw", 2, 4)


def test_a_question_that_cannot_be_answered_gives_no_names() -> None:
    answers = io.StringIO()
    serve([json.dumps({"id": 3, "text": "a", "line": 99, "column": 0})], answers)
    assert json.loads(answers.getvalue()) == {"id": 3, "names": []}
