from __future__ import annotations

from PySide6.QtCore import QObject, QTimer
from pytestqt.qtbot import QtBot

from tapeviz.document.turns import Turns


def test_a_job_has_a_turn_of_its_own(qtbot: QtBot) -> None:
    parent, done = QObject(), list[str]()
    turns = Turns(parent)

    def first() -> bool:
        done.append("first")
        QTimer.singleShot(0, parent, lambda: done.append("heard"))
        return done.count("first") < 2

    def second() -> None:
        done.append("second")

    for job in (first, second, first):
        turns.ask(job)
    assert done == []
    assert turns.awaits(first)
    qtbot.waitUntil(lambda: turns.is_idle and done.count("heard") == 2)
    assert [name for name in done if name != "heard"] == ["first", "second", "first"]
    assert done.index("heard") < len(done) - 1


def test_after_a_job_that_fails_the_others_are_done(qtbot: QtBot) -> None:
    parent, done = QObject(), list[str]()
    turns = Turns(parent)

    def fails() -> None:
        raise ValueError("no")

    turns.ask(fails)
    turns.ask(lambda: done.append("other"))
    with qtbot.captureExceptions() as caught:
        qtbot.waitUntil(lambda: turns.is_idle)
    assert [error for error, *_ in caught] == [ValueError]
    assert done == ["other"]
