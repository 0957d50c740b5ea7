"""Lay a graph out: a position for each node, and a route for each edge."""

from .engines import LAYOUTS, lay_out
from .model import EMPTY_LAYOUT, EdgeKey, Layout, Point, Rect
from .nested import lay_out_nested

__all__ = [
    "EMPTY_LAYOUT",
    "LAYOUTS",
    "EdgeKey",
    "Layout",
    "Point",
    "Rect",
    "lay_out",
    "lay_out_nested",
]
