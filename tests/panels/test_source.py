from __future__ import annotations

import threading
from dataclasses import replace

import pytest
from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QMouseEvent, QTextCursor
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tapeviz.analysis.model import Diagnosis
from tapeviz.app.stage import CARD_BORDERS
from tapeviz.document import Document
from tapeviz.panels.look import Theme
from tapeviz.panels.source.line_marks import LineMark, marks_of
from tapeviz.panels.source.long_text import PART
from tapeviz.panels.source.panel import SourcePanel
from tapeviz.panels.source.pasting import has_code
from tapeviz.panels.source.repair_strip import listed
from tapeviz.panels.source.sight import rows_in_sight
from tapeviz.repair import Repair, Repaired, Skipped, SyntaxProblem, repair
from tapeviz.trace.ids import OpId, SiteId
from tapeviz.trace.model import Failure, Trace
from tapeviz.trace.sites import Site, StackFrame
from tests.document.sample import SOURCE, SamplePipeline, make_trace
from tests.waiting import PATIENCE


@pytest.fixture
def panel(qtbot: QtBot, ran: Document, light: Theme) -> SourcePanel:
    panel = SourcePanel(ran, light)
    qtbot.addWidget(panel)
    panel.resize(420, 500)
    panel.show()
    qtbot.waitExposed(panel)
    return panel


def test_code_that_holds_addresses_is_code_and_addresses_alone_are_not() -> None:
    def carried(text: str, *urls: str) -> QMimeData:
        data = QMimeData()
        data.setUrls([QUrl(url) for url in urls])
        data.setText(text)
        return data

    page, file = "https://example.org/x.csv", "file:///home/a/x.py"
    assert has_code(carried(f"urls = [\n    '{page}',\n]\n", page))
    assert has_code(carried("x = 1"))
    assert not has_code(carried(f"{page}\n", page))
    assert not has_code(carried(file, file))
    assert not has_code(carried("/home/a/x.py", file))


def by_line(document: Document) -> dict[int, list[str]]:
    marks: dict[int, list[str]] = {}
    for mark in marks_of(document):
        if mark.tint != "linked":
            marks.setdefault(mark.line, []).append(mark.badge or mark.sign)
    return marks


def test_cut_call_source_and_target_are_marked(ran: Document) -> None:
    marks = by_line(ran)
    assert marks[5] == ["✂"]
    assert marks[8] == ["None"]
    assert marks[3] == ["source"]
    assert marks[7] == ["target"]
    ran.stepping.go_to(2)
    assert by_line(ran)[6] == ["step"]


def test_marks_move_with_their_lines_and_go_with_an_edit(ran: Document) -> None:
    ran.text.edit("# above\n" + SOURCE)
    assert by_line(ran)[6] == ["✂"]
    ran.text.edit(SOURCE.replace("assign(patch)", "assign(other)"))
    assert 5 not in by_line(ran)
    assert by_line(ran)[8] == ["None"]


def test_an_error_is_marked_on_its_line(
    qtbot: QtBot, ran: Document, pipeline: SamplePipeline
) -> None:
    failure = Failure("ValueError", "shapes do not fit", 6, "Traceback …\nValueError")
    ran.showing.take(replace(make_trace(), failure=failure))
    qtbot.waitUntil(lambda: not ran.background.busy)
    assert "✕" in by_line(ran)[6]


