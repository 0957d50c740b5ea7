"""Traces without TensorFlow: :class:`Script` writes a recording's events, line by line.

Below it are the nouns of a trace for tests that need them with ids of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from tapeviz.trace import events as e
from tapeviz.trace.ids import OpId, SiteId, TensorId
from tapeviz.trace.model import Trace
from tapeviz.trace.ops import Op, OpDescription, Shape, Tensor
from tapeviz.trace.read import read
from tapeviz.trace.sites import Site, StackFrame
from tapeviz.trace.stored.file import Recording

SLICE_ASSIGN = """x = tf.Variable([[2.0, 3.0, 4.0],
                 [1.0, 10., 100.]])
patch = tf.Variable([[0., 1.], [2., 3.]])
with tf.GradientTape() as g:
    x[:2, :2].assign(patch)
    y = tf.tensordot(x, tf.transpose(x), 1)
    o = tf.reduce_mean(y)
g.gradient(o, patch)
"""
"""The example that most pictures of the tests are of."""


class Script:
    """Writes a recording by hand. Every method that makes a tensor gives its id."""

    def __init__(self, source: str = "") -> None:
        self.source = source
        self.events: list[e.Event] = [e.Begin(e.FORMAT_VERSION, "2.21.0", "3.11")]
        self._blob = bytearray()
        self._tensors = 0
        self._ops = 0
        self._calls = 0
        self._tapes = 0
        self._sites: dict[tuple[int, tuple[str, int]], int] = {}
        self._inside = 0

    def trace(self) -> Trace:
        return read(self.events, bytes(self._blob), self.source, "snippet.py")

    def recording(self) -> Recording:
        lines = tuple(map(e.encode, self.events))
        return Recording(self.source, "snippet.py", lines, bytes(self._blob))

    def site(self, *lines: int, function: str = "<module>") -> int:
        frames = tuple((function if i == 0 else "<module>", line) for i, line in enumerate(lines))
        if not lines or lines == (0,):
            return 0
        number = 0
        for depth in range(len(frames) - 1, -1, -1):
            chain = (number, frames[depth])
            if chain not in self._sites:
                self._sites[chain] = len(self._sites) + 1
                event = e.SiteSeen(self._sites[chain], [(*frames[depth], -1, -1, -1)], number)
                self.events.append(event)
            number = self._sites[chain]
        return number

    def tensor(
        self,
        shape: Sequence[int | None] | None = (),
        *,
        value: Any = None,
        dtype: str = "float32",
        name: str = "",
        line: int = 0,
        handle: bool = False,
    ) -> int:
        self._tensors += 1
        at, nbytes = -1, 0
        if value is not None:
            raw = np.asarray(value, dtype)
            shape, at, nbytes = raw.shape, len(self._blob), raw.nbytes
            self._blob += raw.tobytes()
        sizes = list(shape) if shape is not None else None
        self.events.append(
            e.TensorSeen(self._tensors, dtype, sizes, at=at, nbytes=nbytes, handle=handle)
        )
        made = self._tensors
        if name:
            self.bind(name, made, line)
        return made

    def bind(self, name: str, tensor: int, line: int = 0) -> None:
        self.events.append(e.NameBound(name, self.site(line), [(tensor, [])]))

    def op(
        self,
        kind: str,
        inputs: Sequence[int],
        shape: Sequence[int | None] = (),
        *,
        line: int = 0,
        at: Sequence[int] = (),
        name: str = "",
        dtype: str = "float32",
        scope: str = "",
        value: Any = None,
        outputs: int = 1,
        thread: int = 0,
    ) -> int:
        site = self.site(*(at or (line,)))
        made = [self.tensor(shape, dtype=dtype, value=value) for _ in range(outputs)]
        self._ops += 1
        ran = e.OpRan(
            self._ops,
            kind,
            list(inputs),
            made,
            site=site,
            scope=scope,
            call=self._inside,
            thread=thread,
        )
        self.events.append(ran)
        if name:
            self.bind(name, made[0], (at or (line,))[0])
        return made[0] if made else 0

    def variable(
        self,
        name: str,
        shape: Sequence[int] = (),
        *,
        line: int = 0,
        initial: int = 0,
        value: Any = None,
        trainable: bool = True,
    ) -> int:
        handle = self.tensor((), dtype="resource", handle=True)
        initial = initial or self.tensor(shape, value=value)
        self.op("AssignVariableOp", [handle, initial], outputs=0, line=line)
        shape = np.shape(value) if value is not None else shape
        self.events.append(
            e.VariableMade(
                handle, f"{name}:0", "float32", list(shape), trainable, initial, self.site(line)
            )
        )
        self.bind(name, handle, line)
        return handle

    def read(self, handle: int, shape: Sequence[int] = (), *, line: int = 0) -> int:
        return self.op("ReadVariableOp", [handle], shape, line=line)

    def tape(
        self, *, line: int = 0, persistent: bool = False, watches: bool = True, thread: int = 0
    ) -> int:
        self._tapes += 1
        site = self.site(line)
        self.events.append(e.TapeOpened(self._tapes, persistent, watches, site))
        self.events.append(e.TapeTurned(self._tapes, True, "enter", site, thread))
        return self._tapes

    def exit(self, tape: int) -> None:
        self.events.append(e.TapeTurned(tape, False, "exit"))

    def watch(self, tape: int, tensor: int, *, line: int = 0) -> None:
        self.events.append(e.Watched(tape, [tensor], self.site(line)))

    def reset(self, tape: int, *, line: int = 0) -> None:
        self.events.append(e.TapeTurned(tape, False, "reset", self.site(line)))
        self.events.append(e.TapeTurned(tape, True, "reset", self.site(line)))

    def left(self, tensor: int, how: str, *, line: int) -> None:
        self.events.append(e.ValueLeft(tensor, how, self.site(line)))

    def caught(self, kind: str, message: str, *, line: int, handler: int) -> None:
        self.events.append(e.Caught(kind, message, [line], self.site(handler)))

    @contextmanager
    def call(
        self,
        tape: int,
        targets: Sequence[int],
        sources: Sequence[int],
        *,
        line: int = 0,
        variables: Sequence[int] = (),
    ) -> Iterator[list[int]]:
        """A gradient call; put its results into the list that this gives."""
        self._calls += 1
        results: list[int] = []
        self.events.append(
            e.CallBegan(
                self._calls,
                "gradient",
                tape,
                [e.RawOperand(target) for target in targets],
                [
                    e.RawOperand(source, "variable" if source in variables else "tensor")
                    for source in sources
                ],
                site=self.site(line),
            )
        )
        self._inside, outer = self._calls, self._inside
        call = self._calls
        yield results
        self._inside = outer
        self.events.append(e.CallEnded(call, results))

    def step(self, op: int, upstream: Sequence[int], downstream: Sequence[int]) -> None:
        """A gradient function that ran inside the call that is open."""
        kind = "Gradient"
        self.events.append(e.StepRan(self._inside, op, kind, list(upstream), list(downstream)))

    def recorded(
        self, kind: str, inputs: Sequence[int], outputs: Sequence[int], first: int, *, line: int = 0
    ) -> None:
        """``record_operation`` over the ops from ``first`` on."""
        self._ops += 1
        self.events.append(
            e.OperationRecorded(
                self._ops,
                kind,
                list(inputs),
                list(outputs),
                first,
                self.site(line),
                function=kind,
                line=line,
            )
        )

    @property
    def next_op(self) -> int:
        return self._ops + 1

    @property
    def last_op(self) -> int:
        return self._ops


def site_at(line: int, column: int = -1) -> Site:
    return Site(SiteId(line), (StackFrame("<module>", line, column),))


def op_at(
    line: int, id_: int, kind: str, inputs: Iterable[int], outputs: Iterable[int], when: int = 0
) -> Op:
    """An op that ran on a line, in the order of the ids unless ``when`` says another."""
    taken, given = tuple(map(TensorId, inputs)), tuple(map(TensorId, outputs))
    description = OpDescription({}, site_at(line))
    return Op(OpId(id_), kind, taken, given, when or id_, None, frozenset(), description)


def tensor_of(shape: Shape, dtype: str = "float32", *, kept: bool = False) -> Tensor:
    return Tensor((dtype, shape), kept)


def trace_of(source: str, ops: Iterable[Op], values: Mapping[int, Any], **more: Any) -> Trace:
    """A trace of these ops, with the values of tensors by their ids."""
    blob, places, tensors = b"", {}, {}
    for id_, value in values.items():
        raw = np.ascontiguousarray(value, np.float32)
        places[TensorId(id_)] = len(blob)
        tensors[TensorId(id_)] = tensor_of(np.shape(value), kept=True)
        blob += raw.tobytes()
    made = {op.id: op for op in ops}
    tables: dict[str, Any] = {"tensors": tensors, "blob": blob, "places": places}
    return Trace(source, ops=made, recorded_ops=len(made), **tables, **more)
