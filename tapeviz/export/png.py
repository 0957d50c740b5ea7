"""Write a drawing as a PNG file."""

from __future__ import annotations

import math
from collections.abc import Callable

from PySide6.QtCore import QBuffer, QIODevice, Qt
from PySide6.QtGui import QColor, QImage, QPainter

from ..errors import TapevizError
from ..layout.model import Rect
from ..paint.fonts import need_application
from ..paint.painting import Painted, paint_sheet, prepare
from ..scene.primitives import PrimitiveGroup
from ..scene.sheet import Sheet
from .drawing import Drawing, Options, sheet_of

_MOST_PIXELS = 200_000_000
_LONGEST_SIDE = 32_767
_INCH = 0.0254
_DPI = 96.0


def write(drawing: Drawing, options: Options) -> bytes:
    """Raises :class:`TapevizError` for more than 200 megapixels or a side above 32,767 px."""
    sheet = sheet_of(drawing, options)
    image = paint_image(drawing, sheet, options, sheet.bounds)
    dots = round(_DPI * options.scale / _INCH)
    image.setDotsPerMeterX(dots)
    image.setDotsPerMeterY(dots)
    image.setText("Title", drawing.scene.title)
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    if not image.save(buffer, "PNG"):  # type: ignore[call-overload]
        raise TapevizError("not enough memory to write the picture as PNG: use a smaller scale")
    return bytes(buffer.data().data())


def paint_image(
    drawing: Drawing,
    sheet: Sheet,
    options: Options,
    bounds: Rect,
    make: Callable[[PrimitiveGroup], Painted] = prepare,
) -> QImage:
    """The part of the sheet within ``bounds`` (scene units), ``options.scale`` pixels for each px.
    ``make``: prepares a group.

    The image has ``Format_RGB32``, or ``Format_ARGB32_Premultiplied`` if transparent.
    """
    need_application()
    width = math.ceil(bounds.width * options.scale)
    height = math.ceil(bounds.height * options.scale)
    _check_size(width, height, options.scale)
    image = QImage(width, height, QImage.Format.Format_ARGB32_Premultiplied)
    if image.isNull():
        raise TapevizError(f"not enough memory for a picture of {width}×{height} pixels")
    clear = Qt.GlobalColor.transparent
    image.fill(clear if options.is_transparent else QColor(drawing.theme.background))
    painter = QPainter(image)
    try:
        painter.scale(options.scale, options.scale)
        painter.translate(-bounds.left, -bounds.top)
        ground = None if options.is_transparent else drawing.theme.background
        paint_sheet(painter, sheet, ground, make)
    finally:
        painter.end()
    if not options.is_transparent:
        image = image.convertToFormat(QImage.Format.Format_RGB32)
    return image


def _check_size(width: int, height: int, scale: float) -> None:
    if width * height <= _MOST_PIXELS and max(width, height) <= _LONGEST_SIDE:
        return
    fitting = min(
        scale * math.sqrt(_MOST_PIXELS / (width * height)),
        scale * _LONGEST_SIDE / max(width, height),
    )
    raise TapevizError(
        f"a picture of {width:,}×{height:,} pixels is too large: use a scale of at most "
        f"{math.floor(fitting * 100) / 100:g}, or write svg or pdf"
    )
