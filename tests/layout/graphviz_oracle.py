"""The same graph drawn by Graphviz dot, where it is installed: boxes and sampled splines out."""

from __future__ import annotations

import shutil
import subprocess

import networkx as nx

from tapeviz.layout.model import EdgeKey, Layout, Point, Rect

INCH = 72.0
DOT = shutil.which("dot")


def drawn_by_dot(
    graph: nx.MultiDiGraph, direction: str = "down", options: tuple[str, ...] = (), limit: int = 300
) -> Layout:
    """Same box sizes, same gaps as ours; raises ``subprocess.TimeoutExpired`` after ``limit`` s."""
    assert DOT is not None
    ids = {node: f"v{k}" for k, node in enumerate(graph)}
    lines = [
        "digraph {",
        f"rankdir={'LR' if direction == 'right' else 'TB'};",
        f'nodesep={28 / INCH}; ranksep={46 / INCH}; node [shape=box fixedsize=true label=""];',
    ]
    for node, data in graph.nodes(data=True):
        lines.append(f"{ids[node]} [width={data['width'] / INCH} height={data['height'] / INCH}];")
    for tail, head, data in graph.edges(data=True):
        weight = max(1, round(data.get("weight", 1)))
        lines.append(f"{ids[tail]} -> {ids[head]} [weight={weight}];")
    lines.append("}")
    answer = subprocess.run(
        [DOT, "-Tplain", "-y", *options],
        input="\n".join(lines),
        capture_output=True,
        text=True,
        check=True,
        timeout=limit,
    ).stdout
    return _read_plain(answer, graph, {v: k for k, v in ids.items()}, direction)


def _read_plain(
    answer: str, graph: nx.MultiDiGraph, names: dict[str, str], direction: str
) -> Layout:
    rects: dict[str, Rect] = {}
    routes: dict[EdgeKey, tuple[Point, ...]] = {}
    unused = {
        (tail, head): list(keys)
        for tail, head in graph.edges()
        for keys in [graph.get_edge_data(tail, head)]
    }
    bounds = Rect(0, 0, 0, 0)
    for line in answer.replace("\\\n", "").splitlines():
        word, *rest = line.split()
        if word == "graph":
            width, height = float(rest[1]) * INCH, float(rest[2]) * INCH
            bounds = Rect(width / 2, height / 2, width, height)
        elif word == "node":
            x, y, width, height = (float(v) * INCH for v in rest[1:5])
            rects[names[rest[0]]] = Rect(x, y, width, height)
        elif word == "edge":
            tail, head = names[rest[0]], names[rest[1]]
            numbers = [float(v) * INCH for v in rest[3 : 3 + 2 * int(rest[2])]]
            control = list(zip(numbers[::2], numbers[1::2], strict=True))
            key = (tail, head, unused[tail, head].pop(0))
            routes[key] = tuple(_sampled(control))
    return Layout("dot", direction, rects, routes, bounds)


def _sampled(control: list[Point], steps: int = 12) -> list[Point]:
    points = [control[0]]
    for k in range(0, len(control) - 3, 3):
        (ax, ay), (bx, by), (cx, cy), (dx, dy) = control[k : k + 4]
        for step in range(1, steps + 1):
            t = step / steps
            a, b, c, d = (1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3
            points.append((a * ax + b * bx + c * cx + d * dx, a * ay + b * by + c * cy + d * dy))
    return points
