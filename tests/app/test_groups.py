"""Groups of every kind in the window: opened and closed by mouse, by key and by menu."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from tapeviz.app.search import named_repetition
from tapeviz.app.window import Window
from tapeviz.document.pipeline import Stages
from tapeviz.scene.parts.boxes import minus_rect, plus_rect
from tapeviz.scene.parts.frames import FrameButton, frame_buttons
from tests.graph.test_fold import recurrent

RECORDINGS = Path(__file__).parents[1] / "recordings"
CTRL = Qt.KeyboardModifier.ControlModifier
KINDS = [
    ("gradient_penalty", "layer"),
    ("training_loop", "line"),
    ("mlp_step", "function"),
    ("compiled_function", "function"),
    ("custom_gradient", "custom_gradient"),
]


def open_grouped(qtbot: QtBot, window: Window, name: str, grouping: str) -> list[str]:
    """The folded groups of a recording, by their paths."""
    document = window.document
    document.stages = Stages()
    document.change_form(grouping=grouping)
    assert window.files.open(RECORDINGS / f"{name}.tape")
    qtbot.waitUntil(lambda: is_drawn(window) and bool(document.diagnosis.calls))
    return groups(window)


def is_drawn(window: Window) -> bool:
    return bool(window.document.scene.boxes) and not window.document.background.busy


def groups(window: Window) -> list[str]:
    return [id_ for id_, node in window.document.links.nodes.items() if node.role == "group"]


def member(window: Window, group: str) -> str:
    """A node that stands in an opened group, perhaps in one within it."""
    path = group.removeprefix("group:")
    nodes = window.document.links.nodes.items()
    return next(id_ for id_, node in nodes if f"{node.group}/".startswith(f"{path}/"))


def fold_all(qtbot: QtBot, window: Window, folded: list[str]) -> None:
    """Ctrl+[ closes the innermost group, then the one around it."""
    for _ in range(3):
        before = groups(window)
        QTest.keyClick(window.graph.view, Qt.Key.Key_BracketLeft, CTRL)
        qtbot.waitUntil(lambda before=before: is_drawn(window) and groups(window) != before)
        if groups(window) == folded:
            return
    raise AssertionError(groups(window))


def on_screen(window: Window, node: str) -> QPoint:
    view = window.graph.view
    view.fit(glides=False)
    rect = view.prepared.rects[view.prepared.indices[node]]
    x, y = view.camera.to_screen(((rect[0] + rect[2]) / 2, (rect[1] + rect[3]) / 2))
    return QPoint(round(x), round(y))


@pytest.mark.parametrize(("name", "grouping"), KINDS)
def test_a_group_opens_by_mouse_and_closes_by_key(
    qtbot: QtBot, window: Window, name: str, grouping: str
) -> None:
    folded = open_grouped(qtbot, window, name, grouping)
    assert folded
    view, count = window.graph.view, len(window.document.scene.boxes)
    QTest.mouseDClick(view.viewport(), Qt.MouseButton.LeftButton, pos=on_screen(window, folded[0]))
    qtbot.waitUntil(lambda: is_drawn(window) and len(window.document.scene.boxes) > count)
    assert folded[0] not in groups(window)
    inside = member(window, folded[0])
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=on_screen(window, inside))
    assert window.document.selection.nodes == {inside}
    window.activateWindow()
    view.setFocus()
    fold_all(qtbot, window, folded)
    assert len(window.document.scene.boxes) == count


def test_a_group_opens_by_key_and_by_its_menu(qtbot: QtBot, window: Window) -> None:
    folded = open_grouped(qtbot, window, "gradient_penalty", "layer")
    view, document = window.graph.view, window.document
    window.activateWindow()
    view.setFocus()
    document.selecting.select_nodes(frozenset((folded[0],)))
    for key, modifier in (
        (Qt.Key.Key_Return, Qt.KeyboardModifier.NoModifier),
        (Qt.Key.Key_BracketRight, CTRL),
    ):
        document.selecting.select_nodes(frozenset((folded[0],)))
        QTest.keyClick(view, key, modifier)
        qtbot.waitUntil(lambda: is_drawn(window) and folded[0] not in groups(window))
        document.selecting.select_nodes(frozenset((member(window, folded[0]),)))
        fold_all(qtbot, window, folded)
    view.menu_requested.emit(folded[0], view.mapToGlobal(QPoint(5, 5)))
    (menu,) = (menu for menu in window.graph.findChildren(QMenu) if menu.isVisible())
    unfold = next(action for action in menu.actions() if action.text() == "Unfold")
    unfold.trigger()
    menu.close()
    qtbot.waitUntil(lambda: is_drawn(window) and folded[0] not in groups(window))


def test_the_picker_on_a_frame_shows_another_turn_and_the_minus_folds_it(
    qtbot: QtBot, window: Window
) -> None:
    document, view = window.document, window.graph.view
    document.stages = Stages()
    document.open_trace(recurrent(50, odd=30))
    qtbot.waitUntil(lambda: is_drawn(window) and bool(document.scene.frames))

    def click(name: FrameButton) -> None:
        view.fit(glides=False)
        rect = frame_buttons(document.scene.frames[0])[name]
        x, y = view.camera.to_screen((rect.x, rect.y))
        QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(round(x), round(y)))

    assert (document.scene.frames[0].turn, document.scene.frames[0].note) == (
        50,
        "line 3 · turn 31 differs",
    )
    for button, turn in (("back", 49), ("forward", 50)):
        click(button)  # type: ignore[arg-type]
        qtbot.waitUntil(
            lambda turn=turn: is_drawn(window) and document.scene.frames[0].turn == turn
        )
    assert document.view.turns == ((document.scene.frames[0].path, 50),)
    document.folding.show_turn(document.scene.frames[0].path, 31)
    qtbot.waitUntil(lambda: is_drawn(window) and document.scene.frames[0].turn == 31)
    assert any(box.title == "StopGradient" for box in document.scene.boxes)
    click("fold")
    qtbot.waitUntil(lambda: is_drawn(window) and not document.scene.frames)
    (closed,) = (box for box in document.scene.boxes if box.opens)
    assert closed.subtitle == "× 50 turns"
    view.fit(glides=False)
    plus = plus_rect(closed)
    x, y = view.camera.to_screen((plus.x, plus.y))
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(round(x), round(y)))
    qtbot.waitUntil(lambda: is_drawn(window) and bool(document.scene.frames))
    assert view.camera.sight.contains(document.scene.frames[0].rect)


def test_the_search_goes_to_a_turn_of_a_loop_that_stands_open_or_closed(
    qtbot: QtBot, window: Window
) -> None:
    document, search = window.document, window.top_bar.search
    document.stages = Stages()
    document.open_trace(recurrent(50))
    qtbot.waitUntil(lambda: is_drawn(window) and bool(document.scene.frames))
    qtbot.keyClicks(search, "turn 12")
    assert window.top_bar.found.text() == "Enter: turn 12 of 50"
    qtbot.keyClick(search, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: is_drawn(window) and document.scene.frames[0].turn == 12)
    document.folding.fold_group(document.scene.frames[0].path)
    qtbot.waitUntil(lambda: is_drawn(window) and not document.scene.frames)
    named = named_repetition(document, "Turn 7")
    assert named is not None
    named.go()
    qtbot.waitUntil(lambda: is_drawn(window) and bool(document.scene.frames))
    assert document.scene.frames[0].turn == 7
    for text in ("turn 51", "turn 0", "round 1", "turn", "12"):
        assert named_repetition(document, text) is None


def test_the_search_finds_the_box_that_something_is_folded_into(
    qtbot: QtBot, window: Window
) -> None:
    document, search = window.document, window.top_bar.search
    document.stages = Stages()
    document.open_trace(recurrent(50))
    qtbot.waitUntil(lambda: is_drawn(window) and bool(document.scene.frames))
    path = document.scene.frames[0].path
    qtbot.keyClicks(search, "tanh")
    (drawn,) = document.selection.nodes
    assert document.links.nodes[drawn].type == "Tanh"
    document.folding.fold_group(path)
    qtbot.waitUntil(lambda: is_drawn(window) and not document.scene.frames)
    search.clear()
    qtbot.keyClicks(search, "tanh")
    assert document.selection.nodes == {f"group:{path}"}
    qtbot.keyClicks(search, "ish")
    assert window.top_bar.found.text() == "nothing found"


def test_the_minus_of_a_box_folds_the_loop_that_it_stands_in(qtbot: QtBot, window: Window) -> None:
    document, view = window.document, window.graph.view
    document.stages = Stages()
    document.open_trace(recurrent(50))
    qtbot.waitUntil(lambda: is_drawn(window) and bool(document.scene.frames))
    inside = [box for box in document.scene.boxes if document.links.open_path(box.node)]
    assert inside
    rect = minus_rect(inside[0])
    x, y = view.camera.to_screen((rect.x, rect.y))
    QTest.mouseMove(view.viewport(), QPoint(round(x), round(y)))
    view.grab()
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(round(x), round(y)))
    qtbot.waitUntil(lambda: is_drawn(window) and not document.scene.frames)
    assert any(node.turns == 50 for node in document.links.nodes.values())
