"""Record ops that are put into a graph, as rows of the log."""

from __future__ import annotations

from collections.abc import Callable
from sys import _getframe
from types import FrameType
from typing import Any

from .. import private
from ..attributes import readable
from ..encode import of_thread
from ..installed import Installed
from ..recording import RecordingContext

_BRANCHES = {
    "If": ("then_branch", "else_branch"),
    "StatelessIf": ("then_branch", "else_branch"),
    "While": ("body", "cond"),
    "StatelessWhile": ("body", "cond"),
    "Case": ("branches",),
    "StatelessCase": ("branches",),
}
# In a function's graph these say nothing: its inputs are emitted with its end.
_FORMAL = frozenset({"Placeholder", "NoOp"})
_VECTORIZED = "/pfor/"
"""In the names of what ``pfor`` makes of an op, after the name of that op."""


def install(recording: RecordingContext, installed: Installed) -> None:
    """``pfor``, behind ``tf.vectorized_map``, puts copies of ops into a graph without a callback
    (``_create_op`` in parallel_for/pfor.py, 2.15-2.21)."""

    @recording.guarded
    def created(op: Any) -> None:
        attrs, given = private.attrs_of(op), op.outputs
        put_into_graph(recording, op.type, op.inputs, attrs, given, op.graph)

    def wrap(create: Callable[..., Any]) -> Callable[..., Any]:
        def creating(*args: Any, **named: Any) -> Any:
            op = create(*args, **named)
            if not recording.local.hidden:
                created(op)
            return op

        return creating

    installed.replace(private.vectorizing, private.VECTORIZED_OP, wrap)


def put_into_graph(
    recording: RecordingContext, op_type: Any, inputs: Any, attrs: Any, outputs: Any, graph: Any
) -> None:
    """Log an op that was added to a graph: its tensors have negative ids and no values."""
    call = recording.local.state[0]
    if call in recording.jacobians or (op_type in _FORMAL and isinstance(graph, private.FuncGraph)):
        return
    ids = [recording.emit_symbolic(tensor) for tensor in inputs]
    given = [recording.emit_symbolic(tensor) for tensor in outputs]
    op = outputs[0].op if outputs else graph.get_operations()[-1]
    kind = op_type.decode() if isinstance(op_type, bytes) else op_type
    fields: dict[str, Any] = {
        "e": "op",
        "type": kind,
        "inputs": ids,
        "outputs": given,
        "site": _site_of(recording, op, graph, _getframe(2)),
        "graph": recording.symbols.graph(graph),
        "attrs": readable(attrs) if attrs else {},
    }
    if op.type == kind:
        fields["name"] = op.name
        fields["scope"] = op.name.rpartition("/")[0]
    fields |= of_thread(recording.local.state)
    if kind in _BRANCHES and attrs:
        branches = _branches(recording, kind, attrs)
        recording.note_run(op, branches)
        if None not in branches:  # those of a ``Defun`` (tf.nn.ctc_loss) have no graph
            graphs, condition = [recording.symbols.graph(branch) for branch in branches], 0
            if kind.endswith("While"):  # a turn is drawn as the body's
                graphs, condition = graphs[:1], sum(graphs[1:])
            recording.log_row((recording.encoder.runs, graphs, fields["graph"], condition))
    if kind in private.DATASET_LOOPS:
        _note_dataset_loop(recording, op)
    recording.log_row((recording.encoder.graph_op, fields))
    if isinstance(graph, private.FuncGraph) and not call:
        recording.traced_names.made_at.update(dict.fromkeys(given, fields["site"]))
        recording.traced_names.look_around(recording, _getframe(2))
    if kind == "Const" and attrs:
        array = private.constant_array(attrs)
        recording.log_row((recording.encoder.constant, given[0], array))


def _note_dataset_loop(recording: RecordingContext, op: Any) -> None:
    """Log the graph that a loop over a dataset runs for each element, and what it takes."""
    body, given = private.dataset_loop_of(op)
    if body is None:
        return
    number, runs = recording.symbols.graph(op.graph), recording.symbols.graph(body)
    recording.note_run(op, [body])
    ids = [0 if tensor is None else recording.emit_symbolic(tensor) for tensor in given]
    recording.log_row((recording.encoder.runs, [runs], number, 0, ids))


def _site_of(recording: RecordingContext, op: Any, graph: Any, frame: FrameType) -> int:
    """The site at which the snippet stands; for an op made from one of a vectorized function the
    site of that one."""
    body_op = op.name.rpartition(_VECTORIZED)[0]
    given = private.outputs_of(graph, body_op) if body_op else ()
    made_at = recording.traced_names.made_at
    known = next((made_at.get(recording.id(tensor)) for tensor in given), None)
    return known or recording.here(frame)


def _branches(recording: RecordingContext, op_type: str, attrs: Any) -> list[Any]:
    """The graphs of a conditional's branches, or of a loop's body and condition."""
    named = dict(zip(attrs[::2], attrs[1::2], strict=False))
    given = [named[attr] for attr in _BRANCHES[op_type]]
    functions = given[0].list.func if "Case" in op_type else [each.func for each in given]
    known = (recording.bodies.get(function.name) for function in functions)
    return [None if graph is None else graph() for graph in known]
