"""Primitives in, strokes of a QPainter out; the one place where pictures meet Qt."""

from __future__ import annotations

import os
import sys
from functools import cache

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFont,
    QFontDatabase,
    QFontMetricsF,
    QGuiApplication,
    QPainter,
    QPainterPath,
    QPen,
)

from ..resource_files import resource
from ..scene.primitives import Outline, Path, TextRun
from ..scene.sheet import Sheet
from ..scene.text import FACES, Font, text_width

_made: list[QGuiApplication] = []


def need_application() -> None:
    """Fonts need an application: the window's, else one that needs no screen."""
    if QGuiApplication.instance() is None:
        if sys.platform.startswith("linux"):
            os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
        _made.append(QGuiApplication(["tapeviz"]))
    load_fonts()


@cache
def load_fonts() -> None:
    """Makes the bundled fonts known to Qt, once."""
    for file in sorted(resource("fonts").glob("*.ttf")):
        QFontDatabase.addApplicationFont(str(file))


def paint(painter: QPainter, sheet: Sheet, ground: str | None) -> None:
    """Paints in scene units: the painter's transformation maps them to its device."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setRenderHint(QPainter.RenderHint.TextAntialiasing)
    bounds = sheet.bounds
    if ground is not None:
        rect = QRectF(bounds.left, bounds.top, bounds.width, bounds.height)
        painter.fillRect(rect.adjusted(-1, -1, 1, 1), QColor(ground))
    for group in sheet.groups:
        for primitive in group.primitives:
            if isinstance(primitive, Path):
                _paint_path(painter, primitive)
            else:
                _paint_text(painter, primitive)


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


def _paint_path(painter: QPainter, path: Path) -> None:
    style = path.style
    fill = QBrush(QColor(style.fill)) if style.fill else QBrush(Qt.BrushStyle.NoBrush)
    painter.setBrush(fill)
    painter.setPen(_pen(path) if style.stroke else QPen(Qt.PenStyle.NoPen))
    painter.drawPath(painter_path(path.outline))


def _pen(path: Path) -> QPen:
    style = path.style
    pen = QPen(QColor(style.stroke or "#000000"), style.width)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    if style.dash:
        # Qt counts dashes in widths of the pen.
        pen.setDashPattern([length / style.width for length in style.dash])
        if style.dash[0] < 1:
            pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    return pen


def _paint_text(painter: QPainter, run: TextRun) -> None:
    font = qfont(run.font, run.size, run.weight)
    painter.setFont(font)
    painter.setPen(QColor(run.colour))
    width = text_width(run.text, run.font, run.size)
    real = _metrics(run.font, run.size, run.weight, painter).horizontalAdvance(run.text)
    shrink = min(1.0, (width + 1.0) / real) if real > 0 else 1.0
    shift = {"start": 0.0, "middle": 0.5, "end": 1.0}[run.anchor] * real * shrink
    if shrink > 0.97:
        painter.drawText(QPointF(run.x - shift, run.y), run.text)
        return
    # Another font than the measured one is squeezed into the room that was made for the text.
    painter.save()
    painter.translate(run.x - shift, run.y)
    painter.scale(shrink, 1.0)
    painter.drawText(QPointF(0.0, 0.0), run.text)
    painter.restore()


def qfont(face: Font, size: float, weight: int) -> QFont:
    """A font whose glyphs are as wide at every scale as they were measured."""
    font = QFont()
    font.setFamilies(list(FACES[face].families))
    font.setPixelSize(round(size))
    font.setWeight(QFont.Weight(weight))
    font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    font.setKerning(False)
    if face == "mono":
        font.setStyleHint(QFont.StyleHint.Monospace)
    return font


def _metrics(face: Font, size: float, weight: int, painter: QPainter) -> QFontMetricsF:
    return QFontMetricsF(qfont(face, size, weight), painter.device())
