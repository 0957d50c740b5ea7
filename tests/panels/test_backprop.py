from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from msgspec import structs
from PySide6.QtCore import QModelIndex, QRect, Qt
from PySide6.QtWidgets import QStyleOptionViewItem
from pytestqt.qtbot import QtBot

from tapeviz.analysis.backward.steps import BackwardPass, WalkStep
from tapeviz.analysis.backward.turns import find_turns
from tapeviz.analysis.model import CallDiagnosis, Diagnosis
from tapeviz.document import Document, shares
from tapeviz.panels.backprop.cut_rows import MOST
from tapeviz.panels.backprop.panel import BackpropPanel
from tapeviz.panels.backprop.table import shared_between, shared_widths
from tapeviz.panels.backprop.walk_model import FORMULA, IN, LINE, NARROW_ROLE, OP, OUT
from tapeviz.panels.look import Theme
from tapeviz.recording.shares import ShareRow, ShareTable
from tapeviz.trace.ids import CallId, SiteId
from tapeviz.trace.sites import Site

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def panel(qtbot: QtBot, ran: Document, light: Theme) -> BackpropPanel:
    panel = BackpropPanel(ran, light)
    qtbot.addWidget(panel)
    panel.resize(800, 320)
    panel.header.setParent(panel)
    panel.show()
    qtbot.waitExposed(panel)
    return panel


def with_steps(call: CallDiagnosis, steps: tuple[WalkStep, ...]) -> CallDiagnosis:
    return replace(call, backward_pass=lambda: BackwardPass(steps, call.flow, find_turns(steps)))


def row(panel: BackpropPanel, number: int) -> list[str]:
    model = panel.model
    return [model.data(model.index(number - 1, column)) for column in (OP, IN, FORMULA, OUT, LINE)]


def test_rows_tell_gradient_in_formula_and_out(panel: BackpropPanel) -> None:
    assert panel.model.rowCount() == 5
    assert row(panel, 1) == ["Mean", "1.0", "ḡ / n", "0.25 · ones 2×2", "7"]
    assert row(panel, 2)[3] == "2×3 , 3×2"
    assert row(panel, 4)[:2] == ["Σ at x′", "2 shares"]
    assert row(panel, 4)[3] == "[[1,2,52],[1,2,52]]"
    assert row(panel, 5)[2:4] == ["stops here", "–"]


def test_a_column_with_short_texts_leaves_room_to_the_others(panel: BackpropPanel) -> None:
    assert shared_widths([60, 100, 400, 300], 600, 40) == [60, 100, 220, 220]
    assert shared_widths([60, 60], 300, 40) == [150, 150]
    assert shared_widths([500, 10], 100, 60) == [60, 60]
    assert shared_between([80, 80, 80], [80, 200, 400], 340, 40) == [80, 130, 130]
    assert shared_between([80, 80, 80], [80, 90, 400], 120, 40) == [40, 40, 40]
    assert shared_between([80, 80, 80], [90, 90, 90], 300, 40) == [100, 100, 100]
    table = panel.table
    widths = [table.columnWidth(column) for column in range(6)]
    assert sum(widths) == table.viewport().width()
    call = panel.document.diagnosis.calls[0]
    steps = tuple(structs.replace(each, title="NegativeLogarithm") for each in call.steps)
    panel.document.diagnosing.take(Diagnosis((with_steps(call, steps),)))
    assert table.columnWidth(OP) > widths[OP]  # another pass with as many rows


def test_a_gradient_without_room_has_a_short_text(panel: BackpropPanel) -> None:
    index, option = panel.model.index(0, OUT), QStyleOptionViewItem()
    texts = []
    for width in (400, 60):
        option.rect = QRect(0, 0, width, 28)
        panel.table.itemDelegate().initStyleOption(option, index)  # type: ignore[attr-defined]
        texts.append(option.text)
    assert texts == ["0.25 · ones 2×2", "all 0.25"]
    option.rect = QRect(0, 0, 70, 28)
    panel.table.itemDelegate().initStyleOption(option, panel.model.index(1, OUT))  # type: ignore[attr-defined]
    assert option.text == "2×3 , …"  # a part of a number would be another number
    narrow = [panel.model.index(row, OUT).data(NARROW_ROLE) for row in range(5)]
    assert narrow[1:] == ["2×3 , 3×2", "norm 36.8", "norm 73.6", "–"]


