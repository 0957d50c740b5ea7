"""Web fonts in, the subsets in ``resources/fonts`` out.

Needs fontTools and Brotli, and two npm packages unpacked: inter-ui 4.1.1 and jetbrains-mono 1.0.6.

    npm pack inter-ui@4.1.1 jetbrains-mono@1.0.6
    python packaging/fonts/make_fonts.py INTER_UI_FOLDER JETBRAINS_MONO_FOLDER

Afterwards: ``python -m tests.scene.measure_fonts``, so that the scene knows the new widths.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

from fontTools.pens.recordingPen import DecomposingRecordingPen
from fontTools.pens.transformPen import TransformPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont

FONTS = Path(__file__).resolve().parents[2] / "resources" / "fonts"

RANGES = (
    (0x20, 0x17F),  # Latin
    (0x2B0, 0x2FF),  # modifier letters
    (0x300, 0x36F),  # combining marks
    (0x370, 0x3FF),  # Greek
    (0x400, 0x45F),  # Cyrillic
    (0x1E00, 0x1EFF),  # Latin with marks: ḡ
    (0x2010, 0x205F),  # dashes, quotes, primes
    (0x2070, 0x20BF),  # superscripts, subscripts, currency
    (0x2100, 0x214F),  # letterlike
    (0x2190, 0x21FF),  # arrows
    (0x2200, 0x22FF),  # mathematics
    (0x2300, 0x23FF),  # keys
    (0x2500, 0x25FF),  # boxes, shapes
    (0x2713, 0x2718),  # ticks and crosses
)
# Ligatures (calt, liga) are left out: code is shown as it was typed.
FEATURES = ["kern", "mark", "mkmk", "ccmp", "locl", "tnum", "zero", "case"]


class Piece(NamedTuple):
    """A glyph of the font, scaled about its middle and baseline, then moved (in em)."""

    char: str
    x_scale: float = 1.0
    y_scale: float = 1.0
    right: float = 0.0
    up: float = 0.0


# What formulas need and a font may lack, put together from what it has.
DERIVED = {
    "ᵀ": [Piece("T", 0.62, 0.62, up=0.33)],
    "⁻": [Piece("−", 0.62, 0.62, up=0.37)],
    "∇": [Piece("Δ", y_scale=-1.0, up=0.73)],  # 0.73: the height of a capital in both fonts
    "‖": [Piece("|", right=-0.1), Piece("|", right=0.1)],
    "ḡ": [Piece("g"), Piece("¯")],
}
NARROW = "ᵀ⁻"  # where the width is free, theirs shrinks with the glyph


def add_derived(font: TTFont, char: str) -> None:
    """Give ``font`` a glyph for ``char``, unless it has one, as `DERIVED` says."""
    glyphs, names, em = font.getGlyphSet(), font.getBestCmap(), font["head"].unitsPerEm
    pieces = DERIVED[char]
    if ord(char) in names or any(ord(piece.char) not in names for piece in pieces):
        return
    first = glyphs[names[ord(pieces[0].char)]].width
    shrinks = char in NARROW and not font["post"].isFixedPitch
    width = round(first * pieces[0].x_scale) if shrinks else first
    pen = TTGlyphPen(None)
    for piece in pieces:
        glyph = glyphs[names[ord(piece.char)]]
        outline = DecomposingRecordingPen(glyphs)
        glyph.draw(outline)
        # A mirrored outline turns the other way round; nonzero winding fills it all the same.
        shift = (width - glyph.width * piece.x_scale) / 2 + piece.right * em
        outline.replay(
            TransformPen(pen, (piece.x_scale, 0, 0, piece.y_scale, shift, piece.up * em))
        )
    drawn = pen.glyph()
    drawn.recalcBounds(font["glyf"])
    name = f"uni{ord(char):04X}"
    font["glyf"][name] = drawn  # which appends the name to the font's glyph order
    font["hmtx"][name] = (width, drawn.xMin)
    for table in font["cmap"].tables:
        if table.isUnicode():
            table.cmap[ord(char)] = name


def make(source: Path, target: Path) -> None:
    """The subset of ``source`` as TrueType in ``target``."""
    font = TTFont(source)
    font.flavor = None
    for char in DERIVED:
        add_derived(font, char)
    options = Options(layout_features=FEATURES, name_IDs=["*"], notdef_outline=True, hinting=False)
    subsetter = Subsetter(options)
    subsetter.populate(
        unicodes=[
            *(code for start, end in RANGES for code in range(start, end + 1)),
            *map(ord, DERIVED),
        ]
    )
    subsetter.subset(font)
    font.save(target)
    print(
        target.name, f"{target.stat().st_size // 1000} kB,", len(font.getBestCmap()), "characters"
    )


def main(inter: Path, jetbrains: Path) -> None:
    for weight in ("Regular", "Medium", "SemiBold"):
        make(inter / "web" / f"Inter-{weight}.woff2", FONTS / f"Inter-{weight}.ttf")
    for weight in ("Regular", "SemiBold"):
        name = f"JetBrainsMono-{weight}"
        make(jetbrains / "fonts" / "webfonts" / f"{name}.woff2", FONTS / f"{name}.ttf")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