def test_of_many_marks_on_a_line_the_first_are_told_and_come_in_slices(
    qtbot: QtBot, panel: SourcePanel, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = panel.document
    call = document.diagnosis.calls[0]
    (cut,) = (finding for finding in call.findings if finding.cause is not None)
    findings = tuple(replace(cut, source=f"v{number}") for number in range(2_000))
    monkeypatch.setattr("tapeviz.panels.source.line_marks.SLICE", 0)
    document.diagnosing.keep(replace(document.diagnosis, calls=(replace(call, findings=findings),)))
    assert not document.jobs.is_idle
    qtbot.waitUntil(lambda: document.jobs.is_idle)
    marks = panel.editor.marks
    assert marks == marks_of(document)
    assert len(marks) < 40
    assert "and 1,992 more" in [mark.tip for mark in marks]


def test_a_long_text_comes_in_parts_and_is_the_documents_as_a_whole(
    qtbot: QtBot, panel: SourcePanel
) -> None:
    editor, document = panel.editor, panel.document
    line = "x = tf.Variable(1.0)\n"
    text = line * (3 * PART // len(line)) + "y = ("
    document.open_source(text)
    assert editor.blockCount() < text.count("\n") / 2
    assert editor.toPlainText() == document.text.source == text
    qtbot.waitUntil(lambda: editor.blockCount() == text.count("\n") + 1)
    assert editor.toPlainText() == document.text.source == text
    assert not document.text.is_modified
    qtbot.keyClicks(editor, "a")
    editor.undo()
    editor.undo()
    assert document.text.source == text
    document.open_source(text + "1")
    qtbot.keyClick(editor, Qt.Key.Key_End, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClicks(editor, ")")
    assert document.text.source == editor.toPlainText() == text + "1)"
    document.open_source(text)
    document.open_source("short")
    qtbot.wait(20)
    assert editor.toPlainText() == document.text.source == "short"


def test_the_text_typed_is_the_documents(qtbot: QtBot, panel: SourcePanel) -> None:
    panel.editor.setFocus()
    qtbot.keyClick(panel.editor, Qt.Key.Key_End, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClicks(panel.editor, "# end")
    assert panel.document.text.source == SOURCE + "# end"
    assert panel.document.is_stale


def test_the_cursors_line_lights_its_nodes(qtbot: QtBot, panel: SourcePanel) -> None:
    panel.editor.setFocus()
    qtbot.waitUntil(panel.editor.hasFocus)
    for _ in range(6):
        qtbot.keyClick(panel.editor, Qt.Key.Key_Down)
    assert panel.document.selection.nodes == {"op5"}
    assert panel.document.selection.line == 7


def test_a_pasted_page_is_repaired_and_can_be_undone(
    qtbot: QtBot, panel: SourcePanel, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = panel.document

    def repair(text: str) -> Repaired:
        mended = text.replace(">>> ", "")
        found = tuple(
            Repair(n, "removed the prompt >>>")
            for n, line in enumerate(text.split("\n"), start=1)
            if line.startswith(">>> ")
        )
        return Repaired(mended, found)

    document.stages = replace(document.stages, repair=repair)
    document.open_source("")
    pasted = ">>> x = 1\n>>> y = 2\n"
    QApplication.clipboard().setText(pasted)
    panel.editor.setFocus()
    panel.editor.paste()
    qtbot.waitUntil(lambda: document.text.source == "x = 1\ny = 2\n")
    qtbot.waitUntil(panel.repair_strip.isVisible)
    assert panel.repair_strip.words.text() == "Repaired 2 things"
    qtbot.mouseClick(panel.repair_strip.details, Qt.MouseButton.LeftButton)
    assert panel.repair_strip.list.toPlainText() == "lines 1–2: removed the prompt >>>"
    qtbot.mouseClick(panel.repair_strip.undo, Qt.MouseButton.LeftButton)
    assert document.text.source == pasted
    assert not panel.repair_strip.isVisible()
    panel.editor.undo()
    assert document.text.source == ""


def test_repairs_are_listed_by_kind_with_their_lines() -> None:
    prose, prompt = "not Python: kept as a comment", "removed the prompt >>>"
    done = ((0, "changed all"), (1, prose), (2, prose), (3, prompt), (5, prose), (5, prompt))
    assert listed(
        Repaired("", tuple(Repair(*each) for each in done)),
        ((7, 9, "it is broken"), (8, 8, "it is bad")),
    ) == [
        "lines 7–9 left out: it is broken",
        "line 8 left out: it is bad",
        "changed all",
        "lines 1–2, 5: not Python: kept as a comment",
        "lines 3, 5: removed the prompt >>>",
    ]


def test_a_page_without_code_is_not_called_repaired(qtbot: QtBot, panel: SourcePanel) -> None:
    text = panel.document.text
    text.take_repairs(Repaired("#¶ no code\n", (Repair(1, "not Python: kept as a comment"),)))
    assert panel.repair_strip.words.text().startswith("No line of it is Python")


def test_typing_is_never_repaired(qtbot: QtBot, panel: SourcePanel) -> None:
    panel.editor.setFocus()
    QApplication.clipboard().setText("one word")
    panel.editor.paste()
    assert panel.document.text.repairs is None
    assert not panel.repair_strip.isVisible()


def test_what_is_beyond_repair_is_said_and_kept(
    qtbot: QtBot, panel: SourcePanel, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = panel.document
    document.stages = replace(
        document.stages,
        repair=lambda text: Repaired(text, error=SyntaxProblem(2, 1, "a bracket is open")),
    )
    document.open_source("")
    QApplication.clipboard().setText("f(\n\n")
    panel.editor.paste()
    qtbot.waitUntil(panel.repair_strip.isVisible)
    assert document.text.source == "f(\n\n"
    assert panel.repair_strip.words.text() == "line 2: a bracket is open"
    panel.editor.insertPlainText(")")  # it may be mended now
    qtbot.waitUntil(lambda: not panel.repair_strip.isVisible())
    panel.editor.undo()
    qtbot.waitUntil(panel.repair_strip.isVisible)


def test_a_line_asked_for_is_gone_to(qtbot: QtBot, panel: SourcePanel) -> None:
    panel.document.selecting.go_to_line(5)
    assert panel.editor.textCursor().blockNumber() == 4
    assert panel.document.selection.nodes == {"op1", "x1"}


def test_only_a_cut_has_scissors(qtbot: QtBot, ran: Document) -> None:
    call = ran.diagnosis.calls[0]
    finding = replace(call.findings[0], status="nonfinite")
    ran.diagnosing.diagnosis = replace(ran.diagnosis, calls=(replace(call, findings=(finding,)),))
    marks = by_line(ran)
    assert marks[5] == ["NaN"]
    assert marks[8] == ["NaN"]


LEFT_OUT = "x = 1\n# y = f(\n# z\nw = 2\n"


def paste_a_page(qtbot: QtBot, panel: SourcePanel) -> Document:
    document = panel.document
    page = Repaired(LEFT_OUT, skipped=(Skipped(2, 3, "a bracket is open"),), blocks=3)
    document.stages = replace(document.stages, repair=lambda text: page)
    document.open_source("")
    QApplication.clipboard().setText(LEFT_OUT.replace("# ", ""))
    panel.editor.paste()
    qtbot.waitUntil(lambda: document.text.source == LEFT_OUT)
    return document


def test_what_is_left_out_of_a_page_is_greyed_and_told(qtbot: QtBot, panel: SourcePanel) -> None:
    document = paste_a_page(qtbot, panel)
    words = panel.repair_strip.words
    assert words.text() == "2 of 3 blocks run · lines 2–3 left out: a bracket is open"
    marks = {mark.line: mark.tip for mark in marks_of(document) if mark.tint == "left-out"}
    assert marks == {2: "Left out: a bracket is open", 3: "Left out: a bracket is open"}
    (grey,) = panel.editor.extraSelections()
    assert grey.cursor.selectedText().split("\u2029") == ["# y = f(", "# z"]
    document.text.edit("import a\n" + LEFT_OUT)
    assert [mark.line for mark in marks_of(document)] == [3, 4]
    document.text.edit(LEFT_OUT.replace("# y = f(\n# z", "y = f(z)"))
    assert marks_of(document) == ()
    assert not panel.repair_strip.isVisible()


def test_prose_of_a_page_is_greyed_and_needs_no_room(qtbot: QtBot, panel: SourcePanel) -> None:
    document, prose = panel.document, "Why is this " + "so very " * 9 + "long?"
    source = f"{prose}\nDoes it work?\n\nx = 1\nThanks\n"
    document.stages = replace(document.stages, repair=repair)
    document.open_source(source, name="page.txt")
    needed = panel.editor.wanted_width()
    document.run()
    qtbot.waitUntil(lambda: bool(document.text.prose()))
    assert document.text.prose() == (1, 2, 5)
    greyed = [grey.cursor.selectedText() for grey in panel.editor.extraSelections()]
    assert greyed == [f"{prose}\u2029Does it work?", "Thanks"]
    assert panel.editor.wanted_width() < needed


def test_a_run_waits_for_the_repair_of_what_was_pasted(qtbot: QtBot, panel: SourcePanel) -> None:
    document, gate = panel.document, threading.Event()

    def repair(text: str) -> Repaired:
        gate.wait(PATIENCE)
        return Repaired("x = 1\ny = 2\n", (Repair(1, "removed the prompt >>>"),))

    document.stages = replace(document.stages, repair=repair)
    document.open_source("")
    QApplication.clipboard().setText(">>> x = 1\n>>> y = 2\n")
    panel.editor.paste()
    document.run()
    assert not document.is_running
    gate.set()
    qtbot.waitUntil(lambda: document.text.ran == "x = 1\ny = 2\n")
    assert not document.is_stale


def test_a_name_pointed_at_lights_its_nodes(qtbot: QtBot, panel: SourcePanel) -> None:
    editor, document = panel.editor, panel.document
    rect = rows_in_sight(editor)[6][1]  # line 7: o = tf.reduce_mean(y)
    wide = editor.fontMetrics().horizontalAdvance("0")
    spot = rect.topLeft().toPoint() + QPoint(round(4.5 * wide) + 4, 8)
    with qtbot.waitSignal(editor.name_hovered) as heard:
        move = QMouseEvent(
            QEvent.Type.MouseMove,
            QPointF(spot),
            QPointF(editor.viewport().mapToGlobal(spot)),
            Qt.MouseButton.NoButton,
            Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.NoModifier,
        )
        QApplication.sendEvent(editor.viewport(), move)
    assert heard.args == ["o"]
    assert document.selecting.hovered == document.links.nodes_named("o")
    assert document.selecting.hovered
    editor.name_hovered.emit("")
    assert not document.selecting.hovered


def test_a_node_pointed_at_lights_its_expression(qtbot: QtBot, panel: SourcePanel) -> None:
    document = panel.document
    frame = StackFrame("<module>", 7, 8, 7, 25)
    trace, mean = document.trace, OpId(5)
    placed = trace.ops[mean].having(site=Site(SiteId(7), (frame,)))
    document.showing.take(replace(trace, ops={**trace.ops, mean: placed}))
    qtbot.waitUntil(lambda: not document.background.busy)
    node = document.links.node_of_op(mean)
    assert node is not None
    document.selecting.hover(frozenset((node,)))
    (lit,) = panel.editor.extraSelections()
    assert lit.cursor.selectedText() == "tf.reduce_mean(y)"
    assert 7 in {mark.line for mark in marks_of(document) if mark.tint == "linked"}
    document.selecting.hover(frozenset(("group:folded",)))
    assert panel.editor.extraSelections() == []
    document.selecting.hover(frozenset(("group:folded",)), (frame,))  # a step in a folded group
    (lit,) = panel.editor.extraSelections()
    assert lit.cursor.selectedText() == "tf.reduce_mean(y)"
    document.text.edit("# above 😀\n" + SOURCE.replace("o = tf", "“ = tf"))
    document.selecting.hover(frozenset())
    document.selecting.hover(frozenset((node,)))
    assert panel.editor.extraSelections() == []  # the line was edited


def test_after_a_run_the_line_of_the_cut_is_in_sight(qtbot: QtBot, panel: SourcePanel) -> None:
    document, editor = panel.document, panel.editor
    document.text.edit("\n" * 80 + SOURCE)
    assert editor.firstVisibleBlock().blockNumber() == 0
    cut = [mark.line for mark in marks_of(document) if mark.badge == "✂"]
    assert cut == [85]
    document.text.edit(SOURCE + "\n" * 80)
    editor.verticalScrollBar().setValue(60)
    document.run()
    qtbot.waitUntil(lambda: editor.firstVisibleBlock().blockNumber() < 5)


def test_a_page_that_was_pasted_is_shown_at_its_call(qtbot: QtBot, panel: SourcePanel) -> None:
    document, editor = panel.document, panel.editor
    stages = document.stages

    def diagnose(trace: Trace) -> Diagnosis:
        (call,) = stages.diagnose(trace).calls
        flowing = [replace(finding, status="flows", cause=None) for finding in call.findings]
        return Diagnosis((replace(call, findings=tuple(flowing)),))

    document.stages = replace(stages, diagnose=diagnose)
    below = "#" + " word" * 60 + "\n"
    QApplication.clipboard().setText(SOURCE.replace("patch", "part") + below * 80)
    editor.selectAll()
    editor.paste()
    assert editor.firstVisibleBlock().blockNumber() == 0, "the page begins there"
    editor.verticalScrollBar().setValue(60)
    document.run()
    qtbot.waitUntil(lambda: editor.firstVisibleBlock().blockNumber() < 8)
    assert editor.horizontalScrollBar().value() == 0
    document.text.edit(f"{document.text.source}# more\n")
    editor.verticalScrollBar().setValue(60)
    with qtbot.waitSignal(document.diagnosis_changed):
        document.run()
    qtbot.waitUntil(lambda: bool(document.diagnosis.calls) and not document.background.busy)
    assert editor.verticalScrollBar().value() == 60


def test_a_page_that_was_opened_is_shown_at_its_call_unless_one_works_elsewhere(
    qtbot: QtBot, panel: SourcePanel
) -> None:
    document, editor = panel.document, panel.editor
    stages = document.stages

    def diagnose(trace: Trace) -> Diagnosis:
        (call,) = stages.diagnose(trace).calls
        flowing = [replace(finding, status="flows", cause=None) for finding in call.findings]
        return Diagnosis((replace(call, call=replace(call.call), findings=tuple(flowing)),))

    document.stages = replace(stages, diagnose=diagnose)
    document.open_source("# words\n" * 80 + SOURCE)
    editor.verticalScrollBar().setValue(70)
    document.run()
    qtbot.waitUntil(lambda: editor.firstVisibleBlock().blockNumber() < 8)
    document.open_source("# words\n" * 90 + SOURCE)
    editor.moveCursor(QTextCursor.MoveOperation.End)
    with qtbot.waitSignal(document.diagnosis_changed):
        document.run()
    qtbot.waitUntil(lambda: bool(document.diagnosis.calls) and not document.background.busy)
    assert editor.firstVisibleBlock().blockNumber() > 40


def test_lines_out_of_sight_are_named_while_the_pointer_is_over_a_box(
    qtbot: QtBot, panel: SourcePanel
) -> None:
    document, editor = panel.document, panel.editor
    document.text.edit(SOURCE + "\n" * 80)
    document.run()
    qtbot.waitUntil(lambda: bool(document.links.nodes_named("o")))
    nodes, frame = document.links.nodes_named("o"), StackFrame("<module>", 7, 8, 7, 25)
    document.selecting.hover(nodes, (frame,))
    assert panel.hint.isHidden()
    editor.verticalScrollBar().setValue(60)
    document.selecting.hover(frozenset())
    document.selecting.hover(nodes, (frame,))
    assert panel.hint.text() == "↑ line 7"
    assert not panel.hint.isHidden()
    assert editor.verticalScrollBar().value() == 60
    document.selecting.hover(frozenset())
    assert panel.hint.isHidden()
    editor.clearFocus()
    document.selecting.select_nodes(nodes)
    assert editor.verticalScrollBar().value() < 7


def test_larger_letters_ask_for_more_room(qtbot: QtBot, panel: SourcePanel) -> None:
    needed = panel.wanted_room().width()
    with qtbot.waitSignal(panel.room_changed):
        panel.editor.zoom(4)
    assert panel.wanted_room().width() > needed


def test_in_a_narrow_window_44_columns_fit_beside_icons(panel: SourcePanel) -> None:
    panel.document.text.edit("x = 1  # " + "a" * 34 + "\n")
    panel.editor.set_marks([LineMark(1, badge="NaN 64/200"), LineMark(2, badge="None")])
    panel.set_narrow(True)
    assert panel.wanted_room().width() + CARD_BORDERS <= 0.4 * 1024
    size = panel.editor.font().pixelSize()
    panel.set_narrow(False)
    assert panel.editor.font().pixelSize() == size + 1
    assert panel.wanted_room().width() > 0.4 * 1024


def test_long_badges_ask_for_more_room(qtbot: QtBot, panel: SourcePanel) -> None:
    needed = panel.wanted_room().width()
    with qtbot.waitSignal(panel.room_changed):
        panel.editor.set_marks([LineMark(1, badge="of 20,000 rounds 19,999 flow")])
    assert panel.wanted_room().width() > needed
    with qtbot.assertNotEmitted(panel.room_changed):
        panel.editor.set_marks([])
