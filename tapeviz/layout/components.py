"""A graph in; its connected parts, largest first, out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tapeviz.layout.arrays import GraphArrays, Ints


@dataclass(frozen=True, slots=True)
class Component:
    """A connected part with its own numbering; ``members`` and ``edges`` are the whole's."""

    graph: GraphArrays
    members: Ints
    edges: Ints


def components(graph: GraphArrays) -> list[Component]:
    """Sorted by size, equal sizes by first node."""
    label = _labels(graph)
    members = np.argsort(label, kind="stable")
    sizes = np.bincount(label)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    number = np.empty(graph.size, dtype=np.intp)
    number[members] = np.arange(graph.size) - starts[label[members]]
    edge_label = label[graph.tails]
    edges = np.argsort(edge_label, kind="stable")
    edge_starts = np.concatenate([[0], np.cumsum(np.bincount(edge_label, minlength=len(sizes)))])
    return [
        _component(
            graph,
            members[starts[k] : starts[k + 1]],
            edges[edge_starts[k] : edge_starts[k + 1]],
            number,
        )
        for k in sorted(range(len(sizes)), key=lambda k: -sizes[k])
    ]


def _component(graph: GraphArrays, members: Ints, edges: Ints, number: Ints) -> Component:
    part = graph.part(members, edges)
    return Component(part, members, edges)


def _labels(graph: GraphArrays) -> Ints:
    """Number of the component of each node, in order of first appearance."""
    parent = list(range(graph.size))
    for tail, head in zip(graph.tails.tolist(), graph.heads.tolist(), strict=True):
        while parent[tail] != tail:
            parent[tail] = parent[parent[tail]]
            tail = parent[tail]
        while parent[head] != head:
            parent[head] = parent[parent[head]]
            head = parent[head]
        if tail != head:  # the older root stays, so that labels follow insertion order
            parent[max(tail, head)] = min(tail, head)
    return np.fromiter(_numbered(parent), dtype=np.intp, count=graph.size)


def _numbered(parent: list[int]) -> Iterator[int]:
    """A parent has a smaller index than its children, so one walk settles all."""
    label: list[int] = []
    found = 0
    for node, above in enumerate(parent):
        if node == above:
            label.append(found)
            found += 1
        else:
            label.append(label[above])
        yield label[-1]
