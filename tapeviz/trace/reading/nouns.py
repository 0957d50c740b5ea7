"""Turn one event into the noun of the trace that it describes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from sys import intern
from typing import Any

from .. import events as e
from ..calls import Call
from ..ids import CallId, OpId, TapeId, TensorId, VariableId
from ..ops import Op, OpDescription
from ..sites import Site
from ..tapes import FOREVER
from ..variables import Variable

_NO_ATTRIBUTES: Mapping[str, Any] = {}


_MOST_KNOWN = 1 << 14
_MOST_NUMBERS = 1 << 24
_FURTHER = 1 << 12


class SharedNumbers:
    """Gives one object for each number, which takes 32 bytes: ids of tensors and of ops and the
    moments at which they ran are the same numbers, and most are wanted several times."""

    def __init__(self) -> None:
        self._small: list[int | None] = [None]
        self._others: dict[int, int] = {}

    def shared(self, number: int) -> int:
        """Hot."""
        small = self._small
        if 0 <= number < len(small):
            known = small[number]
            if known is None:
                small[number] = known = number
            return known
        if 0 <= number < min(len(small) + _FURTHER, _MOST_NUMBERS):  # they grow by steps
            small.extend([None] * (number + 1 + len(small) // 8 - len(small)))
            small[number] = number
            return number
        return self._others.setdefault(number, number)


class IdTuples:
    """Makes tuples of tensors' ids. What one op gives another takes, so most tuples are wanted
    several times: then they are the same objects."""

    def __init__(self, numbers: SharedNumbers) -> None:
        self._shared = numbers.shared
        self._tuples: dict[tuple[int, ...], tuple[TensorId, ...]] = {}

    def single(self, tensor: int) -> TensorId:
        return TensorId(self._shared(tensor))

    def of(self, tensors: Sequence[int]) -> tuple[TensorId, ...]:
        """Hot."""
        key = tuple(tensors)
        made = self._tuples.get(key)
        if made is None:
            if len(self._tuples) > _MOST_KNOWN:
                self._tuples.clear()
            made = tuple(map(self._shared, key))  # type: ignore[arg-type]
            self._tuples[made] = made
        return made

    def or_none(self, tensors: Sequence[int]) -> tuple[TensorId | None, ...]:
        """None where there is no tensor."""
        made = self.of(tensors)
        if e.NONE not in made:
            return made
        return tuple([tensor if tensor != e.NONE else None for tensor in made])


class OpMaker:
    """Makes ops of events; those that are alike get one description."""

    def __init__(self, numbers: SharedNumbers) -> None:
        self._shared = numbers.shared
        self._descriptions: dict[tuple[int, str, bool, int, str], OpDescription] = {}

    def made(
        self,
        event: e.OpRan,
        inputs: tuple[TensorId, ...],
        outputs: tuple[TensorId, ...],
        site: Site,
        when: int,
        tapes: frozenset[TapeId] = frozenset(),
    ) -> Op:
        """The op that ran, and the tapes that recorded it. Hot."""
        if event.graph or event.name or event.error:  # no other op has its name
            description = _described(event, site)
        else:
            attributes = repr(event.attrs) if event.attrs else ""
            key = event.site, event.scope, event.paused, event.thread, attributes
            known = self._descriptions.get(key)
            if known is None:
                known = self._descriptions[key] = _described(event, site)
            description = known
        return Op(
            OpId(self._shared(event.id)),
            intern(event.type),
            inputs,
            outputs,
            self._shared(when),
            CallId(self._shared(event.call)) if event.call else None,
            tapes,
            description,
        )


def _described(event: e.OpRan, site: Site) -> OpDescription:
    return OpDescription(
        event.attrs or _NO_ATTRIBUTES,
        site,
        intern(event.scope),
        event.paused,
        event.graph,
        name=event.name,
        error=event.error,
        thread=event.thread,
    )


def entry_of(
    event: e.OperationRecorded, site: Site, when: int, body: tuple[OpId, ...], thread: int
) -> Op:
    """The entry of ``record_operation``, around the ops of its inside."""
    return Op(
        OpId(event.id),
        event.type,
        tuple(map(TensorId, event.inputs)),
        tuple(map(TensorId, event.outputs)),
        when,
        CallId(event.call) if event.call else None,
        frozenset(),
        OpDescription(
            _NO_ATTRIBUTES,
            site,
            event.scope,
            is_recorded_operation=True,
            body=body,
            function=event.function,
            function_line=event.line,
            thread=thread,
        ),
    )


def variable_of(event: e.VariableMade, handle: TensorId, site: Site, when: int) -> Variable:
    """The variable that was made, without its versions."""
    return Variable(
        id=VariableId(handle),
        name=intern(event.name.split(":")[0]),
        dtype=intern(event.dtype),
        shape=tuple(event.shape) if event.shape is not None else None,
        trainable=event.trainable,
        initial=TensorId(event.initial) if event.initial else None,
        site=site,
        path=intern(event.path),
        when=when,
        owner=event.owner,
    )


def call_of(event: e.CallBegan, site: Site, when: int) -> Call:
    """The call that began; the snippet's words for its operands come later."""
    return Call(
        id=CallId(event.id),
        method=intern(event.method),  # type: ignore[arg-type]  # the recorder's own words
        tape=TapeId(event.tape) if event.tape else None,
        targets=(),
        sources=(),
        output_gradients=(),
        unconnected=intern(event.unconnected),
        stops=tuple(TensorId(stop) for stop in event.stops),
        site=site,
        is_direct=event.direct,
        when=when,
        end=FOREVER,
    )