def test_buttons_walk(qtbot: QtBot, panel: BackpropPanel) -> None:
    for name, step in (
        ("first", 1),
        ("forward", 2),
        ("forward", 3),
        ("back", 2),
        ("last", 5),
        ("forward", 5),
    ):
        qtbot.mouseClick(panel.buttons[name], LEFT)
        assert panel.document.step == step
        assert panel.table.currentIndex().row() == step - 1


def test_a_row_clicked_is_walked_to(qtbot: QtBot, panel: BackpropPanel) -> None:
    rect = panel.table.visualRect(panel.model.index(2, OP))
    qtbot.mouseClick(panel.table.viewport(), LEFT, pos=rect.center())
    assert panel.document.step == 3
    assert panel.document.selection.nodes == {"op3"}


def test_keys_walk_and_leave(qtbot: QtBot, panel: BackpropPanel) -> None:
    for key, step in (
        (Qt.Key.Key_Down, 1),
        (Qt.Key.Key_Down, 2),
        (Qt.Key.Key_Up, 1),
        (Qt.Key.Key_End, 5),
        (Qt.Key.Key_Home, 1),
        (Qt.Key.Key_Escape, None),
    ):
        qtbot.keyClick(panel.table, key)
        assert panel.document.step == step


def test_the_way_not_walked_is_pale_and_a_stop_is_red(panel: BackpropPanel, light: Theme) -> None:
    panel.document.stepping.go_to(2)
    role = Qt.ItemDataRole.ForegroundRole
    tones = [panel.model.data(panel.model.index(n, OP), role).name() for n in range(5)]
    assert tones[:2] == [light.text] * 2
    assert tones[2:4] == [light.text_faint] * 2
    assert tones[4] == light.trouble_text


def test_play_walks_to_the_end_and_stops(qtbot: QtBot, panel: BackpropPanel) -> None:
    panel.speed.setCurrentIndex(3)
    qtbot.mouseClick(panel.buttons["play"], LEFT)
    assert panel.is_playing
    assert panel.buttons["play"].text() == "pause"
    qtbot.waitUntil(lambda: not panel.is_playing)
    assert panel.document.step == 5
    qtbot.mouseClick(panel.buttons["play"], LEFT)
    assert panel.document.step == 0
    panel.toggle_play()


def test_the_selection_is_marked_and_walked_to(qtbot: QtBot, panel: BackpropPanel) -> None:
    panel.document.selecting.select_nodes(frozenset(("op4",)))
    role = Qt.ItemDataRole.BackgroundRole
    marked = [panel.model.data(panel.model.index(n, OP), role) is not None for n in range(5)]
    assert marked == [False, True, False, False, False]
    qtbot.mouseClick(panel.buttons["selection"], LEFT)
    assert panel.document.step == 2


def test_of_many_steps_those_in_sight_are_rows(qtbot: QtBot, panel: BackpropPanel) -> None:
    document = panel.document
    call = document.diagnosis.calls[0]
    steps = tuple(structs.replace(call.steps[n % 4], index=n) for n in range(4_000))
    document.diagnosing.take(Diagnosis((with_steps(call, steps),)))
    panel.table.repaint()
    document.stepping.go_to(3_600)
    panel.table.repaint()
    assert panel.table.currentIndex().row() == panel.model.row_of(3_600)
    assert panel.model.rowCount() < 20  # turns of four steps each, folded


def test_a_line_of_five_digits_can_be_read(panel: BackpropPanel) -> None:
    document = panel.document
    call = document.diagnosis.calls[0]
    narrow = panel.table.columnWidth(LINE)
    steps = tuple(structs.replace(step, line=12345) for step in call.steps)
    document.trace = replace(document.trace, source="\n" * 12344)
    document.diagnosing.take(Diagnosis((with_steps(call, steps),)))
    assert row(panel, 1)[-1] == "12345"
    assert panel.table.columnWidth(LINE) >= narrow + 2 * panel.fontMetrics().horizontalAdvance("5")


