"""Split a graph into its connected parts, largest first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .arrays import GraphArrays, Ints


@dataclass(frozen=True, slots=True)
class Component:
    """A connected part as a graph of its own; ``members``, ``edges``: their numbers in the
    whole."""

    graph: GraphArrays
    members: Ints
    edges: Ints


def components(graph: GraphArrays) -> list[Component]:
    """The connected parts, the largest first; of equal size, by first node."""
    label = joined_parts(graph.size, graph.tails, graph.heads)
    members = np.argsort(label, kind="stable")
    sizes = np.bincount(label)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    edge_label = label[graph.tails]
    edges = np.argsort(edge_label, kind="stable")
    edge_starts = np.concatenate([[0], np.cumsum(np.bincount(edge_label, minlength=len(sizes)))])
    parts = []
    for k in sorted(range(len(sizes)), key=lambda k: -sizes[k]):
        nodes = members[starts[k] : starts[k + 1]]
        inner = edges[edge_starts[k] : edge_starts[k + 1]]
        parts.append(Component(graph.part(nodes, inner), nodes, inner))
    return parts


def joined_parts(count: int, first: Ints, second: Ints) -> Ints:
    """The number of the part that each of ``count`` nodes is in, if ``first[k]`` and ``second[k]``
    are joined; parts are numbered by their first nodes (union-find)."""
    parent = list(range(count))

    def root(node: int) -> int:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for node, other in zip(first.tolist(), second.tolist(), strict=True):
        low, high = sorted((root(node), root(other)))
        parent[high] = low  # the older root stays, so that parts follow insertion order
    label: list[int] = []
    found = 0
    for node, above in enumerate(parent):  # a parent comes before its children
        label.append(found if node == above else label[above])
        found += node == above
    return np.array(label, dtype=np.intp)
