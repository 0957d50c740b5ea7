"""A document on the sample run, without a window around it."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from tapeviz.app.main import make_application
from tapeviz.document import Document
from tapeviz.panels.look import THEMES, Theme
from tests.document.sample import SOURCE, SamplePipeline, make_stages


@pytest.fixture(scope="session")
def qapp() -> object:
    return make_application()


@pytest.fixture
def pipeline() -> SamplePipeline:
    return SamplePipeline()


@pytest.fixture(params=["light", "dark"])
def theme(request: pytest.FixtureRequest) -> Theme:
    return THEMES[request.param]


@pytest.fixture
def light() -> Theme:
    return THEMES["light"]


@pytest.fixture
def document(qtbot: QtBot, pipeline: SamplePipeline) -> Document:
    document = Document(pipeline, make_stages())
    document.open_source(SOURCE, name="assign_cut.py")
    return document


@pytest.fixture
def ran(qtbot: QtBot, document: Document) -> Document:
    document.run()
    qtbot.waitUntil(lambda: bool(document.scene.boxes and document.steps))
    return document
