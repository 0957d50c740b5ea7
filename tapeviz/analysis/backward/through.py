"""Find the edges inside a function, loop or conditional that a step of a backward pass took.

TensorFlow runs its backward function as a whole, and tells no gradient in between. Which way it
takes was settled when the function was traced: :attr:`Op.derived`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Mapping, Sequence

from ...trace.compiled.handed import handed_by
from ...trace.ids import OpId, TensorId
from ...trace.model import Trace
from ...trace.op_kinds import ops_with
from ..findings import Link
from .steps import WalkStep

_CONDITIONALS = ops_with("branch")


def links_inside(trace: Trace, step: WalkStep, arrived: Container[TensorId]) -> list[Link]:
    """The edges inside of the step's op along which a gradient went back from its outputs; none
    where nothing is known of the op's inside. In a loop also those from a turn into the next.

    ``arrived``: the tensors that a gradient of the whole pass arrived at. Takes time linear in the
    ops inside.
    """
    op = trace.op(step.op)
    if op is None:
        return []
    is_conditional = op.type in _CONDITIONALS and (op.within is not None or bool(step.made))
    loop = trace.loops.get(op.id)
    body = loop.body if loop is not None else op.body if op.runs else ()
    if not body and not is_conditional:
        return []
    handed = _handed(trace, [op.id, *body])
    makers = trace.producers if is_conditional else _makers(trace, body)
    given = zip(step.made or op.outputs, step.upstream, strict=False)
    waiting = [output for output, gradient in given if gradient is not None]
    seen, passed, links = set(waiting), set[OpId](), list[Link]()
    while waiting:
        op_id = makers.get(waiting.pop())
        if op_id is None or op_id in passed:
            continue
        passed.add(op_id)
        taker = trace.ops[op_id]
        # The inputs of a conditional are what its branches gave, see the expansion of calls.
        is_given = [True] * len(taker.inputs) if taker.type in _CONDITIONALS else taker.derived
        for tensor, has_gradient in zip(taker.inputs, is_given or (), strict=False):
            if not has_gradient:
                continue
            if tensor in arrived:
                links.append((tensor, op_id))
            inner = [*handed.get(tensor, ()), *(() if tensor in arrived else (tensor,))]
            before = [each for each in inner if _has_come(trace, makers.get(each))]
            links += [(each, op_id) for each in before]
            waiting += [each for each in before if each not in seen]
            seen.update(before)
    return links


def _has_come(trace: Trace, maker: OpId | None) -> bool:
    """Whether a gradient came to the op that made a tensor, so that it was asked for its own."""
    op = trace.op(maker)
    return op is not None and (op.derived is not None or op.type in _CONDITIONALS)


def _handed(trace: Trace, ops: Sequence[OpId]) -> Mapping[TensorId, Sequence[TensorId]]:
    """For each tensor that a turn of a loop among the ops takes, those that a turn gave for it."""
    handed = defaultdict[TensorId, list[TensorId]](list)
    for loop in filter(None, map(trace.loops.get, ops)):
        for taken, given in handed_by(loop).items():
            handed[taken] += given
    return handed


def _makers(trace: Trace, body: Sequence[OpId]) -> dict[TensorId, OpId]:
    """The ops of a body by what they make. What a call or loop in it gave was made by an op of its
    own body; the lists that it keeps for its backward pass by the last one that has a gradient. The
    gradient does not pass the body of a recorded operation (custom_gradient): it made its outputs
    itself."""
    ops = [trace.ops[op_id] for op_id in body]
    makers = {output: op.id for op in ops if not op.body for output in op.outputs}
    recorded = (op for op in ops if op.is_recorded_operation and op.derived is not None)
    makers.update((output, op.id) for op in recorded if not op.runs for output in op.outputs)
    for op in ops:
        ends = [inner for inner in op.body if trace.ops[inner].derived is not None]
        if ends:
            kept = [output for output in op.outputs if output not in makers]
            makers.update(dict.fromkeys(kept, max(ends)))
    return makers
