"""Icons: small shapes on a grid of 16, in any colour."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPen, QPixmap, QPolygonF

GRID = 16
Point = tuple[float, float]
Drawer = Callable[[QPainter], object]


def _line(*points: Point) -> Drawer:
    shape = QPolygonF([QPointF(*point) for point in points])
    return lambda painter: painter.drawPolyline(shape)


def _outline(*points: Point) -> Drawer:
    shape = QPolygonF([QPointF(*point) for point in points])
    return lambda painter: painter.drawPolygon(shape)


def _filled(*points: Point) -> Drawer:
    def draw(painter: QPainter) -> None:
        painter.save()
        painter.setBrush(painter.pen().color())
        painter.setPen(Qt.PenStyle.NoPen)
        _outline(*points)(painter)
        painter.restore()

    return draw


def _oval(x: float, y: float, width: float, height: float) -> Drawer:
    return lambda painter: painter.drawEllipse(QRectF(x, y, width, height))


_MINUS = _line((3.5, 8), (12.5, 8))
_PLAY = _filled((4, 3), (13, 8), (4, 13))

ICONS: dict[str, tuple[Drawer, ...]] = {
    "play": (_PLAY,),
    "play-outline": (_outline((4.5, 3), (12.5, 8), (4.5, 13)),),
    "pause": (_line((5.5, 4), (5.5, 12)), _line((10.5, 4), (10.5, 12))),
    "stop": (lambda painter: painter.drawRoundedRect(QRectF(4, 4, 8, 8), 1.5, 1.5),),
    "first": (_filled((13, 3), (5, 8), (13, 13)), _line((3, 3.5), (3, 12.5))),
    "back": (_filled((12, 3), (4, 8), (12, 13)),),
    "forward": (_PLAY,),
    "last": (_filled((3, 3), (11, 8), (3, 13)), _line((13, 3.5), (13, 12.5))),
    "target": (
        _oval(4.5, 4.5, 7, 7),
        *(_line((8, 8 + 3.5 * side), (8, 8 + 6 * side)) for side in (-1, 1)),
        *(_line((8 + 3.5 * side, 8), (8 + 6 * side, 8)) for side in (-1, 1)),
    ),
    "fit": tuple(
        _line((8 + 2 * x, 8 + 5.5 * y), (8 + 5.5 * x, 8 + 5.5 * y), (8 + 5.5 * x, 8 + 2 * y))
        for x in (-1, 1)
        for y in (-1, 1)
    ),
    "plus": (_line((8, 3.5), (8, 12.5)), _MINUS),
    "minus": (_MINUS,),
    "close": (_line((4.5, 4.5), (11.5, 11.5)), _line((4.5, 11.5), (11.5, 4.5))),
    "check": (_line((3, 8.5), (6.5, 12), (13, 4.5)),),
    "scissors": (
        *(_oval(2.3, y, 3.8, 3.8) for y in (2.7, 9.5)),
        _line((5.8, 5.7), (13.5, 11)),
        _line((5.8, 10.3), (13.5, 5)),
    ),
    "zero": (_oval(4.5, 3, 7, 10),),
    "warning": (
        _outline((8, 2.5), (14, 13), (2, 13)),
        _line((8, 6.5), (8, 9.2)),
        lambda painter: painter.drawPoint(QPointF(8, 11.2)),
    ),
    "none": (_oval(2.8, 2.8, 10.4, 10.4), _line((4.6, 11.4), (11.4, 4.6))),
    "left": (_line((10, 4), (6, 8), (10, 12)),),
    "right": (_line((6, 4), (10, 8), (6, 12)),),
    "chevron": (_line((4.5, 6.5), (8, 10), (11.5, 6.5)),),
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
    for draw in ICONS[name]:
        draw(painter)
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
