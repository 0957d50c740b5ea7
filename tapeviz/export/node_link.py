"""Write a drawing as JSON in networkx's node-link form.

``networkx.node_link_graph(json.load(file), edges="edges")`` reads it. `networkx.node_link_data` is
not used, because its arguments differ between versions.
"""

from __future__ import annotations

import json

from .drawing import Drawing, Options
from .records import cut_records, edge_records, frame_records, graph_record, node_records


def write(drawing: Drawing, options: Options) -> bytes:
    data = {
        "directed": True,
        "multigraph": True,
        "graph": {
            **graph_record(drawing),
            "cuts": list(cut_records(drawing)),
            "frames": list(frame_records(drawing)),
        },
        "nodes": list(node_records(drawing)),
        "edges": list(edge_records(drawing)),
    }
    return (json.dumps(data, ensure_ascii=False, allow_nan=False, indent=1) + "\n").encode("utf-8")
