"""Programs that nobody wrote, of compiled functions, loops and branches in each other: what became
of each gradient is what a plain run prints, and every picture of them can be drawn.

``TAPEVIZ_PROGRAMS=500 pytest tests/parity/test_nested.py`` tries more of them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tapeviz.analysis import diagnose
from tapeviz.drawing import draw, group_paths
from tapeviz.trace.model import Trace
from tapeviz.view import View

from .nested_programs import nested_program
from .plain_runs import PlainRuns
from .recorded_runs import recorded

if TYPE_CHECKING:
    from tapeviz.recording import Recorder

PROGRAMS = int(os.environ.get("TAPEVIZ_PROGRAMS", "10"))


@pytest.mark.timeout(60 + 15 * PROGRAMS)
@settings(
    max_examples=PROGRAMS,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(seed=st.integers(0, 10**9))
def test_program(seed: int, plain: PlainRuns, recorder: Recorder) -> None:
    text = nested_program(Random(seed))
    expected = plain.run(text)
    with recorded(recorder, text) as run:
        trace = run.trace
        assert run.printed("stdout") == expected.out, text
        assert (trace.failure is None) == (expected.failure is None), text
        diagnosis = diagnose(trace)
        if trace.failure is None:
            found = [finding.status for finding in diagnosis.calls[-1].findings]
            assert ["None" if status == "none" else status for status in found] == (
                expected.out.split()
            ), text
        for view in views(trace):
            draw(trace, diagnosis, view)


def views(trace: Trace) -> Iterator[View]:
    """Each gradient call at first view, folded and unfolded, after no, some and all steps."""
    groups = frozenset(group_paths(trace, View()))
    for call in trace.calls:
        for view in (View(), View(folded=groups), View(unfolded=groups)):
            for step in (None, len(call.steps) // 2, len(call.steps)):
                yield replace(view, overlay=replace(view.overlay, call=call.id, step=step))
