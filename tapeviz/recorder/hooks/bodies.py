"""Record the graphs of functions that stay compiled, and the runs of these.

A body's events stand between a ``body`` event that begins it and one that ends it. ``runs`` comes
right before the op that runs one: a call, or a branch or loop (``If``, ``While``) in a graph.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from sys import _getframe
from types import FrameType
from typing import Any, NamedTuple

from .. import limits, private
from ..encode import of_thread
from ..installed import Installed
from ..recording import RecordingContext, caller
from ..rerun.sources import Tapped
from ..stack_depth import UncountedFrame
from ..weak_keys import WeakKeys
from .graph_ops import put_into_graph
from .kept_calls import KeptCall
from .ops import MANY
from .taps import Taps


def install(recording: RecordingContext, installed: Installed) -> None:
    installed.replace(
        private.function_graphs, private.TRACE_BODY, lambda trace: _tracing(recording, trace)
    )
    taps = Taps(recording)
    taps.install(installed)
    installed.replace(
        private.CompiledFunction, private.RUN_BODY, lambda run: _running(recording, run, taps)
    )


def _is_silent(recording: RecordingContext) -> bool:
    """Whether a graph is not reported: it is hidden, or a jacobian's own (pfor)."""
    local = recording.local
    return bool(local.hidden) or local.state[0] in recording.jacobians


def _tracing(recording: RecordingContext, trace: Callable[..., Any]) -> Callable[..., Any]:
    """``func_graph_from_py_func`` makes the graph of a function, a branch or a loop's body."""

    @recording.guarded
    def begun(frame: FrameType) -> None:
        recording.tracing.append(recording.local.state[2])
        recording.log_row((recording.encoder.body, {"on": True, "site": recording.here(frame)}))

    @recording.guarded
    def ended(graph: Any) -> None:
        fields: dict[str, Any] = {"on": False, "graph": 0}
        if graph is not None:
            fields |= _about(recording, graph)
        recording.log_row((recording.encoder.body, fields))
        recording.tracing.remove(recording.local.state[2])

    def tracing(*args: Any, **named: Any) -> Any:
        if _is_silent(recording):
            return trace(*args, **named)
        with UncountedFrame():  # functions that call themselves trace each other
            begun(caller())
            graph = None
            try:
                graph = trace(*args, **named)
                return graph
            finally:
                ended(graph)

    return tracing


def _about(recording: RecordingContext, graph: Any) -> dict[str, Any]:
    number = recording.symbols.graph(graph)
    recording.note_body(graph)
    recording.returned[number] = len(graph.outputs)
    about: dict[str, Any] = {
        "graph": number,
        "inputs": [recording.emit_symbolic(tensor) for tensor in graph.inputs],
        "outputs": [recording.emit_symbolic(tensor) for tensor in graph.outputs],
    }
    if type(graph) is private.FuncGraph:  # branches and loops have classes of their own
        about |= {"function": graph.name, "line": recording.definitions.line(graph.name)}
    return about


class _Running(NamedTuple):
    """A traced function that runs eagerly.

    ``number``: its graph's; ``returned``: how many of its outputs the snippet's function has;
    ``copy``: what runs in its place; ``attrs``: those of its op.
    """

    number: int
    returned: int | None
    copy: Tapped | None
    name: str
    attrs: Any


