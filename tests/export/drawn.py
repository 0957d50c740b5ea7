"""Drawings to be written: the small recording, and one whose names are hostile."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import networkx as nx

from tapeviz.export import Drawing
from tapeviz.graph.model import Edge, Node
from tapeviz.layout.model import Layout, Rect
from tapeviz.scene.compose import compose
from tapeviz.scene.model import Overlay
from tapeviz.scene.sizes import with_sizes
from tapeviz.scene.theme import THEMES
from tapeviz.trace.model import EMPTY_TRACE
from tests.scene.pictured import pictured

HOSTILE = (
    "<lambda>",
    "a & b",
    'quote"d',
    "back\\slash\\N",
    "bell\x07\x1b[31m",
    "]]>",
    "&lt;",
    "<img src=x onerror=alert(1)>",
    "lone \ud800 half",
    "new\nline",
    "梯度 ∂x′",
    "{a|b}",
    "",
)


def drawing(theme: str = "light", overlay: Overlay | None = None) -> Drawing:
    made = pictured()
    scene = compose(made.graph, made.layout, made.trace, made.shown, overlay or Overlay())
    return Drawing(made.graph, made.layout, scene, THEMES[theme])


def hostile_drawing() -> Drawing:
    """A chain of nodes whose ids, titles and names are all hostile."""
    graph = nx.MultiDiGraph()
    ids = [f"{number}:{name}" for number, name in enumerate(HOSTILE)]
    for id_, name in zip(ids, HOSTILE, strict=True):
        graph.add_node(id_, node=Node(id_, "op", name, name, name, 1, name=name, group=name))
    for source, target in pairwise(ids):
        graph.add_edge(source, target, 0, edge=Edge(source, target, 0, None, None))
    graph = with_sizes(graph, EMPTY_TRACE)
    rects = {
        id_: Rect(0, 80 * place, graph.nodes[id_]["width"], 50) for place, id_ in enumerate(ids)
    }
    routes = {(a, b, 0): ((0.0, rects[a].bottom), (0.0, rects[b].top)) for a, b in pairwise(ids)}
    height = 80.0 * len(ids)
    layout = Layout("layered", "down", rects, routes, Rect(0, height / 2 - 40, 320, height))
    scene = compose(graph, layout, EMPTY_TRACE, None, Overlay())
    return Drawing(graph, layout, replace(scene, title=HOSTILE[0]), THEMES["light"])


def wide_drawing(width: float) -> Drawing:
    """Nothing but an extent."""
    layout = Layout("layered", "down", {}, {}, Rect(0, 0, width, 100))
    scene = compose(nx.MultiDiGraph(), layout, EMPTY_TRACE, None, Overlay())
    return Drawing(nx.MultiDiGraph(), layout, scene, THEMES["light"])
