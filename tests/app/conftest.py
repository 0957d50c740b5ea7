"""A window on the sample run, with settings of its own, driven without a screen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot

from tapeviz.app.main import make_application
from tapeviz.app.storage.settings import Settings
from tapeviz.app.window import Window
from tapeviz.document import Document
from tests.document.sample import SOURCE, SamplePipeline, make_stages


def _fail_at_question(parent: object, title: str, *_: object) -> None:
    """Nobody is there to answer: the test would wait for ever."""
    raise AssertionError(f"the window asked: {title}")


@pytest.fixture(scope="session")
def qapp() -> object:
    return make_application()


@pytest.fixture
def pipeline() -> SamplePipeline:
    return SamplePipeline()


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("TAPEVIZ_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(QMessageBox, "warning", _fail_at_question)
    made = Settings()
    made.keep("theme", "light")
    return made


@pytest.fixture
def window(qtbot: QtBot, pipeline: SamplePipeline, settings: Settings) -> Iterator[Window]:
    window = Window(Document(pipeline, make_stages()), settings)
    qtbot.addWidget(window)
    window.graph.view.has_glides = False
    window.graph.settling.setInterval(0)
    window.resize(1600, 1000)
    window.show()
    qtbot.waitExposed(window)
    window.document.open_source(SOURCE, name="assign_cut.py")
    return window


@pytest.fixture
def ran(qtbot: QtBot, window: Window) -> Window:
    """The window after its snippet ran."""
    window.run()
    qtbot.waitUntil(lambda: bool(window.document.scene.boxes and window.document.steps))
    qtbot.wait(30)
    qtbot.waitUntil(lambda: not window.document.background.busy & {"arrange", "compose"})
    qtbot.waitUntil(lambda: bool(window.diagnosis.cards) and window.diagnosis.is_settled)
    return window
