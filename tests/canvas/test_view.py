"""The graph's widget, moved and clicked as a person would."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tapeviz.canvas.legend import Legend
from tapeviz.canvas.minimap import Minimap
from tapeviz.canvas.tips import plain_tip
from tapeviz.canvas.view import GraphView
from tapeviz.scene.model import LegendEntry
from tapeviz.scene.theme import THEMES
from tests.canvas.scenes import chain, crowd

LEFT = Qt.MouseButton.LeftButton


def fail(error: Exception) -> None:
    raise error


@pytest.fixture
def view(qtbot: QtBot) -> Iterator[GraphView]:
    view = GraphView(THEMES["light"], fail)
    qtbot.addWidget(view)
    view.has_glides = False
    view.resize(600, 600)
    view.show()
    qtbot.waitExposed(view)
    view.set_scene(chain())
    view.fit(glides=False)
    return view


def at(view: GraphView, node: str) -> QPoint:
    box = view.prepared.scene.boxes[view.prepared.indices[node]]
    x, y = view.camera.to_screen((box.rect.x + 40, box.rect.y))
    return QPoint(round(x), round(y))


def test_a_click_selects_and_ctrl_adds(qtbot: QtBot, view: GraphView) -> None:
    heard: list[tuple[str, bool]] = []
    view.node_clicked.connect(lambda node, adds: heard.append((node, adds)))
    qtbot.mouseClick(view.viewport(), LEFT, pos=at(view, "n1"))
    qtbot.mouseClick(view.viewport(), LEFT, Qt.KeyboardModifier.ControlModifier, pos=at(view, "n3"))
    qtbot.mouseClick(view.viewport(), LEFT, pos=QPoint(5, 5))
    assert heard == [("n1", False), ("n3", True), ("", False)]


def test_a_double_click_activates(qtbot: QtBot, view: GraphView) -> None:
    with qtbot.waitSignal(view.node_activated) as heard:
        qtbot.mouseDClick(view.viewport(), LEFT, pos=at(view, "n2"))
    assert heard.args == ["n2"]


def test_a_drag_moves_the_graph_with_the_pointer(qtbot: QtBot, view: GraphView) -> None:
    start = QPoint(20, 300)
    grabbed = view.camera.to_scene((20, 300))
    QTest.mousePress(view.viewport(), LEFT, pos=start)
    QTest.mouseMove(view.viewport(), start + QPoint(60, 40))
    QTest.mouseMove(view.viewport(), start + QPoint(80, 50))
    QTest.mouseRelease(view.viewport(), LEFT, pos=start + QPoint(80, 50))
    assert view.camera.to_scene((100, 350)) == pytest.approx(grabbed, abs=0.01)
    assert not view.follows_fit


def test_shift_and_drag_frames_nodes(qtbot: QtBot, view: GraphView) -> None:
    shift = Qt.KeyboardModifier.ShiftModifier
    top, bottom = at(view, "n1").y() - 40, at(view, "n2").y() + 40
    with qtbot.waitSignal(view.nodes_framed) as heard:
        QTest.mousePress(view.viewport(), LEFT, shift, QPoint(100, top))
        QTest.mouseMove(view.viewport(), QPoint(400, bottom - 5))
        QTest.mouseMove(view.viewport(), QPoint(500, bottom))
        QTest.mouseRelease(view.viewport(), LEFT, shift, QPoint(500, bottom))
    assert heard.args == [frozenset(("n1", "n2"))]


def test_the_wheel_zooms_at_the_pointer(qtbot: QtBot, view: GraphView) -> None:
    here = QPointF(150, 200)
    before = view.camera.to_scene((150, 200))
    event = QWheelEvent(
        here,
        view.mapToGlobal(here),
        QPoint(),
        QPoint(0, 240),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    scale = view.camera.scale
    QApplication.sendEvent(view.viewport(), event)
    assert view.camera.scale > scale * 1.2
    assert view.camera.to_scene((150, 200)) == pytest.approx(before, abs=1e-6)


def test_keys_zoom_fit_and_ask_for_neighbours(qtbot: QtBot, view: GraphView) -> None:
    scale = view.camera.scale
    qtbot.keyClick(view, Qt.Key.Key_Plus)
    assert view.camera.scale > scale
    qtbot.keyClick(view, Qt.Key.Key_F)
    assert view.camera.scale == pytest.approx(scale)
    with qtbot.waitSignal(view.neighbour_requested) as heard:
        qtbot.keyClick(view, Qt.Key.Key_Down)
    assert heard.args == ["down"]


def test_a_fitted_graph_stays_fitted(qtbot: QtBot, view: GraphView) -> None:
    view.resize(300, 300)
    bounds, sight = view.prepared.scene.bounds, view.camera.sight
    assert sight.height >= bounds.height
    view.zoom(2)
    scale = view.camera.scale
    view.resize(500, 500)
    assert view.camera.scale == scale


def test_a_whole_picture_stays_whole_until_it_is_laid_out_anew(view: GraphView) -> None:
    first = view.prepared.scene.boxes[0].rect
    view.begin_at([first], 0.7)
    assert view.is_whole
    view.resize(120, 120)
    assert view.is_whole
    view.restore()
    assert not view.is_whole
    assert view.camera.sight.contains(first)


def test_what_was_clicked_stays_on_the_screen_when_the_pane_grows(
    qtbot: QtBot, view: GraphView
) -> None:
    view.set_scene(chain(40))
    box, bounds = view.prepared.scene.boxes[20].rect, view.prepared.scene.bounds
    view.reveal(frozenset(("n20",)))
    view.stay_near((box.x, box.y), (box.x, box.y), [box], 0.7, bounds)
    x, y = view.camera.to_screen((box.x, box.y))
    before = view.viewport().mapToGlobal(QPointF(x, y))

    def moved() -> float:
        x, y = view.camera.to_screen((box.x, box.y))
        return (view.viewport().mapToGlobal(QPointF(x, y)) - before).manhattanLength()

    view.resize(700, 700)
    assert moved() < 2
    view.zoom(1.01)
    view.resize(900, 900)
    assert moved() > 50, "the user moved the camera"


def test_reveal_brings_nodes_into_sight(qtbot: QtBot, view: GraphView) -> None:
    view.set_scene(chain(400))
    view.fit(glides=False)
    assert view.camera.scale < 0.05
    view.reveal(frozenset(("n300",)))
    assert view.camera.scale > 0.5
    assert abs(view.camera.y - 30_000) < 1
    view.keep_in_sight(frozenset(("n301",)))
    assert abs(view.camera.y - 30_000) < 1
    view.keep_in_sight(frozenset(("n10",)))
    assert abs(view.camera.y - 1_000) < 1


def test_what_is_in_sight_in_a_whole_picture_is_not_magnified(
    qtbot: QtBot, view: GraphView
) -> None:
    camera = view.camera
    assert view.is_whole
    view.reveal(frozenset(("n1",)))
    assert view.camera == camera
    view.zoom_to(frozenset(("n1",)))
    assert view.camera.scale > camera.scale
    view.set_scene(chain(8))
    view.fit(glides=False)
    camera = view.camera
    view.reveal(frozenset(box.node for box in view.prepared.scene.boxes))
    assert view.camera == camera


def test_what_is_searched_comes_into_sight_at_the_zoom_that_the_user_chose(
    qtbot: QtBot, view: GraphView
) -> None:
    view.set_scene(chain(400))
    node = frozenset(("n300",))
    for scale in (0.9, 2.0):
        view.move_camera(replace(view.camera, x=0.0, y=0.0, scale=scale))
        view.bring_into_sight(node, 0.7)
        assert view.camera.scale == scale
        bounds = view.prepared.bounds_of(node)
        assert bounds is not None
        assert view.camera.sight.contains(bounds)
    view.move_camera(replace(view.camera, scale=0.1))
    view.bring_into_sight(node, 0.7)
    assert view.camera.scale == 1.0


def test_a_glide_ends_where_it_should(qtbot: QtBot, view: GraphView) -> None:
    view.has_glides = True
    view.zoom_to(frozenset(("n2",)))
    assert abs(view.camera.y - 200) > 0.5 or view.camera.scale != pytest.approx(1.4)
    qtbot.waitUntil(lambda: view.camera.y == pytest.approx(200))


def test_tips_tell_cause_box_and_wire(qtbot: QtBot, view: GraphView) -> None:
    def tip(x: float, y: float) -> str:
        px, py = view.camera.to_screen((x, y))
        return view.tip_at(QPoint(round(px), round(py)))

    assert tip(0, 150).startswith("Line 5")
    assert tip(30, 200) == "tip 2"
    assert tip(0, 260) == "wire 2"
    assert tip(100, 260) == ""


def test_tips_are_never_markup() -> None:
    assert "&lt;img" in plain_tip("<img src=x>")
    assert len(plain_tip("x" * 10_000_000)) < 3_000


def test_the_minimap_is_there_when_it_helps(qtbot: QtBot, view: GraphView) -> None:
    minimap = Minimap(THEMES["dark"], view)
    minimap.show_camera(view.prepared, view.camera)
    assert minimap.isHidden()
    view.set_scene(crowd(5000))
    minimap.show_camera(view.prepared, view.camera)
    assert not minimap.isHidden()
    minimap.grab()
    with qtbot.waitSignal(minimap.moved) as heard:
        qtbot.mouseClick(minimap, LEFT, pos=minimap.rect().center())
    bounds = view.prepared.scene.bounds
    assert heard.args == pytest.approx([bounds.x, bounds.y], rel=0.1)


def test_the_legend_keeps_cuts_where_there_is_no_room_for_all(qtbot: QtBot) -> None:
    legend = Legend(THEMES["light"])
    qtbot.addWidget(legend)
    entries = tuple(LegendEntry(s, s) for s in ("gradient", "recorded", "cut", "bridge"))
    legend.resize(600, 24)
    legend.show()
    legend.show_entries(entries)
    assert legend.shown == entries
    legend.resize(170, 24)
    assert [entry.state for entry in legend.shown] == ["cut", "bridge"]
    assert all(entry.text in legend.toolTip() for entry in entries)
    legend.grab()
    legend.show_entries(())
    assert legend.shown == ()
