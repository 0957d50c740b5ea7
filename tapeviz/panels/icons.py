"""Icons: small shapes on a grid of 16, in any colour."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPen, QPixmap, QPolygonF

GRID = 16
Drawer = Callable[[QPainter], None]


def _triangle(left: float, right: float) -> QPolygonF:
    """Points from ``left`` to ``right``; to the left when that is the smaller."""
    return QPolygonF([QPointF(left, 3), QPointF(right, 8), QPointF(left, 13)])


def _filled(painter: QPainter, *polygons: QPolygonF) -> None:
    painter.save()
    painter.setBrush(painter.pen().color())
    painter.setPen(Qt.PenStyle.NoPen)
    for polygon in polygons:
        painter.drawPolygon(polygon)
    painter.restore()


def _play(painter: QPainter) -> None:
    _filled(painter, _triangle(4, 13))


def _play_outline(painter: QPainter) -> None:
    painter.drawPolygon(_triangle(4.5, 12.5))


def _pause(painter: QPainter) -> None:
    painter.drawLine(QPointF(5.5, 4), QPointF(5.5, 12))
    painter.drawLine(QPointF(10.5, 4), QPointF(10.5, 12))


def _stop(painter: QPainter) -> None:
    painter.drawRoundedRect(QRectF(4, 4, 8, 8), 1.5, 1.5)


def _back(painter: QPainter) -> None:
    _filled(painter, _triangle(12, 4))


def _first(painter: QPainter) -> None:
    _filled(painter, _triangle(13, 5))
    painter.drawLine(QPointF(3, 3.5), QPointF(3, 12.5))


def _last(painter: QPainter) -> None:
    _filled(painter, _triangle(3, 11))
    painter.drawLine(QPointF(13, 3.5), QPointF(13, 12.5))


def _target(painter: QPainter) -> None:
    painter.drawEllipse(QRectF(4.5, 4.5, 7, 7))
    for x, y in ((0, -1), (0, 1), (-1, 0), (1, 0)):
        painter.drawLine(QPointF(8 + 3.5 * x, 8 + 3.5 * y), QPointF(8 + 6 * x, 8 + 6 * y))


def _fit(painter: QPainter) -> None:
    for x, y in ((2.5, 2.5), (13.5, 2.5), (2.5, 13.5), (13.5, 13.5)):
        inward_x, inward_y = (3.5 if x < 8 else -3.5), (3.5 if y < 8 else -3.5)
        painter.drawPolyline(
            QPolygonF([QPointF(x + inward_x, y), QPointF(x, y), QPointF(x, y + inward_y)])
        )


def _plus(painter: QPainter) -> None:
    painter.drawLine(QPointF(8, 3.5), QPointF(8, 12.5))
    _minus(painter)


def _minus(painter: QPainter) -> None:
    painter.drawLine(QPointF(3.5, 8), QPointF(12.5, 8))


def _close(painter: QPainter) -> None:
    painter.drawLine(QPointF(4.5, 4.5), QPointF(11.5, 11.5))
    painter.drawLine(QPointF(4.5, 11.5), QPointF(11.5, 4.5))


def _check(painter: QPainter) -> None:
    painter.drawPolyline(QPolygonF([QPointF(3, 8.5), QPointF(6.5, 12), QPointF(13, 4.5)]))


def _scissors(painter: QPainter) -> None:
    painter.drawEllipse(QPointF(4.2, 4.6), 1.9, 1.9)
    painter.drawEllipse(QPointF(4.2, 11.4), 1.9, 1.9)
    painter.drawLine(QPointF(5.8, 5.7), QPointF(13.5, 11))
    painter.drawLine(QPointF(5.8, 10.3), QPointF(13.5, 5))


def _zero(painter: QPainter) -> None:
    painter.drawEllipse(QRectF(4.5, 3, 7, 10))


def _warning(painter: QPainter) -> None:
    painter.drawPolygon(QPolygonF([QPointF(8, 2.5), QPointF(14, 13), QPointF(2, 13)]))
    painter.drawLine(QPointF(8, 6.5), QPointF(8, 9.2))
    painter.drawPoint(QPointF(8, 11.2))


def _none(painter: QPainter) -> None:
    painter.drawEllipse(QRectF(2.8, 2.8, 10.4, 10.4))
    painter.drawLine(QPointF(4.6, 11.4), QPointF(11.4, 4.6))


def _left(painter: QPainter) -> None:
    painter.drawPolyline(QPolygonF([QPointF(10, 4), QPointF(6, 8), QPointF(10, 12)]))


def _right(painter: QPainter) -> None:
    painter.drawPolyline(QPolygonF([QPointF(6, 4), QPointF(10, 8), QPointF(6, 12)]))


def _chevron(painter: QPainter) -> None:
    painter.drawPolyline(QPolygonF([QPointF(4.5, 6.5), QPointF(8, 10), QPointF(11.5, 6.5)]))


ICONS: dict[str, Drawer] = {
    "play": _play,
    "play-outline": _play_outline,
    "pause": _pause,
    "stop": _stop,
    "first": _first,
    "back": _back,
    "forward": _play,
    "last": _last,
    "target": _target,
    "fit": _fit,
    "plus": _plus,
    "minus": _minus,
    "close": _close,
    "check": _check,
    "scissors": _scissors,
    "zero": _zero,
    "warning": _warning,
    "none": _none,
    "left": _left,
    "right": _right,
    "chevron": _chevron,
}


def paint_icon(painter: QPainter, name: str, rect: QRectF, colour: str, width: float = 1.5) -> None:
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.translate(rect.topLeft())
    painter.scale(rect.width() / GRID, rect.height() / GRID)
    pen = QPen(QColor(colour), width)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    painter.setPen(pen)
    ICONS[name](painter)
    painter.restore()


def make_icon(name: str, colour: str, disabled: str = "", size: int = 16) -> QIcon:
    """An icon, sharp up to a device pixel ratio of 3; ``disabled``: the colour if disabled."""
    icon = QIcon()
    for scale in (1, 2, 3):
        icon.addPixmap(make_pixmap(name, colour, size, scale))
        if disabled:
            pixmap = make_pixmap(name, disabled, size, scale)
            icon.addPixmap(pixmap, QIcon.Mode.Disabled)
    return icon


def make_pixmap(name: str, colour: str, size: int, scale: float) -> QPixmap:
    pixmap = QPixmap(round(size * scale), round(size * scale))
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    paint_icon(painter, name, QRectF(0, 0, pixmap.width(), pixmap.height()), colour)
    painter.end()
    pixmap.setDevicePixelRatio(scale)
    return pixmap
