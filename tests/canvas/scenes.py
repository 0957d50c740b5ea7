"""Small scenes to paint and to point at."""

from __future__ import annotations

import numpy as np

from tapeviz.layout.model import Rect
from tapeviz.scene.model import Box, Mark, Scene, Wire


def chain(count: int = 5, step: float = 100.0) -> Scene:
    """Boxes one below the other, each linked to the next; the second link is cut."""
    boxes = tuple(
        Box(
            f"n{i}", Rect(0, i * step, 120, 50), "rounded", f"op {i}", "float32", tooltip=f"tip {i}"
        )
        for i in range(count)
    )
    wires = tuple(
        Wire(
            (f"n{i}", f"n{i + 1}", 0),
            ((0, i * step + 25), (0, (i + 1) * step - 25)),
            "cut" if i == 1 else "gradient" if i % 2 else "recorded",
            2.0,
            tooltip=f"wire {i}",
            axis="y",
        )
        for i in range(count - 1)
    )
    marks = (Mark("scissors", 0, 1.5 * step, ("n1", "n2", 0), "Line 5: assign <i>cuts</i>"),)
    bounds = Rect(0, (count - 1) * step / 2, 140, (count - 1) * step + 70)
    return Scene(bounds, wires, boxes, marks)


def crowd(count: int, seed: int = 1) -> Scene:
    """Boxes on a grid, linked at random."""
    random = np.random.default_rng(seed)
    wide = max(1, int(count**0.5))
    places = [((i % wide) * 180.0, (i // wide) * 90.0) for i in range(count)]
    boxes = tuple(
        Box(f"n{i}", Rect(x, y, 140, 50), "capsule" if i % 5 == 0 else "rounded", f"op {i}", "f32")
        for i, (x, y) in enumerate(places)
    )
    wires = []
    for i in range(count - 1):
        j = min(count - 1, i + 1 + int(random.integers(0, wide)))
        points = (places[i], (places[i][0] + 20, places[j][1]), places[j])
        wires.append(Wire((f"n{i}", f"n{j}", i), points, "recorded", 1.5))
    right, bottom = (wide - 1) * 180.0, (count // wide) * 90.0
    return Scene(Rect(right / 2, bottom / 2, right + 160, bottom + 70), tuple(wires), boxes)
