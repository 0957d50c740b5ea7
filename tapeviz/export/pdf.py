"""Write a drawing as a PDF page of its size; text stays text, fonts are embedded."""

from __future__ import annotations

from PySide6.QtCore import QBuffer, QIODevice, QMarginsF, QSizeF
from PySide6.QtGui import QPageLayout, QPageSize, QPainter, QPdfWriter

from ..errors import TapevizError
from ..paint.fonts import need_application
from ..paint.painting import paint_sheet
from .drawing import Drawing, Options, sheet_of

_POINTS = 0.75
"""Points of 1/72 inch for each px of 1/96 inch."""
_LONGEST_SIDE = 14_400.0
"""Points; the limit of PDF viewers (ISO 32000-1, annex C). Larger drawings are scaled down."""
_RESOLUTION = 1200


def write(drawing: Drawing, options: Options) -> bytes:
    need_application()
    sheet = sheet_of(drawing, options)
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    scale = _POINTS * options.scale
    scale *= min(1.0, _LONGEST_SIDE / (scale * max(sheet.bounds.width, sheet.bounds.height)))
    size = QSizeF(sheet.bounds.width * scale, sheet.bounds.height * scale)
    writer = QPdfWriter(buffer)
    writer.setResolution(_RESOLUTION)
    writer.setTitle(drawing.scene.title or "Graph")
    writer.setCreator("tapeviz")
    page = QPageSize(size, QPageSize.Unit.Point, "", QPageSize.SizeMatchPolicy.ExactMatch)
    writer.setPageLayout(
        QPageLayout(page, QPageLayout.Orientation.Portrait, QMarginsF(0.0, 0.0, 0.0, 0.0))
    )
    painter = QPainter()
    if not painter.begin(writer):
        raise TapevizError("not enough memory to write the picture as PDF")
    try:
        painter.scale(scale * _RESOLUTION / 72, scale * _RESOLUTION / 72)
        painter.translate(-sheet.bounds.left, -sheet.bounds.top)
        paint_sheet(painter, sheet, None if options.is_transparent else drawing.theme.background)
    finally:
        painter.end()
    return bytes(buffer.data().data())
