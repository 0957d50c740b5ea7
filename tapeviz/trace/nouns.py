"""One event in, and where and when it happened; the noun of the trace that it describes out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from sys import intern
from typing import Any, cast

from . import events as e
from .model import Call, CallId, Op, OpId, Site, TapeId, Tensor, TensorId, Variable, VariableId
from .tapes import FOREVER

_NO_ATTRIBUTES: Mapping[str, Any] = {}


def ids_of(tensors: Sequence[int], known: Mapping[TensorId, Tensor]) -> tuple[TensorId | None, ...]:
    """Tensors by their ids; None where there is none."""
    return tuple([tensor if tensor != e.NONE else None for tensor in shared_ids(tensors, known)])


def shared_ids(tensors: Sequence[int], known: Mapping[TensorId, Tensor]) -> tuple[TensorId, ...]:
    """The ids as the trace's tensors have them: each is one number, not one for each mention."""
    ids = cast(Sequence[TensorId], tensors)
    return tuple([known[tensor].id if tensor in known else tensor for tensor in ids])


def op_of(
    event: e.OpRan,
    inputs: tuple[TensorId, ...],
    outputs: tuple[TensorId, ...],
    site: Site,
    when: int,
    attributes: dict[str, Mapping[str, Any]],
    tapes: frozenset[TapeId] = frozenset(),
) -> Op:
    """The op that ran, and the tapes that recorded it. Hot.

    Each line of a recording has its own copy of words and attributes; the trace holds one of each.
    ``attributes``: those seen so far, by their text.
    """
    attrs = event.attrs or _NO_ATTRIBUTES
    return Op(
        id=OpId(event.id),
        type=intern(event.type),
        inputs=inputs,
        outputs=outputs,
        attrs=attributes.setdefault(repr(attrs), attrs) if attrs else attrs,
        site=site,
        scope=intern(event.scope),
        call=CallId(event.call) if event.call else None,
        paused=event.paused,
        graph=event.graph,
        when=when,
        tapes=tapes,
        name=event.name,
        error=event.error,
    )


def entry_of(event: e.OperationRecorded, site: Site, when: int, body: tuple[OpId, ...]) -> Op:
    """The entry of ``record_operation``, around the ops of its inside."""
    return Op(
        id=OpId(event.id),
        type=event.type,
        inputs=tuple(map(TensorId, event.inputs)),
        outputs=tuple(map(TensorId, event.outputs)),
        attrs={},
        site=site,
        scope=event.scope,
        call=CallId(event.call) if event.call else None,
        paused=False,
        graph=0,
        when=when,
        is_recorded_operation=True,
        body=body,
        function=event.function,
        function_line=event.line,
    )


def variable_of(event: e.VariableMade, site: Site, when: int) -> Variable:
    """The variable that was made, without its versions."""
    return Variable(
        id=VariableId(event.id),
        name=event.name.split(":")[0],
        dtype=event.dtype,
        shape=tuple(event.shape) if event.shape is not None else None,
        trainable=event.trainable,
        initial=TensorId(event.initial) if event.initial else None,
        site=site,
        path=event.path,
        when=when,
        owner=event.owner,
    )


def call_of(event: e.CallBegan, site: Site, when: int) -> Call:
    """The call that began; the snippet's words for its operands come later."""
    return Call(
        id=CallId(event.id),
        method=event.method,  # type: ignore[arg-type]  # the recorder's own words
        tape=TapeId(event.tape) if event.tape else None,
        targets=(),
        sources=(),
        output_gradients=(),
        unconnected=event.unconnected,
        site=site,
        is_direct=event.direct,
        when=when,
        end=FOREVER,
    )
