"""Find ``for`` loops over datasets, of which a compiled function has ops on the dataset.

AutoGraph makes ``scan``, ``take_while`` (if the loop has a ``break``) and ``reduce`` of such a loop
(``_tf_dataset_for_stmt`` in autograph/operators/control_flow.py, 2.15-2.21). The function of
``ScanDataset`` is the body: it takes the state, an element, and what it captured, and returns the
next state, the same once more as an output, and whether the loop goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import tensorflow as tf

from . import functions
from .graphs import graph_behind
from .runtime import Refused

DATASET_LOOPS = frozenset({"ReduceDataset"})
_STOPS = "TakeWhileDataset"


class DatasetLoop(NamedTuple):
    """A loop over a dataset, whose ``ReduceDataset`` gives the last state.

    ``scan``: the node whose function is the body; ``stops``: the nodes that end it before the
    dataset does; ``states``: how many values go from turn to turn; ``elements``: how many
    components an element has.
    """

    scan: Any
    stops: tuple[Any, ...]
    states: int
    elements: int

    @property
    def body(self) -> str:
        """The name of the function that runs for each element."""
        return str(self.scan.attr["f"].func.name)

    def is_element(self, place: int) -> bool:
        """Whether an argument of the body is a component of an element."""
        return self.states <= place < self.states + self.elements


def dataset_loop(node: Any, nodes: Mapping[str, Any]) -> DatasetLoop | None:
    """The loop that a node ends; None if it ends none. ``nodes``: of the same graph or function,
    ``NodeDef`` protos by their names."""
    if node.op not in DATASET_LOOPS:
        return None
    source = nodes.get(_source(node))
    stops = []
    while source is not None and source.op == _STOPS:
        stops.append(source)
        source = nodes.get(_source(source))
    if source is None or source.op != "ScanDataset":
        return None
    states = len(source.attr["Tstate"].list.type)
    body = functions.definition(source.attr["f"].func.name)
    reduces = functions.definition(node.attr["f"].func.name)
    if body is None or reduces is None or not _gives_state(body, states):
        return None
    if not _takes_outputs(reduces, states):
        return None
    captured = len(source.attr["Targuments"].list.type)
    elements = len(body.signature.input_arg) - states - captured
    return DatasetLoop(source, tuple(stops), states, elements)


def dataset_loop_of(op: Any) -> tuple[Any, Sequence[Any]]:
    """The graph that a ``ReduceDataset`` op in a graph runs for each element, and the tensors that
    it takes, None for the components of an element; no graph if the op ends no loop."""
    operations, ops = [op], {}
    while operations:
        last = operations.pop()
        ops[last.name] = last
        if last is op or last.type == _STOPS:
            operations.append(last.inputs[0].op)
    nodes = {name: each.node_def for name, each in ops.items()}
    loop = dataset_loop(nodes[op.name], nodes)
    function = op.graph._functions.get(loop.body) if loop is not None else None
    body = graph_behind(function) if function is not None else None
    if loop is None or body is None:
        return None, ()
    taken = ops[loop.scan.name].inputs[1:]
    elements = [None] * loop.elements
    return body, [*taken[: loop.states], *elements, *taken[loop.states :]]


def _source(node: Any) -> str:
    """The name of the node that gives the dataset: in a graph ``Name``, in a function
    ``Name:handle:0``."""
    return str(node.input[0]).partition(":")[0]


def _gives_state(body: Any, states: int) -> bool:
    """Whether the outputs of each turn are the next state."""
    given = [_behind(body, output.name) for output in body.signature.output_arg]
    return given[:states] == given[states : 2 * states]


def _takes_outputs(reduces: Any, states: int) -> bool:
    """Whether the last outputs are the result."""
    given = [_behind(reduces, output.name) for output in reduces.signature.output_arg]
    arguments = [argument.name for argument in reduces.signature.input_arg]
    return given == arguments[states : 2 * states]


def _behind(function: Any, output: str) -> str:
    """The tensor that a function returns as this output, before it went through ``Identity``."""
    nodes = {node.name: node for node in function.node_def}
    ref = str(function.ret[output])
    while (node := nodes.get(ref.partition(":")[0])) is not None and node.op == "Identity":
        ref = str(node.input[0])
    return ref


def repeats(dataset: Any) -> bool:
    """Whether a dataset, an eager variant, gives the same elements again; not what is none.

    TensorFlow writes no graph of one that calls Python or draws random numbers
    (``ExternalStatePolicy.FAIL``), and of one that shuffles it does (2.15-2.21).
    """
    with suppress(Refused):
        found = tf.raw_ops.DatasetToGraphV2(input_dataset=dataset, external_state_policy=_FAIL)
        graph = tf.compat.v1.GraphDef.FromString(found.numpy())
        inner = [node for function in graph.library.function for node in function.node_def]
        return all(node.op in _SOURCES or _is_stateless(node) for node in (*graph.node, *inner))
    return False


def has_dataset_loop(graph: Any, bodies: Callable[[Any], Sequence[Any]]) -> bool:
    """Whether a graph has a loop over a dataset whose body is known. ``bodies(op)``: the graphs
    that an op runs."""
    return any(
        op.type in DATASET_LOOPS or has_dataset_loop(body, bodies)
        for op in graph.get_operations()
        for body in bodies(op)
    )


def _is_stateless(node: Any) -> bool:
    about = functions.op_def(node.op)
    return about is not None and not about.is_stateful


_FAIL = 2
DATASETS_OF_TENSORS = frozenset({"RangeDataset", "TensorDataset", "TensorSliceDataset"})
"""Stateful only in that TensorFlow is not to run them before a function does."""
_SOURCES = DATASETS_OF_TENSORS | {
    *("CacheDataset", "CacheDatasetV2", "FixedLengthRecordDatasetV2", "TextLineDataset"),
    *("TFRecordDataset", "TFRecordDatasetV2", "_Retval"),
}
