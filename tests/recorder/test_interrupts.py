"""Work and an interrupt in; the work is done first, or not begun."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from cProfile import Profile
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

import tapeviz

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals to itself")

FILE = Path(tapeviz.__file__).parent / "recorder" / "unseen" / "interrupts.py"


@pytest.fixture
def run_undisturbed() -> Callable[[Callable[[], None]], bool]:
    """The function, without the rest of the recorder, which imports TensorFlow."""
    spec = spec_from_file_location("interrupts", FILE)
    assert spec is not None
    assert spec.loader is not None
    module: Any = module_from_spec(spec)
    spec.loader.exec_module(module)
    found: Callable[[Callable[[], None]], bool] = module.run_undisturbed
    return found


@pytest.fixture(autouse=True)
def _alone() -> Iterator[None]:
    """No handler but that of an interrupt, as in a kernel."""
    others = {each: signal.getsignal(each) for each in signal.valid_signals()}
    others = {each: handler for each, handler in others.items() if callable(handler)}
    for each in others:
        signal.signal(each, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    for each, handler in others.items():
        signal.signal(each, handler)


def test_an_interrupt_comes_when_the_work_is_done(
    run_undisturbed: Callable[[Callable[[], None]], bool],
) -> None:
    done: list[int] = []

    def work() -> None:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        done.extend(range(3))

    with pytest.raises(KeyboardInterrupt):
        run_undisturbed(work)
    assert done == [0, 1, 2]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_the_handler_is_back_after_work_that_fails(
    run_undisturbed: Callable[[Callable[[], None]], bool],
) -> None:
    def work() -> None:
        raise ValueError("of the work")

    with pytest.raises(ValueError, match="of the work"):
        run_undisturbed(work)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_nothing_runs_beside_another_handler_or_on_another_thread(
    run_undisturbed: Callable[[Callable[[], None]], bool],
) -> None:
    done: list[int] = []
    ran: list[bool] = []
    thread = Thread(target=lambda: ran.append(run_undisturbed(lambda: done.append(1))))
    thread.start()
    thread.join()
    signal.signal(signal.SIGALRM, lambda *_: None)
    ran.append(run_undisturbed(lambda: done.append(2)))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    ran.append(run_undisturbed(lambda: done.append(3)))
    assert ran == [False, False, True]
    assert done == [3]


def test_nothing_runs_near_the_end_of_the_stack(
    run_undisturbed: Callable[[Callable[[], None]], bool],
) -> None:
    ran: list[bool] = []

    def descend() -> None:
        try:
            descend()
        except RecursionError:
            if not ran:
                ran.append(run_undisturbed(lambda: None))

    descend()
    assert ran == [False]


@pytest.mark.parametrize("watch", [sys.setprofile, sys.settrace])
def test_nothing_runs_while_calls_are_counted(
    run_undisturbed: Callable[[Callable[[], None]], bool], watch: Callable[[Any], None]
) -> None:
    ran: list[bool] = []
    watch(lambda *_: None)
    ran.append(run_undisturbed(lambda: None))
    watch(None)
    ran.append(run_undisturbed(lambda: None))
    assert ran == [False, True]


def test_nothing_runs_under_a_profiler(
    run_undisturbed: Callable[[Callable[[], None]], bool],
) -> None:
    with Profile():
        ran = run_undisturbed(lambda: None)
    assert not ran
