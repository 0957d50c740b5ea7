"""A layered layout in, the sources that should be in several rows to make it narrower out."""

from __future__ import annotations

from itertools import groupby, pairwise

import networkx as nx

from tapeviz.layout.model import Layout

LEAST = 4
"""Sources in a row that are worth it, at least."""
WIDE = 0.7
"""The part of the picture's width that such a row has at least."""


def stagger(graph: nx.MultiDiGraph, layout: Layout, rows: int) -> list[tuple[str, str]]:
    """Pairs (upper, lower) of sources in one wide row: with an edge between the nodes of each pair
    the row becomes ``rows`` rows."""
    if layout.direction != "down":
        return []
    pairs: list[tuple[str, str]] = []
    by_row = sorted(layout.rects.items(), key=lambda item: (round(item[1].y), item[1].x))
    for _, row in groupby(by_row, key=lambda item: round(item[1].y)):
        boxes = list(row)
        width = boxes[-1][1].right - boxes[0][1].left
        sources = [name for name, _ in boxes if not graph.in_degree(name)]
        if width > WIDE * layout.bounds.width and len(sources) >= max(LEAST, 2 * rows - 1):
            starts = range(0, len(sources), rows)
            pairs += (pair for start in starts for pair in pairwise(sources[start : start + rows]))
    return pairs
