"""Keep what it takes to run an eager call of a traced function once more.

Arguments and results are kept as NumPy views of TensorFlow's own memory: nothing is copied, and the
tensors themselves can die as they do in a plain run. What variables held is read at checkpoints:
before calls 1, 2, 4, 8 … of a function, after a write from outside of functions, when many bytes
came together, and after every fifth of a second of computing, so that few calls have to run again.
All this stays within a budget of bytes; beyond it calls between the first and the last are
forgotten, and it is known which.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import is_
from threading import RLock
from time import monotonic, process_time
from typing import Any, NamedTuple
from weakref import ref

import numpy as np

from .. import limits, private
from ..numbering import own_ops
from ..private import FIRST_ID
from ..values import address_of
from ..weak_keys import ByGraph

_SLOW_READ = 0.02
_LARGE = 1 << 20
"""Bytes below which a read that took long was only interrupted."""
_SECONDS_BETWEEN = 0.2
"""By the clock and of CPU: a read costs as much as many a call, as the write after it has to copy,
and programs that wait or share the processor run few calls in this time."""
_ALWAYS_ALLOWED = 0.1
"""Seconds of reading that no run is too short for."""
_SHARE_OF_READS = 0.02
"""Reads beyond those before calls 1, 2, 4 … take at most this part of the time of the run."""


class Handle(NamedTuple):
    """A resource among a call's arguments, which is not held itself.

    ``dtype``: the enum of what the variable behind it holds; 0: it is no variable; ``shape``: None
    for any, -1 in it for a dimension that may change.
    """

    id: int
    dtype: int
    shape: tuple[int, ...] | None


@dataclass(slots=True, eq=False)
class KeptCall:
    """One eager call. ``number``: from 1, among those of its graph; ``sequence``: among all calls.

    ``graph_ref``, ``function_ref``: weak references to the graph and the ``AtomicFunction``. Where
    :class:`KeptCalls` holds no graphs, both die with the snippet's function.
    ``inputs``: the arguments; once it is over, for each an array, a :class:`Handle`, or a tensor
    that NumPy cannot show; ``outputs``: the same, ``None`` if the call raised; ``sources``: what it
    took from elsewhere; ``taken``, ``given``: the ids of its arguments and results; ``op``: the
    number of the eager op, 0 until it is encoded, and if it was not seen; ``nbytes``: of all that,
    before the call is kept of lists of loops alone; ``list_bytes``: of these lists.
    """

    graph_ref: Callable[[], Any]
    function_ref: Callable[[], Any]
    number: int
    sequence: int
    inputs: Sequence[Any]
    taken: Sequence[int] = ()
    outputs: Sequence[Any] | None = None
    given: Sequence[int] = ()
    sources: Sequence[Any] = ()
    op: int = 0
    nbytes: int = 0
    list_bytes: int = 0

    @property
    def graph(self) -> Any:
        """``None`` if the snippet has dropped the function."""
        return self.graph_ref()

    @property
    def function(self) -> Any:
        return self.function_ref()


class _Readable(NamedTuple):
    """A resource with the dtype's enum of the variable behind it, 0: none is; and its bytes, 0:
    they are not known before it is read."""

    tensor: Any
    dtype: int
    size: int


@dataclass(slots=True)
class _Traced:
    """The calls of one graph so far."""

    captured: frozenset[int]
    """Ids of tensors that the function holds anyway."""
    resources: Sequence[int]
    """Places of the arguments that are resources."""
    functions: set[Any] = field(default_factory=set)
    """The ``AtomicFunction`` objects of the graph that were called. TensorFlow drops one that
    nobody holds."""
    tail: Sequence[Any] = ()
    """The last arguments, which the function captured: in each call they are the same tensors."""
    tail_ids: Sequence[int] = ()
    tail_held: Sequence[Any] = ()
    calls: dict[int, KeptCall] = field(default_factory=dict)
    count: int = 0
    ids: list[int] = field(default_factory=list)
    """Ids of the last call's arguments before ``tail``; the arguments are in ``inputs``."""
    inputs: list[Any] = field(default_factory=list)
    handles: dict[int, _Readable] = field(default_factory=dict)
    dropped: array[int] = field(default_factory=lambda: array("q"))
    fresh_bytes: int = 0
    fresh_calls: int = 0
    last_read: float = 0.0
    last_read_cpu: float = 0.0

    def take_tail(self, arguments: Sequence[Any]) -> None:
        """Let ``tail`` be the last ones of these arguments."""
        first, ids = len(arguments), [private.id_of(argument) for argument in arguments]
        while first and ids[first - 1] in self.captured:
            first -= 1
        self.tail, self.tail_ids = arguments[first:], ids[first:]
        self.tail_held = [_held(argument) for argument in self.tail]
        self.ids, self.inputs = [-1] * first, [None] * first

    def take_handles(self, arguments: Sequence[Any]) -> None:
        """Let ``handles`` be those among these arguments."""
        known, self.handles = self.handles, {}
        for place in self.resources:
            handle = arguments[place]
            identity = handle._id or FIRST_ID
            self.handles[identity] = known.get(identity) or _readable(handle)


