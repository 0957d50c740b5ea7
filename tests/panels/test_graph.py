from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from tapeviz.analysis.model import CallDiagnosis
from tapeviz.canvas.camera import Camera
from tapeviz.canvas.framing import FirstView
from tapeviz.document import Document
from tapeviz.document.background import Background
from tapeviz.drawing import Arranged
from tapeviz.layout.model import EMPTY_LAYOUT, Rect
from tapeviz.panels.graph import GRAIN, MARGIN, GraphPanel
from tapeviz.panels.look import Theme
from tapeviz.recording.live import Listener
from tapeviz.scene.model import EMPTY_SCENE, FrameBox, Overlay, Scene
from tapeviz.scene.parts.frames import frame_buttons
from tapeviz.scene.sizes import LEGIBLE
from tapeviz.trace.model import Trace
from tests.document.sample import (
    SOURCE,
    SamplePipeline,
    SampleRecording,
    compose,
    make_stages,
    make_trace,
)
from tests.waiting import PATIENCE


@pytest.fixture
def panel(qtbot: QtBot, ran: Document, light: Theme) -> GraphPanel:
    panel = GraphPanel(ran, light)
    qtbot.addWidget(panel)
    panel.view.has_glides = False
    panel.resize(700, 560)
    panel.show()
    qtbot.waitExposed(panel)
    ran.scene_changed.emit()
    return panel


def at(panel: GraphPanel, node: str) -> QPoint:
    prepared = panel.view.prepared
    rect = prepared.scene.boxes[prepared.indices[node]].rect
    x, y = panel.view.camera.to_screen((rect.x, rect.y))
    return QPoint(round(x), round(y))


def test_a_click_selects_node_line_and_tensor(qtbot: QtBot, panel: GraphPanel) -> None:
    qtbot.mouseClick(panel.view.viewport(), Qt.MouseButton.LeftButton, pos=at(panel, "op5"))
    selection = panel.document.selection
    assert (selection.nodes, selection.line, selection.tensor) == ({"op5"}, 7, 6)
    ctrl = Qt.KeyboardModifier.ControlModifier
    qtbot.mouseClick(panel.view.viewport(), Qt.MouseButton.LeftButton, ctrl, at(panel, "op4"))
    assert panel.document.selection.nodes == {"op4", "op5"}
    qtbot.mouseClick(panel.view.viewport(), Qt.MouseButton.LeftButton, ctrl, at(panel, "op5"))
    assert panel.document.selection.nodes == {"op4"}


def test_arrows_walk_along_edges(qtbot: QtBot, panel: GraphPanel) -> None:
    panel.document.selecting.select_nodes(frozenset(("op1",)))
    panel.view.setFocus()
    for key, node in (
        (Qt.Key.Key_Down, "x1"),
        (Qt.Key.Key_Down, "op3"),
        (Qt.Key.Key_Down, "op4"),
        (Qt.Key.Key_Down, "op5"),
    ):
        qtbot.keyClick(panel.view, key)
        assert panel.document.selection.nodes == {node}
    qtbot.keyClick(panel.view, Qt.Key.Key_Escape)
    assert panel.document.selection.nodes == frozenset()


def test_the_step_is_told(panel: GraphPanel) -> None:
    assert panel.step_label.text() == "5 steps"
    panel.document.stepping.go_to(3)
    assert panel.step_label.text() == "step 3 of 5"


def test_showing_the_cut_zooms_to_it(panel: GraphPanel) -> None:
    finding = panel.document.diagnosis.calls[0].findings[0]
    assert finding.cause is not None
    panel.view.zoom(0.5)
    panel.document.selecting.show_cause(finding.cause)
    sight = panel.view.camera.sight
    assert sight.top < 158 < sight.bottom
    assert panel.view.camera.scale > 1


def test_the_legend_stands_beside_the_title(panel: GraphPanel) -> None:
    assert panel.legend.entries == panel.document.scene.legend
    assert panel.legend.parent() is panel.header


