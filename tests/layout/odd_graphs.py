"""Graphs that a drawing program meets on a bad day."""

from __future__ import annotations

import networkx as nx


def graph_of(nodes: int, *edges: tuple[int, int]) -> nx.MultiDiGraph:
    graph = nx.MultiDiGraph()
    for k in range(nodes):
        graph.add_node(f"n{k}", width=60.0 + 37 * k % 131, height=30.0 + 11 * k % 23)
    graph.add_edges_from((f"n{a}", f"n{b}") for a, b in edges)
    return graph


ODD: dict[str, nx.MultiDiGraph] = {
    "empty": graph_of(0),
    "one node": graph_of(1),
    "self-loop": graph_of(1, (0, 0)),
    "three self-loops": graph_of(2, (0, 0), (0, 0), (0, 0), (0, 1)),
    "two apart": graph_of(2),
    "twenty apart": graph_of(20),
    "cycle": graph_of(4, (0, 1), (1, 2), (2, 3), (3, 0)),
    "to and fro": graph_of(2, (0, 1), (1, 0)),
    "multi-edges": graph_of(2, (0, 1), (0, 1), (0, 1), (0, 1)),
    "long multi-edges": graph_of(4, (0, 1), (1, 2), (2, 3), (0, 3), (0, 3)),
    "to and fro with loops": graph_of(3, (0, 1), (1, 0), (1, 1), (1, 2), (1, 2), (2, 0)),
    "three parts": graph_of(9, (0, 1), (1, 2), (3, 4), (5, 5), (6, 7), (7, 8), (6, 8)),
    "complete cyclic": graph_of(5, *((a, b) for a in range(5) for b in range(5))),
    "complete acyclic": graph_of(7, *((a, b) for a in range(7) for b in range(a + 1, 7))),
    "star in": graph_of(30, *((a, 0) for a in range(1, 30))),
    "star out": graph_of(30, *((0, a) for a in range(1, 30))),
    "path": graph_of(40, *((a, a + 1) for a in range(39))),
    "two rows, all joined": graph_of(12, *((a, b) for a in range(6) for b in range(6, 12))),
}
