"""Write drawings as an animated GIF: the steps of a backward pass."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..layout.model import Rect
from ..paint.painting import prepare
from ..scene.sheet import sheet_bounds
from ..scene.strokes import group_of
from .drawing import Drawing, Options, Report, no_report, sheet_of
from .lzw import compress
from .png import paint_image

_LAST_SECONDS = 3.0
_MOST_SECONDS = 60.0
_LEAST_SECONDS = 0.04
"""Viewers show what is shorter for a tenth of a second."""
_COLOURS = 256
_SAMPLE = 16
"""Drawings that the palette is made from, at most: the last, the first and some between."""
_Made = TypeVar("_Made")
Pixels = NDArray[np.uint32]
"""0xffRRGGBB for each pixel."""


def write(drawing: Drawing, options: Options) -> bytes:
    return animate([drawing], options)


def animate(
    drawings: Sequence[Drawing], options: Options, report: Report = no_report, seconds: float = 1.0
) -> bytes:
    """A GIF that shows each drawing for ``seconds``, the last for three, and begins again. With
    many drawings each is shown shorter, so that the film lasts about a minute.

    It has the 256 colours that are the most frequent in some of the drawings, spread evenly; others
    become the nearest of these. Those drawings are painted twice, for the palette and for the
    image, so that only two images are in memory at a time.
    """
    last = len(drawings) - 1
    count = min(len(drawings), _SAMPLE)
    sample = [drawings[last - place * last // max(count - 1, 1)] for place in range(count)]
    known = len(drawings) + count
    seconds = min(seconds, max(_MOST_SECONDS / len(drawings), _LEAST_SECONDS))
    plain = Options(options.scale)
    bounds = Rect.around([sheet_bounds(each.scene).sides for each in drawings])
    colours = _palette(_painted(sample, plain, bounds), lambda done: report(done, known))
    parts: list[bytes] = []
    nearest = _Nearest(colours)
    before = None
    for number, image in enumerate(_painted(drawings, plain, bounds)):
        if before is None:
            parts += _head(image, colours, is_film=last > 0)
        shown = _LAST_SECONDS if number == last else seconds
        parts.append(_image(image, before, nearest, shown))
        before = image
        report(count + 1 + number, known)
    return b"".join((*parts, b"\x3b"))


def _head(image: Pixels, colours: Pixels, is_film: bool) -> Iterator[bytes]:
    height, width = image.shape
    table = np.zeros((_COLOURS, 3), np.uint8)
    table[: len(colours)] = _channels(colours)
    yield b"GIF89a" + struct.pack("<HHBBB", width, height, 0xF7, 0, 0) + table.tobytes()
    if is_film:
        yield b"\x21\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00"


class _Kept(Generic[_Made]):
    """Makes something of objects, or gives what it made of the very same ones for this drawing or
    the one before: most of a film stands still."""

    def __init__(self, make: Callable[..., _Made]) -> None:
        self._make = make
        self._now: dict[tuple[int, ...], tuple[_Made, tuple[object, ...]]] = {}
        self._before = self._now

    def begin(self) -> None:
        self._before, self._now = self._now, {}

    def __call__(self, *given: object) -> _Made:
        key = tuple(map(id, given))  # the objects are kept, so that no other has the same id
        known = self._now.get(key) or self._before.get(key)
        if known is None:
            known = self._make(*given), given
        self._now[key] = known
        return known[0]


def _painted(drawings: Sequence[Drawing], options: Options, bounds: Rect) -> Iterator[Pixels]:
    """The pixels of each drawing within ``bounds``."""
    groups, paints = _Kept(group_of), _Kept(prepare)
    for drawing in drawings:
        groups.begin()
        paints.begin()
        image = paint_image(drawing, sheet_of(drawing, options, groups), options, bounds, paints)
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


class _Nearest:
    """Finds the nearest colour of a table; what was found is kept."""

    def __init__(self, table: Pixels) -> None:
        self._table = _channels(table)
        self._colours = np.empty(0, np.uint32)
        self._places = np.empty(0, np.uint8)
        """The colours seen so far, sorted, and the place in the table of the nearest to each."""

    def indices(self, image: Pixels) -> NDArray[np.uint8]:
        """The index of the nearest colour of the table, for each pixel."""
        colours, lengths = _runs(image)
        new = np.setdiff1d(colours, self._colours)
        if len(new):
            every = np.concatenate((self._colours, new))
            order = np.argsort(every)
            self._colours = every[order]
            self._places = np.concatenate((self._places, self._search(new)))[order]
        found = self._places[np.searchsorted(self._colours, colours)]
        return np.repeat(found, lengths).reshape(image.shape)

    def _search(self, colours: Pixels) -> NDArray[np.uint8]:
        nearest = np.empty(len(colours), np.uint8)
        for start in range(0, len(colours), 1024):
            part = _channels(colours[start : start + 1024])
            distance = ((part[:, None, :] - self._table[None, :, :]) ** 2).sum(axis=2)
            nearest[start : start + 1024] = distance.argmin(axis=1)
        return nearest


def _image(image: Pixels, before: Pixels | None, nearest: _Nearest, seconds: float) -> bytes:
    """The smallest rectangle with all that differs from the image before."""
    top, bottom, left, right = _changed(image, before)
    part = nearest.indices(image[top:bottom, left:right])
    control = struct.pack("<BBBBHBB", 0x21, 0xF9, 4, 0x04, round(seconds * 100), 0, 0)
    place = struct.pack("<BHHHHB", 0x2C, left, top, right - left, bottom - top, 0)
    return control + place + compress(part.tobytes())


def _changed(image: Pixels, before: Pixels | None) -> tuple[int, int, int, int]:
    """(top, bottom, left, right) of what differs; a single pixel if nothing does."""
    if before is None:
        return 0, image.shape[0], 0, image.shape[1]
    differs = image != before
    rows, columns = np.flatnonzero(differs.any(axis=1)), np.flatnonzero(differs.any(axis=0))
    if not len(rows):
        return 0, 1, 0, 1
    return int(rows[0]), int(rows[-1]) + 1, int(columns[0]), int(columns[-1]) + 1
