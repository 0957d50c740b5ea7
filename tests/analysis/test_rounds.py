"""Calls of a loop are told apart."""

from __future__ import annotations

from tapeviz.analysis.model import CallDiagnosis
from tapeviz.analysis.rounds import rounds_of
from tapeviz.trace.model import Call, CallId, Frame, Site, SiteId


def _call(number: int, line: int) -> CallDiagnosis:
    site = Site(SiteId(line), (Frame("<module>", line),))
    asked = Call(CallId(number), "gradient", None, (), (), (), "none", site, True, number, number)
    return CallDiagnosis(asked, ())


def test_rounds() -> None:
    calls = [_call(number, line) for number, line in enumerate([3, 8, 3, 3], 1)]
    assert rounds_of(calls) == {1: "1 of 3", 3: "2 of 3", 4: "3 of 3"}
