from __future__ import annotations

from dataclasses import replace

import pytest

from tapeviz.layout.model import Point, Rect
from tapeviz.scene.model import EMPTY_SCENE, Wire
from tapeviz.scene.parts.crossings import with_crossings
from tapeviz.scene.sheet import lay_sheet
from tapeviz.scene.strokes import drawing_order, group_of
from tapeviz.scene.theme import THEMES


def wire(source: str, *points: Point) -> Wire:
    return Wire((source, "end", 0), points, "gradient", 3.0, axis="y")


DOWN, UP_TO_DOWN = wire("a", (0, 0), (0, 400)), wire("b", (-150, 190), (150, 210))


def test_where_wires_of_two_boxes_cross_both_have_a_stretch_around_it() -> None:
    for crossing in with_crossings([DOWN, UP_TO_DOWN]):
        (stretch,) = crossing.crossings
        xs, ys = zip(*stretch.points, strict=True)
        assert min(xs) <= 0 <= max(xs)
        assert min(ys) <= 200 <= max(ys)
    straight = with_crossings([DOWN, UP_TO_DOWN])[0].crossings[0]
    assert straight.points[0] == pytest.approx((0, 140))
    assert straight.points[-1] == pytest.approx((0, 260))


def test_wires_of_one_box_and_wires_that_do_not_meet_have_none() -> None:
    fork = wire("a", (-150, 190), (150, 210))
    aside = wire("c", (300, 0), (300, 400))
    assert not any(each.crossings for each in with_crossings([DOWN, fork, aside]))


def test_wires_that_share_a_trunk_have_none() -> None:
    left = wire("a", (-90, 0), (-90, 80), (0, 80), (0, 200), (50, 210), (50, 300))
    right = wire("b", (90, 0), (90, 80), (0, 80), (0, 200), (-50, 210), (-50, 300))
    assert not any(each.crossings for each in with_crossings([left, right]))


def test_near_crossings_share_a_stretch_and_a_frame_parts_it() -> None:
    others = [wire(f"b{k}", (-150, 150 + 30 * k), (150, 170 + 30 * k)) for k in range(3)]
    (whole,) = with_crossings([DOWN, *others])[0].crossings
    outside, inside = with_crossings([DOWN, *others], [Rect(0, 290, 400, 200)])[0].crossings
    assert (outside.is_framed, inside.is_framed) == (False, True)
    assert outside.points[:-1] + inside.points == whole.points
    assert outside.points[-1] == inside.points[0]


def test_the_arrow_head_is_left_free() -> None:
    late = wire("b", (-150, 380), (150, 396))
    (stretch,) = with_crossings([DOWN, late])[0].crossings
    assert stretch.points[-1][1] <= 388


def test_margins_lie_over_the_wires_of_other_boxes_and_under_those_of_their_own() -> None:
    second = wire("a", (0, 0), (20, 400))
    wires = with_crossings([UP_TO_DOWN, DOWN, second])
    scene = replace(EMPTY_SCENE, wires=tuple(wires))
    order = [(layer, shape.edge[0]) for layer, shape in drawing_order(scene)]  # type: ignore[union-attr]
    assert order == [("margin", "b"), ("wire", "b"), *[("margin", "a")] * 2, *[("wire", "a")] * 2]
    group = group_of("margin", wires[1], THEMES["dark"])
    assert {path.style.stroke for path in group.primitives} == {THEMES["dark"].background}  # type: ignore[union-attr]


def test_margins_lie_under_all_wires_of_a_trunk() -> None:
    """Else a thin wire of it, with the ground beside it, would cover the middle of a thick one."""
    trunk = ((50.0, 100.0), (50.0, 300.0))
    left = wire("a", (0, 0), *trunk, (0, 400))
    right = wire("c", (100, 0), *trunk, (100, 400))
    across = wire("b", (0, 200), (200, 220))
    wires = with_crossings([left, across, right])
    scene = replace(EMPTY_SCENE, wires=tuple(wires))
    order = [(layer, shape.edge[0]) for layer, shape in drawing_order(scene)]  # type: ignore[union-attr]
    assert order == [
        *[("margin", "a"), ("margin", "c"), ("wire", "a"), ("wire", "c")],
        *[("margin", "b"), ("wire", "b")],
    ]


def test_a_picture_without_ground_has_no_margins() -> None:
    scene = replace(EMPTY_SCENE, wires=tuple(with_crossings([UP_TO_DOWN, DOWN])))

    def kinds(has_ground: bool) -> set[str]:
        sheet = lay_sheet(scene, THEMES["light"], has_ground=has_ground)
        return {group.kind for group in sheet.groups}

    assert kinds(True) == {"margin", "edge"}
    assert kinds(False) == {"edge"}
