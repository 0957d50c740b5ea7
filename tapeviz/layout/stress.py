"""Place nodes so that their distances follow the distances in the graph.

The energy of Kamada and Kawai (1989), minimised by majorisation (Gansner, Koren, North, "Graph
drawing by stress majorization", 2004), and for large graphs pivot MDS (Brandes, Pich, "Eigensolver
methods for progressive multidimensional scaling of large data", 2006). networkx would need SciPy.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from .arrays import Floats, GraphArrays
from .layered.layers import neighbours


def least_stress(graph: GraphArrays, start: Floats, iterations: int = 300) -> Floats:
    """Positions (n, 2) whose distances are near the number of edges between the nodes.

    The graph must be connected, and have at most some 500 nodes: time and memory grow with n².
    """
    if graph.size < 2:
        return start
    near = neighbours(graph.size, graph.tails, graph.heads)
    distance = np.array([_distances(near, v) for v in range(graph.size)], dtype=np.float64)
    np.fill_diagonal(distance, 1.0)
    weight = distance**-2
    np.fill_diagonal(weight, 0.0)
    laplacian = np.diag(weight.sum(1)) - weight
    inverse = np.linalg.pinv(laplacian)
    points: Floats = start * distance.max() / 2
    for _ in range(iterations):
        gap = np.linalg.norm(points[:, None] - points, axis=2)
        ratio = np.divide(weight * distance, gap, out=np.zeros_like(gap), where=gap > 1e-9)
        moved = inverse @ (points * ratio.sum(1)[:, None] - ratio @ points)
        change = float(np.abs(moved - points).max())
        points = moved
        if change < 1e-3:
            break
    return points


def pivot_positions(graph: GraphArrays, pivots: int = 50) -> Floats:
    """Positions (n, 2) by classical scaling of the distances to ``pivots`` nodes far apart."""
    near = neighbours(graph.size, graph.tails, graph.heads)
    nearest = np.full(graph.size, np.inf)
    columns = []
    pivot = 0
    for _ in range(min(pivots, graph.size)):
        column = np.array(_distances(near, pivot), dtype=np.float64)
        columns.append(column)
        nearest = np.minimum(nearest, column)
        pivot = int(nearest.argmax())
    squared = np.stack(columns, axis=1) ** 2
    centred = squared - squared.mean(0) - squared.mean(1)[:, None] + squared.mean()
    values, vectors = np.linalg.eigh(centred.T @ centred)
    plane = vectors[:, np.argsort(values)[::-1][:2]]
    plane *= np.where(plane.sum(0) < 0, -1.0, 1.0)  # the sign of an eigenvector is arbitrary
    points: Floats = centred @ plane
    if points.shape[1] < 2:
        points = np.column_stack([points, np.zeros(graph.size)])
    return points


def _distances(near: list[list[int]], start: int) -> list[int]:
    distance = [-1] * len(near)
    distance[start] = 0
    queue = deque([start])
    while queue:
        vertex = queue.popleft()
        for other in near[vertex]:
            if distance[other] < 0:
                distance[other] = distance[vertex] + 1
                queue.append(other)
    return distance
