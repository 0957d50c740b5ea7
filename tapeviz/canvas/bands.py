"""Paint the far and the middle band of a scene by QPainter calls on whole arrays."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Literal

import numpy as np
from pyqtgraph.Qt import internals
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPen

from ..paint.painting import pen_of
from ..scene.model import Box, FrameBox, Wire
from ..scene.parts.boxes import box_primitives
from ..scene.primitives import Path, Style
from ..scene.strokes import look_colour, look_dash, wire_look
from ..scene.theme import Theme, mix, rgb
from .camera import Camera
from .framing import shown_at
from .prepared import Floats, Ints, Prepared

Band = Literal["far", "middle", "near"]
NEAR_SCALE = 0.09
NEAR_BOXES = 420
FAR_SCALE = 0.045
FAR_BOXES = 9_000
SHORTEST = 1.6
"""Px; shorter lines of the far band are hidden by their boxes and not drawn."""


def band_for(scale: float, boxes: int) -> Band:
    """The band for a view of ``boxes`` boxes at this scale: as much detail as can be read and drawn
    in time."""
    if scale >= NEAR_SCALE and boxes <= NEAR_BOXES:
        return "near"
    return "far" if scale < FAR_SCALE or boxes > FAR_BOXES else "middle"


@cache
def style_of(kind: Box, theme: Theme) -> Style:
    """Fill and stroke of the outline of a kind of box, given an example of it."""
    paths = (p for p in box_primitives(kind, theme) if isinstance(p, Path))
    return next(p.style for p in paths if p.style.fill and not p.role.startswith("ring"))


def far_colour(kind: Box, theme: Theme) -> str:
    """The colour of a box that is drawn as a dot."""
    if kind.ring in ("cut", "nonfinite", "raised"):
        return theme.trouble
    if kind.ring == "target" or kind.is_selected:
        return theme.accent
    if kind.is_current:
        return theme.gradient
    style = style_of(kind, theme)
    return mix(style.fill or theme.background, style.stroke or theme.text, 0.75)


def paint_borders(
    painter: QPainter, frames: Sequence[FrameBox], camera: Camera, theme: Theme
) -> None:
    """The frames of open groups as plain rectangles; the painter is in px."""
    painter.setPen(QColor(theme.group_stroke))
    painter.setBrush(QColor(theme.group_fill))
    for frame in frames:
        painter.drawRect(shown_at(camera, frame.rect))


def paint_lines(
    painter: QPainter, prepared: Prepared, wires: Ints, camera: Camera, theme: Theme, is_far: bool
) -> None:
    """Straight lines, one call for each kind of wire; the painter is in px."""
    lines, kinds = _lines(prepared, wires, is_far)
    on_screen(lines, camera)
    if is_far:
        reach = np.abs(lines[:, :2] - lines[:, 2:]).sum(axis=1)
        shown = reach >= SHORTEST
        lines, kinds = lines[shown], kinds[shown]
    examples = prepared.wire_kinds[1]
    for kind in sorted(range(len(examples)), key=lambda k: wire_look(examples[k]) == "gradient"):
        chosen = lines[kinds == kind]
        if len(chosen):
            painter.setPen(_pen(examples[kind], camera.scale, theme, is_far))
            array = internals.PrimitiveArray(QLineF, 4)
            array.resize(len(chosen))
            array.ndarray()[:] = chosen
            painter.drawLines(*array.drawargs())


def _lines(prepared: Prepared, wires: Ints, is_far: bool) -> tuple[Floats, Ints]:
    """The lines of some wires, in scene units, and the kind of each."""
    kinds, routes = prepared.wire_kinds[0], prepared.routes
    if is_far:
        return routes.chords[wires], kinds[wires]
    wanted = np.zeros(len(prepared.scene.wires), bool)
    wanted[wires] = True
    chosen = wanted[routes.owner]
    return routes.segments[chosen], kinds[routes.owner[chosen]]


def on_screen(points: Floats, camera: Camera) -> None:
    """Map rows of x, y, x, y from scene units to px of the viewport, in place."""
    shift = np.array((camera.x, camera.y)) * camera.scale
    shift -= (camera.width / 2, camera.height / 2)
    points *= camera.scale
    points[:, :2] -= shift
    points[:, 2:] -= shift


def _pen(wire: Wire, scale: float, theme: Theme, is_far: bool) -> QPen:
    look = wire_look(wire)
    tone = look_colour(look, theme)
    if is_far and look != "gradient":
        tone = mix(theme.background, tone, 0.6)
    dash = () if is_far else look_dash(wire.state, wire.width)
    pen = pen_of(Style(None, tone, wire.width, dash))
    width = wire.width * scale
    pen.setWidthF(width if width > 1.2 else 1)
    pen.setCosmetic(True)
    return pen


def paint_rectangles(
    painter: QPainter, prepared: Prepared, boxes: Ints, camera: Camera, theme: Theme
) -> None:
    """Borderless rectangles, one call for each kind of box; the painter is in px."""
    kinds, examples = prepared.box_kinds
    rects = prepared.rects[boxes]
    on_screen(rects, camera)
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


def paint_dots(
    painter: QPainter, prepared: Prepared, boxes: Ints, camera: Camera, theme: Theme
) -> None:
    """Boxes as coloured dots; ringed, selected and current ones are larger and on top.

    NumPy fills the pixels of one image, which is no larger than the graph.
    """
    if not len(boxes):
        return
    ratio = painter.device().devicePixelRatioF()
    rects = prepared.rects[boxes]
    on_screen(rects, camera)
    centres = (rects[:, :2] + rects[:, 2:]) * (ratio / 2)
    scale = camera.scale * ratio
    size = max(1, min(14, round(scale * 120))), max(1, min(6, round(scale * 40)))
    edge = size[0] + 4
    low = np.maximum(np.floor(centres.min(axis=0)).astype(np.int64) - edge, 0)
    corner = np.array((camera.width * ratio, camera.height * ratio))
    high = np.minimum(centres.max(axis=0) + edge, corner).astype(np.int64)
    width, height = (max(int(n), 1) for n in high - low)
    pixels = np.zeros((height, width), np.uint32)
    columns, rows = (centres.astype(np.int64) - low).T
    kinds, examples = prepared.box_kinds
    own_kinds = kinds[boxes]
    for kind in sorted(range(len(examples)), key=lambda k: _weight(examples[k])):
        chosen = own_kinds == kind
        grow = 2 * _weight(examples[kind])
        red, green, blue = rgb(far_colour(examples[kind], theme))
        tone = 0xFF000000 | red << 16 | green << 8 | blue
        _fill(pixels, columns[chosen], rows[chosen], (size[0] + grow, size[1] + grow), tone)
    # The image borrows the array, which lives until it is drawn.
    shape = QImage.Format.Format_ARGB32_Premultiplied
    image = QImage(pixels.data, width, height, 4 * width, shape)
    image.setDevicePixelRatio(ratio)
    painter.drawImage(QPointF(low[0] / ratio, low[1] / ratio), image)


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
