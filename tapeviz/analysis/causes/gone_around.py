"""Find the cuts inside of one call that the gradient goes around within the same call."""

from __future__ import annotations

from collections.abc import Collection

from ...trace.ops import Op
from ..call_facts import CallFacts
from ..flow.dataflow import DataEdge, EdgesInto, Position

_Place = tuple[int, int]
"""Line and column of what the snippet ran. In a function that AutoGraph converts the column is
unknown, and all of a line is one call."""
_OUTSIDE: _Place = (0, 0)
"""Stands for what is no op of the snippet: the targets are taken there."""


def gone_around(
    facts: CallFacts, edges: EdgesInto, cuts: Collection[DataEdge], targets: Collection[Position]
) -> frozenset[DataEdge]:
    """The ``cuts`` at whose start another way begins that a gradient can pass, within the ops of
    the same call and out of it.

    TensorFlow and Keras write such on purpose: a cross entropy asks ``logits >= 0`` to choose
    between two formulas, ``tf.nn.moments`` stops the gradient of a mean that it takes off the
    values anyway. Nothing of the snippet has to be mended there. Takes time linear in the edges.
    """
    starts = {edge.start for edge in cuts}
    if all(edge in cuts for into in edges.values() for edge in into if edge.start in starts):
        return frozenset()  # most cuts are the only way from where they begin
    flowing = [edge for into in edges.values() for edge in into if edge not in cuts]
    places = {edge: place for edge in (*flowing, *cuts) if (place := _place(facts.op(edge)))}
    begins: dict[Position, set[_Place]] = {target: {_OUTSIDE} for target in targets}
    """The places of the edges from each position."""
    for edge, place in places.items():
        begins.setdefault(edge.start, set()).add(place)
    leaving: set[tuple[Position, _Place]] = set()
    """Positions from which a gradient can pass out of the call that is at this place."""
    waiting = [
        (edge.start, place)
        for edge in flowing
        if (place := places.get(edge)) is not None and begins.get(edge.end, {place}) != {place}
    ]
    while waiting:
        key = position, place = waiting.pop()
        if key not in leaving:
            leaving.add(key)
            before = (edge for edge in edges.get(position, ()) if edge not in cuts)
            waiting += [(edge.start, place) for edge in before if places.get(edge) == place]
    return frozenset(edge for edge in cuts if (edge.start, places.get(edge)) in leaving)


def _place(op: Op | None) -> _Place | None:
    frames = op.site.frames if op is not None else ()
    return (frames[0].line, frames[0].column) if frames else None
