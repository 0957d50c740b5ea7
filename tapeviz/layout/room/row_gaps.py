"""Make the gaps between the rows of a layout lower or higher, for the room that there is.

Rows within a frame have gaps, too: a frame is as high as what is in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..model import Layout, Rect
from ..nested import HEADER, PADDING

LEAST, ENOUGH = 0.5, 18.0
"""Gaps between rows keep at least this part of their height, and these px: room for the words of a
ring."""
ROOMY = 44.0
"""Px between two rows where there is room for it: a wire is seen beside scissors and rings."""


def squeezed(layout: Layout, room: tuple[float, float]) -> Layout:
    """The layout with lower gaps between its rows, as far as all of it is larger in ``room``
    (width, height in px) then, up to its own size. Boxes keep their sizes."""
    bounds = layout.bounds
    over = bounds.height - room[1] * max(bounds.width / room[0], 1.0)
    if layout.direction != "down" or over <= 0:
        return layout
    gaps = _gaps(layout)
    heights = [bottom - top for top, bottom in gaps]
    spare = [height - max(LEAST * height, min(height, ENOUGH)) for height in heights]
    share = min(over / max(sum(spare), 1.0), 1.0)
    return _with_heights(layout, gaps, [h - share * s for h, s in zip(heights, spare, strict=True)])


def loosened(layout: Layout, room: tuple[float, float]) -> Layout:
    """The layout with gaps of up to 44 px between its rows, as far as it still fits into ``room``
    (width, height in px). Boxes keep their sizes."""
    spare = room[1] - layout.bounds.height
    if layout.direction != "down" or spare <= 0 or layout.bounds.width > room[0]:
        return layout
    gaps = _gaps(layout)
    wanted = [max(ROOMY - (bottom - top), 0.0) for top, bottom in gaps]
    share = min(spare / max(sum(wanted), 1.0), 1.0)
    heights = [b - t + share * more for (t, b), more in zip(gaps, wanted, strict=True)]
    return _with_heights(layout, gaps, heights) if any(wanted) else layout


def _with_heights(
    layout: Layout, gaps: Sequence[tuple[float, float]], heights: Sequence[float]
) -> Layout:
    """The layout with other heights of the gaps between its rows."""
    bounds = layout.bounds
    before, after, moved = [bounds.top - 1], [bounds.top - 1], 0.0
    for (top, bottom), height in zip(gaps, heights, strict=True):
        before += (top, bottom)
        after.append(top + moved)
        moved += height - (bottom - top)
        after.append(bottom + moved)
    before.append(max(bounds.bottom, before[-1]) + 1)
    after.append(before[-1] + moved)

    def shifted(rect: Rect) -> Rect:
        return rect.moved(0.0, float(np.interp(rect.top, before, after)) - rect.top)

    def stretched(rect: Rect) -> Rect:
        top, bottom = np.interp((rect.top, rect.bottom), before, after).tolist()
        return Rect.from_sides(rect.left, top, rect.right, bottom)

    routes = {
        key: tuple((x, float(np.interp(y, before, after))) for x, y in line)
        for key, line in layout.routes.items()
    }
    return replace(
        layout,
        rects={name: shifted(rect) for name, rect in layout.rects.items()},
        routes=routes,
        frames={path: stretched(rect) for path, rect in layout.frames.items()},
        bounds=Rect.from_sides(bounds.left, bounds.top, bounds.right, bounds.bottom + moved),
    )


def _gaps(layout: Layout) -> list[tuple[float, float]]:
    """(top, bottom) of each stretch between rows in which there is no box, no title of a frame and
    no lower margin of one."""
    frames = layout.frames.values()
    spans = [(rect.top, rect.bottom) for rect in layout.rects.values()]
    spans += [(rect.top, rect.top + HEADER) for rect in frames]
    spans += [(rect.bottom - PADDING, rect.bottom) for rect in frames]
    spans.sort()
    gaps: list[tuple[float, float]] = []
    reach = spans[0][1] if spans else 0.0
    for top, bottom in spans:
        if top > reach:
            gaps.append((reach, top))
        reach = max(reach, bottom)
    return gaps
