"""Turn what the mouse does over the graph into camera moves and intents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRect, Qt
from PySide6.QtGui import QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QRubberBand, QToolTip

from ..layout.model import Point, Rect
from ..scene.parts.boxes import minus_rect, plus_rect
from ..scene.parts.frames import button_at
from .framing import area_under

if TYPE_CHECKING:
    from .view import GraphView

WHEEL_STEP = 1.0016
CLICK = 4
"""Px that the mouse moves while a button is down, from which it is no click."""


class Pointer:
    """The mouse over one view. ``hovered``: the node under it, empty for none."""

    def __init__(self, view: GraphView) -> None:
        self._view = view
        self.hovered = ""
        self._pressed: QPointF | None = None
        self._is_panning = self._is_framing = False
        self._frame = QRubberBand(QRubberBand.Shape.Rectangle, view.viewport())

    def turn_wheel(self, event: QWheelEvent) -> None:
        """Zoom about the pointer; with Shift, or sideways on a touchpad, move."""
        view, camera = self._view, self._view.camera
        pixels, angle = event.pixelDelta(), event.angleDelta()
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            view.move_camera(camera.panned(angle.y() or angle.x(), 0))
        elif not pixels.isNull() and not event.modifiers() and angle.x():
            view.move_camera(camera.panned(pixels.x(), pixels.y()))
        else:
            factor = WHEEL_STEP ** angle.y()
            view.move_camera(camera.zoomed(factor, xy_of(event.position())))

    def press(self, event: QMouseEvent) -> None:
        shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        self._pressed = event.position()
        self._is_framing = shift and event.button() == Qt.MouseButton.LeftButton
        self._is_panning = False

    def move(self, event: QMouseEvent) -> None:
        """Pan or draw a frame while a button is down, else show what can be clicked."""
        if self._pressed is None:
            self._show_hand(event.position())
            return
        moved = event.position() - self._pressed
        if not self._is_panning and moved.manhattanLength() < CLICK:
            return
        self._is_panning = True
        QToolTip.hideText()
        if self._is_framing:
            self._frame.setGeometry(_between(self._pressed, event.position()))
            self._frame.show()
        else:
            view = self._view
            view.viewport().setCursor(Qt.CursorShape.ClosedHandCursor)
            view.move_camera(view.camera.panned(moved.x(), moved.y()))
            self._pressed = event.position()

    def release(self, event: QMouseEvent) -> None:
        pressed, self._pressed = self._pressed, None
        if pressed is None:
            return
        was_panning, was_framing = self._is_panning, self._is_framing
        self._is_panning = self._is_framing = False
        if not was_panning and event.button() == Qt.MouseButton.LeftButton:
            self._click(event)
            return
        if was_panning and was_framing:
            self._frame.hide()
            frame = _between(pressed, event.position())
            framed = area_under(self._view.camera, frame)
            self._view.nodes_framed.emit(self._view.prepared.boxes_within(framed))
        self._show_hand(event.position())

    def click_twice(self, event: QMouseEvent) -> None:
        """Activate a box; beside all boxes, show all of the graph."""
        view, point = self._view, self._point(event.position())
        box, button = view.prepared.box_at(point), button_at(view.prepared.scene.frames, point)
        if box is not None:
            view.node_activated.emit(box.node)
        elif button is not None:  # a second quick click on it
            view.frame_clicked.emit(button[0].path, button[1])
        else:
            view.fit()

    def leave(self) -> None:
        self._hover("")

    def _click(self, event: QMouseEvent) -> None:
        view, point = self._view, self._point(event.position())
        box = view.prepared.box_at(point)
        button = button_at(view.prepared.scene.frames, point) if box is None else None
        if button is not None:
            view.frame_clicked.emit(button[0].path, button[1])
        elif box is not None and view.can_fold(box.node) and _is_on(minus_rect(box), point):
            view.node_folded.emit(box.node)
        elif box is not None and box.opens and _is_on(plus_rect(box), point):
            view.node_activated.emit(box.node)
        else:
            adds = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
            view.node_clicked.emit(box.node if box else "", adds)
            self._show_hand(event.position())

    def _show_hand(self, at: QPointF) -> None:
        view, point = self._view, self._point(at)
        box = view.prepared.box_at(point)
        self._hover(box.node if box is not None else "")
        is_over = box is not None or button_at(view.prepared.scene.frames, point) is not None
        shape = Qt.CursorShape.PointingHandCursor if is_over else Qt.CursorShape.ArrowCursor
        view.viewport().setCursor(shape)

    def _hover(self, node: str) -> None:
        if node != self.hovered:
            self.hovered = node
            self._view.node_hovered.emit(node)
            self._view.viewport().update()

    def _point(self, at: QPointF) -> Point:
        return self._view.camera.to_scene(xy_of(at))


def _between(corner: QPointF, other: QPointF) -> QRect:
    return QRect(corner.toPoint(), other.toPoint()).normalized()


def _is_on(rect: Rect, point: Point) -> bool:
    return abs(point[0] - rect.x) <= rect.width / 2 and abs(point[1] - rect.y) <= rect.height / 2


def xy_of(point: QPointF) -> Point:
    return point.x(), point.y()
