"""Record the graphs of functions that stay compiled, and the runs of these.

A body's events stand between a ``body`` event that begins it and one that ends it. ``runs`` comes
right before the op that runs one: a call, or a branch or loop (``If``, ``While``) in a graph.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

from .. import private
from ..installed import Installed
from ..recording import RecordingContext, caller
from .graph_ops import put_into_graph
from .kept_calls import Handle, KeptCall
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
        recording.append((recording.encoder.body, {"on": True, "site": recording.here(frame)}))

    @recording.guarded
    def ended(graph: Any) -> None:
        fields: dict[str, Any] = {"on": False, "graph": 0}
        if graph is not None:
            fields |= _about(recording, graph)
        recording.append((recording.encoder.body, fields))

    def tracing(*args: Any, **named: Any) -> Any:
        if _is_silent(recording):
            return trace(*args, **named)
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
    recording.bodies[graph.name] = graph
    recording.returned[number] = len(graph.outputs)
    about: dict[str, Any] = {
        "graph": number,
        "inputs": [recording.emit_symbolic(tensor) for tensor in graph.inputs],
        "outputs": [recording.emit_symbolic(tensor) for tensor in graph.outputs],
    }
    if type(graph) is private.FuncGraph:  # branches and loops have classes of their own
        about |= {"function": graph.name, "line": recording.definitions.line(graph.name)}
    return about


def _running(
    recording: RecordingContext, run: Callable[..., Any], taps: Taps
) -> Callable[..., Any]:
    """``AtomicFunction.call_flat`` runs a traced function; into a graph without a callback."""
    kept, are_eager = recording.kept_calls, {private.EagerTensor}.issuperset

    @recording.guarded
    def begun(function: Any, graph: Any, inputs: Sequence[Any], into: Any) -> KeptCall | None:
        number = recording.symbols.known_graph(graph) if graph is not None else 0
        if not number:
            return None
        where = recording.symbols.graph(into) if into is not None else 0
        call = None
        if into is None:
            if not are_eager(map(type, inputs)):
                return None  # a graph's tensor that leaked: TensorFlow refuses it
            with recording.log.hiding():
                call = kept.begin(graph, function, inputs)
        recording.append((recording.encoder.runs, [number], where, call))
        return call

    @recording.guarded
    def ended(call: KeptCall, outputs: Sequence[Any] | None, sources: Sequence[Any]) -> None:
        # TensorFlow 2.15 traces the backward pass of a backward pass where no hook sees it.
        returned = recording.returned.get(recording.symbols.graph(call.graph))
        kept.end(call, (outputs or ())[:returned], sources)  # None: of a function without any
        spoiled = [call.inputs[place] for place in taps.spoiled(call.function)]
        kept.written.update(
            resource.id for resource in spoiled if isinstance(resource, Handle) and resource.dtype
        )

    @recording.guarded
    def raised(call: KeptCall, inputs: Sequence[Any], words: str) -> None:
        fields = {"type": call.function.name.decode(), "error": words}
        fields |= {"site": recording.here(sys._getframe(1)), "call": recording.local.state[0]}
        recording.append((recording.encoder.failed_op, fields, list(inputs)))

    @recording.guarded
    def put(graph: Any, into: Any, outputs: Sequence[Any]) -> None:
        op = private.newest_call(into, outputs)
        if op is not None:
            recording.runs[recording.symbols.graph(into), op.name] = [graph]
            put_into_graph(recording, op.type, op.inputs, None, op.outputs, into)

    def running(self: Any, *args: Any) -> Any:
        if _is_silent(recording):
            return run(self, *args)
        into, graph = private.graph_being_built(), private.graph_behind(self)
        call = begun(self, graph, args, into)
        if call is not None:
            try:
                outputs, sources = taps.run(lambda: run(self, *args), self)
            except Exception as error:
                raised(call, args, str(error))
                raise
            ended(call, outputs, sources)
            return outputs
        outputs = run(self, *args)
        if into is not None:
            put(graph, into, outputs)
        return outputs

    return running
