"""Buttons at the edges of the drawing that say what lies out of sight there."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Literal

import numpy as np
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import QPushButton

from .camera import COMFORT, Camera
from .framing import area_under
from .prepared import Ints, Prepared
from .view import GraphView

Border = Literal["above", "below", "left", "right"]
ARROWS: dict[Border, str] = {"above": "↑", "below": "↓", "left": "←", "right": "→"}
EDGE = 8
NO_SIDES: Ints = np.empty(0, np.int64)
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
        found = words_beyond(prepared, camera) if camera.scale <= COMFORT else {}
        for side, button in self.buttons.items():
            words = found.get(side, "")
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
        areas = [area_under(camera, QRect(spot, button.size())) for spot in spots]
        taken = prepared.are_taken(areas)
        free = (spot for spot, is_taken in zip(spots, taken, strict=True) if not is_taken)
        placed = zip(spots, areas, strict=True)
        others = (spot for spot, area in placed if not prepared.has_buttons(area))
        button.move(next(chain(free, others, spots)))

    def go(self, side: Border) -> None:
        """Move the camera towards what lies beyond a side."""
        camera = self._view.camera
        dx = {"left": 1, "right": -1}.get(side, 0) * STRIDE * camera.width
        dy = {"above": 1, "below": -1}.get(side, 0) * STRIDE * camera.height
        moved = camera.panned(dx, dy)
        bounds = self._view.prepared.scene.bounds
        self._view.move_camera(camera.looking_at((moved.x, moved.y), camera.scale, bounds))


def words_beyond(prepared: Prepared, camera: Camera) -> dict[Border, str]:
    """Say what the boxes are whose middle lies beyond each side (``target``, ``4 sources``,
    ``12 boxes``), empty for none; a box in a corner counts for the side that it is farther
    beyond."""
    sight = camera.sight
    left, top, right, bottom = prepared.rects.T
    x, y = (left + right) / 2, (top + bottom) / 2
    over = np.stack((sight.top - y, y - sight.bottom, sight.left - x, x - sight.right))
    sides = np.where(over.max(axis=0) > 0, over.argmax(axis=0), -1)
    ringed = {ring: sides[places] for ring, places in prepared.ringed.items()}
    return {name: _words(sides, ringed, number) for number, name in enumerate(ARROWS)}


def _words(sides: Ints, ringed: Mapping[str, Ints], side: int) -> str:
    """``sides``: the number of the side that each box lies beyond; ``ringed``: the same of the
    boxes with each kind of ring."""
    for ring, noun in NAMED:
        count = np.count_nonzero(ringed.get(ring, NO_SIDES) == side)
        if count:
            return noun if count == 1 else f"{count} {noun}s"
    count = np.count_nonzero(sides == side)
    return "" if not count else "1 box" if count == 1 else f"{count:,} boxes"


def _where(side: Border) -> str:
    return side if side in ("above", "below") else f"on the {side}"
