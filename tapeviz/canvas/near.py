"""Paint the near band of a scene, with every detail."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from operator import attrgetter
from typing import Any

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter

from ..layout.model import Rect
from ..paint.fonts import qfont
from ..paint.painting import Painted, paint, prepare, smooth
from ..scene.model import Box, Wire
from ..scene.sizes import PADDING, cell_size
from ..scene.strokes import DrawnShape, Layer, drawing_order, group_of
from ..scene.theme import Theme
from .long_wires import cut_group, is_long
from .prepared import Ints, Prepared

LEAST_TEXT = 0.52
"""Below this scale only titles are drawn, as large as they fit: other words cannot be read."""
LEAST_TITLE = 0.12
TITLE_PX = 8.5
"""The height of such titles on the screen, if it fits into the box."""
KEPT = 6_000
WORDS: frozenset[Layer] = frozenset({"header", "label"})
"""Layers that hold only words."""
STROKES: frozenset[Layer] = frozenset({"margin", "wire"})
"""Layers of lines, which are cut where they are long."""
NAMES: dict[Layer, Callable[[Any], object]] = {
    "frame": attrgetter("path"),
    "margin": attrgetter("edge"),
    "wire": attrgetter("edge"),
    "header": attrgetter("path"),
    "box": attrgetter("node"),
    "label": attrgetter("edge"),
    "mark": attrgetter("edge", "kind"),
    "outline": attrgetter("node"),
    "change": attrgetter("node"),
}
"""The key of a shape within its layer, the same from one scene to the next."""


class NearPainter:
    """Paints the shapes in sight; keeps the paths of a shape for as long as it is the same."""

    def __init__(self, theme: Theme) -> None:
        self.theme = theme
        self._kept: dict[tuple[Layer, object], tuple[DrawnShape, Painted]] = {}
        self._long: set[tuple[Layer, object]] = set()
        self._around = Rect(0.0, 0.0, 0.0, 0.0)
        self._fonts: dict[int, tuple[QFont, QFontMetricsF]] = {}

    def paint(
        self, painter: QPainter, prepared: Prepared, boxes: Ints, wires: Ints, sight: Rect
    ) -> None:
        """Paint everything but the headings, back to front; the painter is in scene units."""
        smooth(painter)
        self._look_around(sight)
        scale = painter.worldTransform().m11()
        has_text = scale >= LEAST_TEXT
        scene = prepared.scene
        seen = replace(
            scene,
            wires=tuple(scene.wires[i] for i in wires.tolist()),
            boxes=tuple(scene.boxes[i] for i in boxes.tolist()),
            headings=(),
        )
        for layer, shape in drawing_order(seen):
            if has_text or layer not in WORDS:
                paint(painter, self._prepared(layer, shape), has_text)
            if isinstance(shape, Box) and not has_text and scale >= LEAST_TITLE:
                self._paint_title(painter, shape, scale)

    def _prepared(self, layer: Layer, shape: DrawnShape) -> Painted:
        key = layer, NAMES[layer](shape)
        known = self._kept.get(key)
        if known is not None and (known[0] is shape or known[0] == shape):
            return known[1]
        if len(self._kept) > KEPT:
            self._kept.clear()
        group = group_of(layer, shape, self.theme)
        if layer in STROKES and isinstance(shape, Wire) and is_long(shape, self._around):
            self._long.add(key)
            group = cut_group(group, self._around)
        painted = prepare(group)
        self._kept[key] = shape, painted
        return painted

    def _paint_title(self, painter: QPainter, box: Box, scale: float) -> None:
        rect = box.rect
        size = min(TITLE_PX / scale, rect.height * 0.62)
        font, metrics = self._title_font(round(size))
        room = QRectF(rect.left, rect.top, rect.width - _picture_room(box), rect.height)
        room.adjust(4, 0, -4, 0)
        with_value = f"{box.title}  {box.value}"
        has_room = bool(box.value) and metrics.horizontalAdvance(with_value) <= room.width()
        words = with_value if has_room else box.title
        text = metrics.elidedText(words, Qt.TextElideMode.ElideRight, room.width())
        is_quiet = box.is_pale or box.is_dashed or box.shape == "chip"
        painter.setFont(font)
        painter.setPen(QColor(self.theme.text_muted if is_quiet else self.theme.text))
        painter.drawText(room, Qt.AlignmentFlag.AlignCenter, text)

    def _title_font(self, size: int) -> tuple[QFont, QFontMetricsF]:
        """Font and metrics of titles, kept: making them took a quarter of a frame's time."""
        known = self._fonts.get(size)
        if known is None:
            font = qfont("mono", size, 500)
            known = self._fonts[size] = font, QFontMetricsF(font)
        return known

    def _look_around(self, sight: Rect) -> None:
        """Choose the region that long wires are cut to, and drop the wires that were cut to another
        one."""
        if not self._around.contains(sight) or self._around.width > 4 * sight.width:
            self._around = Rect(sight.x, sight.y, 1.5 * sight.width, 1.5 * sight.height)
            for key in self._long:
                self._kept.pop(key, None)
            self._long.clear()


def _picture_room(box: Box) -> float:
    """Px that the picture on the right of a box takes, with the padding."""
    picture = box.gradient_picture or box.picture
    if picture is None:
        return 0.0
    rows, columns = len(picture.rows), len(picture.rows[0])
    return cell_size(rows, columns) * columns + PADDING[box.shape]
