from __future__ import annotations

import re
import shutil
import subprocess
import zlib
from collections import Counter
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFontMetricsF, QImage

from tapeviz.errors import TapevizError
from tapeviz.export import render, write_picture
from tapeviz.paint.fonts import need_application, qfont
from tapeviz.scene.model import Overlay
from tapeviz.scene.sheet import lay_sheet
from tapeviz.scene.text import Font, text_width
from tapeviz.scene.theme import THEMES

from .drawn import drawing, hostile_drawing, wide_drawing

needs_poppler = pytest.mark.skipif(shutil.which("pdftotext") is None, reason="no pdftotext")


def image(data: bytes) -> QImage:
    made = QImage.fromData(data, "PNG")  # type: ignore[arg-type]
    assert not made.isNull()
    return made


@pytest.mark.parametrize("scale", [0.5, 1.0, 2.0])
def test_png_has_the_size_of_the_sheet(scale: float) -> None:
    made, bounds = drawing(), lay_sheet(drawing().scene, THEMES["light"]).bounds
    picture = image(render(made, "png", scale=scale))
    assert abs(picture.width() - bounds.width * scale) < 1
    assert abs(picture.height() - bounds.height * scale) < 1


@pytest.mark.parametrize("theme", THEMES)
def test_png_shows_the_colours_of_its_theme(theme: str) -> None:
    picture, colours = image(render(drawing(theme), "png")), THEMES[theme]
    counted = Counter(
        picture.pixelColor(x, y).name()
        for x in range(picture.width())
        for y in range(picture.height())
    )
    assert counted.most_common(1)[0][0] == colours.background
    for colour in (colours.variable_fill, colours.gradient, colours.trouble, colours.accent):
        assert counted[colour] > 20, colour
    assert len(counted) > 100


def test_png_twice_as_large_is_the_same_picture() -> None:
    """Glyphs keep their proportions: fonts are neither hinted nor rounded at a scale of 1."""
    plain, four = image(render(drawing(), "png")), image(render(drawing(), "png", scale=4))
    smooth = Qt.TransformationMode.SmoothTransformation
    shrunk = four.scaled(plain.size(), Qt.AspectRatioMode.IgnoreAspectRatio, smooth)
    points = [(x, y) for x in range(plain.width()) for y in range(plain.height())]
    off = [
        abs(plain.pixelColor(x, y).lightness() - shrunk.pixelColor(x, y).lightness())
        for x, y in points
    ]
    assert sum(off) / len(off) < 1.5
    assert sum(difference > 90 for difference in off) / len(off) < 0.002


def test_png_can_be_transparent() -> None:
    clear = image(render(drawing(), "png", transparent=True))
    assert clear.pixelColor(1, 1).alpha() == 0
    assert not image(render(drawing(), "png")).hasAlphaChannel()


def test_a_picture_beyond_all_screens_is_refused_with_a_scale_that_fits() -> None:
    with pytest.raises(TapevizError, match=r"scale of at most 0\.\d+") as caught:
        render(wide_drawing(120_000), "png")
    scale = float(re.findall(r"at most ([\d.]+)", str(caught.value))[0])
    assert render(wide_drawing(120_000), "png", scale=scale)


def test_hostile_names_are_painted() -> None:
    assert image(render(hostile_drawing(), "png")).height() > 900


def test_an_empty_scene_is_a_picture_too() -> None:
    assert image(render(wide_drawing(0), "png")).width() > 100
    for suffix in ("svg", "pdf", "dot", "json", "graphml", "html"):
        assert render(wide_drawing(0), suffix)


@needs_poppler
def test_pdf_text_is_text(tmp_path: Path) -> None:
    write_picture(drawing(overlay=Overlay(step=4)), tmp_path / "a.pdf")
    done = subprocess.run(
        ["pdftotext", "-layout", tmp_path / "a.pdf", "-"], capture_output=True, check=True
    )
    found = done.stdout.decode()
    for words in ("patch", "Variable · 2×2", "Transpose", "2709.0", "source · None", "gradient"):
        assert words in found


def media_box(data: bytes) -> tuple[float, float]:
    text = data.decode("latin-1")
    for stream in re.findall(r"stream\r?\n(.*?)endstream", text, re.S):
        try:
            text += zlib.decompress(stream.encode("latin-1")).decode("latin-1")
        except zlib.error:
            continue
    found = re.search(r"/MediaBox \[\s*0 0 ([\d.]+) ([\d.]+)", text)
    assert found is not None
    return float(found[1]), float(found[2])


def test_pdf_page_is_as_large_as_the_picture() -> None:
    bounds = lay_sheet(drawing().scene, THEMES["light"]).bounds
    width, height = media_box(render(drawing(), "pdf"))
    assert width == pytest.approx(bounds.width * 0.75, abs=1)
    assert height == pytest.approx(bounds.height * 0.75, abs=1)


def test_pdf_stays_within_what_viewers_can_show() -> None:
    width, _ = media_box(render(wide_drawing(120_000), "pdf"))
    assert width == pytest.approx(14_400, abs=1)


def test_colours_of_the_theme_are_colours_to_qt() -> None:
    for theme in THEMES.values():
        assert QColor(theme.gradient).isValid()


@pytest.mark.parametrize(
    "text", ["x[:2,:2] ← patch", "Variable · 2×3", "norm 36.8", "∂o/∂x′", "Größe"]
)
@pytest.mark.parametrize("font", ["sans", "mono"])
def test_text_is_as_wide_as_it_was_measured(text: str, font: Font) -> None:
    need_application()
    for size in (10, 11, 13):
        real = QFontMetricsF(qfont(font, size, 400)).horizontalAdvance(text)
        assert text_width(text, font, size) == pytest.approx(real, abs=0.02 * real)
