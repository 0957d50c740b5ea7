"""Find the cuts inside of one call that the gradient goes around within the same call."""

from __future__ import annotations

from collections.abc import Collection

from ...trace.ops import Op
from ..call_facts import CallFacts
from ..flow.dataflow import DataEdge, EdgesInto, Position

_Place = tuple[int, int]
"""Line and column of what the snippet ran. In a function that AutoGraph converts the column is
unknown, and all of a line is one call."""


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
    onward: dict[Position, list[tuple[DataEdge, _Place]]] = {}
    for into in edges.values():
        for edge in into:
            op = facts.op(edge)
            if op is not None and (place := _place(op)) is not None:
                onward.setdefault(edge.start, []).append((edge, place))
    leaving: set[tuple[Position, _Place]] = set()
    """Positions from which a gradient can pass out of the call that is at this place."""
    waiting = []
    places = {edge: place for ways in onward.values() for edge, place in ways}
    for edge, place in places.items():
        is_out = edge.end in targets or any(place != next_ for _, next_ in onward.get(edge.end, ()))
        if is_out and edge not in cuts:
            waiting.append((edge.start, place))
    while waiting:
        key = position, place = waiting.pop()
        if key not in leaving:
            leaving.add(key)
            before = (edge for edge in edges.get(position, ()) if edge not in cuts)
            waiting += [(edge.start, place) for edge in before if places.get(edge) == place]
    return frozenset(edge for edge in cuts if (edge.start, places.get(edge)) in leaving)


def _place(op: Op) -> _Place | None:
    frames = op.site.frames
    return (frames[0].line, frames[0].column) if frames else None
