"""Know which turns of compiled loops a picture shows around a group, and which a step needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import networkx as nx

from .tree import upwards


def other_turns(graph: nx.MultiDiGraph, group: str, turns: Sequence[int]) -> Mapping[str, int]:
    """The turn (from 1) by path for each open compiled loop around a group that shows another.

    ``graph``: a folded one; ``turns``: those wanted, from 0, of the outermost loop first.
    """
    frames = {frame.path: frame for frame in graph.graph.get("frames", ())}
    loops = [path for path in upwards(group) if path in frames and frames[path].loop is not None]
    wanted = zip(reversed(loops), turns, strict=False)  # inner loops that are folded get no turn
    return {path: turn + 1 for path, turn in wanted if frames[path].turn != turn + 1}
