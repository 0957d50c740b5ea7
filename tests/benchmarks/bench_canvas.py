"""Milliseconds that a frame of the graph costs: ``python -m tests.benchmarks.bench_canvas``.

A deep graph of 50,000 nodes and 70,000 edges, painted into the widget's own surface while the
camera moves, as the window does it.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time

import numpy as np
from figures import print_row

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")


def synthetic_scene(nodes: int, edges: int, seed: int = 7) -> object:
    """Layers of one to six boxes, edges mostly to the next layer, a few very long ones."""
    from tapeviz.layout.model import Rect
    from tapeviz.scene.model import Box, Scene, Wire

    random = np.random.default_rng(seed)
    boxes, layer_of, at, layer = [], [], [], 0
    while len(boxes) < nodes:
        wide = min(int(random.integers(1, 7)), nodes - len(boxes))
        for place in range(wide):
            x, y = (place - wide / 2) * 190.0, layer * 92.0
            at.append((x, y))
            layer_of.append(layer)
            number = len(boxes)
            kind = "chip" if number % 9 == 0 else "capsule" if number % 11 == 0 else "rounded"
            shape = Rect(x, y, 150.0, 52.0)
            boxes.append(
                Box(f"n{number}", shape, kind, f"MatMul {number}", "float32 · 2×3 · line 6")
            )
        layer += 1
    wires = []
    while len(wires) < edges:
        a = int(random.integers(0, nodes - 12))
        far = random.random() < 0.02
        b = a + int(random.integers(1, 4000 if far else 12))
        if b >= nodes or layer_of[b] <= layer_of[a]:
            continue
        start, end = (at[a][0], at[a][1] + 26), (at[b][0], at[b][1] - 26)
        middle = ((start[0] + end[0]) / 2 + 30, (start[1] + end[1]) / 2)
        state = "gradient" if len(wires) % 3 == 0 else "recorded"
        points = (start, middle, end)
        wires.append(Wire((f"n{a}", f"n{b}", len(wires)), points, state, 2.0, axis="y"))
    xs, ys = [p[0] for p in at], [p[1] for p in at]
    bounds = Rect(
        (min(xs) + max(xs)) / 2,
        (min(ys) + max(ys)) / 2,
        max(xs) - min(xs) + 200,
        max(ys) - min(ys) + 100,
    )
    return Scene(bounds, tuple(wires), tuple(boxes))


def frames(view: object, count: int, move: object) -> list[float]:
    """Times of ``count`` repaints, in ms; ``move`` changes the camera before each."""
    times = []
    for number in range(count):
        move(number)  # type: ignore[operator]
        begin = time.perf_counter()
        view.viewport().repaint()  # type: ignore[attr-defined]
        times.append((time.perf_counter() - begin) * 1000)
    return times


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=50_000)
    parser.add_argument("--edges", type=int, default=70_000)
    parser.add_argument("--frames", type=int, default=40)
    options = parser.parse_args(arguments)

    from tapeviz.app.main import make_application
    from tapeviz.canvas.view import GraphView
    from tapeviz.scene.theme import THEMES

    application = make_application()
    begin = time.perf_counter()
    scene = synthetic_scene(options.nodes, options.edges)
    print(f"scene made in {time.perf_counter() - begin:.2f} s")

    def failed(error: Exception) -> None:
        raise error

    view = GraphView(THEMES["light"], failed)
    view.resize(1600, 1000)
    view.show()
    application.processEvents()
    begin = time.perf_counter()
    view.set_scene(scene)
    view.fit(glides=False)
    view.viewport().repaint()
    print(f"first picture after {(time.perf_counter() - begin) * 1000:.0f} ms")
    whole = view.camera.scale
    print("scale     in view   median ms   worst ms   band")
    for scale in (whole, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0):
        from tapeviz.canvas.bands import band_for

        view.set_camera(view.camera.fitted(scene.bounds).zoomed(scale / view.camera.scale))  # type: ignore[attr-defined]
        view.set_camera(view.camera.zoomed(scale / view.camera.scale))
        boxes = len(view.prepared.boxes_in(view.camera.sight))
        times = frames(
            view, options.frames, lambda n: view.set_camera(view.camera.panned(3, 7 + n % 3))
        )
        band = band_for(view.camera.scale, boxes)
        print(
            f"{view.camera.scale:7.4f} {boxes:9,} {statistics.median(times):11.1f} "
            f"{max(times):10.1f}   {band}"
        )
        if scale == whole:
            print_row(
                f"a frame of {options.nodes:,} boxes, all in sight",
                f"{times[len(times) // 2]:.0f} ms",
            )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
