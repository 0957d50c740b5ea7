"""Paint groups of primitives; pens and brushes are made here alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetricsF, QPainter, QPainterPath, QPen

from ..scene.primitives import Outline, Path, PrimitiveGroup, Style, TextRun
from ..scene.sheet import Sheet
from ..scene.text import text_width
from .fonts import qfont

_NOTICEABLE = 0.97
"""A text whose squeeze is above this is drawn unsqueezed."""


@dataclass(frozen=True, slots=True)
class PaintedPath:
    """A path as objects of Qt. ``is_plate``: the ground of words, drawn only with them."""

    path: QPainterPath
    pen: QPen
    brush: QBrush
    is_plate: bool


@dataclass(frozen=True, slots=True)
class PaintedText:
    """A run of text as objects of Qt. ``origin``: the left end of the baseline; ``squeeze``:
    horizontal scale, 1.0 for none."""

    origin: QPointF
    text: str
    font: QFont
    colour: QColor
    squeeze: float


Painted = tuple[PaintedPath | PaintedText, ...]


PLATES = frozenset({"plate", "ring-label-ground"})
"""Roles of paths behind words: they are not painted without the words."""


def prepare(group: PrimitiveGroup) -> Painted:
    """A group as objects of Qt, ready to be painted many times."""
    return tuple(
        PaintedPath(
            painter_path(primitive.outline),
            pen_of(primitive.style),
            QBrush(QColor(primitive.style.fill)) if primitive.style.fill is not None else QBrush(),
            primitive.role in PLATES,
        )
        if isinstance(primitive, Path)
        else _prepare_text(primitive)
        for primitive in group.primitives
    )


def paint(painter: QPainter, parts: Iterable[PaintedPath | PaintedText], has_text: bool) -> None:
    """Paint prepared parts in scene units; without texts and their plates unless ``has_text``."""
    for part in parts:
        if isinstance(part, PaintedPath):
            if has_text or not part.is_plate:
                painter.setPen(part.pen)
                painter.setBrush(part.brush)
                painter.drawPath(part.path)
        elif has_text:
            _paint_text(painter, part)


def paint_sheet(
    painter: QPainter,
    sheet: Sheet,
    ground: str | None,
    make: Callable[[PrimitiveGroup], Painted] = prepare,
) -> None:
    """Paint a whole picture in scene units: the painter's transformation maps them to its device.

    ``ground``: the colour behind the picture, None for none; ``make``: prepares a group.
    """
    smooth(painter)
    bounds = sheet.bounds
    if ground is not None:
        rect = QRectF(bounds.left, bounds.top, bounds.width, bounds.height)
        painter.fillRect(rect.adjusted(-1, -1, 1, 1), QColor(ground))
    for group in sheet.groups:
        paint(painter, make(group), has_text=True)


def smooth(painter: QPainter) -> None:
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setRenderHint(QPainter.RenderHint.TextAntialiasing)


def painter_path(outline: Outline) -> QPainterPath:
    path = QPainterPath()
    points = iter(outline.points)
    for verb in outline.verbs:
        if verb == "M":
            path.moveTo(*next(points))
        elif verb == "L":
            path.lineTo(*next(points))
        elif verb == "C":
            path.cubicTo(*next(points), *next(points), *next(points))
        else:
            path.closeSubpath()
    path.setFillRule(Qt.FillRule.WindingFill)
    return path


def pen_of(style: Style) -> QPen:
    if style.stroke is None:
        return QPen(Qt.PenStyle.NoPen)
    pen = QPen(QColor(style.stroke), style.width)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap if style.is_dotted else Qt.PenCapStyle.FlatCap)
    if style.dash:
        # Qt counts dashes in widths of the pen.
        pen.setDashPattern([length / style.width for length in style.dash])
    return pen


def _prepare_text(run: TextRun) -> PaintedText:
    """A text, squeezed if the font found is wider than the bundled one that sizes are made for."""
    font = qfont(run.font, run.size, run.weight)
    measured = text_width(run.text, run.font, run.size)
    real = QFontMetricsF(font).horizontalAdvance(run.text)
    squeeze = min(1.0, (measured + 1.0) / real) if real > 0 else 1.0
    shift = {"start": 0.0, "middle": 0.5, "end": 1.0}[run.anchor] * real * squeeze
    return PaintedText(
        QPointF(run.x - shift, run.y),
        run.text,
        font,
        QColor(run.colour),
        1.0 if squeeze > _NOTICEABLE else squeeze,
    )


def _paint_text(painter: QPainter, text: PaintedText) -> None:
    painter.setPen(text.colour)
    painter.setFont(text.font)
    if text.squeeze == 1.0:
        painter.drawText(text.origin, text.text)
        return
    painter.save()
    painter.translate(text.origin)
    painter.scale(text.squeeze, 1.0)
    painter.drawText(QPointF(0.0, 0.0), text.text)
    painter.restore()
