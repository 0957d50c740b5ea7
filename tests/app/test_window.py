"""The whole window, driven by keys, clicks and files as a person would."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QContextMenuEvent, QFontMetrics, QMouseEvent, QShortcut
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QMenu, QTabBar, QWidget
from pytestqt.qtbot import QtBot

from tapeviz.analysis.model import Diagnosis
from tapeviz.app.actions import ACTIONS
from tapeviz.app.help import about_window, keys_window
from tapeviz.app.processes.live import LivePipeline
from tapeviz.app.processes.pools import Pools
from tapeviz.app.sizes import GRAPH, SizesByHand, sizes_by_content
from tapeviz.app.storage.settings import Settings
from tapeviz.app.window import Window
from tapeviz.document import Document
from tapeviz.document.pipeline import Stages
from tapeviz.files.examples import examples
from tapeviz.kernel import Confinement, KernelPool, own_interpreter
from tapeviz.panels.backprop.cells import BESIDE
from tapeviz.panels.backprop.walk_model import OP
from tapeviz.trace.model import Ending
from tests.document.sample import FIX, SOURCE, SamplePipeline, make_stages, make_trace

CTRL = Qt.KeyboardModifier.ControlModifier
ALT = Qt.KeyboardModifier.AltModifier


def settled(window: Window) -> bool:
    document = window.document
    return bool(document.scene.boxes) and not document.is_running and not document.background.busy


def press(window: Window, key: Qt.Key, modifier: Qt.KeyboardModifier) -> None:
    """A shortcut, pressed wherever the keyboard is."""
    QTest.keyClick(QApplication.focusWidget() or window, key, modifier)


def test_limits_stand_beside_run_for_the_session(
    qtbot: QtBot, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(KernelPool, "warm", lambda pool: None)
    pipeline = LivePipeline(Pools(own_interpreter()))
    window = Window(Document(pipeline, make_stages()), settings, pipeline)
    qtbot.addWidget(window)
    assert window.top_bar.limits_button.text() == "Limits"

    def choose(words: str) -> None:
        menu = window.menus.submenus["limits"]
        window.menus.fill("limits", menu)
        assert [a.text() for a in menu.actions() if a.isChecked()] == expected
        next(action for action in menu.actions() if action.text() == words).trigger()

    expected = ["No limit"]
    choose("No network")
    expected = ["No network", "No limit"]
    choose("At most 4 GB")
    assert window.top_bar.limits_button.text() == "No network · 4 GB"
    assert pipeline.pools.confinement == Confinement(True, 4.0)
    assert pipeline.pools.pool._confinement == Confinement(True, 4.0)
    expected = ["No network", "At most 4 GB"]
    choose("No network")
    assert window.top_bar.limits_button.text() == "4 GB"
    pipeline.close()


def test_ctrl_enter_runs_and_the_picture_comes(qtbot: QtBot, window: Window) -> None:
    window.activateWindow()
    window.source.editor.setFocus()
    qtbot.waitUntil(window.source.editor.hasFocus)
    press(window, Qt.Key.Key_Return, CTRL)
    qtbot.waitUntil(lambda: settled(window))
    assert window.document.text.source == SOURCE
    assert window.status.facts.text().startswith("5 ops recorded · 7 boxes drawn")
    assert window.status.state.text() == "up to date"
    assert window.top_bar.run_button.text() == "Run"


def test_ops_inside_of_a_call_are_not_counted_as_recorded(qtbot: QtBot, window: Window) -> None:
    """They become known with the call that is shown."""
    window.document.stages = Stages()
    assert window.files.open(Path(__file__).parents[1] / "graph" / "compiled_silu.tape")
    qtbot.waitUntil(lambda: settled(window))
    ops = window.document.trace.ops.values()
    own = [op for op in ops if op.within is None]
    assert len(own) < len(ops)
    assert window.status.facts.text().startswith(f"{len(own)} ops recorded")


def test_the_status_bar_says_in_two_words_that_the_process_died(
    qtbot: QtBot, window: Window, pipeline: SamplePipeline
) -> None:
    """The card of the error has the whole sentence, which would push everything else aside."""
    pipeline.trace = replace(make_trace(), ending=Ending("died", 1.0, "ended by signal 9 " * 9))
    window.document.run()
    qtbot.waitUntil(lambda: settled(window))
    assert "process died" in window.status.facts.text()
    assert "signal 9" not in window.status.facts.text()


def test_the_button_runs_too_and_stop_appears(
    qtbot: QtBot, window: Window, pipeline: SamplePipeline
) -> None:
    pipeline.endless = True
    stop = window.top_bar.stop_button
    assert stop.isVisible()
    assert not stop.isEnabled()
    place = stop.geometry()
    qtbot.mouseClick(window.top_bar.run_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.document.runs.ops == 3)
    assert stop.isEnabled()
    assert stop.geometry() == place
    assert window.status.state.text() == "running"
    qtbot.waitUntil(window.status.bar.isVisible)
    stop.setFocus()
    qtbot.mouseClick(window.top_bar.stop_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: settled(window))
    assert window.top_bar.run_button.hasFocus()
    assert not window.status.bar.isVisible()
    assert "stopped" in window.status.facts.text()


def test_a_long_run_says_how_much_of_it_is_in_the_picture(
    qtbot: QtBot, window: Window, pipeline: SamplePipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tapeviz.app.status_bar.MOST_LIVE", 2)
    pipeline.endless = True
    window.run()
    document = window.document
    qtbot.waitUntil(lambda: document.runs.ops == 3)
    assert window.status.state.text() == "running"
    document.runs.traced.emit(make_trace())
    words = "running · the picture has the first 5 ops until it ends"
    qtbot.waitUntil(lambda: window.status.state.text() == words)
    document.stop()
    qtbot.waitUntil(lambda: settled(window))


def test_cancel_stops_the_run(qtbot: QtBot, window: Window, pipeline: SamplePipeline) -> None:
    pipeline.endless = True
    window.run()
    qtbot.waitUntil(window.status.cancel_button.isVisible)
    qtbot.mouseClick(window.status.cancel_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not window.document.is_running)


def test_steps_by_keyboard(qtbot: QtBot, ran: Window) -> None:
    ran.activateWindow()
    ran.source.editor.setFocus()
    qtbot.waitUntil(ran.source.editor.hasFocus)
    for key, modifier, step in (
        (Qt.Key.Key_F10, Qt.KeyboardModifier.NoModifier, 1),
        (Qt.Key.Key_F10, Qt.KeyboardModifier.NoModifier, 2),
        (Qt.Key.Key_F9, Qt.KeyboardModifier.NoModifier, 1),
        (Qt.Key.Key_End, ALT, 5),
        (Qt.Key.Key_Left, ALT, 4),
        (Qt.Key.Key_Home, ALT, 1),
    ):
        press(ran, key, modifier)
        assert ran.document.step == step
    assert ran.graph.step_label.text() == "step 1 of 5"


def test_line_node_step_and_tensor_move_together(qtbot: QtBot, ran: Window) -> None:
    ran.document.stepping.go_to(3)
    assert ran.document.selection.nodes == {"op3"}
    assert ran.backprop.table.currentIndex().row() == 2
    assert ran.tensor.about.text() == "Gradient of Transpose (step 3)"
    ran.source.editor.setFocus()
    qtbot.waitUntil(ran.source.editor.hasFocus)
    ran.source.editor.go_to(7)
    assert ran.document.selection.nodes == {"op5"}
    assert ran.tensor.about.text() == "Gradient of o"


def test_ctrl_f_finds_in_the_text_from_the_editor(qtbot: QtBot, ran: Window) -> None:
    ran.activateWindow()
    ran.source.editor.setFocus()
    qtbot.waitUntil(ran.source.editor.hasFocus)
    press(ran, Qt.Key.Key_F, CTRL)
    bar = ran.source.find_bar
    assert bar.words.hasFocus()
    qtbot.keyClicks(bar.words, "tf.")
    assert bar.count.text() == "1 of 6"
    press(ran, Qt.Key.Key_F3, Qt.KeyboardModifier.NoModifier)
    assert bar.count.text() == "2 of 6"
    press(ran, Qt.Key.Key_H, CTRL)
    assert bar.instead.isVisible()
    press(ran, Qt.Key.Key_G, CTRL)
    assert ran.source.line_bar.number.hasFocus()
    assert not bar.isVisible()


def test_selected_lines_run_alone_unless_they_use_names_from_above(
    qtbot: QtBot, window: Window, pipeline: SamplePipeline
) -> None:
    window.activateWindow()
    editor = window.source.editor
    editor.setFocus()
    qtbot.waitUntil(editor.hasFocus)
    press(window, Qt.Key.Key_Return, CTRL | Qt.KeyboardModifier.ShiftModifier)
    assert "# %%" in window.status.trouble.text()
    editor.go_to(5)
    for _ in range(2):
        press(window, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    press(window, Qt.Key.Key_Return, CTRL | Qt.KeyboardModifier.ShiftModifier)
    qtbot.waitUntil(lambda: settled(window))
    lines = SOURCE.split("\n")
    assert pipeline.sources == ["\n\n\nif True:\n" + "\n".join(lines[4:6]) + "\n"]
    assert window.status.state.text() == "up to date"
    for cell, above in (("# %%\nprint(7)\n", "\n" * 8), ("# %%\nprint(x)\n", SOURCE)):
        window.source.edit_text(SOURCE + cell)
        editor.go_to(10)
        press(window, Qt.Key.Key_Return, CTRL | Qt.KeyboardModifier.ShiftModifier)
        qtbot.waitUntil(lambda: settled(window))
        assert pipeline.sources[-1] == above + cell + "\n"


def test_the_menu_cuts_and_pastes_where_the_keyboard_is(qtbot: QtBot, ran: Window) -> None:
    ran.activateWindow()
    ran.source.editor.setFocus()
    qtbot.waitUntil(ran.source.editor.hasFocus)
    for name in ("select-all", "cut"):
        ran.menus.actions[name].trigger()
    assert ran.document.text.source == ""
    ran.menus.actions["paste"].trigger()
    assert ran.document.text.source == SOURCE
    ran.focus_search()
    ran.menus.actions["paste"].trigger()
    assert ran.top_bar.search.text().startswith("x = tf.Variable")
    assert ran.document.text.source == SOURCE


def test_the_editors_menu_has_the_clipboard_and_the_editors_actions(
    qtbot: QtBot, ran: Window
) -> None:
    spot = QPoint(60, 10)
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, spot, ran.mapToGlobal(spot))
    QApplication.sendEvent(ran.source.editor.viewport(), event)
    popup = QApplication.activePopupWidget()
    assert isinstance(popup, QMenu)
    words = [action.text().partition("\t")[0].replace("&", "") for action in popup.actions()]
    popup.close()
    assert {"Cut", "Copy", "Paste", "Undo", "Run selection or cell", "Find …"} <= set(words)


def test_ctrl_shift_f_finds_by_name_type_and_line(qtbot: QtBot, ran: Window) -> None:
    ran.activateWindow()
    ran.source.editor.setFocus()
    qtbot.waitUntil(ran.source.editor.hasFocus)
    press(ran, Qt.Key.Key_F, CTRL | Qt.KeyboardModifier.ShiftModifier)
    assert ran.top_bar.search.hasFocus()
    qtbot.keyClicks(ran.top_bar.search, "transp")
    assert ran.document.selection.nodes == {"op3"}
    ran.top_bar.search.clear()
    qtbot.keyClicks(ran.top_bar.search, "line 6")
    first = ran.document.selection.nodes
    qtbot.keyClick(ran.top_bar.search, Qt.Key.Key_Return)
    assert ran.document.selection.nodes != first
    assert ran.top_bar.found.text() == "2 of 2"
    ran.top_bar.search.clear()
    qtbot.keyClicks(ran.top_bar.search, "nothing like it")
    assert ran.top_bar.found.text() == "nothing found"
    qtbot.keyClick(ran.top_bar.search, Qt.Key.Key_Escape)
    assert ran.top_bar.search.text() == ""
    assert ran.graph.view.hasFocus()


def test_the_switch_shows_the_gradient_across(qtbot: QtBot, ran: Window) -> None:
    wires = len(ran.document.scene.wires)
    qtbot.mouseClick(ran.top_bar.bridge, Qt.MouseButton.LeftButton)
    assert len(ran.document.scene.wires) == wires + 1
    ran.menus.actions["bridge"].trigger()
    assert len(ran.document.scene.wires) == wires
    assert not ran.top_bar.bridge.isChecked()


def test_the_switch_is_off_where_it_would_show_nothing(qtbot: QtBot, ran: Window) -> None:
    bridge, action = ran.top_bar.bridge, ran.menus.actions["bridge"]
    diagnosis = ran.document.diagnosis
    (call,) = diagnosis.calls
    flowing = replace(call.findings[0], status="flows", bridged=None)
    ran.document.diagnosing.diagnosis = Diagnosis((replace(call, findings=(flowing,)),))
    ran.document.showing.show_diagnosis()
    ran.menus.refresh()
    assert not bridge.isEnabled()
    assert not action.isEnabled()
    assert "every gradient flows" in bridge.toolTip()
    lost = replace(call.findings[0], bridged=None, no_bridge="it is text")
    ran.document.diagnosing.diagnosis = Diagnosis((replace(call, findings=(lost,)),))
    ran.document.showing.show_diagnosis()
    assert bridge.toolTip().endswith("it is text")
    ran.document.diagnosing.diagnosis = diagnosis
    ran.document.showing.show_diagnosis()
    assert bridge.isEnabled()


def test_every_action_can_be_called_at_any_time(
    qtbot: QtBot, window: Window, ran: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    for asker in ("ask_open", "ask_save", "ask_save_recording"):
        monkeypatch.setattr(window.files, asker, lambda: None)
    monkeypatch.setattr(window.pictures, "ask", lambda suffix: None)
    monkeypatch.setattr(window.side_by_side, "ask_file", lambda: None)
    harmful = {"quit", "full-screen", "keys", "about"}
    for row in ACTIONS:
        if row.id not in harmful:
            row.act(window)
            QApplication.processEvents()
    qtbot.waitUntil(lambda: not window.document.background.busy)


def test_no_shortcut_is_given_twice() -> None:
    shortcuts = [keys for row in ACTIONS for keys in row.shortcuts]
    assert len(shortcuts) == len(set(shortcuts))
    ids = [row.id for row in ACTIONS]
    assert len(ids) == len(set(ids))


def test_actions_that_cannot_be_done_are_grey(qtbot: QtBot, window: Window) -> None:
    window.menus.refresh()
    actions = window.menus.actions
    assert not actions["export-png"].isEnabled()
    assert not actions["stop"].isEnabled()
    window.run()
    qtbot.waitUntil(lambda: settled(window))
    assert actions["export-png"].isEnabled()
    assert actions["forward"].isEnabled()


def test_a_fix_is_applied_run_and_undone(qtbot: QtBot, ran: Window) -> None:
    ran.diagnosis.setFocus()
    ran.apply_fix(FIX)
    assert ran.document.text.source == FIX.text
    assert ran.focusWidget() is ran.source.editor
    qtbot.waitUntil(lambda: settled(ran))
    assert ran.document.showing.mended == ran.document.view.overlay.call is not None
    ran.menus.actions["undo"].trigger()
    assert ran.document.text.source == SOURCE


def test_the_theme_changes_everything_at_once(qtbot: QtBot, ran: Window) -> None:
    light = ran.grab().toImage()
    ran.choose_theme("dark")
    spots = [(400, 30), (80, 500), (900, 300), (1500, 600), (20, 960), (1500, 990)]
    assert all(light.pixelColor(x, y).lightness() > 90 for x, y in spots)

    def is_dark() -> bool:
        dark = ran.grab().toImage()
        return all(dark.pixelColor(x, y).lightness() < 90 for x, y in spots)

    qtbot.waitUntil(is_dark)
    assert ran.settings.text("theme") == "dark"


def test_a_column_of_backprop_as_wide_as_measured_holds_its_text(ran: Window) -> None:
    table, model = ran.backprop.table, ran.backprop.model
    for row in range(model.rowCount()):
        index = model.index(row, OP)
        text = QFontMetrics(model.font_of(OP)).horizontalAdvance(index.data())
        assert table.sizeHintForIndex(index).width() <= text + BESIDE


def test_panels_are_called_by_number(qtbot: QtBot, ran: Window) -> None:
    ran.activateWindow()
    ran.stage.docks["output"].close()
    ran.source.editor.setFocus()
    qtbot.waitUntil(ran.source.editor.hasFocus)
    press(ran, Qt.Key.Key_6, CTRL)
    assert ran.stage.docks["output"].isVisible()
    press(ran, Qt.Key.Key_2, CTRL)
    assert ran.graph.view.hasFocus()


def test_closed_and_moved_panels_come_back(qtbot: QtBot, ran: Window) -> None:
    ran.stage.docks["tensor"].setFloating(True)
    ran.stage.docks["backprop"].close()
    qtbot.waitUntil(lambda: not ran.stage.docks["backprop"].isVisible())
    ran.stage.place_docks()
    qtbot.waitUntil(ran.backprop.buttons["forward"].isVisible)
    for dock in ran.stage.docks.values():
        assert not dock.isFloating()
    assert ran.stage.docks["backprop"].isVisible()


def test_the_window_is_as_it_was_at_the_next_start(
    qtbot: QtBot, ran: Window, settings: Settings
) -> None:
    ran.resize(1000, 690)
    ran.source.editor.set_size(18)
    ran.stage.docks["diagnosis"].hide()
    ran.document.change_form(layout="spring", direction="right", shows_all=True)
    ran.backprop.speed.setCurrentIndex(3)
    ran.close()
    again = Window(Document(SamplePipeline(), make_stages()), Settings())
    qtbot.addWidget(again)
    again.show()
    assert again.size().height() == 690
    assert again.source.editor.size_px == 18
    assert again.stage.docks["diagnosis"].isHidden()
    view = again.document.view
    assert (view.layout, view.direction, view.shows_all) == ("spring", "right", True)
    assert again.backprop.speed.currentIndex() == 3
    assert again.top_bar.layout_button.text() == "Spring"


def test_a_row_of_tabs_that_qt_left_behind_is_hidden(qtbot: QtBot, window: Window) -> None:
    """As ``restoreState`` leaves one before the first layout: visible, and placed by nothing."""
    stage = window.stage
    left_over = QTabBar(stage)
    left_over.addTab("Backprop")
    left_over.show()
    stage.docks["source"].visibilityChanged.emit(True)
    qtbot.waitUntil(left_over.isHidden)
    rows = [bar for bar in stage.findChildren(QTabBar) if bar.isVisible()]
    assert [bar.width() for bar in rows] == [stage.docks["backprop"].width()]


def test_it_closes_in_the_middle_of_a_run(
    qtbot: QtBot, window: Window, pipeline: SamplePipeline
) -> None:
    pipeline.endless = True
    window.run()
    qtbot.waitUntil(lambda: window.document.runs.ops == 3)
    window.close()  # comes back, though the run never ends by itself
    qtbot.waitUntil(pipeline.recordings[-1].stopped.is_set)


def test_a_bug_becomes_a_line_not_a_crash(
    qtbot: QtBot, window: Window, pipeline: SamplePipeline
) -> None:
    pipeline.error = ZeroDivisionError("inside")
    window.run()
    qtbot.waitUntil(lambda: "inside" in window.status.trouble.text())
    pipeline.error = None
    window.run()
    qtbot.waitUntil(lambda: settled(window))
    assert window.status.trouble.text() == ""


def test_examples_are_opened_and_run(qtbot: QtBot, window: Window) -> None:
    menu = window.top_bar.examples_button.menu()
    menu.aboutToShow.emit()
    entries = [action for group in menu.actions() for action in group.menu().actions()]
    assert len(entries) == len(examples())
    entries[1].trigger()
    qtbot.waitUntil(lambda: settled(window))
    assert window.document.text.source == examples()[1].text
    assert window.document.text.filename == f"{examples()[1].name}.py"


def test_layouts_and_directions_can_be_chosen(qtbot: QtBot, ran: Window) -> None:
    menu = ran.top_bar.layout_button.menu()
    menu.aboutToShow.emit()
    by_text = {action.text(): action for action in menu.actions()}
    by_text["Spring"].trigger()
    qtbot.waitUntil(lambda: ran.document.arranged.layout.name == "spring")
    assert ran.top_bar.layout_button.text() == "Spring"
    menu.aboutToShow.emit()
    {action.text(): action for action in menu.actions()}["Left to right"].trigger()
    qtbot.waitUntil(lambda: ran.document.arranged.layout.direction == "right")


@pytest.mark.parametrize("size", [(900, 620), (1366, 768), (2200, 1300)])
def test_it_fits_small_and_large_screens(qtbot: QtBot, ran: Window, size: tuple[int, int]) -> None:
    ran.resize(*size)
    qtbot.waitUntil(lambda: ran.size().width() == size[0])
    qtbot.waitUntil(lambda: ran.graph.view.width() > 200)
    assert ran.top_bar.run_button.isVisible()
    assert ran.top_bar.kernel_button.geometry().right() <= size[0]


def test_no_label_interprets_markup(qtbot: QtBot, ran: Window) -> None:
    keys = keys_window(ran, tuple(ran.panel_keys.values()))
    for window in (ran, keys, about_window(ran, "2.21")):
        formats = {label.textFormat() for label in window.findChildren(QLabel)}
        assert formats == {Qt.TextFormat.PlainText}


def test_the_tip_of_a_panel_in_the_menu_is_the_key_that_leads_there(
    qtbot: QtBot, ran: Window
) -> None:
    shortcuts = {found.key().toString(): found for found in ran.findChildren(QShortcut)}
    menu = QMenu(ran)
    ran.menus.fill("panels", menu)
    assert len(menu.actions()) == len(ran.panels)
    for action, (name, panel) in zip(menu.actions(), ran.panels.items(), strict=True):
        assert action.text() == panel.title
        ran.stage.docks[name].hide()
        shortcuts[action.toolTip()].activated.emit()
        assert ran.stage.docks[name].isVisible()


def test_edits_after_the_run_are_told(qtbot: QtBot, ran: Window) -> None:
    graph, editor = ran.graph, ran.source.editor
    editor.appendPlainText("# more")
    assert ran.status.state.text() == "edited since the run"
    assert graph.stale.isVisible()
    assert graph.veil.isVisible()
    assert editor.are_outdated
    editor.undo()
    assert not graph.stale.isVisible()
    assert not editor.are_outdated
    editor.redo()
    qtbot.mouseClick(graph.stale.run_link, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: settled(ran))
    assert ran.status.state.text() == "up to date"
    assert not graph.stale.isVisible()
    assert not graph.veil.isVisible()


def test_undo_of_an_applied_fix_leaves_the_run_outdated(qtbot: QtBot, ran: Window) -> None:
    ran.apply_fix(FIX)
    qtbot.waitUntil(lambda: settled(ran))
    assert not ran.graph.stale.isVisible()
    ran.source.editor.undo()
    assert ran.document.text.source == SOURCE
    assert ran.graph.stale.isVisible()


def test_a_run_that_raised_brings_its_words_forward(
    qtbot: QtBot, window: Window, pipeline: SamplePipeline
) -> None:
    from tapeviz.trace.model import Failure
    from tests.document.sample import make_trace

    pipeline.trace = replace(
        make_trace(), failure=Failure("ValueError", "no", 6, "Traceback\nValueError: no")
    )
    window.run()
    qtbot.waitUntil(lambda: "Go to line 6" in window.output.text.toPlainText())
    qtbot.waitUntil(window.output.text.isVisible)


@pytest.mark.parametrize("width", [800, 900, 1000, 1280])
def test_the_window_can_be_narrow_even_while_a_snippet_runs(
    qtbot: QtBot, window: Window, pipeline: SamplePipeline, width: int
) -> None:
    window.top_bar.kernel_button.setText("Python 3.11 · TF 2.21")
    window.resize(width, 700)
    pipeline.endless = True
    window.run()
    qtbot.waitUntil(window.top_bar.stop_button.isVisible)
    qtbot.wait(30)
    assert window.width() == width
    assert window.minimumSizeHint().width() <= width
    window.document.stop()
    qtbot.waitUntil(lambda: not window.document.is_running)
    qtbot.wait(30)
    assert window.width() == width
    assert window.top_bar.bridge.isVisible() or width <= 900


def test_no_button_of_a_narrow_bar_is_cut_off_when_the_interpreter_is_known(
    qtbot: QtBot, window: Window
) -> None:
    bar = window.top_bar
    bar.kernel_button.setText("Python")
    window.resize(920, 480)
    qtbot.waitUntil(bar.bridge.isVisible)
    bar.kernel_button.setText("Python 3.11 · TF 2.21")
    qtbot.waitUntil(lambda: not bar.bridge.isVisible())
    buttons = (bar.run_button, bar.examples_button, bar.export_button, bar.kernel_button)
    qtbot.waitUntil(lambda: all(each.width() >= each.sizeHint().width() for each in buttons))
    window.resize(1200, 480)
    qtbot.waitUntil(bar.bridge.isVisible)


def test_a_long_status_line_makes_no_window_wider(
    qtbot: QtBot, ran: Window, pipeline: SamplePipeline
) -> None:
    ran.resize(900, 700)
    ran.status.offer_former("for step in range(100000):  # again", lambda: None)
    ran.status.show_kernel("stopped at line 7, after 287 steps · kernel ready " * 3)
    pipeline.endless = True
    ran.run()
    qtbot.waitUntil(ran.status.bar.isVisible)
    qtbot.waitUntil(lambda: ran.status.former.geometry().right() < ran.status.bar.x())
    assert ran.width() == 900
    ran.document.stop()
    qtbot.waitUntil(lambda: not ran.document.is_running)


def test_panels_have_the_room_that_their_content_needs(qtbot: QtBot, window: Window) -> None:
    stage, editor, steps = window.stage, window.source.editor, window.backprop
    window.document.open_source(("x" * 70 + "\n") * 9)
    for width, height in ((1024, 700), (1440, 900), (1920, 1080)):
        window.resize(width, height)
        sizes = sizes_by_content(width, stage.height(), editor.wanted_width(), 0)
        wanted = sizes.source
        qtbot.waitUntil(lambda w=wanted: abs(stage.docks["source"].width() - w) <= 4)
        stage.open_drawer()
        qtbot.waitUntil(lambda: stage.docks["backprop"].height() >= steps.wanted_room().height())
        assert stage.middle.width() >= GRAPH


def test_a_small_window_folds_the_panels_below_until_they_are_used(
    qtbot: QtBot, ran: Window, settings: Settings
) -> None:
    stage, graph = ran.stage, ran.stage.middle
    ran.resize(1024, 700)

    def is_folded() -> bool:
        return graph.height() > 0.8 * stage.height() and not ran.backprop.isVisible()

    def is_open() -> bool:
        return graph.height() < 0.6 * stage.height()

    def click_tab(title: str) -> None:
        (bar,) = (bar for bar in stage.findChildren(QTabBar) if bar.isVisible())
        index = [bar.tabText(i) for i in range(bar.count())].index(title)
        qtbot.mouseClick(bar, Qt.MouseButton.LeftButton, pos=bar.tabRect(index).center())

    qtbot.waitUntil(is_folded)
    click_tab("Output")
    qtbot.waitUntil(lambda: is_open() and ran.output.isVisible())
    click_tab("Backprop")
    qtbot.waitUntil(lambda: is_open() and ran.backprop.isVisible())
    click_tab("Backprop")
    qtbot.waitUntil(is_folded)
    ran.document.stepping.forward()
    qtbot.waitUntil(lambda: is_open() and ran.backprop.table.isVisible())
    click_tab("Backprop")
    ran.document.stepping.forward()
    qtbot.waitUntil(is_folded)
    ran.call_panel("output")
    qtbot.waitUntil(lambda: is_open() and ran.output.isVisible())
    ran.close()
    assert settings.flag("lower-panels-open")


def test_the_source_of_a_small_window_keeps_the_height_it_was_given(
    qtbot: QtBot, ran: Window, settings: Settings
) -> None:
    stage, dock = ran.stage, ran.stage.docks["source"]
    ran.resize(1024, 700)
    qtbot.waitUntil(lambda: stage.docks["diagnosis"].y() > dock.geometry().bottom())
    qtbot.wait(50)
    before = dock.height()
    gap = QPoint(dock.x() + 100, dock.geometry().bottom() + 5)
    drag(stage, gap, gap + QPoint(0, 60))
    qtbot.waitUntil(lambda: dock.height() > before + 30)
    by_hand = dock.height()
    stage.share_room()
    assert abs(dock.height() - by_hand) <= 2
    ran.close()
    kept = SizesByHand(settings.text("sizes")).of(stage.width(), stage.height())
    assert kept is not None
    assert abs(kept.source_height - by_hand) <= 2


def test_sizes_dragged_by_hand_are_those_of_windows_of_that_size(
    qtbot: QtBot, window: Window, settings: Settings
) -> None:
    stage = window.stage
    window.resize(1440, 900)
    dock, before = stage.docks["diagnosis"], round(0.21 * 1440)
    qtbot.waitUntil(lambda: abs(dock.width() - before) <= 2)
    gap = QPoint(dock.x() - 5, dock.y() + 100)
    drag(stage, gap, gap - QPoint(60, 0))
    qtbot.waitUntil(lambda: dock.width() > before + 30)
    by_hand, height = dock.width(), stage.docks["backprop"].height()
    window.resize(1700, 1000)
    qtbot.waitUntil(lambda: dock.width() != by_hand)
    window.resize(1440, 900)
    qtbot.waitUntil(lambda: abs(dock.width() - by_hand) <= 2)
    assert abs(stage.docks["backprop"].height() - height) <= 2
    window.close()
    again = SizesByHand(settings.text("sizes")).of(stage.width(), stage.height())
    assert again is not None
    assert abs(again.diagnosis - by_hand) <= 2


def drag(widget: QWidget, start: QPoint, end: QPoint) -> None:
    left = Qt.MouseButton.LeftButton
    for kind, at, buttons in (
        (QEvent.Type.MouseMove, start, Qt.MouseButton.NoButton),
        (QEvent.Type.MouseButtonPress, start, left),
        (QEvent.Type.MouseMove, end, left),
        (QEvent.Type.MouseButtonRelease, end, Qt.MouseButton.NoButton),
    ):
        on = Qt.MouseButton.NoButton if kind == QEvent.Type.MouseMove else left
        place = QPointF(widget.mapToGlobal(at))
        event = QMouseEvent(kind, QPointF(at), place, on, buttons, Qt.KeyboardModifier.NoModifier)
        QApplication.sendEvent(widget, event)
        QTest.qWait(20)  # Qt moves the border between two docks a moment later


def test_the_menu_of_a_button_opens_below_its_left_edge_and_inside_the_window(
    window: Window,
) -> None:
    bar = window.top_bar
    for button in (bar.limits_button, bar.layout_button, bar.export_button, bar.kernel_button):
        menu = button.menu()
        left = button.mapToGlobal(QPoint()).x()
        menu.popup(QPoint(left - 80, 90))  # as Qt does for a button from right to left
        assert menu.isVisible()
        right = left + button.width()
        is_left = button in (bar.limits_button, bar.layout_button)
        assert (menu.x() == left) if is_left else (menu.x() + menu.width() == right)
        assert menu.x() + menu.width() <= window.frameGeometry().right() + 1
        menu.close()


def test_a_window_that_was_large_and_starts_small_folds_the_panels_below(
    qtbot: QtBot, pipeline: SamplePipeline, settings: Settings
) -> None:
    for width, height in ((1440, 900), (920, 491)):
        window = Window(Document(pipeline, make_stages()), settings)
        qtbot.addWidget(window)
        window.resize(width, height)
        window.show()
        qtbot.waitExposed(window)
        dock = window.stage.docks["backprop"]
        if height == 900:
            qtbot.wait(100)  # its sizes are kept
        else:
            qtbot.waitUntil(dock.panel.isHidden)
            qtbot.waitUntil(lambda dock=dock: dock.height() < 10)  # the tabs are above its foot
        window.close()
