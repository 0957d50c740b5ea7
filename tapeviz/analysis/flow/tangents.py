"""Turn a call of forward mode round, and find the edges that its tangents went along.

``ForwardAccumulator.jvp`` gives a result for each output that it is asked about, so the recording
has the outputs as the call's sources, and the primals as its targets. TensorFlow tells a recorder
no tangents (``forwardprop.py``, 2.15-2.21).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ...trace.model import Operand
from ..call_facts import CallFacts
from ..causes.questions import EdgeUnderTest
from ..causes.ways import barrier
from ..model import Link
from .dataflow import Ancestry


def turned(facts: CallFacts, asked: Operand, primal: Operand) -> CallFacts:
    """The facts of the call as if the output were its target and the primal its source."""
    return replace(facts, call=replace(facts.call, targets=(asked,), sources=(primal,)))


def links_of_tangents(facts: CallFacts) -> Iterator[Link]:
    """The edges between primals and outputs along which a derivative can go, of outputs that have
    one."""
    call = facts.call
    asked = zip(call.sources, call.results, strict=False)
    outputs = tuple([output for output, result in asked if result is not None])
    between = replace(facts, call=replace(call, targets=outputs, sources=call.targets))
    primals = call.target_tensors
    starts = {start for primal in primals for start in between.paths.starts(primal)}
    open_edges = {
        end: tuple([e for e in edges if barrier(EdgeUnderTest(e, between)) is None])
        for end, edges in between.paths.ancestry_from(starts).into.items()
    }
    for edges in Ancestry(open_edges).edges_from(starts).values():
        yield from ((edge.tensor, edge.op) for edge in edges if edge.op is not None)
