"""A connected graph in; its layered picture from top to bottom out.

Sugiyama's steps, each a module: cycles, rows, order in the rows, positions, docks, routes.
"""

from __future__ import annotations

from dataclasses import dataclass

from tapeviz.layout.acyclic import turned_down
from tapeviz.layout.arrays import GraphArrays
from tapeviz.layout.coordinates import place_across
from tapeviz.layout.layers import cut_into_layers, dummies_needed
from tapeviz.layout.ordering import order_rows
from tapeviz.layout.picture import IndexedLayout
from tapeviz.layout.ports import dock
from tapeviz.layout.ranking import rank_nodes
from tapeviz.layout.routing import route, stack_rows, tracks_of


@dataclass(frozen=True, slots=True)
class Ranked:
    """A graph with its rows. ``down[e]``: edge e from its upper to its lower end."""

    graph: GraphArrays
    turned: set[int]
    down: list[tuple[int, int]]
    ranks: list[int]

    @property
    def vertices(self) -> int:
        """Nodes and the dummies that long edges will need."""
        return self.graph.size + dummies_needed(self.ranks, self.down)


def rank(graph: GraphArrays) -> Ranked:
    """``graph`` must be connected and without self-loops."""
    turned, down = turned_down(graph)
    return Ranked(graph, turned, down, rank_nodes(graph.size, down, graph.weights.tolist()))


def draw_layered(ranked: Ranked) -> IndexedLayout:
    """The careful picture: seconds for some hundred nodes with thousands of dummies."""
    graph, down, ranks = ranked.graph, ranked.down, ranked.ranks
    layers = cut_into_layers(ranks, down)
    sequence = order_rows(layers)
    x = place_across(graph, layers, sequence)
    upper, lower = dock(graph, layers, x)
    tracks = tracks_of(layers, x, upper, lower)
    rows, delays = stack_rows(graph, layers, tracks)
    y = rows.middle[layers.rank[: layers.real]]
    routes = []
    for edge, (top, bottom) in enumerate(down):
        ends = (
            float(y[top] + graph.along[top] / 2),
            float(y[bottom] - graph.along[bottom] / 2),
        )
        late = [delays.get((edge, i), 0) for i in range(len(tracks[edge]) - 1)]
        line = route(ranks[top], tracks[edge], rows, ends, late)
        routes.append(line[::-1] if edge in ranked.turned else line)
    return IndexedLayout(x[: layers.real], y, routes)
