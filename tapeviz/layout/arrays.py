"""Read a networkx graph as plain indexed lists and arrays: its box sizes and edges.

Every engine works on indices, not names, and always from top to bottom. For the direction "right"
widths and heights are exchanged here, and `picture.finished` exchanges x and y of the result.
"""

from __future__ import annotations

from dataclasses import dataclass

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from .model import EdgeKey

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class GraphArrays:
    """A graph as arrays. ``across[i]`` and ``along[i]``: the size of node i's box, across and along
    the flow, px.

    ``beside[i]``: room to keep free on its right (below it when the flow goes right).
    ``before[i]``: where it stood across the flow in the picture before, px; nan: nowhere.
    Edge e runs from ``tails[e]`` to ``heads[e]``; ``keys[e]`` is its name in the networkx graph.
    ``tail_at[e]`` and ``head_at[e]``: where the edge must dock at its boxes, px from the centre
    across the flow; nan: anywhere. ``pull[e]``: the part of its weight that pulls the edge
    straight; an edge with 0 only keeps the order of the rows, and is not drawn.
    """

    nodes: tuple[str, ...]
    across: Floats
    along: Floats
    beside: Floats
    before: Floats
    keys: tuple[EdgeKey, ...]
    tails: Ints
    heads: Ints
    weights: Floats
    tail_at: Floats
    head_at: Floats
    pull: Floats

    @property
    def size(self) -> int:
        return len(self.nodes)

    @property
    def content(self) -> tuple[bytes, ...]:
        """All but the names: graphs with the same content have the same picture."""
        nodes = (self.across, self.along, self.beside, self.before)
        edges = (self.tails, self.heads, self.weights, self.tail_at, self.head_at, self.pull)
        return tuple(array.tobytes() for array in (*nodes, *edges))

    def part(self, members: Ints, edges: Ints) -> GraphArrays:
        """The graph of some of the nodes and some of the edges between them, in this order."""
        number = np.zeros(self.size, dtype=np.intp)
        number[members] = np.arange(len(members))
        return GraphArrays(
            nodes=tuple(self.nodes[i] for i in members.tolist()),
            across=self.across[members],
            along=self.along[members],
            beside=self.beside[members],
            before=self.before[members],
            keys=tuple(self.keys[e] for e in edges.tolist()),
            tails=number[self.tails[edges]],
            heads=number[self.heads[edges]],
            weights=self.weights[edges],
            tail_at=self.tail_at[edges],
            head_at=self.head_at[edges],
            pull=self.pull[edges],
        )


LOOP_OUT = 16.0
"""Px from a box to its innermost self-loop."""
LOOP_STEP = 8.0
"""Between two self-loops of one box."""


def loop_room(size: int, tails: Ints, heads: Ints) -> Floats:
    """Room that its self-loops take beside each box, px."""
    count = np.bincount(tails[tails == heads], minlength=size)
    room: Floats = np.where(count > 0, LOOP_OUT + LOOP_STEP * (count - 1), 0.0)
    return room


def read_graph(graph: nx.MultiDiGraph, direction: str) -> GraphArrays:
    """The arrays of a graph, in insertion order, so that the same graph gives the same picture."""
    nodes = tuple(graph.nodes)
    index = {node: i for i, node in enumerate(nodes)}
    sizes = graph.nodes(data=True)
    widths = np.array([attributes["width"] for _, attributes in sizes], dtype=np.float64)
    heights = np.array([attributes["height"] for _, attributes in sizes], dtype=np.float64)
    if direction == "right":
        widths, heights = heights, widths
    edges = list(graph.edges(keys=True, data=True))
    about = [data for *_, data in edges]
    tails = np.array([index[tail] for tail, *_ in edges], dtype=np.intp)
    heads = np.array([index[head] for _, head, *_ in edges], dtype=np.intp)
    weights = [data.get("weight", 1.0) or 1.0 for data in about]
    return GraphArrays(
        nodes=nodes,
        across=widths,
        along=heights,
        beside=loop_room(len(nodes), tails, heads),
        before=np.array([data.get("before", np.nan) for _, data in sizes], dtype=np.float64),
        keys=tuple((tail, head, key) for tail, head, key, _ in edges),
        tails=tails,
        heads=heads,
        weights=np.array(weights, dtype=np.float64),
        tail_at=np.array([data.get("tail_at", np.nan) for data in about], dtype=np.float64),
        head_at=np.array([data.get("head_at", np.nan) for data in about], dtype=np.float64),
        pull=np.array([data.get("pull", 1.0) for data in about], dtype=np.float64),
    )
