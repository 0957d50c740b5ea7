"""Font files in, ``resources/fonts/metrics.json`` out: run it when the fonts change.

``python -m tests.scene.measure_fonts [SANS.ttf MONO.ttf]``; without arguments those in
``resources/fonts``. Qt measures; the table lets the scene do without Qt.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

FONTS = Path(__file__).resolve().parents[2] / "resources" / "fonts"
UNITS = 1000
FALLBACKS = {
    "sans": ["Inter", "Segoe UI", "Helvetica Neue", "Arial", "DejaVu Sans", "sans-serif"],
    "mono": [
        "JetBrains Mono",
        "Cascadia Mono",
        "Menlo",
        "Consolas",
        "DejaVu Sans Mono",
        "monospace",
    ],
}
RANGES = (
    (0x20, 0x7F),
    (0xA0, 0x180),
    (0x2B0, 0x2E0),
    (0x370, 0x400),
    (0x400, 0x460),
    (0x1E00, 0x1E60),
    (0x2010, 0x2040),
    (0x2070, 0x20A0),
    (0x20A0, 0x20C0),
    (0x2100, 0x2150),
    (0x2190, 0x2200),
    (0x2200, 0x2300),
    (0x25A0, 0x2600),
    (0x2702, 0x2703),
)


def measure(font_file: Path, fallbacks: list[str]) -> dict[str, object]:
    """Advances of every glyph that the font has in `RANGES`, in thousandths of an em."""
    from PySide6.QtGui import QFont, QRawFont

    font = QRawFont(str(font_file), UNITS, QFont.HintingPreference.PreferNoHinting)
    if not font.isValid():
        raise SystemExit(f"no font: {font_file}")
    advances: dict[str, int] = {}
    for start, end in RANGES:
        for code in range(start, end):
            glyphs = font.glyphIndexesForString(chr(code))
            if glyphs and glyphs[0]:
                advances[chr(code)] = round(font.advancesForGlyphIndexes(glyphs)[0].x())
    usual = max(set(advances.values()), key=list(advances.values()).count)
    family = font.familyName()
    return {
        "families": [family, *(name for name in fallbacks if name != family)],
        "descent": round(font.descent()),
        "cap_height": round(font.capHeight()),
        "usual": usual,
        "known": "".join(char for char, width in advances.items() if width == usual),
        "advances": {char: width for char, width in advances.items() if width != usual},
    }


def main(arguments: list[str]) -> None:
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtGui import QGuiApplication

    application = QGuiApplication([])
    files = [Path(name) for name in arguments] or [
        next(FONTS.glob("Inter-Regular.ttf")),
        next(FONTS.glob("JetBrainsMono-Regular.ttf")),
    ]
    table = {
        face: measure(file, FALLBACKS[face])
        for face, file in zip(("sans", "mono"), files, strict=True)
    }
    faces = (f"{json.dumps(face)}: {json.dumps(data)}" for face, data in table.items())
    text = "{" + ",\n ".join(faces) + "}"
    (FONTS / "metrics.json").write_text(text + "\n", encoding="utf-8")
    application.quit()


if __name__ == "__main__":
    main(sys.argv[1:])
