"""``resources/icons/tapeviz.svg`` in, ``icons/SIZExSIZE.png`` beside this file out."""

from __future__ import annotations

import os
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

HERE = Path(__file__).resolve().parent
DRAWING = HERE.parents[1] / "resources" / "icons" / "tapeviz.svg"
SIZES = (64, 128, 256, 512)

if __name__ == "__main__":
    application = QGuiApplication([])
    renderer = QSvgRenderer(str(DRAWING))
    for size in SIZES:
        image = QImage(size, size, QImage.Format.Format_ARGB32)
        image.fill(Qt.GlobalColor.transparent)
        painter = QPainter(image)
        renderer.render(painter)
        painter.end()
        if not image.save(str(HERE / "icons" / f"{size}x{size}.png")):
            raise SystemExit(f"could not write the icon of {size} px")
