"""Two runs side by side in the window: a fix from its card in one click, or any file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton, QWidget
from pytestqt.qtbot import QtBot

from tapeviz.analysis.comparing import Comparison
from tapeviz.app.compare import CompareDialog, changed_lines
from tapeviz.app.window import Window
from tapeviz.document.comparing import AFTER, BEFORE
from tapeviz.document.pipeline import Stages
from tapeviz.panels.both_strip import said_of
from tapeviz.scene.parts.frames import frame_buttons
from tapeviz.scene.sizes import LEGIBLE
from tests.document.sample import FIX, SOURCE, SamplePipeline

RECORDINGS = Path(__file__).parents[1] / "recordings"


@pytest.fixture
def compared(qtbot: QtBot, window: Window) -> Window:
    """Before the slice assign was mended, and after, recorded with TensorFlow."""
    window.document.stages = Stages()
    assert window.files.open(RECORDINGS / "slice_assign.tape")
    qtbot.waitUntil(lambda: bool(window.document.diagnosis.calls))
    window.side_by_side.show_file(RECORDINGS / "slice_assign_repaired.tape")
    qtbot.waitUntil(lambda: window.document.comparing.both is not None)
    qtbot.waitUntil(lambda: bool(window.diagnosis.cards) and window.diagnosis.is_settled)
    return window


def on_screen(window: Window, node: str) -> QPoint:
    view = window.graph.view
    rect = view.prepared.rects[view.prepared.indices[node]]
    x, y = view.camera.to_screen(((rect[0] + rect[2]) / 2, (rect[1] + rect[3]) / 2))
    return QPoint(round(x), round(y))


def test_a_fix_is_seen_beside_the_run_in_one_click(
    qtbot: QtBot, ran: Window, pipeline: SamplePipeline
) -> None:
    qtbot.waitUntil(lambda: bool(ran.document.diagnosis.calls[0].findings[0].fixes))

    def buttons() -> list[QPushButton]:
        found = ran.diagnosis.findChildren(QPushButton)
        return [
            each for each in found if each.text() == "Compare side by side" and each.isVisible()
        ]

    qtbot.waitUntil(lambda: bool(buttons()))
    (button,) = buttons()
    alone = ran.graph.drawn.scene
    button.click()
    assert "Running it to compare" in ran.graph.strip.words.text()
    qtbot.waitUntil(lambda: ran.document.comparing.both is not None)
    assert pipeline.sources[-1] == FIX.text
    scene = ran.graph.view.prepared.scene
    assert [heading.text for heading in scene.headings] == ["assign_cut.py", FIX.title]
    assert ran.document.text.source == SOURCE
    bounds = scene.bounds
    assert all(head.x + head.width <= bounds.right for head in scene.headings)
    assert ran.graph.strip.apply.isVisible()
    assert ran.menus.actions["leave-comparison"].isEnabled()
    qtbot.mouseClick(ran.graph.strip.back, Qt.MouseButton.LeftButton)
    assert ran.graph.view.prepared.scene is alone
    assert not ran.graph.strip.isVisible()


def test_two_runs_side_by_side_have_the_height_of_a_small_window(
    qtbot: QtBot, compared: Window
) -> None:
    compared.document.comparing.leave()
    compared.resize(1024, 700)
    compared.call_panel("output")
    qtbot.waitUntil(compared.output.isVisible)
    compared.side_by_side.show_file(RECORDINGS / "slice_assign_repaired.tape")
    qtbot.waitUntil(lambda: compared.document.comparing.both is not None)
    qtbot.waitUntil(lambda: not compared.output.isVisible())
    compared.call_panel("output")
    compared.document.comparing.changed.emit()
    qtbot.wait(30)
    assert compared.output.isVisible(), "it was opened again"


def test_two_runs_that_are_too_wide_to_be_read_ask_for_width(
    qtbot: QtBot, compared: Window
) -> None:
    graph = compared.graph
    compared.resize(1200, 700)

    def wanted() -> int:
        return graph.wanted_room().width() - (graph.width() - graph.view.width())

    assert LEGIBLE * graph.view.prepared.scene.bounds.width > graph.view.width()
    qtbot.waitUntil(lambda: wanted() >= LEGIBLE * graph.view.prepared.scene.bounds.width)


def test_both_texts_can_be_read_and_the_fix_taken(qtbot: QtBot, ran: Window) -> None:
    ran.side_by_side.show_fix("∂o / ∂patch", FIX)
    qtbot.waitUntil(lambda: ran.document.comparing.both is not None)
    qtbot.mouseClick(ran.graph.strip.texts, Qt.MouseButton.LeftButton)
    dialog = ran.findChild(CompareDialog)
    assert dialog is not None
    assert dialog.left.toPlainText() == SOURCE
    assert dialog.right.toPlainText() == FIX.text
    dialog.accept()
    assert ran.document.text.source == FIX.text
    assert ran.document.comparing.both is None
    assert changed_lines("a\nb\nc", "a\nx\nc\nd") == ({1}, {1, 3})


def test_what_differs_is_said_marked_and_explained(qtbot: QtBot, compared: Window) -> None:
    both = compared.document.comparing.both
    assert both is not None
    words = compared.graph.strip.words.text()
    assert "None → flows" in words
    scene = compared.graph.view.prepared.scene
    assert {change.kind for change in scene.changes} >= {"removed", "added"}
    assert {entry.state for entry in scene.legend} >= {"removed", "added"}
    change = scene.changes[0]
    assert "only" in compared.graph.view.tip_at(on_screen(compared, change.node))
    before = {box.node.removeprefix(BEFORE) for box in scene.boxes if box.node.startswith(BEFORE)}
    after = {box.node.removeprefix(AFTER) for box in scene.boxes if box.node.startswith(AFTER)}
    assert before
    assert after


def test_another_outcome_is_said_before_other_numbers_of_many_rounds(compared: Window) -> None:
    both = compared.document.comparing.both
    assert both is not None
    (cut,) = both.comparison.gradients
    assert cut.after is not None
    other = replace(cut, before=cut.after)
    gradients = (*[other] * 50, cut, replace(cut, before=None, outcome="added"))
    words = list(said_of(replace(both, comparison=replace(both.comparison, gradients=gradients))))
    assert words[0].endswith(": None → flows")
    assert words[1].endswith(": only after")
    assert words[2] == "50 more gradients differ"
    words = list(said_of(replace(both, comparison=Comparison((cut, *[other] * 50)))))
    assert words[1].endswith(": other numbers (50 times)")


def test_a_node_of_either_side_leads_to_its_twin_and_its_line(
    qtbot: QtBot, compared: Window
) -> None:
    document, view = compared.document, compared.graph.view
    both = document.comparing.both
    assert both is not None
    node_before, node_after = next(
        (f"op:{a}", f"op:{b}")
        for a, b in both.comparison.pairs
        if f"{BEFORE}op:{a}" in view.prepared.indices and f"{AFTER}op:{b}" in view.prepared.indices
    )
    for node in (AFTER + node_after, BEFORE + node_before):
        document.selecting.select_nodes(frozenset())
        qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=on_screen(compared, node))
        assert document.selection.nodes == {node_before}
        chosen = {box.node for box in view.prepared.scene.boxes if box.is_selected}
        assert chosen == {BEFORE + node_before, AFTER + node_after}
    exported = compared.pictures.drawing()().scene
    assert not any(box.is_selected for box in exported.boxes)


def test_the_switch_the_layout_and_escape_work_there_too(qtbot: QtBot, compared: Window) -> None:
    document, view = compared.document, compared.graph.view
    document.show_bridge(True)
    qtbot.waitUntil(lambda: any(w.state == "bridge" for w in view.prepared.scene.wires))
    tall = view.prepared.scene.bounds
    document.change_form(direction="right")
    qtbot.waitUntil(lambda: view.prepared.scene.bounds != tall)
    compared.activateWindow()
    view.setFocus()
    QTest.keyClick(view, Qt.Key.Key_Escape)
    assert document.comparing.both is None
    assert not view.prepared.scene.headings


@pytest.mark.parametrize("where", ["a button of a card", "the steps", "the editor"])
def test_escape_leaves_it_wherever_the_keyboard_is(
    qtbot: QtBot, compared: Window, where: str
) -> None:
    widget: QWidget = compared.source.editor
    if where == "a button of a card":
        widget = compared.diagnosis.cards[0].findChildren(QPushButton)[0]
    elif where == "the steps":
        widget = compared.backprop.focus_target()
    widget.setFocus()
    QTest.keyClick(widget, Qt.Key.Key_Escape)
    assert compared.document.comparing.both is None


@pytest.mark.parametrize("leaves", ["step", "run", "open"])
def test_what_is_about_one_run_alone_leads_back(
    qtbot: QtBot, compared: Window, leaves: str
) -> None:
    document = compared.document
    if leaves == "step":
        document.stepping.first()
    elif leaves == "run":
        compared.run()
    else:
        document.open_source("x = 1\n")
    assert document.comparing.both is None
    assert not compared.graph.strip.isVisible()


def test_an_endless_one_is_given_up(qtbot: QtBot, ran: Window, pipeline: SamplePipeline) -> None:
    pipeline.endless = True
    ran.side_by_side.show_fix("", FIX)
    qtbot.waitUntil(ran.status.cancel_button.isVisible)
    qtbot.mouseClick(ran.status.cancel_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not ran.document.background._running)
    assert not ran.graph.strip.isVisible()
    assert not ran.document.is_troubled


def test_one_that_cannot_be_had_is_told(
    qtbot: QtBot, ran: Window, pipeline: SamplePipeline, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.tape"
    broken.write_bytes(b"no recording")
    ran.side_by_side.show_file(broken)
    qtbot.waitUntil(lambda: ran.document.is_troubled)
    assert not ran.graph.strip.isVisible()
    ran.side_by_side.show_file(tmp_path / "nowhere.py")
    assert "nowhere.py" in ran.status.trouble.text()


def test_the_picture_of_both_is_exported(qtbot: QtBot, compared: Window, tmp_path: Path) -> None:
    file = tmp_path / "both.svg"
    compared.pictures.write(file)
    qtbot.waitUntil(file.exists)
    assert "slice_assign_repaired.tape" in file.read_text(encoding="utf-8")


def test_the_cut_and_what_is_searched_are_found_on_the_side_of_the_run(
    qtbot: QtBot, compared: Window
) -> None:
    view = compared.graph.view
    compared.show_cut()
    nodes = compared.document.selection.nodes
    assert nodes
    around = view.prepared.bounds_of(frozenset(BEFORE + node for node in nodes))
    sight = view.camera.sight
    assert around is not None
    assert sight.left < around.x < sight.right
    assert sight.top < around.y < sight.bottom
    assert view.camera.scale > 0.9


def test_a_group_opens_and_closes_in_both_pictures(qtbot: QtBot, ran: Window) -> None:
    document, graph = ran.document, ran.graph
    document.stages = Stages()
    assert ran.files.open(RECORDINGS / "chain_for_lists.tape")
    qtbot.waitUntil(lambda: bool(document.diagnosis.calls))
    ran.side_by_side.show_file(RECORDINGS / "chain_for_lists.tape")
    qtbot.waitUntil(lambda: document.comparing.both is not None)
    boxes = len(graph.drawn.scene.boxes)
    assert {f"{BEFORE}group:norm", f"{AFTER}group:norm"} <= set(graph.view.prepared.indices)
    graph.view.node_activated.emit(f"{AFTER}group:norm")
    qtbot.waitUntil(lambda: [frame.path for frame in graph.drawn.scene.frames] == ["norm"] * 2)
    assert len(graph.drawn.scene.boxes) > boxes
    assert not document.view.unfolded, "the picture of the run alone stays as it is"
    for frame in graph.drawn.scene.frames:
        at = frame_buttons(frame)["fold"]
        x, y = graph.view.camera.to_screen((at.x, at.y))
        QTest.mouseClick(
            graph.view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(round(x), round(y))
        )
        qtbot.waitUntil(lambda: not graph.drawn.scene.frames)
        assert len(graph.drawn.scene.boxes) == boxes
        graph.view.node_activated.emit(f"{BEFORE}group:norm")
        qtbot.waitUntil(lambda: bool(graph.drawn.scene.frames))
    document.comparing.leave()
    assert not document.view.unfolded | document.view.folded


def test_a_round_that_is_chosen_while_a_comparison_is_made_is_drawn(
    qtbot: QtBot, ran: Window
) -> None:
    document, graph = ran.document, ran.graph
    document.stages = Stages()
    assert ran.files.open(RECORDINGS / "training_loop.tape")
    qtbot.waitUntil(lambda: document.rounds > 1)
    ran.side_by_side.show_file(RECORDINGS / "training_loop.tape")
    assert document.comparing.both is None
    document.select_round(2)

    def values(side: str) -> list[str]:
        boxes = graph.view.prepared.scene.boxes
        return [box.value for box in boxes if box.node.startswith(side)]

    qtbot.waitUntil(lambda: bool(values(BEFORE)))
    assert document.current_call is not None
    chosen = document.current_call.call.id
    qtbot.waitUntil(lambda: document.comparing.both.before.call == chosen)
    qtbot.waitUntil(lambda: values(BEFORE) == values(AFTER))


def test_another_round_is_drawn_of_both(qtbot: QtBot, ran: Window) -> None:
    document, graph = ran.document, ran.graph
    document.stages = Stages()
    assert ran.files.open(RECORDINGS / "training_loop.tape")
    qtbot.waitUntil(lambda: document.rounds > 1)
    ran.side_by_side.show_file(RECORDINGS / "training_loop.tape")
    qtbot.waitUntil(lambda: document.comparing.both is not None)

    def values(side: str) -> list[tuple[str, str]]:
        boxes = graph.view.prepared.scene.boxes
        return [(box.title, box.value) for box in boxes if box.node.startswith(side)]

    qtbot.waitUntil(lambda: bool(values(BEFORE)))
    last = values(BEFORE)
    document.select_round(2)
    qtbot.waitUntil(lambda: values(BEFORE) != last)
    assert values(BEFORE) == values(AFTER)
    assert [title for title, _ in values(BEFORE)] == [title for title, _ in last]
