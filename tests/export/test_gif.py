from __future__ import annotations

import struct
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QBuffer, QByteArray, QIODevice
from PySide6.QtGui import QImage, QImageReader

from tapeviz.errors import TapevizError
from tapeviz.export import render, write_animation
from tapeviz.export.drawing import Options
from tapeviz.export.gif import animate
from tapeviz.export.lzw import compress
from tapeviz.scene.model import Overlay
from tapeviz.scene.theme import THEMES

from .drawn import drawing

needs_reader = pytest.mark.skipif(
    b"gif" not in [bytes(known.data()) for known in QImageReader.supportedImageFormats()],
    reason="this Qt reads no GIF",
)


def read(data: bytes) -> list[QImage]:
    buffer = QBuffer()
    buffer.setData(QByteArray(data))
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    reader = QImageReader(buffer, QByteArray(b"gif"))
    images: list[QImage] = []
    while reader.canRead():
        image = reader.read()
        if image.isNull():
            break
        images.append(image.convertToFormat(QImage.Format.Format_RGB32))
    return images


def grey_gif(pixels: np.ndarray) -> bytes:
    """One frame whose palette is grey: what goes in must come out."""
    height, width = pixels.shape
    table = np.repeat(np.arange(256, dtype=np.uint8), 3).tobytes()
    return b"".join(
        (
            b"GIF89a",
            struct.pack("<HHBBB", width, height, 0xF7, 0, 0),
            table,
            struct.pack("<BHHHHB", 0x2C, 0, 0, width, height, 0),
            compress(pixels.tobytes()),
            b"\x3b",
        )
    )


@needs_reader
@pytest.mark.parametrize("levels", [1, 2, 7, 256])
@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (13, 17), (64, 65), (120, 301)])
def test_what_goes_into_the_compression_comes_out(levels: int, shape: tuple[int, int]) -> None:
    pixels = np.random.default_rng(levels).integers(0, levels, shape, dtype=np.uint8)
    (image,) = read(grey_gif(pixels))
    rows = np.frombuffer(image.constBits(), np.uint32).reshape(shape[0], -1)[:, : shape[1]]
    assert np.array_equal(rows & 255, pixels)


@needs_reader
def test_a_run_of_every_length_comes_out() -> None:
    """Lengths at which the width of the codes changes are where encoders go wrong."""
    for length in range(1, 1200, 7):
        pixels = (np.arange(length, dtype=np.uint32) * 2654435761 >> 24).astype(np.uint8)[None]
        (image,) = read(grey_gif(pixels))
        rows = np.frombuffer(image.constBits(), np.uint32)[:length]
        assert np.array_equal(rows & 255, pixels[0])


@needs_reader
def test_frames_of_an_animation_are_the_pictures(tmp_path: Path) -> None:
    frames = [drawing(overlay=Overlay(step=step)) for step in range(5)]
    write_animation(frames, tmp_path / "steps.gif", scale=0.5)
    images = read((tmp_path / "steps.gif").read_bytes())
    assert len(images) == 5
    assert len({(image.width(), image.height()) for image in images}) == 1
    arrays = [np.frombuffer(image.constBits(), np.uint8).astype(int) for image in images]
    assert all(not np.array_equal(a, b) for a, b in pairwise(arrays))


@needs_reader
def test_a_single_picture_keeps_its_colours() -> None:
    (image,) = read(render(drawing("dark"), "gif"))
    png = QImage.fromData(render(drawing("dark"), "png"), "PNG")  # type: ignore[arg-type]
    assert (image.width(), image.height()) == (png.width(), png.height())
    assert image.pixelColor(1, 1).name() == THEMES["dark"].background
    off = [
        abs(image.pixelColor(x, y).lightness() - png.pixelColor(x, y).lightness())
        for x in range(0, png.width(), 3)
        for y in range(0, png.height(), 3)
    ]
    assert max(off) < 60
    assert sum(off) / len(off) < 0.3


def test_nothing_to_animate_is_told(tmp_path: Path) -> None:
    with pytest.raises(TapevizError, match="nothing to animate"):
        write_animation([], tmp_path / "steps.gif")


@needs_reader
def test_a_film_of_many_drawings_takes_about_a_minute() -> None:
    few, many = (animate([drawing()] * count, Options()) for count in (2, 80))
    assert _delays(few) == [100, 300]
    assert _delays(many) == [75] * 79 + [300]


def _delays(gif: bytes) -> list[int]:
    """Hundredths of a second for which each image is shown."""
    control = b"\x21\xf9\x04\x04"
    return [struct.unpack_from("<H", part)[0] for part in gif.split(control)[1:]]