class KeptCalls:
    """The calls of one run, within ``budget`` bytes.

    ``holds_graphs``: the graph of a call lives as long as this, even if the snippet drops it.
    ``written``: ids of handles that an eager op wrote to since their variable was last read here.
    """

    def __init__(self, budget: int, *, holds_graphs: bool) -> None:
        self.timeline: dict[int, KeptCall] = {}
        """The kept calls by their sequence numbers; the missing ones were forgotten."""
        self.states: dict[int, list[tuple[int, Any]]] = {}
        """The states of each variable before calls, by its handle: ``(sequence, array)``, in
        order."""
        self.written: set[int] = set()
        self._budget = budget
        self._traced: ByGraph[_Traced] = ByGraph("calls", holds=holds_graphs)
        self._sequence = 0
        self._bytes = 0
        self._spare: deque[KeptCall] = deque()
        self._slow: set[int] = set()
        self._state_bytes = 0
        self._by_time: list[int] = []
        """Sequence numbers of checkpoints that may be given up."""
        self._pause = _SECONDS_BETWEEN
        self._began = monotonic()
        self._reading = 0.0
        self._lock = RLock()

    def begin(self, graph: Any, function: Any, arguments: Sequence[Any]) -> KeptCall:
        """Number a call that is about to run; read what variables hold if it is time to."""
        with self._lock:  # threads may call functions at once
            traced = self._traced.get(graph)
            if traced is None:
                resources = [place for place, each in enumerate(arguments) if _is_resource(each)]
                traced = self._traced[graph] = _Traced(private.captured_ids(graph), resources)
                traced.take_tail(arguments)
            traced.count += 1
            traced.fresh_calls += 1
            self._sequence += 1
            traced.functions.add(function)
            call = KeptCall(ref(graph), ref(function), traced.count, self._sequence, arguments)
            self._checkpoint(traced, call)
            return call

    def identify(self, call: KeptCall) -> list[int]:
        """The ids of a call's arguments."""
        traced, inputs = self._traced_of(call), call.inputs
        tail = inputs[len(traced.ids) :]
        if len(tail) != len(traced.tail) or not all(map(is_, tail, traced.tail)):
            traced.take_tail(inputs)
        ids = [argument._id or FIRST_ID for argument in inputs[: len(traced.ids)]]
        ids += traced.tail_ids
        return ids

    def end(self, call: KeptCall) -> None:
        """Keep what a call was given, what it gave, and what it took from elsewhere.

        On the log's thread: there many calls follow each other.
        """
        call.taken = call.taken or self.identify(call)
        call.list_bytes = call.nbytes
        call.sources = tuple(map(_held, call.sources))
        size = call.nbytes + sum(map(_size, call.sources))
        if call.outputs is not None:
            call.given = tuple([output._id or FIRST_ID for output in call.outputs])
            call.outputs = tuple(map(_held, call.outputs))
            size += sum(map(_size, call.outputs))
        with self._lock:
            traced = self._traced_of(call)
            self._add(traced, call, size + self._keep_inputs(traced, call))

    def _keep_inputs(self, traced: _Traced, call: KeptCall) -> int:
        """Put what is held of the arguments in their place; the bytes that this adds."""
        size = 0
        for place, known in enumerate(traced.ids):
            identity = call.taken[place]
            if known != identity:
                held = traced.inputs[place] = _held(call.inputs[place])
                size += 0 if identity in traced.captured else _size(held)
                traced.ids[place] = identity
        call.inputs = (*traced.inputs, *traced.tail_held)
        return size

    def count(self, graph: Any) -> int:
        """How many calls a graph had."""
        traced = self._traced.get(graph)
        return traced.count if traced is not None else 0

    def graphs(self) -> list[Any]:
        """The graphs that were called, in the order of their first calls."""
        return self._traced.graphs()

    def call(self, graph: Any, number: int) -> KeptCall | None:
        """A call by its number; ``None`` if there is none, or it was forgotten."""
        traced = self._traced.get(graph)
        return traced.calls.get(number) if traced is not None else None

    def ran_by(self, op: int) -> KeptCall | None:
        """The call that was the eager op of this number; ``None`` if it was forgotten."""
        return next((call for call in self.timeline.values() if call.op == op), None)

    def forgotten(self, graph: Any, since: int, until: int) -> bool:
        """Whether a call of the graph with a sequence number in this range was forgotten."""
        traced = self._traced.get(graph)
        return traced is not None and any(since <= moment < until for moment in traced.dropped)

    def _checkpoint(self, traced: _Traced, call: KeptCall) -> None:
        """Read what the variables hold: all of them, or those that changed behind our back."""
        now, number = monotonic(), call.number
        is_power = number & (number - 1) == 0
        has_many = 8 * traced.fresh_calls > limits.CALLS_KEPT
        has_much = has_many or 8 * traced.fresh_bytes > self._budget
        is_time = now - traced.last_read > self._pause
        is_time = is_time and process_time() - traced.last_read_cpu > self._pause
        is_due = is_power or has_much or is_time
        if not is_due and not self.written:
            return
        traced.take_handles(call.inputs)
        if not is_due and self.written.isdisjoint(traced.handles):
            return
        written = self.written.intersection(traced.handles)
        allowed = max(_ALWAYS_ALLOWED, _SHARE_OF_READS * (now - self._began))
        if not is_power and self._reading > allowed:
            for identity in written:
                self._remember(identity, None)
            return
        if is_due:
            traced.fresh_bytes, traced.fresh_calls, traced.last_read = 0, 0, now
            traced.last_read_cpu = process_time()
            if not is_power and not has_much and not written:
                self._by_time.append(self._sequence)
        due = traced.handles if is_due else {each: traced.handles[each] for each in written}
        self._read_all(due)
        if 2 * self._state_bytes > self._budget:
            self._thin()

    def _thin(self) -> None:
        """Give up every second checkpoint that was only made because time had passed."""
        given_up = set(self._by_time[::2])
        self._by_time = self._by_time[1::2]
        self._pause *= 2
        for states in self.states.values():
            left = [state for state in states if state[0] not in given_up]
            shared = {id(held) for _, held in left}
            gone = {id(held): held for _, held in states if id(held) not in shared}
            size = sum(map(_size, gone.values()))
            states[:] = left
            self._state_bytes -= size
            self._bytes -= size

    def _read_all(self, variables: Mapping[int, _Readable]) -> None:
        """Read what each of these variables holds, unless that is too slow, too much, or logged."""
        is_logged = private.logs_placement()
        with own_ops(), private.record.stop_recording():
            for identity, (handle, dtype, size) in variables.items():
                if is_logged or identity in self._slow or self._bytes + size > self._budget:
                    if identity in self.written:
                        self._remember(identity, None)
                    continue
                began = monotonic()
                held = private.read_handle(handle, dtype) if dtype else None
                took = monotonic() - began
                self._reading += took
                if took > _SLOW_READ and size > _LARGE and identity in self.states:
                    self._slow.add(identity)  # a copy was made: an embedding, after sparse updates
                if held is not None and (not size or held.nbytes == size):  # else it has no value
                    self._keep_state(identity, held)

    def _keep_state(self, identity: int, held: Any) -> None:
        known = self.states.get(identity)
        if known and _is_same_memory(known[-1][1], held):
            held = known[-1][1]
        else:
            self._bytes += held.nbytes
            self._state_bytes += held.nbytes
        self._remember(identity, held)
        self.written.discard(identity)

    def _remember(self, identity: int, state: Any) -> None:
        """The state before the call that begins now; ``None``: it changed and was not read."""
        states = self.states.setdefault(identity, [])
        if state is not None or (states and states[-1][1] is not None):
            states.append((self._sequence, state))

    def _add(self, traced: _Traced, call: KeptCall, size: int) -> None:
        before = traced.calls.get(call.number - 1)
        if before is not None and before.number & (before.number - 1):
            self._spare.append(before)  # neither the last any more, nor one at a checkpoint
        traced.calls[call.number] = self.timeline[call.sequence] = call
        traced.fresh_bytes += size
        call.nbytes = size
        self._bytes += size
        most = limits.CALLS_KEPT
        while self._spare and (self._bytes > self._budget or len(self.timeline) > most):
            oldest = self._spare.popleft()
            if oldest.list_bytes and len(self.timeline) <= most:
                self._drop_lists(oldest)
            else:
                self._forget(oldest)

    def _drop_lists(self, call: KeptCall) -> None:
        """Hold no longer what the turns of a call took: datasets may give it once more."""
        call.sources, self._bytes = (), self._bytes - call.list_bytes
        call.nbytes, call.list_bytes = call.nbytes - call.list_bytes, 0
        self._spare.append(call)

    def _forget(self, call: KeptCall) -> None:
        traced = self._traced.get(call.graph)
        if traced is not None:
            del traced.calls[call.number]
            traced.dropped.append(call.sequence)
        del self.timeline[call.sequence]
        self._bytes -= call.nbytes

    def _traced_of(self, call: KeptCall) -> _Traced:
        """For a call that has not ended: its graph lives."""
        traced = self._traced.get(call.graph)
        assert traced is not None
        return traced


def _held(tensor: Any) -> Any:
    number = tensor._datatype_enum()
    if private.is_resource(number):
        return Handle(private.id_of(tensor), *private.behind(tensor))
    if private.is_opaque(number):
        return tensor
    return tensor._numpy_internal()


def _is_resource(tensor: Any) -> bool:
    return private.is_resource(tensor._datatype_enum())


def _readable(handle: Any) -> _Readable:
    return _Readable(handle, private.behind(handle)[0], private.size_behind(handle))


def _size(held: Any) -> int:
    return int(getattr(held, "nbytes", 64))


def _is_same_memory(first: Any, other: Any) -> bool:
    """Whether two states are views of the same tensor: nothing was written in between."""
    if not isinstance(first, np.ndarray) or not isinstance(other, np.ndarray):
        return False
    return first.nbytes == other.nbytes and address_of(first) == address_of(other)
