"""Arrays of rectangles and lines in, QPainter calls on whole arrays out: far and middle band."""

from __future__ import annotations

from functools import cache
from typing import Literal

import numpy as np
from pyqtgraph.Qt import internals
from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPen

from ..scene.boxes import box_primitives
from ..scene.model import Box
from ..scene.primitives import Path, Style
from ..scene.strokes import look_colour, look_dash, wire_look
from ..scene.theme import Theme, mix, rgb
from .camera import Camera
from .prepared import Ints, Prepared

Band = Literal["far", "middle", "near"]
NEAR_SCALE = 0.2
NEAR_BOXES = 420
FAR_SCALE = 0.045
FAR_BOXES = 9_000
SHORTEST = 1.6
"""A line of the far band that is shorter, in px, hides under its boxes."""


def band_for(scale: float, boxes: int) -> Band:
    """How much detail a view of ``boxes`` boxes at this scale can show and pay for."""
    if scale >= NEAR_SCALE and boxes <= NEAR_BOXES:
        return "near"
    return "far" if scale < FAR_SCALE or boxes > FAR_BOXES else "middle"


@cache
def style_of(kind: Box, theme: Theme) -> Style:
    """Fill and stroke of the outline of a box like this one."""
    paths = (p for p in box_primitives(kind, theme) if isinstance(p, Path))
    return next(p.style for p in paths if p.style.fill and not p.role.startswith("ring"))


def far_colour(kind: Box, theme: Theme) -> str:
    """What remains of a box when it is a dot."""
    if kind.ring == "cut" or kind.ring == "nonfinite":
        return theme.trouble
    if kind.ring == "target" or kind.is_selected:
        return theme.accent
    if kind.is_current:
        return theme.gradient
    style = style_of(kind, theme)
    return mix(style.fill or theme.background, style.stroke or theme.text, 0.75)


def paint_lines(
    painter: QPainter, prepared: Prepared, wires: Ints, camera: Camera, theme: Theme, is_far: bool
) -> None:
    """Straight lines, one call for each kind of wire; the painter is in px."""
    kinds, examples = prepared.wire_kinds
    routes = prepared.routes
    wanted = np.zeros(len(prepared.scene.wires), bool)
    wanted[wires] = True
    shown = wanted[routes.owner]
    segments = (routes.segments - (camera.x, camera.y) * 2) * camera.scale
    segments += (camera.width / 2, camera.height / 2) * 2
    if is_far:
        across = np.abs(segments[:, 2] - segments[:, 0])
        down = np.abs(segments[:, 3] - segments[:, 1])
        shown &= across + down >= SHORTEST
    segment_kinds = kinds[routes.owner]
    order = sorted(range(len(examples)), key=lambda k: wire_look(examples[k]) == "gradient")
    for kind in order:
        chosen = segments[shown & (segment_kinds == kind)]
        if len(chosen):
            example = examples[kind]
            look = wire_look(example)
            width = max(1.0, example.width * camera.scale)
            colour = QColor(look_colour(look, theme))
            if is_far and look != "gradient":
                colour.setAlphaF(0.6)
            pen = QPen(colour, width if width > 1.2 else 1)
            dash = look_dash(example.state, example.width)
            if dash and not is_far:
                pen.setDashPattern([max(d / example.width, 0.1) for d in dash])
            pen.setCosmetic(True)
            painter.setPen(pen)
            array = internals.PrimitiveArray(QLineF, 4)
            array.resize(len(chosen))
            array.ndarray()[:] = chosen
            painter.drawLines(*array.drawargs())


def paint_rectangles(
    painter: QPainter, prepared: Prepared, boxes: Ints, camera: Camera, theme: Theme
) -> None:
    """Borderless rectangles, one call for each kind of box; the painter is in px."""
    kinds, examples = prepared.box_kinds
    rects = (prepared.rects[boxes] - (camera.x, camera.y) * 2) * camera.scale
    rects += (camera.width / 2, camera.height / 2) * 2
    rects[:, 2:] -= rects[:, :2]
    np.maximum(rects[:, 2:], 1.0, out=rects[:, 2:])
    painter.setPen(Qt.PenStyle.NoPen)
    own_kinds = kinds[boxes]
    for kind, example in enumerate(examples):
        chosen = rects[own_kinds == kind]
        if len(chosen):
            painter.setBrush(QColor(far_colour(example, theme)))
            array = internals.PrimitiveArray(QRectF, 4)
            array.resize(len(chosen))
            array.ndarray()[:] = chosen
            painter.drawRects(*array.drawargs())


def splat(prepared: Prepared, boxes: Ints, camera: Camera, theme: Theme, ratio: float) -> QImage:
    """Boxes as dots of their colour, in device pixels; dots that matter are larger and on top."""
    width = max(1, round(camera.width * ratio))
    height = max(1, round(camera.height * ratio))
    pixels = np.zeros((height, width), np.uint32)
    kinds, examples = prepared.box_kinds
    rects = prepared.rects[boxes]
    scale = camera.scale * ratio
    x = (rects[:, 0] + rects[:, 2]) / 2 - camera.x
    y = (rects[:, 1] + rects[:, 3]) / 2 - camera.y
    columns = (x * scale + width / 2).astype(np.int64)
    rows = (y * scale + height / 2).astype(np.int64)
    wide = max(1, min(14, round(scale * 120)))
    high = max(1, min(6, round(scale * 40)))
    own_kinds = kinds[boxes]
    order = sorted(range(len(examples)), key=lambda k: _weight(examples[k]))
    for kind in order:
        chosen = own_kinds == kind
        grow = 2 if _weight(examples[kind]) else 0
        _fill(
            pixels,
            columns[chosen],
            rows[chosen],
            (wide + grow, high + grow),
            _argb(far_colour(examples[kind], theme)),
        )
    image = QImage(pixels.data, width, height, 4 * width, QImage.Format.Format_ARGB32).copy()
    image.setDevicePixelRatio(ratio)
    return image


def _weight(kind: Box) -> int:
    return int(bool(kind.ring) or kind.is_selected or kind.is_current)


def _fill(
    pixels: np.ndarray[tuple[int, int], np.dtype[np.uint32]],
    columns: Ints,
    rows: Ints,
    size: tuple[int, int],
    colour: int,
) -> None:
    height, width = pixels.shape
    for dy in range(size[1]):
        for dx in range(size[0]):
            c, r = columns + dx - size[0] // 2, rows + dy - size[1] // 2
            inside = (c >= 0) & (c < width) & (r >= 0) & (r < height)
            pixels[r[inside], c[inside]] = colour


def _argb(name: str) -> int:
    red, green, blue = rgb(name)
    return 0xFF000000 | red << 16 | green << 8 | blue
