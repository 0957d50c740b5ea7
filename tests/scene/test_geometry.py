from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapeviz.layout.model import Rect
from tapeviz.scene.model import Wire
from tapeviz.scene.parts.geometry import (
    arrow,
    circle,
    curve,
    cut_back,
    end_direction,
    flattened,
    grown,
    point_along,
    rounded,
)
from tapeviz.scene.parts.placing import clear_point, free_point, shares_apart
from tapeviz.scene.parts.scissors import scissors

TAKES = {"M": 1, "L": 1, "C": 3, "Z": 0}
across = st.floats(-500, 500)
down = st.lists(st.floats(1, 80), min_size=1, max_size=8)


@st.composite
def falling(draw: st.DrawFn) -> list[tuple[float, float]]:
    y, points = 0.0, [(draw(across), 0.0)]
    for step in draw(down):
        y += step
        points.append((draw(across), y))
    return points


@given(falling())
def test_a_curve_passes_its_points_and_never_swings_beyond_them(points: list) -> None:
    path = flattened(curve(points, "y"), 40)
    for point in points:
        assert min(math.dist(point, corner) for corner in path) < 1e-6
    ys = [y for _, y in path]
    assert all(b >= a - 1e-6 for a, b in pairwise(ys))
    for (x0, y0), (x1, y1) in pairwise(points):
        for x, y in path:
            if y0 < y < y1:
                assert min(x0, x1) - 1e-6 <= x <= max(x0, x1) + 1e-6


@given(falling())
def test_a_curve_leaves_and_arrives_along_its_axis(points: list) -> None:
    outline = curve(points, "y")
    assert outline.points[0] == points[0]
    assert outline.points[-1] == points[-1]
    assert outline.points[1][0] == pytest.approx(points[0][0])
    assert outline.points[-2][0] == pytest.approx(points[-1][0])
    assert end_direction(points, "y") == (0.0, 1.0)


@given(st.lists(st.tuples(across, across), min_size=1, max_size=8), st.sampled_from(["", "x", "y"]))
def test_any_polyline_has_a_sound_outline(points: list, axis: str) -> None:
    outline = curve(points, axis)  # type: ignore[arg-type]
    assert outline.verbs[0] == "M"
    assert sum(TAKES[verb] for verb in outline.verbs) == len(outline.points)
    assert all(math.isfinite(n) for point in outline.points for n in point)
    assert math.hypot(*end_direction(points, axis)) == pytest.approx(1)  # type: ignore[arg-type]


def test_corners_of_a_polyline_are_rounded_within_it() -> None:
    path = flattened(curve([(0, 0), (100, 0), (100, 100)], ""), 20)
    assert (100, 0) not in path
    assert all(0 <= x <= 100 and 0 <= y <= 100 for x, y in path)
    assert min(math.dist(point, (100, 0)) for point in path) < 8


def test_a_capsule_has_half_circles_for_ends() -> None:
    outline = rounded(Rect(0, 0, 100, 40), 99)
    left = [p for p in flattened(outline) if p[0] < -30]
    assert all(math.dist(p, (-30, 0)) == pytest.approx(20, abs=0.02) for p in left)


def test_circle_and_ring_offsets() -> None:
    assert all(math.hypot(*p) == pytest.approx(9, abs=0.01) for p in flattened(circle(0, 0, 9)))
    assert grown(Rect(1, 2, 10, 20), 4) == Rect(1, 2, 18, 28)


def test_arrow_ends_in_its_tip_and_leaves_it_the_wire() -> None:
    head = arrow((10, 50), (0, 1), 8, 4)
    assert head.points == ((10, 50), (6, 42), (14, 42))
    assert cut_back([(10, 0), (10, 50)], (0, 1), 8)[-1] == (10, 42)


def test_point_along() -> None:
    assert point_along([(0, 0), (10, 0), (10, 30)], 0.5) == (10, 10)
    assert point_along([(3, 3), (3, 3)], 0.5) == (3, 3)


def test_scissors_fit_their_disc() -> None:
    for outline in scissors(0, 0, 14):
        assert sum(TAKES[verb] for verb in outline.verbs) == len(outline.points)
        assert all(math.hypot(*point) < 10 for point in outline.points)


def test_a_label_without_room_on_its_wire_stands_beside_it_or_is_left_out() -> None:
    wire = Wire(("a", "b", 0), ((50.0, 0.0), (50.0, 100.0)), "gradient", 2.0)
    beside, half = np.array([[0.0, 0.0, 40.0, 100.0]]), (20.0, 8.0)
    assert clear_point(wire, beside, (), half)[0] == pytest.approx(50)
    wide, narrow = Rect.from_sides(0, 0, 100, 100), Rect.from_sides(0, 0, 80, 100)
    spot = free_point(wire, beside, (), half, (0.5, 0.7), wide)
    assert spot == pytest.approx((70, 50))
    assert free_point(wire, beside, (), half, (0.5, 0.7), narrow) is None
    far = np.array([[0.0, 0.0, 40.0, 100.0], [75.0, 0.0, 95.0, 100.0]])
    assert free_point(wire, far, (), half, (0.5, 0.7), wide) is None


def test_scissors_stand_away_from_other_wires() -> None:
    wire, across = (
        Wire(("a", name, 0), ((start, 0.0), (end, 100.0)), "gradient", 2.0)
        for name, start, end in (("b", 50.0, 50.0), ("c", 20.0, 80.0))
    )
    middle, end = (shares_apart(wire, others, 10) for others in ([], [across]))
    assert middle.index(0.5) < middle.index(0.16)
    assert end.index(0.5) > end.index(0.16)
