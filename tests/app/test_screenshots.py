"""Pictures for a person to look at; that they are not blank is all a machine can say."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from tapeviz.app.window import Window

SCREENSHOTS = Path(__file__).parents[2] / "screenshots"


def keep(widget: object, name: str) -> QImage:
    SCREENSHOTS.mkdir(exist_ok=True)
    image = widget.grab().toImage()  # type: ignore[attr-defined]
    image.save(str(SCREENSHOTS / f"{name}.png"))
    return image


def colours(image: QImage) -> set[int]:
    return {
        image.pixel(x, y) for x in range(0, image.width(), 3) for y in range(0, image.height(), 3)
    }


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_window_and_each_panel(qtbot: QtBot, ran: Window, theme: str) -> None:
    ran.choose_theme(theme)
    ran.document.stepping.go_to(3)
    qtbot.wait(80)
    assert len(colours(keep(ran, f"window-{theme}"))) > 20
    for panel in (ran.graph, *ran.panels.values()):
        if panel.isVisible():
            assert len(colours(keep(panel, f"{panel.name}-{theme}"))) > 3
