"""Programs that nobody wrote: recorded as they run plainly, and understood as TensorFlow does.

``TAPEVIZ_PROGRAMS=500 pytest tests/parity/test_generated.py`` tries more of them;
``TAPEVIZ_SHRINK=1`` has Hypothesis look for a smaller one when one fails, which takes minutes.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tapeviz.trace.ids import TapeId
from tapeviz.trace.model import Binding, Trace
from tapeviz.trace.tapes import is_differentiable
from tests.recordings.invariants import check_diagnosis

from .comparing import check_same
from .derivatives import difference, source_of
from .plain_runs import PlainRuns
from .programs import Program, cut_programs, programs
from .recombining import check_recombines
from .recorded_runs import RecordedRun, recorded

if TYPE_CHECKING:
    from tapeviz.recording.live import Recorder

PROGRAMS = int(os.environ.get("TAPEVIZ_PROGRAMS", "10"))
PHASES = [Phase.generate] + ([Phase.shrink] if os.environ.get("TAPEVIZ_SHRINK") else [])

seen: Counter[str] = Counter()
"""Counts of the comparisons that the programs made possible."""


varied = settings(
    max_examples=(PROGRAMS + 1) // 2,
    deadline=None,
    derandomize=True,
    database=None,
    phases=PHASES,
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.timeout(60 + 15 * PROGRAMS)
@varied
@given(program=programs())
def test_program(program: Program, plain: PlainRuns, recorder: Recorder) -> None:
    check_program(program, plain, recorder)


@pytest.mark.timeout(60 + 15 * PROGRAMS)
@varied
@given(program=cut_programs())
def test_cut_program(program: Program, plain: PlainRuns, recorder: Recorder) -> None:
    check_program(program, plain, recorder)


def check_program(program: Program, plain: PlainRuns, recorder: Recorder) -> None:
    text = program.text()
    expected = plain.run(text, probes=True)
    assert expected.failure is None, expected.failure
    with recorded(recorder, text) as run:
        check_same(expected, run)
        seen["sums"] += check_recombines(run)
        _check_tapes(run.trace, expected.probes)
        _check_findings(program, run, plain)
    seen["programs"] += 1


def test_they_gave_occasion() -> None:
    """The programs reach what they are for."""
    if not seen["programs"]:
        pytest.skip("no program was run")
    assert seen["sums"] >= 3 * seen["programs"]
    assert seen["on tape"] >= 5 * seen["programs"]
    assert seen["not on tape"] >= 3 * seen["programs"]
    assert seen["causes"] >= seen["programs"]
    assert seen["bridges"] >= seen["programs"] / 15


def _check_tapes(trace: Trace, probes: list[tuple[str, dict[str, bool]]]) -> None:
    """Which tapes hold each tensor that got a name: as derived, and as TensorFlow says."""
    bindings: dict[str, list[Binding]] = defaultdict(list)
    for binding in trace.bindings:
        if binding.tensors:
            bindings[binding.name].append(binding)
    times: Counter[str] = Counter()
    for name, answers in probes:
        binding = bindings[name][times[name]]
        times[name] += 1
        tensor = binding.tensors[0][0]
        if not is_differentiable(trace.tensors[tensor].dtype):
            continue
        producer = trace.producers.get(tensor)  # of a constant there is none
        holding = trace.ops[producer].tapes if producer is not None else frozenset()
        for tape_name, answer in answers.items():
            tape = _tape(trace, tape_name, binding.when)
            seen["on tape" if answer else "not on tape"] += 1
            assert (tape in holding) == answer, (name, tape_name, binding.site.line)


def _tape(trace: Trace, name: str, when: int) -> TapeId:
    """The tape that had this name then; a loop makes several."""
    return max(tape.id for tape in trace.tapes.values() if tape.name == name and tape.when < when)


def _check_findings(program: Program, run: RecordedRun, plain: PlainRuns) -> None:
    from tapeviz.analysis import diagnose

    diagnosis = diagnose(run.trace)
    check_diagnosis(run.trace, diagnosis)
    for diagnosed in diagnosis.calls:
        for finding in diagnosed.findings:
            seen["causes"] += finding.status == "none"
            source = source_of(program, run.trace, diagnosed, finding)
            if finding.bridged is None or source is None or finding.is_estimated or finding.held:
                continue
            line = diagnosed.call.line
            found = difference(program, source, finding.target, line, plain)
            if found is None or not found.is_trustworthy:
                continue
            seen["bridges"] += 1
            along = float(np.sum(np.float64(run.value(finding.bridged)) * found.direction))
            assert along == pytest.approx(found.estimates[0], rel=0.02, abs=2e-3), (
                f"line {line}: {finding.target} by {finding.source}"
            )
