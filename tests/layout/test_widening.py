"""Boxes that become wider: in their places, or not at all."""

from __future__ import annotations

from dataclasses import replace

from tapeviz.layout.model import Layout, Rect
from tapeviz.layout.room.widening import widened

LAYOUT = Layout(
    "layered",
    "down",
    {"a": Rect(50, 20, 80, 40), "b": Rect(50, 120, 80, 40), "c": Rect(160, 120, 80, 40)},
    {("a", "b", 0): ((50, 40), (50, 100)), ("a", "c", 0): ((70, 40), (160, 60), (160, 100))},
    Rect.from_sides(10, 0, 200, 140),
)


def test_a_box_grows_about_its_centre_and_nothing_else_moves() -> None:
    made = widened(LAYOUT, {"a": 110.0})
    assert made is not None
    assert made.rects == {**LAYOUT.rects, "a": Rect(50, 20, 110, 40)}
    assert made.routes == LAYOUT.routes
    assert (made.bounds.left, made.bounds.right) == (-5, 200)
    assert widened(LAYOUT, {}) is LAYOUT


def test_a_box_that_would_come_near_to_something_does_not() -> None:
    assert widened(LAYOUT, {"b": 130.0}) is None  # to a box
    passing = {**LAYOUT.routes, ("a", "c", 0): ((100.0, 40.0), (100.0, 100.0))}
    beside = replace(LAYOUT, rects={**LAYOUT.rects, "c": Rect(300, 120, 80, 40)}, routes=passing)
    assert widened(beside, {"b": 90.0}) is not None  # to a wire that ends above it
    passing["a", "c", 0] = ((100.0, 40.0), (100.0, 200.0))
    assert widened(replace(beside, routes=passing), {"b": 90.0}) is None
    framed = replace(beside, frames={"f": Rect(50, 120, 100, 60)})
    assert widened(framed, {"b": 95.0}) is None
    assert widened(replace(LAYOUT, direction="right"), {"a": 90.0}) is None
