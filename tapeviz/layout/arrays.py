"""A networkx graph in; its box sizes and edges as plain indexed lists and arrays out.

Every engine of this room works on indices, not names, and always from top to bottom: for the
direction "right" the boxes are laid on their side here and the finished picture is turned back.
"""

from __future__ import annotations

from dataclasses import dataclass

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from tapeviz.layout.model import EdgeKey

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class GraphArrays:
    """``across[i]`` and ``along[i]``: the size of node i's box, across and along the flow, px.

    ``beside[i]``: room to keep free on its right (below it when the flow goes right).
    Edge e runs from ``tails[e]`` to ``heads[e]``; ``keys[e]`` is its name in the networkx graph.
    """

    nodes: tuple[str, ...]
    across: Floats
    along: Floats
    beside: Floats
    keys: tuple[EdgeKey, ...]
    tails: Ints
    heads: Ints
    weights: Floats

    @property
    def size(self) -> int:
        return len(self.nodes)


LOOP_OUT = 16.0
"""How far the innermost self-loop of a box goes out, px."""
LOOP_STEP = 8.0
"""Between two self-loops of one box."""


def loop_room(size: int, tails: Ints, heads: Ints) -> Floats:
    """Room that its self-loops take beside each box, px."""
    count = np.bincount(tails[tails == heads], minlength=size)
    room: Floats = np.where(count > 0, LOOP_OUT + LOOP_STEP * (count - 1), 0.0)
    return room


def read_graph(graph: nx.MultiDiGraph, direction: str) -> GraphArrays:
    """Index the graph in insertion order, so that the same graph gives the same picture."""
    nodes = tuple(graph.nodes)
    index = {node: i for i, node in enumerate(nodes)}
    sizes = graph.nodes(data=True)
    widths = np.array([attributes["width"] for _, attributes in sizes], dtype=np.float64)
    heights = np.array([attributes["height"] for _, attributes in sizes], dtype=np.float64)
    if direction == "right":
        widths, heights = heights, widths
    edges = list(graph.edges(keys=True, data="weight", default=1.0))
    tails = np.array([index[tail] for tail, _, _, _ in edges], dtype=np.intp)
    heads = np.array([index[head] for _, head, _, _ in edges], dtype=np.intp)
    return GraphArrays(
        nodes=nodes,
        across=widths,
        along=heights,
        beside=loop_room(len(nodes), tails, heads),
        keys=tuple((tail, head, key) for tail, head, key, _ in edges),
        tails=tails,
        heads=heads,
        weights=np.array([weight or 1.0 for _, _, _, weight in edges], dtype=np.float64),
    )
