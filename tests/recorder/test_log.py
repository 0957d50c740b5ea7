"""Rows in, lines sent: who waits for the log's thread, and for what."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from threading import Event, Thread
from time import sleep
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import tapeviz

FOLDER = Path(tapeviz.__file__).parent / "recorder"


class SlowEncoder:
    """Encodes each batch as a line, when it may."""

    def __init__(self) -> None:
        self.tensors = SimpleNamespace(elements=0)
        self.begun, self.may_end = Event(), Event()

    def encode(self, batch: list[Any], _: Callable[[str], None]) -> tuple[list[str], bytes]:
        self.begun.set()
        assert self.may_end.wait(60)
        return [f"{len(batch)} rows"], b""


@pytest.fixture
def make_log(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """The class ``Log``, without the rest of the recorder, which imports TensorFlow."""
    package, encode = ModuleType("log_alone"), ModuleType("log_alone.encode")
    package.__path__ = [str(FOLDER)]
    vars(encode)["Encoder"] = SlowEncoder
    for module in (package, encode):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    for name in ("log", "limits"):
        monkeypatch.setitem(sys.modules, f"log_alone.{name}", import_module(f"log_alone.{name}"))
    made: Callable[..., Any] = sys.modules["log_alone.log"].Log  # type: ignore[attr-defined]
    return made


def test_rows_are_sent_before_the_next_line_though_they_are_being_encoded(
    make_log: Callable[..., Any],
) -> None:
    encoder, sent, seen = SlowEncoder(), list[str](), list[list[str]]()
    log = make_log(encoder, lambda lines, _: sent.extend(lines))
    log.start()
    log.append(("a row",))
    log._wake_up()  # the thread encodes for somebody who does not want it sent
    assert encoder.begun.wait(60)

    def deliver() -> None:
        log.deliver()
        seen.append([*sent])

    prints = Thread(target=deliver)
    prints.start()
    while prints.is_alive() and not log._waiting:
        sleep(0.001)
    encoder.may_end.set()
    prints.join(60)
    log.close()
    assert seen == [["1 rows"]]


def test_a_finalizer_that_prints_while_its_thread_encodes_waits_for_nobody(
    make_log: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    log = make_log(SlowEncoder(), lambda lines, blob: None)
    waited: list[bool] = []
    monkeypatch.setattr(log, "_wait_for_thread", lambda: waited.append(True))
    log.append(("a row",))
    with log.hiding():
        log.deliver()
    assert not waited
    log.deliver()
    assert waited == [True]