def test_an_empty_graph_says_how_to_begin(qtbot: QtBot, document: Document, theme: Theme) -> None:
    panel = GraphPanel(document, theme)
    qtbot.addWidget(panel)
    panel.resize(600, 400)
    panel.show()
    assert panel.empty.isVisible()
    assert "Run" in panel.empty.title.text()
    document.run()
    assert panel.empty.title.text() == "Running …"
    qtbot.waitUntil(lambda: not panel.empty.isVisible())


def test_a_text_without_code_is_told_in_the_place_of_its_graph(
    qtbot: QtBot, panel: GraphPanel
) -> None:
    panel.document.showing.take(Trace(source="#¶ some words\n\n#¶ and more of them\n"))
    qtbot.waitUntil(lambda: panel.empty.title.text() == "No code to run")
    panel.document.showing.take(Trace(source="print(1)\n"))
    qtbot.waitUntil(lambda: panel.empty.title.text() == "No TensorFlow op ran")
    assert "computed nothing with TensorFlow" in panel.empty.words.text()
    step = "def step(x):\n    return tape.gradient(x, x)\n"
    panel.document.showing.take(Trace(source=step))
    qtbot.waitUntil(lambda: "nothing calls step" in panel.empty.words.text())


def test_ops_that_come_to_no_picture_are_not_taken_for_none(
    qtbot: QtBot, panel: GraphPanel
) -> None:
    document = panel.document
    document.stages = replace(document.stages, compose=lambda *asked: EMPTY_SCENE)
    document.run()
    qtbot.waitUntil(lambda: panel.empty.title.text() == "Nothing to draw")


def test_the_scene_speaks_for_itself_to_a_screen_reader(panel: GraphPanel) -> None:
    assert panel.view.accessibleDescription() == "7 nodes, 7 edges"
    panel.document.selecting.select_nodes(frozenset(("op5",)))
    assert panel.view.accessibleDescription().endswith("Selected: o Mean · target 2709.0")


def test_the_menu_of_a_box_copies_its_name(qtbot: QtBot, panel: GraphPanel) -> None:
    spot = at(panel, "op5")
    event = QContextMenuEvent(
        QContextMenuEvent.Reason.Mouse, spot, panel.view.viewport().mapToGlobal(spot)
    )
    QApplication.sendEvent(panel.view.viewport(), event)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    next(action for action in menu.actions() if action.text() == "Copy its name").trigger()
    menu.close()
    assert QApplication.clipboard().text() == "o"


def test_what_lies_beyond_the_pane_is_named_and_one_click_away(
    qtbot: QtBot, panel: GraphPanel
) -> None:
    buttons = panel.beyond.buttons
    panel.view.fit(glides=False)
    assert not any(button.isVisible() for button in buttons.values())
    rect = panel.view.prepared.scene.boxes[panel.view.prepared.indices["op5"]].rect
    panel.resize(700, 260)
    panel.view.move_camera(Camera(rect.x, rect.y, 1.0, panel.view.width(), panel.view.height()))
    above = buttons["above"]
    assert above.isVisible()
    assert above.accessibleName() == f"{above.text()[2:]} above: go there"
    top = panel.view.camera.sight.top
    qtbot.mouseClick(above, Qt.MouseButton.LeftButton)
    assert panel.view.camera.sight.top < top
    panel.view.move_camera(replace(panel.view.camera, scale=2.0))
    assert not above.isVisible()


