"""Compute a tensor that was let go of again, by running the ops that led to it.

A model gives more than can be held. An op that does nothing but compute gives the same on the same
inputs, back to tensors that are still held.
"""

from __future__ import annotations

from collections import Counter
from time import monotonic
from typing import Any

from .. import limits, private
from ..encode import Encoder
from ..history import KeptOp
from ..private.functions import can_repeat, op_def


class CannotRepeat(Exception):
    """Why a tensor cannot be computed again, in words."""


def tensor_of(encoder: Encoder, identity: int) -> Any:
    """The tensor with this id, computed anew if it was let go of. Raises :class:`CannotRepeat`.

    It is held again, with those that it was made from, as far as there is room.
    """
    tensor = encoder.tensors.tensor(identity)
    if tensor is not None:
        return tensor
    plan = _leading_to(encoder, identity)
    try:
        with private.quiet_eager_mode():
            tensor = _run(encoder, identity, plan)
    except private.Refused as error:
        raise CannotRepeat("an op that led to them cannot be run again") from error
    if not encoder.tensors.is_same(identity, tensor):
        raise CannotRepeat("they came out otherwise when computed again")
    encoder.tensors.hold_again(identity, tensor)
    return tensor


def _leading_to(encoder: Encoder, identity: int) -> list[KeptOp]:
    """The ops that make the tensor from tensors that are held, in the order in which they ran."""
    plan: dict[int, KeptOp] = {}
    waiting = [identity]
    while waiting:
        wanted = waiting.pop()
        number = encoder.history.producer(wanted)
        if encoder.tensors.has(wanted) or number in plan:
            continue
        op = encoder.history.op(number)
        if op is None or op_def(op.type) is None:
            raise CannotRepeat("what led to them was not kept")
        if not can_repeat(op.type):
            raise CannotRepeat(f"{op.type} would not give the same again")
        plan[number] = op
        if len(plan) > limits.OPS_AGAIN:
            raise CannotRepeat("too many ops led to them")
        waiting += op.inputs
    return [plan[number] for number in sorted(plan)]


def _run(encoder: Encoder, identity: int, plan: list[KeptOp]) -> Any:
    until = monotonic() + limits.SECONDS_AGAIN
    uses = Counter(taken for op in plan for taken in op.inputs)
    uses[identity] += 1
    values: dict[int, Any] = {}
    for op in plan:
        if monotonic() > until:
            raise CannotRepeat("computing them again takes too long")
        inputs = [values[i] if i in values else encoder.tensors.tensor(i) for i in op.inputs]
        outputs = private.run_op(op.type, inputs, op.attrs, len(op.outputs))
        for output, tensor in zip(op.outputs, outputs, strict=True):
            encoder.tensors.hold_again(output, tensor)
            if uses[output]:
                values[output] = tensor
        for taken in op.inputs:
            uses[taken] -= 1
            if not uses[taken]:
                values.pop(taken, None)
    return values[identity]
