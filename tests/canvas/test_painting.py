"""Pictures against pictures: strips against the whole, cut wires against whole ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QRect
from PySide6.QtGui import QImage, QPainter
from pytestqt.qtbot import QtBot

from tapeviz.canvas.backing import Backing, entering_strips
from tapeviz.canvas.bands import FAR_BOXES, NEAR_BOXES, band_for
from tapeviz.canvas.camera import Camera
from tapeviz.canvas.hints import paint_lit
from tapeviz.canvas.item import SceneItem
from tapeviz.canvas.long_wires import cut_outline
from tapeviz.canvas.near import NearPainter
from tapeviz.layout.model import Rect
from tapeviz.scene.model import Scene, Wire
from tapeviz.scene.parts.boxes import words_on
from tapeviz.scene.parts.geometry import curve, flattened
from tapeviz.scene.theme import THEMES
from tests.canvas.scenes import chain, crowd


def pixels(image: QImage) -> np.ndarray:  # type: ignore[type-arg]
    plain = image.convertToFormat(QImage.Format.Format_RGB32)
    data = np.frombuffer(plain.constBits(), np.uint8)
    return data.reshape(plain.height(), plain.bytesPerLine())[:, : 4 * plain.width()].copy()


def fail(error: Exception) -> None:
    raise error


def picture(scene: Scene, camera: Camera, ratio: float = 1.0) -> QImage:
    item = SceneItem(THEMES["light"], fail)
    item.set_scene(scene)
    item.set_camera(camera)
    return item._picture(ratio)


CAMERAS = [
    Camera(60, 150, 1.0, 320, 240),
    Camera(60, 150, 0.5, 320, 240),
    Camera(4000, 3000, 0.1, 320, 240),
    Camera(4000, 3000, 0.02, 320, 240),
]


@pytest.mark.parametrize("camera", CAMERAS, ids=lambda camera: f"{camera.scale}")
@pytest.mark.parametrize("ratio", [1.0, 2.0])
def test_a_moved_picture_is_the_one_painted_anew(
    qtbot: QtBot, camera: Camera, ratio: float
) -> None:
    scene = crowd(2500)
    item = SceneItem(THEMES["light"], fail)
    item.set_scene(scene)
    item.set_camera(camera)
    item._picture(ratio)
    for dx, dy in ((7, 0), (0, -13), (-20, 9)):
        item.set_camera(item.camera.panned(dx, dy))
        moved = pixels(item._picture(ratio))
        anew = pixels(picture(scene, item.camera, ratio))
        differing = np.abs(moved.astype(int) - anew).max(axis=1) > 24
        # Text and round corners may be antialiased another way at a strip's border.
        assert differing.mean() < 0.04


def test_no_empty_plate_stands_where_words_would_be_too_small(qtbot: QtBot) -> None:
    plain = replace(chain(), boxes=tuple(replace(box, ring="source") for box in chain().boxes))
    named = replace(
        plain, boxes=tuple(replace(box, ring_label="source · None") for box in plain.boxes)
    )

    def is_like(scale: float) -> bool:
        camera = Camera(60, 150, scale, 320, 240)
        return bool((pixels(picture(plain, camera)) == pixels(picture(named, camera))).all())

    assert is_like(0.4)
    assert not is_like(0.6)


def test_strips_are_what_came_into_sight() -> None:
    assert entering_strips(100, 80, 5, 0) == [QRect(0, 0, 5, 80)]
    assert entering_strips(100, 80, 0, -4) == [QRect(0, 76, 100, 4)]
    assert entering_strips(100, 80, -5, 4) == [QRect(95, 0, 5, 80), QRect(0, 0, 100, 4)]


def test_a_picture_is_painted_again_only_when_it_must(qtbot: QtBot) -> None:
    parts: list[QRect] = []

    def paint(painter: QPainter, camera: Camera, part: QRect) -> None:
        parts.append(part)

    backing, camera = Backing(), Camera(0, 0, 1.0, 100, 80)
    backing.picture(camera, 1.0, "a", "#ffffff", paint)
    backing.picture(camera, 1.0, "a", "#ffffff", paint)
    assert len(parts) == 1
    backing.picture(camera.panned(5, 0), 1.0, "a", "#ffffff", paint)
    assert parts[-1].width() < 12
    for changed in (camera.zoomed(1.1), camera.panned(0.5, 0), camera.panned(90, 0)):
        backing.picture(changed, 1.0, "a", "#ffffff", paint)
        assert parts[-1].width() >= 100
    count = len(parts)
    backing.picture(changed, 1.0, "b", "#ffffff", paint)
    assert len(parts) == count + 1


def test_bands_follow_scale_and_crowd() -> None:
    assert band_for(1.0, 20) == "near"
    assert band_for(1.0, NEAR_BOXES + 1) == "middle"
    assert band_for(0.06, 20) == "middle"
    assert band_for(0.01, 20) == "far"
    assert band_for(0.1, FAR_BOXES + 1) == "far"


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("scale", [1.0, 0.3, 0.1, 0.02])
def test_every_band_paints_something(qtbot: QtBot, theme: str, scale: float) -> None:
    item = SceneItem(THEMES[theme], fail)
    item.set_scene(crowd(600))
    item.set_camera(Camera(width=400, height=300, scale=scale, x=500, y=500))
    assert len(np.unique(pixels(item._picture(1.0)))) > 4


def test_an_error_while_painting_is_told_and_the_painter_closed(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    errors: list[Exception] = []
    item = SceneItem(THEMES["light"], errors.append)
    item.set_scene(chain())
    item.set_camera(Camera(width=100, height=80))

    def explode(*_: object) -> None:
        raise ZeroDivisionError("in paint")

    monkeypatch.setattr(NearPainter, "paint", explode)
    image = QImage(100, 80, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    item.paint(painter, None)  # type: ignore[arg-type]
    assert painter.end()
    assert [str(error) for error in errors] == ["in paint"]


def test_a_cut_wire_runs_where_the_whole_one_did() -> None:
    points = ((0.0, 0.0), (300.0, 40_000.0), (-200.0, 90_000.0))
    whole = curve(points, "y")
    around = Rect(200, 30_000, 1_000, 900)
    cut = cut_outline(whole, around)
    near = [p for p in flattened(whole, 40_000) if abs(p[1] - around.y) < 400]
    pieces = np.array(flattened(cut, 40))
    assert len(pieces)
    assert pieces[:, 1].max() - pieces[:, 1].min() < 3 * around.height
    for x, y in near[:: max(1, len(near) // 30)]:
        assert np.hypot(pieces[:, 0] - x, pieces[:, 1] - y).min() < 12


def test_a_wire_that_is_far_away_leaves_nothing() -> None:
    cut = cut_outline(curve(((0.0, 0.0), (0.0, 90_000.0)), "y"), Rect(5_000, 100, 50, 50))
    assert cut.verbs == ""


def test_a_long_wire_costs_little(qtbot: QtBot) -> None:
    wire = Wire(("a", "b", 0), ((0.0, -1e6), (10.0, 1e6)), "gradient", 2.0, axis="y")
    drawn = picture(Scene(Rect(0, 0, 10, 2e6), (wire,), chain().boxes), CAMERAS[0])
    assert len(np.unique(pixels(drawn))) > 4


def test_the_frame_of_a_lit_box_crosses_no_words(qtbot: QtBot) -> None:
    box = replace(chain(1).boxes[0], gradient="norm 0.12", ring="target", ring_label="target")
    camera = Camera(0.0, 0.0, 1.0, 200.0, 100.0)
    image = QImage(200, 100, QImage.Format.Format_RGB32)
    image.fill(0)
    painter = QPainter(image)
    paint_lit(painter, box, camera, THEMES["light"])
    painter.end()
    painted = pixels(image).reshape(100, 200, 4)[..., :3].any(axis=2)
    assert painted.any()
    assert len(words_on(box)) == 2
    for words in words_on(box):
        left, top, right, bottom = (round(side) for side in words.sides)
        assert not painted[top + 50 : bottom + 50, left + 100 : right + 100].any()
