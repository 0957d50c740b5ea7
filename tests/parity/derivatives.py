"""A program and a gradient that tapeviz computed across a cut in, its finite difference beside it.

The program itself is run again, plainly and in float64, with one source moved a little in a
direction of its own; the target's change is what every derivative must predict.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from tapeviz.analysis.findings import Finding
from tapeviz.analysis.model import CallDiagnosis
from tapeviz.trace.model import Trace
from tapeviz.trace.stats import Array

from .plain_runs import PlainRuns
from .programs import Program, Source

_WRITE = re.compile(r"\b(\w+)(?:\[[^\]]*\])?\.(?:assign|scatter)")
_STEPS = (1e-6, 2e-5)


@dataclass(frozen=True)
class Difference:
    """Two estimates of a derivative along ``direction``."""

    direction: Array
    estimates: tuple[float, float]

    @property
    def is_trustworthy(self) -> bool:
        coarse, fine = self.estimates
        return bool(np.isfinite(coarse) and abs(coarse - fine) <= 1e-3 * max(1.0, abs(coarse)))


def source_of(
    program: Program, trace: Trace, diagnosed: CallDiagnosis, finding: Finding
) -> Source | None:
    """The source, if its finite difference is what a gradient across all cuts should be."""
    call = diagnosed.call
    if not program.is_smooth or call.output_gradients or call.tape is None:
        return None
    # What was written before the tape began is past to a call that does not need it.
    before = program.text().splitlines()[: trace.tapes[call.tape].site.line - 1]
    if any(_WRITE.search(line) for line in before):
        return None
    written = {match.group(1) for match in _WRITE.finditer("\n".join(program.body))}
    for source in program.sources:
        if source.name == finding.source:
            # Of a variable that is written TensorFlow counts the uses of each state.
            return None if source.name in written else source
    return None


def difference(
    program: Program, source: Source, target: str, line: int, plain: PlainRuns
) -> Difference | None:
    """How the sum of the target changes with the source; None if the target is not there."""
    numbers = np.random.default_rng(len(target) + line).uniform(0.5, 1.5, len(source.values))
    direction = numbers * np.where(np.arange(len(numbers)) % 2, -1.0, 1.0)
    moves = [sign * step for step in _STEPS for sign in (1.0, -1.0)]
    moved = [np.array(source.values) + move * direction for move in moves]
    texts = [program.text({source.name: tuple(each.tolist())}, wide=True) for each in moved]
    found = plain.values(texts, target)
    if any(value is None for value in found):
        return None
    ends = [float(np.sum(value)) for value in found]
    first = (ends[0] - ends[1]) / (2 * _STEPS[0])
    second = (ends[2] - ends[3]) / (2 * _STEPS[1])
    return Difference(direction.reshape(source.shape), (first, second))