def _running(
    recording: RecordingContext, run: Callable[..., Any], taps: Taps
) -> Callable[..., Any]:
    """``AtomicFunction.call_flat`` runs a traced function; into a graph without a callback."""
    kept, are_eager = recording.kept_calls, {private.EagerTensor}.issuperset
    append, encoder, local = recording.append, recording.encoder, recording.local
    here, late, scopes = recording.sites.here, recording.here_when_called, private.thread_data()
    rows = recording.log.rows
    known: WeakKeys[_Running] = WeakKeys()

    def looked_up(function: Any) -> _Running | None:
        graph = private.graph_behind(function)
        number = recording.symbols.known_graph(graph) if graph is not None else 0
        if not number:
            return None
        # TensorFlow 2.15 traces the backward pass of a backward pass where no hook sees it.
        returned, copy = recording.returned.get(number), taps.copy_of(function)
        name, attrs = function.name.decode(), private.attrs_of_calls()
        about = known[function] = _Running(number, returned, copy, name, attrs)
        return about

    @recording.guarded
    def begun(function: Any, inputs: Sequence[Any]) -> tuple[_Running, KeptCall] | None:
        about = known.get(function) or looked_up(function)
        if about is None or not are_eager(map(type, inputs)):
            return None  # a graph's tensor that leaked: TensorFlow refuses it
        local.hidden += 1
        try:
            return about, kept.begin(private.graph_behind(function), function, inputs)
        finally:
            local.hidden -= 1

    @recording.guarded
    def ended(about: _Running, call: KeptCall, outputs: Any, frame: FrameType) -> None:
        inputs, call.outputs = call.inputs, tuple(outputs)
        call.sources, sizes, is_seen = local.ran
        call.nbytes = sum(int(size._numpy_internal()) for size in sizes)
        number, _, thread = local.state
        if is_seen:
            site = here(frame) or (thread and late(frame))
            state = number, True, thread  # tapes are stopped while a function runs
            row = about.name, inputs, about.attrs, call.outputs, site, scopes.scope_name, state
            append((encoder.called, call, about.number, about.returned, row))
            if len(rows) > MANY:
                recording.log.catch_up()
        else:
            append((encoder.keep, call, about.returned))
        if call.nbytes >= limits.BYTES_TAKEN_BY_LOOP:
            call.sources, call.nbytes = (), 0
            note_writes(inputs)
        elif about.copy is not None and about.copy.spoiled:
            note_writes([inputs[place] for place in about.copy.spoiled])

    def note_writes(resources: Sequence[Any]) -> None:
        """Note that what these variables hold now does not follow by running the call again."""
        kept.written.update(private.id_of(each) for each in resources if _is_variable(each))

    @recording.guarded
    def raised(about: _Running, call: KeptCall, words: str) -> None:
        note_writes(call.inputs)
        fields: dict[str, Any] = {"type": about.name, "error": words}
        fields |= {"site": recording.here(_getframe(1)), **of_thread(local.state)}
        append((encoder.call_failed, call, about.number, fields))

    @recording.guarded
    def begun_in_graph(graph: Any, into: Any) -> None:
        number = recording.symbols.known_graph(graph) if graph is not None else 0
        if number:
            recording.log_row((encoder.runs, [number], recording.symbols.graph(into)))

    @recording.guarded
    def put(graph: Any, into: Any, outputs: Sequence[Any]) -> None:
        op = private.newest_call(into, outputs)
        if op is not None:
            recording.note_run(op, [graph])
            put_into_graph(recording, op.type, op.inputs, None, op.outputs, into)

    def running_in_graph(into: Any, function: Any, args: tuple[Any, ...]) -> Any:
        graph = private.graph_behind(function)
        begun_in_graph(graph, into)
        outputs = run(function, *args)
        put(graph, into, outputs)
        return outputs

    def running(self: Any, *args: Any) -> Any:
        if _is_silent(recording):
            return run(self, *args)
        into = private.graph_being_built()
        if into is not None:
            return running_in_graph(into, self, args)
        found = begun(self, args)
        if found is None:
            return run(self, *args)
        about, call = found
        local.running, local.ran = (self.name, about.copy), ((), (), False)
        try:
            outputs = run(self, *args)
        except Exception as error:
            raised(about, call, str(error))
            raise
        except BaseException:
            append((encoder.keep, call))
            raise
        finally:
            local.running = None
        ended(about, call, outputs or (), _getframe(1))  # None for a function without outputs
        return outputs

    return running


def _is_variable(resource: Any) -> bool:
    """Whether a variable is behind an eager resource tensor."""
    return private.is_resource(resource._datatype_enum()) and bool(private.behind(resource)[0])
