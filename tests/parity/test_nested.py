"""Programs that nobody wrote, of compiled functions, loops and branches in each other: what became
of each gradient is what a plain run prints, and every picture of them can be drawn.

``TAPEVIZ_PROGRAMS=500 pytest tests/parity/test_nested.py`` tries more of them.
"""

from __future__ import annotations

import os
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

import pytest

from tapeviz.analysis import diagnose
from tapeviz.drawing import arrange, compose_over, group_paths, shown_call
from tapeviz.view import View

from .nested_programs import nested_program
from .plain_runs import PlainRuns
from .recorded_runs import recorded

if TYPE_CHECKING:
    from tapeviz.recording.live import Recorder

PROGRAMS = int(os.environ.get("TAPEVIZ_PROGRAMS", "2"))


@pytest.mark.parametrize("seed", range(3, 3 + PROGRAMS))  # the first three take four times as long
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
        groups = frozenset(group_paths(trace, View()))
        for view in (View(), View(folded=groups), View(unfolded=groups)):
            for call in trace.calls:
                arranged = arrange(trace, view, call.id)
                for step in (None, len(call.steps) // 2, len(call.steps)):
                    overlay = replace(view.overlay, call=call.id, step=step)
                    compose_over(arranged, trace, shown_call(diagnosis, overlay), overlay)