def test_what_names_the_boxes_beyond_covers_no_button_of_a_frame(
    panel: GraphPanel, monkeypatch: pytest.MonkeyPatch
) -> None:
    view, above = panel.view, panel.beyond.buttons["above"]
    rect = view.prepared.scene.boxes[view.prepared.indices["op5"]].rect
    frame = FrameBox("loop", Rect(rect.x, rect.y, 160, 90), "for t in x", 3, turn=2, count=3)
    camera = Camera(rect.x, rect.y, 1.0, view.width(), view.height())
    camera = replace(camera, y=frame.rect.top + camera.height / 2)
    monkeypatch.setattr(type(view.prepared), "has_boxes", lambda _, rect: True)
    view.prepared.scene = replace(view.prepared.scene, frames=(frame,))
    view.move_camera(camera)
    assert above.isVisible()
    spots = [camera.to_screen((r.x, r.y)) for r in frame_buttons(frame).values()]
    assert not any(above.geometry().contains(round(x), round(y)) for x, y in spots)


@pytest.mark.parametrize("moved", [False, True])
def test_a_round_with_a_wider_box_is_fitted_unless_the_user_moved(
    qtbot: QtBot, panel: GraphPanel, moved: bool
) -> None:
    view, picturing = panel.view, panel.document.picturing
    panel.resize(520, 900)
    view.fit(glides=False)
    assert view.is_whole
    if moved:
        view.zoom(0.99)
    arranged, scene, camera = picturing.arranged, picturing.scene, view.camera
    bounds = replace(scene.bounds, width=2 * scene.bounds.width)
    picturing.arranged = Arranged(
        arranged.graph,
        replace(arranged.layout, bounds=bounds),
        {name: name for name in arranged.graph},
    )
    picturing.scene = replace(scene, bounds=bounds)
    panel.document.scene_changed.emit()
    assert view.is_whole is not moved
    assert (view.camera == camera) is moved


@pytest.mark.parametrize("moved", [False, True])
def test_another_run_of_the_same_picture_leaves_the_camera_of_the_user(
    qtbot: QtBot, panel: GraphPanel, moved: bool
) -> None:
    document, view = panel.document, panel.view
    if moved:
        view.zoom(2.0)
    camera, before = view.camera, document.arranged
    document.run()
    qtbot.waitUntil(lambda: document.arranged is not before and bool(document.steps))
    qtbot.waitUntil(lambda: not document.background.busy)
    assert view.camera == camera
    assert (view.framing is None) is moved


def test_a_pane_that_grows_is_told_to_the_layout(qtbot: QtBot, panel: GraphPanel) -> None:
    panel.settling.setInterval(0)
    panel.view.fit(glides=False)
    panel.resize(1200, 900)
    view = panel.view
    qtbot.waitUntil(lambda: panel.document.view.room[1] > 700)
    assert view.camera.scale == 1.0


def test_the_picture_is_laid_out_for_the_width_that_the_pane_could_have(
    qtbot: QtBot, panel: GraphPanel
) -> None:
    """So that the pane need not ask for it first, and lay out once more."""
    panel.settling.setInterval(0)
    panel.view.fit(glides=False)
    panel.set_spare(200)
    least = panel.view.width() + 200 - 2 * MARGIN - GRAIN
    qtbot.waitUntil(lambda: panel.document.view.room[0] > least)


