"""Signals that come while the recorder works on the snippet's thread."""

from __future__ import annotations

import importlib.util
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import tapeviz

PATH = Path(tapeviz.__file__).parent / "recorder" / "interrupts.py"


class Late(Exception):
    """A time limit of a snippet."""


def late(*_: object) -> None:
    raise Late


def work(interrupts: ModuleType, number: int, done: list[bool]) -> None:
    """Work during which a signal comes."""
    with interrupts.signals_held_back():
        signal.raise_signal(number)
        done.append(True)


@pytest.fixture
def interrupts() -> Iterator[ModuleType]:
    """The module alone: its package imports TensorFlow."""
    spec = importlib.util.spec_from_file_location("interrupts_alone", PATH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    before = signal.getsignal(signal.SIGUSR1)
    yield module
    signal.signal(signal.SIGUSR1, before)


def test_a_handler_that_raises_waits_until_the_work_is_done(interrupts: ModuleType) -> None:
    signal.signal(signal.SIGUSR1, late)
    done: list[bool] = []
    with pytest.raises(Late):
        work(interrupts, signal.SIGUSR1, done)
    assert done
    assert signal.getsignal(signal.SIGUSR1) is late


def test_ctrl_c_waits_as_well(interrupts: ModuleType) -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        done: list[bool] = []
        with pytest.raises(KeyboardInterrupt):
            work(interrupts, signal.SIGINT, done)
        assert done
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_signal_that_is_ignored_or_left_to_the_system_stays_so(interrupts: ModuleType) -> None:
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    with interrupts.signals_held_back():
        assert signal.getsignal(signal.SIGUSR1) is signal.SIG_IGN
    assert signal.getsignal(signal.SIGUSR1) is signal.SIG_IGN


def test_other_threads_run_no_handlers_and_may_not_set_any(interrupts: ModuleType) -> None:
    signal.signal(signal.SIGUSR1, late)
    seen: list[object] = []

    def look() -> None:
        with interrupts.signals_held_back():
            seen.append(signal.getsignal(signal.SIGUSR1))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert seen == [late]
