"""Lay out a whole picture: margins, title, drawing and legend."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ..layout.model import Rect
from .model import LegendEntry, Scene
from .parts.changes import CHANGES, sign
from .parts.doubts import LEGEND_WORDS, doubt_sign
from .parts.geometry import arrow, line, rounded
from .primitives import Path, Primitive, PrimitiveGroup, Style, TextRun
from .strokes import DrawnShape, Layer, drawing_order, group_of, look_colour, look_dash
from .text import cap_height, clean, fit, text_width
from .theme import Theme

MARGIN = 24.0
LEGEND_HEIGHT = 28.0
TITLE_SIZE = 13.0
LEGEND_SIZE = 12.0
SAMPLE = 26.0
_SAMPLE_GAP = 8.0
_ENTRY_GAP = 20.0
_PADDING = 14.0
_LEAST = 160.0
_MOST_TITLE = 640.0
"""Px; a title widens a narrow picture up to this width, and is shortened beyond it."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """A picture, ready to be painted. ``bounds``: what the picture covers, margins included;
    ``groups``: back to front."""

    bounds: Rect
    groups: tuple[PrimitiveGroup, ...]


def lay_sheet(
    scene: Scene,
    theme: Theme,
    *,
    has_ground: bool = True,
    make: Callable[[Layer, DrawnShape, Theme], PrimitiveGroup] = group_of,
) -> Sheet:
    """The drawing with its title above, unless headings name its parts, and its legend below, all
    margins equal; ``has_ground``: the theme's background is painted below it; ``make``: gives the
    primitives of a shape."""
    left, _, right, _ = _within(scene)
    drawn = [
        make(layer, shape, theme)
        for layer, shape in drawing_order(scene)
        if has_ground or layer != "margin"
    ]
    if _has_title(scene):
        above = scene.bounds.top - TITLE_SIZE - 16
        drawn.insert(0, title_group(scene.title, theme, left, above, right - left))
    if scene.legend:
        below = scene.bounds.bottom + MARGIN * 0.75
        drawn.append(legend_group(scene.legend, theme, left, below, right - left))
    return Sheet(sheet_bounds(scene), tuple(drawn))


def sheet_bounds(scene: Scene) -> Rect:
    """Give the bounds of the picture of a scene, margins included."""
    left, top, right, bottom = _within(scene)
    return Rect.from_sides(left - MARGIN, top - MARGIN, right + MARGIN, bottom + MARGIN)


def _has_title(scene: Scene) -> bool:
    return bool(scene.title) and not scene.headings


def _within(scene: Scene) -> tuple[float, float, float, float]:
    """(left, top, right, bottom) of the scene with its title and its legend."""
    left, top, right, bottom = scene.bounds.sides
    width = max(right - left, _LEAST)
    if _has_title(scene):
        title = text_width(clean(scene.title), "mono", TITLE_SIZE) + 2
        width = max(width, min(title, _MOST_TITLE))
    legend_size = legend_extent(scene.legend, width)
    width = max(width, legend_size[0])
    spare = (width - (right - left)) / 2
    if _has_title(scene):
        top -= TITLE_SIZE + 16
    if scene.legend:
        bottom += MARGIN * 0.75 + legend_size[1]
    return left - spare, top, right + spare, bottom


def title_group(title: str, theme: Theme, left: float, top: float, width: float) -> PrimitiveGroup:
    text = fit(clean(title), "mono", TITLE_SIZE, width, "end")
    baseline = top + cap_height("mono", TITLE_SIZE)
    run = TextRun("picture-title", left, baseline, text, "mono", TITLE_SIZE, theme.text, 600)
    return PrimitiveGroup("title", "", (run,))


def legend_extent(entries: Sequence[LegendEntry], width: float) -> tuple[float, float]:
    """Width and height in px of the legend when it may be ``width`` px wide."""
    rows = _rows(entries, width)
    if not rows:
        return 0.0, 0.0
    widest = max(legend_row_width(row) for row in rows)
    return widest + 2 * _PADDING, LEGEND_HEIGHT + (len(rows) - 1) * (LEGEND_HEIGHT - 8)


def legend_group(
    entries: Sequence[LegendEntry], theme: Theme, left: float, top: float, width: float
) -> PrimitiveGroup:
    """The legend with its upper left corner at ``left, top``, in rows of at most ``width`` px."""
    extent = legend_extent(entries, width)
    ground = Rect(left + extent[0] / 2, top + extent[1] / 2, *extent)
    style = Style(theme.panel, theme.border, 1.0)
    made: list[Primitive] = [Path("legend", rounded(ground, LEGEND_HEIGHT / 2), style)]
    y = top + LEGEND_HEIGHT / 2
    for row in _rows(entries, width):
        made += legend_row(row, theme, left + _PADDING, y)
        y += LEGEND_HEIGHT - 8
    return PrimitiveGroup("legend", "", tuple(made))


def legend_row(row: Sequence[LegendEntry], theme: Theme, x: float, y: float) -> Iterator[Primitive]:
    """Entries side by side from ``x`` on, their middle at ``y``."""
    baseline, tone = y + cap_height("sans", LEGEND_SIZE) / 2, theme.text_muted
    for entry in row:
        yield from legend_sample(entry.state, x, y, theme)
        start = x + SAMPLE + _SAMPLE_GAP
        yield TextRun("legend-text", start, baseline, entry.text, "sans", LEGEND_SIZE, tone)
        x += _entry_width(entry) + _ENTRY_GAP


def legend_sample(look: str, x: float, y: float, theme: Theme) -> list[Primitive]:
    """The sample of a legend entry: a short wire, or the sign of a change or a doubt."""
    if look in CHANGES:
        return list(sign(look, x + SAMPLE / 2, y, theme))
    if look in LEGEND_WORDS:
        return list(doubt_sign(look, x + SAMPLE / 2, y, theme))
    width = {"gradient": 3.0, "pending": 3.0, "bridge": 2.6}.get(look, 1.6)
    colour = look_colour(look, theme)
    end = x + SAMPLE
    style = Style(None, colour, width, look_dash(look, width))
    head = arrow((end, y), (1.0, 0.0), 7.0, 3.6)
    return [
        Path(f"wire-{look}", line((x, y), (end - 5.0, y)), style),
        Path(f"wire-{look}-head", head, Style(colour)),
    ]


def _entry_width(entry: LegendEntry) -> float:
    return SAMPLE + _SAMPLE_GAP + text_width(entry.text, "sans", LEGEND_SIZE)


def legend_row_width(row: Sequence[LegendEntry]) -> float:
    """Px that entries side by side take."""
    return sum(_entry_width(entry) for entry in row) + _ENTRY_GAP * (len(row) - 1)


def _rows(entries: Sequence[LegendEntry], width: float) -> list[list[LegendEntry]]:
    rows: list[list[LegendEntry]] = []
    for entry in entries:
        if rows and legend_row_width([*rows[-1], entry]) + 2 * _PADDING <= width:
            rows[-1].append(entry)
        else:
            rows.append([entry])
    return rows