def test_a_picture_that_is_too_wide_asks_for_room_once_all_is_known(
    qtbot: QtBot, panel: GraphPanel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pane settled while the picture was still being made, as after a long run."""
    panel.settling.setInterval(0)
    panel.set_spare(200)
    qtbot.waitUntil(lambda: not panel.settling.isActive())
    panel.resize(160, 560)
    panel._awaits_landmarks = True
    monkeypatch.setattr(Background, "busy", frozenset({"diagnose"}))
    panel.view.begin_at((), LEGIBLE)
    panel.document.scene_changed.emit()
    qtbot.wait(50)
    assert panel.wanted_room().width() <= panel.width()
    monkeypatch.undo()
    panel.document.progress_changed.emit()  # work that changed no picture has ended
    qtbot.waitUntil(lambda: panel.wanted_room().width() > panel.width())


class GrowingPipeline(SamplePipeline):
    """Reports its trace once while it runs, and once more when it is stopped."""

    def _report(self, source: str, listener: Listener, recording: SampleRecording) -> None:
        listener.traced(make_trace(source))
        recording.stopped.wait(PATIENCE)
        listener.ended(make_trace(source))


def test_the_minimap_makes_way_for_a_group_that_was_opened(
    panel: GraphPanel, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel.view.zoom(4)
    panel._map_at = (False, False)
    panel._place_minimap()
    corner = panel.minimap.pos()
    middle = panel.view.width() / 2
    monkeypatch.setattr(
        type(panel.view.prepared),
        "has_boxes",
        lambda _, rect: panel.view.camera.to_screen((rect.x, rect.y))[0] < middle,
    )
    monkeypatch.setattr(panel, "_stays_near", lambda scene: False)
    panel._shown_layout = panel.drawn.arranged.layout
    panel._show_scene()
    assert panel.minimap.pos() == corner, "nothing was opened"
    panel.view.has_glides = False
    panel.view.glide_to(panel.view.camera.panned(2, 2))
    assert panel.minimap.x() > middle, "the way to a step ended with the map over boxes"
    panel._map_at = (False, False)

    def stays_near(scene: Scene) -> bool:
        panel.view.framing = FirstView()
        return True

    monkeypatch.setattr(panel, "_stays_near", stays_near)
    panel._shown_layout = EMPTY_LAYOUT
    panel._show_scene()
    assert panel.minimap.x() > middle
    assert panel.minimap.isVisibleTo(panel.view)
    monkeypatch.setattr(type(panel.view.prepared), "has_boxes", lambda _, rect: True)
    panel._shown_layout = EMPTY_LAYOUT
    panel._show_scene()
    assert not panel.minimap.isVisibleTo(panel.view), "it would cover boxes"
    panel.view.move_camera(panel.view.camera.panned(5, 5))
    assert panel.minimap.isVisibleTo(panel.view)


@pytest.mark.parametrize(
    ("last", "awaited"), [("diagnose", {"diagnose", "arrange"}), ("arrange", {"arrange"})]
)
def test_the_first_view_is_the_same_whatever_is_slow(
    qtbot: QtBot, light: Theme, last: str, awaited: set[str]
) -> None:
    stages, is_free = make_stages(), threading.Event()
    is_free.set()

    def held(*arguments: object) -> Any:
        is_free.wait(PATIENCE)
        return getattr(stages, last)(*arguments)

    held_stages = replace(stages, **{last: held}, compose=_ringed_by_its_own_diagnosis)
    document = Document(GrowingPipeline(), held_stages)
    document.open_source(SOURCE)
    panel = GraphPanel(document, light)
    qtbot.addWidget(panel)
    panel.resize(300, 190)
    panel.show()
    qtbot.waitExposed(panel)
    document.run()
    qtbot.waitUntil(lambda: bool(document.scene.marks))
    is_free.clear()
    document.stop()
    qtbot.waitUntil(lambda: document.background.busy == awaited and not document.is_running)
    is_free.set()
    qtbot.waitUntil(lambda: not document.background.busy)
    view, boxes = panel.view, document.scene.boxes
    seen = [box.node for box in boxes if _is_within(box.rect, view.camera.sight)]
    assert view.camera.scale == pytest.approx(LEGIBLE)
    assert "patch" in seen
    assert "op5" not in seen
    view.fit(glides=False)
    whole = view.camera
    document.scene_changed.emit()
    assert view.camera == whole


def _ringed_by_its_own_diagnosis(
    arranged: Arranged, trace: Trace, call: CallDiagnosis | None, overlay: Overlay
) -> Scene:
    scene = compose(arranged, trace, call, overlay)
    if call is not None and any(known is call.call for known in trace.calls):
        return scene
    return replace(scene, boxes=tuple(replace(box, ring="") for box in scene.boxes), marks=())


def _is_within(rect: Rect, sight: Rect) -> bool:
    across = sight.left <= rect.left and rect.right <= sight.right
    return across and sight.top <= rect.top and rect.bottom <= sight.bottom
