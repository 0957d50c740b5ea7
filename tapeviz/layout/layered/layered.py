"""Lay a connected graph out in layers, from top to bottom.

The steps of Sugiyama's method, a module each: cycles, rows, order in the rows, positions, docks,
routes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, GraphArrays, Ints
from ..picture import IndexedLayout, Line
from .acyclic import turned_down
from .balance import DRAFT_ITERATIONS, ITERATIONS, LARGE_ITERATIONS
from .coordinates import place_across
from .earlier import like_before
from .lanes import place_lanes
from .layers import cut_into_layers, dummies_needed
from .ordering import ATTEMPTS, DRAFT_ATTEMPTS, order_blocks, rows_by
from .ports import dock
from .ranking import rank_nodes, tightened_rows
from .routing import route, stack_rows, tracks_of
from .sweeping import order_by_sweeps
from .untangling import untangle

REACH = 12
"""Rows; longer edges of a large graph run in lanes beside the rows."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A graph with its rows, without the edges that are not drawn (those with ``pull`` 0).

    ``drawn``: the numbers of its edges in the whole graph, which has ``count`` edges; ``turned``:
    the edges that run upwards; ``down[e]``: edge e as (upper, lower). ``is_large``: each further
    step takes a few operations on whole arrays, or a walk over nodes and edges.
    """

    graph: GraphArrays
    drawn: Ints
    count: int
    turned: set[int]
    down: list[tuple[int, int]]
    ranks: list[int]
    is_large: bool

    @property
    def vertices(self) -> int:
        """The number of nodes and of the dummies that long edges will need."""
        return self.graph.size + dummies_needed(self.ranks, self.down)


def rank(graph: GraphArrays, *, is_large: bool = False) -> Ranked:
    """Find the rows of a connected graph without self-loops."""
    _, down = turned_down(graph)
    if is_large:
        ranks = tightened_rows(graph.size, down)
    else:
        ranks = rank_nodes(graph.size, down, graph.weights.tolist())
    drawn = np.flatnonzero(graph.pull)
    kept = graph.part(np.arange(graph.size), drawn) if len(drawn) < len(graph.keys) else graph
    ends = list(zip(kept.tails.tolist(), kept.heads.tolist(), strict=True))
    turned = {edge for edge, (tail, head) in enumerate(ends) if ranks[tail] > ranks[head]}
    down = [end[::-1] if edge in turned else end for edge, end in enumerate(ends)]
    return Ranked(kept, drawn, len(graph.keys), turned, down, ranks, is_large)


def draw_layered(ranked: Ranked, *, is_draft: bool = False) -> IndexedLayout:
    """The layered picture; takes seconds for some hundred nodes with thousands of dummies that are
    not ranked as large.

    ``is_draft``: nearly as large, with more crossings and bends."""
    graph, down = ranked.graph, ranked.down
    layers = cut_into_layers(ranked.ranks, down, REACH if ranked.is_large else None)
    fixed = _fixed_docks(ranked)
    iterations = LARGE_ITERATIONS
    if ranked.is_large:
        key = order_by_sweeps(layers)
    elif is_draft:
        key, iterations = order_blocks(layers, DRAFT_ATTEMPTS), DRAFT_ITERATIONS
    else:
        key, iterations = order_blocks(layers, ATTEMPTS), ITERATIONS
        key = like_before(layers, key, graph.before, may_turn=bool(np.isnan(fixed).all()))
        if not np.isnan(fixed).all():
            key = untangle(layers, key, fixed)
    x = place_across(graph, layers, rows_by(layers, key), fixed, iterations)
    x = np.concatenate([x, place_lanes(graph, layers, x)])
    upper, lower = dock(graph, layers, x, fixed)
    tracks = tracks_of(layers, x, upper, lower)
    rows, delays = stack_rows(graph, layers, tracks)
    y = rows.middle[layers.rank[: layers.real]]
    routes: list[Line] = [[(0.0, 0.0), (0.0, 0.0)] for _ in range(ranked.count)]
    under, over = (y + graph.along / 2).tolist(), (y - graph.along / 2).tolist()
    for edge, (gaps, (top, bottom)) in enumerate(zip(layers.gaps(), down, strict=True)):
        ends = under[top], over[bottom]
        late = [delays.get((edge, i), 0) for i in range(len(gaps))]
        line = route(gaps, tracks[edge], rows, ends, late)
        routes[int(ranked.drawn[edge])] = line[::-1] if edge in ranked.turned else line
    return IndexedLayout(x[: layers.real], y, routes)


def _fixed_docks(ranked: Ranked) -> Floats:
    """The x at which the upper and the lower end of each edge must dock, px from the box's centre,
    nan for anywhere; (edges, 2)."""
    graph = ranked.graph
    turned = np.isin(np.arange(len(graph.keys)), list(ranked.turned))
    upper = np.where(turned, graph.head_at, graph.tail_at)
    lower = np.where(turned, graph.tail_at, graph.head_at)
    return np.stack([upper, lower], axis=1)
