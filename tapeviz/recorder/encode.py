"""Rows of the log in, JSON lines and the bytes of values out; ops get their numbers here."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from . import private
from .attributes import readable
from .sites import Sites
from .tensors import Tensors

Complain = Callable[[str], None]


_OP_TYPES = (str, bytes)


class KeptOp(NamedTuple):
    """What a replay needs of an op. ``backward``: for an entry of ``record_operation``."""

    type: str
    inputs: list[int]
    attrs: Any
    outputs: list[int]
    scope: str = ""
    backward: Any = None


class Encoder:
    """Turns rows into events, in order; runs on the log's thread only."""

    def __init__(self, sites: Sites, tensors: Tensors) -> None:
        self.tensors = tensors
        self.ops: dict[int, KeptOp] = {}
        self.producers: dict[int, int] = {}
        self._sites = sites
        self._last_op = 0
        self._by_attrs: dict[int, int] = {}
        self._tails: dict[Any, str] = {}
        self._lines: list[str] = []
        self._dense: dict[tuple[int, int], Any] = {}
        self._held: list[Any] = []  # so that no other tuple gets the same id

    def encode(
        self, batch: Iterable[tuple[Any, ...]], complain: Complain
    ) -> tuple[list[str], bytes]:
        """The events of a batch and the bytes that travel with them."""
        lines = self._lines = []
        for row in batch:
            try:
                if type(row[0]) in _OP_TYPES:
                    self._op(*row)
                else:
                    row[0](*row[1:])
            except Exception:
                complain("writing an event")
        sites = [
            json.dumps({"e": "site", "id": number, "frames": frames})
            for number, frames in self._sites.unsent()
        ]
        return sites + lines, self.tensors.take_blob()

    # One method for each kind of row.

    def _op(
        self,
        op_type: Any,
        inputs: Sequence[Any],
        attrs: Any,
        outputs: Sequence[Any],
        site: int,
        scope: str,
        state: tuple[int, bool, int],
    ) -> None:
        seen, see, lines = self.tensors.seen, self.tensors.see, self._lines
        taken = [tensor._id for tensor in inputs]
        for identity, tensor in zip(taken, inputs, strict=True):
            if identity not in seen:
                see(identity, tensor, lines)
        given = [tensor._id for tensor in outputs]
        number = self._last_op = self._last_op + 1
        producers = self.producers
        for identity, tensor in zip(given, outputs, strict=True):
            if identity not in seen:
                see(identity, tensor, lines)
            producers.setdefault(identity, number)
        key = (op_type, site, scope, state)
        try:
            tail = self._tails[key]
        except KeyError:
            tail = self._tails[key] = self._tail(*key)
        shown = readable(attrs)
        lines.append(f'{{"e":"op","id":{number}{tail},"inputs":{taken},"outputs":{given}{shown}}}')
        if type(op_type) is bytes:
            op_type = op_type.decode()
        self.ops[number] = KeptOp(op_type, taken, attrs, given, scope)
        if attrs:
            self._by_attrs[id(attrs)] = number

    def event(self, fields: dict[str, Any], tensors: Iterable[Any] = ()) -> None:
        """An event that is ready, after those of the tensors it names."""
        for tensor in tensors:
            self.see(tensor)
        self._lines.append(json.dumps(fields))

    def see(self, tensor: Any) -> int:
        """The id of an eager tensor whose event is written if it was not before."""
        identity: int = tensor._id
        if identity not in self.tensors.seen:
            self.tensors.see(identity, tensor, self._lines)
        return identity

    def symbolic(self, pairs: Iterable[tuple[int, Any]]) -> None:
        """A graph's tensors with their negative ids."""
        for identity, tensor in pairs:
            if identity not in self.tensors.seen:
                self.tensors.see_symbolic(identity, tensor, self._lines)

    def array(self, identity: int, array: Any) -> None:
        """A value that is a NumPy array only."""
        self.tensors.see_array(identity, array, self._lines)

    def mark(self, place: list[int]) -> None:
        """Remember the number that the next op will get."""
        place.append(self._last_op + 1)

    def graph_op(self, fields: dict[str, Any]) -> None:
        """An op that was put into a graph."""
        number = self._last_op = self._last_op + 1
        for identity in fields["outputs"]:
            self.producers.setdefault(identity, number)
        self._lines.append(json.dumps({**fields, "id": number}))

    def failed_op(
        self, op_type: str, inputs: Sequence[Any], site: int, error: str, call: int
    ) -> None:
        """An op that TensorFlow refused to run."""
        number = self._last_op = self._last_op + 1
        fields = {"e": "op", "id": number, "type": op_type, "outputs": [], "site": site}
        fields["inputs"] = [self.see(tensor) for tensor in inputs]
        self._lines.append(json.dumps({**fields, "call": call, "error": error}))

    def recorded(
        self,
        fields: dict[str, Any],
        inputs: list[int],
        outputs: list[int],
        first: list[int],
        backward: Any,
        op: list[int],
        tensors: Iterable[Any],
    ) -> None:
        """An entry of ``record_operation``; its number is put into ``op``."""
        for tensor in tensors:
            self.see(tensor)
        number = self._last_op = self._last_op + 1
        op.append(number)
        start = first[0] if first else 0
        if not start and outputs and fields["type"].startswith("__"):
            start = self.producers.get(outputs[0], 0)
        self.ops[number] = KeptOp(fields["type"], inputs, None, outputs, "", backward)
        for identity in outputs:
            self.producers[identity] = number
        fields |= {"id": number, "inputs": inputs, "outputs": outputs, "first": start}
        self._lines.append(json.dumps(fields))

    def same_attrs(self, attrs: Any, outputs: Sequence[int]) -> None:
        """``record_gradient`` got this attribute tuple for the op that gave ``outputs``."""
        if attrs and outputs and outputs[0] in self.producers:
            self._by_attrs[id(attrs)] = self.producers[outputs[0]]
            self._held.append(attrs)

    def step(
        self,
        call: int,
        op_type: str,
        op: list[int] | None,
        attrs: Any,
        forward: tuple[Sequence[Any] | None, Sequence[Any] | None],
        gradients: tuple[Sequence[Any], Any],
        first: list[int],
        is_jacobian: bool,
        ids: Callable[[Any], int],
    ) -> None:
        """A gradient function that ran: ``gradients`` went in and came out."""
        number = op[0] if op else self._find(op_type, attrs, forward, ids)
        if not number and is_jacobian:
            return  # of an op that exists only in the graph that jacobian makes
        upstream, downstream = gradients
        fields = {
            "e": "step",
            "call": call,
            "op": number,
            "type": op_type,
            "upstream": [self._gradient(one, ids) for one in upstream],
            "downstream": [self._gradient(one, ids) for one in listed(downstream)],
            "first": first[0] if first else 0,
        }
        self._lines.append(json.dumps(fields))

    def result(self, call: int, gradients: Sequence[Any], ids: Callable[[Any], int]) -> None:
        """A gradient call came back with these gradients, in flat order."""
        sparse = [i for i, one in enumerate(gradients) if hasattr(one, "dense_shape")]
        fields = {
            "e": "result",
            "call": call,
            "results": [self._gradient(one, ids) for one in gradients],
            "sparse": sparse,
        }
        for one in gradients:
            tensor = self.dense(one)
            if isinstance(tensor, private.EagerTensor):
                self.tensors.send_value(tensor._id, tensor, self._lines, limit=10_000)  # type: ignore[attr-defined]
        self._lines.append(json.dumps(fields))

    def dense(self, gradient: Any) -> Any:
        """A tensor for a gradient: IndexedSlices are summed into a dense one, once."""
        if not hasattr(gradient, "dense_shape") or not hasattr(gradient, "indices"):
            return gradient
        values, indices = gradient.values, gradient.indices
        if not isinstance(values, private.EagerTensor) or gradient.dense_shape is None:
            return values
        key = (values._id, indices._id)  # type: ignore[attr-defined]
        if key not in self._dense:
            self._dense[key] = private.dense(gradient)
        return self._dense[key]

    def _gradient(self, gradient: Any, ids: Callable[[Any], int]) -> int:
        if gradient is None:
            return 0
        tensor = self.dense(gradient)
        if isinstance(tensor, private.EagerTensor):
            return self.see(tensor)
        identity = ids(tensor)
        if identity < 0:
            self.symbolic([(identity, tensor)])
        return identity

    def _find(self, op_type: str, attrs: Any, forward: Any, ids: Callable[[Any], int]) -> int:
        """The op that a gradient function was called for."""
        if attrs:
            number = self._by_attrs.get(id(attrs), 0)
            if number:
                return number
        inputs, outputs = forward
        for tensor in outputs or ():
            identity = tensor if isinstance(tensor, int) else ids(tensor)
            number = self.producers.get(identity, 0)
            if number:
                return number
        wanted = [ids(tensor) for tensor in inputs or ()]
        if any(wanted):
            for number in range(self._last_op, max(0, self._last_op - 5_000), -1):
                op = self.ops.get(number)
                if op and op.type == op_type and op.inputs[: len(wanted)] == wanted:
                    return number
        return 0

    def _tail(self, op_type: Any, site: int, scope: str, state: tuple[int, bool, int]) -> str:
        name = op_type.decode() if isinstance(op_type, bytes) else op_type
        fields: dict[str, Any] = {"type": name, "site": site}
        call, paused, thread = state
        if scope:
            fields["scope"] = scope.rstrip("/")
        if call:
            fields["call"] = call
        if paused:
            fields["paused"] = True
        if thread:
            fields["thread"] = thread
        return "," + json.dumps(fields, separators=(",", ":"))[1:-1]


def listed(value: Any) -> Sequence[Any]:
    """What a gradient function returned, as a sequence: a gradient for each input."""
    if value is None:
        return ()
    return value if isinstance(value, (list, tuple)) else [value]
