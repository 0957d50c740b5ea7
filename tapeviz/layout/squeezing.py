"""Move the rows of a layout that is a little too tall closer together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .model import Layout, Rect

LEAST = 0.5
"""The part of their height that gaps between rows keep at least."""


def squeezed(layout: Layout, room: tuple[float, float]) -> Layout:
    """The layout with lower gaps between its rows, if it then fits into ``room`` (width, height in
    px), else as it is. Boxes and frames keep their sizes."""
    bounds = layout.bounds
    over = bounds.height - room[1]
    if layout.direction != "down" or over <= 0 or bounds.width > room[0]:
        return layout
    gaps = _gaps(layout)
    spare = sum(bottom - top for top, bottom in gaps)
    if over > (1 - LEAST) * spare:
        return layout
    before, after, moved = [bounds.top - 1], [bounds.top - 1], 0.0
    for top, bottom in gaps:
        before += (top, bottom)
        after.append(top - moved)
        moved += (bottom - top) * over / spare
        after.append(bottom - moved)
    before.append(max(bounds.bottom, before[-1]) + 1)
    after.append(before[-1] - moved)

    def lifted(rect: Rect) -> Rect:
        return rect.moved(0.0, float(np.interp(rect.top, before, after)) - rect.top)

    routes = {
        key: tuple((x, float(np.interp(y, before, after))) for x, y in line)
        for key, line in layout.routes.items()
    }
    return replace(
        layout,
        rects={name: lifted(rect) for name, rect in layout.rects.items()},
        routes=routes,
        frames={path: lifted(rect) for path, rect in layout.frames.items()},
        bounds=Rect.from_sides(bounds.left, bounds.top, bounds.right, bounds.bottom - moved),
    )


def _gaps(layout: Layout) -> list[tuple[float, float]]:
    """(top, bottom) of each stretch between rows in which there is no box and no frame."""
    rects = (*layout.rects.values(), *layout.frames.values())
    spans = sorted((rect.top, rect.bottom) for rect in rects)
    gaps: list[tuple[float, float]] = []
    reach = spans[0][1]
    for top, bottom in spans:
        if top > reach:
            gaps.append((reach, top))
        reach = max(reach, bottom)
    return gaps
