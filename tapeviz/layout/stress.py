"""A graph in; positions in the plane that follow the distances in it out.

networkx has both of these only with SciPy, which tapeviz does not need otherwise: Kamada and
Kawai's energy (1989), minimised by majorisation (Gansner, Koren, North, "Graph drawing by stress
majorization", 2004); and for large graphs pivot MDS (Brandes, Pich, "Eigensolver methods for
progressive multidimensional scaling of large data", 2006).
"""

from __future__ import annotations

from collections import deque

import numpy as np

from tapeviz.layout.arrays import Floats, GraphArrays


def least_stress(graph: GraphArrays, start: Floats, iterations: int = 300) -> Floats:
    """Positions (n, 2) with distances as near as possible to the number of edges between.

    The graph must be connected; meant for up to some 500 nodes.
    """
    if graph.size < 2:
        return start
    near = _neighbours(graph)
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
    """Positions (n, 2) by classical scaling of the distances to some far-apart pivots."""
    near = _neighbours(graph)
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
    plane *= np.where(plane.sum(0) < 0, -1.0, 1.0)  # an eigenvector's sign is anyone's choice
    points: Floats = centred @ plane
    if points.shape[1] < 2:
        points = np.column_stack([points, np.zeros(graph.size)])
    return points


def _neighbours(graph: GraphArrays) -> list[list[int]]:
    near: list[list[int]] = [[] for _ in range(graph.size)]
    for tail, head in zip(graph.tails.tolist(), graph.heads.tolist(), strict=True):
        near[tail].append(head)
        near[head].append(tail)
    return near


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
