"""The gradient calls of a run in, the round of its loop that each was asked in out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from ..trace.model import CallId
from .model import CallDiagnosis


def rounds_of(calls: Sequence[CallDiagnosis]) -> Mapping[CallId, str]:
    """``3 of 5`` for the third of five calls on one line; nothing for a call that is alone."""
    known = Counter(one.call.line for one in calls)
    passed: Counter[int] = Counter()
    rounds: dict[CallId, str] = {}
    for one in calls:
        line = one.call.line
        passed[line] += 1
        if known[line] > 1:
            rounds[one.call.id] = f"{passed[line]} of {known[line]}"
    return rounds
