from __future__ import annotations

from PySide6.QtCore import QObject, QTimer
from pytestqt.qtbot import QtBot

from tapeviz.document.jobs import Jobs


def test_a_job_has_a_turn_of_its_own(qtbot: QtBot) -> None:
    parent, done = QObject(), list[str]()
    jobs = Jobs(parent)

    def first() -> bool:
        done.append("first")
        QTimer.singleShot(0, parent, lambda: done.append("heard"))
        return done.count("first") < 2

    def second() -> None:
        done.append("second")

    for job in (first, second, first):
        jobs.ask(job)
    assert done == []
    assert jobs.awaits(first)
    qtbot.waitUntil(lambda: jobs.is_idle and done.count("heard") == 2)
    assert [name for name in done if name != "heard"] == ["first", "second", "first"]
    assert done.index("heard") < len(done) - 1


def test_after_a_job_that_fails_the_others_are_done(qtbot: QtBot) -> None:
    parent, done = QObject(), list[str]()
    jobs = Jobs(parent)

    def fails() -> None:
        raise ValueError("no")

    jobs.ask(fails)
    jobs.ask(lambda: done.append("other"))
    with qtbot.captureExceptions() as caught:
        qtbot.waitUntil(lambda: jobs.is_idle)
    assert [error for error, *_ in caught] == [ValueError]
    assert done == ["other"]
