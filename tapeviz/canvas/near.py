"""Groups of primitives in, QPainter calls out: the near band, where all is drawn in full."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetricsF, QPainter, QPainterPath, QPen

from ..export.painting import painter_path, qfont
from ..layout.model import Rect
from ..scene.model import Box, Change, FrameBox, Mark, Wire
from ..scene.parts.changes import change_group
from ..scene.parts.frames import frame_group, header_group
from ..scene.primitives import Path, PrimitiveGroup, Style, TextRun
from ..scene.sizes import PADDING, cell_size
from ..scene.strokes import box_group, label_group, mark_group, wire_group
from ..scene.theme import Theme
from .long_wires import cut_group, is_long
from .prepared import Ints, Prepared

LEAST_TEXT = 0.52
"""Below this scale the words cannot be read: titles alone are drawn, as large as they fit."""
LEAST_TITLE = 0.12
TITLE_PX = 8.5
"""On the screen, while the title still fits into its box."""
KEPT = 6_000


@dataclass(frozen=True, slots=True)
class DrawnPath:
    """``is_plate``: it carries words, and goes with them."""

    path: QPainterPath
    pen: QPen
    brush: QBrush
    is_plate: bool = False


@dataclass(frozen=True, slots=True)
class DrawnText:
    origin: QPointF
    text: str
    font: QFont
    colour: QColor


Shape = Box | Wire | Mark | Change | FrameBox
Drawn = tuple[DrawnPath | DrawnText, ...]


class NearPainter:
    """Paints what is in sight; the paths of a shape are made once and kept while it is the same."""

    def __init__(self, theme: Theme) -> None:
        self.theme = theme
        self._kept: dict[tuple[str, object], tuple[object, Drawn]] = {}
        self._long: set[tuple[str, object]] = set()
        self._around = Rect(0.0, 0.0, 0.0, 0.0)

    def paint(
        self, painter: QPainter, prepared: Prepared, boxes: Ints, wires: Ints, sight: Rect
    ) -> None:
        """Wires, boxes, plates and marks, back to front; the painter is in scene units."""
        scene = prepared.scene
        self._look_around(sight)
        scale = painter.worldTransform().m11()
        has_text = scale >= LEAST_TEXT
        lines = [scene.wires[i] for i in wires.tolist()]
        for frame in scene.frames:
            self._draw(painter, "frame", frame.path, frame, has_text)
        for wire in sorted(lines, key=lambda wire: wire.state == "gradient"):
            self._draw(painter, "wire", wire.edge, wire, has_text)
        for frame in scene.frames if has_text else ():
            self._draw(painter, "header", frame.path, frame, has_text)
        for i in boxes.tolist():
            self._draw(painter, "box", scene.boxes[i].node, scene.boxes[i], has_text)
        if not has_text and scale >= LEAST_TITLE:
            self._draw_titles(painter, [scene.boxes[i] for i in boxes.tolist()], scale)
        for wire in lines if has_text else ():
            if wire.label and wire.label_at is not None:
                self._draw(painter, "label", wire.edge, wire, has_text)
        for mark in scene.marks:
            self._draw(painter, "mark", (mark.edge, mark.kind), mark, has_text)
        for change in scene.changes:
            self._draw(painter, "change", change.node, change, has_text)

    def _draw(self, painter: QPainter, kind: str, key: object, shape: Any, has_text: bool) -> None:
        kept = self._kept.get((kind, key))
        if kept is None or (kept[0] is not shape and kept[0] != shape):
            if len(self._kept) > KEPT:
                self._kept.clear()
            kept = (shape, self._compile(kind, shape))
            self._kept[(kind, key)] = kept
        draw(painter, kept[1], has_text)

    def _draw_titles(self, painter: QPainter, boxes: list[Box], scale: float) -> None:
        for box in boxes:
            rect = box.rect
            size = min(TITLE_PX / scale, rect.height * 0.62)
            font = qfont("mono", round(size), 500)
            room = QRectF(rect.left, rect.top, rect.width - _picture_room(box), rect.height)
            room.adjust(4, 0, -4, 0)
            metrics = QFontMetricsF(font)
            with_value = f"{box.title}  {box.value}"
            has_room = bool(box.value) and metrics.horizontalAdvance(with_value) <= room.width()
            words = with_value if has_room else box.title
            text = metrics.elidedText(words, Qt.TextElideMode.ElideRight, room.width())
            is_quiet = box.is_pale or box.is_dashed or box.shape == "chip"
            painter.setFont(font)
            painter.setPen(QColor(self.theme.text_muted if is_quiet else self.theme.text))
            painter.drawText(room, Qt.AlignmentFlag.AlignCenter, text)

    def _look_around(self, sight: Rect) -> None:
        """Long wires are cut to a region around what is in sight, and again when it is left."""
        around = self._around
        is_within = (
            around.left <= sight.left
            and around.right >= sight.right
            and around.top <= sight.top
            and around.bottom >= sight.bottom
        )
        if not is_within or around.width > 4 * sight.width:
            self._around = Rect(sight.x, sight.y, 1.5 * sight.width, 1.5 * sight.height)
            for key in self._long:
                self._kept.pop(key, None)
            self._long.clear()

    def _compile(self, kind: str, shape: Shape) -> Drawn:
        group = self._group(kind, shape)
        if kind == "wire" and isinstance(shape, Wire) and is_long(shape, self._around):
            self._long.add((kind, shape.edge))
            group = cut_group(group, self._around)
        return compile_group(group)

    def _group(self, kind: str, shape: Shape) -> PrimitiveGroup:
        if isinstance(shape, FrameBox):
            return (header_group if kind == "header" else frame_group)(shape, self.theme)
        if isinstance(shape, Box):
            return box_group(shape, self.theme)
        if isinstance(shape, Change):
            return change_group(shape, self.theme)
        if isinstance(shape, Mark):
            return mark_group(shape, self.theme)
        return (label_group if kind == "label" else wire_group)(shape, self.theme)


def _picture_room(box: Box) -> float:
    """The width of the picture on the right of a box, border included, px."""
    picture = box.gradient_picture or box.picture
    if picture is None:
        return 0.0
    rows, columns = len(picture.rows), len(picture.rows[0])
    return cell_size(rows, columns) * columns + PADDING[box.shape]


def compile_group(group: PrimitiveGroup) -> Drawn:
    """A group as objects of Qt, ready to be drawn many times."""
    made: list[DrawnPath | DrawnText] = []
    for primitive in group.primitives:
        if isinstance(primitive, Path):
            pen, brush = pen_of(primitive.style), brush_of(primitive.style)
            outline = painter_path(primitive.outline)
            made.append(DrawnPath(outline, pen, brush, primitive.role == "plate"))
        else:
            made.append(_compile_text(primitive))
    return tuple(made)


def pen_of(style: Style) -> QPen:
    if style.stroke is None:
        return QPen(Qt.PenStyle.NoPen)
    pen = QPen(QColor(style.stroke), style.width)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    if style.dash:
        pen.setDashPattern([length / style.width for length in style.dash])
        if style.dash[0] < 0.1:
            pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    return pen


def brush_of(style: Style) -> QBrush:
    return QBrush(QColor(style.fill)) if style.fill is not None else QBrush()


def _compile_text(run: TextRun) -> DrawnText:
    font = qfont(run.font, run.size, run.weight)
    wide = QFontMetricsF(font).horizontalAdvance(run.text) if run.anchor != "start" else 0.0
    shift = {"start": 0.0, "middle": wide / 2, "end": wide}[run.anchor]
    return DrawnText(QPointF(run.x - shift, run.y), run.text, font, QColor(run.colour))


def draw(painter: QPainter, drawn: Iterable[DrawnPath | DrawnText], has_text: bool) -> None:
    for part in drawn:
        if isinstance(part, DrawnPath):
            if part.is_plate and not has_text:
                continue
            painter.setPen(part.pen)
            painter.setBrush(part.brush)
            painter.drawPath(part.path)
        elif has_text:
            painter.setPen(part.colour)
            painter.setFont(part.font)
            painter.drawText(part.origin, part.text)
