"""Write drawings as an animated GIF: the steps of a backward pass."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ..layout.model import Rect
from .drawing import Drawing, Options, Report, no_report, sheet_of
from .lzw import compress
from .png import paint_image

_LAST_SECONDS = 3.0
_MOST_SECONDS = 60.0
_LEAST_SECONDS = 0.04
"""Viewers show what is shorter for a tenth of a second."""
_COLOURS = 256
Pixels = NDArray[np.uint32]
"""0xffRRGGBB for each pixel."""


def write(drawing: Drawing, options: Options) -> bytes:
    return animate([drawing], options)


def animate(
    drawings: Sequence[Drawing], options: Options, report: Report = no_report, seconds: float = 1.0
) -> bytes:
    """A GIF that shows each drawing for ``seconds``, the last for three, and begins again. With
    many drawings each is shown shorter, so that the film lasts about a minute.

    It has the 256 most frequent colours; others become the nearest of these. Each drawing is
    painted twice, for the palette and for its image, so that only one is in memory at a time.
    """
    last, known = len(drawings) - 1, 2 * len(drawings)
    seconds = min(seconds, max(_MOST_SECONDS / len(drawings), _LEAST_SECONDS))
    colours = _palette(_painted(drawings, options), lambda done: report(done, known))
    parts: list[bytes] = []
    before = None
    for number, image in enumerate(_painted(drawings, options)):
        if before is None:
            parts += _head(image, colours, is_film=last > 0)
        indices = _indices(image, colours)
        parts.append(_image(indices, before, _LAST_SECONDS if number == last else seconds))
        before = indices
        report(last + 2 + number, known)
    return b"".join((*parts, b"\x3b"))


def _head(image: Pixels, colours: Pixels, is_film: bool) -> Iterator[bytes]:
    height, width = image.shape
    table = np.zeros((_COLOURS, 3), np.uint8)
    table[: len(colours)] = _channels(colours)
    yield b"GIF89a" + struct.pack("<HHBBB", width, height, 0xF7, 0, 0) + table.tobytes()
    if is_film:
        yield b"\x21\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00"


def _painted(drawings: Sequence[Drawing], options: Options) -> Iterator[Pixels]:
    """The pixels of each drawing, in a picture with room for all of them."""
    plain = Options(options.scale, False, options.has_title, options.has_legend)
    bounds = Rect.around([sheet_of(drawing, plain).bounds.sides for drawing in drawings])
    for drawing in drawings:
        image = paint_image(drawing, sheet_of(drawing, plain), plain, bounds)
        rows = np.frombuffer(image.constBits(), np.uint32).reshape(image.height(), -1)
        yield rows[:, : image.width()].copy()


def _palette(images: Iterator[Pixels], report: Callable[[int], None]) -> Pixels:
    colours, counts = np.empty(0, np.uint32), np.empty(0, np.int64)
    for number, image in enumerate(images, start=1):
        found, lengths = _runs(image)
        colours, places = np.unique(np.concatenate((colours, found)), return_inverse=True)
        counts = np.bincount(places.ravel(), np.concatenate((counts, lengths))).astype(np.int64)
        report(number)
    return np.sort(colours[np.argsort(-counts, kind="stable")[:_COLOURS]])


def _runs(image: Pixels) -> tuple[Pixels, NDArray[np.int64]]:
    """The colour and the length of each run of equal pixels; there are far fewer runs than
    pixels."""
    pixels = image.ravel()
    starts = np.concatenate(([0], np.flatnonzero(pixels[1:] != pixels[:-1]) + 1))
    return pixels[starts], np.diff(starts, append=len(pixels))


def _channels(colours: Pixels) -> NDArray[np.int64]:
    wide = colours.astype(np.int64)
    return np.stack([wide >> 16 & 255, wide >> 8 & 255, wide & 255], axis=-1)


def _indices(image: Pixels, colours: Pixels) -> NDArray[np.uint8]:
    """The index of the nearest colour of the table, for each pixel."""
    colours_of_runs, lengths = _runs(image)
    found, inverse = np.unique(colours_of_runs, return_inverse=True)
    known = _channels(colours)
    nearest = np.empty(len(found), np.uint8)
    for start in range(0, len(found), 1024):
        part = _channels(found[start : start + 1024])
        distance = ((part[:, None, :] - known[None, :, :]) ** 2).sum(axis=2)
        nearest[start : start + 1024] = distance.argmin(axis=1)
    return np.repeat(nearest[inverse.ravel()], lengths).reshape(image.shape)


def _image(indices: NDArray[np.uint8], before: NDArray[np.uint8] | None, seconds: float) -> bytes:
    """The smallest rectangle with all that differs from the image before."""
    top, bottom, left, right = _changed(indices, before)
    part = indices[top:bottom, left:right]
    control = struct.pack("<BBBBHBB", 0x21, 0xF9, 4, 0x04, round(seconds * 100), 0, 0)
    place = struct.pack("<BHHHHB", 0x2C, left, top, right - left, bottom - top, 0)
    return control + place + compress(part.tobytes())


def _changed(
    indices: NDArray[np.uint8], before: NDArray[np.uint8] | None
) -> tuple[int, int, int, int]:
    if before is None:
        return 0, indices.shape[0], 0, indices.shape[1]
    differs = indices != before
    rows, columns = np.flatnonzero(differs.any(axis=1)), np.flatnonzero(differs.any(axis=0))
    if not len(rows):
        return 0, 1, 0, 1
    return int(rows[0]), int(rows[-1]) + 1, int(columns[0]), int(columns[-1]) + 1