def test_the_calls_can_be_chosen(qtbot: QtBot, panel: BackpropPanel) -> None:
    call = panel.document.diagnosis.calls[0]
    asked = replace(call.call, id=7)  # type: ignore[arg-type]
    other = replace(with_steps(call, call.steps[:2]), call=asked)
    panel.document.diagnosing.take(Diagnosis((call, other)))
    assert panel.calls.isVisibleTo(panel.header)
    panel.calls.setCurrentIndex(1)
    panel.calls.activated.emit(1)
    assert panel.document.view.overlay.call == 7
    assert panel.model.rowCount() == 2


def test_no_step_is_said(qtbot: QtBot, panel: BackpropPanel) -> None:
    call = panel.document.diagnosis.calls[0]
    panel.document.diagnosing.take(Diagnosis((with_steps(call, ()),)))
    assert panel.empty.isVisible()
    assert "no backward step" in panel.empty.text()
    assert not panel.buttons["forward"].isEnabled()


def test_shares_leave_the_picker_of_calls_room(qtbot: QtBot, panel: BackpropPanel) -> None:
    for widget in (panel.calls, panel.shares_button):
        widget.show()
    for width, word, has_play in ((204, "Σ", False), (500, "shares", True)):
        panel.header.resize(width, 30)
        panel._fit_header()
        assert panel.shares_button.text() == word
        assert panel.buttons["play"].isHidden() != has_play
    assert panel.shares_button.accessibleName() == "Shares"


