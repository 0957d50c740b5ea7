"""The window's thread waits shorter for the interpreter lock than the threads that compute."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from tapeviz import priority
from tapeviz.document.background import Background
from tapeviz.priority import after_the_window, put_this_thread_first, slack, usual_timers
from tests.waiting import PATIENCE


@pytest.fixture
def usual(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The slack of the test's thread (ns). A window of an earlier test may have changed it."""
    if slack() is None:
        pytest.skip("the system lets no thread choose how late its timed waits may end")
    monkeypatch.setattr(priority, "_usual", None)
    with priority._slack_of(50_000):
        yield 50_000


def test_a_thread_that_computes_is_patient_and_no_longer(usual: int) -> None:
    with after_the_window():
        within = slack()
    assert within is not None
    assert within >= 10 * usual
    assert slack() == usual


def test_what_a_task_starts_has_its_usual_timers(usual: int) -> None:
    """A process inherits the slack of the thread that starts it: the snippet's own timers would be
    late."""
    background, found, has_both = Background(), dict[str, int | None](), threading.Event()

    def look(kind: str) -> None:
        found[kind] = slack()
        if len(found) == 2:
            has_both.set()

    for kind in ("diagnose", "record"):
        background.submit(kind, lambda kind=kind: look(kind), lambda _: None)
    assert has_both.wait(PATIENCE)
    assert background.close(30)
    assert found["record"] == usual
    assert found["diagnose"] != usual


def test_a_process_of_the_window_has_its_usual_timers(usual: int) -> None:
    found, interval = list[int | None](), sys.getswitchinterval()
    ask = ["cat", "/proc/self/timerslack_ns"]

    def look() -> None:  # on a thread of its own, since that of the tests is no window's
        put_this_thread_first()
        found.append(slack())
        with usual_timers():
            found.append(int(subprocess.run(ask, stdout=subprocess.PIPE, check=True).stdout))
        found.append(slack())

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    sys.setswitchinterval(interval)
    assert found == [1, usual, 1]
