"""Buttons at the edges of the drawing that say what lies out of sight there."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Literal

import numpy as np
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import QPushButton

from ..scene.model import Box
from .camera import COMFORT, Camera
from .framing import area_under
from .prepared import Prepared
from .view import GraphView

Border = Literal["above", "below", "left", "right"]
ARROWS: dict[Border, str] = {"above": "↑", "below": "↓", "left": "←", "right": "→"}
EDGE = 8
PLACES = tuple(sorted((step / 20 for step in range(1, 20)), key=lambda part: abs(part - 0.5)))
"""Where to try a button along its edge (0…1), the middle first."""
STRIDE = 0.8
"""A click moves the picture by this part of the view."""
NAMED = (("target", "target"), ("cut", "cut source"), ("source", "source"))
"""(ring, word): a button names the first of these that lies beyond its side."""


class EdgeButtons:
    """The buttons of a view, one at each edge. A button is visible while boxes lie beyond its edge
    and the picture is not magnified."""

    def __init__(self, view: GraphView) -> None:
        self._view = view
        self.buttons = {side: self._button(side) for side in ARROWS}

    def _button(self, side: Border) -> QPushButton:
        button = QPushButton(self._view)
        button.setObjectName("beyond")
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        button.setCursor(Qt.CursorShape.PointingHandCursor)
        button.clicked.connect(lambda: self.go(side))
        button.hide()
        return button

    def show_camera(self, prepared: Prepared, camera: Camera) -> None:
        found = beyond(prepared, camera) if camera.scale <= COMFORT else {}
        for side, button in self.buttons.items():
            words = words_for([prepared.scene.boxes[i] for i in found.get(side, ())])
            button.setVisible(bool(words))
            if words:
                button.setText(f"{ARROWS[side]} {words}")
                button.setAccessibleName(f"{words} {_where(side)}: go there")
                button.adjustSize()
                self._place(side, button)

    def _place(self, side: Border, button: QPushButton) -> None:
        """Move a button to a place on its edge where it covers no box, if there is one, else no
        button of a frame."""
        view = self._view
        across, down = view.width() - button.width(), view.height() - button.height()
        x = {"left": EDGE, "right": across - EDGE}.get(side)
        y = {"above": EDGE, "below": down - EDGE}.get(side)
        spots = [
            QPoint(round(across * part) if x is None else x, round(down * part) if y is None else y)
            for part in PLACES
        ]
        camera, prepared = view.camera, view.prepared
        areas = {spot: area_under(camera, QRect(spot, button.size())) for spot in spots}
        free = (spot for spot in spots if not prepared.has_boxes(areas[spot]))
        others = (spot for spot in spots if not prepared.has_buttons(areas[spot]))
        button.move(next(chain(free, others, spots)))

    def go(self, side: Border) -> None:
        """Move the camera towards what lies beyond a side."""
        camera = self._view.camera
        dx = {"left": 1, "right": -1}.get(side, 0) * STRIDE * camera.width
        dy = {"above": 1, "below": -1}.get(side, 0) * STRIDE * camera.height
        moved = camera.panned(dx, dy)
        bounds = self._view.prepared.scene.bounds
        self._view.move_camera(camera.looking_at((moved.x, moved.y), camera.scale, bounds))


def beyond(prepared: Prepared, camera: Camera) -> dict[Border, Sequence[int]]:
    """The indices of the boxes whose middle lies beyond each side; a box in a corner counts
    for the side that it is farther beyond."""
    sight = camera.sight
    left, top, right, bottom = prepared.rects.T
    x, y = (left + right) / 2, (top + bottom) / 2
    over = np.stack((sight.top - y, y - sight.bottom, sight.left - x, x - sight.right))
    if not over.size:
        return {}
    side = over.argmax(axis=0)
    is_out = over.max(axis=0) > 0
    return {
        name: np.flatnonzero(is_out & (side == number)).tolist()
        for number, name in enumerate(ARROWS)
    }


def words_for(boxes: Sequence[Box]) -> str:
    """``target``, ``4 sources``, ``12 boxes``; empty for none."""
    for ring, noun in NAMED:
        count = sum(box.ring == ring for box in boxes)
        if count:
            return noun if count == 1 else f"{count} {noun}s"
    count = len(boxes)
    return "" if not count else "1 box" if count == 1 else f"{count:,} boxes"


def _where(side: Border) -> str:
    return side if side in ("above", "below") else f"on the {side}"
