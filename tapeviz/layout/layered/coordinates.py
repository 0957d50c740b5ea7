"""Place the vertices of ordered rows across the flow.

The dummies of a long edge move together, so that it runs straight; only at hinges may it bend, to
save room. The rest is a balance: springs pull edges straight, fences keep boxes apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ..arrays import Floats, GraphArrays, Ints
from ..components import joined_parts
from .balance import ITERATIONS, Fences, Springs, balance, within_fences
from .layers import Layers
from .ranking import topological_order

BOX_GAP = 18.0
WIRE_GAP = 14.0
"""Between two long edges side by side, px."""
BOX_TO_WIRE = 18.0
THIN = 2.0
"""Half the width of a port, px: it keeps the distance of a wire."""
HINGE = 10
"""Long edges may bend once in this many rows."""
HINGES = 300
"""Hinges in all, about: with many dummies there are more rows between two hinges."""
BROKEN_WIRE = 6.0
"""Weight of a bend inside a long edge."""
PASSING = 3.0
"""Weight of an edge between two ops that continue a chain: chains should be straight."""
LEAVING, ARRIVING = 0.9, 0.75
"""Weights of the ends of a long edge: it bends at its lower end first."""
STRAIGHT = 3.0
"""Px; a spring that should be straight and is off by less is made straight."""


def place_across(
    graph: GraphArrays,
    layers: Layers,
    sequence: Sequence[Ints],
    fixed: Floats,
    iterations: int = ITERATIONS,
) -> Floats:
    """The centre of each vertex, px.

    ``sequence``: the vertices of each row from left to right. ``fixed`` (edges, 2): where the upper
    and the lower end of each edge must dock, px from the centre of the box, nan for anywhere.
    """
    before, after = np.zeros(len(layers.rank)), np.zeros(len(layers.rank))
    before[: layers.real] = graph.across / 2
    after[: layers.real] = graph.across / 2 + graph.beside
    springs = _springs(graph, layers, np.nan_to_num(fixed))
    left = np.concatenate([row[:-1] for row in sequence])
    right = np.concatenate([row[1:] for row in sequence])
    is_box = before > THIN
    boxes = is_box[left].astype(int) + is_box[right]
    gap = np.array([WIRE_GAP, BOX_TO_WIRE, BOX_GAP])[boxes]
    fences = Fences(left, right, after[left] + before[right] + gap)
    group = _without_circles(fences, _wires(layers))
    count = int(group.max()) + 1
    grouped = _group_fences(fences, group)
    start = within_fences(np.zeros(count), grouped)
    moving = _group_springs(springs, group)
    wanted, bend = balance(count, moving, grouped, start, iterations)
    placed = within_fences(wanted, grouped)
    merged = _without_circles(grouped, _merged(count, moving, placed, bend))
    means = np.bincount(merged, placed) / np.bincount(merged)
    return within_fences(means, _group_fences(grouped, merged))[merged][group]


def _without_circles(fences: Fences, group: Ints) -> Ints:
    """The groups, less those that may be both left and right of another: their members stay by
    themselves."""
    pairs = _group_fences(fences, group)
    left, right = pairs.left.tolist(), pairs.right.tolist()
    count = int(group.max()) + 1
    onwards = topological_order(count, list(zip(left, right, strict=True)))
    if len(onwards) == count:
        return group
    backwards = topological_order(count, list(zip(right, left, strict=True)))
    in_order = np.zeros(count, dtype=bool)
    in_order[onwards] = in_order[backwards] = True
    alone = np.where(in_order[group], group, count + np.arange(len(group)))
    return np.unique(alone, return_inverse=True)[1].reshape(-1)


def _wires(layers: Layers) -> Ints:
    """The group of each vertex: the dummies of a chain form one, up to the next hinge."""
    dummies = len(layers.rank) - layers.real
    every = max(HINGE, dummies // HINGES)
    group = np.arange(len(layers.rank))
    count = layers.real
    for edge, chain in enumerate(layers.chains):
        if len(chain) > 2 and edge not in layers.in_lanes:
            inner = np.array(chain[1:-1])
            pieces = layers.rank[inner] // every
            group[inner] = count + pieces - pieces[0]
            count += int(pieces[-1] - pieces[0]) + 1
    return group


def _springs(graph: GraphArrays, layers: Layers, docks: Floats) -> Springs:
    """A spring for each piece of an edge; pieces within a chain of ops weigh more than last
    ones."""
    indegree = np.bincount(graph.heads, minlength=graph.size)
    outdegree = np.bincount(graph.tails, minlength=graph.size)
    first: list[int] = []
    second: list[int] = []
    rest: list[float] = []
    weight: list[float] = []
    for edge, chain in enumerate(layers.chains):
        if not graph.pull[edge] or edge in layers.in_lanes:
            continue
        upper, lower = chain[0], chain[-1]
        passing = indegree[graph.tails[edge]] > 0 and outdegree[graph.heads[edge]] > 0
        for above, below in pairwise(chain):
            first.append(above)
            second.append(below)
            if above != upper and below != lower:
                factor = BROKEN_WIRE
            elif len(chain) == 2:
                factor = PASSING if passing else 1.0
            else:
                factor = LEAVING if above == upper else ARRIVING
            weight.append(factor * float(graph.weights[edge] * graph.pull[edge]))
            leaves = float(docks[edge, 0]) if above == upper else 0.0
            rest.append(leaves - (float(docks[edge, 1]) if below == lower else 0.0))
    return Springs(
        np.array(first, dtype=np.intp),
        np.array(second, dtype=np.intp),
        np.array(rest, dtype=np.float64),
        np.array(weight, dtype=np.float64),
    )


def _group_fences(fences: Fences, group: Ints) -> Fences:
    """The fences between groups: for each pair the widest."""
    left, right = group[fences.left], group[fences.right]
    pairs, which = np.unique(np.stack([left, right]), axis=1, return_inverse=True)
    gap = np.zeros(pairs.shape[1])
    np.maximum.at(gap, which.reshape(-1), fences.gap)
    return Fences(pairs[0], pairs[1], gap)


def _group_springs(springs: Springs, group: Ints) -> Springs:
    first, second = group[springs.first], group[springs.second]
    apart = first != second
    pairs, which = np.unique(np.stack([first, second])[:, apart], axis=1, return_inverse=True)
    weight, rest = np.zeros(pairs.shape[1]), np.zeros(pairs.shape[1])
    np.add.at(weight, which.reshape(-1), springs.weight[apart])
    np.add.at(rest, which.reshape(-1), (springs.rest * springs.weight)[apart])
    return Springs(pairs[0], pairs[1], rest / weight, weight)


def _merged(count: int, springs: Springs, wanted: Floats, bend: Floats) -> Ints:
    """The class of each group; straight springs join their ends to one class."""
    offset = np.abs(wanted[springs.second] - wanted[springs.first])
    straight = (bend == 0) & (springs.rest == 0) & (offset < STRAIGHT)
    return joined_parts(count, springs.first[straight], springs.second[straight])
