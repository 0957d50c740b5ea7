from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapeviz.canvas.camera import LEAST_SCALE, MOST_SCALE, Camera
from tapeviz.layout.model import Rect

numbers = st.floats(-1e4, 1e4)
scales = st.floats(0.01, 4.0)


@given(numbers, numbers, scales, numbers, numbers)
def test_screen_and_scene_are_inverse(
    x: float, y: float, scale: float, px: float, py: float
) -> None:
    camera = Camera(x, y, scale, 800, 600)
    assert camera.to_screen(camera.to_scene((px, py))) == pytest.approx((px, py), abs=1e-6)


@given(scales, st.floats(0.2, 5.0), st.floats(0, 800), st.floats(0, 600))
def test_a_zoom_keeps_the_point_under_the_pointer(
    scale: float, factor: float, px: float, py: float
) -> None:
    camera = Camera(10, 20, scale, 800, 600)
    before = camera.to_scene((px, py))
    assert camera.zoomed(factor, (px, py)).to_scene((px, py)) == pytest.approx(before, abs=1e-6)


def test_a_zoom_has_ends() -> None:
    assert Camera().zoomed(1e9).scale == MOST_SCALE
    assert Camera().zoomed(1e-9).scale == LEAST_SCALE


def test_a_fit_shows_all() -> None:
    camera = Camera(width=800, height=600).fitted(Rect(50, 50, 4000, 1000), 20)
    left, top = camera.to_screen((50 - 2000, 50 - 500))
    right, bottom = camera.to_screen((50 + 2000, 50 + 500))
    assert left >= 19.9
    assert right <= 780.1
    assert top >= 19.9
    assert bottom <= 580.1


def test_a_fit_does_not_magnify() -> None:
    assert Camera(width=800, height=600).fitted(Rect(0, 0, 10, 10)).scale == 1.0
    assert Camera(width=800, height=600).fitted(Rect(0, 0, 0, 0)).scale == 1.0


def test_a_glide_begins_and_ends_where_it_should() -> None:
    near, other = Camera(0, 0, 0.1, 800, 600), Camera(500, 900, 2.0, 800, 600)
    assert near.between(other, 0.0).scale == pytest.approx(near.scale)
    assert near.between(other, 1.0) == other
    half = near.between(other, 0.5)
    assert 0 < half.x < 500
    assert near.between(Camera(80, 0, 0.1, 800, 600), 0.5).x == pytest.approx(40)


def test_a_look_at_a_point_keeps_to_the_graph() -> None:
    camera = Camera(width=400, height=300)
    wide = Rect(1000, 5000, 200, 10_000)
    closer = camera.looking_at((1000, 9_990), 1.0, wide, margin=50)
    assert closer.scale == 1.0
    assert closer.x == 1000  # it fits in this direction: the middle of all
    assert closer.y == 10_000 - (150 - 50)
    assert camera.looking_at((1000, 4_000), 1.0, wide).y == 4_000


def test_a_first_view_of_a_part_begins_and_ends_at_whole_boxes() -> None:
    boxes = [Rect(200, 20 + 70 * k, 160, 46) for k in range(12)]
    bounds = Rect(200, 405, 160, 816)
    sides = np.array([box.sides for box in boxes])
    target, camera = boxes[-1], Camera(width=400, height=300)

    def cut(seen: Camera) -> int:
        sight = seen.sight
        return sum(
            box.top < edge < box.bottom for box in boxes for edge in (sight.top, sight.bottom)
        )

    plain = camera.beginning_at([target], 0.75, bounds)
    clear = camera.beginning_at([target], 0.75, bounds, sides)
    assert cut(plain) == 1
    assert cut(clear) == 0
    assert clear.scale == plain.scale
    assert 0 < abs(clear.y - plain.y) * clear.scale <= 64
    assert clear.sight.top <= target.top < target.bottom <= clear.sight.bottom
    tall = Rect(200, 400, 160, 800)  # what cannot be in sight as a whole is not moved away from
    assert camera.beginning_at([tall], 0.75, bounds, sides) == camera.beginning_at(
        [tall], 0.75, bounds
    )


@given(numbers, numbers, scales, st.floats(10, 900), st.floats(10, 900))
def test_holding_brings_all_of_a_rectangle_into_sight(
    x: float, y: float, scale: float, width: float, height: float
) -> None:
    camera = Camera(0, 0, scale, 800, 600)
    rect = Rect(x, y, width, height)
    held = camera.holding(rect, 0.0, (0.0, 0.0))
    assert _holds(held, rect)
    assert held.scale <= camera.scale + 1e-9


def _holds(camera: Camera, rect: Rect) -> bool:
    sight = camera.sight
    return Rect(sight.x, sight.y, sight.width + 1e-6, sight.height + 1e-6).contains(rect)


def test_holding_moves_no_more_than_needed() -> None:
    camera = Camera(0, 0, 1.0, 800, 600)
    inside, beyond = Rect(100, 50, 200, 100), Rect(380, 0, 100, 100)
    assert camera.holding(inside, 0.7, (100, 50)) == camera
    held = camera.holding(beyond, 0.7, (380, 0))
    assert (held.scale, held.y) == (1.0, 0.0)
    assert held.sight.right == pytest.approx(430 + 8)


def test_of_what_is_too_large_the_beginning_is_held() -> None:
    camera = Camera(0, 0, 1.0, 800, 600)
    rect = Rect(500, 2000, 700, 3000)
    held = camera.holding(rect, 0.7, (500, 500))
    assert held.scale == pytest.approx(0.7)
    assert not _holds(held, rect)
    assert held.to_screen((0, rect.top))[1] == pytest.approx(8)
    assert held.to_screen((rect.left, 0))[0] >= 8 - 1e-6


def test_beside_an_open_group_is_what_fits_of_the_story() -> None:
    camera = Camera(0, 0, 1.0, 800, 600)
    frame, near, far = Rect(0, 0, 300, 200), Rect(0, 500, 80, 40), Rect(0, 3000, 80, 40)
    bounds = Rect.from_sides(-200, -400, 200, 3020)
    kept = camera.keeping([frame, far, near], 0.7, bounds, (0, 0))
    assert _holds(kept, frame)
    assert _holds(kept, near)
    assert 0.7 <= kept.scale < 1.0


def test_no_room_beyond_a_picture_while_parts_of_it_are_out_of_sight() -> None:
    camera = Camera(0, 0, 1.0, 800, 600)
    bounds = Rect.from_sides(-100, -100, 200, 700)
    kept = camera.keeping([Rect(0, 0, 50, 50)], 1.0, bounds, (0, 0))
    assert kept.sight.top == pytest.approx(bounds.top - 8)
    assert kept.x == camera.x, "across, all of it is in sight"
