"""Write a drawing as GraphML: for yEd, Gephi, Cytoscape and ``networkx.read_graphml``."""

from __future__ import annotations

import networkx as nx

from .drawing import Drawing, Options
from .records import edge_records, graph_record, node_records


def write(drawing: Drawing, options: Options) -> bytes:
    graph = nx.MultiDiGraph(**graph_record(drawing))
    for node in node_records(drawing):
        graph.add_node(node.pop("id"), **node)
    for edge in edge_records(drawing):
        ends = edge.pop("source"), edge.pop("target"), edge.pop("key")
        edge["route"] = " ".join(f"{x:g},{y:g}" for x, y in edge["route"])
        graph.add_edge(*ends, **edge)
    return ("\n".join(nx.generate_graphml(graph)) + "\n").encode("utf-8")
