"""Turn a call of forward mode round, and find the edges that its tangents went along.

``ForwardAccumulator.jvp`` gives a result for each output that it is asked about, so the recording
has the outputs as the call's sources, and the primals as its targets. TensorFlow tells a recorder
no tangents (``forwardprop.py``, 2.15-2.21).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ...trace.calls import Operand
from ..call_facts import CallFacts
from ..causes.questions import EdgeUnderTest
from ..findings import Link
from ..judging.forward_paths import barrier
from .ancestry import Ancestry


def turned(
    facts: CallFacts, outputs: tuple[Operand, ...], primals: tuple[Operand, ...]
) -> CallFacts:
    """The facts of the call as if the outputs were its targets and the primals its sources."""
    return replace(facts, call=replace(facts.call, targets=outputs, sources=primals))


def links_of_tangents(facts: CallFacts) -> Iterator[Link]:
    """The edges between primals and outputs along which a derivative can go, of outputs that have
    one."""
    call = facts.call
    asked = zip(call.sources, call.results, strict=False)
    outputs = tuple([output for output, result in asked if result is not None])
    between = turned(facts, outputs, call.targets)
    paths = between.paths
    starts = {start for primal in call.target_tensors for start in paths.starts(primal)}
    open_edges = {
        end: tuple([e for e in edges if barrier(EdgeUnderTest(e, between)) is None])
        for end, edges in paths.ancestry_from(starts).into.items()
    }
    for edges in Ancestry(open_edges).edges_from(starts).values():
        yield from ((edge.tensor, edge.op) for edge in edges if edge.op is not None)
