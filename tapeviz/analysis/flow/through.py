"""Find the edges inside a compiled function that a step of a backward pass took.

TensorFlow runs the backward function as a whole, and tells no gradient in between. Which way it
takes was settled when the function was traced: :attr:`Op.derived`.
"""

from __future__ import annotations

from ...trace.model import TensorId, Trace
from ..model import Link, WalkStep


def links_inside(trace: Trace, step: WalkStep) -> list[Link]:
    """The edges between ops of an opened call that lie on a way from an output with a gradient to
    an input that got one; none where the step is no such call."""
    entry = trace.op(step.op)
    if entry is None or not entry.runs or not entry.body:
        return []
    body = [trace.ops[op_id] for op_id in entry.body]
    inner = {op_id for op in body for op_id in op.body}
    ops = [op for op in body if not op.body or not inner.intersection(op.body)]
    reached: set[TensorId] = {tensor for (tensor, _), _ in step.walked if tensor is not None}
    for op in ops:
        if not reached.isdisjoint(op.inputs):
            reached.update(op.outputs)
    given = zip(entry.outputs, step.upstream, strict=False)
    wanted: set[TensorId] = {output for output, gradient in given if gradient is not None}
    links: list[Link] = []
    for op in reversed(ops):
        if wanted.isdisjoint(op.outputs):
            continue
        for tensor, has_gradient in zip(op.inputs, op.derived or (), strict=False):
            if has_gradient and tensor in reached:
                links.append((tensor, op.id))
                wanted.add(tensor)
    return links
