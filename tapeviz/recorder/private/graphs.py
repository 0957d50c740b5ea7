"""Private names of graphs and compiled functions: what an op in a graph is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import tensorflow as tf

from .lookup import find
from .runtime import id_of, is_eager
from .tensors import WIDER, EagerTensor

function_graphs = find("tensorflow.python.framework.func_graph", "the inside of compiled functions")
TRACE_BODY = "func_graph_from_py_func"
RUN_BODY = "call_flat"
CompiledFunction = find(
    "tensorflow.python.eager.polymorphic_function.atomic_function:AtomicFunction",
    "the inside of compiled functions",
)
FuncGraph = find(
    "tensorflow.python.framework.func_graph:FuncGraph", "the inside of compiled functions"
)

get_default_graph = find(
    "tensorflow.python.framework.ops:get_default_graph", "calls of functions in functions"
)
op_def_of = find(
    "tensorflow.python.framework.op_def_registry:get", "finite differences in double precision"
)
gradient_function_of = find(
    "tensorflow.python.framework.ops:get_gradient_function", "steps inside of custom gradients"
)
vectorizing = find("tensorflow.python.ops.parallel_for.pfor", "the inside of tf.vectorized_map")
VECTORIZED_OP = "_create_op"


def graph_behind(function: Any) -> Any:
    """The graph that an ``AtomicFunction`` was made of; ``None`` if that is gone."""
    return function._cached_graph


def captured_ids(graph: Any) -> frozenset[int]:
    """Ids of the eager tensors that a function's graph takes from outside by itself."""
    outer = (tensor for tensor, _ in graph.captures)
    return frozenset(id_of(tensor) for tensor in outer if isinstance(tensor, EagerTensor))


def graph_being_built() -> Any:
    """The graph that ops go into; ``None`` if they run at once."""
    return None if is_eager() else get_default_graph()


def newest_call(graph: Any, outputs: Sequence[Any]) -> Any:
    """The op that was just put into a graph to run a function and give these outputs."""
    if outputs:
        return outputs[0].op
    calls = ("PartitionedCall", "StatefulPartitionedCall")
    return next((op for op in reversed(graph.get_operations()) if op.type in calls), None)


def outputs_of(graph: Any, name: str) -> Sequence[Any]:
    """The tensors that the op of this name gives; none if the graph has no such op."""
    with suppress(KeyError):
        return graph.get_operation_by_name(name).outputs  # type: ignore[no-any-return]
    return ()


def is_stateful(op: Any) -> bool:
    """Whether an op in a graph does more than compute its outputs from its inputs."""
    return bool(op.op_def.is_stateful)


CONTROL_FLOW = frozenset(
    {"If", "StatelessIf", "While", "StatelessWhile", "Case", "StatelessCase"}
    | {"PartitionedCall", "StatefulPartitionedCall"}
)


def has_gradient_of_its_own(op: Any) -> bool:
    """Whether an op in a graph is the end of a ``custom_gradient`` function."""
    return "_gradient_op_type" in op.node_def.attr


def traced_in(graph: Any, function: Callable[..., Any], like: Sequence[Any]) -> Any:
    """A concrete function of a Python function that uses symbols of a graph, for arguments with the
    shapes and dtypes of ``like``. Nothing goes into the graph."""
    specs = [tf.TensorSpec(tensor.shape, tensor.dtype) for tensor in like]
    with graph.as_default():
        return tf.function(function, autograph=False).get_concrete_function(*specs)


_READS = frozenset({"ReadVariableOp", "ResourceGather", "ResourceGatherNd"})


def only_computes(function: Any) -> bool:
    """Whether a concrete function does nothing but compute and read variables."""
    operations = function.graph.get_operations()
    return not any(is_stateful(op) and op.type not in _READS for op in operations)


def captured_symbols(function: Any) -> Sequence[Any]:
    """The tensors of the graphs around it that a concrete function takes by itself."""
    return [outer for outer, _ in function.graph.captures]


def call_traced(function: Any, arguments: Sequence[Any], captured: Sequence[Any]) -> Sequence[Any]:
    """The results of a concrete function, with eager tensors in the place of those that it takes
    by itself. ``ConcreteFunction._call_flat``, 2.15–2.21."""
    found: Sequence[Any] = tf.nest.flatten(function._call_flat(list(arguments), list(captured)))
    return found


def is_of_backward_pass(name: str) -> bool:
    """Whether an op with this name was put into a graph by a gradient call of a tape.

    ``gradient_name_scope`` in ``tensorflow/python/eager/backprop.py``, 2.15–2.21.
    """
    return name.startswith("gradient_tape/")


def attrs_of(op: Any) -> tuple[Any, ...]:
    """The attributes of an op in a graph, as an eager op of the type would have them."""
    found: list[Any] = []
    for attribute in op.op_def.attr:
        with suppress(ValueError):
            found += [attribute.name, _plain(op.get_attr(attribute.name))]
    return tuple(found)


def _plain(value: Any) -> Any:
    if isinstance(value, tf.DType):
        return value.as_datatype_enum
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if hasattr(value, "unknown_rank"):  # a TensorShapeProto
        shape = tf.TensorShape(value)
        return None if shape.rank is None else shape.as_list()
    return value


def constant_of(op: Any) -> Any:
    """The tensor that a ``Const`` in a graph gives."""
    return tf.constant(tf.make_ndarray(op.get_attr("value")))


def constant_array(attrs: Sequence[Any]) -> Any:
    """The elements of a graph's constant, from the attributes of its op (as a callback or as
    :func:`attrs_of` has them)."""
    value = dict(zip(attrs[::2], attrs[1::2], strict=False))["value"]
    return tf.make_ndarray(getattr(value, "tensor", value))


def wider_attrs(op_type: str, attrs: Any) -> Any:
    """The attributes with each real or complex dtype in double precision."""
    known = op_def_of(op_type)
    types = (
        {attribute.name for attribute in known.attr if attribute.type in ("type", "list(type)")}
        if known
        else ()
    )
    wide = list(attrs or ())
    for place in range(0, len(wide), 2):
        if wide[place] in types:
            wide[place + 1] = _widest(wide[place + 1])
    return tuple(wide)


def _widest(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)(_widest(item) for item in value)
    return WIDER.get(value, value)


def specs_of_optionals(graph: Any) -> list[Any]:
    """List for each output of a traced function that is a ``tf.experimental.Optional`` the
    ``TensorSpec`` of each tensor in it; ``None`` for others, and for one that holds a ragged tensor
    or what else it keeps in another form."""
    specs: list[Any] = []
    for output in tf.nest.flatten(graph.structured_outputs):
        spec = None
        if isinstance(output, tf.experimental.Optional):
            parts = tf.nest.flatten(output.element_spec)
            spec = parts if all(isinstance(part, tf.TensorSpec) for part in parts) else None
        count = 0 if output is None else len(tf.nest.flatten(output, expand_composites=True))
        specs += [spec] * count
    return specs


def optional_parts(optional: Any, spec: Sequence[Any]) -> Sequence[Any]:
    """The tensors that an optional holds; none if it is empty."""
    if not tf.raw_ops.OptionalHasValue(optional=optional):
        return []
    shapes, dtypes = [part.shape for part in spec], [part.dtype for part in spec]
    found: Sequence[Any] = tf.raw_ops.OptionalGetValue(
        optional=optional, output_types=dtypes, output_shapes=shapes
    )
    return found
