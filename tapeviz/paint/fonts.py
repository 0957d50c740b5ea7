"""The bundled fonts, known to Qt, and a QFont for each face of the scene."""

from __future__ import annotations

import os
import sys
from functools import cache

from PySide6.QtGui import QFont, QFontDatabase, QGuiApplication

from ..files.resources import resource
from ..scene.text import FACES, Font

_made: list[QGuiApplication] = []


def need_application() -> None:
    """Make a QGuiApplication that needs no screen, if there is none: fonts need one."""
    if QGuiApplication.instance() is None:
        if sys.platform.startswith("linux") and not os.environ.get("QT_QPA_PLATFORM"):
            os.environ["QT_QPA_PLATFORM"] = "offscreen"  # set to "", Qt wants a display
        _made.append(QGuiApplication(["tapeviz"]))
    load_fonts()


@cache
def load_fonts() -> None:
    """Make the bundled fonts known to Qt, once."""
    for file in sorted(resource("fonts").glob("*.ttf")):
        QFontDatabase.addApplicationFont(str(file))


def qfont(face: Font, size: float, weight: int) -> QFont:
    """A font of ``size`` px, without hinting and kerning: its glyphs have the measured width at
    every scale."""
    font = QFont()
    font.setFamilies(list(FACES[face].families))
    font.setPixelSize(round(size))
    font.setWeight(QFont.Weight(weight))
    font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    font.setKerning(False)
    if face == "mono":
        font.setStyleHint(QFont.StyleHint.Monospace)
    return font
