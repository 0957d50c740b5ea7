"""Encode rows of the log as JSON lines and bytes of values; ops get their numbers here."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from . import private
from .attributes import readable
from .dense import Densifier, is_sparse
from .history import History, KeptOp
from .hooks.kept_calls import KeptCall, KeptCalls
from .json_text import to_compact_json, to_json
from .private import FIRST_ID
from .sites import Sites
from .symbols import Symbols
from .tensors import Tensors

if TYPE_CHECKING:
    from .rerun.report import InsideReport

Complain = Callable[[str], None]
LogRow = tuple[Any, ...]
_quoted: Callable[[str], str] = functools.lru_cache(to_json)
"""A name as JSON text: the same few stand in thousands of rows."""


class Encoder:
    """Turns rows into events, in order; runs on the log's thread only."""

    def __init__(
        self,
        sites: Sites,
        symbols: Symbols,
        tensors: Tensors,
        history: History,
        kept_calls: KeptCalls,
    ) -> None:
        self.tensors = tensors
        self.history = history
        self._kept_calls = kept_calls
        self._sites = sites
        self._symbols = symbols
        self._traced_results: set[int] = set()
        """Symbols that a gradient call in a graph gave."""
        self._tails: dict[Any, str] = {}
        self._attributes_of: dict[Any, str] = {}
        self._bindings: dict[tuple[str, int, type], str] = {}
        self._lines: list[str] = []
        self.dense = Densifier().dense
        self._passing: dict[int, int] = {}

    def encode(self, batch: Sequence[LogRow], complain: Complain) -> tuple[list[str], bytes]:
        """The events of a batch and the bytes that travel with them."""
        lines = self._lines = []
        rows = iter(batch)
        while True:
            try:
                self._write(rows)
                break
            except Exception:
                complain("writing an event")
        self.tensors.measure(lines)
        sites = [
            to_json({"e": "site", "id": number, "frames": [frame], "caller": caller})
            for number, frame, caller in self._sites.unsent()
        ]
        return sites + lines, self.tensors.take_blob()

    def _write(self, rows: Iterator[LogRow]) -> None:
        """Each row by its kind. Hot: ops and bound tensors are written without a further call."""
        lines, bindings, tails = self._lines, self._bindings, self._tails
        history, history_attrs = self.history.lines, self.history.attrs
        add, seen, see = lines.append, self.tensors.seen, self.tensors.see
        passing, eager = self._passing, private.EagerTensor
        for row in rows:
            kind = row[0]
            if kind is None:
                _, name, value, site = row
                value_type = type(value)
                try:
                    head = bindings[name, site, value_type]
                except KeyError:
                    head = bindings[name, site, value_type] = _bind_head(name, site, value_type)
                if value_type is not eager:
                    add(f"{head}{id(value)}}}")
                    continue
                identity = value._id or FIRST_ID
                if identity not in seen:
                    see(identity, value, lines)
                add(f"{head}{identity},[]]]}}")
            elif type(kind) is str or type(kind) is bytes:
                _, inputs, attrs, outputs, site, scope, (call, paused, thread) = row
                taken, given = [], []
                for tensor in inputs:
                    identity = tensor._id or FIRST_ID
                    taken.append(identity)
                    if identity not in seen:
                        see(identity, tensor, lines)
                # The text of a list takes three times as long as that of its only number.
                ins = f"[{identity}]" if len(taken) == 1 else str(taken)
                passes = bool(passing) and passing.get(call) == site
                for tensor in outputs:
                    identity = tensor._id or FIRST_ID
                    given.append(identity)
                    if identity not in seen:
                        see(identity, tensor, lines, kind, passes, inputs, attrs)
                outs = f"[{identity}]" if len(given) == 1 else str(given)
                try:
                    tail = tails[kind, attrs, site, scope, paused, thread]
                except (KeyError, TypeError):
                    tail = self._tail(row)
                if call:  # another one in each round of a loop
                    tail = f'{tail},"call":{call}'
                line = f'{{"e":"op","id":{len(history) + 1}{tail},"inputs":{ins},"outputs":{outs}}}'
                add(line)
                history.append(line)
                history_attrs.append(attrs)
            else:
                kind(*row[1:])

    def _tail(self, row: LogRow) -> str:
        """The part of an event that equal ops at one site share, whatever call they run in."""
        op_type, _, attrs, _, site, scope, (_, paused, thread) = row
        if attrs and list in map(type, attrs):
            attrs = tuple([tuple(each) if type(each) is list else each for each in attrs])
        key = op_type, attrs, site, scope, paused, thread
        try:
            return self._tails[key]
        except KeyError:
            has_hash = True
        except TypeError:  # an attribute has none
            has_hash = False
        name = op_type.decode() if isinstance(op_type, bytes) else op_type
        text = f',"type":{_quoted(name)},"site":{site}'
        if scope:
            text += f',"scope":{to_json(scope.rstrip("/"))}'
        text += ',"paused":true' if paused else ""
        text += f',"thread":{thread}' if thread else ""
        text += self._attributes(op_type, attrs)
        if has_hash:
            self._tails[key] = text
        return text

    def _attributes(self, op_type: str | bytes, attrs: Any) -> str:
        """The field of an op's event that has its attributes: ops of one type share them, at
        whatever site or in whatever scope."""
        key = op_type, attrs
        try:
            return self._attributes_of[key]
        except KeyError:
            has_hash = True
        except TypeError:
            has_hash = False
        shown = readable(attrs)
        text = f',"attrs":{to_compact_json(shown)}' if shown else ""
        if has_hash:
            self._attributes_of[key] = text
        return text

    # One method for each other kind of row.

    def event(self, fields: dict[str, Any], tensors: Iterable[Any] = ()) -> None:
        """Append an encoded event, after the events of the tensors that it names."""
        for tensor in tensors:
            self.see(tensor)
        self._lines.append(to_json(fields))

    def see(self, tensor: Any) -> int:
        """The id of an eager tensor whose event is written if it was not before."""
        identity: int = tensor._id or FIRST_ID
        if identity not in self.tensors.seen or identity in self.tensors.glanced:
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

    def constant(self, identity: int, array: Any) -> None:
        """The elements of a graph's constant."""
        if array.size <= self.tensors.value_limit:
            self.tensors.see_array(identity, array, self._lines)

    def passes_by(self, call: int, site: int) -> None:
        """A backward pass begins that no tape records, at a place of the snippet.

        What TensorFlow's gradient functions compute on their way there is seen nowhere unless a
        step or the result names it: to measure and keep it all would cost as much as the pass.
        """
        self._passing[call] = site

    def mark(self, place: list[int]) -> None:
        """Remember the number that the next op will get."""
        place.append(len(self.history.lines) + 1)

    def body(self, fields: dict[str, Any]) -> None:
        """The graph of a function, a branch or a loop begins or is complete."""
        self._lines.append(to_json({"e": "body", **fields}))

    def runs(
        self, graphs: list[int], into: int, condition: int = 0, given: Sequence[int] = ()
    ) -> None:
        """The next op, put into the graph ``into`` or eager, runs these graphs; ``condition``: the
        graph of a loop's condition; ``given``: what the graph takes, if not the op's inputs."""
        about = f',"condition":{condition}' if condition else ""
        about += f',"given":{list(given)}' if given else ""
        self._lines.append(f'{{"e":"runs","graphs":{graphs},"into":{into}{about}}}')

    def called(self, call: KeptCall, graph: int, returned: int | None, row: LogRow) -> None:
        """A function that was traced to ``graph`` ran eagerly; ``row``: that of its op;
        ``returned``: how many of its outputs the snippet's function has."""
        kind, inputs, attrs, outputs, site, scope, (number, paused, thread) = row
        lines, seen, history = self._lines, self.tensors.seen, self.history
        taken = call.taken = self._kept_calls.identify(call)
        for identity, tensor in zip(taken, inputs, strict=True):
            if identity not in seen:
                self.tensors.see(identity, tensor, lines)
        given = []
        passes = self._passing.get(number) == site
        for tensor in outputs:
            identity = tensor._id or FIRST_ID
            given.append(identity)
            if identity not in seen:
                self.tensors.see(identity, tensor, lines, kind, passes)
        tail = self._tails.get((kind, attrs, site, scope, paused, thread)) or self._tail(row)
        if number:
            tail = f'{tail},"call":{number}'
        self._announce(call, graph, thread)
        line = f'{{"e":"op","id":{call.op}{tail},"inputs":{taken},"outputs":{given}}}'
        lines.append(line)
        history.lines.append(line)
        history.attrs.append(attrs)
        self.keep(call, returned)

    def call_failed(self, call: KeptCall, graph: int, fields: dict[str, Any]) -> None:
        """An eager call of a function raised."""
        inputs = call.inputs
        self._announce(call, graph, fields.get("thread", 0))
        self.failed_op(fields, inputs)
        self.keep(call)

    def _announce(self, call: KeptCall, graph: int, thread: int) -> None:
        """The next op is this call."""
        call.op = len(self.history.lines) + 1
        about = f'"call":{call.number},"tracer":{thread}' if thread else f'"call":{call.number}'
        self._lines.append(f'{{"e":"runs","graphs":[{graph}],"into":0,{about}}}')

    def keep(self, call: KeptCall, returned: int | None = None) -> None:
        """Keep what it takes to run a call again."""
        if call.outputs is not None:
            call.outputs = call.outputs[:returned]
        self._kept_calls.end(call)

    def from_thread(self, tracer: int, method: Callable[..., None], *arguments: Any) -> None:
        """A row of a thread that is not the first one, see :meth:`.RecordingContext.log_row`."""
        before = len(self._lines)
        method(*arguments)
        if len(self._lines) > before:
            self._lines[-1] = f'{self._lines[-1][:-1]},"tracer":{tracer}}}'

    def graph_op(self, fields: dict[str, Any]) -> None:
        """An op that was put into a graph."""
        number = self.history.add(None, fields["outputs"])
        self._lines.append(to_json({**fields, "id": number}))

    def inside(self, inside: InsideReport) -> None:
        """A call of a compiled function was looked into."""
        for identity, tensor in inside.tensors:
            if self.tensors.seen.get(identity, -1) < 0:
                self.tensors.see(identity, tensor, self._lines)
        results = {row[2] for row in inside.event["values"] if row[1] in self._traced_results}
        for identity, tensor in inside.tensors:
            if identity in results:
                self.tensors.send_result(identity, tensor, self._lines)
        ids = [self.history.add_inside(op) for _, _, op in inside.ops]
        numbers = [[path, name, id_] for (path, name, _), id_ in zip(inside.ops, ids, strict=True)]
        if inside.is_turned:
            self.history.turned[inside.event["op"]] = ids
        if not inside.has_gaps:
            self.history.opened[inside.event["op"]] = [op for _, _, op in inside.ops]
        self._lines.append(to_json({"e": "inside", **inside.event, "ops": numbers}))

    def answer_inside(self, inside: InsideReport) -> list[str]:
        """The events of a call that was looked into after the run."""
        lines = self._lines = []
        self.inside(inside)
        self.tensors.measure(lines)
        return lines

    def derived(self, outputs: Sequence[int], given: list[bool], is_opened: bool) -> None:
        """For which inputs a graph's op has a gradient, emitted when a backward graph was made.

        ``is_opened``: the op has an inside that is recorded, unless it ran in a gradient call."""
        number = self.history.producer(outputs[0]) if outputs else 0
        if is_opened and number:
            entry = self.history.op(number)
            number = entry.first if entry is not None and entry.call else 0
        if number:
            self._lines.append(to_json({"e": "derived", "op": number, "given": given}))

    def failed_op(self, fields: dict[str, Any], inputs: Sequence[Any]) -> None:
        """An op that TensorFlow refused to run."""
        taken = [self.see(tensor) for tensor in inputs]
        number = self.history.add(None)
        op = {"e": "op", "id": number, **fields, "inputs": taken, "outputs": []}
        self._lines.append(to_json(op))

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
        start = first[0] if first else 0
        if not start and outputs and fields["type"].startswith("__"):
            start = self.history.producer(outputs[0])
        call = fields.get("call", 0)
        entry = KeptOp(fields["type"], inputs, None, outputs, "", backward, call, start)
        number = self.history.add(entry, outputs)
        op.append(number)
        fields |= {"id": number, "inputs": inputs, "outputs": outputs, "first": start}
        self._lines.append(to_json(fields))

    def same_attrs(self, attrs: Any, outputs: Sequence[int]) -> None:
        """``record_gradient`` got these attributes for the op that gave ``outputs``."""
        self.history.same_attrs(attrs, outputs)

    def step(
        self,
        call: int,
        op_type: str,
        op: list[int] | None,
        forward: tuple[Any, Any, Any],
        upstream: Sequence[Any],
        downstream: Any,
        first: list[int],
        is_jacobian: bool,
    ) -> None:
        """A gradient function that ran. ``forward``: the op's attributes, inputs and outputs."""
        attrs, inputs, outputs = forward
        number = op[0] if op else self.history.find_by_attrs(attrs)
        if not number:
            taken = [self._id(tensor) for tensor in inputs or ()]
            given = [self._id(tensor) for tensor in outputs or ()]
            number = self.history.find(op_type, taken, given)
        if not number and is_jacobian:
            return  # of an op that exists only in the graph that jacobian makes
        came = [self._gradient(gradient) for gradient in upstream]
        went = [self._gradient(gradient) for gradient in listed(downstream)]
        self._lines.append(
            f'{{"e":"step","call":{call},"op":{number},"type":{_quoted(op_type)}'
            f',"upstream":{came},"downstream":{went},"first":{first[0] if first else 0}}}'
        )

    def result(self, call: int, gradients: Sequence[Any]) -> None:
        """A gradient call came back with these gradients, in flat order."""
        tensors = [self.dense(gradient) for gradient in gradients]
        results = [self._gradient(tensor) for tensor in tensors]
        self._traced_results.update(found for found in results if found < 0)
        fields = {
            "e": "result",
            "call": call,
            "results": results,
            "sparse": [i for i, gradient in enumerate(gradients) if is_sparse(gradient)],
        }
        slices = [
            [i, self._gradient(gradient.indices), rows]
            for i, gradient in enumerate(gradients)
            if (rows := private.rows_of_symbolic(gradient))
        ]
        if slices:
            fields["slices"] = slices
            self._traced_results.update(numbers for _, numbers, _ in slices)
        for tensor in tensors:
            if isinstance(tensor, private.EagerTensor):
                self.tensors.keep(tensor)
                self.tensors.send_result(private.id_of(tensor), tensor, self._lines)
        self._lines.append(to_json(fields))

    def _gradient(self, gradient: Any) -> int:
        if gradient is None:
            return 0
        if type(gradient) is private.EagerTensor:
            return self.see(gradient)
        tensor = self.dense(gradient)
        if type(tensor) is private.EagerTensor:
            return self.see(tensor)
        identity = self._symbols.id(tensor)
        if identity < 0:
            self.symbolic([(identity, tensor)])
        return identity

    def _id(self, tensor: Any) -> int:
        if isinstance(tensor, int):
            return tensor
        if type(tensor) is private.EagerTensor:
            return private.id_of(tensor)
        return self._symbols.id(tensor)


def of_thread(state: tuple[int, bool, int]) -> dict[str, Any]:
    """The fields of an op's event that come from its thread (``ThreadState.state``)."""
    call, paused, thread = state
    fields = {"call": call, "paused": paused, "thread": thread}
    return {name: value for name, value in fields.items() if value}


def listed(value: Any) -> Sequence[Any]:
    """The result of a gradient function as a sequence: a gradient for each input."""
    if value is None:
        return ()
    return value if isinstance(value, (list, tuple)) else [value]


def _bind_head(name: str, site: int, value_type: type) -> str:
    """The event of a name up to the id of its tensor, or of the Python number that it was given."""
    if value_type is private.EagerTensor:
        about = '"tensors":[['
    else:
        about = f'"value":"{value_type.__name__}","object":'
    return f'{{"e":"bind","name":{_quoted(name)},"site":{site},{about}'
