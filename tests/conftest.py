"""Fixtures for tests of the whole sequence: for the session one process that forks recorders, and
one warm pool of kernels.

With ``TAPEVIZ_PYTHON=…/bin/python`` both are of another interpreter and its TensorFlow.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from functools import partialmethod
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings
from pytestqt.qtbot import QtBot

from tests.sampling import IS_WHOLE
from tests.waiting import PATIENCE

settings.register_profile("suite", deadline=None, max_examples=100 if IS_WHOLE else 20)
settings.load_profile("suite")
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

if TYPE_CHECKING:
    from PySide6.QtCore import QObject

    from tapeviz.kernel import KernelPool
    from tapeviz.recording.live import Recorder
    from tests.recorder.forks import ForkServer

INTERPRETER = os.environ.get("TAPEVIZ_PYTHON", sys.executable)
_TOGETHER = {
    "tests/parity": "kernels, plain runs",
    "tests/cli/test_commands.py": "kernels, plain runs",
    "tests/kernel": "kernels of a fake recorder",
    "tests/app/test_ending.py": "kernels of a fake recorder",
    "tests/analysis/test_formulas.py": "TensorFlow where the tests run",
    "tests/recorder/test_in_process.py": "TensorFlow where the tests run",
}
"""Files whose tests share processes with TensorFlow loaded, which takes 3 seconds of CPU each: with
``--dist loadfile`` one worker runs them all. What has most tests begins first; ``test_ending``, of
few tests that take long, would be the last."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    from xdist.scheduler import LoadFileScheduling

    if config.getvalue("dist") != "loadfile":
        return None
    scheduling: Any = LoadFileScheduling(config, log)
    file_of = scheduling._split_scope

    def together(nodeid: str) -> str:
        file: str = file_of(nodeid)
        return next((name for start, name in _TOGETHER.items() if file.startswith(start)), file)

    scheduling._split_scope = together
    return scheduling


@pytest.fixture(scope="session", autouse=True)
def application() -> Iterator[object]:
    """Qt allows one application object in a process, and writing a picture makes a small one.

    The tests of the window need the large one, in whatever order the tests run. Without a screen,
    Qt's clipboard is a static of the library, which outlives Python: what was copied must go first.
    """
    from PySide6.QtWidgets import QApplication

    application = QApplication.instance() or QApplication(["tapeviz"])
    yield application
    QApplication.clipboard().clear()


@pytest.fixture(autouse=True)
def collection_as_before() -> Iterator[None]:
    """The application turns Python's own collection of garbage off, for the rest of the process.

    A test can turn it off or on, and so can jedi's parser, which has a process of its own in the
    window (parso 0.8, ``cache._load_from_file_system``).
    """
    was_enabled = gc.isenabled()
    yield
    (gc.enable if was_enabled else gc.disable)()


@pytest.fixture(autouse=True)
def patient_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """pytest-qt waits 5 seconds if a test gives no timeout: too few on a busy machine."""
    for name in ("waitUntil", "waitSignal", "waitSignals", "waitExposed"):
        patient = partialmethod(getattr(QtBot, name), timeout=1000 * PATIENCE)
        monkeypatch.setattr(QtBot, name, patient)


@pytest.fixture(autouse=True)
def threads_end_first(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A document's threads tell their progress to objects of Qt: these must not go before."""
    from tapeviz.document.background import Background

    made: list[tuple[Background, object]] = []
    begin = Background.__init__

    def noted(self: Background, parent: QObject | None = None) -> None:
        begin(self, parent)
        made.append((self, parent))

    monkeypatch.setattr(Background, "__init__", noted)
    yield
    for background, _ in made:
        background.close(5.0)


@pytest.fixture(scope="session")
def kernels() -> Iterator[KernelPool]:
    from tapeviz.kernel import KernelPool, choose_interpreter

    with KernelPool(choose_interpreter(INTERPRETER)) as pool:
        pool.warm()
        yield pool


@pytest.fixture(scope="session")
def forks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ForkServer]:
    from tests.recorder.forks import ForkServer

    server = ForkServer(tmp_path_factory.mktemp("forks"), INTERPRETER)
    yield server
    server.close()


@pytest.fixture(scope="session")
def recorder(forks: ForkServer) -> Recorder:
    """Records snippets in forks, for tests of what is made of the recordings."""
    from tapeviz.recording.live import Recorder
    from tests.recorder.forks import ForkedPool

    return Recorder(ForkedPool(forks))