def test_targets_can_be_taken_apart(
    qtbot: QtBot, panel: BackpropPanel, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = panel.document
    single, pair = np.float32(1.0), np.array([2.0, 3.0], np.float32)
    rows = (ShareRow("a", (single, None)), ShareRow("b", (None, pair)))
    table = ShareTable(CallId(1), 8, ("x", "y"), rows, (single, pair))
    assert panel.shares_button.isHidden()
    monkeypatch.setattr(shares, "has_shares", lambda trace, call: True)
    monkeypatch.setattr(shares, "share_table", lambda live, call: table)
    document.progress_changed.emit()
    assert not panel.shares_button.isHidden()
    panel.shares_button.click()
    qtbot.waitUntil(lambda: panel.shares.rowCount() == 3)
    assert not panel.shares_view.isHidden()
    assert panel.table.isHidden()
    texts = [
        [panel.shares.data(panel.shares.index(row, column)) for column in range(3)]
        for row in range(3)
    ]
    assert texts == [
        ["a", "1.0", "None"],
        ["b", "None", "[2,3]"],
        ["Σ, as TensorFlow returned it", "1.0", "[2,3]"],
    ]
    panel.shares_button.click()
    assert not panel.table.isHidden()


def test_with_little_room_the_steps_stay(qtbot: QtBot, panel: BackpropPanel) -> None:
    header = panel.header
    header.resize(800, 30)
    assert panel.speed.isVisibleTo(header)
    assert panel.buttons["play"].text() == "play"
    header.resize(200, 30)
    assert not panel.speed.isVisibleTo(header)
    assert panel.buttons["play"].text() == ""
    assert all(panel.buttons[name].isVisibleTo(header) for name in ("first", "back", "forward"))


def test_with_little_room_the_call_that_is_picked_can_be_read(
    qtbot: QtBot, panel: BackpropPanel
) -> None:
    header, call = panel.header, panel.document.diagnosis.calls[0]
    other = replace(call, call=replace(call.call, id=CallId(2), site=Site(SiteId(99), ())))
    panel.document.diagnosing.take(Diagnosis((call, other)))
    header.resize(215, 30)
    qtbot.waitUntil(lambda: panel.calls.isVisibleTo(header) and panel.calls.width() >= 90)
    shown = [name for name, button in panel.buttons.items() if button.isVisibleTo(header)]
    assert shown == ["back", "forward", "play"]
    header.resize(400, 30)
    assert panel.buttons["first"].isVisibleTo(header)


def test_turns_of_a_loop_are_a_row_each_and_open_on_demand(
    qtbot: QtBot, panel: BackpropPanel
) -> None:
    call = panel.document.diagnosis.calls[0]
    first, second = call.steps[:2]
    steps = (first, *(structs.replace(second, line=8 + n % 2) for n in range(40)), first)
    panel.document.diagnosing.take(Diagnosis((with_steps(call, steps),)))

    def ops() -> list[str]:
        return [row(panel, number)[0] for number in range(1, panel.model.rowCount() + 1)]

    folded = ["turn 20 of 20", "turn 19 of 20", "turn 18 of 20", "… 16 turns", "turn 1 of 20"]
    assert ops() == ["Mean", *folded, "Mean"]
    at = panel.table.visualRect(panel.model.index(2, OP)).center()
    qtbot.mouseClick(panel.table.viewport(), LEFT, pos=at)
    assert ops()[2:6] == ["turn 19 of 20", second.title, second.title, "turn 18 of 20"]
    assert panel.document.step is None
    qtbot.keyClick(panel.table, Qt.Key.Key_Return)
    assert ops() == ["Mean", *folded, "Mean"]
    panel.document.stepping.go_to(30)
    assert panel.table.currentIndex().row() == 4  # among those that have no row of their own
    qtbot.keyClick(panel.table, Qt.Key.Key_Return)
    assert len(ops()) == 22
    panel.document.stepping.go_to(42)
    assert panel.table.currentIndex().row() == 21


def test_the_row_of_the_cut_is_always_in_sight(qtbot: QtBot, panel: BackpropPanel) -> None:
    assert not panel.cuts.isVisible()
    panel.resize(800, 130)
    qtbot.waitUntil(panel.cuts.isVisible)
    shown = panel.cuts.model()
    assert [shown.data(shown.index(0, column)) for column in (OP, FORMULA)] == [
        "assign",
        "stops here",
    ]
    rect = panel.cuts.visualRect(shown.index(0, OP))
    qtbot.mouseClick(panel.cuts.viewport(), LEFT, pos=rect.center())
    assert panel.document.step == 5
    qtbot.waitUntil(lambda: not panel.cuts.isVisible())


def test_a_row_of_the_cut_that_has_room_again_is_not_there_twice(
    qtbot: QtBot, panel: BackpropPanel
) -> None:
    panel.resize(800, 130)
    qtbot.waitUntil(panel.cuts.isVisible)
    last = panel.table.visualRect(panel.model.index(panel.model.rowCount() - 1, OP))
    lacking = last.bottom() - panel.table.viewport().height()
    panel.resize(800, 130 + lacking + 2 - panel.cuts.height())  # enough without the second table
    qtbot.waitUntil(lambda: not panel.cuts.isVisible())
    viewport, row = panel.table.viewport(), panel.model.index(panel.model.rowCount() - 1, OP)
    qtbot.waitUntil(lambda: viewport.rect().contains(panel.table.visualRect(row)))
    assert not panel.cuts.isVisible()


@pytest.mark.parametrize(("lines", "shown"), [(3_000, MOST), (1, 0)], ids=["rows", "folded"])
def test_of_many_cuts_only_those_that_are_shown_are_looked_at(
    panel: BackpropPanel, ran: Document, monkeypatch: pytest.MonkeyPatch, lines: int, shown: int
) -> None:
    call = ran.diagnosis.calls[0]
    stop = next(step for step in call.steps if step.kind == "stop")
    stops = tuple(structs.replace(stop, index=index, line=index % lines) for index in range(3_000))
    changed = replace(ran.diagnosis, calls=(with_steps(call, stops),))
    ran.diagnosing.diagnosis = changed
    ran.diagnosis_changed.emit()
    looked: list[int] = []
    rect = panel.table.visualRect

    def noted(index: QModelIndex) -> QRect:
        looked.append(index.row())
        return rect(index)

    monkeypatch.setattr(panel.table, "visualRect", noted)
    panel.cuts.refresh()
    assert len(panel.cuts.model().rows) == shown
    assert len(looked) < 100
