"""The widget that shows a scene; mouse and keys become camera moves and intents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from PySide6.QtCore import (
    QEasingCurve,
    QEvent,
    QPoint,
    QRect,
    QRectF,
    QSize,
    Qt,
    QVariantAnimation,
    Signal,
)
from PySide6.QtGui import (
    QBrush,
    QColor,
    QContextMenuEvent,
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QNativeGestureEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QGraphicsScene, QGraphicsView

from ..layout.model import Point, Rect
from ..scene.model import Scene
from ..scene.parts.boxes import minus_rect
from ..scene.theme import Theme
from .camera import COMFORT, Camera
from .framing import WHOLE, Anchored, FirstView
from .hints import paint_focus, paint_lit, paint_minus
from .item import SceneItem
from .pointer import Pointer, xy_of
from .prepared import Prepared
from .tips import show_tip

GLIDE = 260
"""Milliseconds of a zoom to something."""
KEY_STEP = 1.25
NEAR_WIRE = 6.0
BY_KEY = (
    Qt.FocusReason.TabFocusReason,
    Qt.FocusReason.BacktabFocusReason,
    Qt.FocusReason.ShortcutFocusReason,
)
"""Reasons of a keyboard focus that is shown by a frame."""


class GraphView(QGraphicsView):
    """The graph, drawn and clickable. ``node_clicked``: the node, empty for none, and whether to
    add it to the selection."""

    node_clicked = Signal(str, bool)
    node_activated = Signal(str)
    node_hovered = Signal(str)
    """The node under the pointer, empty where there is none."""
    node_folded = Signal(str)
    """The − of a node: the group that it stands in shall close."""
    frame_clicked = Signal(str, str)
    """The path of a frame, and which of its buttons: ``back``, ``forward`` or ``fold``."""
    left = Signal()
    """Escape was pressed."""
    menu_requested = Signal(str, object)
    """A node, and the point of the screen for its menu."""
    nodes_framed = Signal(object)
    neighbour_requested = Signal(str)
    """``up``, ``down``, ``left`` or ``right``: the selection shall move."""
    camera_changed = Signal()
    arrived = Signal()
    """A glide is over, or the camera went without one to where a glide would have ended."""

    def __init__(self, theme: Theme, failed: Callable[[Exception], None]) -> None:
        super().__init__()
        self._theme = theme
        self.setScene(QGraphicsScene(self))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setBackgroundBrush(QBrush(QColor(theme.background)))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setViewportUpdateMode(QGraphicsView.ViewportUpdateMode.FullViewportUpdate)
        self.setMouseTracking(True)
        self.viewport().setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        for part in (self, self.viewport()):
            part.setAccessibleName("Graph")
        self.item = SceneItem(theme, failed)
        self.scene().addItem(self.item)
        self._glide = QVariantAnimation(self)
        self._glide.setDuration(GLIDE)
        self._glide.setEasingCurve(QEasingCurve.Type.InOutCubic)
        self._glide.valueChanged.connect(self._glide_on)
        self._glide.finished.connect(self.arrived)
        self._from = self._to = self.item.camera
        self._lit: frozenset[str] = frozenset()
        self._pointer = Pointer(self)
        self.has_glides = True
        self.can_fold: Callable[[str], bool] = lambda node: False
        """Whether a node stands in an open group: it shows a − under the pointer."""
        self.framing: FirstView | Anchored | None = FirstView()
        """Restored by a resize; None: the user moved the camera."""
        self._shows_focus = False

    # Camera

    @property
    def camera(self) -> Camera:
        return self.item.camera

    @property
    def prepared(self) -> Prepared:
        return self.item.prepared

    def set_camera(self, camera: Camera) -> None:
        self.item.set_camera(camera)
        self.camera_changed.emit()

    def move_camera(self, camera: Camera) -> None:
        """A move by the user: a glide under way ends."""
        self._glide.stop()
        self.framing = None
        self.set_camera(camera)

    def glide_to(self, camera: Camera) -> None:
        self._glide.stop()
        if not (self.has_glides and self.isVisible()):
            self.set_camera(camera)
            self.arrived.emit()
            return
        self._from, self._to = self.camera, camera
        self._glide.setStartValue(0.0)
        self._glide.setEndValue(1.0)
        self._glide.start()

    def _glide_on(self, share: float) -> None:
        self.set_camera(self._from.between(self._to, share) if share < 1 else self._to)

    def set_scene(self, scene: Scene) -> None:
        self.item.set_scene(scene)
        self.camera_changed.emit()

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.item.set_theme(theme)
        self.setBackgroundBrush(QBrush(QColor(theme.background)))

    def fit(self, glides: bool = True) -> None:
        """Show all of the graph, as the user asked."""
        self.framing = WHOLE
        self.restore(glides)

    def begin_at(self, landmarks: Sequence[Rect], least: float) -> None:
        """Show the first view, see `Camera.beginning_at`."""
        self.framing = FirstView(landmarks, least)
        self.restore()

    def stay_near(
        self, before: Point, after: Point, landmarks: Sequence[Rect], least: float, bounds: Rect
    ) -> None:
        """Show ``after`` where ``before`` was, moved for the ``landmarks``, until the user moves
        the camera."""
        x, y = self.camera.to_screen(before)
        at = self.viewport().mapTo(self.window(), QPoint(round(x), round(y)))
        camera = self.camera.carried(before, after)
        self.framing = Anchored(camera, after, at, landmarks, least, bounds)
        self.restore()

    @property
    def follows_fit(self) -> bool:
        """Whether a resize restores the first view, or all of the graph: the user has not moved the
        camera."""
        return isinstance(self.framing, FirstView)

    @property
    def is_at_first_view(self) -> bool:
        """Whether the user has neither moved the camera nor asked for all of the graph."""
        return self.follows_fit and self.framing is not WHOLE

    @property
    def is_whole(self) -> bool:
        """Whether all of the graph is in sight."""
        return self.camera.sight.contains(self.prepared.scene.bounds)

    def restore(self, glides: bool = False) -> None:
        """Show what the view was told to show, unless the user moved the camera since."""
        framing, now = self.framing, self.camera
        if framing is None:
            return
        if isinstance(framing, Anchored):
            at = self.viewport().mapFrom(self.window(), framing.at)
            camera = framing.shown(now.width, now.height, at)
        else:
            camera = framing.shown(now, self.prepared.scene.bounds, self.prepared.rects)
        if glides:
            self.glide_to(camera)
        else:
            self._glide.stop()
            self.set_camera(camera)

    def zoom(self, factor: float) -> None:
        self.move_camera(self.camera.zoomed(factor))

    def reveal(self, nodes: frozenset[str]) -> None:
        """Glide to some nodes, unless they are in sight, and a glide would not make them larger or
        the picture is whole in its natural size."""
        bounds = self.prepared.bounds_of(nodes)
        if bounds is None:
            return
        camera = self._looking_at(bounds)
        is_large = camera.scale <= self.camera.scale or (
            self.is_whole and self.camera.scale >= COMFORT
        )
        if not (is_large and self.camera.sight.contains(bounds)):
            self._leave_for(camera)

    def zoom_to(self, nodes: frozenset[str]) -> None:
        """Glide to some nodes, at a scale that can be read, with a margin."""
        bounds = self.prepared.bounds_of(nodes)
        if bounds is not None:
            self._leave_for(self._looking_at(bounds))

    def _looking_at(self, bounds: Rect) -> Camera:
        around = Rect(bounds.x, bounds.y, bounds.width + 160, bounds.height + 120)
        return self.camera.fitted(around, most=1.4)

    def bring_into_sight(self, nodes: frozenset[str], least: float) -> None:
        """Glide to some nodes no farther than needed, at the present scale; if that is below
        ``least``, at the natural size."""
        bounds = self.prepared.bounds_of(nodes)
        if bounds is None:
            return
        at, camera = (bounds.x, bounds.y), self.camera
        if camera.scale < least:
            camera = camera.zoomed(COMFORT / camera.scale, camera.to_screen(at))
        around = Rect(bounds.x, bounds.y, bounds.width + 40, bounds.height + 40)
        self._leave_for(camera.holding(around, least, at))

    def keep_in_sight(self, nodes: frozenset[str]) -> None:
        """Glide to some nodes, if the middle of them is out of sight."""
        bounds = self.prepared.bounds_of(nodes)
        if bounds is not None:
            sight = self.camera.sight
            if not (sight.left < bounds.x < sight.right and sight.top < bounds.y < sight.bottom):
                self._leave_for(replace(self.camera, x=bounds.x, y=bounds.y))

    def _leave_for(self, camera: Camera) -> None:
        self.framing = None
        self.glide_to(camera)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        size, stays_whole = self.viewport().size(), self.follows_fit and self.is_whole
        self.setSceneRect(0, 0, size.width(), size.height())
        camera = self.camera.resized(size.width(), size.height())
        if stays_whole:  # however small, until it is laid out for this room
            self._glide.stop()
            camera = camera.fitted(self.prepared.scene.bounds)
        self.set_camera(camera)
        if not stays_whole:
            self.restore()

    def sizeHint(self) -> QSize:
        return QSize(640, 480)

    # Keyboard focus

    def focusInEvent(self, event: QFocusEvent) -> None:
        self._shows_focus = event.reason() in BY_KEY
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self._shows_focus = False
        super().focusOutEvent(event)
        self.viewport().update()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._shows_focus:
            painter = QPainter(self.viewport())
            paint_focus(painter, self.viewport().rect(), self._theme)
            painter.end()

    # Mouse

    def wheelEvent(self, event: QWheelEvent) -> None:
        self._pointer.turn_wheel(event)
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.setFocus()
        self._glide.stop()
        self._pointer.press(event)
        event.accept()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._pointer.move(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._pointer.release(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self._pointer.click_twice(event)
        event.accept()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        box = self.prepared.box_at(self.camera.to_scene((event.pos().x(), event.pos().y())))
        if box is not None:
            self.menu_requested.emit(box.node, event.globalPos())

    def leaveEvent(self, event: QEvent) -> None:
        self._pointer.leave()
        super().leaveEvent(event)

    def light_up(self, nodes: frozenset[str]) -> None:
        """Frame some nodes, until the next call: the pointer is over them in another panel."""
        if nodes != self._lit:
            self._lit = nodes
            self.viewport().update()

    def drawForeground(self, painter: QPainter, rect: QRectF | QRect) -> None:
        super().drawForeground(painter, rect)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        prepared, camera = self.prepared, self.camera
        for node in self._lit:
            if node in prepared.indices:
                box = prepared.scene.boxes[prepared.indices[node]]
                paint_lit(painter, box, camera, self._theme)
        hovered = self._pointer.hovered
        if hovered in prepared.indices and self.can_fold(hovered):
            box = prepared.scene.boxes[prepared.indices[hovered]]
            paint_minus(painter, minus_rect(box), camera, self._theme)

    # Keys

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        arrows = {
            Qt.Key.Key_Up: "up",
            Qt.Key.Key_Down: "down",
            Qt.Key.Key_Left: "left",
            Qt.Key.Key_Right: "right",
        }
        if event.modifiers() & (
            Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.ControlModifier
        ):
            event.ignore()
        elif key in arrows:
            self.neighbour_requested.emit(arrows[Qt.Key(key)])
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            self.zoom(KEY_STEP)
        elif key == Qt.Key.Key_Minus:
            self.zoom(1 / KEY_STEP)
        elif key in (Qt.Key.Key_F, Qt.Key.Key_Home):
            self.fit()
        elif key == Qt.Key.Key_Escape:
            self.node_clicked.emit("", False)
            self.left.emit()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.node_activated.emit("")
        else:
            event.ignore()

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            show_tip(event.globalPos(), self.tip_at(event.pos()), self.viewport())
            return True
        if (
            isinstance(event, QNativeGestureEvent)
            and event.gestureType() == Qt.NativeGestureType.ZoomNativeGesture
        ):
            self.move_camera(self.camera.zoomed(1 + event.value(), xy_of(event.position())))
            return True
        return super().viewportEvent(event)

    def tip_at(self, at: QPoint) -> str:
        """The tooltip of the mark, box or wire at a point of the viewport."""
        point = self.camera.to_scene((at.x(), at.y()))
        return self.prepared.tip_at(point, NEAR_WIRE / self.camera.scale)
